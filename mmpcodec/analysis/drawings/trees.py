"""Draw the segmentation tree of a coded picture.

The edges of the leaves come from ``mmpcodec.inspect(data, decode=True).trace``.
"""

import numpy as np
from numpy.typing import NDArray

from mmpcodec.reference.trees.scales import FRAGMENT_SIZE
from mmpcodec.samples import Samples
from mmpcodec.trace import Edges

LEAF_LINE = (0, 144, 255)
FRAGMENT_LINE = (255, 48, 0)
LINE_OPACITY = 0.8


def enlarge(samples: np.ndarray, zoom: int) -> np.ndarray:
    """Repeat each sample in a ``zoom`` x ``zoom`` square: (H, W, ...) to (zoom H, zoom W, ...)."""
    return samples.repeat(zoom, axis=0).repeat(zoom, axis=1)


def draw_tree(
    samples: Samples, edges: Edges, *, fragment_size: int = FRAGMENT_SIZE, zoom: int = 3
) -> NDArray[np.uint8]:
    """Draw the outlines of leaves or blocks over a picture, and outlines of fragments in red.

    Parameters
    ----------
    samples : (H, W) uint8 array
    edges : two (H', W') bool arrays
        Whether a sample is in the first row, and in the first column, of a leaf or block, as
        ``Trace.edges`` gives it; H' >= H, W' >= W.
    fragment_size : int
        Side of a fragment in samples.
    zoom : int
        Enlargement of the picture. Lines are one pixel wide: with 3, leaves of a single sample
        still show four ninths of the picture.

    Returns
    -------
    (zoom H + 1, zoom W + 1, 3) uint8 array
        The last row and column close the outlines.
    """
    height, width = samples.shape
    top, left = (edge[:height, :width] for edge in edges)
    gray = np.pad(enlarge(samples, zoom), (0, 1), mode="edge")
    drawn = np.asarray(gray[..., None].repeat(3, axis=2), np.uint8)
    leaves = np.zeros(drawn.shape[:2], bool)
    leaves[:-1:zoom, :-1] = top.repeat(zoom, axis=1)
    leaves[:-1, :-1:zoom] |= left.repeat(zoom, axis=0)
    fragments = np.zeros_like(leaves)
    fragments[:: zoom * fragment_size] = fragments[-1] = True
    fragments[:, :: zoom * fragment_size] = fragments[:, -1] = True
    _blend(drawn, leaves & ~fragments, LEAF_LINE)
    _blend(drawn, fragments, FRAGMENT_LINE)
    return drawn


def _blend(
    drawn: NDArray[np.uint8], lines: NDArray[np.bool_], colour: tuple[int, int, int]
) -> None:
    """Draw lines into an RGB picture, in place, with the opacity ``LINE_OPACITY``."""
    below = drawn[lines]
    drawn[lines] = np.rint(below + LINE_OPACITY * (np.array(colour) - below.astype(float)))
