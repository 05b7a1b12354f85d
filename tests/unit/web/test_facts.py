"""Layers and regions of a page: they are those of the traces, for every coding."""

import base64
import io
import struct
import time

import numpy as np
import pytest
from PIL import Image

import mmpcodec
from mmpcodec import pictures
from mmpcodec.analysis.turning import turned
from mmpcodec.errors import Cancelled
from mmpcodec.metadata import Metadata
from mmpcodec.reference.blocks.partition import TREE, mode_name
from mmpcodec.web import facts
from mmpcodec.web.facts import MODE_COLOURS, RegionSearch, facts_of


def shade(height=72, width=100):
    rows, columns = np.indices((height, width))
    noise = np.random.default_rng(1).integers(0, 9, (height, width))
    return (60 + rows + (columns > 50) * 90 + noise).astype(np.uint8)


def layers(data):
    """Layers of a file by key."""
    found = facts_of(data, "a.mmp")
    assert found["problems"] == {}
    return {layer["key"]: layer for layer in found["layers"]}


def image(layer):
    return Image.open(io.BytesIO(base64.b64decode(layer["png"])))


CODINGS = {
    "trees": ({"preset": "plain", "lam": 60}, {"edges", "bits"}),
    "blocks": ({"preset": "photo", "lam": 60}, {"edges", "modes", "bits"}),
    "mixed": ({"preset": "mixed", "lam": 60}, {"edges", "modes", "bits"}),
    "lossless": ({"preset": "lossless", "lam": 0}, {"bits"}),
    "tiles": ({"preset": "photo", "lam": 60, "tile_size": 66}, {"edges", "modes", "bits"}),
}


@pytest.mark.parametrize(("options", "keys"), CODINGS.values(), ids=CODINGS)
def test_each_coding_has_the_layers_that_it_can_have(options, keys):
    data = mmpcodec.encode(shade(), **options)
    found = layers(data)
    assert set(found) == keys
    assert all(image(layer).size == (100, 72) for layer in found.values())


@pytest.mark.parametrize("tile_size", [0, 66])
def test_edges_are_those_of_the_trace(tile_size):
    data = mmpcodec.encode(shade(), preset="plain", lam=60, tile_size=tile_size)
    levels = np.asarray(image(layers(data)["edges"]))
    found = mmpcodec.inspect(data, decode=True)
    for tile, layer in zip(found.header.tiles, found.layers, strict=True):
        own = levels[tile.slices]
        top, left = (edge[: own.shape[0], : own.shape[1]] for edge in layer.trace.edges())
        np.testing.assert_array_equal(own & 1, top)
        np.testing.assert_array_equal(own >> 1, left)


@pytest.mark.parametrize("preset", ["photo", "mixed"])
def test_modes_are_those_of_the_trace(preset):
    data = mmpcodec.encode(shade(), preset=preset, lam=60)
    layer = layers(data)["modes"]
    drawn = np.asarray(image(layer).convert("RGBA"))
    units = mmpcodec.inspect(data, decode=True).trace.units
    seen = set()
    for row, column in np.ndindex(18, 25):
        _, _, mode, kind = units[row, column]
        name = "tree" if kind == TREE else mode_name(mode)
        seen.add(name)
        cell = drawn[4 * row : 4 * row + 4, 4 * column : 4 * column + 4].reshape(16, 4)
        assert (cell[:, :3] == MODE_COLOURS[name]).all()
        assert (cell[:, 3] == facts.MODE_OPACITY).all()
    assert {name for name, _ in layer["colours"]} == seen


def test_bits_are_those_of_the_cells():
    """The strongest cell has the last colour, and all colours stand for shares of its rate."""
    data = mmpcodec.encode(shade(), preset="photo", lam=60)
    layer = layers(data)["bits"]
    drawn = np.asarray(image(layer).convert("RGBA"))[..., :3]
    cells = mmpcodec.inspect(data, decode=True).trace.cell_rates / 4096
    areas = np.outer([16, 16, 16, 16, 8], [16, 16, 16, 16, 16, 16, 4])
    rates = cells / areas
    assert float(layer["colours"][-1][0]) == pytest.approx(rates.max(), rel=0.01)
    ramp = facts._ramp()
    for row, column in np.ndindex(rates.shape):
        level = round(63 * rates[row, column] / rates.max())
        near = [ramp[k] for k in (level - 1, level, level + 1) if 0 <= k < 64]
        assert tuple(drawn[16 * row, 16 * column]) in near


def test_a_palette_has_a_colour_of_its_own():
    rows, columns = np.indices((96, 128))
    colours = np.array([[250, 250, 250], [20, 10, 90], [200, 30, 30]], np.uint8)
    samples = colours[(rows * 7 + columns * columns) % 11 % 3 * (rows % 16 < 11)]
    data = mmpcodec.encode(samples, lam=40, effort=1)
    assert mmpcodec.inspect(data).layers[0].entries == 3
    found = layers(data)
    assert "palette" in dict(found["modes"]["colours"])


def test_regions_are_those_of_highlight():
    samples = np.zeros((40, 50, 4), np.uint8)
    samples[10:20, 5:25] = 200
    samples[30:33, 40:44] = 255
    data = mmpcodec.encode(samples, lam=0, preset="lossless")
    found = facts_of(data, "A.MMP", RegionSearch(5, "100"))["regions"]
    assert (found["offset"], found["white"], len(found["rows"])) == (100, 255, 2)
    first = {name: found["rows"][0][name] for name in ("rank", "left", "top", "width", "height")}
    assert first == {"rank": 1, "left": 5, "top": 10, "width": 20, "height": 10}
    assert facts_of(data, "a.mmp", RegionSearch(0))["regions"] is None


def test_other_pictures_have_regions_only():
    found = facts_of(pictures.to_bytes(shade(), "png"), "a.png")
    assert (found["layers"], found["problems"]) == ([], {})
    assert found["regions"]["rows"]


def test_the_first_bytes_tell_an_mmp_file():
    found = facts_of(pictures.to_bytes(shade(), "png"), "a.mmp")
    assert (found["layers"], found["problems"]) == ([], {})
    found = facts_of(mmpcodec.encode(shade(), preset="plain"), "a.png")
    assert [layer["key"] for layer in found["layers"]] == ["edges", "bits"]


def test_what_is_wrong_is_said(monkeypatch):
    data = mmpcodec.encode(shade(), preset="plain")
    damaged = bytearray(data)
    damaged[-3] ^= 8
    for bad, name in ((bytes(damaged), "a.mmp"), (b"", "a.mmp"), (b"P", "a.png")):
        found = facts_of(bad, name)
        assert (found["layers"], found["regions"]) == ([], None)
        assert set(found["problems"]) == {"layers", "regions"}
        assert all(found["problems"].values())
    monkeypatch.setattr(facts, "MOST_PIXELS", 7199)
    assert facts_of(data, "a.mmp", wanted={"layers"}) == {
        "layers": [],
        "problems": {
            "layers": "a.mmp: has 7200 pixels; layers and regions are computed of at most 7199"
        },
    }


def test_only_what_is_wanted_is_computed(monkeypatch):
    data = mmpcodec.encode(shade(), preset="plain")
    monkeypatch.setattr(facts, "find_regions", None)
    found = facts_of(data, "a.mmp", wanted={"layers"})
    assert (list(found), len(found["layers"])) == (["problems", "layers"], 2)
    monkeypatch.undo()
    monkeypatch.setattr(facts, "layers_of", None)
    found = facts_of(data, "a.mmp", wanted={"regions"})
    assert (list(found), len(found["regions"]["rows"])) == (["problems", "regions"], 3)
    monkeypatch.setattr(mmpcodec, "inspect", None)
    assert facts_of(data, "a.mmp", RegionSearch(0), {"regions"}) == {
        "regions": None,
        "problems": {},
    }


@pytest.mark.parametrize("name", ["a.mmp", "a.png"])
def test_a_search_that_takes_too_long_is_stopped(name):
    """A checkerboard has more rectangles of nearly the largest sum than any other picture."""
    samples = np.indices((1024, 1024)).sum(axis=0).astype(np.uint8) % 2 * 255
    if name == "a.mmp":
        data = mmpcodec.encode(samples, lam=0, preset="plain")
    else:
        data = pictures.to_bytes(samples, "png")
    started = time.monotonic()
    found = facts_of(data, name, RegionSearch(3, "0.5", 0.05), {"regions"})
    assert time.monotonic() - started < 5
    assert found == {
        "regions": None,
        "problems": {
            "regions": f"{name}: the search for regions was stopped after 0.05 seconds; mmp "
            "highlight searches without a limit of time"
        },
    }


@pytest.mark.parametrize("answers", [0, 1, 3, 5])
def test_facts_are_cancelled(answers):
    data = mmpcodec.encode(shade(160, 160), preset="plain")
    left = iter([True] * answers)
    with pytest.raises(Cancelled):
        facts_of(data, "a.mmp", progress=lambda done, total: next(left, False))


def exif(turn):
    entry = struct.pack("<HHIHH", 274, 3, 1, turn, 0)
    return b"II*\0" + struct.pack("<IH", 8, 1) + entry + bytes(4)


@pytest.mark.parametrize("turn", range(1, 9))
def test_layers_and_regions_are_those_of_the_upright_picture(turn):
    """Those of a turned picture are those of the same samples, turned."""
    samples = shade(70, 101)
    options = {"preset": "photo", "lam": 60}
    plain = facts_of(mmpcodec.encode(samples, **options), "a.mmp")
    metadata = Metadata(exif=exif(turn))
    found = facts_of(mmpcodec.encode(samples, metadata=metadata, **options), "a.mmp")
    for one, other in zip(plain["layers"], found["layers"], strict=True):
        if one["key"] != "edges":
            expected = turned(np.asarray(image(one).convert("RGBA")), turn)
            np.testing.assert_array_equal(np.asarray(image(other).convert("RGBA")), expected)
    one, other = (np.asarray(image(each["layers"][0])) for each in (plain, found))
    # Lines between two samples of the upright picture lie between the same two samples.
    places = turned(np.arange(samples.size).reshape(samples.shape), turn)
    rows, columns = np.divmod(places, samples.shape[1])
    for axis, bit in ((0, 1), (1, 2)):
        stored = np.stack([rows, columns], axis=2)
        before = np.take(stored, range(places.shape[axis] - 1), axis=axis)
        behind = np.take(stored, range(1, places.shape[axis]), axis=axis)
        moved = "row" if (before != behind)[..., 0].all() else "column"
        later = np.maximum(before, behind)
        expected = one[later[..., 0], later[..., 1]] & (1 if moved == "row" else 2) > 0
        drawn = np.take(other, range(1, other.shape[axis]), axis=axis) & bit > 0
        np.testing.assert_array_equal(drawn, expected)
    rows = zip(plain["regions"]["rows"], found["regions"]["rows"], strict=True)
    for stored, region in rows:
        expected = turned(filled(samples.shape, stored), turn)
        np.testing.assert_array_equal(filled(expected.shape, region), expected)
        assert stored["sum"] == region["sum"]


def filled(shape, region):
    """A mask of a region."""
    mask = np.zeros(shape, bool)
    mask[region["top"] :, region["left"] :][: region["height"], : region["width"]] = True
    return mask


@pytest.mark.parametrize(("turn", "phase"), [(1, [0, 0]), (2, [5, 0]), (3, [5, 6]), (6, [6, 0])])
def test_outlines_say_where_multiples_of_16_are(turn, phase):
    data = mmpcodec.encode(shade(70, 101), preset="plain", metadata=Metadata(exif=exif(turn)))
    assert facts_of(data, "a.mmp")["layers"][0]["phase"] == phase
