"""Find bright boxes of a volume: those in which its slices exceed a level by the largest sum.

A box is the rectangle of ``regions`` in three dimensions: the same rows and columns of slices that
follow each other. The search is exact, and its result is the same on every backend.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median

import numpy as np

from mmpcodec.analysis.regions import Limits, Region, weighed
from mmpcodec.solvers.max_sum import disjoint_boxes


@dataclass(frozen=True)
class BrightBox:
    """A bright (or dark) box of a volume.

    Parameters
    ----------
    region : Region
        Its rank, rows and columns; sum, mean and the others are those of the whole box.
    front, depth : int
        First slice, from 0, and number of slices.
    """

    region: Region
    front: int
    depth: int

    @property
    def back(self) -> int:
        """Last slice of the box."""
        return self.front + self.depth - 1

    @property
    def middle(self) -> int:
        """Slice in the middle of the box."""
        return self.front + (self.depth - 1) // 2


@dataclass(frozen=True)
class Boxes:
    """The boxes of a volume by rank, and ``offset`` and ``scale`` as in ``regions.Regions``."""

    boxes: tuple[BrightBox, ...]
    offset: float
    scale: int


def find_boxes(
    volume: np.ndarray,
    unit: int,
    most: int,
    *,
    offset: str | float = 0.5,
    white: int | None = None,
    dark: bool = False,
    k: int = 1,
    limits: Limits | None = None,
    mask: np.ndarray | None = None,
    border: int = 0,
    time_limit: float | None = None,
    backend: str = "auto",
) -> Boxes:
    """Find up to k disjoint boxes of the largest sums of luminance minus offset.

    Parameters
    ----------
    volume : (D, H, W) array of integers
        Luminance of the slices, as ``regions.luminance`` gives it.
    unit : int
        Number of integers of the volume per level.
    most : int
        Level of white of the slices.
    offset, white, dark, k, limits, mask, border, time_limit, backend
        As in ``regions.find_regions``. Limits are those of rows and columns; mask and border are
        those of each slice.

    Returns
    -------
    Boxes

    Raises
    ------
    ParameterError
        If an argument is invalid for the volume.
    LimitExceeded
        If time runs out.

    Examples
    --------
    >>> import numpy as np
    >>> from mmpcodec.analysis.volumes import find_boxes
    >>> volume = np.zeros((9, 20, 30), np.uint8)
    >>> volume[4:7, 5:9, 10:13] = 200
    >>> (box,) = find_boxes(volume, 1, 255).boxes
    >>> box.front, box.depth, box.region.top, box.region.height, box.region.left, box.region.width
    (4, 3, 5, 4, 10, 3)
    """
    given = weighed(
        volume,
        unit,
        most,
        offset=offset,
        white=white,
        dark=dark,
        mask=mask,
        border=border,
        backend=backend,
    )
    found = disjoint_boxes(
        given.weights,
        k,
        **asdict(limits or Limits()),
        allow_empty=True,
        time_limit=time_limit,
        backend=backend,
    )
    boxes = []
    for rank, box in enumerate(found, start=1):
        region = given.region(rank, box, border, (slice(box.front, box.back),))
        boxes.append(BrightBox(region, box.front, box.depth))
    return Boxes(tuple(boxes), given.offset, given.scale)


@dataclass(frozen=True)
class Spacing:
    """How slices lie along their series, in millimetres.

    Parameters
    ----------
    positions : sequence of float
        Of the slices, in their order.
    """

    positions: Sequence[float]

    @property
    def distance(self) -> float | None:
        """Median distance of neighbouring slices; None for a single one."""
        steps = self._steps
        return median(steps) if steps else None

    @property
    def is_even(self) -> bool:
        """Whether all distances are equal within 1 %."""
        steps, usual = self._steps, self.distance or 0.0
        return all(abs(step - usual) <= usual / 100 for step in steps)

    @property
    def _steps(self) -> list[float]:
        places = zip(self.positions, self.positions[1:], strict=False)
        return [abs(after - before) for before, after in places]

    def extent(self, front: int, back: int) -> tuple[float, float] | None:
        """Return where slices ``front`` to ``back`` begin, and their length.

        A slice reaches half a distance to either side of its position.
        """
        if not self.distance:
            return None
        first, last = sorted((self.positions[front], self.positions[back]))
        return first - self.distance / 2, last - first + self.distance
