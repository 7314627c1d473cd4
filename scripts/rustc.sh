#!/bin/sh
# What cargo calls in place of the compiler for the workspace's own crates (RUSTC_WORKSPACE_WRAPPER): compiles, lints and documents each in
# one build. `cargo clippy` and `cargo doc` would read everything, third-party crates too, for a second and a third time.
set -eu

# Cargo builds anew what was built with other CLIPPY_ARGS than cargo itself sees, so they are in its environment already.
: "${CLIPPY_ARGS:?is to be set for cargo, as the Makefile does}"
clippy-driver "$@"

# Libraries and programs are documented as `cargo doc --no-deps` does it; tests, examples and questions to the compiler are not.
kind=
shift
for word in "$@"; do
    case $word in
    --test | -vV | ___ | examples/* | */examples/*) exit 0 ;;
    lib | bin) kind=$word ;;
    esac
done
[ -n "$kind" ] || exit 0
private=
[ "$kind" = lib ] || private=--document-private-items

# The compiler's words without those that say what comes out of it.
count=$#
while [ "$count" -gt 0 ]; do
    word=$1
    shift
    count=$((count - 1))
    case $word in
    --out-dir)
        folder=$1
        shift
        count=$((count - 1))
        ;;
    --emit=* | --json=* | --error-format=* | --diagnostic-width=*) ;;
    *) set -- "$@" "$word" ;;
    esac
done
# shellcheck disable=SC2086
exec rustdoc "$@" $private -D warnings --out-dir "$folder/../../doc"
