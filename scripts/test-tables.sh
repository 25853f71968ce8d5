#!/usr/bin/env bash
# Runs a small job, exports its tables, and reads them with pandas, polars and DuckDB: rows, types, nulls and sums must be
# the same in all three. PAPERTAPE names another binary to test than the one built here.
set -euo pipefail
cd "$(dirname "$0")/.."

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
python="$target/test-venv/bin/python"
binary="${PAPERTAPE:-$target/debug/papertape}"

"$python" -c 'import duckdb, pandas, polars, pyarrow' 2>/dev/null ||
    { echo "pandas, polars or DuckDB is missing: run scripts/install-test-tools.sh" >&2 && exit 1; }
if [ -z "${PAPERTAPE:-}" ]; then cargo build --locked --package papertape; fi

home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
run() { "$binary" run --data-dir "$home/data" --symbols AAPL,IBM "$@" >"$home/run.log" 2>&1 || { cat "$home/run.log" >&2 && exit 1; }; }

run --start 2012-10-01 --end 2012-10-31 --model house::momentum --model house::contrarian
# A desk, whose days have many messages, and the first job's days again, which are skipped.
run --start 2012-10-01 --end 2012-10-03 --kind desk --model house::momentum
run --start 2012-10-01 --end 2012-11-02 --model house::momentum --memory all

"$binary" export tables all --data-dir "$home/data" --output "$home/tables"
"$python" scripts/check_tables.py "$home/tables"
