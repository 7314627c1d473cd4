#!/bin/sh
# A file system of its own for a study, at $STUDY/mnt: in a loop file, or on the device that the parameter "device" names.
#
#   study-fs up TYPE [MKFS OPTION...] [-- MOUNT,OPTIONS]    makes and mounts it
#   study-fs has OPTION        fails unless it is mounted so
#   study-fs lacks OPTION      fails if it is mounted so
#   study-fs is TYPE           fails unless it is of that type
#   study-fs block BYTES       fails unless its blocks have that size
#   study-fs down              unmounts it and removes it; harmless where there is none
#
# The size of the loop file is the parameter "size" (2G unless it says otherwise).
set -eu
mnt="$STUDY/mnt" image="$STUDY/disk.img" mark="$STUDY/formatted"
say() { echo "study-fs: $*"; }
die() { echo "study-fs: $*" >&2; exit 1; }

mounted() { awk -v m="$mnt" '$5 == m { found = 1 } END { exit !found }' /proc/self/mountinfo; }

# Options of the mount and of the file system, as the kernel has them.
options() { awk -v m="$mnt" '$5 == m { print $6 "," $NF }' /proc/self/mountinfo | tail -n 1; }
type_of() { awk -v m="$mnt" '$5 == m { for (i = 7; i <= NF; i++) if ($i == "-") print $(i + 1) }' /proc/self/mountinfo | tail -n 1; }

# What tells one disk from another: names such as /dev/sdb may be of another one after the next start.
identity() { lsblk --nodeps --noheadings --raw --bytes --output SIZE,SERIAL,WWN,PARTUUID "$1" | tr -s ' '; }

loops() { losetup --noheadings --output NAME --associated "$image" 2>/dev/null | sed 's/ *$//'; }

up() {
    type=$1; shift
    # What mkfs is given ends at --; behind it are the options of the mount.
    opts= mkfs_opts=
    while [ $# -gt 0 ]; do
        case $1 in
        --) opts=${2:-}; break ;;
        *) mkfs_opts="$mkfs_opts $1"; shift ;;
        esac
    done
    command -v "mkfs.$type" >/dev/null || die "there is no mkfs.$type: install the tools of $type, or leave the variant out"
    case $type in
    ext2 | ext3 | ext4 | jfs | reiserfs) force=-F ;;
    *) force=-f ;;
    esac
    [ "$type" = jfs ] || [ "$type" = reiserfs ] && force=-q
    mkdir -p "$mnt"
    mounted && die "$mnt is mounted already"
    if [ -n "${device:-}" ]; then
        on=$(readlink -f "$device")
        # dyno has looked at the device; between its look and this one somebody may have mounted it.
        grep -qs "^$on " /proc/mounts && die "$device is mounted"
        # What is formatted is known on disk before, also where power is cut the moment after.
        { echo "$device"; identity "$on"; } > "$mark.new"
        sync "$mark.new"
        mv "$mark.new" "$mark"
        sync "$STUDY"
    else
        truncate -s "${size:-2G}" "$image"
        on=$image
    fi
    # shellcheck disable=SC2086
    "mkfs.$type" $force $mkfs_opts "$on" >"$STUDY/mkfs.log" 2>&1 || { tail -n 3 "$STUDY/mkfs.log" >&2; die "mkfs.$type failed"; }
    if [ -z "${device:-}" ]; then
        # Without a page cache of its own under that of the file system, where the kernel can do that.
        on=$(losetup --find --show --direct-io=on "$image" 2>/dev/null) || on=$(losetup --find --show "$image")
    fi
    mount -t "$type" ${opts:+-o "$opts"} "$on" "$mnt" || die "$type cannot be mounted: does this kernel have it?"
    # From now on the loop device goes with the mount.
    [ -n "${device:-}" ] || losetup --detach "$on"
    chmod 1777 "$mnt"
    say "$type $(options)"
}

down() {
    tries=0
    while mounted; do
        umount "$mnt" 2>/dev/null && continue
        tries=$((tries + 1))
        [ $tries -lt 50 ] || die "$mnt is in use: $(fuser -m "$mnt" 2>/dev/null || true)"
        sleep 0.1
    done
    for loop in $(loops); do losetup --detach "$loop"; done
    # A device that this study has formatted is blank again.
    if [ -f "$mark" ]; then
        own=$(readlink -f "$(head -n 1 "$mark")")
        [ "$(identity "$own")" = "$(tail -n +2 "$mark")" ] || die "$own is another disk than the one that was formatted: nothing is touched"
        bytes=$(blockdev --getsize64 "$own")
        wipefs --all --quiet "$own" 2>/dev/null || true
        for at in 0 64 $((bytes / 1048576 - 1)); do
            dd if=/dev/zero of="$own" bs=1M seek="$at" count=1 conv=fsync status=none 2>/dev/null || true
        done
        blkdiscard --zeroout "$own" 2>/dev/null || true
        rm -f "$mark"
    fi
    rm -f "$image" "$mark.new" "$STUDY/mkfs.log"
    [ ! -d "$mnt" ] || rmdir "$mnt"
}

case ${1:-} in
up) shift; up "$@" ;;
down) down ;;
is) [ "$(type_of)" = "$2" ] || die "the file system is $(type_of), and not $2"; say "is $2" ;;
has) options | tr ',' '\n' | grep -qx "$2" || die "mounted $(options), without $2"; say "mounted $(options)" ;;
lacks) options | tr ',' '\n' | grep -qx "$2" && die "mounted $(options), with $2"; say "mounted $(options)" ;;
block) [ "$(stat -f -c %S "$mnt")" = "$2" ] || die "blocks of $(stat -f -c %S "$mnt") bytes, and not $2"; say "blocks of $2 bytes" ;;
*) die "what? up, is, has, lacks, block or down" ;;
esac
