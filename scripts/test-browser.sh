#!/usr/bin/env bash
# Uses the pages in a real browser, served by the real program. PAPERTAPE names another binary than the one
# built here; CHROMIUM another browser than the system's. With SCREENSHOTS=1 the pictures of docs/ are taken
# anew.
set -euo pipefail
cd "$(dirname "$0")/.."

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
browser=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || true)}
if [ -z "$browser" ] && [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    packages=(chromium fonts-noto-cjk)
    apt-get install --yes --no-install-recommends "${packages[@]}" >/dev/null 2>&1 ||
        { apt-get update >/dev/null && apt-get install --yes --no-install-recommends "${packages[@]}" >/dev/null; }
    browser=$(command -v chromium)
fi
[ -n "$browser" ] || { echo 'Chromium is missing: install it, or name it in CHROMIUM' >&2 && exit 1; }

bash scripts/build-web.sh
[ -f web/dist/index.html ] || { echo 'the pages could not be built' >&2 && exit 1; }
if [ -z "${PAPERTAPE:-}" ]; then
    cargo build --locked --package papertape
    PAPERTAPE="$target/debug/papertape"
fi
export PAPERTAPE CHROMIUM="$browser"
cd web
exec node --test --test-concurrency=2 --test-timeout=240000 --test-reporter=spec e2e/*.test.mjs
