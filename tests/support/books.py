"""Collections that tests write."""

import io
from pathlib import Path

import mmpcodec
from mmpcodec.format.collection import Role
from mmpcodec.format.collection_writer import CollectionWriter


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
