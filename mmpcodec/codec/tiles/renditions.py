"""The levels of a picture in its file: renditions of half the size, a quarter and so on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from typing import Any, BinaryIO

from mmpcodec.codec.encoding import Encoding
from mmpcodec.codec.rate_control.targets import Target, request_of
from mmpcodec.codec.tiles.reduction import ReducedReader, factors_of
from mmpcodec.codec.tiles.streaming import encode_large
from mmpcodec.errors import ParameterError
from mmpcodec.format import container
from mmpcodec.format.collection import Role
from mmpcodec.format.collection_writer import CollectionWriter
from mmpcodec.format.container import Header
from mmpcodec.metadata import CALIBRATION, Metadata
from mmpcodec.opening.contents import PictureBytes, is_collection, read_contents
from mmpcodec.opening.header import read_header
from mmpcodec.params import EncodeParams
from mmpcodec.quality import DEFAULT_QUALITY, usual_lambda
from mmpcodec.samples import Samples

MOST_SHARE = 0.35
"""Most bytes of lossy levels, in parts of those of the picture, if a larger lambda reaches that."""
MOST_TIMES = 4
"""By how much the lambda of levels may be above that of the picture to reach it."""
RATE_POWER = 2.5
"""By which power of the share of bytes lambda rises; measured on photographs and pages."""


def check_target_with_levels(target: Target | None) -> None:
    """Check that no limit of bytes is given for a file with levels.

    Raises
    ------
    ParameterError
        If there is one.
    """
    if target is not None and target.name in ("size", "bpp"):
        raise ParameterError(
            f"{target}: limits the bytes of a file, which levels add to; give a quality, a lambda "
            "or another target"
        )


@dataclass(frozen=True)
class LevelFiles:
    """The levels of a picture, each a file of one picture.

    Parameters
    ----------
    factors : tuple of int
        By which factor each level is smaller than the picture, the largest level first.
    files : tuple of bytes
    lam : float
        Lambda of their coding; 0 if they are lossless.
    max_error : int
        Largest error of a sample that the coding allows in place of lambda, or 0.
    lossless : bool
        Whether the picture is lossless.
    """

    factors: tuple[int, ...]
    files: tuple[bytes, ...]
    lam: float
    max_error: int
    lossless: bool

    @property
    def size(self) -> int:
        """Bytes of all levels."""
        return sum(map(len, self.files))

    @property
    def pairs(self) -> list[tuple[int, bytes]]:
        """Factor and file of each level."""
        return list(zip(self.factors, self.files, strict=True))

    def text(self, picture_bytes: int) -> str:
        """Return the levels in words, without loss or with how much."""
        last = f" to 1/{self.factors[-1]}" if len(self.factors) > 1 else ""
        share = f"levels 1/2{last} +{100 * self.size / picture_bytes:.1f} % bytes"
        if self.max_error:
            return f"{share}, each of maximal error {self.max_error}"
        if not self.lam:
            return f"{share}, lossless"
        return f"{share}, {'lossy, ' if self.lossless else ''}lambda {self.lam:.4g}"


def encode_levels(
    read: Callable[[slice, slice], Samples],
    header: Header,
    params: EncodeParams,
    lam: float,
    *,
    measured: bool = False,
    tile_size: int | None = None,
    **run: Any,
) -> LevelFiles | None:
    """Encode the levels of a picture from its source, in bounded memory.

    Levels of a picture with loss have its lambda, or a larger one, up to ``MOST_TIMES`` of it, so
    that they take at most ``MOST_SHARE`` of its bytes. Levels of a lossless picture have the lambda
    of the default quality; those of measurements are lossless, too, and those of pictures of one
    bit, whose means are few and far apart. With a maximal error, levels
    have the same one. They have no importance of pixels.

    Parameters
    ----------
    read : callable
        ``read(rows, columns)`` reads a part of the source.
    header : Header
        That of the picture.
    params : EncodeParams
        Those of the picture.
    lam : float
        That of its file.
    measured : bool
        Whether the samples are measurements; calibrated ones always are.
    tile_size, **run
        The others are ``backend``, ``device``, ``threads`` and ``progress``; see ``EncodeOptions``.

    Returns
    -------
    LevelFiles or None
        None if the picture is so small that it has no levels.

    Raises
    ------
    MmpError
        As ``encode`` and ``read`` raise them.
    """
    run["tile_size"] = tile_size
    factors = factors_of(header.height, header.width)
    if not factors:
        return None
    shape = (header.height, header.width, header.planes)[: 2 + (header.planes > 1)]
    source = read, shape, header.depth, shown_metadata(header.metadata)
    readers = [ReducedReader(*source, factor) for factor in factors]
    lossless = not lam and not params.max_error
    if header.depth == 1:
        own = EncodeParams.from_options(0, preset="lossless", effort=params.effort)
    else:
        own = _params(params, lam, lossless, measured or header.metadata.calibration is not None)
    files = _files(readers, own, run)
    most, first = MOST_SHARE * header.file_bytes, own.lam
    times = 1
    while own.lam and not own.max_error and sum(map(len, files)) > most and times < MOST_TIMES:
        over = sum(map(len, files)) / most
        times = 2 * times if over**RATE_POWER < 2 else MOST_TIMES
        own = replace(own, lam=first * times)
        files = _files(readers, own, run)
    return LevelFiles(tuple(factors), tuple(files), own.lam, own.max_error, lossless)


def shown_metadata(metadata: Metadata) -> Metadata:
    """Return the metadata that levels have: those that say how samples are shown, or what they are.

    A collection holds profile, EXIF and XMP once for a picture and its levels.
    """
    return Metadata(
        metadata.icc,
        metadata.exif,
        metadata.xmp,
        metadata.resolution,
        tuple(pair for pair in metadata.text if pair[0] == CALIBRATION),
        metadata.white,
        metadata.range,
        metadata.colours,
    )


def _params(params: EncodeParams, lam: float, lossless: bool, measured: bool) -> EncodeParams:
    """Return the parameters of levels, with a lambda instead of a quality."""
    if params.max_error:
        return params
    if not lossless:
        return replace(params, lam=lam, quality=None, spared="")
    if measured:
        return params.at(0)
    usual, _ = request_of(quality=DEFAULT_QUALITY, effort=params.effort)
    return replace(usual, lam=usual_lambda(DEFAULT_QUALITY), quality=None, spared="")


def _files(readers: list[ReducedReader], params: EncodeParams, run: dict[str, Any]) -> list[bytes]:
    files = []
    for reader in readers:
        stream = BytesIO()
        encode_large(reader, stream, params, **run)
        files.append(stream.getvalue())
    return files


def with_levels(encoding: Encoding, params: EncodeParams, **run: Any) -> bytes:
    """Return a file of a picture that was encoded and its levels; see ``encode_levels``."""
    samples = encoding.source
    found = encode_levels(
        lambda rows, columns: samples[rows, columns], encoding.header, params, encoding.lam, **run
    )
    if found is None:
        return encoding.data
    return joined(encoding.data, found.files)


def joined(picture: bytes, levels: Sequence[bytes]) -> bytes:
    """Return a file of a picture and its levels, each of which is a file of one picture."""
    stream = BytesIO()
    write_joined(stream, picture, levels)
    return stream.getvalue()


def write_joined(
    stream: BinaryIO, picture: bytes | memoryview, levels: Sequence[bytes]
) -> CollectionWriter:
    """Write a file of a picture and its levels; see ``joined``."""
    writer = CollectionWriter(stream)
    writer.add(picture)
    for file in levels:
        writer.add(file, Role.LEVEL, (0,))
    writer.close()
    return writer


def add_with_levels(
    writer: CollectionWriter, data: bytes, role: Role = Role.PAGE, facts: Sequence[int] = ()
) -> None:
    """Add a picture to a collection, and its levels behind it.

    Parameters
    ----------
    writer : CollectionWriter
    data : bytes
        A file of one picture, or one that ``joined`` made.
    role, facts
        Those of the picture; see ``CollectionWriter.add``.

    Raises
    ------
    FormatError, ParameterError
        See ``CollectionWriter.add``.
    """
    view, number = memoryview(data), len(writer)
    if not is_collection(view):
        writer.add(data, role, facts)
        return
    contents = read_contents(view)
    for entry in contents.entries:
        own = PictureBytes(view, contents, entry)
        first = read_header(own)
        header = container.write_header(own.completed(first))
        file = b"".join([header, own[first.size : entry.size]])
        if entry.of is None:
            writer.add(file, role, facts)
        else:
            writer.add(file, entry.role, (number,))
