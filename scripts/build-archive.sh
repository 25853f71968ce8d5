#!/usr/bin/env bash
# Packs a built program for download: `scripts/build-archive.sh BINARY TARGET DIR` writes DIR/papertape-VERSION-TARGET.tar.gz
# with the program without its symbols, the license and the README. The same input gives the same bytes. Prints the path.
set -euo pipefail
[ $# -eq 3 ] || { echo "usage: scripts/build-archive.sh BINARY TARGET DIR" >&2 && exit 2; }
root=$(cd "$(dirname "$0")/.." && pwd)
version=$("$1" --version | cut -d' ' -f2)
name="papertape-$version-$2"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/$name"
# Not every system's strip writes to another file.
cp "$1" "$scratch/$name/papertape"
strip "$scratch/$name/papertape"
cp "$root/LICENSE" "$root/README.md" "$scratch/$name/"
mkdir -p "$3"
python3 - "$scratch" "$name" "$3/$name.tar.gz" <<'PYTHON'
import gzip, sys, tarfile
from pathlib import Path

folder, name, output = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
with open(output, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed, tarfile.open(fileobj=packed, mode="w") as tar:
    for file in sorted((folder / name).iterdir()):
        about = tarfile.TarInfo(f"{name}/{file.name}")
        about.size, about.mode = file.stat().st_size, 0o755 if file.name == "papertape" else 0o644
        with file.open("rb") as content:
            tar.addfile(about, content)
PYTHON
echo "$3/$name.tar.gz"
