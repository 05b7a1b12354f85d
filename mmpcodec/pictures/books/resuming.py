"""What an earlier run has written of a collection, behind which another one goes on."""

from dataclasses import dataclass, field

from mmpcodec.errors import FormatError
from mmpcodec.format import collection
from mmpcodec.format.collection import Contents
from mmpcodec.opening.contents import MOST_PICTURES, Window, is_collection, scanned
from mmpcodec.runtime.files import Source


@dataclass(frozen=True)
class BegunBook:
    """The whole pages at the beginning of a collection.

    Parameters
    ----------
    contents : Contents or None
        None for nothing.
    place : int
        Byte offset behind them.
    metadata : tuple of bytes
        Bodies of the metadata records.
    """

    contents: Contents | None = None
    place: int = 0
    metadata: tuple[bytes, ...] = field(default=(), repr=False)

    @property
    def pages(self) -> int:
        """Number of pictures that are no renditions of others."""
        return 0 if self.contents is None else len(self.contents.pictures)


NOTHING = BegunBook()


def begun_in(source: Source, chain_pages: int = 1) -> BegunBook:
    """Find what an earlier run, which was ended, has written of a collection.

    Its last page is not counted: what belongs to it may lack, and after a power cut the disk may
    lack a part of it. All before it were on the disk when it was begun.

    Parameters
    ----------
    source : Source
    chain_pages : int
        Most pages of a chain; the last chain is not counted.

    Returns
    -------
    BegunBook
        ``NOTHING`` if there is none.
    """
    if not is_collection(source):
        return NOTHING
    faults: list[FormatError] = []
    found = scanned(source, MOST_PICTURES, faults)
    # The search goes on behind damage, where pages may be missing.
    end = faults[0].offset if faults else None
    whole = [e for e in found.entries if end is None or e.place + e.size < end]
    pages = Contents(whole).numbers_of(None)
    last = max(len(pages) - 1, 0) // chain_pages * chain_pages
    entries = whole[: pages[last]] if pages else []
    if not entries:
        return NOTHING
    place = entries[-1].place + entries[-1].size
    shared = [part for part in found.metadata if part.place < place]
    bodies = (collection.read_metadata(Window(source, part)[:], part.place) for part in shared)
    return BegunBook(Contents(entries, shared), place, tuple(map(bytes, bodies)))
