"""Pictures and parameters of the vectors of version 2 of the format, a draft."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from cases import shipped

from mmpcodec import EncodeParams
from mmpcodec.tools import LATER_BLOCK_TOOLS


def draft() -> Iterator[tuple[str, np.ndarray, EncodeParams, dict[str, Any]]]:
    """Yield name, picture, parameters and further options of each case."""
    photo = partial(EncodeParams.from_options, preset="photo", effort=1, version=2)
    coat = shipped("camera.pgm")[200:296, 60:172]
    i, j = np.indices((130, 140))
    slope = (40 + (3 * i + 2 * j) // 5).astype(np.uint8)
    step = np.where(i > j, slope, 90).astype(np.uint8)

    all_off: dict[str, Any] = dict.fromkeys(LATER_BLOCK_TOOLS, False)
    for own in LATER_BLOCK_TOOLS:
        yield own.replace("_", "-"), coat[:67, :85], photo(24, **{**all_off, own: True}), {}
    for lam in (0.5, 6, 200):
        yield f"dependent-{lam}", coat[:40, :48], photo(lam, **{**all_off, "dependent": True}), {}
    yield "dependent-step-1", coat[:18, :20], photo(1, **{**all_off, "dependent": True}, step=1), {}
    yield "dependent-step-65535", step, photo(900, dependent=True, step=65535), {}
    for lam in (4, 16, 48, 432, 1400):
        yield f"trained-start-{lam}", coat[:40, :48], photo(lam), {}
    yield "pdpc-large-blocks", step, photo(900), {}
    yield "pdpc-one-row", coat[:1], photo(8), {}
    deep = (coat[:53, :66].astype(np.uint16) << 4) + (i[:53, :66] % 16).astype(np.uint16)
    yield "pdpc-depth-12", deep, photo(30), {"depth": 12}
    colours = np.stack([coat, coat[::-1], 255 - coat], axis=2)[:40, :50]
    yield "pdpc-rgb", colours, photo(40), {}
    both = np.hstack([shipped("terminal.pgm")[8:53, 8:104], coat[:45, :24]])
    mixed = EncodeParams.from_options(48, preset="mixed", effort=1, version=2)
    yield "pdpc-mixed", both, mixed, {}
    yield "without-tools", coat[:40, :48], photo(24, **all_off), {}
    exact = EncodeParams.from_options(0, preset="exact", version=2)
    yield "exact", coat[:24, :30], exact, {}
    yield "tiles", coat, photo(60), {"tile_size": 64}
