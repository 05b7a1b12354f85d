"""The samples of a picture file, or of all its pictures."""

from typing import Literal

from mmpcodec.limits import DecodeLimits
from mmpcodec.pictures.books.stacks import stack_of
from mmpcodec.pictures.reading import Source, read
from mmpcodec.samples import Samples


def imread(
    source: Source,
    *,
    limits: DecodeLimits | None = None,
    page: int | Literal["all"] | None = None,
    strict: bool = False,
    dpi: int | None = None,
) -> Samples:
    """Read the samples of a picture file of any supported format, mmp included.

    ``pictures.read`` takes the same sources and also gives depth and metadata.

    Parameters
    ----------
    source : path, bytes-like or binary stream
        The first bytes tell the format, whatever the name. A stream is read from its position to
        its end. Of an mmp file at a URL only the picture is read; see ``pictures.read``.
    limits : DecodeLimits or None
        Largest picture to accept; None for the default limits.
    page : int, "all" or None
        Number of the picture, from 1; None takes the only one. "all" reads all pages, frames or
        slices of a file, which must have one size, form and depth; ``mmpcodec.open`` gives others
        one by one.
    strict, dpi
        As for ``pictures.read``.

    Returns
    -------
    (H, W) or (H, W, C) array; (N, H, W) or (N, H, W, C) with "all"
        uint8 up to 8 bits per sample, else uint16. C is 2 for gray with alpha, 3 for RGB, 4 for RGB
        with alpha. An orientation in EXIF is not applied.

    Raises
    ------
    PictureError, ParameterError, MissingExtra
        As ``pictures.read`` raises them, and with "all" for the first picture that differs.

    Examples
    --------
    >>> import numpy as np, mmpcodec
    >>> data = mmpcodec.imwrite(None, np.eye(3, dtype=bool), "png")
    >>> mmpcodec.imread(data).tolist()
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    >>> mmpcodec.imread(data, page="all").shape
    (1, 3, 3)
    """
    if page == "all":
        return stack_of(source, limits or DecodeLimits(), strict=strict, dpi=dpi)
    return read(source, limits=limits, page=page, strict=strict, dpi=dpi).samples
