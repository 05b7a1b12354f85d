"""A picture that ``mmp encode`` has read."""

from dataclasses import dataclass

import numpy as np

from mmpcodec.picture import Picture


@dataclass(frozen=True, eq=False)
class InputPicture(Picture):
    """A picture that was read, and what its file says besides.

    Parameters
    ----------
    samples, depth, metadata, source
        See ``Picture``.
    input_bytes : int
        Bytes of the file.
    measured : bool
        Whether its format is one of measurements.
    roi : (H, W) array or None
        Importance of the pixels.
    """

    input_bytes: int = 0
    measured: bool = False
    roi: np.ndarray | None = None
