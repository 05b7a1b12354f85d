"""Selection networks: comparisons in a fixed order that find the value of a rank in a window.

A network works on lines of values. Line entry x belongs to the window of result pixel x, and a
value of the window of pixel x + s is the entry x + s of the same line, so windows that overlap
share comparisons:

1. The values of each column are sorted, once for all windows that contain the column.
2. Sorted columns with the same rows, side by side, are merged in pairs, and pairs in fours; each
   merged line serves all windows too.
3. The sorted lists that make up one window are merged, the shortest first. Values that are too
   small or too large for the rank are left out first: value i of m sorted ones has i values below
   it and m - 1 - i above it.
4. The value of rank r of two sorted lists a and b is the least of max(a[i - 1], b[r - i]) over all
   i, where a value before the first does not count; or, from above, the greatest of minima.

Then steps and results that the answer does not need are removed, and lines are used again when
their values are not needed any more.

Sources: K. E. Batcher, "Sorting networks and their applications", 1968, the odd-even merge; D. E.
Knuth, "The Art of Computer Programming", volume 3, section 5.3.4.
"""

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

COMPARE, LEAST, GREATEST, LEAST_OF_GREATEST, GREATEST_OF_LEAST = range(5)
"""Kinds of steps: low, high = sorted (a, b); low = min(a, b); high = max(a, b); low = min(c,
max(a, b)); low = max(c, min(a, b))."""

FIELDS = ("kind", "a", "a_shift", "b", "b_shift", "c", "low", "high", "extra")
"""Fields of a step; see ``kernels/cpu/solvers/rank_filter/network.h``."""

Ref = tuple[int, int]
"""A value: the number of its line, and the shift at which it is read."""

List = list[Ref]


@dataclass
class _Builder:
    """Steps with a line of its own for each result. ``made`` counts lines."""

    made: int
    steps: list[list[int]] = field(default_factory=list)

    def step(self, kind: int, a: Ref, b: Ref, c: int = -1) -> List:
        """Add a step; return the lines that it can make, which are two if it compares."""
        lines = list(range(self.made, self.made + 1 + (kind == COMPARE)))
        self.made += len(lines)
        self.steps.append([kind, *a, *b, c, lines[0], lines[1] if kind == COMPARE else -1, 0])
        return [(line, 0) for line in lines]

    def merged(self, a: List, b: List) -> List:
        """Return the sorted union of two sorted lists, by Batcher's odd-even merge."""
        if not a or not b:
            return a or b
        if len(a) == len(b) == 1:
            return self.step(COMPARE, a[0], b[0])
        even, odd = self.merged(a[::2], b[::2]), self.merged(a[1::2], b[1::2])
        union = even[:1]
        for i in range(max(len(even) - 1, len(odd))):
            if i < len(odd) and i + 1 < len(even):
                union += self.step(COMPARE, odd[i], even[i + 1])
            else:
                union.append(odd[i] if i < len(odd) else even[i + 1])
        return union

    def sorted(self, values: List) -> List:
        """Return a sorted list of the values."""
        if len(values) < 2:
            return values
        half = len(values) // 2
        return self.merged(self.sorted(values[:half]), self.sorted(values[half:]))

    def of_two(self, a: List, b: List, rank: int) -> Ref:
        """Return the value of a rank of two sorted lists together."""
        count = len(a) + len(b)
        # How many of the rank + 1 lowest values, or of the count - rank highest, come from a.
        below = range(max(0, rank + 1 - len(b)), min(len(a), rank + 1) + 1)
        above = range(max(0, count - rank - len(b)), min(len(a), count - rank) + 1)
        pairs: list[List]
        if len(below) <= len(above):
            inner, outer, kind = GREATEST, LEAST, LEAST_OF_GREATEST
            pairs = [a[max(i - 1, 0) : i] + b[max(rank - i, 0) : rank + 1 - i] for i in below]
        else:
            inner, outer, kind = LEAST, GREATEST, GREATEST_OF_LEAST
            ends = [(len(a) - i, len(b) - (count - rank - i)) for i in above]
            pairs = [a[i : i + 1] + b[j : j + 1] for i, j in ends]
        pairs.sort(key=len)  # single values first
        found: Ref | None = None
        for pair in pairs:
            if found is None:
                found = pair[0] if len(pair) == 1 else self.step(inner, pair[0], pair[1])[0]
            elif len(pair) == 1:
                found = self.step(outer, found, pair[0])[0]
            elif found[1]:  # the third operand has no shift
                found = self.step(outer, found, self.step(inner, pair[0], pair[1])[0])[0]
            else:
                found = self.step(kind, pair[0], pair[1], found[0])[0]
        assert found is not None
        return found

    def selected(self, lists: list[List], rank: int) -> Ref:
        """Return the value of a rank of all sorted lists together."""
        while True:
            lists, rank = _possible(lists, rank)
            if len(lists) == 1:
                return lists[0][rank]
            lists.sort(key=len)
            if len(lists) == 2:
                return self.of_two(lists[0], lists[1], rank)
            lists[:2] = [self.merged(lists[0], lists[1])]


def _possible(lists: list[List], rank: int) -> tuple[list[List], int]:
    """Leave out values that cannot have the rank; return the other ones, and their rank."""
    while True:
        above = sum(map(len, lists)) - 1 - rank
        kept = [each[max(0, len(each) - 1 - above) : rank + 1] for each in lists]
        dropped = sum(max(0, len(each) - 1 - above) for each in lists)
        if kept == lists:
            return [each for each in lists if each], rank
        lists, rank = kept, rank - dropped


def shifted(values: List, by: int) -> List:
    """Return the values of the window that is ``by`` pixels to the right."""
    return [(line, shift + by) for line, shift in values]


@lru_cache(maxsize=256)
def network(shape: tuple[int, int], cells: bytes, rank: int) -> tuple[np.ndarray, int, Ref]:
    """Return the network that finds a rank in a window.

    Parameters
    ----------
    shape : (int, int)
        Height and width of the window.
    cells : bytes
        One byte per cell of the window, row by row: 1 if the cell belongs to it, else 0.
    rank : int
        From 0, the smallest value, to the number of cells minus 1.

    Returns
    -------
    (N, 9) int32 array
        Steps; see ``FIELDS``. Lines 0 to height - 1 hold the rows of samples under the window.
    int
        Number of lines.
    (int, int)
        The line of the answer, and its shift.
    """
    height, width = shape
    footprint = np.frombuffer(cells, bool).reshape(shape)
    builder = _Builder(height)
    lists: list[List] = []
    columns: dict[bytes, list[int]] = {}
    for x in range(width):
        if footprint[:, x].any():
            columns.setdefault(footprint[:, x].tobytes(), []).append(x)
    for pattern, places in columns.items():
        rows = np.flatnonzero(np.frombuffer(pattern, bool))
        lists += _runs(builder, builder.sorted([(int(row), 0) for row in rows]), places)
    area = sum(map(len, lists))
    mirrored = rank > (area - 1) // 2
    answer = builder.selected(lists, area - 1 - rank if mirrored else rank)
    steps = _needed(builder, answer)
    return _with_lines(_mirrored(steps) if mirrored else steps, height, answer)


def _runs(builder: _Builder, column: List, places: list[int]) -> list[List]:
    """Return sorted lists of columns that are equal but for their shifts, merged in runs."""
    merged = {1: column}
    lists = []
    start = 0
    for at in range(1, len(places) + 1):
        if at < len(places) and places[at] == places[at - 1] + 1:
            continue
        first, left = places[start], at - start
        while left:
            size = 1 << (left.bit_length() - 1)
            have = 1
            while have < size:
                if 2 * have not in merged:
                    merged[2 * have] = builder.merged(merged[have], shifted(merged[have], have))
                have *= 2
            lists.append(shifted(merged[size], first))
            first, left = first + size, left - size
        start = at
    return lists


def _needed(builder: _Builder, answer: Ref) -> list[list[int]]:
    """Return the steps that the answer needs, with how far beyond a strip they work."""
    extra = {answer[0]: answer[1]}
    steps = []
    for kind, a, a_shift, b, b_shift, c, low, high, _ in reversed(builder.steps):
        wanted = [line for line in (low, high) if line in extra]
        if not wanted:
            continue
        if kind == COMPARE and len(wanted) == 1:
            kind = LEAST if wanted == [low] else GREATEST
            low, high = wanted[0], -1
        far = max(extra[line] for line in wanted)
        for line, shift in ((a, a_shift), (b, b_shift), (c, 0)):
            extra[line] = max(extra.get(line, 0), far + shift)
        steps.append([kind, a, a_shift, b, b_shift, c, low, high, far])
    return steps[::-1]


def _mirrored(steps: list[list[int]]) -> list[list[int]]:
    """Return the steps that find the same rank from the other end, for the opposite order."""
    others = {LEAST: GREATEST, GREATEST: LEAST, LEAST_OF_GREATEST: GREATEST_OF_LEAST}
    others[GREATEST_OF_LEAST] = LEAST_OF_GREATEST
    flipped = []
    for kind, *read, low, high, far in steps:
        low, high = (high, low) if kind == COMPARE else (low, high)
        flipped.append([others.get(kind, kind), *read, low, high, far])
    return flipped


def _with_lines(steps: list[list[int]], height: int, answer: Ref) -> tuple[np.ndarray, int, Ref]:
    """Let results use lines whose values are not needed any more."""
    last = {answer[0]: len(steps)}
    for at, step in enumerate(steps):
        for line in (step[1], step[3], step[5]):
            last[line] = max(last.get(line, 0), at)
    place = {row: row for row in range(height)}
    free: list[int] = []
    count = height
    lined = []
    for at, (kind, a, a_shift, b, b_shift, c, low, high, far) in enumerate(steps):
        read = [place.get(line, -1) for line in (a, b, c)]
        # A step works from left to right and reads at its place or right of it, so its results
        # may replace what it reads.
        free += {place[line] for line in {a, b, c} - {-1} if last[line] == at and line >= height}
        for line in (low, high):
            if line >= 0:
                if not free:
                    free.append(count)
                    count += 1
                place[line] = free.pop()
        written = [place.get(line, -1) for line in (low, high)]
        lined.append([kind, read[0], a_shift, read[1], b_shift, read[2], *written, far])
    found = np.array(lined, np.int32).reshape(-1, len(FIELDS))
    return found, count, (place[answer[0]], answer[1])
