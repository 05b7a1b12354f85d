"""How much errors count in each cell of 8x8 samples, beside the other cells of its fragment.

*Encoder only*. A step is that of a whole fragment, but errors are seen more in its smooth cells
than beside an edge. Weights apply where a quantisation matrix measures errors by frequencies. The
arithmetic is in integers, so that every machine writes equal bytes.
"""

import numpy as np

from mmpcodec.reference.blocks.partition import BlockPlace

CELL = 8
"""Height and width of a cell in samples."""
WEIGHT_BITS = 4
ONE = 1 << WEIGHT_BITS
"""The weight of a cell that counts as much as its fragment."""
MOST_WEIGHT = 4 * ONE


def weight_in(cells: np.ndarray | None, place: BlockPlace) -> int:
    """Return the weight of a block: the mean of the cells that it touches, rounded down.

    Parameters
    ----------
    cells : (ceil(H / 8), ceil(W / 8)) uint8 array or None
        In 1/16, from 4 to 64; None if all are 16.
    place : BlockPlace
        Inside the padded plane.

    Examples
    --------
    >>> import numpy as np
    >>> from mmpcodec.reference.blocks.partition import BlockPlace
    >>> from mmpcodec.reference.blocks.search.cell_weights import weight_in
    >>> cells = np.array([[16, 24], [17, 10]], np.uint8)
    >>> [weight_in(cells, BlockPlace(*each)) for each in ((4, 0, 2, 2), (0, 0, 2, 4), (0, 0, 4, 4))]
    [16, 20, 16]
    """
    if cells is None:
        return ONE
    rows = slice(place.row // CELL, (place.row + place.height - 1) // CELL + 1)
    columns = slice(place.column // CELL, (place.column + place.width - 1) // CELL + 1)
    touched = cells[rows, columns]
    return int(touched.sum()) // touched.size


def weighed(cost: int, weight: int) -> int:
    """Return the cost of an error times a weight, rounded down."""
    return (cost * weight) >> WEIGHT_BITS
