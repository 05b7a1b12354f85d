"""Build mmpcodec/web/mmp.wasm, the decoder for browsers and Node, from kernels/cpu and kernels/web.

    python scripts/web/build.py [--out FILE]

The compiler is Clang of the package ziglang (extra "web"). Objects are kept in build/web.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KERNELS = ROOT / "kernels"
OBJECTS = ROOT / "build" / "web"
TABLES = OBJECTS / "tables.cpp"
COMPILER = [sys.executable, "-m", "ziglang", "c++", "-target", "wasm32-wasi"]
FLAGS = [
    *("-std=c++20", "-O2", "-msimd128", "-DNDEBUG", "-Wall", "-Wextra", "-Wno-psabi"),
    *("-Wno-missing-field-initializers", "-Wno-unused-private-field"),
    *("-fno-stack-protector", "-fvisibility=hidden", "-ffunction-sections", "-fdata-sections"),
    "-fexceptions",  # kernels/web/errors.cpp says what a throw does
    *("-I", str(KERNELS), "-include", str(KERNELS / "web" / "one_thread.h")),
]
OF_LOSSLESS = ["-ffp-contract=fast", "-fno-trapping-math"]
"""As in CMakeLists.txt: without traps, __builtin_trunc is one instruction."""
LINKED = ["-mexec-model=reactor", "-O3", "-s", "-Wl,--gc-sections", "-Wl,--import-memory"]
STACK = ["-Wl,-z,stack-size=1048576", "-Wl,--initial-memory=4194304"]
NOT_DECODING = {
    *("encoder.cpp", "plan_coder.cpp", "avx2.cpp", "avx512.cpp", "avx512vnni.cpp"),
    "crew.cpp",  # needs threads
    *("scan_reader.cpp", "split.cpp"),  # of JPEG files that are encoded
}


def sources() -> Iterator[Path]:
    """Yield the C++ files of the decoders."""
    cpu = KERNELS / "cpu"
    folders = (
        "blocks",
        "blocks/products",
        "entropy",
        "filters",
        "filters/taps",
        "jpeg",
        "jpeg/levels",
        "lossless",
        "lossless/two_values",
        "tiles",
        "trees",
        "trees/search",
    )
    for folder in folders:
        yield from (p for p in sorted((cpu / folder).glob("*.cpp")) if p.name not in NOT_DECODING)
    yield from sorted((KERNELS / "web").glob("*.cpp"))
    subprocess.run([sys.executable, ROOT / "scripts" / "embed.py", TABLES], check=True)
    yield TABLES


def newest_header() -> float:
    """Return the time of the newest header."""
    return max(path.stat().st_mtime for path in KERNELS.rglob("*.h"))


def run(command: list[str]) -> None:
    """Run the compiler; its caches lie beside the objects."""
    caches = {f"ZIG_{which}_CACHE_DIR": str(OBJECTS / "cache") for which in ("GLOBAL", "LOCAL")}
    subprocess.run(command, check=True, env=os.environ | caches)


def compiled(source: Path, newer_than: float) -> Path:
    """Return the object of a source; it is made again if a source or header is newer."""
    parts = source.relative_to(ROOT).with_suffix(".o").parts
    made = OBJECTS / "-".join(parts)
    if made.exists() and made.stat().st_mtime > max(newer_than, source.stat().st_mtime):
        return made
    flags = [*FLAGS, *(OF_LOSSLESS if source.parent.name == "lossless" else [])]
    run([*COMPILER, *flags, "-c", str(source), "-o", str(made)])
    return made


def main() -> None:
    """Compile and link the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "mmpcodec" / "web" / "mmp.wasm")
    parser.add_argument("--jobs", type=int, default=1, help="compilers at once")
    options = parser.parse_args()
    OBJECTS.mkdir(parents=True, exist_ok=True)
    newest = max(newest_header(), Path(__file__).stat().st_mtime)
    with ThreadPoolExecutor(options.jobs) as pool:
        objects = list(pool.map(lambda source: compiled(source, newest), sources()))
    run([*COMPILER, *LINKED, *STACK, *map(str, objects), "-o", str(options.out)])
    print(f"{options.out}: {options.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
