#!/bin/sh
# Pictures of pages that Dyno wrote, to be looked at: at 1280 and 390 pixels, light and dark, and each sheet of paper.
#   scripts/pictures.sh FOLDER PAGE.html…
set -eu
folder=$1
shift
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
    echo "there is no Chromium here to look with" >&2
    exit 1
}
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
look() {
    "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
        --disable-component-update --disable-sync --hide-scrollbars --user-data-dir="$work/profile" "$@" >/dev/null 2>&1
}
for page in "$@"; do
    name=$(basename "$page" .html)
    for theme in light dark; do
        sed "s/<html lang=\"en\">/<html lang=\"en\" data-theme=\"$theme\">/" "$page" >"$work/$name.html"
        for width in 1280 390; do
            look --window-size="$width,${HEIGHT:-6000}" --screenshot="$folder/$name-$width-$theme.png" "file://$work/$name.html"
        done
    done
    look --no-pdf-header-footer --print-to-pdf="$folder/$name.pdf" "file://$(realpath "$page")"
    # Sheets as pictures, where poppler is there.
    if command -v pdftoppm >/dev/null; then
        pdftoppm -r 60 -png "$folder/$name.pdf" "$folder/$name-sheet"
    fi
done
