"""Hashes of the context of a sample, by their formulas in the format."""

from mmpcodec.reference.lossless.hashes import key_and_line, summed


def test_hashes():
    assert summed((7, 2)) == (7 * 65599 + 2 * 65599**2) % 2**32
    key, line = key_and_line((3, 0), [5, 9], 15)
    rest = (3 * 65599 + 9 * 65599**4) % 2**32
    total = (rest + 5 * 65599**3) % 2**32
    assert key == (total ^ total >> 15) * 2654435761 % 2**32
    assert line == ((rest ^ rest >> 15) * 2654435761 % 2**32) >> 17
