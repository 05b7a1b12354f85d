"""Small collections for tests."""

import io
from collections.abc import Sequence

import numpy as np

import mmpcodec
from mmpcodec.format.collection import Role
from mmpcodec.format.collection_writer import CollectionWriter
from mmpcodec.metadata import Metadata

ICC = bytes(range(256))
PICTURES = [
    (np.arange(6 * 7).reshape(6, 7) * (number + 1) % 251).astype(np.uint8) for number in range(5)
]
FILES = [mmpcodec.encode(picture, 0, metadata=Metadata(icc=ICC)) for picture in PICTURES]
ROLES: tuple[tuple[Role, tuple[int, ...]], ...] = (
    (Role.PAGE, ()),
    (Role.FRAME, (40, 1000)),
    (Role.SLICE, (-2_500_000,)),
    (Role.LEVEL, (1,)),
    (Role.THUMBNAIL, (0,)),
)


def written(
    *roles: tuple[Role, tuple[int, ...]], files: Sequence[bytes] = FILES, loops: int = 0
) -> bytes:
    """Return a collection of files, as many as roles are given."""
    stream = io.BytesIO()
    writer = CollectionWriter(stream, loops=loops)
    for file, (role, facts) in zip(files, roles, strict=False):
        writer.add(file, role, facts)
    writer.close()
    return stream.getvalue()


BOOK = written(*ROLES)
PAGES = written(*[(Role.PAGE, ())] * 5)
