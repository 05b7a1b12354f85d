"""Coverage-guided fuzzing of the decoder: python scripts/fuzz.py [atheris options]

A crash, a hang, a leak or any exception but FormatError is a finding. Keep its input as
tests/fuzz/findings/<cause>.mmp.
"""

import contextlib
import sys
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

with atheris.instrument_imports():
    from mutate import repaired

    import mmpcodec

LIMITS = mmpcodec.DecodeLimits(max_pixels=1 << 16, max_dimension=1 << 12)


def decode(data: bytes) -> None:
    for candidate in (data, repaired(data)):
        with contextlib.suppress(mmpcodec.FormatError):
            mmpcodec.decode(candidate, limits=LIMITS)


atheris.Setup(sys.argv, decode)
atheris.Fuzz()
