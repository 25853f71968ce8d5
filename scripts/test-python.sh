#!/usr/bin/env bash
# Checks the Python package and the examples: ruff, mypy --strict, and pytest against the built program. Nothing is
# compiled: wheel and image are made of the same program. PAPERTAPE names another binary to test than the one built here.
set -euo pipefail
cd "$(dirname "$0")/.."

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
bin="$target/python-venv/bin"
binary="${PAPERTAPE:-$target/debug/papertape}"
logs="$target/test-logs"

[ -x "$bin/pytest" ] || { echo "pytest is missing: run scripts/install-test-tools.sh" >&2 && exit 1; }
if [ -z "${PAPERTAPE:-}" ]; then cargo build --locked --package papertape; fi

# What the tools remember goes to the target directory.
export RUFF_CACHE_DIR="$target/ruff" MYPY_CACHE_DIR="$target/mypy" PYTHONDONTWRITEBYTECODE=1 PAPERTAPE="$binary"
mkdir -p "$logs"
cd python
echo "== ruff"
"$bin/ruff" check . ../examples
"$bin/ruff" format --check . ../examples
echo "== mypy"
"$bin/mypy"
echo "== pytest"
"$bin/python" -m pytest -q -rs -p no:cacheprovider --junit-xml "$logs/python.xml" "$@"
