"""Pages of two values that continue one another: what makes them of pages that stand alone."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from mmpcodec import backends
from mmpcodec.backends.base import PlaneTask
from mmpcodec.checks import check_int
from mmpcodec.codec.decoder import decode
from mmpcodec.codec.tiles.chains import ChainPage
from mmpcodec.codec.tiles.renditions import add_with_levels, joined, parts_of
from mmpcodec.errors import CorruptStream, FormatError, MmpError
from mmpcodec.format.collection import MOST_CHAINED, Role
from mmpcodec.format.collection_writer import CollectionWriter
from mmpcodec.opening.contents import PictureBytes, errors_named
from mmpcodec.params import EncodeParams
from mmpcodec.tools import LosslessTools


class ChainedFile(NamedTuple):
    """The file of a page, after it was tried as one of a chain.

    Parameters
    ----------
    data : bytes
    back : int
        How many pages before is the one that it continues; 0 if it decodes alone.
    saved : int
        Bytes that it is smaller by than the file that decodes alone.
    """

    data: bytes
    back: int = 0
    saved: int = 0


def check_chain_pages(count: Any) -> int:
    """Check how many pages a chain may have; return it, 1 for None.

    Raises
    ------
    ParameterError
    """
    return 1 if count is None else check_int("chain_pages", count, 1, MOST_CHAINED)


def in_chain(files: Sequence[bytes], *, verify: bool = False) -> list[ChainedFile]:
    """Make pages continue others among them, where that needs fewer bytes.

    Parameters
    ----------
    files : sequence of bytes
        Files of one picture, or of one and its levels, which decode alone.
    verify : bool
        Whether pages that continue others are decoded and compared.

    Returns
    -------
    list of ChainedFile
        In the order of the files. Pages of other pictures than one plane of two values stay as they
        are, and pages behind them may continue those before.

    Raises
    ------
    MmpError
        If a page decodes to other samples.
    """
    if len(files) == 1:
        return [ChainedFile(files[0])]
    parts = [parts_of(file) for file in files]
    pages = [_page_or_none(main) for main, _ in parts]
    headers = [page.header for page in pages if page]
    width = max((header.width for header in headers), default=1)
    rows = sum(header.height for header in headers)
    found = [ChainedFile(file) for file in files]
    chain: _ChainEncoder | None = None
    last = 0
    for number, page in enumerate(pages):
        if page is None:
            continue
        _, levels = parts[number]
        if chain is not None and (data := chain.continued(page)) is not None:
            data = joined(data, levels)
            found[number] = ChainedFile(data, number - last, len(files[number]) - len(data))
        else:
            chain = _ChainEncoder.begun(page, (width, rows), verify=verify) or chain
        last = number if chain is not None and chain.last is page else last
    return found


def add_chained(
    writer: CollectionWriter, file: ChainedFile, role: Role, facts: Sequence[int]
) -> None:
    """Add a page to a collection, and its levels behind it; see ``CollectionWriter.add``."""
    continues = writer.contents.page_before(file.back) if file.back else None
    add_with_levels(writer, file.data, role, facts, continues=continues, saved=file.saved)


class _ChainEncoder:
    """Makes pages continue a first one; to verify them, a second chain decodes them."""

    def __init__(self, page: ChainPage, size: tuple[int, int], *, verify: bool):
        self._backend = backends.get("cpu")
        self._chains = [self._backend.new_chain(*size) for _ in range(1 + verify)]
        self.last = page
        """The page that the next one continues."""
        for chain in self._chains:
            page.decoded(self._backend, chain)

    @classmethod
    def begun(
        cls, page: ChainPage, size: tuple[int, int], *, verify: bool
    ) -> "_ChainEncoder | None":
        """Return the encoder of a chain that begins with a page; None if it has not two values."""
        try:
            return cls(page, size, verify=verify)
        except CorruptStream:
            return None

    def continued(self, page: ChainPage) -> bytes | None:
        """Return the file of a page that continues the last one; None if that does not pay."""
        layer, backend = page.layer, self._backend
        if layer.tools != self.last.layer.tools:
            return None
        samples = page.decoded(backend, None).samples
        low, high = samples.min(), samples.max()
        if low == high or not ((samples == low) | (samples == high)).all():
            return None
        assert isinstance(layer.tools, LosslessTools)
        params, depth = EncodeParams(0, layer.tools), page.header.depth
        task = PlaneTask(samples, params, depth, chain=self._chains[0])
        own = replace(layer, payload=backend.encode(task, threads=1).payload)
        if len(own.payload) >= len(layer.payload):
            return None
        coded = replace(page, stream=replace(page.stream, layers=(own,)))
        for chain in self._chains[1:]:
            if not (coded.decoded(backend, chain).samples == samples).all():
                raise MmpError("verification failed: a page of a chain decodes to other samples")
        self.last = page
        return page.with_payload(own.payload)


def _page_or_none(file: bytes) -> ChainPage | None:
    """Return a page that may be one of a chain, by its header and layers."""
    try:
        page = ChainPage.of(memoryview(file))
    except FormatError:
        return None
    return None if page.fault else page


def alone(file: PictureBytes) -> bytes:
    """Return a page that continues others as a file of the same samples that decodes alone.

    It has the tools and the own metadata of the page, and is encoded again.

    Raises
    ------
    FormatError
        If the page, or one that it continues, is damaged or beyond the limits.
    """
    samples = decode(file)
    with errors_named(file):
        page = ChainPage.of(file)
    layer = page.layer
    task = PlaneTask(samples, EncodeParams(0, layer.tools), page.header.depth)
    return page.with_payload(backends.get("cpu").encode(task).payload)
