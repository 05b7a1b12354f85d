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


ASIDE = ("analysis", "bench", "cli", "dask", "pictures", "planning", "plugins", "solvers", "web")
"""Folders whose files do not decide the bytes of mmp files."""
KERNELS = ("cpu", "cuda", "shared")


def codec_sources() -> list[Path]:
    """Return the source files that decide the bytes of mmp files, in the order of their names.

    They are those of the package and of its kernels, except what lies in a folder of ``ASIDE``.
    """
    package = Path(__file__).parent
    found = list(package.glob("*.py"))
    for folder in package.iterdir():
        if folder.name not in ASIDE:
            found += folder.rglob("*.py")
    for folder in (package / "kernels" / name for name in KERNELS):
        found += (path for path in folder.rglob("*.*") if path.is_file())
    return sorted(
        path for path in found if not set(path.relative_to(package).parts).intersection(ASIDE)
    )


@functools.cache
def codec_fingerprint() -> str:
    """Return twelve hexadecimal digits of the sources that decide the bytes of mmp files.

    Unlike the version of the package, they change with each change of these files.
    """
    digest = hashlib.sha256()
    for source in codec_sources():
        digest.update(source.read_bytes())
    return digest.hexdigest()[:12]
