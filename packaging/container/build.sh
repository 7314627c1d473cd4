#!/bin/sh
# Makes an OCI image of a release archive, without a daemon: `sh packaging/container/build.sh ARCHIVE [FOLDER]`. The image layout goes to FOLDER, else
# beside the archive; `skopeo copy oci:FOLDER:VERSION docker://…` publishes it. Needs umoci. It holds the program and its licenses only, runs as
# a user without rights, and keeps its repository in /data.
set -eu

archive=$(realpath "$1")
name=$(basename "$archive" .tar.gz)
layout=${2:-$(dirname "$archive")/$name-oci}
version=${name#dyno-}
version=${version%%-*}
case $name in
*-x86_64-*) arch=amd64 ;;
*-aarch64-*) arch=arm64 ;;
*) echo "unknown architecture: $name" >&2 && exit 2 ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar --extract --file "$archive" --directory "$work"
created=$(date --utc --iso-8601=seconds --date="@$(stat --format=%Y "$work/$name/README.md")")
from=$work/$name

rm -rf "$layout"
umoci init --layout "$layout"
umoci new --image "$layout:$version"
insert() { umoci insert --rootless --history.created "$created" --image "$layout:$version" "$@"; }
mkdir -p "$work/data" "$work/tmp"
chmod 1777 "$work/data" "$work/tmp"
insert "$from/dyno" /usr/bin/dyno
insert "$from/LICENSES-OF-COMPONENTS.txt" /usr/share/doc/dyno/LICENSES-OF-COMPONENTS.txt
insert "$from/LICENSE-MIT" /usr/share/doc/dyno/LICENSE-MIT
insert "$from/LICENSE-APACHE" /usr/share/doc/dyno/LICENSE-APACHE
insert "$work/data" /data
insert "$work/tmp" /tmp
umoci config --image "$layout:$version" --created "$created" --history.created "$created" --architecture "$arch" --os linux \
    --config.user 65532:65532 --config.entrypoint /usr/bin/dyno --config.workingdir /data --config.volume /data \
    --config.env DYNO_REPOSITORY=/data/runs.sqlite3 --config.env HOME=/data --config.env PATH=/usr/bin \
    --config.label org.opencontainers.image.title=Dyno --config.label "org.opencontainers.image.version=$version" \
    --config.label "org.opencontainers.image.licenses=MIT OR Apache-2.0"
umoci gc --layout "$layout"
echo "written: $layout:$version"
