# A PostgreSQL and a MariaDB server of this test: user, database, grants, load and run; each twice and in check mode.
installed
port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
# Servers refuse to run as root.
as_server() {
    if [ "$(id -u)" = 0 ]; then setpriv --reuid=nobody --regid=nogroup --clear-groups "$@"; else "$@"; fi
}
password="it's \\ \"quoted\" \$x {% raw %}"
python3 - "$work/secret.yml" "$password" <<'EOF'
import json, sys
path, password = sys.argv[1:]
with open(path, "w") as file:
    file.write("dyno_target_password: &password !unsafe " + json.dumps(password) + "\ndyno_run_password: *password\n")
EOF
chmod 600 "$work/secret.yml"

# server ENGINE URL COMMAND: the playbook for a server whose administrator's command is COMMAND (a list in YAML).
server() {
    cat >"$work/$1.yml" <<EOF
- name: Prepare and measure
  hosts: localhost
  connection: local
  gather_facts: false
  vars_files: [secret.yml]
  vars:
    dyno_target_url: $2
    dyno_target_admin_command: $3
    dyno_target_admin_user: ""
    dyno_run_plan:
      target: { url: $2 }
      data: { scale: 4M }
      run: { warmup: 100ms, time: 1s }
    dyno_run_load: true
  roles: [dyno.platform.target, dyno.platform.run]
EOF
    play "$1_check" "$work/$1.yml" --extra-vars "dyno_run_dir=$work/var-$1" --check
    [ ! -e "$work/var-$1" ] || fail "$1: check mode wrote files"
    play "$1" "$work/$1.yml" --extra-vars "dyno_run_dir=$work/var-$1"
    # Measurement, written files, fetched files; neither target nor load.
    play "$1_again" "$work/$1.yml" --extra-vars "dyno_run_dir=$work/var-$1"
    changed "$1_again" 3
    ! grep -qF "it's" "$work"/"$1"*.log || fail "$1: the password is in the output"
    ! grep -rqF "it's" "$work/results" "$work/var-$1" || fail "$1: the password is in a result"
    grep -q '"engine": "'"${4:-$1}"'"' "$work"/results/*.json || fail "$1: no record"
}
wait_for() { # NAME COMMAND…
    name=$1
    shift
    tries=0
    until "$@" >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ $tries -lt 300 ] || { cat "$work/$name.out"; fail "$name does not start"; }
        sleep 0.2
    done
}

bin=$(find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -1)
if [ -n "$bin" ]; then
    install -d -m 700 "$work/pg" && { [ "$(id -u)" != 0 ] || chown nobody:nogroup "$work/pg"; }
    as_server "$bin/initdb" --pgdata "$work/pg/data" --username postgres --auth-local trust --auth-host scram-sha-256 >"$work/postgres.out" 2>&1
    pg_port=$(port)
    as_server "$bin/postgres" -D "$work/pg/data" -p "$pg_port" -k "$work/pg" -h 127.0.0.1 >>"$work/postgres.out" 2>&1 &
    pids="$pids $!"
    wait_for postgres "$bin/pg_isready" --host "$work/pg" --port "$pg_port"
    server postgres "postgres://dyno@127.0.0.1:$pg_port/bench" "[$bin/psql, --host, $work/pg, --port, '$pg_port', --username, postgres]"
else
    say 'PostgreSQL is not installed: skipped'
fi

if command -v mariadbd >/dev/null; then
    install -d -m 755 "$work/maria" && { [ "$(id -u)" != 0 ] || chown nobody:nogroup "$work/maria"; }
    as_server mariadb-install-db --no-defaults --datadir="$work/maria/data" --auth-root-authentication-method=normal --skip-test-db >"$work/mariadb.out" 2>&1
    maria_port=$(port)
    as_server mariadbd --no-defaults --datadir="$work/maria/data" --socket="$work/maria/s" --bind-address=127.0.0.1 --port="$maria_port" \
        --pid-file="$work/maria/pid" >>"$work/mariadb.out" 2>&1 &
    pids="$pids $!"
    wait_for mariadb mariadb-admin --no-defaults --socket="$work/maria/s" --user=root ping
    server mariadb "mariadb://dyno@127.0.0.1:$maria_port/bench" "[mariadb, --no-defaults, --socket=$work/maria/s, --user=root]" mysql
else
    say 'MariaDB is not installed: skipped'
fi
