"""Files of several pictures that tests write."""

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import tifffile
from PIL import Image

import mmpcodec
from mmpcodec.format.collection import Role
from mmpcodec.format.collection_writer import CollectionWriter
from mmpcodec.pictures import Picture
from mmpcodec.pictures.books.book import Book


def collection_of(files, role=Role.PAGE, facts=None, loops=None) -> bytes:
    """Return a collection of mmp files; ``facts`` has those of each picture."""
    stream = io.BytesIO()
    writer = CollectionWriter(stream, loops=loops)
    for number, file in enumerate(files):
        writer.add(file, role, facts[number] if facts else ())
    writer.close()
    return stream.getvalue()


def write_book(path, pictures, role=Role.PAGE, facts=None, loops=None, **options):
    """Write a collection of lossless pictures, and return its path. Options are of ``encode``."""
    options = {"lam": 0, "preset": "lossless", **options}
    files = [mmpcodec.encode(picture, **options) for picture in pictures]
    Path(path).write_bytes(collection_of(files, role, facts, loops))
    return path


def collection(
    pictures: Sequence[Picture],
    role: Role = Role.PAGE,
    facts: Sequence[tuple[int, ...]] | None = None,
    loops: int = 0,
) -> bytes:
    """Return an mmp file of these pictures, without loss."""
    files = [
        mmpcodec.encode(one.samples, 0, depth=one.depth, metadata=one.metadata) for one in pictures
    ]
    return collection_of(files, role, facts, loops)


def book(
    pictures: Sequence[Picture],
    role: Role = Role.PAGE,
    facts: Sequence[tuple[int, ...]] = (),
    loops: int = 0,
) -> Book:
    """Return a book of these pictures."""
    return Book("book", len(pictures), lambda number: pictures[number], role, facts, loops)


def pages_of_tiff(path) -> list[np.ndarray]:
    """Return the samples of the pages of a TIFF file by tifffile; of Group 4 by Pillow."""
    with tifffile.TiffFile(path) as file, Image.open(path) as shown:
        found = []
        for number, page in enumerate(file.pages):
            fax = page.compression == 4
            if fax:
                shown.seek(number)
            found.append(np.array(shown).astype(np.uint8) if fax else page.asarray())
        return found


def noisy(shape: tuple[int, ...], depth: int, seed: int = 0, **metadata: object) -> Picture:
    """Return a picture of random samples."""
    kind = np.uint8 if depth <= 8 else np.uint16
    samples = np.random.default_rng(seed).integers(0, 1 << depth, shape).astype(kind)
    return Picture(samples, depth, mmpcodec.metadata.Metadata(**metadata))
