#!/usr/bin/env bash
# Checks that two binaries record the same: each runs the jobs of scripts/record-rules-fixture.sh (solo, desk, memory,
# an import, faults, a branch, a profile, a chat, a killed process), and the canonical exports are compared byte by byte.
#
#   scripts/compare-canonical.sh BEFORE AFTER
#
# Prints a line per job; exits with 1 where one differs. Needs python3; uses no network but loopback.
set -euo pipefail

if [ $# -ne 2 ]; then
    echo "usage: $0 BEFORE AFTER" >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for side in before after; do
    binary=$1
    CANONICAL="$work/$side" OUT="$work/$side-record" "$here/record-rules-fixture.sh" "$binary" 0 > /dev/null
    shift
done
python3 - "$work" <<'PY'
import json, pathlib, re, sys
work = pathlib.Path(sys.argv[1])
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# A job that names another has that job's id, new in every record, in its config and its states; a chat has its own.
def without_ids(line, names_another):
    if not names_another:
        return line
    row = json.loads(UUID.sub("<id>", line))
    hashed = {"job": "fingerprint", "session": "state"}.get(row.get("row"))
    row.pop(hashed, None)
    return json.dumps(row, sort_keys=True)
differ = 0
for name in sorted({path.name for side in ("before", "after") for path in (work / side).iterdir()}):
    sides = [work / side / name for side in ("before", "after")]
    if not all(side.exists() for side in sides):
        differ += 1
        print(f"{name:12} is in one record only")
        continue
    texts = [side.read_text() for side in sides]
    is_equal = texts[0] == texts[1]
    lines = [[without_ids(line, not is_equal) for line in text.splitlines()] for text in texts]
    count = sum(a != b for a, b in zip(*lines)) + abs(len(lines[0]) - len(lines[1]))
    differ += count > 0
    note = "" if is_equal else ", but for ids and the hashes over them"
    print(f"{name:12} " + (f"equal, {len(lines[0])} lines{note}" if count == 0 else f"DIFFERS in {count} of {len(lines[0])} lines"))
    for a, b in [pair for pair in zip(*lines) if pair[0] != pair[1]][:3]:
        print(f"  - {a[:400]}\n  + {b[:400]}")
sys.exit(1 if differ else 0)
PY
