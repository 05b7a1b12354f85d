"""Measure what the package takes on disk, with all that it needs to encode and decode pictures.

    python scripts/check/weight.py dist/mmpcodec-*.whl

The script installs the wheel into a new environment, encodes and decodes a PNG there, and prints
the size of each package. It exits with 1 if the packages besides NumPy take more than ``MOST``.
NumPy is apart because nothing can be left out of it: its wheel for Linux takes about 70 MB.
"""

import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]
MOST = 60
"""Size of all packages besides NumPy, in MB of 10^6 bytes."""
NEEDLESS = {"pip", "setuptools", "wheel"}

SIZES = """
import json
from importlib import metadata
sizes = {}
for package in metadata.distributions():
    paths = {path.locate() for path in package.files or ()}
    sizes[package.metadata["Name"].lower()] = sum(
        path.stat().st_blocks * 512 if hasattr(path.stat(), "st_blocks") else path.stat().st_size
        for path in paths if path.is_file()
    )
print(json.dumps(sizes))
"""


def sizes_of(wheel: Path) -> dict[str, float]:
    """Install a wheel into a new environment, use it, and return the size of each package in MB."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        venv.create(place, with_pip=True)
        python = place / ("Scripts" if sys.platform == "win32" else "bin") / "python"

        def run(*arguments: str | Path) -> str:
            done = subprocess.run(
                [python, "-P", *arguments], cwd=place, check=True, stdout=subprocess.PIPE, text=True
            )
            return done.stdout

        run("-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel.resolve())
        photo = "from PIL import Image; Image.open(r'{}').save('photo.png')"
        run("-c", photo.format(ROOT / "images" / "camera.pgm"))
        run("-m", "mmpcodec", "encode", "photo.png")
        run("-m", "mmpcodec", "decode", "photo.mmp", "-o", "decoded.png")
        found: dict[str, int] = json.loads(run("-c", SIZES))
    return {name: size / 1e6 for name, size in found.items() if name not in NEEDLESS}


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    sizes = sizes_of(Path(sys.argv[1]))
    for name, size in sorted(sizes.items(), key=lambda item: -item[1]):
        print(f"{name:<20} {size:6.1f} MB")
    total = sum(sizes.values())
    own = total - sizes["numpy"]
    print(
        f"{'all':<20} {total:6.1f} MB\n{'all besides NumPy':<20} {own:6.1f} MB, allowed {MOST} MB"
    )
    return own > MOST


if __name__ == "__main__":
    sys.exit(main())
