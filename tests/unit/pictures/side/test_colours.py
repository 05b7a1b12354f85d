"""Colours that files give by numbers: kept, shown, written again, or named as lost."""

import struct

import numpy as np
import pytest
from support.picture_files import GRAY, png_of, rows_of

import mmpcodec
from mmpcodec import ParameterError, pictures
from mmpcodec.cli.commands.info.text import metadata_facts
from mmpcodec.metadata import Colours, Metadata
from mmpcodec.pictures import Picture

SHARP = (31270, 32900, 68000, 32000, 26500, 69000, 15000, 6000)
CICP, GAMMA = (b"cICP", bytes([9, 16, 0, 1])), (b"gAMA", struct.pack(">I", 100000))
CHROMA = (b"cHRM", struct.pack(">8I", *SHARP))


@pytest.mark.parametrize(
    ("chunks", "colours"),
    [
        ([CICP], Colours(9, 16)),
        ([(b"cICP", bytes([1, 1, 0, 0]))], Colours(1, 1, full_range=False)),
        ([GAMMA, CHROMA], Colours(gamma=100000, chromaticities=SHARP)),
        ([CICP, GAMMA, CHROMA], Colours(9, 16, True, 100000, SHARP)),
        ([(b"sRGB", b"\0"), GAMMA, CHROMA], None),
        ([], None),
    ],
)
def test_png_mmp_and_png_again(chunks, colours):
    found = pictures.from_bytes(png_of((1, 1, 8, 0), [*chunks, rows_of([7])]))
    assert found.metadata == Metadata(colours=colours)
    coded = mmpcodec.encode(found.samples, lam=0, metadata=found.metadata)
    assert mmpcodec.inspect(coded).header.metadata.colours == colours
    again = pictures.from_bytes(pictures.to_bytes(found, "png"))
    assert again.metadata == found.metadata
    assert pictures.lost(found, "png") == ()
    for format in ("tif", "jpg", "webp"):
        assert pictures.lost(found, format) == (() if colours is None else ("colours",))
    assert found.metadata.without("colours") == Metadata()


def test_avif_says_by_numbers_what_its_colours_are():
    codec = pytest.importorskip("imagecodecs")
    ramp = np.dstack([np.arange(256, dtype=np.uint16).reshape(16, 16)] * 3) * 4
    for numbers, colours in (((9, 16), Colours(9, 16)), ((1, 13), None)):
        data = codec.avif_encode(
            ramp, bitspersample=10, primaries=numbers[0], transfer=numbers[1], matrix=9
        )
        assert pictures.from_bytes(data).metadata.colours == colours


def test_colours_in_words():
    metadata = Metadata(colours=Colours(9, 16, False, 45455, SHARP))
    assert metadata_facts(metadata)["colours"] == (
        "primaries 9 (BT.2020), transfer 16 (PQ), narrow range, gamma 0.45455, white, red, green, "
        "blue at 0.3127 0.329 0.68 0.32 0.265 0.69 0.15 0.06"
    )
    assert pictures.lost(Picture(GRAY, 8, metadata), "npy") == ("colours",)


@pytest.mark.parametrize(
    "wrong", [{"primaries": 256}, {"gamma": -1}, {"chromaticities": (1, 2)}, {"transfer": 1.5}]
)
def test_wrong_numbers_are_refused(wrong):
    with pytest.raises(ParameterError):
        Colours(**wrong)
