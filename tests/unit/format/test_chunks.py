"""Metadata of damaged files, chunk by chunk."""

from mmpcodec.format import chunks
from mmpcodec.format.numbers import Fields, number
from mmpcodec.metadata import Metadata


def test_texts_and_unknown_kinds_may_come_twice():
    metadata = Metadata(text=(("Title", "A picture"), ("Title", "a second time")))
    unknown = number(1000) + number(1) + b"?"
    data = number(4) + chunks.write(metadata)[1:] + 2 * unknown
    faults = []
    assert chunks.read_good(Fields(memoryview(data), "Metadata"), 8, faults) == metadata
    assert faults == []
