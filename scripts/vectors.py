"""Make the conformance vectors that are missing, with the reference backend.

    python scripts/vectors.py [FOLDER]

FOLDER is tests/conformance/v0 unless given. ``tests/conformance/README.md`` says what a vector is.
Vectors are append-only: a case that exists is left as it is.
"""

import hashlib
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np
from PIL import Image

import mmpcodec
from mmpcodec import EncodeParams

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "tests" / "conformance" / "v0"


def shipped(name: str) -> np.ndarray:
    """A picture of images/ as an (H, W) uint8 array."""
    with Image.open(ROOT / "images" / name) as picture:
        return np.asarray(picture)


def cases() -> Iterator[tuple[str, np.ndarray, EncodeParams]]:
    """Name, picture and parameters of each case."""
    params = EncodeParams.from_options
    steps = 6 * np.arange(40, dtype=np.uint8)
    ramp = (5 * np.arange(33)[:, None] + 3 * np.arange(17)).astype(np.uint8)
    noise = np.random.default_rng(1).integers(0, 256, (32, 32), np.uint8)
    camera = shipped("camera.pgm")[96:144, 208:256]
    terminal = shipped("terminal.pgm")[8:32, 8:48]

    yield "one-pixel", np.array([[77]], np.uint8), params(32)
    yield "one-row", steps[None, :], params(8)
    yield "one-column-classic", steps[:, None], params(8, preset="classic")
    yield "ramp-dyadic", ramp, params(8, partition="dyadic")
    yield "ramp-coarse", ramp, params(512)
    yield "flat", np.full((32, 48), 200, np.uint8), params(32)
    yield "noise-lossless", noise, params(0)
    yield "noise-full-dictionary", noise, params(8, dictionary_limit=256)
    yield "text", terminal, params(32)
    yield "text-lossless-classic", terminal, params(0, preset="classic")
    yield "camera", camera, params(32)
    yield "camera-classic", camera, params(32, preset="classic")
    yield "camera-dyadic-classic", camera, params(8, preset="classic", partition="dyadic")
    yield "camera-log2", camera, params(32, rate_model="log2", copy_radius=1)
    yield "camera-coarse", camera, params(512)
    yield "camera-small-dictionary", camera, params(8, dictionary_limit=300)


def write_vector(folder: Path, picture: np.ndarray, params: EncodeParams) -> None:
    """Encode a picture and write the files of its vector into a new folder."""
    encoding = mmpcodec.encode_picture(picture, params, backend="reference")
    description = {
        "lam": params.lam,
        "rate_model": params.rate_model,
        "tools": asdict(params.tools) | {"partition": params.tools.partition.name.lower()},
    }
    folder.mkdir(parents=True)
    Image.fromarray(picture).save(folder / "image.pgm")
    (folder / "params.json").write_text(json.dumps(description, indent=2) + "\n")
    (folder / "stream.mmp").write_bytes(encoding.data)
    digest = hashlib.sha256(encoding.samples.tobytes()).hexdigest()
    (folder / "decoded.sha256").write_text(digest + "\n")


def main() -> None:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    for name, picture, params in cases():
        folder = root / name
        if folder.exists():
            print(f"kept {name}")
        else:
            write_vector(folder, picture, params)
            print(f"made {name}, {(folder / 'stream.mmp').stat().st_size} bytes")


if __name__ == "__main__":
    main()
