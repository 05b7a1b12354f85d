"""Decoding of many files at once."""

import numpy as np
import pytest
from support.strategies import natural

import mmpcodec
from mmpcodec import Cancelled, CorruptStream, ParameterError
from mmpcodec.codec.series import decoding

PICTURES = [natural(np.random.default_rng(n), 20 + n, 30) for n in range(7)]
FILES = [mmpcodec.encode(picture, 30) for picture in PICTURES]
DECODED = [mmpcodec.decode(file) for file in FILES]


@pytest.mark.parametrize("part", [1, 3, 64])
@pytest.mark.parametrize("backend", ["auto", "cpu", "reference"])
def test_gives_what_decode_gives(backend, part, monkeypatch):
    monkeypatch.setattr(decoding, "PART", part)
    calls = []
    found = mmpcodec.decode_batch(
        FILES[:4], backend=backend, progress=lambda *args: calls.append(args) or True
    )
    assert [one.tobytes() for one in found] == [one.tobytes() for one in DECODED[:4]]
    assert calls[-1] == (4, 4)


def test_writes_to_arrays():
    out = [np.empty_like(picture) for picture in PICTURES]
    assert mmpcodec.decode_batch(FILES, out=out) == out
    for one, expected in zip(out, DECODED, strict=True):
        np.testing.assert_array_equal(one, expected)
    stack = np.empty((3, *PICTURES[0].shape), np.uint8)
    mmpcodec.decode_batch([FILES[0]] * 3, out=stack)
    np.testing.assert_array_equal(stack, np.stack([DECODED[0]] * 3))


def test_decodes_no_file():
    assert mmpcodec.decode_batch([]) == []


def test_refuses_another_number_of_arrays():
    with pytest.raises(ParameterError, match="out has 1 arrays: must be 2, one for each file"):
        mmpcodec.decode_batch(FILES[:2], out=[np.empty_like(PICTURES[0])])


def test_the_first_bad_file_raises_its_error():
    bad = bytearray(FILES[1])
    bad[-5] ^= 1
    with pytest.raises(CorruptStream, match="stream CRC"):
        mmpcodec.decode_batch([FILES[0], bytes(bad)])


def test_cancels():
    with pytest.raises(Cancelled):
        mmpcodec.decode_batch(FILES, progress=lambda done, total: False)
