"""Samples of random pictures: waves, noise and flat rectangles."""

import numpy as np

from parts.choices import Choices

DEPTHS = (8, 8, 8, 1, 4, 10, 12, 16)
LONG = ((1, 3000), (3000, 1), (5, 2000))
"""Heights and widths of some pictures, whatever the most pixels of a side are."""


def picture(choices: Choices, most: int, long: bool = True) -> tuple[np.ndarray, int]:
    """Return the samples of a picture, and their depth.

    Parameters
    ----------
    choices : Choices
    most : int
        Most rows and columns.
    long : bool
        Whether some pictures have the sides ``LONG``.
    """
    height, width = choices.randint(1, most), choices.randint(1, most)
    if long and choices.once_in(10):
        height, width = choices.choice(LONG)
    planes = choices.choice((1, 1, 2, 3, 3, 4))
    depth = choices.choice(DEPTHS)
    shape = (height, width, planes) if planes > 1 else (height, width)
    random = np.random.default_rng(choices.getrandbits(64))
    top = (1 << depth) - 1
    rows, columns = np.ogrid[:height, :width]
    slope = rows * choices.uniform(-3, 3) + columns * choices.uniform(-3, 3)
    waves = np.sin(slope / choices.uniform(1, 60)) * top * choices.choice((0, 0.1, 0.5))
    plain = waves.reshape(height, width, *(1,) * (planes > 1)) + choices.uniform(0, top)
    noise = random.normal(0, choices.choice((0, 0, 0.01, 0.1, 1)) * top, shape)
    samples = np.clip(plain + noise, 0, top)
    for _ in range(choices.choice((0, 0, 3, 20))):  # flat rectangles, as on screens
        row, column = choices.randrange(height), choices.randrange(width)
        samples[row : row + choices.side(), column : column + choices.side()] = random.integers(
            0, top + 1
        )
    return samples.astype(np.uint8 if depth <= 8 else np.uint16), depth
