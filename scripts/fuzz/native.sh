#!/usr/bin/env bash
# Fuzzes the compiled decoders with libFuzzer under the address and undefined-behaviour sanitizers.
# Usage: scripts/fuzz/native.sh [libFuzzer options]; needs clang++. It starts from the inputs in
# build/fuzz-native/seeds, which scripts/fuzz/seeds.py writes. A finding is written beside them; keep
# it as a test that says its cause.
set -euo pipefail
cd "$(dirname "$0")/../.."
compiler=${CLANGXX:-clang++}
if ! command -v "$compiler" >/dev/null; then
    echo "libFuzzer needs clang++; name another one by CLANGXX=" >&2
    exit 1
fi
build=build/fuzz-native
mkdir -p "$build/corpus" "$build/seeds"
flags=(-std=c++20 -O1 -g -Ikernels
    -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=all -Wno-psabi)
find kernels/cpu/{runtime,entropy,trees,blocks,exact} tests/fuzz/native -name '*.cpp' \
    -not -name 'avx*' -not -name interrupts.cpp | while read -r source; do
    object=$build/${source//\//-}.o
    [ "$object" -nt "$source" ] || echo "$compiler ${flags[*]} -c $source -o $object"
done | xargs -r -d '\n' -P "$(nproc)" -I{} sh -c '{}'
"$compiler" -fsanitize=address,undefined,fuzzer "$build"/*.o -lpthread -o "$build/fuzz_decoder"
UBSAN_OPTIONS=print_stacktrace=1 ASAN_OPTIONS=allocator_may_return_null=0 \
    "$build/fuzz_decoder" -max_len=4000 -timeout=20 -rss_limit_mb=2048 \
    -artifact_prefix="$build/" "$@" "$build/corpus" "$build/seeds"
