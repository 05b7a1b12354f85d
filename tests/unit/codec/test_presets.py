"""The tools that presets have at each effort, and those that a backend leaves out of them."""

import io
from dataclasses import replace

import numpy as np
import pytest
from support.devices import FakeDevice
from support.strategies import natural

import mmpcodec
from mmpcodec import BackendUnavailable, EncodeParams, backends
from mmpcodec.backends.cuda.backend import CudaBackend
from mmpcodec.codec.candidates import fitted, left_out
from mmpcodec.codec.tiles.streaming import encode_large
from mmpcodec.format.container import VERSION
from mmpcodec.pictures.readers import WholeReader
from mmpcodec.presets import PRESETS, for_eye, preset_of, preset_tools
from mmpcodec.tools import BlockTools


@pytest.fixture(scope="module")
def picture():
    return natural(np.random.default_rng(8), 70, 90)


@pytest.mark.parametrize("preset", [*PRESETS, "auto", "best"])
def test_files_of_each_preset_decode(picture, preset):
    data = mmpcodec.encode(picture, 20, preset=preset, effort=1)
    found = mmpcodec.inspect(data, decode=True)
    assert data[8] == VERSION
    predicted = [layer.tools for layer in found.layers if isinstance(layer.tools, BlockTools)]
    switches = ("pdpc", "initial_states", "dependent", "fine_contexts")
    assert all(getattr(tools, name) for tools in predicted for name in switches)
    assert bool(predicted) or preset not in ("photo", "mixed")


def test_a_large_picture_has_the_same_bytes(picture):
    params = EncodeParams.from_options(20, preset="photo", effort=1)
    file = io.BytesIO()
    reader = WholeReader(mmpcodec.pictures.Picture(picture, 8), "picture")
    encode_large(reader, file, params, tile_size=64)
    assert file.getvalue() == mmpcodec.encode_picture(picture, params, tile_size=64).data


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_are_known_at_each_effort(preset):
    assert {preset_of(preset_tools(preset, effort)) for effort in range(1, 10)} == {preset}
    assert PRESETS[preset] == preset_tools(preset, 2)


def test_high_efforts_have_more_tools():
    photo = PRESETS["photo"]
    assert (photo.trained_transforms, photo.ternary) == (False, False)
    slow = replace(photo, trained_transforms=True, transform_skip=True)
    assert preset_tools("photo", 3) == slow
    assert preset_tools("photo", 9) == replace(slow, ternary=True)
    assert preset_tools("text", 9) == PRESETS["text"]
    assert (photo.cross_component, photo.fixed_filters, photo.delta_step) == (2, None, False)


@pytest.mark.parametrize(
    ("effort", "given", "ternary"),
    [(3, None, False), (4, None, True), (2, True, True), (6, False, False)],
)
def test_high_efforts_have_ternary_splits(effort, given, ternary):
    params = EncodeParams.from_options(30, preset="photo", effort=effort, ternary=given)
    assert params.tools.ternary == ternary


def test_a_device_says_which_tools_it_lacks():
    cuda, photo, text = CudaBackend(), preset_tools("photo", 9), PRESETS["text"]
    assert cuda.able(photo) is photo
    assert cuda.lacks(for_eye(photo)) is None
    assert cuda.able(text) == replace(text, displaced_blocks=0)
    assert cuda.lacks(cuda.able(text, ["displaced_blocks"])) == "copies of displaced blocks"
    able = "take preset photo, text, plain or classic"
    assert cuda.fault(PRESETS["mixed"]) == f"it has no trees among predicted blocks; {able}"


@pytest.fixture
def device(monkeypatch):
    monkeypatch.setitem(backends.ROWS, "cuda", backends.Row(FakeDevice))


def tools_of(*arguments, **options):
    data = mmpcodec.encode(*arguments, backend="cuda", effort=1, **options)
    assert mmpcodec.decode(data).size == arguments[0].size
    return [layer.tools for layer in mmpcodec.inspect(data).layers]


@pytest.mark.parametrize("options", [{}, {"lam": 30}, {"lam": 30, "tile_size": 64}])
@pytest.mark.parametrize("planes", [1, 3, 4])
def test_a_device_leaves_out_tools_of_presets(device, picture, planes, options):
    samples = np.dstack([picture, 255 - picture, picture[::-1], picture // 2])[..., :planes]
    found = tools_of(samples, preset="photo", **options)
    predicted = [tools for tools in found if isinstance(tools, BlockTools)]
    assert len(predicted) >= min(planes, 3)
    assert all(FakeDevice().lacks(tools) is None for tools in predicted)


def test_what_a_device_leaves_out_is_named(device):
    params = EncodeParams.from_options(20, preset="text")
    assert left_out(params, "cuda", 8) == ["displaced blocks"]
    assert left_out(params, "auto", 8) == left_out(params, "cpu", 8) == []
    assert left_out(params, "cuda", 12) == []  # samples that it cannot code at all
    assert fitted(params, "cpu", 8) is params


def test_tools_that_the_caller_chose_are_not_left_out(device, picture):
    with pytest.raises(BackendUnavailable, match="it has no copies of displaced blocks"):
        tools_of(picture, 20, preset="text", displaced_blocks=1)


def test_a_device_codes_regions(device, picture):
    found = tools_of(picture, 20, preset="photo", roi=np.ones(picture.shape, bool))
    assert found[0].delta_step


def test_auto_gives_the_rest_to_the_processor(device, picture):
    params = EncodeParams.from_options(20, preset="best", effort=1)
    found = fitted(params, "cuda", 8)
    assert [preset_of(tools) for tools in found.sets] == ["photo", None, "mixed", "lossless"]
    assert tools_of(picture, 20, preset="best")
    assert backends.get("auto", 1000, PRESETS["photo"]).name == "cpu"
