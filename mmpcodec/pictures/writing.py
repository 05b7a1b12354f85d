"""Write picture files: formats by name, what each format keeps, and what it loses."""

import io
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, Unpack, overload

from mmpcodec.checks import check_int
from mmpcodec.errors import ParameterError, PictureError
from mmpcodec.metadata import Metadata
from mmpcodec.options import EncodeOptions, given_of, written_out
from mmpcodec.params import check_threads
from mmpcodec.picture import NO_METADATA, Picture
from mmpcodec.pictures import registry
from mmpcodec.pictures.side.origin import ALONE, Origin
from mmpcodec.pictures.side.profiles import colours_of, fits
from mmpcodec.runtime.files import written_whole
from mmpcodec.runtime.progress import Progress
from mmpcodec.samples import SamplesLike, check_picture


def format_of(
    path: str | os.PathLike[str], *, with_mmp: bool = False, others: Sequence[str] = ()
) -> str:
    """Find the format that the extension of a path names.

    Parameters
    ----------
    path : path
        ``.tif`` and ``.tiff`` both name "tif". Case does not matter.
    with_mmp : bool
        Whether ``.mmp`` is allowed too.
    others : sequence of str
        Extensions, without their dot, of other formats that the caller writes.

    Returns
    -------
    str
        One of ``pictures.FORMATS``, "mmp", or one of ``others``.

    Raises
    ------
    ParameterError
        If no format with this extension can be written.
    """
    extension = Path(path).suffix.lower()
    formats = registry.written(with_mmp=with_mmp)
    for name, row in formats.items():
        if extension in row.suffixes:
            return name
    if extension[1:] in others:
        return extension[1:]
    known = ", .".join((*formats, *others))
    raise ParameterError(f"{os.fspath(path)}: extension {extension!r} must be one of .{known}")


def check_format(name: str, *, with_mmp: bool = False, others: Sequence[str] = ()) -> str:
    """Check the name of a format, one of ``pictures.FORMATS``, and return it.

    Parameters
    ----------
    name : str
    with_mmp : bool
        Whether "mmp" is allowed too.
    others : sequence of str
        Names of other formats that the caller writes.

    Raises
    ------
    ParameterError
        If no such format can be written.
    """
    formats = (*registry.written(with_mmp=with_mmp), *others)
    if name not in formats:
        raise ParameterError(f"format = {name!r}: must be one of {', '.join(formats)}")
    return name


def to_bytes(
    picture: Picture | SamplesLike,
    format: str,
    *,
    quality: int | None = None,
    png_level: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    origin: Origin = ALONE,
) -> bytes:
    """Encode a picture as the bytes of a picture file.

    Reading the bytes gives the same samples, and the same depth and metadata except what ``lost``
    names. Exceptions: JPEG and WebP change samples, and WebP holds gray as RGB.

    Parameters
    ----------
    picture : Picture, or (H, W) or (H, W, 1 to 4) array of bool, uint8 or uint16
        The samples of an array use all bits of their type: depth 1, 8 or 16.
    format : {"pbm", "pgm", "ppm", "pnm", "pam", "png", "tif", "npy", "jpg", "webp", "dcm"}
        "pbm" takes gray of 1 bit only, "pgm" gray only, "ppm" RGB only, "pnm", which is one of
        these three, "jpg" and "dcm" gray and RGB. The others take gray and RGB,
        with and without alpha. "jpg" and "webp" take up to 8 bits per sample.
    quality : int or None
        Quality of "jpg" and "webp", 1 to 100; None for 90. WebP of quality 100 is without loss, and
        JPEG from 90 on keeps the full resolution of colours.
    png_level : int or None
        Level of compression of "png": 0 stores, 1 is fast, 9 takes longest; None for 1. Level 6
        takes 10 % fewer bytes and four times as long.
    threads : int or None
        Number of threads that compress "png"; None takes all processors. The bytes do not depend
        on it. Other formats are written by one thread.
    progress : callable or None
        ``progress(done, total)`` gets numbers of rows of "png", and may return False to cancel.
        Other formats do not report.
    origin : Origin
        What "dcm" says of the mmp file that the picture comes from, such as its loss.

    Returns
    -------
    bytes

    Raises
    ------
    ParameterError
        If the format is unknown or cannot hold the picture, or the quality or the level is out of
        range or the format takes none.
    Cancelled
        If the progress callback returns False.
    MissingExtra
        If TIFF needs tifffile, which is not installed, or WebP a Pillow that writes it.
    """
    check_format(format)
    picture = _picture(picture)
    formats = registry.written()
    row = formats[format]
    check_taken(picture, format)
    if quality is None:
        quality = row.quality
    elif row.quality is None:
        lossy = registry.listed([name for name, each in formats.items() if each.quality])
        raise ParameterError(f"quality = {quality!r}: only {lossy} take one, not {format!r}")
    if png_level is None:
        png_level = row.level
    elif row.level is None:
        raise ParameterError(f"png_level = {png_level!r}: only 'png' takes one, not {format!r}")
    check_threads(threads)
    held, write_as = _holdable(picture, row), row.load().to_bytes
    if row.of_origin:
        return write_as(held, format, origin)
    if png_level is not None:
        level = check_int("png_level", png_level, 0, 9)
        return write_as(held, format, level, threads=threads, progress=progress)
    if quality is not None:
        return write_as(held, format, check_int("quality", quality, 1, 100))
    return write_as(held, format)


def _holdable(picture: Picture, row: registry.Format) -> Picture:
    """Return a picture without a profile of other colours than the file has, and damaged XMP."""
    metadata, gone = picture.metadata, []
    if not fits(metadata.icc, 3 if row.as_colour else colours_of(picture)):
        gone.append("icc")
    try:
        metadata.xmp.decode()
    except UnicodeDecodeError:
        gone.append("xmp")
    return replace(picture, metadata=metadata.without(*gone)) if gone else picture


def takes(row: registry.Format, picture: Picture) -> bool:
    """Return whether files of a format can be written that hold a picture."""
    planes = (*row.planes, *((1, 2) if row.as_colour else ()))
    sides = picture.samples.shape[:2]
    return (
        picture.planes in planes
        and picture.depth <= row.most_depth
        and (row.most_side is None or max(sides) <= row.most_side)
    )


def check_taken(picture: Picture, format: str, others: Sequence[str] | None = None) -> None:
    """Check that a file of a format can hold a picture.

    Parameters
    ----------
    picture : Picture
    format : str
        Of ``registry.written()``.
    others : sequence of str or None
        Formats to name where it cannot; None for all.

    Raises
    ------
    ParameterError
        If it cannot; the message names the formats that can.
    """
    formats = registry.written()
    row = formats[format]
    if takes(row, picture):
        return
    names = formats if others is None else others
    fits = ", ".join(name for name in names if name not in formats or takes(formats[name], picture))
    height, width = picture.samples.shape[:2]
    what = picture.kind
    if picture.depth > row.most_depth:
        what = f"{picture.depth} bits per sample, more than {row.most_depth}"
    elif row.most_side is not None and max(height, width) > row.most_side:
        what = f"{width}x{height} pixels, more than {row.most_side} in a row or column"
    raise ParameterError(f"format = {format!r} for {what}: must be one of {fits}")


def lost(picture: Picture | SamplesLike, format: str) -> tuple[str, ...]:
    """Name what a file of a format would not keep of a picture, or keep only in part.

    Parameters
    ----------
    picture : Picture or array
        As for ``to_bytes``.
    format : str
        As for ``to_bytes``.

    Returns
    -------
    tuple of str
        Some of "depth", "white", "icc", "exif", "xmp", "resolution", "text", "colours" and
        "dicom", in this order; empty if the file keeps everything.

    Raises
    ------
    ParameterError
        If the format is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from mmpcodec import pictures
    >>> picture = pictures.Picture(np.zeros((4, 4), np.uint16), depth=12)
    >>> pictures.lost(picture, "png"), pictures.lost(picture, "npy")
    ((), ('depth',))
    """
    check_format(format)
    picture = _picture(picture)
    row = registry.written()[format]
    held = _holdable(picture, row).metadata

    def keeps(kind: str) -> bool:
        if kind == "depth":
            return picture.depth in row.depths
        if kind == "white" and picture.white == (1 << picture.depth) - 1:
            return True
        if getattr(held, kind, None) != getattr(picture.metadata, kind, None):
            return False
        return kind in row.keeps and row.load().holds(picture, kind)

    there = ("depth", "white", *picture.metadata.kinds())
    return tuple(kind for kind in there if not keeps(kind))


def write(
    picture: Picture | SamplesLike,
    target: str | os.PathLike[str] | BinaryIO,
    format: str | None = None,
    *,
    quality: int | None = None,
    png_level: int | None = None,
) -> None:
    """Write a picture file, which appears whole or not at all.

    Parameters
    ----------
    picture : Picture or array
        As for ``to_bytes``.
    target : path or binary stream
        A stream need not be seekable.
    format : str or None
        As for ``to_bytes``. None takes the format from the extension of a path; a stream needs a
        format.
    quality, png_level : int or None
        As for ``to_bytes``.

    Raises
    ------
    ParameterError, MissingExtra
        As ``to_bytes`` raises them.
    PictureError
        If the file cannot be written, which is an ``OSError`` such as PermissionError too.
    """
    _check_target(target, "a path or a binary stream")
    if isinstance(target, (str, os.PathLike)):
        format = format or format_of(target)
    _put(to_bytes(picture, str(format), quality=quality, png_level=png_level), target)


@overload
def imwrite(
    target: None,
    picture: Picture | SamplesLike,
    format: str,
    *,
    lam: float | None = None,
    depth: int | None = None,
    metadata: Metadata | None = None,
    **options: Unpack[EncodeOptions],
) -> bytes: ...
@overload
def imwrite(
    target: str | os.PathLike[str] | BinaryIO,
    picture: Picture | SamplesLike,
    format: str | None = None,
    *,
    lam: float | None = None,
    depth: int | None = None,
    metadata: Metadata | None = None,
    **options: Unpack[EncodeOptions],
) -> None: ...
@written_out
def imwrite(
    target: str | os.PathLike[str] | BinaryIO | None,
    picture: Picture | SamplesLike,
    format: str | None = None,
    *,
    lam: float | None = None,
    depth: int | None = None,
    metadata: Metadata | None = None,
    **options: Unpack[EncodeOptions],
) -> bytes | None:
    """Write a picture to a file of any format that can be written, mmp included.

    A file appears whole or not at all, and replaces one of the same name. Lambda and the other
    options, those of ``EncodeOptions``, are for the format "mmp" only. Without any, mmp files are
    lossy. Exception: ``quality``, 1 to 100, is that of ``pictures.to_bytes`` for "jpg" and "webp".

    Parameters
    ----------
    target : path, binary stream or None
        None returns the bytes of the file.
    picture : Picture, or (H, W) or (H, W, 1 to 4) array of bool, uint8 or uint16
    format : {"mmp", "pgm", "ppm", "pam", "png", "tif", "jpg", "webp", "npy", "dcm"} or None
        None takes the format from the extension of a path; streams and bytes need a format.
    lam : float or None
        See ``encode``.
    depth : int or None
        Bits per sample; None takes those of the picture, or 1 for bool, 8 for uint8 and 16 for
        uint16.
    metadata : Metadata or None
        None takes those of the picture. A format drops metadata that it cannot hold; see
        ``pictures.lost``.

    Returns
    -------
    bytes or None
        The bytes of the file if the target is None.

    Raises
    ------
    ParameterError
        If the format is unknown or cannot hold the picture, another format than "mmp" gets options,
        or an argument is invalid.
    PictureError
        If the file cannot be written, which is an ``OSError`` such as PermissionError too.
    MissingExtra
        If the format needs a package that is not installed.
    MmpError
        The errors of ``encode``.

    Examples
    --------
    >>> import numpy as np, mmpcodec
    >>> picture = np.full((64, 48), 200, np.uint8)
    >>> mmpcodec.imwrite("picture.png", picture)       # doctest: +SKIP
    >>> data = mmpcodec.imwrite(None, picture, "mmp", lam=0)
    >>> int(mmpcodec.imread(data).min())
    200
    """
    if target is not None:
        _check_target(target, "a path, a binary stream or None")
    if format is not None:
        check_format(format, with_mmp=True)
    elif isinstance(target, (str, os.PathLike)):
        format = format_of(target, with_mmp=True)
    else:
        names = ", ".join(registry.written(with_mmp=True))
        raise ParameterError(f"format = None: a stream and bytes need one of {names}")
    if format == registry.MMP:
        from mmpcodec.codec.encoder import encode  # other formats do not need the codec

        samples: Any = picture
        if isinstance(picture, Picture):
            whole = _picture(picture, depth, metadata)
            samples, depth, metadata = whole.samples, whole.depth, whole.metadata
        data = encode(samples, lam, depth=depth, metadata=metadata, **options)
    else:
        quality: Any = options.get("quality")
        others = sorted(given_of({"lam": lam, **options}).keys() - {"quality"})
        if others or (quality is not None and registry.written()[format].quality is None):
            name = (others or ["quality"])[0]
            owners = [repr(registry.MMP)]
            if name == "quality":
                owners += [repr(each) for each, row in registry.written().items() if row.quality]
            raise ParameterError(
                f"{name}: is an option of format {registry.listed(owners, 'or')}, not of {format!r}"
            )
        data = to_bytes(_picture(picture, depth, metadata), format, quality=quality)
    if target is None:
        return data
    _put(data, target)
    return None


def _picture(
    picture: Picture | SamplesLike, depth: int | None = None, metadata: Metadata | None = None
) -> Picture:
    """Return a picture, with another depth and metadata if these are given."""
    if not isinstance(picture, Picture):
        samples, depth = check_picture(picture, depth)
        return Picture(samples, depth, metadata or NO_METADATA)
    return Picture(
        picture.samples,
        picture.depth if depth is None else depth,
        picture.metadata if metadata is None else metadata,
    )


def _check_target(target: Any, allowed: str) -> None:
    """Check that bytes can be written to a target.

    Raises
    ------
    ParameterError
        If it is neither a path nor a binary stream.
    """
    binary = hasattr(target, "write") and not isinstance(target, io.TextIOBase)
    if not binary and not isinstance(target, (str, os.PathLike)):
        raise ParameterError(f"target of type {type(target).__name__}: must be {allowed}")


def _put(data: bytes, target: str | os.PathLike[str] | BinaryIO) -> None:
    if not isinstance(target, (str, os.PathLike)):
        target.write(data)
        return
    try:
        with written_whole(target) as file:
            file.write(data)
    except OSError as error:
        raise PictureError.from_os(os.fspath(target), error) from error
