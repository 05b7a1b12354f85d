"""The file of a picture whose tiles are coded one after the other, in any order."""

from dataclasses import dataclass, replace
from tempfile import TemporaryFile
from typing import BinaryIO

from mmpcodec.codec.tiles.tile_groups import CodedTiles
from mmpcodec.format import container
from mmpcodec.format.container import Header
from mmpcodec.trace import Totals


@dataclass(frozen=True)
class LargeEncoding:
    """Statistics of a file that was written tile by tile.

    Parameters
    ----------
    header : Header
    size : int
        Bytes of the file.
    distortion : float
        Squared error of the picture; see ``distortion.distortion``.
    totals : Totals
        Sums over the traces of all layers.
    backend : str
        Name of the backend that coded the first layer.
    lam : float
        Lambda of the file.
    max_error : int
        Largest difference of a sample.
    """

    header: Header
    size: int
    distortion: float
    totals: Totals
    backend: str
    lam: float
    max_error: int


class TileFile:
    """Collects coded tiles in a temporary file, and writes the file of the picture.

    The tiles wait in the temporary file, because the file begins with their sizes.

    Parameters
    ----------
    header : Header
        Without the sizes of the tiles.
    lam : float
        Lambda of the file.
    """

    def __init__(self, header: Header, lam: float):
        self._header = header
        self._lam = lam
        self._stream = TemporaryFile()  # noqa: SIM115
        self._places: dict[int, tuple[int, int]] = {}
        self._groups: dict[int, CodedTiles] = {}

    def __enter__(self) -> "TileFile":
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    def add(self, coded: CodedTiles) -> None:
        """Add coded tiles."""
        for number, data in zip(coded.numbers, coded.data, strict=True):
            self._places[number] = self._stream.tell(), len(data)
            self._stream.write(data)
        self._groups[coded.numbers[0]] = replace(coded, data=())

    def write(self, file: BinaryIO) -> LargeEncoding:
        """Write the file to a stream, which need not be seekable, when all tiles are there."""
        places = [self._places[tile.number] for tile in self._header.tiles]
        header = replace(self._header, tile_bytes=tuple(size for _, size in places))
        head = container.write_header(header)
        header = replace(header, size=len(head), trailer=container.write_trailer(header))
        file.write(head)
        for start, length in places:
            self._stream.seek(start)
            file.write(self._stream.read(length))
        file.write(header.trailer)
        # Sums in the order of the tiles are equal, whatever the order in which the tiles came.
        groups = [group for _, group in sorted(self._groups.items())]
        return LargeEncoding(
            header,
            header.file_bytes,
            sum(group.distortion for group in groups),
            Totals.sum(group.totals for group in groups),
            groups[0].backend,
            self._lam,
            max(group.max_error for group in groups),
        )
