"""Files of several pictures: each role, shared metadata, appended files, and damaged ones."""

import io
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from cases import shipped
from mutate import crc_of

import mmpcodec
from mmpcodec.format import collection
from mmpcodec.format.collection import Contents, RecordKind, Role
from mmpcodec.format.collection_writer import CollectionWriter
from mmpcodec.metadata import Metadata, Resolution
from mmpcodec.opening.contents import read_contents

ICC = bytes(range(256))
TEXT = ("Description", "a text that all pages have, and that is long enough to be kept once")
Added = tuple[bytes, Role, tuple[int, ...]]


def encoded(samples: np.ndarray, lam: int = 0, **options: Any) -> bytes:
    """Return the file of a picture, with a profile and texts unless other metadata are given."""
    options.setdefault("metadata", Metadata(icc=ICC, text=(("Page", "own"), TEXT)))
    return mmpcodec.encode(samples, lam, backend="cpu", effort=1, **options)


def written(*added: Added, loops: int = 0, before: bytes = b"") -> bytes:
    """Return a collection; its pictures follow those of the collection ``before``."""
    stream = io.BytesIO()
    stream.write(before)
    contents = None
    if before:
        contents = read_contents(memoryview(before))
    writer = CollectionWriter(stream, contents, len(before), loops)
    if contents is not None:
        writer.remember(
            bytes(collection.read_metadata(memoryview(before)[p.place : p.place + p.size], p.place))
            for p in contents.metadata
        )
    for data, role, facts in added:
        writer.add(data, role, facts)
    writer.close()
    return stream.getvalue()


@cache
def pages() -> list[Added]:
    """Return pages of different sizes, forms and depths."""
    camera = shipped("camera.pgm")
    ramp = np.arange(9)[:, None] * 20 + np.arange(13)
    rgb = np.stack([ramp, ramp[:, ::-1], ramp // 2], 2).astype(np.uint8)
    alpha = np.concatenate([rgb, np.full((9, 13, 1), 200, np.uint8)], 2)
    deep = (ramp * 100 + 30000).astype(np.uint16)
    other = Metadata(
        xmp=b"<x>" + bytes(80),
        resolution=Resolution(Fraction(300), Fraction(300), "inch"),
        white=60000,
    )
    made = (
        encoded(ramp.astype(np.uint8)),
        encoded(rgb),
        encoded(alpha),
        encoded(deep, metadata=other),
        encoded((ramp % 3 == 0), depth=1),
        encoded(camera[100:140, 200:300], 120),
        encoded(camera[100:230, 200:280], 120, tile_size=64),
    )
    return [(data, Role.PAGE, ()) for data in made]


def collections() -> Iterator[tuple[str, bytes]]:
    """Yield names and bytes of collections."""
    for name, made in {
        "pages": lambda: written(*pages()),
        "frames": frames,
        "slices": slices,
        "levels": levels,
        "appended": lambda: written(*pages()[4:5], before=written(*pages()[:2])),
        "stopped": lambda: written(*pages()[4:5], before=written(*pages()[:2]))[:-20],
        "empty": written,
        "one": lambda: written(pages()[1]),
        "unknown-record": with_unknown_record,
        "last-loop": lambda: written(*frames_of(3), loops=(1 << 62) - 1),
    }.items():
        yield f"collection-{name}", made()


def frames_of(count: int) -> list[Added]:
    """Return frames, of which the first is not shown for any time."""
    moved = [np.roll(np.arange(24, dtype=np.uint8) * 9, shift) for shift in range(count)]
    files = [encoded(line.reshape(4, 6), metadata=Metadata()) for line in moved]
    return [(data, Role.FRAME, (40 * each, 1000)) for each, data in enumerate(files)]


def frames() -> bytes:
    """Return an animation that is shown three times."""
    return written(*frames_of(4), loops=3)


def slices() -> bytes:
    """Return a series of slices of 12 bits, whose places fall."""
    ramp = np.arange(8)[:, None] * 200 + np.arange(10) * 7
    made = [encoded((ramp + each).astype(np.uint16), depth=12) for each in range(3)]
    places = 2_500_000, 0, -2_500_001
    return written(*[(data, Role.SLICE, (at,)) for data, at in zip(made, places, strict=True)])


def levels() -> bytes:
    """Return two pages, of which one has smaller renditions before and behind the other."""
    camera = shipped("camera.pgm")[100:132, 200:232]
    halves = [encoded(camera[:: 2**step, :: 2**step].copy(), 60) for step in range(4)]
    return written(
        (halves[0], Role.PAGE, ()),
        (halves[1], Role.LEVEL, (0,)),
        (halves[3], Role.PAGE, ()),
        (halves[2], Role.LEVEL, (0,)),
        (halves[3], Role.THUMBNAIL, (0,)),
        (halves[3], Role.THUMBNAIL, (2,)),
    )


def with_unknown_record() -> bytes:
    """Return a collection with records of kinds that a decoder skips."""
    unknown = collection.write_record(RecordKind(1), 5, b"fields")  # of kind 1, changed below
    unknown = b"\x09" + unknown[1:-4]
    unknown += crc_of(unknown) + b"12345"
    first, *others = pages()[:2]
    stream = io.BytesIO()
    writer = CollectionWriter(stream)
    writer.add(*first)
    before = read_contents(memoryview(written(first)))
    place = stream.tell() + len(unknown)
    stream.write(unknown)
    writer = CollectionWriter(stream, before, place)
    for each in others:
        writer.add(*each)
    writer.close()
    return stream.getvalue()


BOOK = written(*pages()[:2], (pages()[0][0], Role.FRAME, (1, 2)))
SERIES = written((pages()[0][0], Role.PAGE, ()), (pages()[1][0], Role.THUMBNAIL, (0,)))


def with_index(data: bytes, change: Callable[[Contents], Contents]) -> bytes:
    """Return a collection with another index."""
    contents = change(read_contents(memoryview(data)))
    return data[: -collection.index_bytes(memoryview(data), len(data))] + collection.write_index(
        contents
    )


def with_entry(data: bytes, number: int, **values: Any) -> bytes:
    """Return a collection with other fields of an entry of its index."""

    def changed(contents: Contents) -> Contents:
        contents.entries[number] = replace(contents.entries[number], **values)
        return contents

    return with_index(data, changed)


def with_fields(data: bytes, old: bytes, new: bytes) -> bytes:
    """Return a collection with other bytes in the fields of its index, once."""
    size = collection.index_bytes(memoryview(data), len(data))
    record = collection.read_head(memoryview(data)[-size:], len(data) - size)
    fields = data[record.body.place : -collection.END_BYTES]
    if fields.count(old) != 1:
        raise ValueError(f"{fields.hex(' ')} has {old.hex(' ')} {fields.count(old)} times")
    return data[:-size] + index_of(fields.replace(old, new))


def index_of(fields: bytes, own: bytes = b"") -> bytes:
    """Return an index with these fields in its body and its record, and right sizes and CRCs."""
    head = collection.write_record(RecordKind.INDEX, len(fields) + collection.END_BYTES, own)
    size = len(head) + len(fields) + collection.END_BYTES
    checked = fields + size.to_bytes(collection.SIZE_BYTES, "big")
    return head + checked + crc_of(checked) + collection.END_MAGIC


def damaged_collections() -> Iterator[tuple[str, bytes, int | None]]:
    """Yield names and bytes of collections with one error, and the page that has it."""
    for name, data, page in (*damaged_indexes(), *damaged_pictures()):
        yield f"bad-collection-{name}", data, page


def damaged_indexes() -> Iterator[tuple[str, bytes, None]]:
    """Yield collections of which no picture may be shown."""
    size = collection.index_bytes(memoryview(BOOK), len(BOOK))
    whole = read_contents(memoryview(BOOK))
    records = BOOK[:-size]
    yield "without-index", records, None
    yield "cut", BOOK[:-1], None
    yield "bytes-follow", BOOK + b"\x01\0\0" + bytes(4), None
    yield "index-magic", BOOK[:-1] + b"\x1b", None
    yield "index-crc", BOOK[:-8] + bytes(4) + BOOK[-4:], None
    yield "index-size", BOOK[:-13] + bytes(4) + b"\x0d" + BOOK[-8:], None
    yield "index-size-beyond", BOOK[:-13] + b"\0\0\xff\xff\xff" + BOOK[-8:], None
    fields = b"".join(map(collection.number, (0, 0, 0)))
    kind = collection.write_record(RecordKind.METADATA, len(fields) + 13)
    yield "index-of-other-kind", records + kind + index_of(fields)[len(kind) :], None
    yield "index-with-fields", records + index_of(fields, b"x"), None
    yield "index-longer", records + index_of(fields + b"\0"), None
    yield "index-shorter", records + index_of(fields[:-1]), None
    yield "pictures", records + index_of(b"\0\0\x7f"), None
    yield "metadata-records-65537", records + index_of(b"\0\x81\x80\x04" + bytes(70000)), None
    yield "head-as-picture", with_entry(BOOK, 0, place=9, size=9), None
    yield "picture-beyond", with_entry(BOOK, 2, size=len(records)), None
    yield "place-beyond", with_entry(BOOK, 2, place=len(BOOK)), None
    yield "metadata-behind", with_index(BOOK, metadata_behind), None
    yield "role-8", with_fields(BOOK, bytes(first_fields(whole, 2)), b"\x08\x01\x02"), None
    yield "parts-0", with_entry(BOOK, 2, facts=(1, 0)), None
    yield "form-4", with_entry(BOOK, 1, form=4), None
    yield "depth-0", with_entry(BOOK, 1, depth=0), None
    yield "depth-17", with_entry(BOOK, 1, depth=17), None
    yield "width-0", with_entry(BOOK, 1, width=0), None
    yield "height-16777217", with_entry(BOOK, 1, height=(1 << 24) + 1), None
    yield "shared-beyond", with_entry(BOOK, 0, shared=(0, len(whole.metadata))), None
    yield "shared-twice", with_entry(BOOK, 0, shared=(0, 0)), None
    yield "shared-17", with_entry(BOOK, 0, shared=tuple(range(17))), None
    yield "level-of-itself", with_entry(SERIES, 1, facts=(1,)), None
    yield "level-of-none", with_entry(SERIES, 0, role=Role.LEVEL, facts=(0,)), None
    yield "level-of-level", with_index(SERIES, level_of_level), None
    yield "long-number", records + index_of(b"\x80\0\0\0"), None


def first_fields(contents: Contents, number: int) -> bytes:
    """Return role and facts of an entry, as the index has them."""
    entry = contents.entries[number]
    return bytes([entry.role, *entry.facts])


def metadata_behind(contents: Contents) -> Contents:
    """Let a picture name a metadata record behind it."""
    last = contents.entries[-1]
    contents.metadata.append(collection.Extent(last.place + last.size, 0))
    contents.entries[0] = replace(contents.entries[0], shared=(len(contents.metadata) - 1,))
    return contents


def level_of_level(contents: Contents) -> Contents:
    """Let a level be one of a thumbnail."""
    last = contents.entries[-1]
    more = replace(last, role=Role.LEVEL, facts=(1,), place=last.place + last.size, size=0)
    contents.entries.append(more)
    return contents


def damaged_pictures() -> Iterator[tuple[str, bytes, int]]:
    """Yield collections of which one picture may not be shown, and its number."""
    whole = read_contents(memoryview(BOOK))
    middle = whole.entries[1]
    last = middle.place + middle.size - 1
    yield "picture-crc", BOOK[:last] + bytes([BOOK[last] ^ 1]) + BOOK[last + 1 :], 2
    yield "picture-cut", with_entry(BOOK, 1, size=middle.size - 1), 2
    yield "picture-longer", with_entry(BOOK, 1, size=middle.size + 1), 2
    yield "picture-empty", with_entry(BOOK, 1, size=0), 2
    yield "picture-moved", with_entry(BOOK, 1, place=middle.place + 1, size=middle.size - 1), 2
    yield "other-width", with_entry(BOOK, 1, width=14), 2
    yield "other-form", with_entry(BOOK, 1, form=0), 2
    yield "other-depth", with_entry(BOOK, 1, depth=7), 2
    at = whole.metadata[0].place + 9
    yield "metadata-crc", BOOK[:at] + bytes([BOOK[at] ^ 1]) + BOOK[at + 1 :], 3
    yield "metadata-cut", with_index(BOOK, metadata_cut), 1
    double = encoded(np.zeros((2, 2), np.uint8), metadata=Metadata(icc=b"own"))
    yield "second-icc", with_shared(double, (0,)), 1
    yield "metadata-longer", with_metadata(b"\0\0"), 1
    yield "metadata-cut-chunk", with_metadata(b"\x01\x01\x09"), 1
    yield "nested", nested(), 1


def metadata_cut(contents: Contents) -> Contents:
    """Let the first metadata record be of three bytes."""
    contents.metadata[0] = replace(contents.metadata[0], size=3)
    return contents


def with_shared(data: bytes, shared: tuple[int, ...]) -> bytes:
    """Return a collection whose second picture has metadata of the first one."""
    made = written(pages()[0], (data, Role.PAGE, ()))
    contents = read_contents(memoryview(made))
    assert contents.entries[1].shared == ()
    contents.entries.pop(0)
    contents.entries[0] = replace(contents.entries[0], shared=shared)
    size = collection.index_bytes(memoryview(made), len(made))
    return made[:-size] + collection.write_index(contents)


def with_metadata(body: bytes) -> bytes:
    """Return a collection of one picture that names a metadata record with this body."""
    whole = collection.write_metadata(body)
    head = collection.HEAD + collection.write_record(RecordKind.METADATA, len(whole))
    contents = Contents(metadata=[collection.Extent(len(head), len(whole))])
    stream = io.BytesIO()
    stream.write(head + whole)
    writer = CollectionWriter(stream, contents, len(head + whole))
    entry = writer.add(encoded(np.zeros((2, 2), np.uint8), metadata=Metadata()))
    contents.entries.append(replace(entry, shared=(0,)))
    return stream.getvalue() + collection.write_index(contents)


def nested() -> bytes:
    """Return a collection whose picture is a collection."""
    inner = written(pages()[0])
    entry = replace(read_contents(memoryview(inner)).entries[0], shared=())
    record = collection.write_record(
        RecordKind.PICTURE, len(inner), collection.write_entry(replace(entry, size=len(inner)))
    )
    place = len(collection.HEAD + record)
    contents = Contents([replace(entry, place=place, size=len(inner))])
    return collection.HEAD + record + inner + collection.write_index(contents)
