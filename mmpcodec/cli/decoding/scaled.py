"""Pictures of mmp files at a fraction of their size, for ``mmp decode --scale``."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from mmpcodec.runtime.files import LazyBytes, Source

if TYPE_CHECKING:
    from mmpcodec.cli.decoding.pages import Decoding
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
    how: "Decoding",
    progress: "Progress | None" = None,
) -> ScaledPicture:
    """Decode a picture of a file at the scale of a command.

    Raises
    ------
    MmpError
        As ``mmpcodec.decode_scaled`` raises them.
    """
    from mmpcodec.codec.regions import ScaledDecoder
    from mmpcodec.opening.contents import picture_of
    from mmpcodec.pictures.side.facts import stripped

    view = data if isinstance(data, LazyBytes) else memoryview(data)
    options: Any = {"backend": how.backend, "threads": how.threads}
    source = picture_of(view, page, how.limits.max_pictures)
    decoder = ScaledDecoder(source, how.limits, **options)
    level = decoder.level_for(decoder.area_of(how.area), how.factor)
    found = decoder.picture(how.factor, how.area, progress)
    return ScaledPicture(replace(found, metadata=stripped(found.metadata, *how.strip)), level)


def scale_text(factor: int | None, level: int | None) -> str:
    """Return what is said of a scale: ", at 1/8 of the size, from level 1/4"."""
    if factor is None:
        return ""
    source = f", from level 1/{level}" if level is not None and level > 1 else ""
    return f", at 1/{factor} of the size{source}"
