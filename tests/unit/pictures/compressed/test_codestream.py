"""Tiles and precincts of JPEG 2000, and the tables that they need."""

import io
import struct

import numpy as np
import pytest
from PIL import Image
from support.picture_files import COLOUR, GRAY, file_of

from mmpcodec import PictureError, pictures
from mmpcodec.pictures.compressed.codestream import check_parts

NOISE = np.random.default_rng(0).integers(0, 256, (300, 400, 3)).astype(np.uint8)
SIZ, COD, COC, SOT = b"\xff\x51", b"\xff\x52", b"\xff\x53", b"\xff\x90"


def segment(marker, contents):
    return marker + struct.pack(">H", 2 + len(contents)) + contents


def styles(precinct=None, levels=5):
    """What COD and COC say of a plane."""
    given = b"" if precinct is None else bytes([precinct << 4 | precinct]) * (levels + 1)
    return bytes([precinct is not None]), bytes([levels, 2, 2, 0, 1]) + given


def stream_of(side, tile=None, precinct=None, planes=1, more=b"", in_tile=b""):
    """A codestream of a blank picture; ``more`` and ``in_tile`` are segments of its headers."""
    size = struct.pack(">H8IH", 0, side, side, 0, 0, tile or side, tile or side, 0, 0, planes)
    style, code = styles(precinct)
    main = b"\xff\x4f" + segment(SIZ, size + b"\7\1\1" * planes)
    main += segment(COD, style + b"\0\0\1\0" + code)
    main += segment(b"\xff\x5c", b"\x40" + b"\x40" * 16) + more
    rest = in_tile + b"\xff\x93\x80"
    return main + segment(SOT, struct.pack(">HIBB", 0, 12 + len(rest), 0, 1)) + rest + b"\xff\xd9"


COC_OF_FEW = segment(COC, b"\0" + b"".join(styles(1)))
COD_OF_FEW = segment(COD, styles(1)[0] + b"\0\0\1\0" + styles(1)[1])


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (
            stream_of(2000, precinct=1),
            "JPEG 2000 has more than 66596 precincts, which are supported",
        ),
        (stream_of(2000, precinct=1, planes=3), "JPEG 2000 has more than 199788 precincts"),
        (stream_of(2000, more=COC_OF_FEW), "JPEG 2000 has more than 66596 precincts"),
        (stream_of(2000, more=COD_OF_FEW), "JPEG 2000 has more than 66596 precincts"),
        (stream_of(2000, in_tile=COC_OF_FEW), "JPEG 2000 has more than 66596 precincts"),
        (stream_of(2000, tile=500, precinct=1), "JPEG 2000 has more than 66596 precincts"),
        (
            stream_of(2000, more=segment(b"\xff\x70", COD_OF_FEW)),
            "JPEG 2000 has the marker 0xff70 at byte 80",
        ),
    ],
)
def test_tables_beyond_the_size_of_a_picture_are_refused(data, says):
    with pytest.raises(PictureError, match=f"^x: is damaged or truncated: {says}"):
        pictures.from_bytes(data, "x")


def test_tile_parts_lie_behind_each_other():
    data = stream_of(64)
    check_parts(data)
    place = data.index(SOT) + 6
    for length, says in ((4, "has a tile part that ends before byte"), (16, "has the marker 0x")):
        with pytest.raises(ValueError, match=f"^JPEG 2000 {says}"):
            check_parts(data[:place] + struct.pack(">I", length) + data[place + 4 :])
    check_parts(data[:place] + bytes(4) + data[place + 4 :])  # up to the end


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"tile_size": (32, 32)},
        {"tile_size": (100, 33), "offset": (30, 20), "tile_offset": (5, 5)},
        {"precinct_size": (64, 64), "codeblock_size": (16, 16)},
        {"precinct_size": (32, 32), "codeblock_size": (8, 8), "progression": "RPCL"},
        {"plt": True, "comment": "said", "quality_layers": [20, 10, 1]},
        {"num_resolutions": 1},
        {"num_resolutions": 9},
    ],
)
@pytest.mark.parametrize("boxed", [False, True])
def test_what_encoders_write_is_read(options, boxed):
    for samples in (NOISE, NOISE[..., 0], COLOUR, GRAY):
        small = {} if samples is NOISE or samples.shape == (300, 400) else {"num_resolutions": 2}
        chosen = {**options, **small} if not small or "tile_size" not in options else small
        data = file_of(samples, "JPEG2000", no_jp2=not boxed, **chosen)
        with Image.open(io.BytesIO(data)) as image:
            np.testing.assert_array_equal(pictures.from_bytes(data).samples, np.asarray(image))


@pytest.mark.parametrize("side", [16, 2])
def test_small_tiles_of_jpeg_2000(side):
    samples = np.zeros((64, 64), np.uint8)
    data = file_of(samples, "JPEG2000", no_jp2=True, tile_size=(side, side))
    if side == 16:
        check_parts(data)
    else:
        with pytest.raises(ValueError, match=r"has 1024 tiles, at most 80 are supported"):
            check_parts(data)


@pytest.mark.parametrize(("end", "says"), [(None, "tiles of 0x0"), (30, "ends in its segment SIZ")])
def test_jpeg_2000_without_tiles(end, says):
    data = bytearray(file_of(GRAY, "JPEG2000", no_jp2=True))
    data[24:32] = bytes(8)
    with pytest.raises(ValueError, match=says):
        check_parts(bytes(data[:end]))
