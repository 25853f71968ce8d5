#!/usr/bin/env bash
# Checks the pages without a browser: types of the API against its document, lints, types, unit tests, the
# build, and its size.
set -euo pipefail
cd "$(dirname "$0")/../web"

command -v npm >/dev/null || { echo 'Node.js 20.19 or later is missing: see scripts/install-test-tools.sh' >&2 && exit 1; }
if ! cmp -s package-lock.json node_modules/.installed-lock; then
    npm ci --ignore-scripts --no-fund --no-audit --loglevel=error
    cp package-lock.json node_modules/.installed-lock
fi
# Where packages came from is nobody's business but the one's who fetched them.
if grep -n '"resolved"' package-lock.json; then echo 'web/package-lock.json names a registry' >&2 && exit 1; fi
npm run --silent schema:check
npm run --silent lint
npm run --silent types
npm run --silent test
bash ../scripts/build-web.sh
npm run --silent budget
