"""The area that a palette draws: cells of 16x16 pixels, chosen by rate-distortion cost.

Edges between what a palette draws and what lies below cost bits in both codings. The sum of the
costs of cells and edges is lowered by moves: a square of cells becomes all drawn or all below,
from large squares to single cells, until no move helps.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

LARGEST_SQUARE = 16
"""Side, in cells, of the largest squares."""
ROUNDS = 8
"""Most rounds of moves."""


def cells_drawn(drawn: NDArray[np.int64], below: NDArray[np.int64], edge: int) -> NDArray[np.bool_]:
    """Return which cells a palette draws.

    Parameters
    ----------
    drawn, below : (R, C) int64 arrays
        Cost of each cell if the palette draws it, and if it does not.
    edge : int
        Cost of an edge between a cell that is drawn and one that is not.
    """
    found = [np.ones(drawn.shape, bool), _moved(drawn - below, edge, drawn <= below)]
    return min(found, key=lambda cells: _cost(cells, drawn, below, edge))


def _cost(cells: np.ndarray, drawn: np.ndarray, below: np.ndarray, edge: int) -> int:
    edges = int(np.count_nonzero(cells[1:] != cells[:-1]))
    edges += int(np.count_nonzero(cells[:, 1:] != cells[:, :-1]))
    return int(np.where(cells, drawn, below).sum()) + edge * edges


def _moved(gain: NDArray[np.int64], edge: int, start: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return cells after all moves that lower the cost; ``gain`` is that of drawing a cell."""
    rows, columns = gain.shape
    beyond = ((0, -rows % LARGEST_SQUARE), (0, -columns % LARGEST_SQUARE))
    gain, cells = np.pad(gain, beyond), np.pad(start, beyond)
    inside = np.pad(np.ones((rows, columns), bool), beyond)
    for _ in range(ROUNDS):
        before = cells.copy()
        side = LARGEST_SQUARE
        while side:
            # Squares of one turn do not touch, so all of them can move at once.
            for turn in ((0, 0), (0, 1), (1, 0), (1, 1)):
                cells = _move_squares(gain, edge, cells, inside, side, turn)
            side //= 2
        if np.array_equal(cells, before):
            break
    return cells[:rows, :columns]


def _move_squares(
    gain: np.ndarray,
    edge: int,
    cells: np.ndarray,
    inside: np.ndarray,
    side: int,
    turn: tuple[int, int],
) -> np.ndarray:
    """Move every other square, in rows and columns, to the state of the least cost."""
    edges = drawn_around = different = 0
    sides = zip(
        _sides(cells, side, 1),
        _sides(cells, side, 0),
        _sides(inside, side, 1),
        _sides(inside, side, 0),
        strict=True,
    )
    for around, own, has_around, has_own in sides:
        counts = has_around & has_own
        edges = edges + counts.sum(axis=-1)
        drawn_around = drawn_around + (counts & around).sum(axis=-1)
        different = different + (counts & (around != own)).sum(axis=-1)
    within = _square_sums(_inner_edges(cells, inside, side), side)
    of_drawn = _square_sums(gain, side) + edge * (edges - drawn_around)
    of_below = edge * drawn_around
    now = _square_sums(np.where(cells, gain, 0), side) + edge * (within + different)
    moves = np.minimum(of_drawn, of_below) < now
    mine = np.zeros(moves.shape, bool)
    mine[turn[0] :: 2, turn[1] :: 2] = True
    moves, to = (
        each.repeat(side, 0).repeat(side, 1) for each in (moves & mine, of_drawn <= of_below)
    )
    return np.where(moves, to, cells)


def _sides(cells: np.ndarray, side: int, beyond: int) -> Iterator[np.ndarray]:
    """Yield the cells along the four sides of each square, inside it or one cell beyond it.

    Each array has the shape (squares down, squares along, side).
    """
    framed = np.pad(cells, 1)
    for turned in (framed, framed.T):
        down, along = (turned.shape[0] - 2) // side, (turned.shape[1] - 2) // side
        for first in (1 - beyond, side + beyond):
            lines = turned[first::side][:down, 1:-1].reshape(down, along, side)
            yield lines if turned is framed else lines.swapaxes(0, 1)


def _inner_edges(cells: np.ndarray, inside: np.ndarray, side: int) -> np.ndarray:
    """Count, for each cell, the edges to the cells below and right of it in the same square."""
    edges = np.zeros(cells.shape, np.int64)
    below = (cells[1:] != cells[:-1]) & inside[1:] & inside[:-1]
    right = (cells[:, 1:] != cells[:, :-1]) & inside[:, 1:] & inside[:, :-1]
    below[side - 1 :: side] = False
    right[:, side - 1 :: side] = False
    edges[:-1] += below
    edges[:, :-1] += right
    return edges


def _square_sums(values: np.ndarray, side: int) -> np.ndarray:
    rows, columns = values.shape
    return values.reshape(rows // side, side, columns // side, side).sum(axis=(1, 3))
