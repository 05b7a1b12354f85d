"""``StoredForm``: what the text "NIfTI" keeps of a volume, so that it can be written again."""

import json
import math
from dataclasses import asdict, dataclass

import numpy as np

KEYWORD = "NIfTI"
"""Keyword of the text, in JSON."""
SPACES = ("unknown", "scanner", "aligned", "talairach", "mni", "template")
"""Kinds of the space of an affine, by their code."""
UNITS = (("unknown", "meter", "mm", "micron"), ("unknown", "sec", "msec", "usec"))
"""Units of lengths and of durations."""
COLOURS = ("RGB", "RGBA")
NUMBERS = (
    "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float32", "float64",
)  # fmt: skip

_MOST_SIGNED = 1 << 62


@dataclass(frozen=True)
class StoredForm:
    """How a volume stores its samples, and where it lies.

    Parameters
    ----------
    shape : tuple of int
        Two to four lengths of its axes.
    type : str
        One of ``NUMBERS`` or ``COLOURS``.
    zooms : tuple of float
        Size of a voxel along each axis.
    shift : int
        A stored sample is the sample of a picture plus this.
    units : (str, str)
        See ``UNITS``.
    slope, intercept : float or None
        A value is slope times stored sample plus intercept.
    affine : 3 x 4 tuple of float, or None
        From the numbers of a voxel to space, in the unit of lengths.
    space : str
        Kind of the space, one of ``SPACES``.
    """

    shape: tuple[int, ...]
    type: str
    zooms: tuple[float, ...]
    shift: int = 0
    units: tuple[str, str] = ("unknown", "unknown")
    slope: float | None = None
    intercept: float | None = None
    affine: tuple[tuple[float, ...], ...] | None = None
    space: str = SPACES[0]

    def text(self) -> tuple[str, str]:
        """Return keyword and text that keep it among metadata."""
        return KEYWORD, json.dumps(
            {key: value for key, value in asdict(self).items() if value is not None}
        )

    @classmethod
    def of_text(cls, text: str) -> "StoredForm | None":
        """Return the form in a text that ``text`` made; None for any other text."""
        try:
            facts = json.loads(text)
            shape = tuple(map(int, facts["shape"]))
            space, time = facts["units"]
            affine = facts.get("affine")
            if affine is not None:
                rows = np.asarray(affine, np.float64)
                affine = tuple(map(tuple, rows.tolist()))
                if rows.shape != (3, 4) or not np.isfinite(rows).all():
                    return None
            scale = [facts.get(key) for key in ("slope", "intercept")]
            slope, intercept = (None if each is None else float(each) for each in scale)
            found = cls(
                shape,
                str(facts["type"]),
                tuple(map(float, facts["zooms"])),
                int(facts["shift"]),
                (space, time),
                slope,
                intercept,
                affine,
                str(facts.get("space", SPACES[0])),
            )
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError, OverflowError):
            return None
        known = (
            2 <= len(shape) <= 4
            and min(shape) > 0
            and len(found.zooms) == len(shape)
            and all(0 <= each < math.inf for each in found.zooms)
            and found.type in (*NUMBERS, *COLOURS)
            and -_MOST_SIGNED <= found.shift < (1 << 64) - (1 << 16)
            and space in UNITS[0]
            and time in UNITS[1]
            and found.space in SPACES
            and all(each is None or math.isfinite(each) for each in (slope, intercept))
        )
        return found if known else None

    def stored(self, samples: np.ndarray) -> np.ndarray:
        """Return the samples of a picture as the volume stores them; the nearest ones that fit."""
        kind = np.dtype(self.type)
        if kind.kind == "f":
            return samples.astype(kind) + kind.type(self.shift)
        limits = np.iinfo(kind)
        if self.shift > _MOST_SIGNED:
            return samples.astype(np.uint64) + np.uint64(self.shift)
        wide = samples.astype(np.int64) + self.shift
        return wide.clip(limits.min, limits.max).astype(kind)
