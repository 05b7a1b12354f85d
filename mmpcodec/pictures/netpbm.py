"""Read PBM, PGM, PPM and PAM files, binary and plain; write binary ones.

No library reads these files, because Pillow stretches levels to 255 or 65535 and cuts 16-bit
colours to 8 bits, and netpbmfile accepts samples above the file's maxval.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mmpcodec.depth import sample_type
from mmpcodec.errors import PictureError
from mmpcodec.limits import UNLIMITED, DecodeLimits
from mmpcodec.metadata import Metadata
from mmpcodec.picture import PLANES, Picture
from mmpcodec.pictures.left_out import leave_out
from mmpcodec.pictures.limits import check_levels, check_size, damaged, one_line
from mmpcodec.pictures.registry import HEAD
from mmpcodec.pictures.stored import StoredArray, StoredReader

TAIL = 64
"""Bytes after the samples in which ``check_end`` looks for another picture."""

_GAP = rb"(?:\s|#[^\n\r]*[\n\r])+"
_COLOURS = (b"P3", b"P6")
_PLAIN = (b"P1", b"P2", b"P3")
_BILEVEL = (b"P1", b"P4")
_AS_BLANKS = bytes.maketrans(b"\t\n\v\f\r", b" " * 5)
_PAM_KINDS = {"BLACKANDWHITE": 1, "GRAYSCALE": 1, "RGB": 3}
_PAM_KINDS |= {f"{kind}_ALPHA": planes + 1 for kind, planes in _PAM_KINDS.items()}
_PAM_NAMES = {1: "GRAYSCALE", 2: "GRAYSCALE_ALPHA", 3: "RGB", 4: "RGB_ALPHA"}


@dataclass(frozen=True)
class Header:
    """The header of a file.

    Parameters
    ----------
    magic : bytes
        ``b"P1"`` to ``b"P7"``.
    width, height : int
        In pixels.
    planes : int
        1 to 4.
    maxval : int
        Largest sample, 1 to 65535.
    start : int
        Offset of the first sample in the file, in bytes.
    """

    magic: bytes
    width: int
    height: int
    planes: int
    maxval: int
    start: int

    @property
    def depth(self) -> int:
        """Bits per sample."""
        return self.maxval.bit_length()

    @property
    def metadata(self) -> Metadata:
        """The level of white, if maxval is not the largest sample of the depth."""
        return Metadata(white=None if self.maxval == (1 << self.depth) - 1 else self.maxval)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the samples: (H, W) or (H, W, C)."""
        shape = self.height, self.width
        return shape if self.planes == 1 else (*shape, self.planes)

    @property
    def kind(self) -> np.dtype:
        """Data type of the samples in a binary file."""
        return np.dtype(">u2" if self.depth > 8 else "u1")

    @property
    def is_stored_as_array(self) -> bool:
        """Whether the samples have the layout of an array in memory."""
        return self.magic in (b"P5", b"P6", b"P7")


def read(data: bytes, name: str, limits: DecodeLimits) -> Picture:
    """Read a whole file.

    Raises
    ------
    PictureError
        If the file is damaged, beyond the limits, or holds more than one picture.
    """
    header = header_of(data[:HEAD], name)
    check_size(header.width, header.height, header.planes, name, limits)
    if header.magic in _PLAIN:
        samples = _plain_samples(data, header, name)
    elif header.magic == b"P4":
        samples = _bilevel_samples(data, header, name)
    else:
        count = header.width * header.height * header.planes
        end = header.start + count * header.kind.itemsize
        check_end(len(data), end, data[end : end + TAIL], name)
        samples = np.frombuffer(data, header.kind, count, header.start)
    check_levels(samples, header.maxval, name)
    samples = samples.reshape(header.shape).astype(sample_type(header.depth))
    return Picture(samples, header.depth, header.metadata)


def open_parts(
    path: Path, head: bytes, size: int, name: str, limits: DecodeLimits
) -> StoredReader | None:
    """Return a reader of parts of a binary PGM, PPM or PAM file; None for the other kinds.

    Raises
    ------
    PictureError
        If the file is damaged or holds more than one picture.
    """
    header = header_of(head, name)
    if not header.is_stored_as_array:
        return None
    check_size(header.width, header.height, header.planes, name, UNLIMITED)
    end = header.start + int(np.prod(header.shape, dtype=object)) * header.kind.itemsize
    with path.open("rb") as stream:
        stream.seek(min(end, size))
        check_end(size, end, stream.read(TAIL), name)
        samples = StoredArray(stream, header.kind, header.shape, header.start)
    of_file = header.shape, header.maxval, header.depth, header.metadata
    return StoredReader(samples, *of_file, name, limits)


def header_of(data: bytes, name: str) -> Header:
    """Read the header at the beginning of ``data``.

    Raises
    ------
    PictureError
        If a field is missing or out of range.
    """
    magic = data[:2]
    if magic == b"P7":
        return _pam_header(data, name)
    fields = 2 if magic in _BILEVEL else 3
    found = re.match(magic + (_GAP + rb"(\d{1,10})") * fields, data)
    if found is None:
        raise damaged(name, "the header lacks width, height or maxval")
    if b"#" in found[0]:
        leave_out(name, "comments")
    width, height, maxval = (int(text) for text in (*found.groups(), b"1")[:3])
    # One character separates the header of a binary file from the samples.
    start = found.end() + (magic not in _PLAIN)
    if magic not in _PLAIN and not data[found.end() : start].isspace():
        raise damaged(name, "the header does not end in white space")
    planes = 3 if magic in _COLOURS else 1
    return _checked(Header(magic, width, height, planes, maxval, start), name)


def _pam_header(data: bytes, name: str) -> Header:
    end = re.search(rb"\nENDHDR[ \t\r]*\n", data)
    if end is None:
        raise damaged(name, "the header lacks ENDHDR")
    facts: dict[str, str] = {}
    for line in data[2 : end.start()].decode("latin-1").split("\n"):
        key, _, value = line.strip().partition(" ")
        if key.startswith("#"):
            leave_out(name, "comments")
        elif key:
            facts[key] = value.strip()
    numbers = []
    for key in ("WIDTH", "HEIGHT", "DEPTH", "MAXVAL"):
        if not re.fullmatch(r"[0-9]{1,10}", facts.get(key, "")):
            raise damaged(name, f"{key} = {facts.get(key)!r}: must be an integer from 0 up")
        numbers.append(int(facts[key]))
    width, height, planes, maxval = numbers
    kind = facts.get("TUPLTYPE", _PAM_NAMES.get(planes, ""))
    if planes not in PLANES or _PAM_KINDS.get(kind) != planes:
        raise PictureError(
            f"{name}: holds {planes} planes of kind {one_line(repr(kind))}; supported are "
            + ", ".join(_PAM_KINDS)
        )
    return _checked(Header(b"P7", width, height, planes, maxval, end.end()), name)


def _checked(header: Header, name: str) -> Header:
    if not 1 <= header.maxval <= 65535:
        raise damaged(name, f"maxval = {header.maxval}: must be from 1 to 65535")
    return header


def _plain_samples(data: bytes, header: Header, name: str) -> np.ndarray:
    """Read samples from decimal numbers. PBM needs no space between digits, and 1 is black."""
    text, comments = re.subn(rb"#[^\n\r]*", b"", data[header.start :])
    if comments:
        leave_out(name, "comments")
    if text.translate(None, b"0123456789 \t\n\v\f\r"):
        raise damaged(name, "a sample is not a number")
    count = header.width * header.height * header.planes
    if header.magic == b"P1":
        digits = text.translate(None, b" \t\n\v\f\r")
        found = len(digits)
        if digits.translate(None, b"01"):
            raise damaged(name, "a sample is neither 0 nor 1")
    else:
        found = _words(text)
    if found != count:
        raise damaged(name, f"holds {found} samples, the header says {count}")
    if header.magic == b"P1":
        return 49 - np.frombuffer(digits, np.uint8)
    return np.fromstring(text.decode("ascii"), np.int64, sep=" ")


def _words(text: bytes) -> int:
    """Count the numbers of a text, without an object for each."""
    blank = np.frombuffer(b" " + text.translate(_AS_BLANKS), np.uint8) == ord(" ")
    return int(np.count_nonzero(blank[:-1] & ~blank[1:]))


def _bilevel_samples(data: bytes, header: Header, name: str) -> np.ndarray:
    """Read the samples of P4: eight pixels per byte, each row begins a new byte, and 1 is black."""
    row = -(-header.width // 8)
    end = header.start + row * header.height
    check_end(len(data), end, data[end : end + TAIL], name)
    packed = np.frombuffer(data, np.uint8, row * header.height, header.start)
    return 1 - np.unpackbits(packed.reshape(header.height, row), axis=1, count=header.width)


def check_end(size: int, end: int, behind: bytes, name: str) -> None:
    """Check that a binary file ends with its samples.

    Parameters
    ----------
    size : int
        Size of the file in bytes.
    end : int
        Offset after the last sample.
    behind : bytes
        The next ``TAIL`` bytes.
    name : str

    Raises
    ------
    PictureError
        If samples are missing, or another picture follows.
    """
    if size < end:
        raise damaged(name, f"holds {size} bytes, {end} are needed")
    if re.match(rb"\s*P[1-7]\s", behind):
        raise PictureError(f"{name}: holds more than one picture; supported is one per file")


def to_bytes(picture: Picture, format: str) -> bytes:
    """Encode a binary file. Its maxval, which PBM lacks, is the level of white if it ``holds`` it.

    Parameters
    ----------
    picture : Picture
    format : {"pbm", "pgm", "ppm", "pnm", "pam"}
        "pnm" is PBM for gray of 1 bit, PGM for other gray, and PPM for RGB.
    """
    height, width = picture.samples.shape[:2]
    if format == "pbm" or (format == "pnm" and picture.planes == picture.depth == 1):
        rows = np.packbits(1 - picture.samples, axis=1)  # 1 is black
        return f"P4\n{width} {height}\n".encode() + rows.tobytes()
    maxval = picture.white if holds(picture, "white") else (1 << picture.depth) - 1
    if format == "pam":
        head = (
            f"P7\nWIDTH {width}\nHEIGHT {height}\nDEPTH {picture.planes}\nMAXVAL {maxval}\n"
            f"TUPLTYPE {_PAM_NAMES[picture.planes]}\nENDHDR\n"
        )
    else:
        head = f"{'P5' if picture.planes == 1 else 'P6'}\n{width} {height}\n{maxval}\n"
    kind = picture.samples.dtype.newbyteorder(">")
    return head.encode() + picture.samples.astype(kind).tobytes()


def holds(picture: Picture, kind: str) -> bool:
    """Return whether the file's maxval can be the picture's level of white, ``kind`` "white".

    The depth of a file follows from maxval, and no sample may be above maxval.
    """
    white = picture.white
    return white.bit_length() == picture.depth and int(picture.samples.max()) <= white
