#!/usr/bin/env bash
# Checks that Rust and Node.js are installed, in versions that can build this: `check-versions.sh rust node`. Says what
# to install before minutes of a build have gone by. The versions are those of Cargo.toml and web/package.json.
set -euo pipefail
cd "$(dirname "$0")/.."

# Whether version $1 is at least version $2.
at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

rust() {
    local needed found
    needed=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    command -v cargo >/dev/null && command -v rustc >/dev/null || {
        echo "Rust is not installed: install $needed or later (https://rustup.rs)" >&2
        return 1
    }
    found=$(rustc --version | sed 's/^rustc \([0-9.]*\).*/\1/')
    at_least "$found" "$needed" || {
        echo "rustc $found is too old: install $needed or later (rustup update stable)" >&2
        return 1
    }
}

node() {
    local needed found
    needed=$(sed -n 's/.*"node": ">=\([0-9.]*\)".*/\1/p' web/package.json)
    command -v node >/dev/null && command -v npm >/dev/null || {
        echo "Node.js is not installed: install $needed or later, with npm (https://nodejs.org)" >&2
        return 1
    }
    found=$(command node --version | sed 's/^v//')
    at_least "$found" "$needed" || {
        echo "Node.js $found is too old: install $needed or later (https://nodejs.org)" >&2
        return 1
    }
}

status=0
for tool in "$@"; do
    case "$tool" in
        rust | node) "$tool" || status=1 ;;
        *) echo "unknown tool \`$tool\`; expected rust or node" >&2 && exit 2 ;;
    esac
done
exit "$status"
