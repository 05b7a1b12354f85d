"""Fingerprints of pictures and of the codec, by which results are kept and found again."""

import functools
import hashlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mmpcodec import pictures


def sha256_of(samples: NDArray[np.uint8]) -> str:
    """Return the SHA-256 of the binary PGM file of (H, W) uint8 samples, in hexadecimal digits."""
    return hashlib.sha256(pictures.to_bytes(samples, "pgm")).hexdigest()


@functools.cache
def codec_fingerprint() -> str:
    """Return twelve hexadecimal digits of the source files that define the bytes of mmp files.

    Unlike the version of the package, they change with each change of these files. The backends
    write the bytes that these files define, so their own files do not count.
    """
    package = Path(__file__).parent
    folders = ("codec", "format", "reference", "kernels/shared")
    sources = [
        path
        for folder in folders
        for path in (package / folder).rglob("*.*")
        if path.suffix in (".py", ".h")
    ]
    sources += [package / name for name in ("depth.py", "params.py", "tools.py")]
    digest = hashlib.sha256()
    for source in sorted(sources):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:12]
