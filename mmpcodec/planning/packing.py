"""Packing of files on media: the fullest volumes, or the volumes of the largest value.

A file takes whole sectors. Several volumes are filled one after the other, each optimally with the
remaining files; all volumes together may not be optimal. The space that the file system of a medium
takes is not counted.
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
        Size of the medium in bytes.
    files : tuple of int
        Indices of the files, ascending.
    used : int
        Size of the files in bytes, rounded up to whole sectors; at most ``capacity``.
    value : int
        Sum of the values of the files; 0 without values.
    proven : bool
        Whether it is proven that no choice of the remaining files fills the volume better.
    most : int
        Upper bound of ``value`` for all choices; 0 without values.
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
    """Volumes, and the files that are on no volume.

    Parameters
    ----------
    volumes : tuple of Volume
    left_out : tuple of int
        Indices of files on no volume that would fit on the largest volume if it were empty.
    too_large : tuple of int
        Indices of files that are larger than each volume.
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
        Sizes of the files in bytes, at least 0. Empty files go on the first volume.
    capacities : sequence of int
        Sizes of the volumes in bytes, at least 0.
    values : sequence of int or None
        Values of the files, from 0 up; the choice has the largest value. None chooses the
        most bytes. With values, files of value 0 are left out unless they are empty.
    sector : int
        Size of a sector in bytes. A file takes whole sectors; a volume has only whole sectors.
    time_limit : float or None
        Time limit in seconds for each volume, after which the best choice so far is taken. Only
        packing with values has a time limit.
    backend : str
        Backend of the solvers.

    Raises
    ------
    ParameterError
        When a number is negative, sequences have different lengths, there is no volume, or a sector
        does not have 1 to 2**30 bytes.
    LimitExceeded
        When the memory does not suffice for the solver; larger sectors need less memory.

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
    """Fill volumes of one size until they hold each file that fits on a volume.

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
            # Only files of value 0 are left; fill the volume with them.
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
    """Fill one volume optimally with the files in ``left``."""
    weights = [sectors[index] for index in left]
    room = capacity // sector
    most = 0
    try:
        if values is None:
            full = subset_sum(weights, room, backend=backend)
            assert full.items is not None
            taken, proven, used = full.items.tolist(), full.proven, full.backend
        else:
            # The solver limits the sum of the profits; a common divisor makes them smaller.
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
