"""Write pictures into a collection, one after the other, to a new file or at the end of one."""

import hashlib
import math
from collections.abc import Iterable, Sequence
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


OWN_DICOM = 2
"""Parts of ``Metadata.dicom`` that a picture does not share."""


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
        self._contents = Contents()
        if contents is not None:
            self._contents = replace(
                contents,
                entries=list(contents.entries),
                metadata=list(contents.metadata),
                unfinished=0,
            )
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

    def remember(self, bodies: Iterable[bytes]) -> None:
        """Take the metadata records that the file holds already, in their order."""
        for number, body in enumerate(bodies):
            self._numbers.setdefault(_digest(body), number)

    def add(
        self,
        data: bytes | memoryview,
        role: Role = Role.PAGE,
        facts: Sequence[int] = (),
        continues: int | None = None,
        saved: int = 0,
    ) -> PictureEntry:
        """Add a picture.

        Parameters
        ----------
        data : bytes or memoryview
            A file of one picture.
        role : Role
        facts : sequence of int
            The numbers of ``FACTS`` for this role.
        continues, saved : int or None, int
            See ``PictureEntry``.

        Raises
        ------
        ParameterError
            If the facts are not those of the role, or the picture cannot continue that one.
        FormatError
            If the data are no file of one picture.
        """
        role, facts = self._checked(role, facts)
        if continues is not None:
            self._check_chain(role, continues)
        view = memoryview(data)
        header = container.read_header(view)
        container.check_end(header, view[header.tile_offsets[-1] :], len(view))
        own, numbers = self._parted(header.metadata)
        bare = replace(header, metadata=own)
        tiles = view[header.size : header.tile_offsets[-1]]
        parts = container.write_header(bare), tiles, header.trailer
        size = sum(map(len, parts))
        entry = PictureEntry(
            role,
            tuple(facts),
            header.width,
            header.height,
            header.form,
            header.depth,
            numbers,
            size,
            continues=continues,
            saved=saved,
        )
        fields = collection.write_entry(entry, len(self))
        self._write(collection.write_record(RecordKind.PICTURE, size, fields))
        entry = replace(entry, place=self._place)
        for part in parts:
            self._write(part)
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

    def _check_chain(self, role: Role, continues: int) -> None:
        """Check that a picture of a role can continue one that was added."""
        check_int("continues", continues, 0, MOST)
        if role not in collection.CHAINED_ROLES:
            raise ParameterError(f"continues = {continues}: a {role.name.lower()} continues none")
        if fault := collection.fault_of_chain(self._contents.entries, continues):
            raise ParameterError(f"continues = {continues}: {fault}")

    def close(self) -> None:
        """Write the index."""
        self._write(collection.write_index(self._contents))

    def _parted(self, metadata: Metadata) -> tuple[Metadata, tuple[int, ...]]:
        """Return the metadata of a picture alone, and the records that hold the others.

        A reader gives texts of records after those of the picture, by the numbers of the records.
        So that they keep their order, texts are shared from a long one on up to the last one.
        """
        if len(self._contents.metadata) > collection.MOST_RECORDS - collection.MOST_SHARED:
            return metadata, ()
        numbers = []
        for kind in ("icc", "exif", "xmp"):
            if len(getattr(metadata, kind)) >= LEAST_SHARED:
                numbers.append(self._number_of(Metadata(**{kind: getattr(metadata, kind)})))
                metadata = metadata.without(kind)
        if len(metadata.dicom) == OWN_DICOM + 1:  # the last one is that of a whole series
            numbers.append(self._number_of(Metadata(dicom=metadata.dicom[OWN_DICOM:])))
            metadata = replace(metadata, dicom=metadata.dicom[:OWN_DICOM])
        text = metadata.text
        first = len(text)
        later: list[float] = [math.inf]
        for pair in text[: -(collection.MOST_SHARED - len(numbers)) - 1 : -1]:
            number = self._numbers.get(_digest(chunks.write(Metadata(text=(pair,)))), math.inf)
            # A new record has a higher number than all that are there.
            if number >= min(later) < math.inf or pair in text[first:]:
                break
            later.append(number)
            first -= 1
        while first < len(text) and sum(map(len, text[first])) < LEAST_SHARED:
            first += 1
        numbers += [self._number_of(Metadata(text=(pair,))) for pair in text[first:]]
        return replace(metadata, text=text[:first]), tuple(sorted(numbers))

    def _number_of(self, metadata: Metadata) -> int:
        """Return the number of a metadata record; write it, if it is new."""
        body = chunks.write(metadata)
        key = _digest(body)
        if key not in self._numbers:
            self._numbers[key] = len(self._contents.metadata)
            whole = collection.write_metadata(body)
            self._write(collection.write_record(RecordKind.METADATA, len(whole)))
            self._contents.metadata.append(Extent(self._place, len(whole)))
            self._write(whole)
        return self._numbers[key]

    def _write(self, data: bytes | memoryview) -> None:
        self._stream.write(data)
        self._place += len(data)


def _digest(body: bytes) -> bytes:
    """Return what stands for a metadata record, of which there may be many large ones."""
    return hashlib.sha256(body).digest()
