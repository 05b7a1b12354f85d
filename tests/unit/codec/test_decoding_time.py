"""The price of decoding time in the choice of codings."""

from dataclasses import replace

import numpy as np
import pytest
from support.strategies import CONTENT

import mmpcodec
from mmpcodec import PRESETS, EncodeParams
from mmpcodec.backends import get
from mmpcodec.backends.base import PlaneTask
from mmpcodec.codec.weighting import decoding_time
from mmpcodec.codec.weighting.decoding_time import nanoseconds, price_of
from mmpcodec.presets import preset_tools


@pytest.fixture(scope="module")
def page():
    return CONTENT["text"](np.random.default_rng(5), 96, 128)


def time_of(plane, tools, lam):
    params = EncodeParams(tools=tools, lam=lam, effort=1)
    coded = get("cpu").encode(PlaneTask(plane, params))
    time = nanoseconds(tools, len(coded.payload), coded.trace, plane.size)
    assert isinstance(time, int)
    return time


def test_trees_take_longer_than_blocks():
    plane = np.ascontiguousarray(CONTENT["natural"](np.random.default_rng(5), 96, 128))
    blocks = (replace(PRESETS[name], cross_component=0) for name in ("photo", "mixed"))
    photo, mixed, text = (time_of(plane, tools, 40) for tools in (*blocks, PRESETS["text"]))
    assert photo < mixed < text


def test_forms_of_lossless_samples_take_longer_with_effort(page):
    times = [time_of(page, preset_tools("lossless", effort), 0) for effort in (1, 2, 6)]
    assert times == sorted(times)
    assert times[-1] > 2 * times[-2]


def test_a_price_is_in_whole_bits():
    assert [price_of(time) for time in (0, 4999, 5000, 10**9)] == [0, 0, 1, 200000]


def test_a_slow_coding_must_save_bits(page, monkeypatch):
    def coded(nanoseconds_per_bit):
        monkeypatch.setattr(decoding_time, "NANOSECONDS_PER_BIT", nanoseconds_per_bit)
        data = mmpcodec.encode(page, 160, preset="best", palette=False)
        (layer,) = mmpcodec.inspect(data, decode=True).layers
        return len(data), nanoseconds(layer.tools, layer.payload_bytes, layer.trace, page.size)

    (small, slow), (large, quick) = coded(10**9), coded(1)
    assert small < large
    assert quick < 0.7 * slow


def test_the_numbers_of_a_palette_take_the_quick_form(page):
    rows, columns = np.indices(page.shape)
    shades = np.dstack([rows * 2, columns, 255 - columns]) + np.random.default_rng(1).integers(
        0, 9, (*page.shape, 3)
    )
    picture = np.where(page[..., None] < 128, 20, np.clip(shades, 0, 255)).astype(np.uint8)
    picture[: len(page) // 2] = page[: len(page) // 2, :, None]
    found = mmpcodec.inspect(mmpcodec.encode(picture, 40, palette=True, effort=6)).layers[0]
    assert found.entries
    assert found.tools.lossless_form == 2
