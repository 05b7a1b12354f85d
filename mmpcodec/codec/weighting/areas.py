"""The areas of a picture from which its quality and its range are predicted."""

import numpy as np

from mmpcodec.codec.weighting.masking import AREA

MOST_AREAS = 256
"""Most areas of a picture that are tried; more hardly change the prediction."""
SPREAD_BITS = 16
SPREAD = 40503
"""The golden ratio less 1, in 1/65536: its multiples are spread evenly over the areas."""


def areas_in(height: int, width: int) -> list[tuple[slice, slice]]:
    """Return rows and columns of the areas of a picture that are tried, in raster order."""
    rows, columns = -(-height // AREA), -(-width // AREA)
    numbers = np.arange(rows * columns)
    if len(numbers) > MOST_AREAS:
        spread = np.arange(MOST_AREAS) * SPREAD % (1 << SPREAD_BITS)
        numbers = np.unique(spread * len(numbers) >> SPREAD_BITS)
    places = (divmod(number, columns) for number in numbers.tolist())
    return [
        (
            slice(row * AREA, min((row + 1) * AREA, height)),
            slice(column * AREA, min((column + 1) * AREA, width)),
        )
        for row, column in places
    ]
