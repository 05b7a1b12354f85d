"""Versions of the format: which files they make, and what they refuse."""

import io
from dataclasses import replace

import numpy as np
import pytest
from support.strategies import natural

import mmpcodec
from mmpcodec import EncodeParams, ParameterError, Tools
from mmpcodec.backends.cuda.backend import CudaBackend
from mmpcodec.codec.tiles.streaming import encode_large
from mmpcodec.format.tool_fields import coding_of
from mmpcodec.pictures.readers import WholeReader
from mmpcodec.tools import LATER_BLOCK_TOOLS, PRESETS, TABLE, in_version, preset_of


@pytest.fixture(scope="module")
def picture():
    return natural(np.random.default_rng(8), 70, 90)


def test_version_1_is_the_default(picture):
    assert mmpcodec.encode(picture, 20) == mmpcodec.encode(picture, 20, version=1)
    assert mmpcodec.inspect(mmpcodec.encode(picture, 20)).header.version == 1


@pytest.mark.parametrize("preset", [*PRESETS, "auto", "best"])
def test_version_2_says_so_and_decodes(picture, preset):
    data = mmpcodec.encode(picture, 20, preset=preset, effort=1, version=2)
    found = mmpcodec.inspect(data, decode=True)
    assert found.header.version == 2
    predicted = [layer.tools for layer in found.layers if layer.tools.prediction]
    switches = ("pdpc", "trained_start", "dependent", "fine_contexts")
    assert all(getattr(tools, name) for tools in predicted for name in switches)
    assert bool(predicted) or preset not in ("photo", "mixed")


def test_without_new_tools_the_payloads_are_those_of_version_1(picture):
    options = {"preset": "photo", "effort": 1}
    first = mmpcodec.encode(picture, 20, **options)
    off = {name: TABLE[name].default for name in LATER_BLOCK_TOOLS}
    second = mmpcodec.encode(picture, 20, version=2, **off, **options)
    size = mmpcodec.inspect(first).payload_size
    assert second[-size:] == first[-size:]
    assert first[8:9] + second[8:9] == b"\1\2"


def test_a_large_picture_has_the_version_too(picture):
    params = EncodeParams.from_options(20, preset="photo", effort=1, version=2)
    file = io.BytesIO()
    reader = WholeReader(mmpcodec.pictures.Picture(picture, 8), "picture")
    found = encode_large(reader, file, params, tile_size=64)
    assert found.header.version == 2
    assert file.getvalue() == mmpcodec.encode_picture(picture, params, tile_size=64).data


def test_tools_need_their_version():
    with pytest.raises(ParameterError, match="pdpc = True: needs version 2 of the format"):
        EncodeParams.from_options(20, preset="photo", pdpc=True)
    with pytest.raises(ParameterError, match="pdpc = True: has no effect with preset text"):
        EncodeParams.from_options(20, preset="text", pdpc=True, version=2)
    for version in (0, 3):
        with pytest.raises(ParameterError, match=f"version = {version}: must be from 1 to 2"):
            mmpcodec.encode(np.zeros((4, 4), np.uint8), version=version)
    with pytest.raises(ParameterError, match="version"):
        mmpcodec.encode(np.zeros((4, 4), np.uint8), version="2")


def test_tools_of_a_version():
    photo = PRESETS["photo"]
    assert in_version(photo, 1) == photo
    later = {
        "pdpc": True,
        "trained_start": True,
        "earlier_planes": 2,
        "filter_bank": None,
        "dependent": True,
        "fine_contexts": True,
        "derived_modes": True,
        "border_sines": True,
        "planes_filter": True,
    }
    assert in_version(photo, 2) == replace(photo, **later)
    assert in_version(PRESETS["text"], 2) == PRESETS["text"]
    assert preset_of(in_version(photo, 2)) == "photo"
    assert photo.later_than(1) == ()
    assert in_version(photo, 2).later_than(1) == tuple(later)
    slow = in_version(photo, 2, 9)
    assert slow == replace(in_version(photo, 2), ternary=True, trained_transforms=True)
    assert in_version(photo, 1, 9) == photo
    assert [
        EncodeParams.from_options(preset="photo", effort=effort, version=2).tools.trained_transforms
        for effort in (1, 2, 3, 9)
    ] == [False, False, True, True]
    assert coding_of(in_version(photo, 2)) == "predicted blocks 2"
    assert coding_of(photo) == "predicted blocks"
    assert coding_of(Tools()) == "trees"


@pytest.mark.parametrize(
    ("effort", "given", "ternary"),
    [(3, None, False), (4, None, True), (2, True, True), (6, False, False)],
)
def test_high_efforts_have_ternary_splits(effort, given, ternary):
    params = EncodeParams.from_options(30, preset="photo", version=2, effort=effort, ternary=given)
    assert params.tools.ternary == ternary


def test_a_device_leaves_new_tools_to_the_processor():
    photo = in_version(PRESETS["photo"], 2)
    assert CudaBackend().lacks(PRESETS["photo"]) is None
    able = "take preset text, plain or classic, or version 1 of the format"
    assert CudaBackend().fault(photo) == f"it has no predicted blocks 2; {able}"
