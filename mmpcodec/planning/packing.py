"""Packing of files on media: the fullest volumes, or the volumes of the largest value.

A file takes whole sectors. Several volumes are filled one after the other, each optimally with the
remaining files; all volumes together may not be optimal. The space that the file system of a medium
needs is not counted.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import repeat
from math import gcd

import numpy as np

from mmpcodec.errors import LimitExceeded, ParameterError
from mmpcodec.solvers.knapsack import knapsack
from mmpcodec.solvers.subset_sum import subset_sum

MAX_SECTOR = 1 << 30


@dataclass(frozen=True)
class Volume:
    """A medium and the files on it.

    Parameters
    ----------
    capacity : int
        Bytes.
    files : tuple of int
        Indices, ascending.
    used : int
        Bytes in whole sectors; at most ``capacity``.
    value : int
        Sum of the values; 0 without values.
    proven : bool
        Whether it is proven that no choice of the remaining files fills the volume better.
    most : int
        Upper bound of the value of all choices; 0 without values.
    backend : str
        Name of the backend on which the solver ran.
    """

    capacity: int
    files: tuple[int, ...]
    used: int
    value: int
    proven: bool
    most: int
    backend: str


@dataclass(frozen=True)
class Packing:
    """Volumes, and the files that are on none.

    Parameters
    ----------
    volumes : tuple of Volume
    left_out : tuple of int
        Indices of files that would fit on an empty volume.
    too_large : tuple of int
        Indices of files that fit on no volume.
    """

    volumes: tuple[Volume, ...]
    left_out: tuple[int, ...]
    too_large: tuple[int, ...]


def pack(
    sizes: Sequence[int],
    capacities: Sequence[int],
    *,
    values: Sequence[int] | None = None,
    sector: int = 1,
    time_limit: float | None = None,
    backend: str = "auto",
) -> Packing:
    """Choose the files of each volume, one volume after the other.

    Parameters
    ----------
    sizes : sequence of int
        Bytes of the files, from 0 up. Empty files go on the first volume.
    capacities : sequence of int
        Bytes of the volumes, from 0 up.
    values : sequence of int or None
        Values of the files, from 0 up; the choice has the largest value. None chooses the
        most bytes. With values, files of value 0 are left out unless they are empty.
    sector : int
        Bytes of a sector. A file takes whole sectors; a volume has only whole sectors.
    time_limit : float or None
        With values: seconds for each volume, after which the best choice so far is taken.
    backend : str
        Backend of the solvers.

    Raises
    ------
    ParameterError
        For negative numbers, sequences of different lengths, no volume, or sectors that are not
        from 1 to 2**30 bytes.
    LimitExceeded
        When the memory of the solver does not suffice; larger sectors need less.

    Examples
    --------
    >>> from mmpcodec.planning.packing import pack
    >>> found = pack([5, 4, 4, 3, 2, 2, 11], [10, 9])
    >>> [volume.files for volume in found.volumes], found.left_out, found.too_large
    ([(1, 2, 4), (0, 3)], (5,), (6,))
    """
    if not len(capacities):
        raise ParameterError("volumes: must be one or more")
    return _fill(sizes, capacities, max(capacities), values, sector, time_limit, backend)


def pack_all(
    sizes: Sequence[int],
    capacity: int,
    *,
    values: Sequence[int] | None = None,
    sector: int = 1,
    time_limit: float | None = None,
    backend: str = "auto",
) -> Packing:
    """Fill volumes of one size until each file that fits on a volume is on one.

    See ``pack`` for parameters, results and errors. Each volume is filled optimally; another
    distribution may need fewer volumes.
    """
    return _fill(sizes, repeat(capacity), capacity, values, sector, time_limit, backend)


def _fill(
    sizes: Sequence[int],
    capacities: Iterable[int],
    largest: int,
    values: Sequence[int] | None,
    sector: int,
    time_limit: float | None,
    backend: str,
) -> Packing:
    if not 1 <= sector <= MAX_SECTOR:
        raise ParameterError(f"sector = {sector}: must be from 1 to {MAX_SECTOR} bytes")
    if min(sizes, default=0) < 0:
        raise ParameterError(f"size = {min(sizes)}: must be from 0 up")
    if values is not None and (len(values) != len(sizes) or min(values, default=0) < 0):
        raise ParameterError("values: must be from 0 up, one for each file")
    sectors = [-(-size // sector) for size in sizes]
    fits = [size <= largest // sector for size in sectors]
    left = [index for index, fit in enumerate(fits) if fit]
    volumes: list[Volume] = []
    endless = isinstance(capacities, repeat)
    for capacity in capacities:
        if endless and not left and volumes:
            break
        if capacity < 0:
            raise ParameterError(f"volume = {capacity}: must be from 0 up")
        volume = _volume(left, sectors, values, capacity, sector, time_limit, backend)
        if endless and left and not volume.files:
            # Only files without value are left: they are as good as each other.
            values = None
            volume = _volume(left, sectors, values, capacity, sector, time_limit, backend)
        volumes.append(volume)
        left = sorted(set(left).difference(volume.files))
    too_large = tuple(index for index, fit in enumerate(fits) if not fit)
    return Packing(tuple(volumes), tuple(left), too_large)


def _volume(
    left: Sequence[int],
    sectors: Sequence[int],
    values: Sequence[int] | None,
    capacity: int,
    sector: int,
    time_limit: float | None,
    backend: str,
) -> Volume:
    """The best volume of the files that are left."""
    weights = [sectors[index] for index in left]
    room = capacity // sector
    most = 0
    try:
        if values is None:
            full = subset_sum(weights, room, backend=backend)
            assert full.items is not None
            taken, proven, used = full.items.tolist(), full.proven, full.backend
        else:
            # The solver's sums are limited, and values often have a common divisor.
            divisor = gcd(*(values[index] for index in left)) or 1
            profits = [values[index] // divisor for index in left]
            best = knapsack(
                np.array(profits, np.int64),
                np.array(weights, np.int64),
                room,
                time_limit=time_limit,
                backend=backend,
            )
            taken, proven, used = list(best.items), best.optimal, best.backend
            most = divisor * (best.bound or 0)
    except LimitExceeded as error:
        raise LimitExceeded(
            error.section, f"{error.problem}; larger sectors than {sector} bytes need less"
        ) from error
    empty = [place for place, weight in enumerate(weights) if weight == 0]
    files = sorted(left[place] for place in {*taken, *empty})
    return Volume(
        capacity,
        tuple(files),
        sector * sum(sectors[index] for index in files),
        0 if values is None else sum(values[index] for index in files),
        proven,
        most,
        used,
    )
