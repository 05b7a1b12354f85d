"""Compile every CUDA kernel for each architecture, without a device.

    python scripts/check/kernels.py [--compiler nvcc|nvrtc] [--arch sm_80 --arch sm_90] [--fast]

The script compiles with nvcc if it is on the path, else with the NVRTC library of the extra
`mmpcodec[nvrtc]`, kernels of samples for both of their types. It exits with 1 if a kernel does not
compile. Architectures that the compiler does not know are left out and named. With --fast it does
not optimise, which takes less time.
"""

import argparse
import ctypes
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "kernels"
ARCHITECTURES = ("sm_80", "sm_90", "sm_100")
DEEP = "-DMMP_SAMPLE=uint16_t"
SAMPLES = ("blocks", "filters", "tiles")
"""Folders of kernels whose samples have two types."""
NVRTC_PACKAGE = "nvidia-cuda-nvrtc-cu12"

Compile = Callable[[Path, str, list[str]], str | None]
"""Function that compiles a file for an architecture, with options; returns the compiler's log on
failure."""


def nvcc(fast: bool) -> tuple[Compile, set[str]] | None:
    """Return a function that compiles with nvcc, and what it knows; None if nvcc is not there."""
    if shutil.which("nvcc") is None:
        return None

    def compile_file(path: Path, architecture: str, options: list[str]) -> str | None:
        command = ["nvcc", "-std=c++17", f"-arch={architecture}", f"-I{FOLDER}", "-cubin"]
        command += options
        command += ["--device-debug"] * fast
        done = subprocess.run(
            [*command, "-o", "/dev/null", str(path)], capture_output=True, text=True
        )
        return (done.stderr or done.stdout) if done.returncode else None

    listed = subprocess.run(["nvcc", "--list-gpu-code"], capture_output=True, text=True, check=True)
    return compile_file, set(listed.stdout.split())


def nvrtc(fast: bool) -> tuple[Compile, set[str]] | None:
    """Return a function that compiles with NVRTC, as CuPy does; None if NVRTC is missing."""
    try:
        files = metadata.files(NVRTC_PACKAGE) or []
    except metadata.PackageNotFoundError:
        return None
    names = [file for file in files if file.name.startswith("libnvrtc.so")]
    library = ctypes.CDLL(str(names[0].locate()))

    def checked(code: int) -> None:
        if code:
            raise RuntimeError(f"NVRTC error {code}")

    def compile_file(path: Path, architecture: str, options: list[str]) -> str | None:
        program = ctypes.c_void_p()
        source, name = path.read_bytes(), path.name.encode()
        checked(library.nvrtcCreateProgram(ctypes.byref(program), source, name, 0, None, None))
        given = ["-std=c++17", f"-arch={architecture}", f"-I{FOLDER}", *["--device-debug"] * fast]
        given += options
        encoded = (ctypes.c_char_p * len(given))(*(option.encode() for option in given))
        failed = library.nvrtcCompileProgram(program, len(given), encoded)
        size = ctypes.c_size_t()
        checked(library.nvrtcGetProgramLogSize(program, ctypes.byref(size)))
        log = ctypes.create_string_buffer(size.value)
        checked(library.nvrtcGetProgramLog(program, log))
        checked(library.nvrtcDestroyProgram(ctypes.byref(program)))
        return log.value.decode() if failed else None

    count = ctypes.c_int()
    checked(library.nvrtcGetNumSupportedArchs(ctypes.byref(count)))
    known = (ctypes.c_int * count.value)()
    checked(library.nvrtcGetSupportedArchs(known))
    return compile_file, {f"sm_{number}" for number in known}


COMPILERS = {"nvcc": nvcc, "nvrtc": nvrtc}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", choices=COMPILERS)
    parser.add_argument("--arch", action="append")
    parser.add_argument("--fast", action="store_true", help="do not optimise")
    args = parser.parse_args()
    names = [args.compiler] if args.compiler else list(COMPILERS)
    found = (
        (name, compiler) for name in names if (compiler := COMPILERS[name](args.fast)) is not None
    )
    name, compiler = next(found, (None, None))
    if compiler is None:
        sys.exit(f"no compiler: {' and '.join(names)} are not there")
    compile_file, known = compiler
    failures = 0
    for architecture in args.arch or ARCHITECTURES:
        if architecture not in known:
            print(f"{architecture} {name}: left out, as the compiler does not know it")
            continue
        for path in sorted((FOLDER / "cuda").rglob("*.cu")):
            of_samples = path.relative_to(FOLDER / "cuda").parts[0] in SAMPLES
            for options in ([], [DEEP])[: 1 + of_samples]:
                problem = compile_file(path, architecture, options)
                failures += problem is not None
                result = "ok" if problem is None else "FAILED"
                place = " ".join([str(path.relative_to(FOLDER)), *options])
                print(f"{place} {architecture} {name}: {result}")
                if problem is not None:
                    print(problem)
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
