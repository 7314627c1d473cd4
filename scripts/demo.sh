#!/bin/sh
# Run from the project's folder. A small ramp on the embedded engine: one, two and four sessions, read-only and with 20 % updates. Everything it makes
# lies in demo of cargo's target folder; nothing is installed or left behind elsewhere.
set -eu

target=${CARGO_TARGET_DIR:-target}
dyno=$(realpath "${1:-$target/quick/dyno}")
folder=$target/demo
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
export DYNO_REPOSITORY=runs.sqlite3

step() { printf '\n\033[1m$ dyno %s\033[0m\n' "$*" >&2; "$dyno" "$@"; }

step init
step load --set data.scale=128M
for updates in 0 20; do
    for sessions in 1 2 4; do
        "$dyno" run --quiet --set data.scale=128M --set workload.update_pct=$updates \
            --set run.sessions_per_schema=$sessions --set run.warmup=500ms --set run.time=4s >run.txt || {
            code=$?
            cat run.txt
            # 1: done, but the audit found the run invalid; the table says so and why.
            [ "$code" -eq 1 ] || exit "$code"
        }
        printf 'ran %s session(s) at %s %% updates\n' "$sessions" "$updates" >&2
    done
done
step show last~5 last~4 last~3 last~2 last~1 last
step show last --table
printf '\nThe records stay: `%s show --repository %s/runs.sqlite3` shows all of the last one.\n' \
    "${1:-$target/quick/dyno}" "$folder" >&2
