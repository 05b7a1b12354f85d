"""Drawings of a coded picture: its segmentation tree, its error, and both beside the original.

All take and give arrays. Edges are those of ``mmpcodec.inspect(data, decode=True).trace``.
"""

import math

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from mmpcodec.reference.trees.scales import FRAGMENT_SIZE

Edges = tuple[np.ndarray, np.ndarray]

LEAF_LINE = (0, 144, 255)
FRAGMENT_LINE = (255, 48, 0)
LINE_OPACITY = 0.8
ERROR_GAIN = 4
PANEL_SIZE = 512
CAPTION_SIZE = 20
MARGIN = 12


def enlarge(samples: np.ndarray, zoom: int) -> np.ndarray:
    """Each sample as a square of ``zoom`` x ``zoom``: (H, W, ...) to (zoom H, zoom W, ...)."""
    return samples.repeat(zoom, axis=0).repeat(zoom, axis=1)


def draw_tree(
    samples: np.ndarray, edges: Edges, *, fragment_size: int = FRAGMENT_SIZE, zoom: int = 3
) -> np.ndarray:
    """The outlines of leaves or blocks drawn over a picture, those of the fragments in red.

    Parameters
    ----------
    samples : (H, W) uint8 array
    edges : two (H', W') bool arrays
        First rows and first columns, as ``Trace.edges`` gives them; H' >= H, W' >= W.
    fragment_size : int
    zoom : int
        The picture is enlarged so many times first: lines are one pixel wide, and with 3 they
        leave four ninths of a picture of single-sample leaves to see.

    Returns
    -------
    (zoom H + 1, zoom W + 1, 3) uint8 array
        The last row and column close the outlines.
    """
    height, width = samples.shape
    top, left = (edge[:height, :width] for edge in edges)
    drawn = np.pad(enlarge(samples, zoom), (0, 1), mode="edge")[..., None].repeat(3, axis=2)
    leaves = np.zeros(drawn.shape[:2], bool)
    leaves[:-1:zoom, :-1] = top.repeat(zoom, axis=1)
    leaves[:-1, :-1:zoom] |= left.repeat(zoom, axis=0)
    fragments = np.zeros_like(leaves)
    fragments[:: zoom * fragment_size] = fragments[-1] = True
    fragments[:, :: zoom * fragment_size] = fragments[:, -1] = True
    _blend(drawn, leaves & ~fragments, LEAF_LINE)
    _blend(drawn, fragments, FRAGMENT_LINE)
    return drawn


def draw_error(
    original: np.ndarray, decoded: np.ndarray, *, gain: float = ERROR_GAIN
) -> np.ndarray:
    """The error as a picture: 128 + gain * (decoded - original), within 0 to 255.

    Parameters
    ----------
    original, decoded : (H, W) uint8 arrays
    gain : float
        Gray levels for one level of difference.

    Returns
    -------
    (H, W) uint8 array
        Middle gray where both agree, brighter where the decoded picture is.
    """
    difference = decoded.astype(np.float64) - original
    return np.clip(np.rint(128 + gain * difference), 0, 255).astype(np.uint8)


def side_by_side(
    original: np.ndarray,
    decoded: np.ndarray,
    edges: Edges,
    *,
    zoom: int | None = None,
    gain: float = ERROR_GAIN,
) -> np.ndarray:
    """Four panels with captions: original, decoded, segmentation tree, error.

    Parameters
    ----------
    original, decoded : (H, W) uint8 arrays
    edges : two (H', W') bool arrays
        As for ``draw_tree``, of a picture that dictionaries coded.
    zoom : int or None
        Enlargement of each panel; None takes at least 2, and enough to read the captions.
    gain : float
        As for ``draw_error``.

    Returns
    -------
    (rows, columns, 3) uint8 array
        Two rows of two panels.
    """
    zoom = zoom or max(2, -(-PANEL_SIZE // max(original.shape)))
    leaves = np.logical_and(*edges).sum()
    error = draw_error(original, decoded, gain=gain)
    panels = (
        ("Original", enlarge(original, zoom)),
        ("Decoded", enlarge(decoded, zoom)),
        (f"Segmentation tree: {leaves} leaves", draw_tree(decoded, edges, zoom=zoom)),
        (
            f"Error times {gain:g}, gray is none",
            enlarge(error, zoom),
        ),
    )
    font = ImageFont.load_default(CAPTION_SIZE)
    captions = [math.ceil(font.getlength(caption)) for caption, _ in panels]
    cell_width = max(*captions, *(panel.shape[1] for _, panel in panels)) + MARGIN
    cell_height = max(panel.shape[0] for _, panel in panels) + 2 * MARGIN + CAPTION_SIZE
    page = Image.new("RGB", (2 * cell_width + MARGIN, 2 * cell_height + MARGIN), "white")
    draw = ImageDraw.Draw(page)
    for number, (caption, panel) in enumerate(panels):
        x = MARGIN + number % 2 * cell_width
        y = MARGIN + number // 2 * cell_height
        draw.text((x, y), caption, fill="black", font=font)
        page.paste(Image.fromarray(panel), (x, y + CAPTION_SIZE + MARGIN))
    return np.asarray(page)


def _blend(drawn: np.ndarray, lines: np.ndarray, colour: tuple[int, int, int]) -> None:
    """Draw lines of a colour into an RGB picture, which shines through a little."""
    below = drawn[lines]
    drawn[lines] = np.rint(below + LINE_OPACITY * (np.array(colour) - below.astype(float)))
