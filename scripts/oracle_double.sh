#!/bin/sh
# Walks README's commands over Oracle's wire protocol, against a database model of the test bed that listens on loopback. It is a test
# double: what goes well here shows that Dyno and the protocol agree, and nothing of what an Oracle database does.
#
# oracle_double.sh [--serve] [OPTION ...]   with --serve it only starts the model, prints its URL, and serves until Ctrl-C. The model takes
# --port N, --release 19c or 23ai, and --lost-commit-every N, with which it is wrong on purpose.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
(cd "$root" && cargo build --quiet -p dyno -p dyno-testbed --bin dyno --example scripted_oracle)
dyno=$target/debug/dyno
model=$target/debug/examples/scripted_oracle

if [ "${1-}" = --serve ]; then
    shift
    exec "$model" "$@"
fi

folder=$(mktemp -d)
mkfifo "$folder/input" "$folder/url"
"$model" "$@" < "$folder/input" > "$folder/url" &
pid=$!
# The model serves until its input ends, which this process holds open.
exec 3> "$folder/input"
trap 'kill "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true; rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM
read -r url < "$folder/url"

export DYNO_REPOSITORY="$folder/runs.sqlite3" DYNO_MODEL_PASSWORD=any
cd "$folder"

step() {
    echo "+ dyno $*"
    "$dyno" "$@"
}

step init --engine oracle
set -- --target "$url" --set target.password_env=DYNO_MODEL_PASSWORD
short="--set data.scale=500blocks --set run.time=2s --set run.warmup=0s --set workload.update_pct=20"
step check --deep "$@"
# shellcheck disable=SC2086
{
    step check "$@" $short
    step load "$@" $short
    step run "$@" $short
    step run "$@" $short --set workload.drive=server
    step sweep "$@" $short --set sweep.sessions=1,2,4
    step prove updates "$@" $short
}
step show
step list
step report
step drop "$@" --yes
echo "all commands went well over the double"
