"""Source colours: round trips, bytes saved, corrections, and errors."""

import numpy as np
import pytest
from support.planes import COLOURS, made_from

from mmpcodec import CorruptStream
from mmpcodec.reference.entropy.binary import BinaryModels
from mmpcodec.reference.entropy.symbols import SymbolReader, SymbolWriter
from mmpcodec.reference.entropy.syntax import LOSSLESS_SYNTAX
from mmpcodec.reference.lossless.coder import decode_planes, encode_planes
from mmpcodec.reference.lossless.source_colours.colours import (
    JPEG,
    PHOTO_CD,
    SourceColours,
    code_colours,
    interpolated,
    to_pixels,
)
from mmpcodec.reference.lossless.source_colours.corrections import LengthCoder, code_corrections
from mmpcodec.reference.lossless.streams import joined
from mmpcodec.reference.lossless.values import code_values, used_values
from mmpcodec.tools import LosslessTools

FAST = LosslessTools(1)


def silent(done, total):
    pass


def writer():
    return SymbolWriter(LOSSLESS_SYNTAX, coarse=True)


def reader(stream):
    return SymbolReader(stream, LOSSLESS_SYNTAX, coarse=True)


@pytest.mark.parametrize("colours", COLOURS, ids=str)
def test_round_trip_in_fewer_bytes(colours):
    made = made_from(colours, (27, 34))
    plain, *_ = encode_planes(made.planes, 8, FAST, silent)
    payload, shown, bits, cells = encode_planes(made.planes, 8, FAST, silent, None, made)
    decoded, same_bits, same_cells = decode_planes(payload, (3, 27, 34), 8, FAST, silent)
    np.testing.assert_array_equal(decoded, made.planes)
    np.testing.assert_array_equal(shown, made.planes)
    assert bits == same_bits
    np.testing.assert_array_equal(cells, same_cells)
    assert len(payload) < 0.87 * len(plain)


@pytest.mark.parametrize("colours", [each for each in COLOURS if any(each.halved)], ids=str)
@pytest.mark.parametrize("form", [2, 3])
def test_corrections_and_alpha(colours, form):
    made = made_from(colours, (11, 14), corrected=9)
    planes = np.concatenate([made.planes, made.luma[None] // 2])
    tools = LosslessTools(form)
    payload, shown, *_ = encode_planes(planes, 8, tools, silent, None, made)
    np.testing.assert_array_equal(shown, planes)
    np.testing.assert_array_equal(decode_planes(payload, planes.shape, 8, tools, silent)[0], planes)


def test_colours_of_single_pixels():
    """Values of libjpeg, and of a PhotoCD."""
    luma = np.array([[120, 120, 3, 250, 0]])
    chroma = [np.array([[128, 90, 200, 255, 0]]), np.array([[128, 200, 77, 3, 255]])]
    found = to_pixels(luma, chroma, JPEG)
    assert found.transpose(1, 2, 0).tolist() == [
        [[120, 120, 120], [82, 221, 53], [15, 0, 131], [255, 75, 255], [0, 178, 0]]
    ]
    found = to_pixels(np.array([[80]]), [np.array([[151]]), np.array([[137]])], PHOTO_CD)
    assert found[:, 0, 0].tolist() == [110, 108, 97]


def test_interpolation_of_single_samples():
    chroma = np.array([[10, 20, 41, 50], [60, 77, 90, 100], [111, 120, 135, 140]])
    both = SourceColours(JPEG, (True, True))
    expected = [
        [9 * 77 + 3 * 60 + 3 * 20 + 10 + 8, 9 * 77 + 3 * 90 + 3 * 20 + 41 + 7],
        [9 * 77 + 3 * 60 + 3 * 120 + 111 + 8, 9 * 77 + 3 * 90 + 3 * 120 + 135 + 7],
    ]
    expected[0] += [9 * 90 + 3 * 77 + 3 * 41 + 20 + 8, 9 * 90 + 3 * 100 + 3 * 41 + 50 + 7]
    expected[1] += [9 * 90 + 3 * 77 + 3 * 135 + 120 + 8, 9 * 90 + 3 * 100 + 3 * 135 + 140 + 7]
    assert interpolated(chroma, both, (2, 4)).tolist() == (np.array(expected) >> 4).tolist()
    columns = SourceColours(JPEG, (False, True), (0, 1))
    assert interpolated(chroma[:1], columns, (1, 3)).tolist() == [
        [(60 + 41 + 2) >> 2, (3 * 41 + 20 + 1) >> 2, (3 * 41 + 50 + 2) >> 2]
    ]
    photo = SourceColours(PHOTO_CD, (True, True), (1, 1))
    assert interpolated(chroma, photo, (2, 2)).tolist() == [
        [(77 + 90 + 120 + 135 + 2) >> 2, (90 + 135 + 1) >> 1],
        [(120 + 135 + 1) >> 1, 135],
    ]


@pytest.mark.parametrize("number", [0, 1, 2, 254, 255, 65534, 65535, 65536, 2**24, 2**31 - 2])
def test_numbers(number):
    coder = writer()
    LengthCoder(coder).code(number)
    assert LengthCoder(reader(coder.finish())).code(None) == number


def beginning(kind, *bits):
    coder = writer()
    coder.plain("map", 2, kind)
    for bit in bits:
        coder.plain("map", 1, bit)
    return coder.finish()


@pytest.mark.parametrize(
    ("stream", "says"),
    [
        (beginning(3), "colours are 3, allowed is 0 to 2"),
        (beginning(2, 1, 0, 0), "chroma of PhotoCD is halved along one axis only"),
        (beginning(2, 0, 1, 1), "chroma of PhotoCD is halved along one axis only"),
    ],
)
def test_colours_that_do_not_exist(stream, says):
    with pytest.raises(CorruptStream, match=f"Source colours: {says}"):
        code_colours(reader(stream), None)
    native = pytest.importorskip("mmpcodec._cpu")
    payload = joined([stream, b"", b""])
    with pytest.raises(CorruptStream, match=says):
        decode_planes(payload, (3, 8, 8), 8, FAST, silent)
    with pytest.raises(CorruptStream, match=says):
        native.decode_lossless(payload, (3, 8, 8), 8, FAST, 1, None)


@pytest.mark.parametrize(
    ("place", "difference", "says"),
    [(80, 1, "correction of pixel 80, the tile has 80"), (2, 256, "correction by 256, allowed")],
)
def test_corrections_that_do_not_exist(place, difference, says):
    """An encoder and both decoders name the same fault."""
    with pytest.raises(CorruptStream, match=says):
        list(code_corrections(writer(), (np.array([place]), np.array([difference])), 80))
    payload = _flat_with_corrections([(place, difference)], [])
    with pytest.raises(CorruptStream, match=says):
        decode_planes(payload, (3, 8, 10), 8, FAST, silent)
    native = pytest.importorskip("mmpcodec._cpu")
    with pytest.raises(CorruptStream, match=says):
        native.decode_lossless(payload, (3, 8, 10), 8, FAST, 1, None)


def test_of_two_broken_planes_the_one_of_the_first_pixel_is_named():
    payload = _flat_with_corrections([(50, 1), (60, 256)], [(3, 1), (90, 1)])
    native = pytest.importorskip("mmpcodec._cpu")
    says = "correction of pixel 90, the tile has 80"
    with pytest.raises(CorruptStream, match=says):
        decode_planes(payload, (3, 8, 10), 8, FAST, silent)
    with pytest.raises(CorruptStream, match=says):
        native.decode_lossless(payload, (3, 8, 10), 8, FAST, 1, None)


def _flat_with_corrections(*of_planes):
    """The payload of planes of one value. The corrections of each plane of chroma, which are places
    and differences, are not checked."""
    writers = [writer() for _ in range(3)]
    writers[0].plain("map", 2, JPEG)
    for bit in (1, 1, 0, 0):
        writers[0].plain("map", 1, bit)
    for own in writers:
        code_values(own, 8, used_values(np.array([[128]]), 8), 1)
    for own, corrections in zip(writers[1:], of_planes, strict=True):
        gaps, sizes = LengthCoder(own), LengthCoder(own)
        last, sign = BinaryModels("residual", (1,)), BinaryModels("residual", (1,))
        following = 0
        for place, difference in corrections:
            last.code(own, (0,), 0)
            gaps.code(place - following)
            sign.code(own, (0,), int(difference < 0))
            sizes.code(abs(difference) - 1)
            following = place + 1
        last.code(own, (0,), 1)
    return joined([own.finish() for own in writers])
