#!/usr/bin/env bash
# Writes DIR/SHA256SUMS over all files of DIR: `scripts/checksums.sh DIR`. `sha256sum --check SHA256SUMS` verifies them.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: scripts/checksums.sh DIR" >&2 && exit 2; }
cd "$1"
files=$(find . -maxdepth 1 -type f ! -name SHA256SUMS -printf '%f\n' | LC_ALL=C sort)
[ -n "$files" ] || { echo "$1 has no files" >&2 && exit 1; }
printf '%s\n' "$files" | xargs -d '\n' sha256sum >SHA256SUMS.part
mv SHA256SUMS.part SHA256SUMS
