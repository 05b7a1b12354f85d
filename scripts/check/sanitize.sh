#!/usr/bin/env bash
# Builds the native module with sanitizers and runs the tests that reach it; hostile input included.
# Usage: scripts/check/sanitize.sh address|thread [python] [pytest options]. "address" finds undefined
# behaviour too; "thread" runs the tests of codings and solvers that share work among threads.
set -euo pipefail
cd "$(dirname "$0")/../.."
kind=$1
python=${2:-.venv/bin/python}
build=build/sanitize-$kind
case $kind in
address)
    sanitizers=address,undefined
    libraries="libasan.so libubsan.so"
    tests="tests/agreement tests/fuzz tests/property tests/unit/format tests/unit/solvers"
    chosen="not reference and not larger_pictures"
    ;;
thread)
    sanitizers=thread
    libraries=libtsan.so
    tests="tests/agreement tests/property tests/unit/backends tests/unit/solvers"
    chosen="(thread or tile or batch or cancel or solvers) and not reference and not larger_pictures and not memory and not cost"
    ;;
*)
    echo "the first argument is address or thread, not $kind" >&2
    exit 2
    ;;
esac
rm -rf "$build"
mkdir -p "$build/site"
"$python" -m pip install --quiet --no-deps --target "$build/site" \
    --config-settings=cmake.define.MMP_SANITIZE="$sanitizers" \
    --config-settings=cmake.build-type=RelWithDebInfo \
    --config-settings=install.strip=false \
    --config-settings=build-dir="$build/cmake" .
preload=
for library in $libraries; do preload+=$(g++ -print-file-name="$library"):; done
export LD_PRELOAD=${preload%:}
# Python itself keeps memory until exit, so leaks are not looked for. What is freed stays in a
# quarantine, which must be full before a test can see that memory does not grow.
export ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=16
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1
# shellcheck disable=SC2086
PYTHONPATH="$build/site" "$python" -P -m pytest -q -p no:cacheprovider --timeout=1200 \
    $tests -k "$chosen" "${@:3}"
