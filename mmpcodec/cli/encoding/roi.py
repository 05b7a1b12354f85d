"""Regions of interest: a mask, rectangles, or the regions that ``mmp highlight`` found."""

import csv
import json
import os
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from mmpcodec.checks import check_int
from mmpcodec.cli import output
from mmpcodec.cli.options import check_alone
from mmpcodec.errors import ParameterError
from mmpcodec.limits import DecodeLimits
from mmpcodec.params import EncodeParams
from mmpcodec.presets import PRESETS, preset_of, presets_where
from mmpcodec.runtime import stores
from mmpcodec.runtime.files import printable
from mmpcodec.tools import BlockTools

if TYPE_CHECKING:
    import numpy as np

RECTANGLES = re.compile(r"[-+\d]+(,[-+\d]+)*(:[-+\d]+(,[-+\d]+)*)*")
TABLES = (".csv", ".json", ".jsonl")
"""Endings of the files that ``mmp highlight --csv`` and ``--json`` write."""
SIDES = ("left", "top", "width", "height")
"""What tables say of a region."""
DEFAULT_STEPS = 4

Rectangle = tuple[int, int, int, int]
"""Column and row of the first pixel, width and height."""


class Roi(NamedTuple):
    """Regions of interest, as the options name them.

    Parameters
    ----------
    given : str
        Rectangles, or the name of a file: a mask, or a table of regions.
    steps : int
        Importance of the regions.
    """

    given: str
    steps: int

    @property
    def is_mask(self) -> bool:
        """Whether the regions are a mask, which fits one picture."""
        return bool(self.given) and not RECTANGLES.fullmatch(self.given) and not self.is_table

    @property
    def is_table(self) -> bool:
        """Whether the regions are a table of ``mmp highlight``."""
        return os.path.splitext(self.given)[1].lower() in TABLES

    def roi_map(self, source: str, shape: tuple[int, ...], limits: DecodeLimits) -> "np.ndarray":
        """Return the importance of the pixels of a picture, an (H, W) int8 array.

        Parameters
        ----------
        source : str
            The picture, as the command names it.
        shape : tuple of int
            Its shape.
        limits : DecodeLimits
            Largest mask to read.

        Raises
        ------
        MmpError
            If the regions do not fit the picture, or a file cannot be read.
        """
        import numpy as np

        height, width = shape[:2]
        if self.is_mask:
            mask = _read_mask(self.given, limits, stores.absolute(self.given))
            if mask.shape != (height, width):
                raise ParameterError(
                    f"--roi {self.given}: has {mask.shape[1]}x{mask.shape[0]} pixels, the picture "
                    f"has {width}x{height}"
                )
            levels = [round(self.steps * level / 255) for level in range(256)]
            return np.array(levels, np.int8)[mask]
        found = np.zeros((height, width), np.int8)
        for x, y, w, h in self._rectangles(source):
            if min(x, y) < 0 or min(w, h) < 1 or x + w > width or y + h > height:
                raise ParameterError(
                    f"--roi {x},{y},{w},{h}: must lie within the picture, which has "
                    f"{width}x{height} pixels"
                )
            found[y : y + h, x : x + w] = self.steps
        return found

    def _rectangles(self, source: str) -> list[Rectangle]:
        """Return the rectangles of a picture."""
        if not self.is_table:
            return _parsed(self.given)
        regions = _read_regions(self.given, stores.absolute(self.given))
        names = [name for name in regions if name == source]
        names = names or [
            name for name in regions if os.path.basename(name) == os.path.basename(source)
        ]
        if len(names) != 1:
            what = "no picture" if not names else "several pictures"
            raise ParameterError(f"--roi {self.given}: has {what} of the name {printable(source)}")
        return regions[names[0]]


def with_roi(
    given: str | None,
    steps: int | None,
    params: EncodeParams,
    limits: DecodeLimits,
    cluster: str | None,
    *,
    palette: bool | None = None,
) -> tuple[Roi | None, EncodeParams]:
    """Return the regions that the options name, and the parameters with steps of fragments.

    All that does not depend on the pictures is checked.

    Raises
    ------
    MmpError
        If an option is out of its range, a file cannot be read, or the other options give files
        without steps of fragments.
    """
    if given is None:
        if steps is not None:
            raise ParameterError("--roi-steps: needs --roi")
        return None, params
    if palette:
        check_alone("--palette", {"--roi": given})
    from mmpcodec.codec.weighting.maps import MOST_IMPORTANCE, with_roi

    steps = DEFAULT_STEPS if steps is None else steps
    check_int("roi_steps", steps, -MOST_IMPORTANCE, MOST_IMPORTANCE)
    if not any(isinstance(tools, BlockTools) for tools in params.sets):
        preset = preset_of(params.tools)
        if preset in PRESETS and params.lam > 0:
            able = presets_where(lambda tools: isinstance(tools, BlockTools))
            raise ParameterError(f"--roi: has no effect with preset {preset}; take {able}")
        raise ParameterError("--roi: has no effect on lossless files")
    roi = Roi(given, steps)
    if roi.is_mask:
        if cluster is not None:
            raise ParameterError("--roi with --cluster: takes rectangles or a table, not a mask")
        _read_mask(given, limits, stores.absolute(given))
    elif roi.is_table:
        _read_regions(given, stores.absolute(given))
    else:
        _parsed(given)
    return roi, with_roi(params)


def check_jobs(roi: Roi | None, inputs: int, *, tiles_apart: bool) -> None:
    """Check that regions fit the number of inputs, and that no tiles are coded apart on a cluster.

    Raises
    ------
    ParameterError
        If not.
    """
    if roi is not None and roi.is_mask and inputs > 1:
        raise ParameterError(f"--roi {roi.given}: is the mask of one picture, not of {inputs}")
    if roi is not None and tiles_apart:
        raise ParameterError("--roi: does not go with both --tile and --cluster")


def _parsed(given: str) -> list[Rectangle]:
    """Parse rectangles: ``x,y,width,height``, several separated by colons."""
    found = []
    for each in given.split(":"):
        try:
            x, y, width, height = map(int, each.split(","))
        except ValueError:
            raise ParameterError(
                f"--roi {given!r}: must be a file, or rectangles x,y,width,height:... in pixels"
            ) from None
        found.append((x, y, width, height))
    return found


@lru_cache(maxsize=1)
def _read_mask(name: str, limits: DecodeLimits, place: str) -> "np.ndarray":
    """Read a mask of 8 bits, (H, W); of colours the largest sample counts.

    ``place``, its absolute name, tells files of equal names apart.
    """
    from mmpcodec.depth import BYTE
    from mmpcodec.reference.colour import widened

    picture = output.read_picture(name, limits).without_alpha()
    if picture.depth > BYTE:
        raise ParameterError(
            f"--roi {name}: has samples of {picture.depth} bits; a mask has 1 to {BYTE}"
        )
    samples = widened(picture.samples, picture.depth)
    return samples if samples.ndim == 2 else samples.max(axis=2)


@lru_cache(maxsize=1)
def _read_regions(name: str, place: str) -> dict[str, list[Rectangle]]:
    """Read the regions that ``mmp highlight --csv`` or ``--json`` has written, by picture.

    ``place`` is as for ``_read_mask``.
    """
    text = output.read(name).decode(errors="surrogateescape")
    found: dict[str, list[Rectangle]] = {}
    try:
        rows = _of_csv(text) if name.lower().endswith(".csv") else _of_json(text)
        for source, region in rows:
            own = found.setdefault(source, [])
            if region is not None:
                x, y, width, height = (int(region[side]) for side in SIDES)
                own.append((x, y, width, height))
    except (ValueError, LookupError, TypeError, OverflowError, RecursionError, csv.Error) as error:
        raise ParameterError(
            f"--roi {name}: is not a table of `mmp highlight --csv` or `--json` ({error!r})"
        ) from error
    return found


def _of_csv(text: str) -> Iterator[tuple[str, Any]]:
    rows = csv.DictReader(text.splitlines())
    if missing := {"input", *SIDES} - set(rows.fieldnames or ()):
        raise KeyError(min(missing))
    for row in rows:
        source = row["input"]
        # The table quotes names that a spreadsheet would take for formulas.
        yield source[1:] if source[:1] == "'" and source[1:2] in "=+-@\t\r" else source, row


def _of_json(text: str) -> Iterator[tuple[str, Any]]:
    for line in text.splitlines():
        picture = json.loads(line)
        for region in picture["regions"] or [None]:
            yield picture["input"], region
