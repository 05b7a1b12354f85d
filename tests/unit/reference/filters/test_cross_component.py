"""The cross-component filter against its description, the encoder's fit, and hostile
coefficients."""

import numpy as np
import pytest
from independent.container import cross_component_filter
from independent.container import decode as independent_decode
from mutate import places, repaired
from support.strategies import CONTENT, deepened

import mmpcodec
from mmpcodec import CorruptStream, EncodeParams, TruncatedStream
from mmpcodec.format import container
from mmpcodec.reference.filters.cross_component import (
    NO_CROSS_COMPONENT,
    TAPS,
    CrossComponentFilter,
)

LAMBDA = 1 << 16


def coloured(height: int = 120, width: int = 160) -> np.ndarray:
    """Discs whose red lies a column left of its blue, as in pictures of old scanners."""
    rng = np.random.default_rng(5)
    rows, columns = np.arange(height)[:, None], np.arange(width + 2)
    luma = np.full((height, width + 2), 90.0)
    for _ in range(40):
        row, column = rng.uniform(0, height), rng.uniform(0, width)
        inside = (rows - row) ** 2 + (columns - column) ** 2 < rng.uniform(5, 20) ** 2
        luma[inside] = rng.uniform(30, 220)
    luma = (luma[:, :-2] + 2 * luma[:, 1:-1] + luma[:, 2:]) / 4
    apart = luma[:, 2:], luma[:, 1:-1], luma[:, :-2]
    return np.stack(apart, axis=2).astype(np.uint8)


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (7, 1), (21, 140)], ids=str)
@pytest.mark.parametrize("depth", [8, 10, 16])
@pytest.mark.parametrize("read", [(0,), (1,), (0, 1)], ids=str)
def test_filter_is_the_described_one(shape, depth, read):
    rng = np.random.default_rng(3)
    samples, *planes = (deepened(rng, CONTENT["noise"](rng, *shape), depth) for _ in range(3))
    coefficients = tuple(
        tuple(rng.integers(-64, 64, 12).tolist()) if number in read else () for number in range(2)
    )
    shown = CrossComponentFilter().apply(samples, planes, coefficients, depth)
    by_bit = {4 + number: coefficients[number] for number in read}
    expected = cross_component_filter(
        samples.astype(np.int64), depth, [plane.astype(np.int64) for plane in planes], by_bit
    )
    np.testing.assert_array_equal(shown, expected)
    assert shown.dtype == samples.dtype


def test_without_coefficients_the_samples_stay():
    samples = np.arange(12, dtype=np.uint8).reshape(3, 4)
    assert CrossComponentFilter().apply(samples, [samples], NO_CROSS_COMPONENT) is samples


@pytest.mark.parametrize("moved", TAPS, ids=str)
def test_the_fit_finds_a_tap(moved):
    """The source has a quarter of the difference between a tap and the middle sample."""
    rng = np.random.default_rng(7)
    plane = rng.integers(0, 256, (60, 70)).astype(np.uint8)
    other = np.roll(plane, (-moved[0], -moved[1]), (0, 1)).astype(np.int32)
    samples = np.full(plane.shape, 128, np.uint8)
    source = (samples + (other - plane) // 4).astype(np.uint8)
    coefficients, shown = CrossComponentFilter().fit_and_apply(source, samples, [plane], LAMBDA)
    assert coefficients[1] == ()
    assert coefficients[0][TAPS.index(moved)] == pytest.approx(32, abs=1)
    rest = np.delete(coefficients[0], TAPS.index(moved))
    assert abs(rest).max() <= 1
    left = (source[3:-3, 3:-3].astype(int) - shown[3:-3, 3:-3]) ** 2
    assert left.mean() < 3
    assert ((source.astype(int) - samples) ** 2).mean() > 300


def test_the_fit_takes_the_plane_that_pays():
    rng = np.random.default_rng(8)
    useless, useful = (rng.integers(0, 256, (40, 50)).astype(np.uint8) for _ in range(2))
    samples = np.full(useful.shape, 100, np.uint8)
    apart = np.roll(useful, 1, 1).astype(np.int32) - useful
    source = (samples + apart // 8).astype(np.uint8)
    fit = CrossComponentFilter().fit_and_apply
    assert [len(own) for own in fit(source, samples, [useless, useful], LAMBDA)[0]] == [0, 12]
    # Twelve bytes cost more than all the error.
    error = int(((source.astype(int) - samples) ** 2).sum())
    assert (
        fit(source, samples, [useless, useful], LAMBDA * error // 96 + LAMBDA)[0]
        == NO_CROSS_COMPONENT
    )
    assert fit(source, samples, [useless, useful], 0)[0] == NO_CROSS_COMPONENT
    assert fit(source, samples, [], LAMBDA)[0] == NO_CROSS_COMPONENT


def test_an_encoder_uses_it_where_colours_lie_apart():
    picture = coloured()
    options = {"lam": 30.0, "preset": "photo", "backend": "cpu"}
    data = mmpcodec.encode(picture, **options)
    without = mmpcodec.encode(picture, cross_component_filter=False, **options)
    layers = mmpcodec.inspect(data).layers
    assert [layer.tools.cross_component_filter for layer in layers] == [False, True, True]
    assert any(layers[2].cross_component_coefficients)
    assert not any(layer.tools.cross_component_filter for layer in mmpcodec.inspect(without).layers)

    def cost(coded: bytes) -> float:
        error = (mmpcodec.decode(coded).astype(float) - picture) ** 2
        return error.sum() / 3 + 30 * 8 * len(coded)

    assert cost(data) < cost(without)
    samples, _ = independent_decode(data)
    np.testing.assert_array_equal(samples, mmpcodec.decode(data))


def test_wrong_coefficients_are_refused_by_name():
    gray = mmpcodec.encode(
        coloured()[..., 0], 30.0, preset="photo", backend="cpu", post_filter=False
    )
    at = places(gray)["post filter"]
    wrong = repaired(gray[:at] + bytes([16]) + gray[at + 1 :])
    with pytest.raises(CorruptStream, match="post filter is 16, allowed is 0 to 15"):
        mmpcodec.decode(wrong)
    params = EncodeParams.from_options(30.0, preset="photo")
    data = mmpcodec.encode_picture(coloured(), params, backend="cpu").data
    header = container.read_header(memoryview(data))
    layer = mmpcodec.inspect(data).layers[1]
    own = bytes(value + 64 for value in layer.cross_component_coefficients[0])
    at = data.index(own, header.size)
    wrong = repaired(data[:at] + bytes([200]) + data[at + 1 :])
    with pytest.raises(
        CorruptStream,
        match=r"Cross-component filter.*coefficient 0 of plane 0 is 200, allowed is 0 to 127",
    ):
        mmpcodec.decode(wrong)
    cut = repaired(data[: at + 5])
    with pytest.raises(
        TruncatedStream, match=r"Cross-component filter.*only 5 of 12 bytes of coefficients"
    ):
        mmpcodec.decode(cut)
