#!/usr/bin/env bash
# Throws generated requests at the real server and holds every answer against its OpenAPI document: no
# answer may be a 5xx, have another shape or status than documented, or take what the document forbids.
# Seed and number of examples are fixed. PAPERTAPE names another binary to test than the one built here.
set -euo pipefail
cd "$(dirname "$0")/.."

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
schemathesis="$target/test-venv/bin/schemathesis"
binary="${PAPERTAPE:-$target/debug/papertape}"
seed=20121001
# Checks that hold for any request. That every request which fits the document is accepted is not one of
# them: an agent's model must also exist.
checks=not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance
checks+=,response_schema_conformance,negative_data_rejection,unsupported_method,missing_required_header

[ -x "$schemathesis" ] || { echo "schemathesis is missing: run scripts/install-test-tools.sh" >&2 && exit 1; }
if [ -z "${PAPERTAPE:-}" ]; then cargo build --locked --package papertape; fi

home=$(mktemp -d)
server=""
finish() {
    if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
    rm -rf "$home"
}
trap finish EXIT

"$binary" run --data-dir "$home/data" --start 2012-10-01 --end 2012-10-05 --model house::momentum \
    --model house::buy_and_hold --symbols AAPL,IBM >"$home/run.log" 2>&1 || { cat "$home/run.log" >&2 && exit 1; }

# Jobs that requests queue are not run: their number would decide how long this takes.
PAPERTAPE_SERVER__RUN_JOBS=false "$binary" serve --json --data-dir "$home/data" --listen 127.0.0.1:0 \
    >"$home/address" 2>"$home/serve.log" &
server=$!
for _ in $(seq 100); do
    if [ -s "$home/address" ]; then break; fi
    kill -0 "$server" 2>/dev/null || { cat "$home/serve.log" >&2 && exit 1; }
    sleep 0.1
done
url=$(sed -n 's/.*"url": *"\([^"]*\)".*/\1/p' "$home/address")
[ -n "$url" ] || { echo "the server has not said where it listens" >&2 && cat "$home/serve.log" >&2 && exit 1; }
curl --silent --fail "$url/health" >/dev/null

answer() { curl --silent --fail "$url$1" | "$target/test-venv/bin/python" -c "import json, sys; print(json.load(sys.stdin)$2)"; }
job=$(answer "/jobs?limit=1" "['jobs'][0]['job_id']")
session=$(answer "/reasoning?limit=1" "['sessions'][0]['session_id']")

run() {
    local name=$1
    shift
    echo "== $name"
    # From there, since it leaves its notes where it runs.
    (cd "$home" && "$schemathesis" --config-file "$home/$name.toml" run "$url/openapi.json" --checks "$checks" --seed "$seed" \
        --workers 1 --no-color "$@")
}

# Ids made up, everywhere; then those of the job that is there, where it is only read.
touch "$home/made-up.toml"
cat >"$home/real.toml" <<TOML
[parameters]
"path.job_id" = "$job"
"path.session_id" = $session
TOML
status=0
run made-up --phases examples,coverage,fuzzing --max-examples 12 || status=1
run real --phases examples,coverage,fuzzing --max-examples 12 --include-method GET || status=1

if grep -E 'request failed|panicked' "$home/serve.log" >&2; then
    echo "the server has logged a failure" >&2
    status=1
fi
kill -0 "$server" 2>/dev/null || { echo "the server has gone" >&2 && status=1; }
exit "$status"
