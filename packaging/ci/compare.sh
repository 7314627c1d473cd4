#!/bin/sh
# Measures two versions of a project in turn and compares them: `compare.sh BASE HEAD`, two folders with the plan and the workload of each version,
# such as the checkouts of a base branch and of a change. Settings come from the environment:
#   DYNO_CI_PLAN     the plan's file in each folder (dyno.toml)
#   DYNO_CI_PAIRS    runs of each side (5)
#   DYNO_CI_GATE     what must hold for the second side ("ops_per_s >= -5%")
#   DYNO_CI_RESULTS  the folder for runs.sqlite3, compare.md and report.html (dyno-results)
# Passwords come from the variables that the plan names. Exit codes are those of `dyno compare`: 0 the gate holds, 1 it failed, 5 the runs do not
# decide it; others are errors.
set -eu

[ $# -eq 2 ] || { echo 'usage: compare.sh BASE HEAD' >&2; exit 2; }
base=$(cd "$1" && pwd -P) head=$(cd "$2" && pwd -P)
plan=${DYNO_CI_PLAN:-dyno.toml}
pairs=${DYNO_CI_PAIRS:-5}
gate=${DYNO_CI_GATE:-ops_per_s >= -5%}
results=${DYNO_CI_RESULTS:-dyno-results}
mkdir -p "$results"
results=$(cd "$results" && pwd -P)
export DYNO_REPOSITORY="$results/runs.sqlite3"

# One run of side $1 in folder $2. Data of the other side is replaced where its shape differs.
measure() {
    cd "$2"
    dyno load --quiet --plan "$plan" --replace
    code=0
    dyno run --plain --plan "$plan" --tag "$1" || code=$?
    # 1: the run is stored as invalid, and the comparison leaves it out.
    [ "$code" -le 1 ] || exit "$code"
}

pair=1
while [ "$pair" -le "$pairs" ]; do
    # A B, then B A: drift of the machine meets both sides.
    if [ $((pair % 2)) -eq 1 ]; then
        measure base "$base"
        measure head "$head"
    else
        measure head "$head"
        measure base "$base"
    fi
    pair=$((pair + 1))
done
cd "$results"
code=0
dyno compare tag:base tag:head --gate "$gate" -o compare.md || code=$?
dyno report --quiet tag:base tag:head -o report.html
exit "$code"
