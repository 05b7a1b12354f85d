"""Files of several pictures."""

import io
from collections.abc import Sequence

import numpy as np

import mmpcodec
from mmpcodec.format.collection import Role
from mmpcodec.format.collection_writer import CollectionWriter
from mmpcodec.pictures import Picture
from mmpcodec.pictures.books.book import Book


def collection(
    pictures: Sequence[Picture],
    role: Role = Role.PAGE,
    facts: Sequence[tuple[int, ...]] | None = None,
    loops: int = 0,
) -> bytes:
    """Return an mmp file of these pictures, without loss."""
    stream = io.BytesIO()
    writer = CollectionWriter(stream, loops=loops)
    for number, one in enumerate(pictures):
        data = mmpcodec.encode(one.samples, 0, depth=one.depth, metadata=one.metadata)
        writer.add(data, role, () if facts is None else facts[number])
    writer.close()
    return stream.getvalue()


def book(
    pictures: Sequence[Picture],
    role: Role = Role.PAGE,
    facts: Sequence[tuple[int, ...]] = (),
    loops: int = 0,
) -> Book:
    """Return a book of these pictures."""
    return Book("book", len(pictures), lambda number: pictures[number], role, facts, loops)


def noisy(shape: tuple[int, ...], depth: int, seed: int = 0, **metadata: object) -> Picture:
    """Return a picture of random samples."""
    kind = np.uint8 if depth <= 8 else np.uint16
    samples = np.random.default_rng(seed).integers(0, 1 << depth, shape).astype(kind)
    return Picture(samples, depth, mmpcodec.metadata.Metadata(**metadata))
