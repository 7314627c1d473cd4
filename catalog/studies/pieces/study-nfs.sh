#!/bin/sh
# An export of an NFS server at $STUDY/mnt, by the kernel's client or by another one. It has to be empty, and the study takes away again
# what it has made there, which is the server's folder, and nothing else.
#
#   study-nfs up kernel    mounts it by the kernel's client
#   study-nfs up other     mounts it by the program that the parameter "other" names, which is given the export and the folder
#   study-nfs is TYPE      fails unless it is mounted, as a file system whose type begins so: nfs, fuse
#   study-nfs down         takes away the server's folder, and unmounts it; harmless where there is nothing
#
# Parameters: export (HOST:/FOLDER); options, those of the kernel's client.
set -eu
mnt="$STUDY/mnt" mark="$STUDY/exported"
# As study-db has it.
db="$mnt/db"
die() { echo "study-nfs: $*" >&2; exit 1; }

# By the kernel's list: of a client that has died the folder itself answers nothing.
type_of() { awk -v m="$mnt" '$5 == m { for (i = 7; i <= NF; i++) if ($i == "-") print $(i + 1) }' /proc/self/mountinfo | tail -n 1; }

# What lies on the export.
held() { find "$mnt" -mindepth 1 -maxdepth 1 ! -name lost+found -printf '%f\n'; }

by() {
    mkdir -p "$mnt"
    case $1 in
    kernel) mount -t nfs ${options:+-o "$options"} "$export" "$mnt" ;;
    other) $other "$export" "$mnt" ;;
    *) die "by which client? kernel or other" ;;
    esac || die "$export cannot be mounted"
}

up() {
    [ -z "$(type_of)" ] || die "$mnt is mounted already"
    by "$1"
    there=$(held | head -n 3)
    if [ -n "$there" ] && [ ! -f "$mark" ]; then
        umount "$mnt"
        die "$export holds $there: name an export that is empty"
    fi
    # From now on the server's folder there is the study's.
    echo "$export" > "$mark.new"
    sync "$mark.new"
    mv "$mark.new" "$mark"
    sync "$STUDY"
}

down() {
    if [ -f "$mark" ]; then
        # The machine was started anew, or the client has died: what is on the export is reached by the kernel's.
        if [ -n "$(type_of)" ] && ! ls "$mnt" >/dev/null 2>&1; then umount -l "$mnt"; fi
        [ -n "$(type_of)" ] || by kernel
        # A file that somebody still has open goes once it is closed; until then the client keeps it as .nfs….
        tries=0
        while [ -e "$db" ]; do
            rm -rf "$db" 2>/dev/null || true
            tries=$((tries + 1))
            [ $tries -lt 150 ] || die "$export keeps the server's folder: $(fuser -m "$mnt" 2>/dev/null || true)"
            [ ! -e "$db" ] || sleep 0.1
        done
        # Somebody else has put it there meanwhile.
        there=$(held | head -n 3)
        [ -z "$there" ] || echo "study-nfs: $there on $export is not the study's and stays" >&2
    fi
    tries=0
    while [ -n "$(type_of)" ]; do
        umount "$mnt" 2>/dev/null && continue
        tries=$((tries + 1))
        [ $tries -lt 50 ] || die "$mnt is in use: $(fuser -m "$mnt" 2>/dev/null || true)"
        sleep 0.1
    done
    rm -f "$mark" "$mark.new"
    [ ! -d "$mnt" ] || rmdir "$mnt"
}

case ${1:-} in
up) up "${2:-}" ;;
is)
    case $(type_of) in
    "$2"*) awk -v m="$mnt" '$5 == m' /proc/self/mountinfo | sed 's/.* - //' ;;
    *) die "it is mounted as $(type_of), and not as $2" ;;
    esac
    ;;
down) down ;;
*) die "what? up, is or down" ;;
esac
