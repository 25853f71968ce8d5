#!/usr/bin/env bash
# Builds the wheel of the Python package with maturin: `scripts/build-wheel.sh [--binary FILE] [--output DIR]`.
# With `--binary`, that program is packed as it is, only without its symbols, and nothing is compiled. Prints the wheel's
# path and its size. MATURIN names another maturin than the one in PATH.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
maturin=${MATURIN:-maturin}
binary=""
output="$root/target/wheels"
while [ $# -gt 0 ]; do
    case "$1" in
        --binary) binary=$(realpath "$2") && shift 2 ;;
        --output) output=$(realpath -m "$2") && shift 2 ;;
        *) echo "unknown option \`$1\`; expected one of --binary, --output" >&2 && exit 2 ;;
    esac
done

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if [ -n "$binary" ]; then
    mkdir "$scratch/bin"
    strip -o "$scratch/bin/papertape" "$binary"
    # maturin runs cargo and reads from its messages where the program is. This cargo has built it already.
    cargo=$(command -v cargo)
    manifest="$root/crates/papertape/Cargo.toml"
    package=$("$cargo" pkgid --locked --manifest-path "$manifest")
    cat >"$scratch/cargo" <<SHIM
#!/usr/bin/env bash
case "\$1" in
    rustc | build)
        echo '{"reason":"compiler-artifact","package_id":"$package","manifest_path":"$manifest","target":{"kind":["bin"],"crate_types":["bin"],"name":"papertape","src_path":"${manifest%Cargo.toml}src/main.rs","edition":"2024","doc":true,"doctest":false,"test":true},"profile":{"opt_level":"3","debuginfo":0,"debug_assertions":false,"overflow_checks":false,"test":false},"features":[],"filenames":["$scratch/bin/papertape"],"executable":"$scratch/bin/papertape","fresh":true}'
        echo '{"reason":"build-finished","success":true}'
        ;;
    *) exec "$cargo" "\$@" ;;
esac
SHIM
    chmod +x "$scratch/cargo"
    export CARGO="$scratch/cargo"
fi
(cd "$root/python" && "$maturin" build --release --locked --out "$scratch/wheels" >&2)
mkdir -p "$output"
for wheel in "$scratch"/wheels/*.whl; do
    mv "$wheel" "$output/"
    wheel="$output/$(basename "$wheel")"
    echo "$wheel $(stat -c %s "$wheel")"
done
