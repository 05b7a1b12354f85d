#!/usr/bin/env bash
# Fuzzes the compiled decoders and encoders under the address and undefined-behaviour sanitizers.
# Usage: scripts/fuzz/native.sh SECONDS [SEED [ENTRY ...]]. Each entry, or each of the named ones (decoder,
# encoder, jpeg), runs for so long on random inputs, and again guided by coverage where there is clang++
# with libFuzzer. Both start from the inputs below
# build/fuzz-native/seeds, which scripts/fuzz/seeds.py writes. Findings are written into
# build/fuzz-native/findings; keep each as a test that says its cause.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=$1
seed=${2:-1}
[ $# -gt 2 ] && entries=("${@:3}") || entries=(decoder encoder jpeg)
export ENTRIES="${entries[*]}"
build=build/fuzz-native
sanitizers=(-fsanitize=address,undefined -fno-sanitize-recover=all)
mkdir -p "$build/findings" "$build/seeds/layers" "$build/seeds/jpeg"
export UBSAN_OPTIONS=print_stacktrace=1 ASAN_OPTIONS=allocator_may_return_null=0
scripts/fuzz/build.sh "$build/random" "${sanitizers[@]}"
kind() { [ "$1" = jpeg ] && echo jpeg || echo layers; }
failed=0
for entry in "${entries[@]}"; do
    "$build/random/fuzz_$entry" --seconds "$seconds" --seed "$seed" --out "$build/findings" "$build/seeds/$(kind "$entry")" ||
        failed=1
done
compiler=${CLANGXX:-clang++}
if command -v "$compiler" >/dev/null; then
    CXX=$compiler ENGINE=libfuzzer scripts/fuzz/build.sh "$build/guided" "${sanitizers[@]}"
    for entry in "${entries[@]}"; do
        mkdir -p "$build/corpus-$entry"
        "$build/guided/fuzz_$entry" -max_total_time="$seconds" -seed="$seed" -max_len=4000 -timeout=60 \
            -rss_limit_mb=4096 -print_final_stats=1 -verbosity=0 -artifact_prefix="$build/findings/" \
            "$build/corpus-$entry" "$build/seeds/$(kind "$entry")" || failed=1
    done
else
    echo "libFuzzer needs clang++, so inputs were not guided by coverage; name a compiler by CLANGXX=" >&2
fi
exit $failed
