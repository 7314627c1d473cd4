# Installation and measurement on SQLite: in check mode, once, and again.
small='{"dyno_run_set": {"data.scale": "8M", "run.warmup": "100ms", "run.time": "1s", "sweep.sessions": [1, 2]}}'
play check dyno.platform.single_host --check --extra-vars "$small"
[ ! -e "$work/opt" ] && [ ! -e "$work/usr" ] && [ ! -e "$work/var" ] || fail 'check mode wrote files'

play first dyno.platform.single_host --extra-vars "$small"
"$work/usr/bin/dyno" -V >/dev/null || fail 'the linked program does not run'
[ -e "$work/usr/share/man/man1/dyno-run.1" ] || fail 'no manual pages'
[ -s "$work/usr/share/bash-completion/completions/dyno" ] || fail 'no completions'
[ "$(results '*.html')" = 1 ] && [ "$(results '*.json')" = 1 ] || fail 'record or report were not fetched'
python3 - "$work"/results/*.json <<'EOF' || fail 'the record does not hold the runs of the ramp'
import json, sys
runs = json.load(open(sys.argv[1]))["runs"]
sys.exit(sorted(run["plan"]["run"]["sessions_per_schema"] for run in runs) != [1, 2])
EOF

# Measurement, written files, fetched files, and nothing else.
play again dyno.platform.single_host --extra-vars "$small"
changed again 3

# A changed archive is refused.
wrong=$(printf '%064d' 0)
if ansible-playbook --inventory localhost, --extra-vars "@$work/vars.yml" --extra-vars "dyno_archive_checksum=$wrong" "$work/install.yml" >"$work/wrong.log" 2>&1; then
    fail 'an archive with another checksum was installed'
fi
grep -q 'another SHA-256' "$work/wrong.log" || { cat "$work/wrong.log"; fail 'the reason is missing'; }

play install "$work/install.yml"
changed install 0

# Removal keeps the results.
play absent "$work/install.yml" --extra-vars dyno_state=absent
[ ! -e "$work/usr/bin/dyno" ] && [ -z "$(ls "$work/opt")" ] && [ -z "$(ls "$work/usr/share/man/man1")" ] || fail 'the program was not removed'
[ -s "$work/var/runs.sqlite3" ] || fail 'the removal took the results'
play absent_again "$work/install.yml" --extra-vars dyno_state=absent
changed absent_again 0
play installed "$work/install.yml"
