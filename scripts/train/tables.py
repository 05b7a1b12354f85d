"""Pictures to train on, and files of the trained tables."""

import hashlib
from pathlib import Path

import numpy as np

from mmpcodec import pictures
from mmpcodec.bench.codecs.conversion import luma_of

FOLDER = Path(__file__).parents[2] / "kernels" / "shared" / "tables"
SIDE = 768


def middle(path: Path, length: int = SIDE) -> np.ndarray:
    """Return the middle of a picture, in gray of 8 bits, with sides of at most this length."""
    picture = pictures.read(path)
    samples = (picture.samples >> max(picture.depth - 8, 0)).astype(np.uint8)
    if samples.ndim == 3:
        samples = luma_of(samples[..., :3]) if samples.shape[2] >= 3 else samples[..., 0]
    top, left = (max(0, (side - length) // 2) for side in samples.shape)
    return np.ascontiguousarray(samples[top : top + length, left : left + length])


def write(name: str, data: np.ndarray) -> None:
    """Write an array of uint8 or int8 as the table of this name, and print its size and hash."""
    (FOLDER / f"{name}.bin").write_bytes(data.tobytes())
    print(f"{name}: {data.size} bytes, SHA-256 {hashlib.sha256(data.tobytes()).hexdigest()}")
