#!/usr/bin/env bash
# Fuzzes the compiled decoders with libFuzzer under the address and undefined-behaviour sanitizers.
# Usage: scripts/fuzz_native.sh [libFuzzer options]; needs clang++. It starts from the inputs in
# build/fuzz-native/seeds, which scripts/fuzz_seeds.py writes. A finding is written beside them; keep
# it as a test that says its cause.
set -euo pipefail
cd "$(dirname "$0")/.."
compiler=${CLANGXX:-clang++}
if ! command -v "$compiler" >/dev/null; then
    echo "libFuzzer needs clang++; name another one by CLANGXX=" >&2
    exit 1
fi
build=build/fuzz-native
mkdir -p "$build/corpus" "$build/seeds"
flags=(-std=c++20 -O1 -g -Ikernels -Ikernels/cpu -Ikernels/shared
    -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=all -Wno-psabi)
for source in kernels/cpu/{block_codec,block_coder,block_kernels,block_models,block_picture}.cpp \
    kernels/cpu/{block_search,block_survey,block_template,block_tree_search,block_trees}.cpp \
    kernels/cpu/{block_trial,brute_force,coefficients,costs,decoder,dictionary}.cpp \
    kernels/cpu/{element_counts,exact_codec,exact_prediction,fragment_search,mixed_bits}.cpp \
    kernels/cpu/{models,picture,search_generic,search_index,search_kernels,thread_team}.cpp \
    kernels/cpu/tree_coder.cpp tests/fuzz/native/fuzz_decoder.cpp; do
    object=$build/$(basename "$source" .cpp).o
    [ "$object" -nt "$source" ] || echo "$compiler ${flags[*]} -c $source -o $object"
done | xargs -r -d '\n' -P "$(nproc)" -I{} sh -c '{}'
"$compiler" -fsanitize=address,undefined,fuzzer "$build"/*.o -lpthread -o "$build/fuzz_decoder"
UBSAN_OPTIONS=print_stacktrace=1 ASAN_OPTIONS=allocator_may_return_null=0 \
    "$build/fuzz_decoder" -max_len=4000 -timeout=20 -rss_limit_mb=2048 \
    -artifact_prefix="$build/" "$@" "$build/corpus" "$build/seeds"
