"""Pictures of mmp files at a fraction of their size, for ``mmp decode --scale``."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from mmpcodec.limits import DecodeLimits
from mmpcodec.runtime.files import LazyBytes, Source

if TYPE_CHECKING:
    from mmpcodec.picture import Picture
    from mmpcodec.runtime.progress import Progress


class ScaledPicture(NamedTuple):
    """A picture at a fraction of its size, and what it was made of.

    Parameters
    ----------
    picture : Picture
    level : int
        Factor of the level that was decoded; 1 is the picture itself.
    """

    picture: "Picture"
    level: int


def scaled(
    data: bytes | Source,
    page: int | None,
    factor: int,
    region: Sequence[int] | None,
    limits: DecodeLimits,
    strip: Sequence[str],
    progress: "Progress | None" = None,
    note: Callable[[str], Any] | None = None,
    **how: Any,
) -> ScaledPicture:
    """Decode a picture of a file at 1/factor of its size, without some kinds of metadata.

    Parameters
    ----------
    data, page, region, limits, progress
        See ``mmpcodec.decode_scaled``.
    factor : int
    strip : sequence of str
        Kinds of metadata to leave out.
    note : callable or None
        Gets a remark on metadata that are those of the full size alone.
    **how
        ``backend`` and ``threads``.

    Raises
    ------
    MmpError
        As ``mmpcodec.decode_scaled`` raises them.
    """
    from mmpcodec.codec.regions import ScaledDecoder
    from mmpcodec.opening.contents import picture_of
    from mmpcodec.pictures.side.facts import stripped

    view = data if isinstance(data, LazyBytes) else memoryview(data)
    decoder = ScaledDecoder(picture_of(view, page, limits), limits, **how)
    if note is not None and stripped(decoder.header.metadata, *strip).dicom:
        note("the attributes of DICOM are left out, as they are those of the full size")
    level = decoder.level_for(decoder.area_of(region), factor)
    found = decoder.picture(factor, region, progress)
    return ScaledPicture(replace(found, metadata=stripped(found.metadata, *strip)), level)


def scale_text(factor: int | None, level: int | None) -> str:
    """Return what is said of a scale: ", at 1/8 of the size, from level 1/4"."""
    if factor is None:
        return ""
    source = f", from level 1/{level}" if level is not None and level > 1 else ""
    return f", at 1/{factor} of the size{source}"
