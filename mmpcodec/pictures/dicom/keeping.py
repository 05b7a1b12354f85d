"""Keep the attributes of a DICOM file beside a picture, and give them back.

Source: chunks of kind 9 in section "Metadata" of ``docs/format/format.md``.
"""

import hashlib
import io
import warnings
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mmpcodec.metadata import Metadata
from mmpcodec.picture import Picture
from mmpcodec.pictures.dicom import frames
from mmpcodec.pictures.dicom.facts import PER_FRAME, items_of
from mmpcodec.pictures.left_out import leave_out
from mmpcodec.pictures.limits import Unpacker, library

Elements = Mapping[int, bytes]
"""Elements of a data set by their tags, in explicit VR little endian."""

ATTRIBUTES, SAMPLES = b"\0", b"\1"
"""First bytes of the parts of ``Metadata.dicom``."""
GRAY, RGB = ("MONOCHROME1", "MONOCHROME2"), "RGB"
_HASH = 16
_META_GROUP = 0x0002
_SAMPLES_GROUP = 0x7FE0
_PER_FRAME_TAG = 0x52009230
_PHOTOMETRIC_TAG = 0x00280004
_SWAPPED = {"OW": 2, "OL": 4, "OF": 4, "OD": 8, "OV": 8}
_MOST_SHORT = (1 << 16) - 1


@dataclass(frozen=True)
class KeptAttributes:
    """What is kept of a DICOM file.

    Parameters
    ----------
    elements : dict of int to bytes
    digest : bytes
        Of the samples that the file gave; empty if nothing is said of them.
    difference : bytes
        Stored samples, exclusive or those that follow from the picture; empty if they are equal.
    """

    elements: dict[int, bytes]
    digest: bytes
    difference: bytes

    def dataset(self) -> Any:
        """Return the attributes as a data set of pydicom."""
        return _parsed(b"".join(self.elements[tag] for tag in sorted(self.elements)))


def digest_of(picture: Picture) -> bytes:
    """Return a hash of the samples."""
    order = ">u2" if picture.depth > 8 else "u1"
    return hashlib.sha256(picture.samples.astype(order).tobytes()).digest()[:_HASH]


def elements_of(file: Any, name: str, *, frames_apart: bool = False) -> dict[int, bytes]:
    """Return the elements of a data set but the samples; of several frames but those of each.

    Values stay as they are stored. What cannot be written in explicit VR little endian gets the VR
    UN, which says that nobody knows what is inside.
    """
    found = {}
    for tag in sorted(file.keys()):
        if tag.group in (_META_GROUP, _SAMPLES_GROUP) or not tag.element:
            continue
        if frames_apart and tag == _PER_FRAME_TAG:
            continue
        element = _serialised(file, tag)
        if element is None:
            leave_out(name, "damaged attributes", f"{tag}, which cannot be kept")
        else:
            found[int(tag)] = element
    syntax = file.file_meta.get("TransferSyntaxUID")
    if syntax is not None and syntax.is_encapsulated:
        kind = str(file.PhotometricInterpretation)
        if kind.startswith("YBR_"):  # its decoder gives RGB
            found[_PHOTOMETRIC_TAG] = _element(_PHOTOMETRIC_TAG, b"CS", b"RGB ")
    return found


def own_elements(file: Any, frame: int, name: str) -> dict[int, bytes]:
    """Return the functional groups of a frame as a sequence of one item; nothing without them."""
    from pydicom.dataelem import DataElement

    groups = items_of(file, PER_FRAME)
    if frame >= len(groups):
        return {}
    try:
        one = DataElement(_PER_FRAME_TAG, "SQ", [groups[frame]])
        return {_PER_FRAME_TAG: _by_pydicom(one, file)}
    except Exception:  # each kind of damage has its own
        leave_out(name, "damaged attributes", f"functional groups of frame {frame + 1}")
        return {}


def packed(elements: Elements) -> bytes:
    """Return a part of ``Metadata.dicom`` with these elements."""
    return ATTRIBUTES + _deflated(elements[tag] for tag in sorted(elements))


def apart(metadata: Metadata, shared: Elements, part: bytes, name: str) -> Metadata:
    """Return metadata of a slice, in which what all slices share is a part of its own.

    Parameters
    ----------
    metadata : Metadata
    shared : mapping of int to bytes
    part : bytes
        These as ``packed`` returns them.
    name : str
    """
    whole = kept(metadata, name)
    if whole is None or not shared:
        return metadata
    own = {tag: data for tag, data in whole.elements.items() if shared.get(tag) != data}
    return replace(metadata, dicom=(packed(own), *metadata.dicom[1:], part))


def samples_part(picture: Picture, file: Any, frame: int) -> bytes:
    """Return the hash of the samples, and how stored ones differ from those that follow of them."""
    part = SAMPLES + digest_of(picture)
    words = _stored_words(file, frame)
    if words is None:
        return part
    expected = words_of(picture, file)
    if expected is None or np.array_equal(words, expected):
        return part
    return part + _deflated([(words ^ expected).tobytes()])


def words_of(picture: Picture, file: Any) -> np.ndarray | None:
    """Return the samples of a picture as a DICOM file stores them: unsigned, of BitsAllocated.

    Parameters
    ----------
    picture : Picture
    file : pydicom.Dataset
        Says how samples are stored.

    Returns
    -------
    (H, W) or (H, W, 3) array, or None
        None if the file has colours that are converted when it is read.
    """
    kind, bits = str(file.PhotometricInterpretation), int(file.BitsStored)
    if kind not in (*GRAY, RGB) or bits != picture.depth:
        return None
    if (kind == RGB) != (picture.planes == 3):
        return None
    levels = picture.samples.astype(np.int64)
    if kind == GRAY[0]:
        levels = ((1 << bits) - 1) - levels
    if kind in GRAY and int(file.PixelRepresentation):
        levels -= 1 << (bits - 1)
    allocated = max(8, int(file.BitsAllocated))
    return (levels & ((1 << allocated) - 1)).astype(f"<u{allocated // 8}")


def _stored_words(file: Any, frame: int) -> np.ndarray | None:
    """Return the stored samples, all of their bits; None where a decoder or palette makes them."""
    syntax, kind = file.file_meta.TransferSyntaxUID, str(file.PhotometricInterpretation)
    allocated = int(file.BitsAllocated)
    if syntax.is_encapsulated or not syntax.is_little_endian or kind not in (*GRAY, RGB):
        return None
    if allocated == 1:
        return None
    words = np.frombuffer(frames.native_frame(file, frame), f"<u{allocated // 8}")
    rows, columns = int(file.Rows), int(file.Columns)
    if kind != RGB:
        return words.reshape(rows, columns)
    if int(file.get("PlanarConfiguration") or 0):
        return np.moveaxis(words.reshape(3, rows, columns), 0, 2)
    return words.reshape(rows, columns, 3)


def common(every: Iterable[Elements]) -> dict[int, bytes]:
    """Return the elements that all of several data sets have alike."""
    found: dict[int, bytes] | None = None
    for elements in every:
        if found is None:
            found = dict(elements)
        found = {tag: data for tag, data in found.items() if elements.get(tag) == data}
    return found or {}


def kept(metadata: Metadata, name: str) -> KeptAttributes | None:
    """Return the attributes that metadata keep; None if they keep none.

    Raises
    ------
    ValueError
        If they are damaged.
    PictureError
        If they take more than ``limits.MAX_METADATA`` bytes.
    MissingExtra
        If pydicom is not installed.
    """
    if not metadata.dicom:
        return None
    library("pydicom", "DICOM", name, extra="dicom")
    unpack = Unpacker(name).inflate
    elements: dict[int, bytes] = {}
    digest = difference = b""
    for part in metadata.dicom:
        kind, rest = part[:1], part[1:]
        if kind == ATTRIBUTES:
            for tag, data in _split(unpack(rest)).items():
                elements.setdefault(tag, data)
        elif kind == SAMPLES:
            if len(rest) < _HASH:
                raise ValueError("hash of the samples of DICOM ends early")
            digest = rest[:_HASH]
            difference = unpack(rest[_HASH:]) if rest[_HASH:] else b""
    return KeptAttributes(elements, digest, difference)


def joined_groups(every: Sequence[Any]) -> list[Any]:
    """Return the functional groups of several data sets of a frame each, in their order."""
    return [item for each in every for item in items_of(each, PER_FRAME)]


def _split(data: bytes) -> dict[int, bytes]:
    """Return the elements of a data set by their tags."""
    file = _parsed(data)
    found = {}
    for tag in sorted(file.keys()):
        element = _serialised(file, tag)
        if element is None:
            raise ValueError(f"attribute {tag} is damaged")
        found[int(tag)] = element
    return found


def _parsed(data: bytes) -> Any:
    """Return a data set in explicit VR little endian."""
    from pydicom.filereader import read_dataset

    try:
        return read_dataset(io.BytesIO(data), is_implicit_VR=False, is_little_endian=True)
    except RecursionError:
        raise ValueError("sequences of DICOM are nested too deep") from None


def _serialised(file: Any, tag: Any) -> bytes | None:
    """Return an element in explicit VR little endian; None if nothing is known of its bytes."""
    from pydicom.dataelem import RawDataElement

    raw = file.get_item(tag)
    stored = raw if isinstance(raw, RawDataElement) else None
    implicit, little = file.original_encoding
    if stored is not None and little and not implicit and stored.length != frames.UNDEFINED:
        return _element(int(tag), (stored.VR or "UN").encode(), stored.value or b"")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _converted(file, tag, stored, little)
    except Exception:  # each kind of damage has its own
        return None if stored is None else _element(int(tag), b"UN", stored.value or b"")


def _converted(file: Any, tag: Any, stored: Any, little: bool) -> bytes:
    """Return an element whose VR is looked up, or whose bytes are swapped."""
    from pydicom.filewriter import correct_ambiguous_vr_element

    element = correct_ambiguous_vr_element(file[tag], file, little)
    if stored is not None and little and element.VR != "SQ":
        return _element(int(tag), str(element.VR).encode(), stored.value or b"")
    if not little and element.VR in _SWAPPED and isinstance(element.value, bytes):
        size = _SWAPPED[element.VR]
        swapped = np.frombuffer(element.value, f"u{size}").byteswap().tobytes()
        return _element(int(tag), element.VR.encode(), swapped)
    return _by_pydicom(element, file)


def _by_pydicom(element: Any, file: Any) -> bytes:
    """Return an element as pydicom writes it."""
    from pydicom.filebase import DicomBytesIO
    from pydicom.filewriter import write_data_element

    stream = DicomBytesIO()
    stream.is_little_endian, stream.is_implicit_VR = True, False
    write_data_element(stream, element, file.get("SpecificCharacterSet") or "iso8859")
    return stream.getvalue()


def _element(tag: int, vr: bytes, value: bytes) -> bytes:
    """Return an element in explicit VR little endian."""
    from pydicom.valuerep import EXPLICIT_VR_LENGTH_32

    value += b"\0" * (len(value) % 2)
    head = (tag >> 16).to_bytes(2, "little") + (tag & 0xFFFF).to_bytes(2, "little")
    if vr.decode() not in EXPLICIT_VR_LENGTH_32 and len(value) > _MOST_SHORT:
        vr = b"UN"
    if vr.decode() in EXPLICIT_VR_LENGTH_32:
        return head + vr + b"\0\0" + len(value).to_bytes(4, "little") + value
    return head + vr + len(value).to_bytes(2, "little") + value


def _deflated(parts: Iterable[bytes]) -> bytes:
    return zlib.compress(b"".join(parts), 9)
