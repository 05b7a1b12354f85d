"""Draw the error of a decoded picture, alone or beside the original and the segmentation tree."""

import math

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from mmpcodec.analysis.drawings.trees import draw_tree, enlarge
from mmpcodec.samples import Samples
from mmpcodec.trace import Edges

ERROR_GAIN = 4
PANEL_SIZE = 512
CAPTION_SIZE = 20
MARGIN = 12


def draw_error(
    original: Samples, decoded: Samples, *, gain: float = ERROR_GAIN
) -> NDArray[np.uint8]:
    """Draw the error of a decoded picture: 128 + gain * (decoded - original), clipped to 0..255.

    Parameters
    ----------
    original, decoded : arrays of one shape, (H, W) or (H, W, 3), of uint8 or uint16
    gain : float
        Levels of the drawing for one level of difference.

    Returns
    -------
    uint8 array of the same shape
        128 where the samples are equal, larger where the decoded picture is brighter.
    """
    difference = decoded.astype(np.float64) - original
    return np.clip(np.rint(128 + gain * difference), 0, 255).astype(np.uint8)


def side_by_side(
    original: Samples,
    decoded: Samples,
    edges: Edges,
    *,
    zoom: int | None = None,
    gain: float = ERROR_GAIN,
) -> NDArray[np.uint8]:
    """Draw four panels with captions: original, decoded picture, segmentation tree, error.

    Parameters
    ----------
    original, decoded : (H, W) uint8 arrays
    edges : two (H', W') bool arrays
        See ``trees.draw_tree``.
    zoom : int or None
        Enlargement of each panel. None takes 2, or more if a panel would have fewer than 512
        pixels on its longer side.
    gain : float
        See ``draw_error``.

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
