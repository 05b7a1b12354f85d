"""mmp files, by the codec."""

from mmpcodec.errors import MmpError, PictureError
from mmpcodec.params import DecodeLimits
from mmpcodec.picture import Picture

MAGICS = (b"\x89MMP",)


def read(data: bytes, name: str, limits: DecodeLimits) -> Picture:
    """The picture in a whole file.

    Raises
    ------
    PictureError
        When it is damaged or too large.
    """
    import mmpcodec

    try:
        found = mmpcodec.inspect(data, decode=True, limits=limits)
    except MmpError as error:
        raise PictureError(f"{name}: {error}") from error
    assert found.samples is not None
    return Picture(found.samples, found.header.depth, found.header.metadata)
