#!/bin/sh
# A value of the kernel's, changed for a while: its old one is kept on disk before.
#
#   study-keep set FILE VALUE    keeps what FILE says (once) and writes VALUE
#   study-keep is FILE VALUE     fails unless FILE says VALUE
#   study-keep back FILE         writes what was kept; harmless where nothing was
#
# FILE is of /proc/sys or /sys, or a name as sysctl has it: vm.swappiness. Where a file names all values and the one
# in force in brackets, as those of transparent huge pages do, that one is meant.
set -eu
kept="$STUDY/kept"
die() { echo "study-keep: $*" >&2; exit 1; }

case ${2:-} in
/proc/sys/* | /sys/*) file=$2 ;;
/*) die "$2 is neither of /proc/sys nor of /sys" ;;
"") die "which file?" ;;
*) file=/proc/sys/$(echo "$2" | tr . /) ;;
esac
case $file in *..*) die "$file leads elsewhere" ;; esac

now() {
    text=$(cat "$file") || die "$file cannot be read"
    case $text in
    *"["*"]"*) echo "$text" | sed 's/.*\[\(.*\)\].*/\1/' ;;
    *) echo "$text" | tr '\t' ' ' ;;
    esac
}
place="$kept/$(echo "$file" | tr / %)"

case ${1:-} in
set)
    [ -w "$file" ] || die "$file cannot be written: is this kernel without it, or are you not root?"
    mkdir -p "$kept"
    # What was kept first is what was there before the study. It is on disk before anything is changed.
    if [ ! -f "$place" ]; then
        now > "$place.new"
        sync "$place.new"
        mv "$place.new" "$place"
        sync "$kept"
    fi
    echo "$3" > "$file"
    ;;
is)
    [ "$(now)" = "$3" ] || die "$file is $(now), and not $3"
    echo "$file = $(now)"
    ;;
back)
    [ -f "$place" ] || exit 0
    cat "$place" > "$file"
    rm -f "$place"
    rmdir "$kept" 2>/dev/null || true
    ;;
*) die "what? set, is or back" ;;
esac
