#!/usr/bin/env bash
# Runs every check and test in stages, each with a time budget, and sums them up. `scripts/test.sh lint
# rust` runs these stages alone. A stage that fails does not keep the later ones from running, but where
# the tools are missing nothing else is tried. The last line counts tests: `N passed, N failed`; a stage
# that fails without a failed test counts as one.
set -euo pipefail
cd "$(dirname "$0")/.."

# Tests speak to servers of their own on loopback, whatever proxy there is for the rest of the world.
export NO_PROXY="127.0.0.1,localhost${NO_PROXY:+,$NO_PROXY}" no_proxy="127.0.0.1,localhost${no_proxy:+,$no_proxy}"

wanted=" $* "
logs="${CARGO_TARGET_DIR:-target}/test-logs"
junit=target/nextest/ci/junit.xml
python_junit="$logs/python.xml"
doc_log="$logs/doctests.log"
if [ -z "${CARGO_TERM_COLOR:-}" ]; then
    if [ -t 1 ]; then CARGO_TERM_COLOR=always; else CARGO_TERM_COLOR=never; fi
fi
export CARGO_TERM_COLOR doc_log
# A clean build is never built on: what increments need would only be written.
if [ "${CI:-}" = true ]; then export CARGO_INCREMENTAL=0; fi

known=" tools format lint doc deny rust api tables examples python web browser "
for name in "$@"; do
    case "$known" in
        *" $name "*) ;;
        *) echo "there is no stage \`$name\`; there are:$known" >&2 && exit 2 ;;
    esac
done

# --- The stages. Each runs in a shell of its own, from the root of the repository.

stage_tools() { bash scripts/install-test-tools.sh; }

stage_format() {
    local script
    for script in scripts/*.sh .ci/run; do bash -n "$script"; done
    cargo fmt --all --check
}

stage_lint() { cargo clippy --locked --workspace --all-targets -- -D warnings; }

stage_doc() { RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps; }

# Advisories are downloaded: where their database cannot be reached the rest is checked, and that is said.
stage_deny() {
    local output status=0
    cargo deny --locked check licenses bans sources
    output=$(cargo deny --locked check advisories 2>&1) || status=$?
    printf '%s\n' "$output"
    if [ "$status" -ne 0 ] && grep -q 'fetch advisory database' <<<"$output"; then
        echo "advisories NOT checked: their database cannot be reached"
        status=0
    fi
    return "$status"
}

# Everything is built before anything runs, so that no test competes with the compiler.
stage_rust() {
    local status=0
    cargo nextest run --locked --workspace --profile ci || status=$?
    cargo test --locked --workspace --doc 2>&1 | tee "$doc_log" || status=$?
    return "$status"
}

stage_api() { bash scripts/test-api.sh; }

stage_tables() { bash scripts/test-tables.sh; }

stage_examples() { bash scripts/test-doc-clients.sh; }

stage_python() { bash scripts/test-python.sh; }

stage_web() { bash scripts/test-web.sh; }

stage_browser() { bash scripts/test-browser.sh; }

# --- What runs them.

summary=()
failed_stages=0
failed_other=0
passed=0
failed=0
without=""
running=""

note() { summary+=("$(printf '%-10s %5s s  %s' "$1" "$2" "$3")"); }

# The budget ends the stage's whole process group, so no child is left behind.
run_within() {
    local budget_secs=$1 function=$2 status=0
    set -m
    timeout --kill-after=15 "$budget_secs" bash -euo pipefail -c "$function" </dev/null &
    running=$!
    set +m
    wait "$running" || status=$?
    running=""
    return "$status"
}

stop() {
    trap - INT TERM
    if [ -n "$running" ]; then kill -TERM -- "-$running" 2>/dev/null || true; fi
    echo "stopped" >&2
    exit 130
}

count() {
    local name value line
    if [ -f "$junit" ]; then
        # The report's first element has the sums of the run.
        line=$(grep -m 1 '<testsuites' "$junit")
        for name in tests failures errors; do
            value=$(printf '%s' "$line" | sed -n "s/.* $name=\"\([0-9]*\)\".*/\1/p")
            case "$name" in
                tests) passed=$((passed + ${value:-0})) ;;
                *) passed=$((passed - ${value:-0})) failed=$((failed + ${value:-0})) ;;
            esac
        done
    fi
    if [ -f "$doc_log" ]; then
        while read -r value name; do
            case "$name" in
                passed) passed=$((passed + value)) ;;
                failed) failed=$((failed + value)) ;;
            esac
        done < <(grep -E 'test result:' "$doc_log" | grep -oE '[0-9]+ (passed|failed)' || true)
    fi
}

count_python() {
    local name value line
    [ -f "$python_junit" ] || return 0
    line=$(grep -o '<testsuite [^>]*' "$python_junit" | head -n 1)
    for name in tests failures errors skipped; do
        value=$(printf '%s' "$line" | sed -n "s/.* $name=\"\([0-9]*\)\".*/\1/p")
        case "$name" in
            tests) passed=$((passed + ${value:-0})) ;;
            skipped) passed=$((passed - ${value:-0})) ;;
            *) passed=$((passed - ${value:-0})) failed=$((failed + ${value:-0})) ;;
        esac
    done
}

stage() {
    local name=$1 budget_secs=$2 status=0 start=$SECONDS before=$failed
    if [ "$wanted" != "  " ] && [ "${wanted/ $name /}" = "$wanted" ]; then return; fi
    if [ -n "$without" ]; then
        note "$name" 0 "not run, for want of tools"
        return
    fi
    echo
    echo "== $name (at most $budget_secs s)"
    run_within "$budget_secs" "stage_$name" || status=$?
    if [ "$name" = rust ]; then count; fi
    if [ "$name" = python ]; then count_python; fi
    case "$status" in
        0) note "$name" $((SECONDS - start)) ok && return ;;
        124 | 137) note "$name" $((SECONDS - start)) "FAILED: overran its budget of $budget_secs s" ;;
        *) note "$name" $((SECONDS - start)) FAILED ;;
    esac
    echo "== $name FAILED (status $status)" >&2
    failed_stages=$((failed_stages + 1))
    if [ "$failed" -eq "$before" ]; then failed_other=$((failed_other + 1)); fi
    if [ "$name" = tools ]; then without=tools; fi
}

command -v timeout >/dev/null || { echo "\`timeout\` is not there: install coreutils" >&2 && exit 1; }
trap stop INT TERM
mkdir -p "$logs"
rm -f "$junit" "$doc_log" "$python_junit"
for function in tools format lint doc deny rust api tables examples python web browser; do export -f "stage_${function?}"; done

stage tools 900
stage format 60
stage lint 900
stage doc 600
if cargo deny --version >/dev/null 2>&1; then stage deny 120; fi
stage rust 2400
if [ -f scripts/test-api.sh ]; then stage api 600; fi
stage tables 300
if [ -f scripts/test-doc-clients.sh ]; then stage examples 300; fi
if [ -f scripts/test-python.sh ]; then stage python 300; fi
stage web 600
stage browser 600

echo
echo "== summary"
printf '%s\n' "${summary[@]}"
printf '%-10s %5s s\n' total "$SECONDS"
echo
echo "$passed passed, $((failed + failed_other)) failed"
[ "$failed_stages" -eq 0 ]
