#!/bin/sh
# Builds the archives of a release: one static program for each target, with manual pages, completions, the licences of everything inside,
# and a list of components (CycloneDX). `sh scripts/dist.sh [TARGET…]`; the files go to packages of cargo's target folder. The same commit gives the
# same bytes: times are the commit's, and paths of this machine are replaced.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd -P)
cd "$root"
out=${CARGO_TARGET_DIR:-$root/target}
packages=$out/packages
tools=$out/dist-tools
targets=${*:-x86_64-unknown-linux-musl aarch64-unknown-linux-musl}
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)

say() { printf 'dist: %s\n' "$*" >&2; }

# The C compiler for every target is Zig's, whose version is fixed so that the code is the same everywhere.
if [ ! -x "$tools/bin/cargo-zigbuild" ]; then
    say 'installing the C cross-compiler'
    python3 -m pip install --quiet --disable-pip-version-check --target "$tools" ziglang==0.17.1 cargo-zigbuild==0.24.1
fi
PATH=$tools/bin:$PATH
export PATH PYTHONPATH="$tools"

SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
DYNO_COMMIT=$(git rev-parse --short=12 HEAD)
[ -z "$(git status --porcelain --untracked-files=no)" ] || DYNO_COMMIT="$DYNO_COMMIT, changed"
cargo_home=$(cd "${CARGO_HOME:-$HOME/.cargo}" && pwd -P)
map="--remap-path-prefix=$root=. --remap-path-prefix=$cargo_home/registry/src=crates --remap-path-prefix=$(rustc --print sysroot)=rust"
export SOURCE_DATE_EPOCH DYNO_COMMIT CFLAGS="-ffile-prefix-map=$cargo_home/registry/src=crates -ffile-prefix-map=$out=out"
# Only these: flags of the caller would change the code.
export CARGO_ENCODED_RUSTFLAGS="$(printf '%s' "$map" | tr ' ' '\037')"

rm -rf "$packages"
mkdir -p "$packages"
for target in $targets; do
    rustup target list --installed | grep -qx "$target" || rustup target add "$target"
    say "building for $target"
    cargo zigbuild --locked --profile dist --target "$target" -p dyno
    name=dyno-$version-$target
    folder=$packages/$name
    program=$out/$target/dist/dyno
    mkdir -p "$folder/man" "$folder/completions"
    cp "$program" README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT "$folder"
    cp -r packaging/ci packaging/kubernetes packaging/systemd "$folder"
    python3 scripts/components.py "$target" "$folder/components.cdx.json" "$folder/LICENSES-OF-COMPONENTS.txt"
    # Pages and completions are the same for every target; a program of another architecture runs where QEMU's user mode is installed.
    "$program" man --quiet --dir "$folder/man"
    for shell in bash zsh fish; do "$program" completions "$shell" >"$folder/completions/dyno.$shell"; done
    tar --create --sort=name --format=gnu --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw,a-s \
        --directory "$packages" "$name" | gzip -9 --no-name >"$packages/$name.tar.gz"
    rm -rf "$folder"
done
cd "$packages"
sha256sum ./*.tar.gz | sed 's|\./||' >SHA256SUMS
say "written: $packages"
cat SHA256SUMS
