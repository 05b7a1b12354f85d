#!/usr/bin/env bash
# Builds entries of tests/fuzz/native into a folder, with the flags of a sanitizer.
# Usage: scripts/fuzz/build.sh FOLDER [flags]. CXX names the compiler, g++ if it does not. With
# ENGINE=libfuzzer libFuzzer drives the entries; otherwise tests/fuzz/native/driver.cpp does.
# ENTRIES names the entries, all if it does not.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$1
shift
entries=${ENTRIES:-decoder encoder jpeg}
compiler=${CXX:-g++}
flags=(-std=c++20 -O2 -g -Ikernels -Wall -Wextra -Wno-psabi "$@")
link=(-g "$@")
engine=driver
if [ "${ENGINE:-driver}" = libfuzzer ]; then
    engine=libfuzzer
    flags+=(-fsanitize=fuzzer-no-link)
    link+=(-fsanitize=fuzzer)
fi
simd=
# clang 14 has no target_clones, so the SIMD levels are built by g++ alone.
if [ "$(uname -m)" = x86_64 ] && [ "$engine" = driver ]; then
    simd=1
    # Tracking of variables takes minutes in functions of several SIMD levels.
    flags+=(-DMMP_X86 -Wno-maybe-uninitialized -fno-var-tracking-assignments)
fi
mkdir -p "$folder"
python3 scripts/embed.py "$folder/tables.cpp"
folders=(runtime entropy jpeg)
[ "$entries" = jpeg ] || folders+=(trees blocks lossless filters tiles)
{
    find "${folders[@]/#/kernels/cpu/}" -name '*.cpp'
    # The parts of lossless samples that JPEG files take.
    [ "$entries" != jpeg ] || printf '%s\n' kernels/cpu/lossless/{strip_fit,prediction}.cpp
    echo "$folder/tables.cpp"
    for entry in $entries; do echo "tests/fuzz/native/fuzz_$entry.cpp"; done
    echo "tests/fuzz/native/$engine.cpp"
} | while read -r source; do
    own=()
    case $source in
    */avx2.cpp) own=(-mavx2) ;;
    */avx512*.cpp) own=(-mavx512f -mavx512bw -mavx512vnni) ;;
    kernels/cpu/lossless/*.cpp | kernels/cpu/jpeg/*.cpp) own=(-fno-fast-math -ffp-contract=fast -fno-trapping-math) ;;
    esac
    case $source in */avx*.cpp) [ -n "$simd" ] || continue ;; esac
    object=$folder/${source//\//-}.o
    newest=$(find kernels tests/fuzz/native -newer "$object" 2>/dev/null | head -1 || true)
    [ -e "$object" ] && [ -z "$newest" ] ||
        echo "${CCACHE-} $compiler ${flags[*]} ${own[*]} -c $source -o $object"
done | xargs -r -d '\n' -P "$(nproc)" -I{} sh -c '{}'
for entry in $entries; do
    objects=$(find "$folder" -name '*.o' -not -name "*fuzz_*.o" -o -name "*fuzz_$entry.cpp.o")
    # shellcheck disable=SC2086
    "$compiler" "${link[@]}" $objects -lpthread -o "$folder/fuzz_$entry"
done
