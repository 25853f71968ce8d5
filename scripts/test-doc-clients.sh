#!/usr/bin/env bash
# Runs the documentation's client examples against the real server: each must trigger a simulation, wait for
# it, and print the same results and reasoning. PAPERTAPE names another binary than the one built here.
set -euo pipefail
cd "$(dirname "$0")/.."

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
binary="${PAPERTAPE:-$target/debug/papertape}"
if [ -z "${PAPERTAPE:-}" ]; then cargo build --locked --package papertape; fi

home=$(mktemp -d)
server=""
finish() {
    if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
    rm -rf "$home"
}
trap finish EXIT

"$binary" serve --json --data-dir "$home/data" --listen 127.0.0.1:0 >"$home/address" 2>"$home/serve.log" &
server=$!
for _ in $(seq 100); do
    if [ -s "$home/address" ]; then break; fi
    kill -0 "$server" 2>/dev/null || { cat "$home/serve.log" >&2 && exit 1; }
    sleep 0.1
done
url=$(sed -n 's/.*"url": *"\([^"]*\)".*/\1/p' "$home/address")
[ -n "$url" ] || { echo "the server has not said where it listens" >&2 && cat "$home/serve.log" >&2 && exit 1; }

# What a client prints must hold these lines; what follows the job's line must be alike in all of them.
check() {
    local name=$1
    shift
    echo "== $name"
    timeout 120 "$@" "$url" | tee "$home/$name.out"
    for expected in '^job [0-9a-f-]+: the simulation is queued: 10 model-days$' '^completed: 10 of 10 model-days$' \
        '^house::momentum: [0-9.]+, return ' '^2012-10-05 ' '^  buy [0-9]+ IBM at ' \
        '^refused: 400 invalid_input: date: `yesterday`'; do
        grep -Eq "$expected" "$home/$name.out" || { echo "$name has not printed: $expected" >&2 && exit 1; }
    done
    tail -n +2 "$home/$name.out" >"$home/$name.rest"
}

# Follows a job, whole and over many connections that are broken off, and must print the same both times:
# every event, in order, without gaps, up to the end.
follow() {
    local name=$1 job=$2
    shift 2
    echo "== follow with $name"
    timeout 120 "$@" "$url" "$job" >"$home/$name.events"
    timeout 120 "$@" "$url" "$job" --break-every 7 >"$home/$name.broken"
    diff "$home/$name.events" "$home/$name.broken" || { echo "$name loses or repeats events" >&2 && exit 1; }
    awk '$1 != NR { exit 1 }' "$home/$name.events" || { echo "$name has gaps" >&2 && exit 1; }
    tail -n 1 "$home/$name.events" | grep -Eq '^[0-9]+ end .*"completed"' || { echo "$name has no end" >&2 && exit 1; }
    echo "$(wc -l <"$home/$name.events") events"
}

# A job that is queued, and runs while it is followed.
start='{"start_date":"2012-10-01","end_date":"2012-10-31","models":["house::momentum"],"symbols":["AAPL"],"replace_existing":true}'
post='import json, sys, urllib.request as r
q = r.Request(sys.argv[1] + "/simulate/trigger", sys.argv[2].encode(), {"Content-Type": "application/json"})
print(json.load(r.urlopen(q))["job_id"])'

check python python3 docs/clients/python/papertape_client.py
job=$(python3 -c "$post" "$url" "$start")
follow python "$job" python3 docs/clients/python/follow_job.py
ran=2
if command -v node >/dev/null; then
    check typescript node docs/clients/typescript/papertape-client.mjs
    diff "$home/python.rest" "$home/typescript.rest" || { echo "the clients differ" >&2 && exit 1; }
    follow typescript "$job" node docs/clients/typescript/follow-job.mjs
    diff "$home/python.events" "$home/typescript.events" || { echo "the followers differ" >&2 && exit 1; }
    ran=4
else
    echo "node is not installed: its clients were not run" >&2
fi
echo "$ran clients ran"
