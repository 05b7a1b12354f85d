"""Keep JPEG files bit for bit: which ones, their mmp files, and the same files again.

Source: section "Kept JPEG files" of ``docs/format/format.md``.
"""

import contextlib
import io
import time
import zlib
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from PIL import JpegImagePlugin

from mmpcodec import backends
from mmpcodec.backends import jpeg as jpegs
from mmpcodec.codec.decoder import Inspection, viewed
from mmpcodec.codec.encoding import Encoding, Statistics
from mmpcodec.codec.kept_jpeg import check_work, coding_of, file_of, is_kept, stream_of
from mmpcodec.codec.limits.seconds import opens_by_default
from mmpcodec.errors import FormatError, MmpError, NoSuchPage, ParameterError
from mmpcodec.format import container, layers
from mmpcodec.format.container import Header
from mmpcodec.format.jpeg import MOST_FILE_BYTES, KeptJpeg, most_level_bytes
from mmpcodec.limits import DEFAULT_LIMITS, DecodeLimits
from mmpcodec.metadata import Metadata
from mmpcodec.opening.contents import errors_named, picture_of
from mmpcodec.opening.header import check_end, read_header
from mmpcodec.params import check_threads
from mmpcodec.picture import SourceJpeg
from mmpcodec.pictures.compressed import jpeg
from mmpcodec.pictures.compressed.frame_size import jpeg_frame
from mmpcodec.pictures.registry import JPEG_START
from mmpcodec.samples import Form
from mmpcodec.trace import Totals

BACKEND = "cpu"
FEW, MANY = 0.5, 1 << 16
"""A file is remarked on if no byte of it is coded as levels, or a smaller part than this, and so
many bytes are not."""
MOST_PIXELS_OF_BYTE = 512
"""Each block of 64 pixels takes a bit at least: a file of fewer bytes does not hold the picture of
its frame. Where it opens late, it is kept as that of one pixel."""
MOST_CLAIMED = 1 << 24
"""Of more pixels it would open late."""
OPENS_LATE = "takes longer to decode than is allowed by default; mmp decode --max-seconds opens it"
"""The remark on a file that is beyond the default limits."""


class KeptFile(NamedTuple):
    """The encoding of a JPEG file, without samples, and remarks on it."""

    encoding: Encoding
    remarks: tuple[str, ...]


def header_of(data: bytes, metadata: Metadata | None = None) -> Header:
    """Return the header of a JPEG file: size and form of its picture.

    Metadata that is the file's own is left out. A file without a frame has one pixel.
    """
    width = height = 1
    form = Form.RGB
    with contextlib.suppress(ValueError):
        frame = jpeg_frame(data)
        width, height = max(1, frame.width), max(1, frame.height)
    with (
        contextlib.suppress(OSError, SyntaxError, ValueError),
        JpegImagePlugin.JpegImageFile(io.BytesIO(data)) as image,
    ):
        width, height = image.size
        form = Form.GRAY if image.mode == "L" else Form.RGB
    own = metadata is None or metadata == jpeg.metadata_of(data, "")
    return Header(width, height, form, metadata=Metadata() if own or not metadata else metadata)


def encode(
    data: bytes,
    form: int,
    *,
    metadata: Metadata | None = None,
    threads: int | None = None,
    verify: bool = True,
) -> KeptFile:
    """Encode a JPEG file so that it comes back bit for bit.

    Parameters
    ----------
    data : bytes
        A file that begins as JPEG files do.
    form : int
        1 to 3, see ``EncodeParams.jpeg_form``.
    metadata : Metadata or None
        That of the picture; None for that of the file.
    threads : int or None
        None takes all processors.
    verify : bool
        Whether the mmp file is decoded and compared.

    Returns
    -------
    KeptFile

    Raises
    ------
    MmpError
        If the file is too large, or the mmp file does not decode to it.
    """
    started = time.perf_counter()
    if len(data) > MOST_FILE_BYTES:
        raise MmpError(f"JPEG file of {len(data)} bytes: at most {MOST_FILE_BYTES} can be kept")
    header = header_of(data, metadata)
    ways = [(own, header) for own in range(form, 0, -1)]  # a lower form opens sooner
    pixels = header.width * header.height
    if pixels > MOST_PIXELS_OF_BYTE * len(data):
        empty = form, replace(header, width=1, height=1)
        ways = [empty] if pixels > MOST_CLAIMED else [*ways, empty]
    for own, head in ways:
        most = most_level_bytes(head.width, head.height)
        found = jpegs.encode(data, own, most, threads=threads)
        kept = KeptJpeg(found.form, len(data), found.payload)
        tile = layers.write_jpeg(head, kept, zlib.crc32(data))
        header = container.with_sizes(head, (len(tile),))
        file = container.write(header, [tile])
        if opens_by_default(file):
            break
    if verify:
        _check(data, kept, most, threads)
    encoding = Encoding(
        header,
        0.0,
        file,
        layers=(coding_of(kept, BACKEND),),
        seconds=time.perf_counter() - started,
        measured=Statistics(0.0, 0, Totals(), BACKEND),
    )
    late = () if opens_by_default(file) else (OPENS_LATE,)
    return KeptFile(encoding, (*_remarks(data, found), *late))


def _remarks(data: bytes, found: jpegs.EncodedJpeg) -> Iterator[str]:
    """Yield what a user should know of a file that is kept."""
    kind = ""
    with contextlib.suppress(ValueError):
        kind = jpeg_frame(data).unsupported
    if kind:
        yield f"holds {kind}, which this program does not show; the file itself is kept"
    others = len(data) - found.scan_bytes
    if found.scan_bytes == 0 or (others >= MANY and found.scan_bytes < FEW * len(data)):
        yield (
            f"{others} of its {len(data)} bytes are not the coefficients of a picture of 8 bits "
            "with Huffman codes, and are kept as bytes of any kind"
        )


def kept_file(
    data: Any,
    /,
    *,
    page: int | None = None,
    limits: DecodeLimits | None = None,
    backend: str = "auto",
    threads: int | None = None,
) -> bytes:
    """Return the JPEG file that a picture keeps, bit for bit.

    Parameters
    ----------
    data, page, limits, backend, threads
        See ``decode``.

    Returns
    -------
    bytes

    Raises
    ------
    FormatError
        When the bytes are not a valid file, or beyond the limits; see ``decode``.
    ParameterError
        When the picture keeps no JPEG file, or the file has no such picture.
    BackendUnavailable
        When the named backend cannot run here, or does not decode.

    Examples
    --------
    >>> from pathlib import Path
    >>> import mmpcodec
    >>> data = mmpcodec.encode_file("photo.jpg", lam=0)      # doctest: +SKIP
    >>> mmpcodec.kept_file(data) == Path("photo.jpg").read_bytes()  # doctest: +SKIP
    True
    """
    limits, at_once = limits or DEFAULT_LIMITS, check_threads(threads)
    name = backends.get(backend, decodes=True).name
    source = picture_of(viewed(data), page, limits)
    with errors_named(source):
        header = read_header(source)
        if not is_kept(source, header):
            raise ParameterError("data: keeps no JPEG file; mmpcodec.decode gives the samples")
        check_end(header, source)
        stream = stream_of(source, header)
        check_work(stream, header, len(source), limits, at_once)
        return file_of(stream, header, backend=name, threads=at_once)


def jpeg_of(
    data: Any, *, page: int | None = None, limits: DecodeLimits | None = None
) -> tuple[bytes, Metadata | None] | None:
    """Return the JPEG file of a file that is one, or of an mmp file with one picture that keeps it.

    The second value is the metadata of the mmp file, if they are not those of the JPEG file. None
    stands for other files, of which a picture can keep one all the same.

    Raises
    ------
    FormatError
        If the mmp file is damaged or beyond the limits.
    """
    view = viewed(data)
    if page not in (None, 1):
        return None
    if view[: len(JPEG_START)] == JPEG_START:
        return bytes(view[:]), None
    if view[: len(container.MAGIC)] != container.MAGIC:
        return None
    try:
        source = picture_of(view, page, limits or DEFAULT_LIMITS)
    except NoSuchPage:
        return None
    header = read_header(source)
    if not is_kept(source, header):
        return None
    metadata = None if header.metadata == Metadata() else header.metadata
    return kept_file(view, page=page, limits=limits), metadata


def source_of(
    data: Any, found: Inspection, *, page: int | None = None, limits: DecodeLimits | None = None
) -> SourceJpeg | None:
    """Return the JPEG file of a picture that was decoded to what was found; None if it has none.

    The file is rebuilt when it is asked for, from a copy of the picture's bytes.
    """
    if found.samples is None or not any(layer.jpeg_bytes for layer in found.layers):
        return None
    source = picture_of(viewed(data), page, limits or DEFAULT_LIMITS)
    return SourceJpeg(partial(kept_file, bytes(source[:]), limits=limits), found.samples)


def _check(data: bytes, kept: KeptJpeg, most: int, threads: int | None) -> None:
    """Decode the payload and compare it with the file."""
    try:
        back = jpegs.decode(kept, most, backend=BACKEND, threads=threads)
    except FormatError as error:
        raise MmpError(f"verification failed, nothing was written: {error}") from error
    if back != data:
        size = min(len(back), len(data))
        pair = (np.frombuffer(each[:size], np.uint8) for each in (back, data))
        different = np.flatnonzero(np.not_equal(*pair))
        place = int(different[0]) if len(different) else size
        raise MmpError(
            f"verification failed, nothing was written: the JPEG file differs from byte {place} on"
        )
