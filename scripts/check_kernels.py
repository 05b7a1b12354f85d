"""Compile every CUDA kernel for each architecture, without a device.

    python scripts/check_kernels.py [--arch sm_80 --arch sm_90] [--resources]

Uses nvcc. Exits with 1 if a kernel does not compile.
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "kernels" / "cuda"
ARCHITECTURES = ("sm_80", "sm_90")


def compile_kernel(path: Path, architecture: str, resources: bool) -> bool:
    """Whether a kernel compiles; prints what the compiler says."""
    command = ["nvcc", "-std=c++17", f"-arch={architecture}", "-cubin", "-o", "/dev/null"]
    if resources:
        command.append("--ptxas-options=-v")
    done = subprocess.run([*command, str(path)], capture_output=True, text=True)
    verdict = "ok" if done.returncode == 0 else "FAILED"
    print(f"{path.name} {architecture}: {verdict}")
    if done.returncode or resources:
        print(done.stderr or done.stdout)
    return done.returncode == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arch", action="append")
    parser.add_argument("--resources", action="store_true", help="print registers and spills")
    args = parser.parse_args()
    if shutil.which("nvcc") is None:
        sys.exit("nvcc is not on the path")
    results = [
        compile_kernel(path, architecture, args.resources)
        for path in sorted(FOLDER.glob("*.cu"))
        for architecture in args.arch or ARCHITECTURES
    ]
    sys.exit(not all(results))


if __name__ == "__main__":
    main()
