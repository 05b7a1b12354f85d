"""Decode a stored frame of a DICOM file, whose size is checked before its decoder runs."""

import io
import os
import struct
from typing import Any, BinaryIO

import numpy as np

from mmpcodec.errors import PictureError
from mmpcodec.pictures.compressed.codestream import check_parts
from mmpcodec.pictures.compressed.frame_size import (
    JPEG2000_START,
    JPEG_START,
    check_jpeg_scans,
    jpeg2000_size,
    jpeg_frame,
    packbits_size,
)
from mmpcodec.pictures.limits import library, one_line

RLE = "1.2.840.10008.1.2.5"
_BASELINE, _JPEG_2000 = "1.2.840.10008.1.2.4.50", "1.2.840.10008.1.2.4.91"
_CHECKED = frozenset(f"1.2.840.10008.1.2.4.{each}" for each in (50, 51, 57, 70, 80, 81, 90, 91))
"""JPEG, JPEG-LS and JPEG 2000: the frames are checked here."""
_PLUGINS = {RLE: "pydicom", _BASELINE: "pillow", _JPEG_2000: "pillow"}
"""The decoders of checked frames; other compressions take any decoder of pydicom."""
_LOSSY_FRAMES, _LOSSLESS_FRAME, _LS_FRAME = (0xC0, 0xC1, 0xC2), 0xC3, 0xF7
"""Markers of frames: baseline, extended and progressive JPEG, lossless JPEG, JPEG-LS."""
_RLE_HEADER = struct.Struct("<16I")
_RLE_PADDING = 2  # most bytes after a segment
_SIZ_BITS_AT = 42  # of the first component, in a JPEG 2000 codestream
_JP2_START = b"\0\0\0\x0cjP  "
_SIGNED = 0x80
_RGB = "RGB"
PARTIAL, FULL = "YBR_PARTIAL_422", "YBR_FULL_422"
"""Kinds of luminance and colour differences, of which every other column has the latter."""
UNDEFINED = 0xFFFFFFFF
_DECODED_BY = (
    "Rows", "Columns", "SamplesPerPixel", "BitsAllocated", "BitsStored", "HighBit",
    "PixelRepresentation", "PhotometricInterpretation", "PlanarConfiguration",
)  # fmt: skip
"""What a decoder needs to know of a frame."""
_OFFSET_TABLES = ("ExtendedOffsetTable", "ExtendedOffsetTableLengths")


def decoded(file: Any, number: int, count: int, name: str) -> tuple[np.ndarray, str]:
    """Return the stored samples of a frame, (H, W) or (H, W, 3), and their kind of colours.

    Parameters
    ----------
    file : pydicom.Dataset
    number, count : int
        Number of the frame, from 0 up, and number of all frames.
    name : str
        Name of the file in error messages.

    Raises
    ------
    PictureError
        If the samples are compressed in a way that no decoder here knows, or lie in the high bits.
    MissingExtra
        If a package is not installed that decodes them.
    ValueError
        If a compressed frame has another size than the data set says; its decoder would allocate
        the size that the frame says.
    """
    from pydicom.encaps import encapsulate
    from pydicom.pixels import get_decoder
    from pydicom.uid import UID

    syntax = _syntax(file, name)
    if not syntax.is_encapsulated:
        bits = int(file.BitsStored)
        high = int(file.get("HighBit", bits - 1))
        if high != bits - 1:  # pydicom takes the lowest bits
            raise PictureError(
                f"{name}: holds {bits} bits up to bit {high}; supported are samples whose lowest "
                "bit is bit 0"
            )
        if not syntax.is_little_endian:  # its bytes may be swapped across frames
            one = _single(file, file.PixelData, file["PixelData"].VR)
            one.NumberOfFrames = count
            samples, facts = get_decoder(syntax).as_array(one, index=number, raw=True)
            return samples, str(facts["photometric_interpretation"])
        if int(file.BitsAllocated) == 1:
            return _bits(file, number), _kind_of(file)
        one = _single(file, native_frame(file, number))
        samples, facts = get_decoder(syntax).as_array(one, index=0, raw=True)
        return samples, str(facts["photometric_interpretation"])
    frame = _encapsulated_frame(file, number, count)
    columns, rows = int(file.Columns), int(file.Rows)
    if syntax == RLE:
        _check_rle(frame, columns * rows)
    elif syntax in _CHECKED:
        if frame.startswith(_JP2_START):
            frame = frame[frame.index(JPEG2000_START) :]
        _check_frame(frame, columns, rows, int(file.SamplesPerPixel), name)
        found = _by_imagecodecs(frame, syntax, name)
        if found is not None:
            return _as_stored(found, file), _kind_of(file)
        # The file may name another kind than its frame is of.
        syntax = UID(_BASELINE if frame.startswith(JPEG_START) else _JPEG_2000)
    _check_decoder(syntax, name)
    # What is decoded is what was checked, whatever the tables of offsets say.
    one = _single(file, encapsulate([frame]))
    one.file_meta.TransferSyntaxUID = syntax
    samples, facts = get_decoder(syntax).as_array(
        one, index=0, raw=True, decoding_plugin=_PLUGINS.get(syntax, "")
    )
    return samples, str(facts["photometric_interpretation"])


def native_frame(file: Any, number: int) -> bytes:
    """Return the bytes of a frame that is not compressed, in little-endian order.

    Raises
    ------
    ValueError
        If the samples end before.
    """
    size = int(file.Rows) * int(file.Columns) * int(file.SamplesPerPixel)
    size = size * int(file.BitsAllocated) // 8
    if str(file.PhotometricInterpretation).endswith("_422"):
        size = size * 2 // 3
    return _part(file, number, number * size, (number + 1) * size)


def _part(file: Any, number: int, start: int, end: int) -> bytes:
    """Return bytes of the samples, of which a long file has only the place in memory."""
    with _samples_of(file) as stream:
        stream.seek(start, os.SEEK_CUR)
        data = stream.read(end - start)
    if len(data) < end - start or end > _length(file):
        raise ValueError(f"frame {number + 1} ends behind the samples")
    return data


def _samples_of(file: Any) -> BinaryIO:
    """Open the samples, at their first byte."""
    element = _element(file)
    if element.value is not None:
        return io.BytesIO(element.value)
    stream = open(file.filename, "rb")  # noqa: SIM115 - the caller closes it
    stream.seek(element.value_tell)
    return stream


def _length(file: Any) -> int:
    element = _element(file)
    return element.length if element.value is None else len(element.value)


def _element(file: Any) -> Any:
    from pydicom.tag import Tag

    return file.get_item(Tag("PixelData"), keep_deferred=True)


def _encapsulated_frame(file: Any, number: int, count: int) -> bytes:
    from pydicom.encaps import get_frame

    tables = [file.get(each) for each in _OFFSET_TABLES]
    offsets = (tables[0], tables[1]) if count > 1 and all(tables) else None
    with _samples_of(file) as stream:
        return get_frame(stream, number, number_of_frames=count, extended_offsets=offsets)


def _single(file: Any, data: bytes, vr: str = "OW") -> Any:
    """Return a data set of one frame, or of other samples; frames of a file are read by threads."""
    from pydicom.dataset import Dataset, FileMetaDataset

    one = Dataset()
    for keyword in _DECODED_BY:
        if keyword in file:
            setattr(one, keyword, file.get(keyword))
    if str(file.PhotometricInterpretation) == PARTIAL:
        one.PhotometricInterpretation = FULL
    one.add_new("PixelData", vr, data + b"\0" * (len(data) % 2))
    one.file_meta = FileMetaDataset()
    one.file_meta.TransferSyntaxUID = file.file_meta.TransferSyntaxUID
    return one


def _bits(file: Any, number: int) -> np.ndarray:
    """Return a frame of one bit a sample; it may begin within a byte."""
    rows, columns = int(file.Rows), int(file.Columns)
    start, end = number * rows * columns, (number + 1) * rows * columns
    data = _part(file, number, start // 8, -(-end // 8))
    found = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")
    return found[start % 8 :][: end - start].reshape(rows, columns)


def _syntax(file: Any, name: str) -> Any:
    """Return the transfer syntax, which files without a preamble may not name."""
    from pydicom import uid

    found = file.file_meta.get("TransferSyntaxUID")
    if found is None:
        implicit, little = file.original_encoding
        found = uid.ImplicitVRLittleEndian if implicit else uid.ExplicitVRLittleEndian
        found = found if little else uid.ExplicitVRBigEndian
        file.file_meta.TransferSyntaxUID = found
        if _element(file).length == UNDEFINED:
            raise PictureError(
                f"{name}: is DICOM that is compressed and names no transfer syntax, which is not "
                "supported"
            )
    if not found.is_transfer_syntax:
        raise PictureError(
            f"{name}: has the transfer syntax {one_line(str(found))}, which is not supported"
        )
    return found


def _check_decoder(syntax: Any, name: str) -> None:
    """Check that pydicom can decode a compression.

    Raises
    ------
    PictureError
        If it cannot, or only with packages that are not installed.
    """
    from pydicom.pixels import get_decoder

    title = one_line(syntax.name)
    try:
        decoder = get_decoder(syntax)
    except NotImplementedError:
        raise PictureError(f"{name}: is compressed by {title}, which is not supported") from None
    if not decoder.is_available:
        packages = [each.partition(" requires ")[2] for each in decoder.missing_dependencies]
        raise PictureError(f"{name}: is compressed by {title}, which needs {' or '.join(packages)}")


def _by_imagecodecs(frame: bytes, syntax: Any, name: str) -> np.ndarray | None:
    """Decode a frame of a kind that Pillow cannot decode; None for other kinds.

    Raises
    ------
    MissingExtra
        If imagecodecs is not installed.
    """
    decode = ""
    if frame.startswith(JPEG2000_START):
        decode = "jpeg2k_decode" if _is_deep_colour(frame) else ""
    elif (found := jpeg_frame(frame)).marker == _LS_FRAME:
        decode = "jpegls_decode"
    elif found.marker == _LOSSLESS_FRAME or found.bits > 8:
        decode = "jpeg8_decode"
    if not decode:
        return None
    codecs = library("imagecodecs", f"DICOM of {one_line(syntax.name)}", name, extra="formats")
    return getattr(codecs, decode)(frame)


def _as_stored(samples: np.ndarray, file: Any) -> np.ndarray:
    """Return samples of imagecodecs with the sign that the data set names."""
    expected = (int(file.Rows), int(file.Columns), int(file.SamplesPerPixel))
    if samples.shape != (expected if expected[2] > 1 else expected[:2]):
        raise ValueError(f"frame of shape {samples.shape}, expected is {expected}")
    if not int(file.PixelRepresentation) or samples.dtype.kind == "i":
        return samples
    bits = int(file.BitsStored)
    unused = 32 - bits
    return samples.astype(np.int32) << unused >> unused


def _kind_of(file: Any) -> str:
    """Return the kind of colours that a decoder gives."""
    kind = str(file.PhotometricInterpretation)
    if kind == PARTIAL:  # it separates these samples as those of the full range
        return FULL
    return _RGB if kind.startswith("YBR_") and kind[4:] in ("RCT", "ICT") else kind


def _is_deep_colour(frame: bytes) -> bool:
    """Return whether a JPEG 2000 codestream has several planes of more than 8 bits."""
    planes, bits = struct.unpack_from(">HB", frame.ljust(_SIZ_BITS_AT + 1, b"\0"), 40)
    return planes > 1 and (bits & ~_SIGNED) + 1 > 8


def _check_frame(frame: bytes, columns: int, rows: int, planes: int, name: str) -> None:
    """Check that a compressed frame is of a known kind and of the size of the picture.

    Raises
    ------
    PictureError
        If its kind is not supported.
    ValueError
        If it has another size, or too many parts.
    """
    if frame.startswith(JPEG_START):
        found = jpeg_frame(frame)
        size = found.width, found.height
        lossy = found.marker in _LOSSY_FRAMES and (found.bits == 8 or planes == 1)
        if not lossy and found.marker not in (_LS_FRAME, _LOSSLESS_FRAME):
            raise PictureError(
                f"{name}: is compressed by JPEG of {found.bits} bits and frame 0x{found.marker:x}, "
                "which is not supported"
            )
        check_jpeg_scans(frame)
    elif frame.startswith(JPEG2000_START):
        size = jpeg2000_size(frame)
        check_parts(frame)
    else:
        raise ValueError("its frame is neither JPEG nor JPEG 2000")
    if size != (columns, rows):
        raise ValueError(f"frame of {size[0]}x{size[1]} in a picture of {columns}x{rows}")


def _check_rle(frame: bytes, area: int) -> None:
    """Check the size of each segment, which holds one byte of each sample of a plane."""
    count, *starts = _RLE_HEADER.unpack_from(frame)
    ends = [*starts[1:count], len(frame)]
    for start, end in zip(starts[:count], ends, strict=False):
        size = packbits_size(frame[start:end], area + _RLE_PADDING)
        if size > area + _RLE_PADDING:
            raise ValueError(f"RLE segment of more than {area} bytes")
