#!/bin/sh
# Which kernel starts next, by GRUB: for one start, after which the machine's usual one has its turn again.
#
#   study-kernel next RELEASE    the next start is that of the kernel of this release, as `uname -r` says it
#   study-kernel is RELEASE      fails unless that one runs
#   study-kernel back            the next start is the usual one; harmless where it is already
#
# Parameter: grub, the folder of grub.cfg (/boot/grub or /boot/grub2 unless it says otherwise).
set -eu
die() { echo "study-kernel: $*" >&2; exit 1; }

folder() {
    for dir in ${grub:-/boot/grub /boot/grub2}; do
        if [ -f "$dir/grub.cfg" ]; then echo "$dir"; return; fi
    done
    die "there is no grub.cfg in ${grub:-/boot/grub or /boot/grub2}: name its folder with --param grub=DIR"
}

# GRUB's programs are grub-… or grub2-….
program() {
    for name in "grub-$1" "grub2-$1"; do
        if command -v "$name" >/dev/null; then echo "$name"; return; fi
    done
    die "there is no grub-$1: install the tools of GRUB"
}

# The menu's entry of a release, as grub-reboot takes it: by the ids of its menus, or their titles where they have none.
entry() {
    awk -v release="$1" -v quote="'" '
        function id(line, parts, count) { count = split(line, parts, quote); return line ~ /menuentry_id_option/ && count >= 4 ? parts[4] : parts[2] }
        /^}/ { menu = "" }
        /^[ \t]*submenu / { menu = id($0) ">" }
        /^[ \t]*menuentry / { item = menu id($0); is_rescue = tolower($0) ~ /recovery|rescue/ }
        /^[ \t]*linux(16|efi)?[ \t]/ && !is_rescue {
            count = split($2, path, "/")
            if (path[count] == "vmlinuz-" release) { print item; exit }
        }' "$(folder)/grub.cfg"
}

releases() { sed -n 's|^[ \t]*linux[a-z0-9]*[ \t][^ \t]*vmlinuz-\([^ \t]*\).*|\1|p' "$(folder)/grub.cfg" | sort -uV | tr '\n' ' '; }

case ${1:-} in
next)
    [ -n "${2:-}" ] || die "which release? GRUB has $(releases)"
    found=$(entry "$2")
    [ -n "$found" ] || die "GRUB has no entry of the kernel $2; it has $(releases)"
    "$(program reboot)" --boot-directory="$(dirname "$(folder)")" "$found"
    echo "study-kernel: next $found"
    ;;
is) [ "$(uname -r)" = "$2" ] || die "the kernel is $(uname -r), and not $2"; echo "$2, started $(uptime -s)" ;;
back) "$(program editenv)" "$(folder)/grubenv" unset next_entry ;;
*) die "what? next, is or back" ;;
esac
