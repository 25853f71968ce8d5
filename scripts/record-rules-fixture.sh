#!/usr/bin/env bash
# Records the fixture of a rules version: one SQLite record with a job of each sort, and what the program
# that wrote it printed about them. Tests keep every such record readable for as long as the product exists.
#
#   scripts/record-rules-fixture.sh BINARY VERSION
#
# BINARY is the program whose rules are recorded, VERSION the number of its rules. The files go to
# crates/papertape/tests/fixtures/rules-VERSION, or to the folder that OUT names. Needs python3; uses no network but
# loopback.
set -euo pipefail

if [ $# -ne 2 ]; then
    echo "usage: $0 BINARY VERSION" >&2
    exit 2
fi
binary=$(realpath "$1")
repository=$(cd "$(dirname "$0")/.." && pwd)
out=$(realpath -m "${OUT:-$repository/crates/papertape/tests/fixtures/rules-$2}")
work=$(mktemp -d)
silent=
cleanup() {
    [ -z "$silent" ] || kill "$silent" 2>/dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT
cd "$work"

# A provider that accepts connections and never answers, and one that is not there.
python3 - > port <<'PY' &
import socket, sys, time
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
held = []
while True:
    held.append(listener.accept())
PY
silent=$!
until [ -s port ]; do sleep 0.1; done

cat > papertape.toml <<TOML
data_dir = "data"
[models.providers.down]
kind = "openai_compatible"
base_url = "http://127.0.0.1:9/v1"
[models.providers.silent]
kind = "openai_compatible"
base_url = "http://127.0.0.1:$(cat port)/v1"
[[agents]]
name = "unreachable"
model = "down::nobody"
limits.max_attempts = 1
[[agents]]
name = "waiting"
model = "silent::nobody"
TOML

papertape() { "$binary" "$@" 2>> stderr; }
# Runs a job and notes its id under a name. A job that fails or stops is as good as one that completes.
job() {
    local name=$1
    shift
    papertape --json "$@" > "$name.out" || true
    note "$name"
}
note() { papertape --json jobs --limit 200 > jobs.json; python3 "$work/name.py" "$1"; }
cat > name.py <<'PY'
import json, os, sys
names = json.load(open("names.json")) if os.path.exists("names.json") else {}
jobs = json.load(open("jobs.json"))["jobs"]
new = [job["job_id"] for job in jobs if job["job_id"] not in names.values()]
# The newest first; of several, the last is the one that was asked for.
for index, job in enumerate(new):
    names[sys.argv[1] if index + 1 == len(new) else f"{sys.argv[1]}-{index + 1}"] = job
json.dump(names, open("names.json", "w"))
PY

job solo run --start 2012-10-01 --end 2012-10-12 --model house::momentum --model house::contrarian
# Older binaries call the option --agent.
case $("$binary" run --help) in *--kind*) kind=--kind ;; *) kind=--agent ;; esac
job desk run "$kind" desk --model house::momentum --symbols AAPL,IBM --start 2012-10-01 --end 2012-10-03
job memory run --start 2012-10-15 --end 2012-10-19 --model house::momentum \
    --memory-from "$(python3 -c 'import json; print(json.load(open("names.json"))["solo"])')"
job continued run --model house::contrarian --end 2012-10-16
job skipping run --start 2012-10-01 --end 2012-10-15 --model house::momentum --model house::contrarian
job failed run --start 2012-10-01 --end 2012-10-02 --model unreachable
job budget run --start 2012-11-01 --end 2012-11-06 --model house::contrarian --budget-tokens 5000
job branch branch "$(python3 -c 'import json; print(json.load(open("names.json"))["desk"])')" \
    --date 2012-10-02 --at AAPL/Trader#1 --instructions "Prefer small positions."
job profile profile chain --ticker AAPL --date 2012-10-01 --dump-dir dump
job chat chat "compare the contrarian and the momentum house models on IBM in November 2012"

# A small folder as AI-Trader leaves it.
python3 - <<'PY'
import json, pathlib
days = ["2025-10-01", "2025-10-02", "2025-10-03", "2025-10-06", "2025-10-07"]
def series(symbol, opens):
    bars = {day: {"1. buy price": f"{o}.5000", "2. high": f"{o + 4}.0000", "3. low": f"{o - 4}.0000",
                  "4. sell price": f"{o + 1}.2500", "5. volume": "1000"} for day, o in zip(days, opens)}
    return {"Meta Data": {"2. Symbol": symbol, "5. Time Zone": "US/Eastern"}, "Time Series (Daily)": bars}
def row(number, day, action, aaa, bbb, cash):
    row = {"date": day, "id": number, "positions": {"AAA": aaa, "BBB": bbb, "CASH": cash}}
    return row if action is None else row | {"this_action": dict(zip(("action", "symbol", "amount"), action))}
def put(path, rows):
    path = pathlib.Path("ai-trader") / path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
put("merged.jsonl", [series("AAA", [10, 11, 12, 9, 13]), series("BBB", [20] * 5)])
home = "agent_data/alpha-1/"
put(home + "position/position.jsonl", [
    row(0, days[0], None, 0, 0, 1000.0),
    row(1, days[1], ("buy", "AAA", 10), 10, 0, 885.0),
    row(2, days[1], ("buy", "BBB", 4), 10, 4, 803.0),
    row(3, days[2], ("sell", "AAA", 4), 6, 4, 853.0),
    row(4, days[3], ("sell", "AAA", 6), 0, 4, 910.0),
    row(5, days[4], ("no_trade", "", 0), 0, 4, 910.0),
])
says = {1: "I buy AAA and BBB.", 2: "AAA has risen; I sell some of it.", 3: "AAA falls; I sell the rest.", 4: "I wait."}
for n, words in says.items():
    question = f"Please analyze and update today's ({days[n]}) positions."
    put(home + f"log/{days[n]}/log.jsonl", [
        {"signature": "alpha-1", "new_messages": [{"role": "user", "content": question}]},
        {"signature": "alpha-1", "new_messages": {"role": "assistant", "content": words + " <FINISH_SIGNAL>"}},
    ])
PY
job imported import ai-trader ai-trader --write
# One that nobody has begun.
job queued branch "$(python3 -c 'import json; print(json.load(open("names.json"))["desk"])')" \
    --date 2012-10-03 --no-run

# A process that is killed: one agent's days are done, the other waits for its first answer.
"$binary" run --start 2012-10-01 --end 2012-10-03 --model house::buy_and_hold --model waiting \
    > killed.out 2>> stderr &
killed=$!
for attempt in $(seq 600); do
    open=$(python3 - <<'PY'
import sqlite3
db = sqlite3.connect("file:data/papertape.db?mode=ro", uri=True)
job = db.execute("SELECT job_id FROM jobs ORDER BY created_at DESC LIMIT 1").fetchone()[0]
done = db.execute("SELECT count(*) FROM job_details WHERE job_id = ? AND status = 'completed'", (job,)).fetchone()[0]
sent = db.execute("SELECT count(*) FROM steps s JOIN trading_sessions t ON t.id = s.session_id WHERE t.job_id = ? AND s.state = 'intent'", (job,)).fetchone()[0]
print(int(done == 3 and sent == 1))
PY
    )
    [ "$open" = 1 ] && break
    if [ "$attempt" = 600 ]; then echo "the job to be killed did not come to its call" >&2; exit 1; fi
    sleep 0.1
done
kill -9 "$killed"
wait "$killed" 2>/dev/null || true
note killed

rm -rf "$out"
mkdir -p "$out"
RULES=$2 BINARY=$binary OUT=$out python3 - <<'PY'
import gzip, json, os, pathlib, sqlite3, subprocess, zlib
out = pathlib.Path(os.environ["OUT"])
def papertape(*words):
    done = subprocess.run([os.environ["BINARY"], *words], capture_output=True)
    return done.returncode, done.stdout
def parsed(*words):
    code, text = papertape("--json", *words)
    return json.loads(text) if text.strip() else None
expected = {"rules_version": int(os.environ["RULES"]), "jobs": {}}
listed = {job["job_id"]: job for job in parsed("jobs", "--limit", "200")["jobs"]}
names = json.load(open("names.json"))
for name, job in sorted(names.items()):
    canonical = papertape("export", "canonical", job)[1]
    if "CANONICAL" in os.environ:
        text = canonical.decode()
        for other, id in names.items():
            text = text.replace(id, f"<{other}>")
        folder = pathlib.Path(os.environ["CANONICAL"])
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    verified = parsed("verify", job)
    assert verified["whole"], (name, verified)
    expected["jobs"][name] = {
        "job_id": job,
        "kind": listed[job].get("kind"),
        "status": listed[job]["status"],
        "verify": verified,
        "canonical_crc32": zlib.crc32(canonical),
        "canonical_lines": canonical.count(b"\n"),
        "results": parsed("results", job),
    }
    code, head = papertape("--json", "head", job)
    if code == 0:
        expected["jobs"][name]["head"] = json.loads(head)
sqlite3.connect("data/papertape.db").execute("VACUUM INTO 'record.db'")
def pack(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(gzip.compress(pathlib.Path(source).read_bytes(), 9, mtime=0))
pack("record.db", out / "record.db.gz")
datasets = pathlib.Path("data/datasets")
files = sorted(path for path in datasets.rglob("*") if path.is_file() and not path.name.startswith("."))
for path in files:
    pack(path, out / "datasets" / (str(path.relative_to(datasets)) + ".gz"))
(out / "expected.json").write_text(json.dumps(expected, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
PY
du -sh "$out"
echo "recorded rules version $2: $out"
