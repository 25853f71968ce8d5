#!/usr/bin/env bash
# Measures the pages in a real browser: how soon the views of two large runs and of a list of ten thousand runs stand,
# and whether they stall while they are scrolled. PAPERTAPE names another binary than the release build made here,
# CHROMIUM another browser than the system's. The first run makes the records, which takes some minutes, and keeps them
# in the build directory; BENCH_DAYS=60 and BENCH_RUNS=500 make smaller ones. BENCH_ONLY=pages or BENCH_ONLY=runs
# measures one of them.
set -euo pipefail
cd "$(dirname "$0")/.."

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
browser=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || true)}
[ -n "$browser" ] || { echo 'Chromium is missing: install it, or name it in CHROMIUM' >&2 && exit 1; }
bash scripts/build-web.sh
[ -f web/dist/index.html ] || { echo 'the pages could not be built' >&2 && exit 1; }
if [ -z "${PAPERTAPE:-}" ]; then
    cargo build --locked --release --package papertape
    PAPERTAPE="$target/release/papertape"
fi
export PAPERTAPE CHROMIUM="$browser" BENCH_HOME="$target/tmp"
cd web
if [ "${BENCH_ONLY:-}" != runs ]; then node bench/pages.mjs; fi
if [ "${BENCH_ONLY:-}" != pages ]; then node bench/runs.mjs; fi
