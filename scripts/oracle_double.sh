#!/bin/sh
# Runs README's commands over Oracle's wire protocol, against a database model that listens on loopback. The model is a test double: it
# shows that Dyno and the protocol agree, and nothing about what an Oracle database does.
#
# oracle_double.sh [--serve] [OPTION ...]
#   --serve                 only start the model, print its URL, and serve until Ctrl-C
#   --port N                listen on this port
#   --release 19c|23ai      speak the protocol of this release
#   --lost-commit-every N   lose one of N commits
#   --recorded FILE         report the version and settings in a file of `dyno check --accept --record FILE`
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
# Tables of workloads need MariaDB.
if command -v mariadbd > /dev/null; then
    few="--set run.ops_per_session=200 --set run.warmup=0s"
    for workload in tpcb queue json-documents; do
        set_folder="--set workload.folder=@$workload"
        # shellcheck disable=SC2086
        {
            step load "$@" $set_folder
            step run "$@" $set_folder $few
            step drop "$@" $set_folder --yes
        }
    done
fi
step show
step list
step report
step drop "$@" --yes
echo "all commands succeeded against the model"
