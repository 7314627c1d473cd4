# A study in check mode and refused without consent; runs of two hosts in one repository.
installed
cat >"$work/study.yml" <<EOF
- name: Study
  hosts: localhost
  connection: local
  gather_facts: false
  vars:
    dyno_study_dir: $work/study
    dyno_study_fetch_dir: $work/results
    dyno_study_file: $work/cache.toml
    dyno_study_options: [--dir, $work/studies]
  roles: [dyno.platform.study]
EOF
cat >"$work/cache.toml" <<'EOF'
[study]
title = "Nothing"
[params]
size = "1M"
[target]
url = "sqlite:${STUDY}/bench.db"
[data]
scale = "${size}"
[run]
warmup = "100ms"
time = "1s"
[[variant]]
name = "one"
apply = ["touch $STUDY/one"]
verify = ["test -e $STUDY/one"]
revert = ["rm -f $STUDY/one"]
[[variant]]
name = "two"
apply = ["touch $STUDY/two"]
verify = ["test -e $STUDY/two"]
revert = ["rm -f $STUDY/two"]
EOF
play study_check "$work/study.yml" --check
grep -q 'touch \$STUDY/one' "$work/study_check.log" || { cat "$work/study_check.log"; fail 'check mode does not show the commands'; }
[ ! -e "$work/study" ] && [ ! -e "$work/studies" ] || fail 'check mode wrote files'
if ansible-playbook --inventory localhost, --extra-vars "@$work/vars.yml" "$work/study.yml" >"$work/refused.log" 2>&1; then
    fail 'a study ran without consent'
fi
grep -q dyno_study_allow_commands "$work/refused.log" || { cat "$work/refused.log"; fail 'the reason is missing'; }
play study "$work/study.yml" --extra-vars '{"dyno_study_allow_commands": true}'
grep -q '<svg' "$work/results/localhost-cache.html" || fail 'no report of the study'

for host in one two; do
    (mkdir "$work/$host" && cd "$work/$host" && export DYNO_REPOSITORY="$work/$host/runs.sqlite3" &&
        "$work/usr/bin/dyno" load --quiet --target sqlite:bench.db --set data.scale=1M &&
        "$work/usr/bin/dyno" run --quiet --target sqlite:bench.db --set data.scale=1M --set run.warmup=100ms --time 1s) >"$work/$host.out" 2>&1 ||
        [ $? -eq 1 ] || { cat "$work/$host.out"; fail "$host"; }
done
cat >"$work/collect.yml" <<EOF
- name: Collect
  hosts: one:two
  connection: local
  gather_facts: false
  vars:
    dyno_collect_from: $work/{{ inventory_hostname }}/runs.sqlite3
    dyno_collect_to: $work/all/runs.sqlite3
  roles: [dyno.platform.collect]
EOF
play collect_check "$work/collect.yml" --inventory one,two, --check
[ ! -e "$work/all" ] || fail 'check mode wrote files'
play collect "$work/collect.yml" --inventory one,two,
for host in one two; do
    DYNO_REPOSITORY=$work/all/runs.sqlite3 "$work/usr/bin/dyno" list | grep -q "tags $host" || fail "no run of $host"
done
play collect_again "$work/collect.yml" --inventory one,two,
changed collect_again 0
[ "$(grep -c 'changed=0 ' "$work/collect_again.log")" = 2 ] || { cat "$work/collect_again.log"; fail 'a second collection changed something'; }
