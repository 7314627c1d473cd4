#!/bin/sh
# Tests the Ansible collection on this host: `sh packaging/ansible/tests/run.sh ARCHIVE`, the archive of a release. Without one, an archive
# of the built program is made (DYNO_PROGRAM, else target/release/dyno). Everything lies in a temporary folder; servers are stopped at the end.
set -eu

here=$(cd "$(dirname "$0")/.." && pwd -P)
root=$(cd "$here/../.." && pwd -P)
target=${CARGO_TARGET_DIR:-$root/target}
work=$(mktemp -d)
pids=
say() { printf 'ansible: %s\n' "$*" >&2; }
fail() { say "FAILED: $*"; exit 1; }
end() {
    for pid in $pids; do
        kill "$pid" 2>/dev/null || continue
        while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
    done
    rm -rf "$work"
}
trap end EXIT
trap 'exit 130' INT TERM
# Servers run as another user.
chmod 755 "$work"

export ANSIBLE_HOME="$work/home" ANSIBLE_COLLECTIONS_PATH="$work/collections" ANSIBLE_LOCALHOST_WARNING=false ANSIBLE_NOCOLOR=1 \
    ANSIBLE_INVENTORY_UNPARSED_WARNING=false ANSIBLE_RETRY_FILES_ENABLED=false ANSIBLE_REMOTE_TEMP="$work/home/tmp"
export NO_COLOR=1 ANSIBLE_PIPELINING=1

# The tools: those of the system, else in a virtual environment below the target folder.
venv=${DYNO_ANSIBLE_VENV:-$target/ansible-venv}
if ! command -v ansible-lint >/dev/null || ! command -v ansible-playbook >/dev/null; then
    if [ ! -x "$venv/bin/ansible-lint" ]; then
        say 'installing ansible-core and ansible-lint'
        mkdir -p "$(dirname "$venv")"
        python3 -m venv "$venv"
        "$venv/bin/pip" install --quiet --disable-pip-version-check ansible-core ansible-lint
    fi
    PATH=$venv/bin:$PATH
    export PATH
fi

# An archive in the shape of a release.
archive=${1:-}
if [ -z "$archive" ]; then
    program=${DYNO_PROGRAM:-$target/release/dyno}
    [ -x "$program" ] || fail "$program does not exist: make build"
    name=dyno-0.0.1-$(uname -m)-unknown-linux-musl
    mkdir -p "$work/$name/completions" "$work/$name/man"
    strip -o "$work/$name/dyno" "$program" 2>/dev/null || cp "$program" "$work/$name/dyno"
    "$work/$name/dyno" man --quiet --dir "$work/$name/man"
    for shell in bash zsh fish; do "$work/$name/dyno" completions "$shell" >"$work/$name/completions/dyno.$shell"; done
    archive=$work/$name.tar.gz
    tar --create --owner=0 --group=0 --directory "$work" "$name" | gzip -1 >"$archive"
    rm -r "${work:?}/$name"
fi
checksum=$(sha256sum "$archive" | cut -d' ' -f1)

say 'build and install the collection'
ansible-galaxy collection build --output-path "$work" "$here" >/dev/null
ansible-galaxy collection install --offline --collections-path "$work/collections" "$work"/dyno-platform-*.tar.gz >/dev/null

# A scratch prefix: nothing outside of the folder changes.
cat >"$work/vars.yml" <<EOF
ansible_python_interpreter: "{{ ansible_playbook_python }}"
dyno_archive: $archive
dyno_archive_checksum: "$checksum"
dyno_prefix: $work/opt
dyno_bin_dir: $work/usr/bin
dyno_share_dir: $work/usr/share
dyno_program: $work/usr/bin/dyno
dyno_run_dir: $work/var
dyno_run_fetch_dir: $work/results
# A busy machine makes runs invalid, and this is no test of figures.
dyno_run_allow_invalid: true
EOF

# play NAME OPTION…: runs a playbook; its output is NAME.log.
play() {
    log=$work/$1.log
    shift
    ansible-playbook --inventory localhost, --extra-vars "@$work/vars.yml" "$@" >"$log" 2>&1 || { cat "$log"; fail "$*"; }
}
# changed NAME COUNT: how many tasks of the play changed something.
changed() { grep -q "changed=$2 " "$work/$1.log" || { cat "$work/$1.log"; fail "$1: not changed=$2"; }; }
results() { find "$work/results" -name "$1" | wc -l; }

cat >"$work/install.yml" <<'EOF'
- name: Install
  hosts: localhost
  connection: local
  gather_facts: false
  roles: [dyno.platform.install]
EOF
# Part 1 tests the installation; the other parts need it.
installed() { [ -x "$work/usr/bin/dyno" ] || play installed "$work/install.yml"; }

# PARTS: only these, such as 2_servers.
for part in ${PARTS:-0_lint 1_single_host 2_servers 3_services 4_study_collect}; do
    say "$part"
    # shellcheck source=/dev/null
    . "$here/tests/parts/$part.sh"
done
say 'passed'
