#!/usr/bin/env bash
# Builds the native module with address and undefined-behaviour sanitizers and runs the tests that
# reach it; hostile input included. Usage: scripts/check/sanitize.sh [python]
set -euo pipefail
cd "$(dirname "$0")/../.."
python=${1:-.venv/bin/python}
build=build/sanitize
rm -rf "$build"
mkdir -p "$build/site"
"$python" -m pip install --quiet --no-deps --target "$build/site" \
    --config-settings=cmake.define.MMP_SANITIZE=address,undefined \
    --config-settings=cmake.build-type=RelWithDebInfo \
    --config-settings=install.strip=false \
    --config-settings=build-dir="$build/cmake" .
export LD_PRELOAD="$(g++ -print-file-name=libasan.so):$(g++ -print-file-name=libubsan.so)"
# Python itself keeps memory until exit, so leaks are not looked for. What is freed stays in a
# quarantine, which must be full before a test can see that memory does not grow.
export ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=16
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
PYTHONPATH="$build/site" "$python" -P -m pytest -q -p no:cacheprovider --timeout=1200 \
    tests/agreement tests/fuzz tests/property tests/unit/format tests/unit/solvers \
    -k "not reference and not larger_pictures" "${@:2}"
