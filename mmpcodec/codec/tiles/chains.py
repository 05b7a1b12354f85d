"""Decoding of pages of two values that continue one another.

A page of a chain is a file of one picture, whose only layer goes on with the models and pixels of
the page before: section "Two values" of ``docs/format/format.md``.
"""

import math
import threading
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from mmpcodec.backends.base import Backend
from mmpcodec.errors import CorruptStream, FormatError
from mmpcodec.format import container, layers
from mmpcodec.format.collection import MOST_CHAINED, SECTION
from mmpcodec.format.container import Header
from mmpcodec.format.layers import Layer, TileStream
from mmpcodec.format.tiles import Tile
from mmpcodec.limits import DecodeLimits
from mmpcodec.opening.contents import ContinuedFile, PictureBytes, check_header
from mmpcodec.opening.header import read_header
from mmpcodec.runtime.files import Source
from mmpcodec.runtime.progress import Progress, in_turn
from mmpcodec.samples import Form
from mmpcodec.trace import Coded

MOST_KEPT = 2
"""Most chains of each file whose decoders are kept."""
MOST_ROOM = 1 << 29
"""Most pixels for which a decoder has room at once."""
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
            If it is damaged.
        """
        header = read_header(source)
        start, end = header.tile_offsets[:2]
        return cls(header, layers.read(source[start:end], start, header))

    @classmethod
    def of_file(cls, file: ContinuedFile) -> "ChainPage":
        """Read the file of a page that another one continues.

        Raises
        ------
        FormatError
            If it is damaged, or not of the size and form that the collection says.
        """
        page = cls.of(file.data)
        check_header(file.entry, page.header)
        return page

    @property
    def fault(self) -> str | None:
        """Why it can be no page of a chain, by its header and layers; None if it may be one."""
        header, stream = self.header, self.stream
        if header.form is not Form.GRAY or len(header.tile_bytes) > 1 or header.level_bits:
            return "a page of a chain must be gray, one tile, and without level bits"
        part = stream.parts[0]
        if not isinstance(part, Layer) or not part.tools.without_loss:
            return "a page of a chain must be one layer of lossless samples without an error"
        return None

    @property
    def layer(self) -> Layer:
        """Its only layer."""
        return self.stream.layers[0]

    def with_payload(self, payload: bytes | memoryview) -> bytes:
        """Return a file of the page with another payload of the same samples."""
        layer = replace(self.layer, payload=payload)
        stream = self.stream
        tile = layers.write(self.header, stream.layout, [layer], stream.samples_crc)
        return container.write(replace(self.header, tile_bytes=(len(tile),)), [tile])

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


class _Decoder:
    """Decodes the pages of a chain, each once, for all threads that ask for them.

    Pages of two values take little memory as bits, so those that were decoded are kept.

    Attributes
    ----------
    pages : dict of int to ChainPage
        Pages that were read, by the numbers of their entries.
    """

    def __init__(self) -> None:
        self.pages: dict[int, ChainPage] = {}
        self._lock = threading.Lock()
        self._kept: dict[int, _Bits] = {}
        self._restart("", 0, None)

    def _restart(self, backend: str, most_width: int, chain: Any) -> None:
        self._backend, self._most_width, self._chain = backend, most_width, chain
        self._done: list[int] = []

    def decoded(
        self,
        backend: Backend,
        pages: dict[int, ChainPage],
        source: PictureBytes,
        progress: Progress | None,
    ) -> Coded:
        """Decode pages up to the last one, and return that.

        Parameters
        ----------
        backend : Backend
        pages : dict of int to ChainPage
            The pages of a chain by the numbers of their entries, the first one first.
        source : PictureBytes
            The file of the last one.
        progress : callable or None

        Raises
        ------
        _PageError
            If one of them does not decode.
        """
        numbers = list(pages)
        with self._lock:
            if backend.name != self._backend:
                self._kept.clear()
            elif numbers[-1] in self._kept:
                return self._kept[numbers[-1]].coded
            goes_on = backend.name == self._backend and self._done == numbers[: len(self._done)]
            width = max(page.header.width for page in pages.values())
            if self._chain is None or not goes_on or width > self._most_width:
                size = width, sum(page.header.height for page in pages.values())
                whole = source.chain_size
                size = whole if whole[0] * whole[1] <= MOST_ROOM else size
                self._restart(backend.name, size[0], backend.new_chain(*size))
            steps = in_turn(progress, [1] * (len(pages) - len(self._done)))
            for number in numbers[len(self._done) :]:
                try:
                    coded = pages[number].decoded(backend, self._chain, next(steps))
                except BaseException as error:
                    self._chain = None
                    if isinstance(error, FormatError):
                        raise _PageError(number, error) from None
                    raise
                self._done.append(number)
                self._keep(number, pages[number], _Bits.of(coded))
            if source.is_last:
                self._chain = None  # it takes far more memory than the pages
        return coded

    def _keep(self, number: int, page: ChainPage, bits: "_Bits") -> None:
        """Keep a page that was read and decoded, and at most as many as a chain has."""
        self.pages[number], self._kept[number] = page, bits
        if len(self._kept) > MOST_CHAINED:
            for old in self.pages, self._kept:
                del old[next(iter(old))]


class _PageError(Exception):
    """A page of a chain does not decode: the number of its entry, and the error."""


class _Bits(NamedTuple):
    """A decoded plane of two values, one bit for a pixel, and the rest of its coding."""

    bits: np.ndarray
    values: np.ndarray
    shape: tuple[int, ...]
    rest: Coded

    @classmethod
    def of(cls, coded: Coded) -> "_Bits":
        samples = coded.samples
        values = np.array([samples.min(), samples.max()])
        bits = np.packbits(samples == values[1])
        return cls(bits, values, samples.shape, replace(coded, samples=samples[:0].copy()))

    @property
    def coded(self) -> Coded:
        """The plane with its samples."""
        flat = np.unpackbits(self.bits, count=math.prod(self.shape))
        return replace(self.rest, samples=self.values[flat].reshape(self.shape))


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
        self._source, self._numbers = source, source.continued
        self._decoder = _decoder_of(source, self._numbers[0])
        known = dict(self._decoder.pages)
        missing = [number for number in self._numbers if number not in known]
        self.pages: list[ChainPage] = []
        files = {file.number: file for file in source.files_of(missing)}
        for number in self._numbers:
            try:
                page = known[number] if number in known else ChainPage.of_file(files[number])
                self.pages.append(self.fitting(page))
            except FormatError as error:
                raise self._named(number, error) from None

    @classmethod
    def of(cls, source: Source) -> "Chain | None":
        """Return the chain of a page, None for one that decodes alone."""
        if not isinstance(source, PictureBytes) or not source.continues:
            return None
        return cls(source)

    def fitting(self, page: ChainPage) -> ChainPage:
        """Return a page that continues those so far.

        Raises
        ------
        CorruptStream
            If it can not, by its layers and tools.
        """
        if fault := page.fault:
            raise CorruptStream(SECTION, fault)
        if self.pages and page.layer.tools != self.pages[0].layer.tools:
            raise CorruptStream(
                SECTION, "the tools differ from those of the page that it continues"
            )
        return page

    def seconds_for(self, size: int, limits: DecodeLimits) -> float:
        """Return the most seconds that the pages, and one of ``size`` bytes, may take together."""
        if limits.max_seconds is not None:
            return limits.max_seconds
        sizes = [*(page.header.file_bytes for page in self.pages), size]
        return sum(map(limits.seconds_for, sizes))

    def pixels_with(self, width: int, height: int) -> int:
        """Return the pixels of all rows of the chain and of a further page, as wide as its widest
        page."""
        headers = [page.header for page in self.pages]
        most = max(width, *(header.width for header in headers))
        return most * (height + sum(header.height for header in headers))

    def decoded(self, backend: Backend, page: ChainPage, progress: Progress | None) -> Coded:
        """Decode a page that continues the chain, for which it is ``fitting``.

        Raises
        ------
        FormatError
            If the page, or one that it continues, does not decode.
        """
        own = self._source.number
        pages = dict(zip(self._numbers, self.pages, strict=True)) | {own: page}
        try:
            return self._decoder.decoded(backend, pages, self._source, progress)
        except _PageError as found:
            number, error = found.args
            raise (error if number == own else self._named(number, error)) from None

    def _named(self, number: int, error: FormatError) -> FormatError:
        """Return the error of a page that this one continues, as one of this page."""
        source = self._source
        start = source.place_of(number) - source.part.place
        return error.within(f"{source.name_of(number)}, which it continues", start)


def _decoder_of(source: PictureBytes, first: int) -> _Decoder:
    """Return what decodes the chain of a file that begins with the entry of this number."""
    with _LOCK:
        kept = source.kept
        found = kept.pop(first, None) or _Decoder()
        kept[first] = found
        while len(kept) > MOST_KEPT:
            del kept[next(iter(kept))]
        return found
