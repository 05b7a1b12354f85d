"""Pictures to train on, and headers with the trained tables."""

import hashlib
import textwrap
from pathlib import Path

import numpy as np

from mmpcodec import pictures
from mmpcodec.bench.codecs.conversion import luma_of

FOLDER = Path(__file__).parents[2] / "kernels" / "shared"
SIDE = 768
HEADER = """\
// Trained by scripts/train/{script}: {what}
// Source: section "{section}" of docs/format/format.md.
#pragma once

#include <stdint.h>

namespace mmp {{

constexpr {kind}_t {name}[] = {{
{numbers}
}};

}}  // namespace mmp
"""


def middle(path: Path, length: int = SIDE) -> np.ndarray:
    """Return the middle of a picture, in gray of 8 bits, with sides of at most this length."""
    picture = pictures.read(path)
    samples = (picture.samples >> max(picture.depth - 8, 0)).astype(np.uint8)
    if samples.ndim == 3:
        samples = luma_of(samples[..., :3]) if samples.shape[2] >= 3 else samples[..., 0]
    top, left = (max(0, (side - length) // 2) for side in samples.shape)
    return np.ascontiguousarray(samples[top : top + length, left : left + length])


def write(header: str, name: str, data: np.ndarray, **words: str) -> None:
    """Write a table to a header, and print its size and its hash.

    Parameters
    ----------
    header : str
        Path below ``kernels/shared``.
    name : str
        Name of the array in C++.
    data : array of uint8 or int8
    **words
        The ``script``, ``what`` the table holds, and the ``section`` of the format.
    """
    text = ", ".join(map(str, data.ravel()))
    numbers = textwrap.fill(text, 100, initial_indent="    ", subsequent_indent="    ")
    (FOLDER / header).write_text(
        HEADER.format(kind=data.dtype, name=name, numbers=numbers, **words)
    )
    print(f"{header}: {data.size} bytes, SHA-256 {hashlib.sha256(data.tobytes()).hexdigest()}")
