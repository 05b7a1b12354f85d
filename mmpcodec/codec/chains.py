"""Decoding of pages of two values that continue one another.

A page of a chain is a file of one picture, whose only layer goes on with the models and pixels of
the page before: section "Two values" of ``docs/format/format.md``.
"""

import threading
from dataclasses import dataclass
from typing import Any, NamedTuple

from mmpcodec.backends.base import Backend
from mmpcodec.errors import CorruptStream, FormatError
from mmpcodec.format import layers
from mmpcodec.format.collection import SECTION
from mmpcodec.format.container import Header
from mmpcodec.format.layers import Layer, TileStream
from mmpcodec.format.tiles import Tile
from mmpcodec.limits import DecodeLimits
from mmpcodec.opening.contents import ContinuedFile, PictureBytes
from mmpcodec.opening.header import read_header
from mmpcodec.runtime.files import Source
from mmpcodec.runtime.progress import Progress, in_turn
from mmpcodec.samples import Form
from mmpcodec.trace import Coded

MOST_KEPT = 2
"""Most decoders of chains that are kept for each file."""
_LOCK = threading.Lock()


@dataclass(frozen=True)
class ChainPage:
    """A page of a chain, or one that may become one.

    Parameters
    ----------
    header : Header
    stream : TileStream
        Its only tile.
    """

    header: Header
    stream: TileStream

    @classmethod
    def of(cls, source: Source) -> "ChainPage":
        """Read the file of a page.

        Raises
        ------
        FormatError
            If it is damaged, or can be no page of a chain.
        """
        header = read_header(source)
        if header.form is not Form.GRAY or len(header.tile_bytes) > 1 or header.level_bits:
            text = "a page of a chain must be gray, one tile, and its levels samples"
            raise CorruptStream(SECTION, text)
        start, end = header.tile_offsets[:2]
        page = cls(header, layers.read(source[start:end], start, header))
        if fault := fault_of_stream(page.stream):
            raise CorruptStream(SECTION, fault)
        return page

    @property
    def layer(self) -> Layer:
        """Its only layer."""
        return self.stream.layers[0]

    @property
    def tile(self) -> Tile:
        """The place of its only tile."""
        return self.header.tiles[0]

    def decoded(self, backend: Backend, chain: Any, progress: Progress | None = None) -> Coded:
        """Decode it as the next page of a chain; ``chain`` is one of the backend, or None.

        Raises
        ------
        FormatError
        """
        header, layer = self.header, self.layer
        shape = header.height, header.width
        return backend.decode(
            bytes(layer.payload),
            shape,
            layer.tools,
            depth=header.depth,
            progress=progress,
            chain=chain,
        )


def fault_of_stream(stream: TileStream) -> str | None:
    """Say why a tile cannot be the only one of a page of a chain, or return None."""
    if stream.palette is not None or len(stream.layers) != 1:
        return "a page of a chain must have one layer"
    if not stream.layers[0].tools.without_loss:
        return "a page of a chain must be lossless samples without an error"
    return None


class _Kept(NamedTuple):
    """A decoder of a chain: up to which picture of the file, of which backend, and itself."""

    number: int
    backend: str
    most_width: int
    chain: Any


class Chain:
    """The pages that a page of a collection continues.

    Parameters
    ----------
    source : PictureBytes
        The file of the page.

    Raises
    ------
    FormatError
        If one of them is damaged, or can be no page of a chain. Offsets count from the beginning of
        the page.
    """

    def __init__(self, source: PictureBytes):
        self._source = source
        self._files = source.continued_files
        self.pages = [self._read(file) for file in self._files]

    @classmethod
    def of(cls, source: Source) -> "Chain | None":
        """Return the chain of a page, None for one that decodes alone."""
        if not isinstance(source, PictureBytes) or not source.continues:
            return None
        return cls(source)

    def seconds_for(self, size: int, limits: DecodeLimits) -> float:
        """Return the most seconds that the pages, and one of ``size`` bytes, may take together."""
        if limits.max_seconds is not None:
            return limits.max_seconds
        sizes = [*(len(file.data) for file in self._files), size]
        return sum(map(limits.seconds_for, sizes))

    def decoded(self, backend: Backend, page: ChainPage, progress: Progress | None) -> Coded:
        """Decode a page that continues the chain.

        The state of the decoder is kept for the next page, which then needs no other one.

        Raises
        ------
        FormatError
            If the page, or one that it continues, does not decode.
        """
        width = max(each.header.width for each in [*self.pages, page])
        chain, done = self._taken(backend, width)
        steps = in_turn(progress, [1] * (len(self.pages) - done + 1))
        for file, before in zip(self._files[done:], self.pages[done:], strict=True):
            try:
                before.decoded(backend, chain, next(steps))
            except FormatError as error:
                raise self._named(file, error) from None
        coded = page.decoded(backend, chain, next(steps))
        with _LOCK:
            kept = self._source.kept
            kept.append(_Kept(self._source.number, backend.name, width, chain))
            del kept[:-MOST_KEPT]
        return coded

    def _taken(self, backend: Backend, width: int) -> tuple[Any, int]:
        """Take a decoder that has decoded some of the pages; return it, and how many."""
        numbers = [file.number for file in self._files]
        with _LOCK:
            kept = self._source.kept
            fitting = [
                one
                for one in kept
                if one.number in numbers and one.backend == backend.name and one.most_width >= width
            ]
            if fitting:
                last = max(fitting, key=lambda one: one.number)
                kept.remove(last)
                return last.chain, numbers.index(last.number) + 1
        return backend.new_chain(width), 0

    def _read(self, file: ContinuedFile) -> ChainPage:
        try:
            return ChainPage.of(file.data)
        except FormatError as error:
            raise self._named(file, error) from None

    def _named(self, file: ContinuedFile, error: FormatError) -> FormatError:
        return error.within(
            f"continues {file.name}, which is damaged", file.place - self._source.part.place
        )
