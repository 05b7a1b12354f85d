"""Tiles: rectangles of a picture that are coded independently.

Source: section "Tiles" of ``docs/format/format.md``.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from mmpcodec.checks import check_int
from mmpcodec.errors import ParameterError

AnyTile = TypeVar("AnyTile")


@dataclass(frozen=True)
class Area:
    """A rectangle of pixels.

    Parameters
    ----------
    x, y : int
        Column and row of the first pixel.
    width, height : int
        Size in pixels.
    """

    x: int
    y: int
    width: int
    height: int

    def __str__(self):
        return f"{self.width}x{self.height} at ({self.x}, {self.y})"

    @property
    def pixels(self) -> int:
        """Number of pixels."""
        return self.width * self.height

    @property
    def slices(self) -> tuple[slice, slice]:
        """Rows and columns of the rectangle, as an index of an array."""
        return slice(self.y, self.y + self.height), slice(self.x, self.x + self.width)

    def common(self, other: "Area") -> "Area | None":
        """Return the intersection with another rectangle; None if it is empty."""
        x, y = max(self.x, other.x), max(self.y, other.y)
        width = min(self.x + self.width, other.x + other.width) - x
        height = min(self.y + self.height, other.y + other.height) - y
        return Area(x, y, width, height) if width > 0 and height > 0 else None

    def grown(self, reach: int, limits: "Area") -> "Area":
        """Return the rectangle with ``reach`` more pixels on each side, as far as ``limits``."""
        sides = self.width + 2 * reach, self.height + 2 * reach
        common = Area(self.x - reach, self.y - reach, *sides).common(limits)
        assert common is not None
        return common

    def within(self, other: "Area") -> "Area":
        """Return the rectangle in coordinates that begin at the first pixel of another one."""
        return Area(self.x - other.x, self.y - other.y, self.width, self.height)


@dataclass(frozen=True)
class Tile(Area):
    """A tile and its number in the file.

    Parameters
    ----------
    x, y, width, height : int
        As in ``Area``.
    number : int
        Position in raster order, from 0.
    """

    number: int = 0


def across(length: int, size: int) -> int:
    """Return the number of tiles along an axis of ``length`` pixels; ``size`` 0 means one tile."""
    return -(-length // size) if size else 1


def tile_count(height: int, width: int, size: int) -> int:
    """Return the number of tiles of a picture; ``size`` 0 means one tile."""
    return across(height, size) * across(width, size)


def size_in_file(height: int, width: int, size: int) -> int:
    """Return the tile size for a file: 0 if one tile of ``size`` covers the whole picture."""
    return size if size < max(height, width) else 0


def tiles_of(height: int, width: int, size: int) -> Iterator[Tile]:
    """Yield the tiles of a picture in raster order."""
    return tiles_touching(Area(0, 0, width, height), height, width, size)


def tiles_touching(area: Area, height: int, width: int, size: int) -> Iterator[Tile]:
    """Yield the tiles of a picture that overlap an area, in raster order."""
    rows, columns = spans_touching(area, height, width, size)
    for row, (y, own_height) in rows:
        for column, (x, own_width) in columns:
            yield Tile(x, y, own_width, own_height, row * across(width, size) + column)


Spans = list[tuple[int, tuple[int, int]]]
"""Rows or columns of tiles: number, and (first pixel, length in pixels)."""


def spans_touching(area: Area, height: int, width: int, size: int) -> tuple[Spans, Spans]:
    """Return the rows and columns of the tiles that overlap an area."""
    return (
        _spans(area.y, area.y + area.height, height, size or height),
        _spans(area.x, area.x + area.width, width, size or width),
    )


def _spans(start: int, stop: int, length: int, side: int) -> Spans:
    return [
        (number, (number * side, min(side, length - number * side)))
        for number in range(start // side, across(stop, side))
    ]


def grouped(
    tiles: Iterable[AnyTile], size_of: Callable[[AnyTile], int], most: int
) -> Iterator[list[AnyTile]]:
    """Group successive tiles so that the sizes in a group sum to at most ``most``.

    A tile that is larger than ``most`` is a group of its own.
    """
    group: list[AnyTile] = []
    size = 0
    for tile in tiles:
        own = size_of(tile)
        if group and size + own > most:
            yield group
            group, size = [], 0
        group.append(tile)
        size += own
    yield group


def bounds_of(areas: Sequence[Area]) -> Area:
    """Return the least rectangle that contains some rectangles."""
    x, y = min(area.x for area in areas), min(area.y for area in areas)
    right = max(area.x + area.width for area in areas)
    bottom = max(area.y + area.height for area in areas)
    return Area(x, y, right - x, bottom - y)


def blocks_of(area: Area, height: int, width: int, size: int, most: int) -> Iterator[list[Tile]]:
    """Yield the tiles of a picture that overlap an area, in nearly square blocks of whole tiles.

    Parameters
    ----------
    area : Area
    height, width, size : int
        Sides of the picture and of a tile, in pixels; ``size`` 0 means one tile.
    most : int
        Most pixels of a block; a tile that is larger is a block of its own.

    Yields
    ------
    list of Tile
        In raster order, as the blocks are.
    """
    rows, columns = spans_touching(area, height, width, size)
    side = max(1, math.isqrt(most) // (size or max(height, width)))
    along = across(width, size)
    for top in range(0, len(rows), side):
        for left in range(0, len(columns), side):
            yield [
                Tile(x, y, own_width, own_height, row * along + column)
                for row, (y, own_height) in rows[top : top + side]
                for column, (x, own_width) in columns[left : left + side]
            ]


def check_region(region: Any, height: int, width: int) -> Area:
    """Check a region (x, y, width, height) of a picture and return it as an area.

    Raises
    ------
    ParameterError
        If the region is not four integers, is empty, or exceeds the picture.
    """
    try:
        left, top, columns, rows = (check_int("region", number) for number in region)
    except (TypeError, ValueError):
        says = f"region = {region!r}: must be four integers: x, y, width, height"
        raise ParameterError(says) from None
    area = Area(left, top, columns, rows)
    inside = Area(0, 0, width, height).common(area) if area.width > 0 and area.height > 0 else None
    if inside != area:
        raise ParameterError(
            f"region = {area}: must have pixels and lie within the picture of {width}x{height}"
        )
    return area
