#!/usr/bin/env bash
# Trains a dictionary for compressed texts: see crates/store/src/texts/pack.rs.
#
#   scripts/train-dictionary.sh BINARY NUMBER
#
# BINARY is the program that runs house models on the bundled data; NUMBER is the new dictionary's. The file goes to
# crates/store/src/texts/dictionary-NUMBER.zdict. A dictionary that databases were written with is never replaced. Needs
# python3 and zstd; uses no network.
set -euo pipefail

if [ $# -ne 2 ]; then
    echo "usage: $0 BINARY NUMBER" >&2
    exit 2
fi
binary=$(realpath "$1")
repository=$(cd "$(dirname "$0")/.." && pwd)
out=$repository/crates/store/src/texts/dictionary-$2.zdict
if [ -e "$out" ]; then
    echo "$out exists, and databases may depend on it; take the next number" >&2
    exit 1
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

run() { "$binary" run --data-dir "$work/$1" "${@:2}" > /dev/null; }
run demo --demo
run desk --kind desk --model house::momentum --symbols AAPL,IBM --start 2012-10-01 --end 2012-10-31
run fall --model house::momentum --model house::contrarian --symbols AAPL,GOOG,IBM \
    --start 2008-09-01 --end 2008-10-31

# Every text that is no message, as it is compressed: without its hashes.
mkdir "$work/samples"
python3 - "$repository/crates/store/src/texts/dictionary-1.zdict" "$work" <<'PY'
import glob, re, sqlite3, subprocess, sys
dictionary, work = sys.argv[1:]
number = 0
for path in sorted(glob.glob(f"{work}/*/papertape.db")):
    db = sqlite3.connect(path)
    db.text_factory = bytes
    sql = "SELECT body, packed FROM texts WHERE id NOT IN (SELECT content_id FROM reasoning_log_rows)"
    for text, packed in db.execute(sql):
        if packed is not None:
            frame = b"\x28\xb5\x2f\xfd" + packed[1 + 32 * packed[0]:]
            unpack = ["zstd", "-dcq", "-D", dictionary]
            text = subprocess.run(unpack, input=frame, stdout=subprocess.PIPE, check=True).stdout
        number += 1
        with open(f"{work}/samples/{number:06d}", "wb") as file:
            file.write(re.sub(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])", b"\x01", text))
PY
zstd -q --train -r "$work/samples" --maxdict=32768 --dictID="$2" -o "$out"
ls -l "$out"
