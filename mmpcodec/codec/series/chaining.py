"""Pages of two values that continue one another: what makes them of pages that stand alone."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from mmpcodec import backends
from mmpcodec.backends.base import PlaneTask
from mmpcodec.checks import check_int
from mmpcodec.codec.layers.tasks import has_two_values
from mmpcodec.codec.tiles.chains import ChainPage
from mmpcodec.codec.tiles.renditions import add_with_levels, joined, parts_of
from mmpcodec.errors import CorruptStream, FormatError, MmpError
from mmpcodec.format.collection import MOST_CHAINED, Role, bytes_of_chain
from mmpcodec.format.collection_writer import CollectionWriter
from mmpcodec.params import EncodeParams
from mmpcodec.trace import Coded

Item = TypeVar("Item")


class ChainedFile(NamedTuple):
    """The file of a page, after it was tried as one of a chain.

    Parameters
    ----------
    data : bytes
    back : int
        How many pages before is the one that it continues; 0 if it decodes alone.
    saved : int
        Bytes by which the collection is smaller than with the file that decodes alone.
    bits : dict of str to float or None
        Ideal code length of each syntax element, in bits; None if it decodes alone.
    """

    data: bytes
    back: int = 0
    saved: int = 0
    bits: dict[str, float] | None = None


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
        main, levels = parts[number]
        data = None if chain is None else chain.continued(page)
        records = sum(1 + len(each) for _, each in parts[last:number])
        saved = 0 if data is None else _saving(len(main) - len(data), records)
        if chain is not None and data is not None and saved > 0:
            found[number] = ChainedFile(joined(data, levels), number - last, saved, chain.bits)
        else:
            chain = _ChainEncoder.begun(page, (width, rows), verify=verify) or chain
        last = number if chain is not None and chain.last is page else last
    return found


def chains_of(items: Iterable[Item], most: int) -> Iterator[list[Item]]:
    """Yield the items of each chain of at most ``most``, as soon as they are there."""
    group: list[Item] = []
    for item in items:
        group.append(item)
        if len(group) == most:
            yield group
            group = []
    if group:
        yield group


def chained_files(files: Iterable[bytes], most: int) -> Iterator[ChainedFile]:
    """Make pages continue others, in chains of at most ``most`` pages; see ``in_chain``."""
    for group in chains_of(files, most):
        yield from in_chain(group)


def _saving(gross: int, back: int) -> int:
    """Return the bytes that a page saves whose file is ``gross`` bytes smaller, at least.

    ``back`` is how many pictures before is the one that it continues, levels among them.
    """
    saved = gross
    while saved > 0 and saved + bytes_of_chain(back, saved) > gross:
        saved -= 1
    return saved


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
        self.bits: dict[str, float] = {}
        """Ideal code length of each syntax element of the last page that was continued."""
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
        """Return the file of a page that continues the last one; None if it can not.

        The chain is of no use if this file is not taken.
        """
        backend = self._backend
        if page.layer.tools != self.last.layer.tools:
            return None
        samples = page.decoded(backend, None).samples
        if not has_two_values(samples):
            return None
        coded = encoded_again(page, samples, self._chains[0])
        file = page.with_payload(coded.payload)
        for chain in self._chains[1:]:
            own = ChainPage.of(memoryview(file))
            if not (own.decoded(backend, chain).samples == samples).all():
                raise MmpError("verification failed: a page of a chain decodes to other samples")
        self.last, self.bits = page, dict(coded.trace.bits)
        return file


def encoded_again(page: ChainPage, samples: np.ndarray, chain: Any = None) -> Coded:
    """Encode the samples of a page with its tools; ``chain`` is as in ``PlaneTask``."""
    task = PlaneTask(samples, EncodeParams(0, page.layer.tools), page.header.depth, chain=chain)
    return backends.get("cpu").encode(task, threads=1)


def _page_or_none(file: bytes) -> ChainPage | None:
    """Return a page that may be one of a chain, by its header and layers."""
    try:
        page = ChainPage.of(memoryview(file))
    except FormatError:
        return None
    return None if page.fault else page
