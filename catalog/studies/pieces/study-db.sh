#!/bin/sh
# A database server of the study's own, which answers at the target of the plan ($DYNO_TARGET) and has all its files in the study's
# folder: at $STUDY/mnt where study-fs has made a file system, else in $STUDY/db.
#
#   study-db set 'NAME = VALUE'  a line of the server's configuration, before it is started
#   study-db programs DIR        the folder of the server's programs, for this variant
#   study-db up                  makes the server and starts it; of SQLite there is nothing to start
#   study-db memory LIMIT        keeps it, and its page cache, within so much memory (a control group)
#   study-db down                ends it and removes it with its files and settings; harmless where there is none
#
# Parameters: bin, the folder of the server's programs (the newest that is found unless it says otherwise); user, who runs it where
# root may not (postgres, mysql).
set -eu
die() { echo "study-db: $*" >&2; exit 1; }
scheme=${DYNO_TARGET%%:*}
port=$(echo "$DYNO_TARGET" | sed -n 's|^[a-z]*://[^/]*:\([0-9]*\)\(/.*\)*$|\1|p')
if [ -d "$STUDY/mnt" ]; then data="$STUDY/mnt/db"; else data="$STUDY/db"; fi
conf="$STUDY/db.conf" programs="$STUDY/db.programs" group=study-$(basename "$STUDY")

[ ! -f "$programs" ] || bin=$(cat "$programs")

case $scheme in
postgres | postgresql) kind=postgres owner=${user:-postgres} ;;
mysql | mariadb) kind=mysql owner=${user:-mysql} ;;
sqlite) kind=sqlite owner= ;;
*) die "no server of $scheme can be made here: start it by commands of the study's own" ;;
esac

as() { if [ "$(id -u)" = 0 ]; then setpriv --reuid "$owner" --regid "$owner" --init-groups env HOME=/ "$@"; else "$@"; fi; }
program() {
    if [ -n "${bin:-}" ]; then echo "$bin/$1"; return; fi
    for dir in $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V -r) /usr/sbin /usr/bin /usr/local/bin; do
        if [ -x "$dir/$1" ]; then echo "$dir/$1"; return; fi
    done
    die "there is no $1: give its folder with --param bin=DIR"
}
in_use() { awk -v p="$(printf ':%04X' "$port")" '$4 == "0A" && index($2, p) { found = 1 } END { exit !found }' /proc/net/tcp /proc/net/tcp6 2>/dev/null; }
pid() { head -n 1 "$data/$1" 2>/dev/null || true; }

up_postgres() {
    as "$(program initdb)" -D "$data" -U postgres -A trust --no-sync >"$STUDY/db.log" 2>&1 || { tail -n 3 "$STUDY/db.log" >&2; die "initdb failed"; }
    {
        echo "port = $port"
        echo "listen_addresses = '127.0.0.1'"
        echo "unix_socket_directories = ''"
        [ ! -f "$conf" ] || cat "$conf"
    } >> "$data/postgresql.conf"
    as "$(program pg_ctl)" -D "$data" -w -t 60 -l "$data/server.log" start >/dev/null || { tail -n 5 "$data/server.log" >&2; die "the server did not start"; }
}

up_mysql() {
    server=$( [ -n "${bin:-}" ] && [ -x "$bin/mysqld" ] && echo "$bin/mysqld" || program mariadbd)
    as "$(program mariadb-install-db)" --no-defaults --datadir="$data" --auth-root-authentication-method=normal --skip-test-db >"$STUDY/db.log" 2>&1 ||
        { tail -n 3 "$STUDY/db.log" >&2; die "the server could not be made"; }
    { echo "[mysqld]"; [ ! -f "$conf" ] || cat "$conf"; } > "$STUDY/my.cnf"
    chmod 644 "$STUDY/my.cnf"
    as setsid "$server" --defaults-file="$STUDY/my.cnf" --datadir="$data" --port="$port" --bind-address=127.0.0.1 \
        --socket="$data/s" --pid-file="$data/pid" >"$STUDY/db.log" 2>&1 </dev/null &
    tries=0
    until as "$(program mariadb-admin)" --no-defaults --socket="$data/s" -u root ping >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ $tries -lt 300 ] || { tail -n 5 "$STUDY/db.log" >&2; die "the server did not start"; }
        sleep 0.2
    done
    name=$(echo "$DYNO_TARGET" | sed -n 's|^[a-z]*://[^/]*/\([A-Za-z0-9_]*\).*|\1|p')
    as "$(program mariadb)" --no-defaults --socket="$data/s" -u root -e "create database if not exists $name; create user if not exists root@'127.0.0.1'; grant all on *.* to root@'127.0.0.1' with grant option"
}

up() {
    [ $kind != sqlite ] || return 0
    [ -n "$port" ] || die "the target names no port: write one that is free, $scheme://USER@127.0.0.1:54999/NAME"
    ! in_use || die "port $port is in use: this server is the study's own, so name a free port in the target"
    mkdir -p "$data"
    chmod 700 "$data"
    [ "$(id -u)" != 0 ] || chown "$owner" "$data"
    "up_$kind"
}

# Control groups: of version 2 where the kernel has it, else of version 1.
groups() { ls -d "/sys/fs/cgroup/$group" "/sys/fs/cgroup/memory/$group" 2>/dev/null || true; }
memory() {
    bytes=$(numfmt --from=iec "$1")
    if [ -f /sys/fs/cgroup/cgroup.controllers ]; then
        dir=/sys/fs/cgroup/$group
        mkdir -p "$dir"
        echo "$bytes" > "$dir/memory.max"
    else
        dir=/sys/fs/cgroup/memory/$group
        mkdir -p "$dir"
        echo "$bytes" > "$dir/memory.limit_in_bytes"
    fi
    case $kind in
    postgres) top=$(pid postmaster.pid) ;;
    mysql) top=$(pid pid) ;;
    sqlite) die "of SQLite the database is dyno itself: start dyno in a control group of your own" ;;
    esac
    for one in $top $(pgrep -P "$top" || true); do echo "$one" > "$dir/cgroup.procs"; done
    echo "study-db: within $(cat "$dir"/memory.max "$dir"/memory.limit_in_bytes 2>/dev/null | head -n 1) bytes"
}

# Processes of this server: known by its folder, which no other has, whether they have written their number down or not.
servers() { pgrep -f -- "(-D |--datadir=)$data( |\$)" || true; }

down() {
    if [ $kind = postgres ] && [ -f "$data/postmaster.pid" ]; then
        as "$(program pg_ctl)" -D "$data" -w -t 60 -m immediate stop >/dev/null 2>&1 || true
    fi
    tries=0
    for one in $(servers); do kill "$one" 2>/dev/null || true; done
    while [ -n "$(servers)" ]; do
        tries=$((tries + 1))
        [ $tries -lt 150 ] || for one in $(servers); do kill -9 "$one" 2>/dev/null || true; done
        [ $tries -lt 200 ] || die "the server does not end: $(servers)"
        sleep 0.1
    done
    for dir in $(groups); do
        for try in 1 2 3 4 5 6 7 8 9 10; do rmdir "$dir" 2>/dev/null && break; sleep 0.1; done
        [ ! -d "$dir" ] || die "the control group $dir cannot be removed"
    done
    [ $kind = sqlite ] || rm -rf "$data"
    rm -f "$STUDY/db.log" "$STUDY/my.cnf" "$conf" "$programs"
}

case ${1:-} in
set) shift; echo "$*" >> "$conf" ;;
programs) echo "$2" > "$programs" ;;
up) up ;;
memory) memory "$2" ;;
down) down ;;
*) die "what? set, programs, up, memory or down" ;;
esac
