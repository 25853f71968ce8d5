#!/usr/bin/env bash
# Builds the pages in web/dist, where they are not there or something that they are made of has changed.
# Without Node.js it says so and leaves them out: the program then answers its API alone.
set -euo pipefail
cd "$(dirname "$0")/../web"

if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    echo 'Node.js 20.19 or later is not there: the pages are not built (https://nodejs.org)' >&2
    exit 0
fi
made_of=(package-lock.json vite.config.ts tsconfig.json index.html src public ../scripts/compress-pages.mjs)
stamp=dist/.made-of
now=$(find "${made_of[@]}" -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum)
if [ -f dist/index.html ] && [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$now" ]; then exit 0; fi
# What is installed is of a lock file; another one is installed anew.
if ! cmp -s package-lock.json node_modules/.installed-lock; then
    echo 'installing what the pages are built with'
    npm ci --ignore-scripts --no-fund --no-audit --loglevel=error
    cp package-lock.json node_modules/.installed-lock
fi
[ -f dist/index.html ] || first=yes
npm run --silent build
node ../scripts/compress-pages.mjs dist
# A program that was built without the pages knows of no file to watch: it is built anew.
[ -z "${first:-}" ] || touch ../crates/api/src/pages.rs
printf '%s\n' "$now" >"$stamp"
