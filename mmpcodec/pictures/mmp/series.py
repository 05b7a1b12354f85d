"""The pictures of an mmp file as a sequence, each opened when it is first used."""

import os
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, overload

from mmpcodec.collection.contents import check_header, file_of, is_collection, read_contents
from mmpcodec.collection.contents import metadata_of as joined_metadata
from mmpcodec.errors import FormatError, PictureError
from mmpcodec.format.collection import Contents, Extent, PictureEntry, Role
from mmpcodec.format.container import read_header
from mmpcodec.limits import DecodeLimits
from mmpcodec.metadata import Metadata
from mmpcodec.pictures.mmp.reader import MmpReader
from mmpcodec.runtime import stores
from mmpcodec.runtime.files import PathBytes, Source

NANOMETRES = 10**6
"""In a millimetre."""


class SeriesPicture(MmpReader):
    """A picture of a file of several; reads its parts as ``MmpReader`` does.

    Its size, depth and role are known without reading it.

    Parameters
    ----------
    source : path or str
        See ``MmpReader``.
    contents : Contents
        What the file holds.
    number : int
        Number of the entry, from 0.
    **how
        See ``MmpReader``.
    """

    opens_at_once = False

    def __init__(self, source: str, contents: Contents, number: int, **how: Any):
        self._entry = contents.entries[number]
        self._shared = tuple(contents.metadata[place] for place in self._entry.shared)
        self._renditions = contents.renditions(number)
        super().__init__(source, keep_open=False, **how)
