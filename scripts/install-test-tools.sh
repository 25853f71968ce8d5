#!/usr/bin/env bash
# Sees to it that the tools of `make test` are there: cargo-nextest, cargo-deny, PostgreSQL, a Python
# environment with schemathesis, pandas, polars and DuckDB, bubblewrap, and Node.js. What is there already is left as it is; what it may not install, it names.
set -euo pipefail
cd "$(dirname "$0")/.."

nextest_version=0.9.143
deny_version=0.20.2
requirements=scripts/test-requirements.txt
venv="${CARGO_TARGET_DIR:-target}/test-venv"
package_requirements=python/requirements-test.txt
package_venv="${CARGO_TARGET_DIR:-target}/python-venv"
missing=()

# Installs Debian packages where that is possible: as root, with apt.
apt_install() {
    [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null || return 1
    echo "installing $* with apt"
    export DEBIAN_FRONTEND=noninteractive
    apt-get install --yes --no-install-recommends "$@" >/dev/null 2>&1 && return
    # A fresh container has no package lists yet.
    apt-get update >/dev/null && apt-get install --yes --no-install-recommends "$@" >/dev/null
}

nextest() {
    if cargo nextest --version >/dev/null 2>&1; then
        echo "cargo-nextest: $(cargo nextest --version | head -n 1)"
    else
        echo "installing cargo-nextest $nextest_version (some minutes)"
        cargo install --quiet --locked cargo-nextest --version "$nextest_version" ||
            missing+=("cargo-nextest: cargo install --locked cargo-nextest --version $nextest_version")
    fi
}

# Licenses and advisories are checked where this is there. It may take three minutes and no more: without it the
# other tests run all the same.
deny() {
    if cargo deny --version >/dev/null 2>&1; then
        echo "cargo-deny: $(cargo deny --version)"
        return
    fi
    echo "installing cargo-deny $deny_version (a minute or two)"
    timeout 180 cargo install --quiet --locked --debug cargo-deny --version "$deny_version" ||
        echo "cargo-deny could not be installed within three minutes: licenses and advisories are NOT checked"
}

initdb_path() {
    command -v initdb && return
    local candidate
    for candidate in /usr/lib/postgresql/*/bin/initdb; do
        [ -x "$candidate" ] && echo "$candidate" && return
    done
    return 1
}

postgres() {
    local initdb
    if initdb_path >/dev/null || apt_install postgresql-15 || apt_install postgresql; then
        if initdb=$(initdb_path); then
            echo "PostgreSQL: $("$initdb" --version)"
            return
        fi
    fi
    missing+=("PostgreSQL 15 or later: no initdb in PATH or /usr/lib/postgresql/*/bin (Debian: apt install postgresql)")
}

# The environment is made anew when the pins change.
python() {
    if [ -x "$venv/bin/schemathesis" ] && cmp -s "$requirements" "$venv/requirements.txt"; then
        echo "schemathesis: $("$venv/bin/schemathesis" --version)"
        return
    fi
    if ! command -v python3 >/dev/null || ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
        if ! apt_install python3 python3-venv; then
            missing+=("Python 3.11 or later with venv (Debian: apt install python3 python3-venv)")
            return
        fi
    fi
    rm -rf "$venv"
    echo "installing schemathesis, pandas, polars and DuckDB into $venv"
    if python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check --no-input \
        --retries 2 --requirement "$requirements"; then
        cp "$requirements" "$venv/requirements.txt"
        echo "schemathesis: $("$venv/bin/schemathesis" --version)"
    else
        missing+=("schemathesis, pandas, polars, DuckDB: pip could not install $requirements (no network, or no package index?)")
    fi
}

# The same for the Python package, with BusyBox for the image's files.
python_package() {
    command -v busybox >/dev/null || apt_install busybox-static ||
        missing+=("BusyBox (Debian: apt install busybox-static)")
    if [ -x "$package_venv/bin/pytest" ] && cmp -s "$package_requirements" "$package_venv/requirements.txt"; then
        echo "pytest: $("$package_venv/bin/pytest" --version)"
        return
    fi
    rm -rf "$package_venv"
    echo "installing what the Python package is tested with into $package_venv"
    if python3 -m venv "$package_venv" && "$package_venv/bin/pip" install --quiet --disable-pip-version-check --no-input \
        --retries 2 --requirement "$package_requirements"; then
        cp "$package_requirements" "$package_venv/requirements.txt"
        echo "pytest: $("$package_venv/bin/pytest" --version)"
    else
        missing+=("pytest, mypy, ruff, maturin: pip could not install $package_requirements (no network, or no package index?)")
    fi
}

node() {
    if command -v npm >/dev/null; then
        echo "Node.js: $(command node --version)"
    else
        missing+=("Node.js 20.19 or later, with npm (https://nodejs.org)")
    fi
}

# The sandbox of external agents. It is tested where the machine allows user namespaces.
bubblewrap() {
    if command -v bwrap >/dev/null || apt_install bubblewrap; then
        echo "bubblewrap: $(bwrap --version)"
    else
        missing+=("bubblewrap (Debian: apt install bubblewrap)")
    fi
}

nextest
deny
postgres
python
bubblewrap
python_package
node

if [ "${#missing[@]}" -gt 0 ]; then
    echo "these tools are missing:" >&2
    printf '  %s\n' "${missing[@]}" >&2
    exit 1
fi
