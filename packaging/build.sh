#!/bin/sh
# Makes a Debian package and an RPM of a release archive: `sh packaging/build.sh ARCHIVE [FOLDER]`. They go to FOLDER, else beside the archive.
# Needs dpkg-deb and rpmbuild. The same archive gives the same Debian package.
set -eu

here=$(cd "$(dirname "$0")" && pwd -P)
archive=$(realpath "$1")
out=$(realpath "${2:-$(dirname "$archive")}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar --extract --file "$archive" --directory "$work"
name=$(basename "$archive" .tar.gz)
from=$work/$name
version=${name#dyno-}
version=${version%%-*}
case $name in
*-x86_64-*) deb_arch=amd64 rpm_arch=x86_64 ;;
*-aarch64-*) deb_arch=arm64 rpm_arch=aarch64 ;;
*) echo "unknown architecture: $name" >&2 && exit 2 ;;
esac
# Of the commit that the archive was built from.
SOURCE_DATE_EPOCH=$(stat --format=%Y "$from/README.md")
export SOURCE_DATE_EPOCH

# What both packages hold; $1: root, $2: folder of systemd's units, $3: folder of zsh's completions.
place() {
    install -D -m 755 "$from/dyno" "$1/usr/bin/dyno"
    install -D -m 644 "$from/completions/dyno.bash" "$1/usr/share/bash-completion/completions/dyno"
    install -D -m 644 "$from/completions/dyno.zsh" "$1/$3/_dyno"
    install -D -m 644 "$from/completions/dyno.fish" "$1/usr/share/fish/vendor_completions.d/dyno.fish"
    for unit in serve agent; do
        install -D -m 644 "$here/systemd/dyno-$unit.service" "$1/$2/dyno-$unit.service"
    done
    install -D -m 644 "$here/systemd/dyno.sysusers" "$1/usr/lib/sysusers.d/dyno.conf"
    install -d "$1/usr/share/man/man1" "$1/usr/share/doc/dyno"
    for page in "$from"/man/*.1; do gzip -9n <"$page" >"$1/usr/share/man/man1/${page##*/}.gz"; done
    gzip -9n <"$from/CHANGELOG.md" >"$1/usr/share/doc/dyno/changelog.gz"
    gzip -9n <"$from/LICENSES-OF-COMPONENTS.txt" >"$1/usr/share/doc/dyno/licenses-of-components.txt.gz"
    cp "$from/README.md" "$from/components.cdx.json" "$1/usr/share/doc/dyno/"
}

deb=$work/deb
place "$deb" lib/systemd/system usr/share/zsh/vendor-completions
{
    printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: Dyno\n\n'
    printf 'Files: *\nCopyright: The Dyno authors\nLicense: MIT or Apache-2.0\n'
    printf ' On Debian systems, the text of the Apache License 2.0 is in\n /usr/share/common-licenses/Apache-2.0. The MIT license:\n .\n'
    sed 's/^$/./; s/^/ /' "$from/LICENSE-MIT"
    printf '\nComment: the licenses of the components inside the program are in\n licenses-of-components.txt.gz beside this file.\n'
} >"$deb/usr/share/doc/dyno/copyright"
printf 'dyno (%s-1) unstable; urgency=low\n\n  * Release %s; changelog.gz lists the changes.\n\n -- Dyno maintainers <maintainers@dyno.invalid>  %s\n' \
    "$version" "$version" "$(date --utc --rfc-email --date="@$SOURCE_DATE_EPOCH")" | gzip -9n >"$deb/usr/share/doc/dyno/changelog.Debian.gz"
# One static file is the purpose of this package, it is not uploaded to Debian, and its scripts do without debhelper.
install -d "$deb/usr/share/lintian/overrides"
printf 'dyno: %s\n' 'statically-linked-binary *' 'embedded-library *' 'initial-upload-closes-no-bugs *' 'maintainer-script-calls-systemctl *' >"$deb/usr/share/lintian/overrides/dyno"
size=$(du --summarize --apparent-size --block-size=1024 "$deb" | cut -f1)
install -d "$deb/DEBIAN"
sed "s/@VERSION@/$version/; s/@ARCH@/$deb_arch/; s/@SIZE@/$size/" "$here/deb/control" >"$deb/DEBIAN/control"
for script in postinst prerm postrm; do install -m 755 "$here/deb/$script" "$deb/DEBIAN/$script"; done
(cd "$deb" && find usr lib -type f -exec md5sum {} + | LC_ALL=C sort -k2) >"$deb/DEBIAN/md5sums"
find "$deb" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
chmod -R u=rwX,go=rX "$deb"
dpkg-deb --root-owner-group -Zxz --build "$deb" "$out/dyno_$version-1_$deb_arch.deb"

place "$work/rpm" usr/lib/systemd/system usr/share/zsh/site-functions
install -m 644 "$from/LICENSE-MIT" "$from/LICENSE-APACHE" "$work/rpm/usr/share/doc/dyno/"
sed "s/@VERSION@/$version/; s/@ARCH@/$rpm_arch/; s|@ROOT@|$work/rpm|" "$here/rpm/dyno.spec" >"$work/dyno.spec"
rpmbuild --quiet --target "$rpm_arch" --define "_topdir $work/rpmbuild" --define "_rpmdir $out" \
    --define "_rpmfilename %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm" --define "use_source_date_epoch_as_buildtime 1" \
    --define "clamp_mtime_to_source_date_epoch 1" --define "_buildhost dyno" --define "_binary_payload w9.xzdio" -bb "$work/dyno.spec"
ls -l "$out"/*.deb "$out"/*.rpm
