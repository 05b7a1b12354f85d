"""Write pictures into a collection, one after the other, to a new file or at the end of one."""

from collections.abc import Sequence
from dataclasses import replace
from typing import BinaryIO

from mmpcodec.checks import check_int
from mmpcodec.errors import ParameterError
from mmpcodec.format import chunks, collection, container
from mmpcodec.format.collection import Contents, Extent, PictureEntry, RecordKind, Role
from mmpcodec.format.numbers import MOST
from mmpcodec.metadata import Metadata

LEAST_SHARED = 64
"""Bytes from which on metadata are held once for all pictures that have them."""


class CollectionWriter:
    """Writes a collection to a stream, which need not be seekable.

    Each picture is written as it is added; ``close`` writes the index. A file that lacks its index,
    because its writer was stopped, opens by its records.

    Parameters
    ----------
    stream : binary stream
        At its beginning; or behind the last record of a collection, whose contents are given.
    contents : Contents or None
        What the file holds already.
    place : int
        Byte offset of the stream.
    loops : int or None
        How often frames are shown, 0 for without end; None keeps what the contents say.
    """

    def __init__(
        self,
        stream: BinaryIO,
        contents: Contents | None = None,
        place: int = 0,
        loops: int | None = None,
    ):
        self._stream = stream
        self._contents = contents or Contents()
        if loops is not None:
            self._contents.loops = check_int("loops", loops, 0, MOST)
        self._place = place
        self._numbers: dict[bytes, int] = {}
        if contents is None:
            self._write(collection.HEAD)

    def __len__(self) -> int:
        """Return the number of pictures."""
        return len(self._contents.entries)

    @property
    def contents(self) -> Contents:
        """What the file holds so far."""
        return self._contents

    @property
    def size(self) -> int:
        """Bytes of the file so far."""
        return self._place

    def remember(self, bodies: Sequence[bytes]) -> None:
        """Take the metadata records that the file holds already, in their order."""
        self._numbers |= {body: place for place, body in enumerate(bodies)}

    def add(self, data: bytes, role: Role = Role.PAGE, facts: Sequence[int] = ()) -> PictureEntry:
        """Add a picture.

        Parameters
        ----------
        data : bytes
            A file of one picture.
        role : Role
        facts : sequence of int
            The numbers of ``FACTS`` for this role.

        Raises
        ------
        ParameterError
            If the facts are not those of the role.
        FormatError
            If the data are no file of one picture.
        """
        role, facts = self._checked(role, facts)
        header = container.read_header(memoryview(data))
        container.check_end(header, memoryview(data)[header.tile_offsets[-1] :], len(data))
        own, shared = _parted(header.metadata)
        numbers = tuple(sorted(self._number_of(body) for body in shared))
        bare = replace(header, metadata=own)
        tiles = memoryview(data)[header.size : header.tile_offsets[-1]]
        file = b"".join([container.write_header(bare), tiles, header.trailer])
        entry = PictureEntry(
            role,
            tuple(facts),
            header.width,
            header.height,
            header.form,
            header.depth,
            numbers,
            len(file),
        )
        self._write(
            collection.write_record(RecordKind.PICTURE, len(file), collection.write_entry(entry))
        )
        entry = replace(entry, place=self._place)
        self._write(file)
        self._contents.entries.append(entry)
        return entry

    def _checked(self, role: Role, facts: Sequence[int]) -> tuple[Role, tuple[int, ...]]:
        """Check the role and the facts of a picture."""
        if role not in list(Role):
            raise ParameterError(f"role = {role!r}: must be a Role")
        role, names = Role(role), collection.FACTS[Role(role)]
        if len(facts) != len(names):
            said = ", ".join(names) or "none"
            raise ParameterError(f"facts = {tuple(facts)}: of role {role.name.lower()} are {said}")
        bounds = {"parts of a second": (1, MOST), "position": (-MOST // 2, MOST // 2)}
        found = tuple(
            check_int(name, value, *bounds.get(name, (0, MOST)))
            for name, value in zip(names, facts, strict=True)
        )
        entries = self._contents.entries
        if role in (Role.LEVEL, Role.THUMBNAIL) and (
            found[0] >= len(entries) or entries[found[0]].of is not None
        ):
            raise ParameterError(f"{names[0]} = {found[0]}: must be that of an earlier page")
        return role, found

    def close(self) -> None:
        """Write the index."""
        self._write(collection.write_index(self._contents))

    def _number_of(self, body: bytes) -> int:
        """Return the number of a metadata record; write it, if it is new."""
        if body not in self._numbers:
            self._numbers[body] = len(self._contents.metadata)
            whole = collection.write_metadata(body)
            self._write(collection.write_record(RecordKind.METADATA, len(whole)))
            self._contents.metadata.append(Extent(self._place, len(whole)))
            self._write(whole)
        return self._numbers[body]

    def _write(self, data: bytes) -> None:
        self._stream.write(data)
        self._place += len(data)


def _parted(metadata: Metadata) -> tuple[Metadata, list[bytes]]:
    """Extent metadata into those of a picture alone, and the chunks that pictures may share."""
    shared = []
    for kind in ("icc", "exif", "xmp"):
        if len(getattr(metadata, kind)) >= LEAST_SHARED:
            shared.append(chunks.write(Metadata(**{kind: getattr(metadata, kind)})))
            metadata = metadata.without(kind)
    long = [pair for pair in metadata.text if sum(map(len, pair)) >= LEAST_SHARED]
    texts = list(dict.fromkeys(long))[: collection.MOST_SHARED - len(shared)]
    shared += [chunks.write(Metadata(text=(pair,))) for pair in texts]
    rest = list(metadata.text)
    for pair in texts:
        rest.remove(pair)  # the first one; a second one that is equal stays
    return replace(metadata, text=tuple(rest)), shared
