"""Fingerprints of pictures and of the codec, by which results are kept and found again."""

import functools
import hashlib
from pathlib import Path

import numpy as np

from mmpcodec import pictures
from mmpcodec.format import chunks
from mmpcodec.metadata import Metadata
from mmpcodec.picture import Picture


def sha256_of(picture: Picture | np.ndarray) -> str:
    """Return a SHA-256 of the planes, depth, samples and metadata, in hexadecimal digits.

    It is the SHA-256 of a binary PGM file for 8-bit gray, else of a PAM file. If there are
    metadata, their bytes in an mmp file follow.

    Parameters
    ----------
    picture : Picture or array
        An array has the depth that ``Picture.of`` gives it.
    """
    picture = picture if isinstance(picture, Picture) else Picture.of(picture)
    plain = picture.planes == 1 and picture.depth == 8
    bare = Picture(picture.samples, picture.depth)
    digest = hashlib.sha256(pictures.to_bytes(bare, "pgm" if plain else "pam"))
    if picture.metadata != Metadata():
        digest.update(chunks.write(picture.metadata))
    return digest.hexdigest()


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
        if path.suffix in (".py", ".h", ".bin")
    ]
    sources += [package / name for name in ("depth.py", "params.py", "tools.py")]
    digest = hashlib.sha256()
    for source in sorted(sources):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:12]
