"""The pictures of a collection as pages show them: a list of them, and a file of each.

A page gets each picture as a file of its own, with the metadata that the viewer uses and no others:
orientation, resolution, calibration, and levels of black and white.
"""

from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

from mmpcodec.codec.kept_jpeg import is_kept, with_metadata
from mmpcodec.codec.series.alone import alone
from mmpcodec.depth import BYTE
from mmpcodec.errors import FormatError, PictureError
from mmpcodec.format.collection import Contents, Role
from mmpcodec.format.container import Header, write_header
from mmpcodec.metadata import CALIBRATION, Metadata
from mmpcodec.opening.contents import (
    PictureBytes,
    errors_named,
    is_collection,
    read_contents,
)
from mmpcodec.opening.header import read_header
from mmpcodec.runtime.files import LazyBytes, Source

NANOMETRES = 10**6
"""In a millimetre."""
USUAL_WHITE = Metadata(white=(1 << BYTE) - 1)
"""Says nothing new of a kept JPEG file; without metadata, those of the JPEG file would count."""
MOST_ALONE = 4
"""Most files of pages of chains that are kept, for the requests of a browser that opens them."""


class JoinedBytes(LazyBytes):
    """Bytes in memory, then a part of a file, which is read when it is asked for.

    Parameters
    ----------
    first : bytes
    rest : Source
    start : int
        Byte of ``rest`` that follows ``first``.
    """

    def __init__(self, first: bytes, rest: Source, start: int):
        self._first, self._rest, self._start = memoryview(first), rest, start

    def __len__(self) -> int:
        return len(self._first) + len(self._rest) - self._start

    def __getitem__(self, part: slice) -> memoryview:
        begin, end, _ = part.indices(len(self))
        own, size = self._first[begin:end], len(self._first)
        if end <= size:
            return own
        place = self._start - size
        rest = self._rest[place + max(begin, size) : place + max(begin, end)]
        return rest if not len(own) else memoryview(bytes(own) + bytes(rest))


class ShownBook(NamedTuple):
    """A collection that pages show.

    Parameters
    ----------
    source : Source
    contents : Contents
    faults : tuple of str
        Damage of the index; the pictures were then found by their records.
    alone : dict of int to bytes
        Files of pages that continue others, by the number of the entry; see ``series.alone``.
    """

    source: Source
    contents: Contents
    faults: tuple[str, ...]
    alone: dict[int, bytes]

    def as_dict(self) -> dict[str, Any]:
        """Return what the scripts of a page know of the pictures.

        ``entry`` is the number of the file of a picture. Frames have a duration in seconds, slices
        a position in millimetres.
        """
        numbers = self.contents.numbers_of(None)
        pages = []
        for number in numbers:
            renditions = [self._facts(each) for each in self.contents.numbers_of(number)]
            pages.append({**self._facts(number), "renditions": renditions})
        return {"loops": self.contents.loops, "faults": list(self.faults), "pages": pages}

    def _facts(self, number: int) -> dict[str, Any]:
        entry = self.contents.entries[number]
        facts: dict[str, Any] = {
            "entry": number,
            "role": entry.role.name.lower(),
            "width": entry.width,
            "height": entry.height,
            "bytes": entry.size,
        }
        if entry.role == Role.FRAME:
            facts["duration"] = float(Fraction(*entry.facts))
        if entry.role == Role.SLICE:
            facts["position"] = entry.facts[0] / NANOMETRES
        return facts

    def file(self, number: int) -> LazyBytes:
        """Return the file of a picture, by the number of its entry.

        Raises
        ------
        FormatError
            If its header, or metadata that it shares, are damaged; or if it continues other
            pictures and does not decode.
        """
        picture = PictureBytes(self.source, self.contents, self.contents.entries[number])
        with errors_named(picture):
            header = read_header(picture)
            metadata = with_metadata(picture.completed(header), picture).metadata
        if not picture.continues:
            return file_with(picture, header, metadata)
        file = memoryview(self._alone(number, picture))
        return file_with(file, read_header(file), metadata)

    def _alone(self, number: int, picture: PictureBytes) -> bytes:
        """Return the file of a page that continues others as one that decodes alone."""
        found = self.alone.get(number) or alone(picture)
        self.alone[number] = found
        for old in list(self.alone)[:-MOST_ALONE]:
            self.alone.pop(old, None)
        return found


def file_with(file: Source, header: Header, metadata: Metadata) -> LazyBytes:
    """Return the file of a picture with those of its metadata that the viewer uses."""
    shown = shown_metadata(metadata)
    if shown == Metadata() and metadata != shown and is_kept(file, header):
        shown = USUAL_WHITE
    return JoinedBytes(write_header(replace(header, metadata=shown)), file, header.size)


def shown_metadata(metadata: Metadata) -> Metadata:
    """Return the metadata that the viewer uses."""
    text = tuple(pair for pair in metadata.text if pair[0] == CALIBRATION)
    return Metadata(
        exif=metadata.exif,
        xmp=metadata.xmp,
        resolution=metadata.resolution,
        text=text,
        white=metadata.white,
        range=metadata.range,
    )


def without_dicom(data: bytes) -> bytes:
    """Return a file of one picture without attributes of DICOM, which may name a patient.

    Raises
    ------
    FormatError
        If its header is damaged.
    """
    header = read_header(memoryview(data))
    if not header.metadata.dicom:
        return data
    kept = header.metadata.without("dicom")
    return write_header(replace(header, metadata=kept)) + data[header.size :]


def book_of(source: Source, name: str) -> ShownBook | None:
    """Return the book that a file is; None if it is no collection.

    Raises
    ------
    PictureError
        If no picture can be found in it.
    """
    if not is_collection(source):
        return None
    faults: list[FormatError] = []
    try:
        contents = read_contents(source, faults=faults)
    except FormatError as error:
        raise PictureError(f"{name}: {error}") from error
    if not contents.pictures:
        reason = f": {faults[0]}" if faults else ""
        raise PictureError(f"{name}: holds no pictures{reason}")
    return ShownBook(source, contents, tuple(map(str, faults)), {})
