"""Pictures of mmp files at a fraction of their size, for ``mmp decode --scale``."""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from mmpcodec.errors import CorruptStream, FormatError, TruncatedStream
from mmpcodec.limits import DecodeLimits
from mmpcodec.runtime.files import LazyBytes, Source

if TYPE_CHECKING:
    from mmpcodec.codec.decoder import BadTile
    from mmpcodec.format.container import Header
    from mmpcodec.picture import Picture
    from mmpcodec.runtime.progress import Progress


class ScaledPicture(NamedTuple):
    """A picture at a fraction of its size, and what it was made of.

    Parameters
    ----------
    picture : Picture
    level : int
        Factor of the level that was decoded; 1 is the picture itself.
    header : Header
        That of the picture at its full size.
    bad_tiles : tuple of BadTile
        Of the picture, if it was decoded; they are black.
    faults : tuple of FormatError
        Damage of the header.
    passed_over : tuple of FormatError
        Errors of the levels that do not decode.
    """

    picture: "Picture"
    level: int
    header: "Header"
    bad_tiles: "tuple[BadTile, ...]" = ()
    faults: tuple[FormatError, ...] = ()
    passed_over: tuple[FormatError, ...] = ()

    @property
    def damage(self) -> list[str]:
        """A line for each damaged part that was passed over."""
        from mmpcodec.cli.decoding.damage import damage

        levels = [f"{error}; a larger one is taken" for error in self.passed_over]
        return [*levels, *damage(self.header, self.bad_tiles, self.faults)]


def scaled(
    data: bytes | Source,
    page: int | None,
    factor: int,
    region: Sequence[int] | None,
    limits: DecodeLimits,
    strip: Sequence[str],
    progress: "Progress | None" = None,
    note: Callable[[str], Any] | None = None,
    *,
    allow_partial: bool = False,
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
    allow_partial : bool
        Whether to pass over damage: of a level by the next larger one, of the picture as
        ``mmpcodec.inspect`` does. The whole picture must then lie within the limits.
    **how
        ``backend`` and ``threads``.

    Raises
    ------
    MmpError
        As ``mmpcodec.decode_scaled`` raises them.
    """
    from mmpcodec.pictures.side.facts import stripped

    view = data if isinstance(data, LazyBytes) else memoryview(data)
    whole = view, page, factor, region, limits, progress
    found = (_partial if allow_partial else _intact)(*whole, **how)
    if note is not None and stripped(found.header.metadata, *strip).dicom:
        note("the attributes of DICOM are left out, as they are those of the full size")
    metadata = stripped(found.picture.metadata, *strip)
    return found._replace(picture=replace(found.picture, metadata=metadata))


def _intact(
    view: Source,
    page: int | None,
    factor: int,
    region: Sequence[int] | None,
    limits: DecodeLimits,
    progress: "Progress | None",
    **how: Any,
) -> ScaledPicture:
    from mmpcodec.codec.regions import ScaledDecoder
    from mmpcodec.opening.contents import picture_of

    decoder = ScaledDecoder(picture_of(view, page, limits), limits, **how)
    level = decoder.level_for(decoder.area_of(region), factor)
    return ScaledPicture(decoder.picture(factor, region, progress), level, decoder.header)


def _partial(
    view: Source,
    page: int | None,
    factor: int,
    region: Sequence[int] | None,
    limits: DecodeLimits,
    progress: "Progress | None",
    **how: Any,
) -> ScaledPicture:
    """Decode from the smallest level that is whole, or from what is left of the picture."""
    import mmpcodec
    from mmpcodec.codec.regions import ScaledDecoder
    from mmpcodec.codec.tiles.reduction import reduced, reduced_depth, reduced_metadata
    from mmpcodec.opening.contents import picture_of
    from mmpcodec.picture import Picture

    of_file: list[FormatError] = []
    passed_over: list[FormatError] = []
    with contextlib.suppress(CorruptStream, TruncatedStream):  # the header or the picture
        decoder = ScaledDecoder(picture_of(view, page, limits, of_file), limits, **how)
        area = decoder.area_of(region)
        while True:
            level = decoder.level_for(area, factor)
            try:
                picture = decoder.picture(factor, region, progress)
            except (CorruptStream, TruncatedStream) as error:
                if level == 1:
                    raise
                passed_over.append(error)
                decoder.factors = tuple(each for each in decoder.factors if each != level)
                continue
            faults = tuple(of_file)
            return ScaledPicture(picture, level, decoder.header, (), faults, tuple(passed_over))
    rest: Any = {"page": page, "region": region, "limits": limits, "progress": progress, **how}
    found = mmpcodec.inspect(view, decode=True, allow_partial=True, **rest)
    header, samples = found.header, found.samples
    assert samples is not None
    depth = reduced_depth(header.depth, header.metadata)
    metadata = reduced_metadata(header.metadata, header.depth, factor)
    picture = Picture(reduced(samples, factor, header.depth, depth), depth, metadata)
    return ScaledPicture(picture, 1, header, found.bad_tiles, found.faults, tuple(passed_over))


def scale_text(factor: int | None, level: int | None) -> str:
    """Return what is said of a scale: ", at 1/8 of the size, from level 1/4"."""
    if factor is None:
        return ""
    source = f", from level 1/{level}" if level is not None and level > 1 else ""
    return f", at 1/{factor} of the size{source}"
