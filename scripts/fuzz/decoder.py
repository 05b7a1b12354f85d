"""Fuzz the decoder, guided by coverage.

    PYTHONPATH=scripts/vectors python scripts/fuzz/decoder.py [atheris options] [folders]

A crash, a hang, a leak or any exception except FormatError is a finding. Add its input to the
conformance vectors, named after the cause.
"""

import contextlib
import sys

import atheris

with atheris.instrument_imports(include=["mmpcodec", "mutate", "independent"]):
    import numpy as np
    from mutate import repaired

    import mmpcodec
    from mmpcodec import pictures

    # The package imports modules late, and modules imported after this block are not instrumented.
    for preset in ("text", "mixed", "lossless"):
        coded = mmpcodec.encode(np.zeros((4, 4), np.uint8), preset=preset, backend="cpu")
        pictures.to_bytes(mmpcodec.decode(coded), "png")

LIMITS = mmpcodec.DecodeLimits(max_samples=1 << 16, max_dimension=1 << 12)


def picture_of(found: mmpcodec.Inspection) -> pictures.Picture:
    """Return the picture that `mmp decode` writes."""
    assert found.samples is not None
    return pictures.Picture(found.samples, found.header.depth, found.header.metadata)


def decode(data: bytes) -> None:
    for candidate in (data, repaired(data)):
        with contextlib.suppress(mmpcodec.FormatError, mmpcodec.NoSuchPage):
            found = mmpcodec.inspect(candidate, decode=True, limits=LIMITS, allow_partial=True)
            pictures.to_bytes(picture_of(found), "png")
        with contextlib.suppress(mmpcodec.FormatError, mmpcodec.NoSuchPage):
            mmpcodec.decode(candidate, region=(0, 0, 1, 1), limits=LIMITS)
    for page in (1, 2):
        with contextlib.suppress(mmpcodec.FormatError, mmpcodec.NoSuchPage):
            mmpcodec.inspect(data, decode=True, page=page, limits=LIMITS, allow_partial=True)


atheris.Setup(sys.argv, decode)
atheris.Fuzz()
