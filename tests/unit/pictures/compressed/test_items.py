"""The boxes of AVIF and HEIC files that say where streams lie, and how tiles make a picture."""

import struct
import time

import numpy as np
import pytest
from PIL import features
from support.picture_files import file_of

from mmpcodec import DecodeLimits, PictureError, pictures

avif = pytest.mark.skipif(not features.check("avif"), reason="this Pillow reads no AVIF")
GRAY = np.full((64, 64, 3), 90, np.uint8)
SMALL = DecodeLimits(1 << 20)
TEMPORAL_UNIT = b"\x12\0"


def box(kind, *contents):
    return struct.pack(">I4s", 8 + sum(map(len, contents)), kind) + b"".join(contents)


def full(kind, *contents, version=0):
    return box(kind, bytes([version, 0, 0, 0]), *contents)


def found(data, kind):
    place = data.index(kind) - 4
    return data[place : place + int.from_bytes(data[place : place + 4], "big")]


def items(brand, meta, kinds, places, payload):
    """A file of a payload, and of items, numbered from 1, at places in it."""
    entries = [
        full(b"infe", struct.pack(">HH", number, 0), kind, b"\0", version=2)
        for number, kind in enumerate(kinds, 1)
    ]

    def head(start):
        located = b"".join(
            struct.pack(">HHH", number, 0, len(parts))
            + b"".join(struct.pack(">II", start + place, size) for place, size in parts)
            for number, parts in enumerate(places, 1)
        )
        return box(b"ftyp", brand, b"\0\0\0\0", brand, b"mif1miaf") + full(
            b"meta",
            full(b"hdlr", b"\0\0\0\0pict", b"\0" * 13),
            full(b"pitm", struct.pack(">H", 1)),
            full(b"iinf", struct.pack(">H", len(kinds)), *entries),
            full(b"iloc", b"\x44\0", struct.pack(">H", len(kinds)), located),
            *meta,
        )

    return head(len(head(0)) + 8) + box(b"mdat", payload)


def grid_of(tiles, side, said):
    """An AVIF file of tiles x tiles pictures that make one of a side, and say another size."""
    tile = file_of(GRAY, "AVIF")
    stream = found(tile, b"mdat")[8:]
    grid = struct.pack(">BBBBII", 0, 1, tiles - 1, tiles - 1, side, side)
    numbers = range(2, tiles * tiles + 2)
    links = struct.pack(f">HH{len(numbers)}H", 1, len(numbers), *numbers)
    facts = [full(b"ispe", struct.pack(">II", each, each)) for each in (said, 64)]
    uses = [struct.pack(">HB", 1, 2) + b"\1\4"]
    uses += [struct.pack(">HB", number, 3) + b"\2\x83\4" for number in numbers]
    meta = (
        full(b"iref", box(b"dimg", links)),
        box(
            b"iprp",
            box(b"ipco", *facts, found(tile, b"av1C"), found(tile, b"pixi")),
            full(b"ipma", struct.pack(">I", len(uses)), *uses),
        ),
    )
    places = [((0, len(grid)),), *[((len(grid), len(stream)),)] * len(numbers)]
    return items(b"avif", meta, [b"grid", *[b"av01"] * len(numbers)], places, grid + stream)


@avif
def test_tiles_may_share_their_bytes():
    read = pictures.from_bytes(grid_of(4, 256, 256)).samples
    assert read.shape == (256, 256, 3)
    assert np.abs(read.astype(int) - 90).max() <= 2


@avif
def test_the_size_of_a_grid_counts():
    with pytest.raises(PictureError, match=r"^x: is 6400x6400: 40960000 samples, the limit is 10"):
        pictures.from_bytes(grid_of(4, 6400, 64), "x", limits=SMALL)
    with pytest.raises(PictureError, match=r"^x: .*two sizes, \(64, 64\) and \(256, 256\)$"):
        pictures.from_bytes(grid_of(4, 256, 64), "x")


@avif
@pytest.mark.parametrize("size", [(640, 64), (64, 65), (63, 200)])
def test_avif_is_not_scaled_to_the_size_that_its_boxes_say(size):
    data = file_of(GRAY, "AVIF")
    place = data.index(b"ispe") + 8
    data = data[:place] + struct.pack(">II", *size) + data[place + 8 :]
    with pytest.raises(PictureError, match=rf"^x: .*two sizes, \({size[0]}, {size[1]}\) and \(64"):
        pictures.from_bytes(data, "x")


@avif
def test_overlapping_parts_take_no_time():
    stream = TEMPORAL_UNIT * 100_000
    parts = tuple((2 * number, 190_000) for number in range(5000))
    data = items(b"avif", (), [b"av01"], [parts], stream)
    start = time.process_time()
    with pytest.raises(PictureError, match=r"^x: .*its items overlap$"):
        pictures.from_bytes(data, "x")
    assert time.process_time() - start < 2


@avif
def test_parts_of_an_item_are_one_stream():
    """A unit may begin in one part and end in another."""
    stream = found(file_of(np.zeros((2048, 2048), np.uint8), "AVIF"), b"mdat")[8:]
    assert stream[2:3] == b"\x0a"  # a sequence header behind a temporal delimiter
    data = items(b"avif", (), [b"av01"], [((0, 3), (3, len(stream) - 3))], stream)
    with pytest.raises(PictureError, match=r"^x: is 1985x1985: 3940225 samples"):
        pictures.from_bytes(data, "x", limits=SMALL)


@avif
def test_many_tracks_take_no_time():
    starts = [full(b"stco", struct.pack(">II", 1, 40 + number)) for number in range(2000)]
    tables = box(b"moov", box(b"trak", box(b"mdia", box(b"minf", box(b"stbl", *starts)))))
    data = box(b"ftyp", b"avis\0\0\0\0avisavif") + tables + box(b"mdat", TEMPORAL_UNIT * 50_000)
    start = time.process_time()
    with pytest.raises(PictureError, match=r"^x: .*has more than 16 tracks$"):
        pictures.from_bytes(data, "x")
    assert time.process_time() - start < 2


def test_units_beyond_the_end_of_their_box_take_no_time():
    pytest.importorskip("pillow_heif")
    config = box(b"hvcC", bytes(22), b"\1\0\xff\xff")
    data = box(b"ftyp", b"heic\0\0\0\0heicmif1") + box(b"moov", config * 1000)
    start = time.process_time()
    with pytest.raises(PictureError, match=r"^x: .*box hvcC is cut off$"):
        pictures.from_bytes(data, "x")
    assert time.process_time() - start < 2


@avif
def test_parts_without_a_size_take_no_time():
    places = full(b"iloc", struct.pack(">6H", 0, 1, 1, 0, 0xFFFF, 0)[:10])
    data = box(b"ftyp", b"avif\0\0\0\0avifmif1") + full(b"meta", places * 300)
    start = time.process_time()
    with pytest.raises(PictureError, match=r"^x: .*box iloc has 65535 parts of no size$"):
        pictures.from_bytes(data, "x")
    assert time.process_time() - start < 1
