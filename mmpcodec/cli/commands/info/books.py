"""What ``mmp info`` says of a collection: its pictures one by one, and the metadata they share."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from mmpcodec.cli import output
from mmpcodec.cli.commands.info.text import metadata_facts
from mmpcodec.cli.printing import counted
from mmpcodec.errors import FormatError
from mmpcodec.format.collection import Role

if TYPE_CHECKING:
    from mmpcodec.format.collection import Contents, Extent, PictureEntry
    from mmpcodec.format.container import Header
    from mmpcodec.limits import DecodeLimits
    from mmpcodec.runtime.files import Source

NANOMETRES = 10**6
"""In a millimetre."""


@dataclass(frozen=True)
class SharedMetadata:
    """Metadata that are held once: their bytes, what they are, and why they cannot be read."""

    size: int
    kinds: dict[str, Any]
    error: str | None = None


@dataclass(frozen=True)
class DescribedBook:
    """The pictures of a collection.

    Parameters
    ----------
    input : str
    file_size : int
        Bytes.
    contents : Contents
    shared : sequence of SharedMetadata
        Metadata that pictures share, in the order of the file.
    errors : dict of int to str
        Why pictures are broken, by the number of the entry, from 0.
    faults : sequence of str
        Damage of the index; the pictures were then found by their records.
    with_dicom : int
        Number of pictures that hold attributes of DICOM files.
    """

    input: str
    file_size: int
    contents: "Contents"
    shared: Sequence[SharedMetadata]
    errors: dict[int, str]
    faults: Sequence[str]
    with_dicom: int = 0
    of_mmp = True

    @property
    def is_damaged(self) -> bool:
        """Whether a part of the file is damaged."""
        return bool(self.errors or self.faults or any(each.error for each in self.shared))

    @property
    def overhead_bytes(self) -> int:
        """Bytes of records, shared metadata and the index."""
        return self.file_size - sum(entry.size for entry in self.contents.entries)

    def as_dict(self) -> dict[str, Any]:
        """Return the content as JSON can hold it. Numbers of pictures and metadata are from 1."""
        entries = self.contents.entries
        numbers = self.contents.numbers_of(None)
        return {
            "input": self.input,
            "file_bytes": self.file_size,
            "overhead_bytes": self.overhead_bytes,
            "pages": len(numbers),
            "loops": self.contents.loops,
            "shared_metadata": [
                {"bytes": each.size, "kinds": each.kinds, "error": each.error}
                for each in self.shared
            ],
            "with_dicom": self.with_dicom,
            "index_faults": list(self.faults),
            "pictures": [
                {
                    "number": page,
                    **self._facts(number),
                    "renditions": [
                        self._facts(rendition) | self._level_facts(rendition, number)
                        for rendition in self.contents.numbers_of(number)
                    ],
                    "levels_left_out": self._left_out(number),
                }
                for page, number in enumerate(numbers, start=1)
            ],
            "broken": sum(number in self.errors for number in range(len(entries))),
        }

    def _facts(self, number: int) -> dict[str, Any]:
        entry = self.contents.entries[number]
        facts: dict[str, Any] = {
            "role": entry.role.name.lower(),
            "width": entry.width,
            "height": entry.height,
            "form": entry.form.title,
            "depth": entry.depth,
            "bytes": entry.size,
            "bits_per_pixel": bits_per_pixel(entry),
            "shared_metadata": [shared + 1 for shared in entry.shared],
        }
        if entry.role == Role.FRAME:
            facts["duration"] = float(Fraction(*entry.facts))
        if entry.role == Role.SLICE:
            facts["position_mm"] = entry.facts[0] / NANOMETRES
        if entry.continues is not None:
            facts["continues"] = self._page_of(entry.continues)
            facts["chain_saved_bytes"] = entry.saved
        return {**facts, "error": self.errors.get(number)}

    def _page_of(self, number: int) -> int:
        """Return the page, from 1, of the entry of a number."""
        return 1 + self.contents.numbers_of(None).index(number)

    def _factor(self, rendition: int, number: int) -> int | None:
        """Return by which factor a level is smaller than its picture; None for other renditions."""
        from mmpcodec.codec.tiles.reduction import factor_between

        small, large = (self.contents.entries[each] for each in (rendition, number))
        if small.role != Role.LEVEL:
            return None
        return factor_between((large.height, large.width), (small.height, small.width))

    def _level_facts(self, rendition: int, number: int) -> dict[str, Any]:
        """Return what a level is beside its picture; nothing for other renditions."""
        factor = self._factor(rendition, number)
        if factor is None:
            return {}
        small, large = (self.contents.entries[each].size for each in (rendition, number))
        return {"factor": factor, "share": small / large}

    def _left_out(self, number: int) -> list[int]:
        """Return the factors of the levels that a picture with levels lacks."""
        from mmpcodec.codec.tiles.reduction import factors_of

        entry, renditions = self.contents.entries[number], self.contents.numbers_of(number)
        held = {self._factor(each, number) for each in renditions} - {None}
        factors = factors_of(entry.height, entry.width) if held else []
        return [factor for factor in factors if factor not in held]

    def text(self, verbose: bool) -> str:
        shown = output.shown(self.input, "stdin")
        return "\n".join([f"{shown}:", *(f"  {line}".rstrip() for line in self._lines())])

    def _lines(self) -> Iterator[str]:
        entries = self.contents.entries
        roles = Counter(entry.role for entry in entries)
        held = ", ".join(counted(roles[role], role.name.lower()) for role in Role if roles[role])
        yield f"holds    {held or 'no pictures'}"
        pixels = sum(entry.width * entry.height for entry in self.contents.pictures)
        rate = f", {8 * self.file_size / pixels:.3f} bits per pixel" if pixels else ""
        yield f"file     {self.file_size} bytes{rate}"
        yield (
            f"overhead {self.overhead_bytes} bytes of records, shared metadata and index, "
            f"{self.overhead_bytes / self.file_size:.1%} of the file"
        )
        if roles[Role.FRAME]:
            loops = self.contents.loops
            yield f"frames   are shown {counted(loops, 'time') if loops else 'without end'}"
        saved = [entry.saved for entry in entries if entry.continues is not None]
        if saved:
            verb = "continues another one" if len(saved) == 1 else "continue others"
            several = counted(len(saved), "picture")
            yield f"chains   {several} {verb}, which saves {sum(saved)} bytes"
        for number, each in enumerate(self.shared, start=1):
            names = ", ".join(each.kinds) or "nothing that is known"
            count = sum(number - 1 in entry.shared for entry in entries)
            yield (
                f"shared   metadata {number}, {each.size} bytes, of {counted(count, 'picture')}: "
                f"{each.error or names}"
            )
        if self.with_dicom:
            held = counted(self.with_dicom, "picture")
            yield f"dicom    attributes of {held}, which may name the patient"
        for fault in self.faults:
            yield f"bad      {fault}"
        if self.faults:
            yield "         the pictures were found by their records"
        if entries:
            yield from ("", *self._table(), "", "--page N describes one of them")

    def _table(self) -> Iterator[str]:
        rows: list[tuple[str, ...]] = [
            ("picture", "role", "size", "samples", "bytes", "bits/pixel", "")
        ]
        for page, number in enumerate(self.contents.numbers_of(None), start=1):
            left_out = [f"1/{factor}" for factor in self._left_out(number)]
            lacks = [f"without level {', '.join(left_out)}"] if left_out else []
            rows.append((str(page), *self._cells(number, lacks)))
            for other in self.contents.numbers_of(number):
                level = self._level_facts(other, number)
                said = [f"1/{level['factor']}, +{level['share']:.1%} bytes"] if level else []
                rows.append(("", *self._cells(other, said)))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for number, row in enumerate(rows):
            cells = [
                cell.rjust(width) if column in (0, 4, 5) else cell.ljust(width)
                for column, (cell, width) in enumerate(zip(row[:-1], widths, strict=False))
            ]
            yield "  ".join([*cells, row[-1]]) if number else "  ".join(cells)

    def _cells(self, number: int, notes: list[str]) -> tuple[str, ...]:
        """Return the cells of a row behind the first; the last one has the notes."""
        entry = self.contents.entries[number]
        if entry.role == Role.FRAME:
            notes.append(f"{float(Fraction(*entry.facts)):g} s")
        if entry.role == Role.SLICE:
            notes.append(f"at {entry.facts[0] / NANOMETRES:g} mm")
        if entry.continues is not None:
            notes.append(f"continues {self._page_of(entry.continues)}, -{entry.saved} bytes")
        if entry.shared:
            notes.append(f"metadata {', '.join(str(shared + 1) for shared in entry.shared)}")
        if number in self.errors:
            notes.append(f"BROKEN: {self.errors[number]}")
        return (
            entry.role.name.lower(),
            f"{entry.width}x{entry.height}",
            f"{entry.form.title} of {counted(entry.depth, 'bit')}",
            str(entry.size),
            f"{bits_per_pixel(entry):.3f}",
            ", ".join(notes),
        )


def bits_per_pixel(entry: "PictureEntry") -> float:
    """Return the bits of the file of a picture by its pixels."""
    return 8 * entry.size / (entry.width * entry.height)


def described_book(
    source: "Source", name: str, limits: "DecodeLimits", *, header_only: bool
) -> DescribedBook:
    """Describe a collection. Its pictures are read one at a time, and none is decoded.

    Parameters
    ----------
    source : Source
    name : str
        Of the file.
    limits : DecodeLimits
    header_only : bool
        Whether the header of each picture is read; else the checksums of its tiles are checked,
        too.

    Raises
    ------
    FormatError
        If there are too many pictures, or none can be found.
    """
    from mmpcodec.opening.contents import read_contents

    faults: list[FormatError] = []
    contents = read_contents(source, limits.max_pictures, faults)
    errors: dict[int, str] = {}
    with_dicom = 0
    for number, entry in enumerate(contents.entries):
        try:
            header = _check(source, contents, entry, limits, header_only=header_only)
            with_dicom += bool(header.metadata.dicom)
        except FormatError as error:
            errors[number] = str(error)
        if entry.continues in errors and number not in errors:
            of = contents.name_of(contents.entries[entry.continues])
            errors[number] = f"continues {of}, which is broken"
    shared = [_shared(source, part, limits) for part in contents.metadata]
    lines = list(map(str, faults))
    return DescribedBook(name, len(source), contents, shared, errors, lines, with_dicom)


def _check(
    source: "Source",
    contents: "Contents",
    entry: "PictureEntry",
    limits: "DecodeLimits",
    *,
    header_only: bool,
) -> "Header":
    """Read and return the header of a picture; also read the checksums of its tiles.

    Raises
    ------
    FormatError
        If they are damaged.
    """
    import mmpcodec
    from mmpcodec.opening.contents import PictureBytes, check_header
    from mmpcodec.opening.header import read_header
    from mmpcodec.opening.windows import Begun

    picture = PictureBytes(source, contents, entry, limits.max_memory)
    if header_only:
        header = read_header(Begun(picture))
        check_header(entry, header)
        return header
    return mmpcodec.inspect(picture, limits=limits).header


def _shared(source: "Source", part: "Extent", limits: "DecodeLimits") -> SharedMetadata:
    """Describe metadata that pictures share."""
    from mmpcodec.opening.contents import check_memory_of_metadata, read_metadata

    try:
        check_memory_of_metadata([part], limits.max_memory)
        kinds = metadata_facts(read_metadata(source, part, 16))
    except FormatError as error:
        return SharedMetadata(part.size, {}, str(error))
    return SharedMetadata(part.size, kinds)
