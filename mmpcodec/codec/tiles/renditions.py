"""The levels of a picture in its file: renditions of half the size, a quarter and so on."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from mmpcodec.codec.encoding import Encoding
from mmpcodec.codec.rate_control.targets import Target, request_of
from mmpcodec.codec.tiles.reduction import ReducedReader, factors_of
from mmpcodec.codec.tiles.streaming import encode_large
from mmpcodec.depth import BYTE
from mmpcodec.errors import ParameterError
from mmpcodec.format import container
from mmpcodec.format.collection import Role
from mmpcodec.format.collection_writer import LEAST_SHARED, CollectionWriter
from mmpcodec.format.container import Header
from mmpcodec.metadata import CALIBRATION, Metadata
from mmpcodec.opening.contents import PictureBytes, is_collection, read_contents
from mmpcodec.opening.header import read_header
from mmpcodec.options import AUTO
from mmpcodec.params import EncodeParams
from mmpcodec.quality import DEFAULT_QUALITY, usual_lambda
from mmpcodec.samples import Samples

MOST_SHARE = 0.35
"""Most bytes that levels add to a file, in parts of those of the picture."""
LEAST_BYTES = 1024
"""Bytes that levels may add to any file, though it be flat and have a hundred bytes itself."""
RECORD_BYTES = 64
"""Bytes of a level besides its file: its record, its part of the index and that of the picture."""
TIMES = (1, 2, 4)
"""By how much the lambda of levels may be above that of the picture, to save bytes."""
RATE_POWER = 2.5
"""By which power of the share of bytes lambda rises; measured on photographs and pages."""
SHADES = (0, 16, 8, 6)
"""The grays that levels of pictures of one bit may have, to save bytes; 0 stands for all."""
MOST_OVER = 3
"""A level of more than this times the bytes that are left does not fit with fewer grays."""


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
    times : int
        By how much lambda of the largest one is above that, to save bytes.
    shades : int
        To how many grays the largest one was rounded, to save bytes; 0 if it was not.
    max_error : int
        Largest error of a sample that the coding allows in place of lambda, or 0.
    lossless : bool
        Whether the picture is lossless.
    left_out : tuple of int
        Factors of the levels that would take more bytes than levels may.
    shared : int
        Bytes of each file that the collection holds once for the picture and its levels.
    """

    factors: tuple[int, ...]
    files: tuple[bytes, ...]
    lam: float
    times: int
    shades: int
    max_error: int
    lossless: bool
    left_out: tuple[int, ...] = ()
    shared: int = 0

    @property
    def size(self) -> int:
        """Bytes of all levels."""
        return sum(len(file) - self.shared for file in self.files)

    @property
    def pairs(self) -> list[tuple[int, bytes]]:
        """Factor and file of each level."""
        return list(zip(self.factors, self.files, strict=True))

    def text(self, picture_bytes: int) -> str:
        """Return the levels in words, without loss or with how much, and those left out."""
        most = f"more than {100 * MOST_SHARE:.0f} % bytes"
        if not self.factors:
            return f"no levels, as the smallest one, 1/{self.left_out[-1]}, would take {most}"
        text = f"{names_of(self.factors)} +{100 * self.size / picture_bytes:.1f} % bytes"
        if self.max_error:
            text += f", maximal error {self.max_error}"
        elif not self.lam:
            text += ", lossless"
            rounded = f" but 1/{self.factors[0]} rounded to {self.shades} grays"
            text += rounded if self.shades else ""
        else:
            text += f", {'lossy, ' if self.lossless else ''}lambda {self.lam:.4g}"
            much = f"{self.times} times as large in 1/{self.factors[0]}"
            text += f" ({much})" if self.times > 1 else ""
        if self.left_out:
            text += f", without {names_of(self.left_out)}, which would take {most}"
        return text


def names_of(factors: Sequence[int]) -> str:
    """Return the names of levels that follow one another.

    Examples
    --------
    >>> from mmpcodec.codec.tiles.renditions import names_of
    >>> names_of([2, 4, 8]), names_of([4])
    ('levels 1/2 to 1/8', 'level 1/4')
    """
    if len(factors) == 1:
        return f"level 1/{factors[0]}"
    return f"levels 1/{factors[0]} to 1/{factors[-1]}"


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

    Levels of a picture with loss have its lambda. Levels of a lossless picture have the lambda of
    the default quality; those of measurements are lossless, too. Those of pictures of one bit are
    lossless grays. With a maximal error, levels have the same one. They have no importance of
    pixels.

    Levels add at most ``MOST_SHARE`` of the bytes of the picture, or ``LEAST_BYTES`` where that is
    more. The smallest levels come first. The first one that does not fit has a lambda of up to four
    times as much, or is rounded to 16 or 8 grays; if it still does not fit, it is left out. Larger
    ones than that are left out, too: the picture itself stands for them.

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
    factors = factors_of(header.height, header.width)
    if not factors:
        return None
    shape = (header.height, header.width, header.planes)[: 2 + (header.planes > 1)]
    metadata = shown_metadata(header.metadata)
    readers = [ReducedReader(read, shape, header.depth, metadata, factor) for factor in factors]
    lossless = not lam and not params.max_error
    if header.depth == 1 and readers[0].depth == BYTE:
        own = EncodeParams.from_options(0, preset="lossless", effort=params.effort)
        run |= {"backend": AUTO, "device": None}  # devices have no lossless samples
        ways = [_Way(own, shades=shades) for shades in SHADES]
    else:
        measured = measured or header.metadata.calibration is not None
        own = _params(params, lam, lossless, measured)
        ways = [_Way(own)]
        if own.lam and not own.max_error:
            ways = [_Way(replace(own, lam=own.lam * times), times) for times in TIMES]
    most = max(MOST_SHARE * header.file_bytes, LEAST_BYTES)
    shared = sum(
        len(each)
        for each in (metadata.icc, metadata.exif, metadata.xmp)
        if len(each) >= LEAST_SHARED
    )
    files, way = _fitting(readers, ways, most, shared, {"tile_size": tile_size, **run})
    held = len(factors) - len(files)
    how = own.lam, way.times, way.shades, own.max_error, lossless
    return LevelFiles(tuple(factors[held:]), tuple(files), *how, tuple(factors[:held]), shared)


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


class _Way(NamedTuple):
    """A way to code levels."""

    params: EncodeParams
    times: int = 1
    shades: int = 0

    def file(self, reader: ReducedReader, run: dict[str, Any]) -> bytes:
        """Return the file of a level."""
        source = RoundedReader(reader, self.shades) if self.shades else reader
        stream = BytesIO()
        encode_large(source, stream, self.params, **run)
        return stream.getvalue()


class RoundedReader:
    """Reads grays of 8 bits, rounded to fewer of them; see ``Reader``.

    Parameters
    ----------
    reader : ReducedReader
    shades : int
        How many are left, evenly from black to white.
    """

    def __init__(self, reader: ReducedReader, shades: int):
        self._reader = reader
        self.shape, self.depth, self.metadata = reader.shape, reader.depth, reader.metadata
        nearest = np.rint(np.arange(256) * ((shades - 1) / 255))
        self._rounded = np.rint(nearest * 255 / (shades - 1)).astype(np.uint8)

    def read(self, rows: slice, columns: slice) -> Samples:
        """Read the samples of a part; see ``Reader.read``."""
        return self._rounded[self._reader.read(rows, columns)]

    def __enter__(self) -> "RoundedReader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Do nothing: what reads the picture stays open."""


def _fitting(
    readers: Sequence[ReducedReader],
    ways: Sequence[_Way],
    most: float,
    shared: int,
    run: dict[str, Any],
) -> tuple[list[bytes], _Way]:
    """Return the files of the smallest levels that fit in ``most`` bytes, and the last way.

    The largest one has this way, the others the first. Larger levels than one that does not fit
    need not be coded. Of each file, ``shared`` bytes do not count.
    """
    files: list[bytes] = []
    reach = MOST_OVER if ways[-1].shades else ways[-1].times ** (1 / RATE_POWER)
    for reader in reversed(readers):
        most += shared - RECORD_BYTES
        file = ways[0].file(reader, run)
        over = len(file) / most if most > 0 else math.inf
        if over <= 1:
            files.insert(0, file)
            most -= len(file)
            continue
        for way in ways[1:] if over <= reach else ():
            if way.times < min(over**RATE_POWER, ways[-1].times):
                continue
            file = way.file(reader, run)
            if len(file) <= most:
                return [file, *files], way
        break
    return files, ways[0]


def with_levels(encoding: Encoding, params: EncodeParams, **run: Any) -> bytes:
    """Return a file of a picture that was encoded and its levels; see ``encode_levels``."""
    samples = encoding.source
    found = encode_levels(
        lambda rows, columns: samples[rows, columns], encoding.header, params, encoding.lam, **run
    )
    return joined(encoding.data, () if found is None else found.files)


def joined(picture: bytes, levels: Sequence[bytes]) -> bytes:
    """Return a file of a picture and its levels, each of which is a file of one picture.

    Without levels it is the file of the picture.
    """
    if not levels:
        return picture
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
    writer: CollectionWriter,
    data: bytes,
    role: Role = Role.PAGE,
    facts: Sequence[int] = (),
    **chained: Any,
) -> None:
    """Add a picture to a collection, and its levels behind it.

    Parameters
    ----------
    writer : CollectionWriter
    data : bytes
        A file of one picture, or one that ``joined`` made.
    role, facts, **chained
        Those of the picture; see ``CollectionWriter.add``.

    Raises
    ------
    FormatError, ParameterError
        See ``CollectionWriter.add``.
    """
    number = len(writer)
    main, levels = parts_of(data)
    writer.add(main, role, facts, **chained)
    for level in levels:
        writer.add(level, Role.LEVEL, (number,))


def parts_of(data: bytes) -> tuple[bytes, list[bytes]]:
    """Return the file of a picture, and those of its levels; the inverse of ``joined``.

    Raises
    ------
    FormatError
    """
    view = memoryview(data)
    if not is_collection(view):
        return data, []
    contents = read_contents(view)
    files = []
    for entry in contents.entries:
        own = PictureBytes(view, contents, entry)
        first = read_header(own)
        header = container.write_header(own.completed(first))
        files.append(b"".join([header, own[first.size : entry.size]]))
    return files[0], files[1:]
