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

check python python3 docs/clients/python/papertape_client.py
ran=1
if command -v node >/dev/null; then
    check typescript node docs/clients/typescript/papertape-client.mjs
    diff "$home/python.rest" "$home/typescript.rest" || { echo "the clients differ" >&2 && exit 1; }
    ran=2
else
    echo "node is not installed: its client was not run" >&2
fi
echo "$ran clients ran"
