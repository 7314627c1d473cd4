#!/bin/sh
# Tests the archive, the packages and the image of a release where nothing else is installed: `sh testing/packages.sh ARCHIVE`, as root. Fresh roots of
# Debian 11 and 12 are made once by debootstrap and kept in cargo's target folder; each test works on a copy.
set -eu

here=$(cd "$(dirname "$0")/.." && pwd -P)
archive=$(realpath "$1")
beds=${CARGO_TARGET_DIR:-$here/target}/testbeds
name=$(basename "$archive" .tar.gz)
work=$(mktemp -d)
root=$work/root

say() { printf 'packages: %s\n' "$*" >&2; }
fail() { say "FAILED: $*"; exit 1; }
end() {
    umount "$root/proc" 2>/dev/null || true
    rm -rf --one-file-system "$work"
}
trap end EXIT

# shellcheck source=scripts/packages.sh
. "$here/scripts/packages.sh"
missing=
for pair in debootstrap:debootstrap lintian:lintian rpmbuild:rpm umoci:umoci; do
    command -v "${pair%%:*}" >/dev/null || missing="$missing ${pair#*:}"
done
# shellcheck disable=SC2086
[ -z "$missing" ] || when_free apt-get install --yes $missing

# A fresh copy of the root of Debian's release $1.
fresh() {
    umount "$root/proc" 2>/dev/null || true
    rm -rf --one-file-system "$root"
    if [ ! -e "$beds/root-$1/usr/bin/dpkg" ]; then
        say "making a root of $1"
        rm -rf "$beds/root-$1" && mkdir -p "$beds"
        debootstrap --variant=minbase "$1" "$beds/root-$1" "$(debian_archive)" >"$work/debootstrap.log" 2>&1 || { cat "$work/debootstrap.log"; exit 1; }
    fi
    cp -a "$beds/root-$1" "$root"
    mount -t proc proc "$root/proc"
}
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"; }
as_user() { chroot --userspec=nobody:nogroup "$root" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/tmp "$@"; }

# The demo with program $1, as a user without rights: 0, or 1 where the machine is too busy for valid runs.
demo() {
    start=$(date +%s)
    code=0
    as_user "$1" demo --plain --dir /tmp/demo >"$work/demo.log" 2>&1 || code=$?
    [ "$code" -le 1 ] || { cat "$work/demo.log"; fail "the demo ended with $code"; }
    grep -q '<svg' "$root/tmp/demo/report.html" || fail 'the page of the demo has no chart'
    say "demo: $(($(date +%s) - start)) s"
}

sh "$here/packaging/build.sh" "$archive" "$work" >"$work/build.log" || { cat "$work/build.log"; fail 'packages'; }
deb=$(ls "$work"/*.deb) rpm=$(ls "$work"/*.rpm)
lintian --fail-on error,warning "$deb" || fail 'lintian'
for unit in "$here"/packaging/systemd/*.service; do
    exposure=$(systemd-analyze security --offline=true "$unit" | sed -n 's/.*exposure level for .*: \([0-9.]*\).*/\1/p')
    awk "BEGIN { exit !($exposure <= 2.5) }" || fail "$unit has the exposure $exposure"
done

for release in bullseye bookworm; do
    say "archive on $release"
    fresh "$release"
    tar --extract --file "$archive" --directory "$root/opt"
    demo "/opt/$name/dyno"
    as_user "/opt/$name/dyno" --version
    as_user "/opt/$name/dyno" doctor >/dev/null || fail 'doctor'

    say "package on $release"
    fresh "$release"
    cp "$deb" "$root/dyno.deb"
    inside dpkg --install /dyno.deb >/dev/null
    demo /usr/bin/dyno
    for file in /usr/share/man/man1/dyno-run.1.gz /usr/share/bash-completion/completions/dyno; do
        # Minimal roots of Debian leave pages out if their dpkg is told so.
        [ -e "$root$file" ] || fail "$file is missing"
    done
    [ -z "$(find "$root/etc/systemd" -name 'dyno*' 2>/dev/null)" ] || fail 'a service was enabled'
    mkdir -p "$root/var/lib/dyno-serve" "$root/etc/dyno"
    echo kept >"$root/var/lib/dyno-serve/runs.sqlite3"
    echo kept >"$root/etc/dyno/targets.toml"
    dpkg-deb --raw-extract "$deb" "$work/next"
    sed -i 's/^Version: .*/Version: 999-1/' "$work/next/DEBIAN/control"
    dpkg-deb --root-owner-group -Zgzip --build "$work/next" "$root/next.deb" >/dev/null
    rm -rf "$work/next"
    inside dpkg --install /next.deb >/dev/null
    [ "$(inside dpkg-query --show --showformat '${Version}' dyno)" = 999-1 ] || fail 'the upgrade'
    inside dpkg --purge dyno >/dev/null
    [ ! -e "$root/usr/bin/dyno" ] || fail 'the program is left after the removal'
    for file in var/lib/dyno-serve/runs.sqlite3 etc/dyno/targets.toml; do
        [ "$(cat "$root/$file")" = kept ] || fail "/$file was removed"
    done
done

say 'RPM'
fresh bookworm
mkdir -p "$root/var/lib/dyno-agent"
echo kept >"$root/var/lib/dyno-agent/result"
rpm --root "$root" --initdb
rpm --root "$root" --nodeps --install "$rpm"
demo /usr/bin/dyno
rpm --root "$root" --query --list dyno | grep -q /usr/lib/systemd/system/dyno-serve.service || fail 'units of the RPM'
rpm --root "$root" --erase dyno
[ ! -e "$root/usr/bin/dyno" ] || fail 'the program is left after the removal'
[ "$(cat "$root/var/lib/dyno-agent/result")" = kept ] || fail 'a result was removed'

say 'image'
version=${name#dyno-}
version=${version%%-*}
sh "$here/packaging/container/build.sh" "$archive" "$work/image" >/dev/null
umoci unpack --rootless --image "$work/image:$version" "$work/bundle"
grep -q '"uid": 65532' "$work/bundle/config.json" || fail 'the image does not name its user'
image() { chroot --userspec=65532:65532 "$work/bundle/rootfs" /usr/bin/dyno "$@"; }
image --version
HOME=/data DYNO_REPOSITORY=/data/runs.sqlite3 image demo --plain --dir /data/demo >"$work/demo.log" 2>&1 || [ $? -eq 1 ] || { cat "$work/demo.log"; fail 'the demo in the image'; }
[ -e "$work/bundle/rootfs/data/demo/report.html" ] || fail 'the page of the demo in the image'
say 'all passed'
