"""The post filter against the independent decoder, and what a fit may do."""

import numpy as np
import pytest
from independent.container import post_filter as independent_post_filter
from mutate import places, repaired
from support.strategies import CONTENT

import mmpcodec
from mmpcodec import CorruptStream, EncodeParams
from mmpcodec.backends import cpu
from mmpcodec.reference.filters import base
from mmpcodec.reference.filters.post import CLASSES, LEAST, MOST, OFF, PostFilter, solved

COEFFICIENTS = ((-64, 63, 5, -7, 9, 11), (), (20, -3, 4, 30, 1, -9), (1, 2, 3, 4, 5, 6))


def described(samples):
    """The samples that the independent decoder shows for ``COEFFICIENTS``."""
    return independent_post_filter(samples.astype(np.int64), 8, dict(enumerate(COEFFICIENTS)))


def test_off_changes_nothing():
    samples = CONTENT["noise"](np.random.default_rng(0), 8, 8)
    assert PostFilter().apply(samples, OFF) is samples


def blurred(rng, height=48, width=60):
    """A picture and a rougher one, as decoding gives it."""
    source = CONTENT["natural"](rng, height, width)
    return source, np.clip(source + rng.normal(0, 6, source.shape), 0, 255).astype(np.uint8)


def squared_error(a, b):
    return int(((a.astype(int) - b) ** 2).sum())


@pytest.mark.parametrize("lam", [1, 16, 200, 5000])
def test_fit_never_loses(lam):
    lambda_fixed = lam << 16
    gains = []
    for seed in range(5):
        source, samples = blurred(np.random.default_rng(seed))
        own = PostFilter().fit_and_apply(source, samples, lambda_fixed)[0]
        shown = PostFilter().apply(samples, own)
        gain = squared_error(source, samples) - squared_error(source, shown)
        active = sum(map(bool, own))
        assert gain >= lam * 48 * active
        assert gain > 0 or not active
        gains.append(gain)
    assert lam > 200 or min(gains) > 0


def test_nothing_to_gain():
    source, samples = blurred(np.random.default_rng(0))
    assert PostFilter().fit_and_apply(source, samples, 0)[0] == OFF
    assert PostFilter().fit_and_apply(source, source, 1)[0] == OFF
    assert PostFilter().fit_and_apply(source, samples, (1 << 20) << 16)[0] == OFF


def test_each_diagonal_element_grows_by_one():
    """So that the matrix is regular; with sums this small another addition gives other weights."""
    gram = np.zeros((7, 7), np.int64)
    gram[:6, :6], gram[:6, 6] = 3 * np.eye(6), 1
    assert solved(gram) == (32,) * 6


@pytest.mark.parametrize("seed", range(5))
def test_solution_is_that_of_the_normal_equations(seed):
    values = np.random.default_rng(seed).integers(-510, 511, (7, 4000))
    values[6] = ([13, -5, 40, 21, -33, 8] @ values[:6] >> 7) + values[6] // 9
    gram = values @ values.T
    solution = np.linalg.solve(gram[:6, :6] + np.eye(6), 128 * gram[:6, 6])
    assert solved(gram) == tuple(np.floor(solution + 0.5).astype(int).tolist())


def test_solution_of_nothing_and_beyond_the_range():
    assert solved(np.zeros((7, 7), int)) == (0,) * 6
    gram = np.zeros((7, 7), int)
    gram[0, 0] = gram[1, 1] = 100
    gram[0, 6], gram[1, 6] = 1000, -1000
    assert solved(gram) == (MOST, LEAST, 0, 0, 0, 0)


def test_bands_change_nothing(monkeypatch):
    source, samples = blurred(np.random.default_rng(1))
    expected = PostFilter().fit_and_apply(source, samples, 1 << 16)[0]
    assert any(expected)
    monkeypatch.setattr(PostFilter, "band_samples", 7 * source.shape[1])
    assert PostFilter().fit_and_apply(source, samples, 1 << 16)[0] == expected


@pytest.mark.parametrize("threads", [1, 3, None])
def test_bands_of_backend_cpu_change_nothing(monkeypatch, threads):
    source, samples = blurred(np.random.default_rng(1))
    expected = PostFilter().fit_and_apply(source, samples, 1 << 16)
    assert any(expected[0])
    monkeypatch.setattr(cpu, "FILTER_BAND_SAMPLES", 7 * source.shape[1])
    own = cpu.NativePostFilter()
    chosen, shown = own.fit_and_apply(source, samples, 1 << 16, threads=threads)
    assert chosen == expected[0]
    np.testing.assert_array_equal(shown, expected[1])
    np.testing.assert_array_equal(
        own.apply(samples, COEFFICIENTS, threads=threads), described(samples)
    )


def test_fit_that_leaves_classes_out_filters_the_others():
    """The filter of all classes is not that of the chosen ones."""
    source, samples = blurred(np.random.default_rng(1))
    for lambda_fixed in [1 << shift for shift in range(8, 34)]:
        chosen, shown = PostFilter().fit_and_apply(source, samples, lambda_fixed)
        np.testing.assert_array_equal(shown, PostFilter().apply(samples, chosen))
        if 0 < sum(map(bool, chosen)) < CLASSES:
            return
    pytest.fail("no lambda leaves some classes out")


def test_sums_of_a_band_fit():
    """The largest products, those of tap differences; a row of any picture fits."""
    assert base.BAND_SAMPLES * (2 * 65535) ** 2 < 1 << 63
    assert base.BAND_SAMPLES >= 1 << 24


@pytest.fixture(scope="module")
def filtered():
    """A file with at least two filtered classes, and their number."""
    data = mmpcodec.encode(CONTENT["natural"](np.random.default_rng(0), 64, 64), 30, preset="plain")
    active = sum(map(bool, mmpcodec.inspect(data).layers[0].coefficients))
    assert active >= 2
    return data, active


def test_place_in_the_file(filtered):
    data, active = filtered
    layer = mmpcodec.inspect(data).layers[0]
    assert layer.tools.post_filter
    place = places(data)["post filter"]
    assert data[place] == sum(1 << number for number, own in enumerate(layer.coefficients) if own)
    stored = [value - 64 for value in data[place + 1 : place + 1 + 6 * active]]
    assert stored == [value for own in layer.coefficients for value in own]


def test_other_coefficients_show_other_samples(filtered):
    data, _ = filtered
    changed = bytearray(data)
    changed[places(data)["post filter"] + 1] ^= 0x1F
    with pytest.raises(CorruptStream, match="samples CRC"):
        mmpcodec.decode(repaired(bytes(changed)))


def test_switched_off():
    picture = CONTENT["natural"](np.random.default_rng(0), 64, 64)
    plain = mmpcodec.encode_picture(
        picture, EncodeParams.from_options(30, post_filter=False, preset="plain")
    )
    shown = mmpcodec.encode_picture(picture, EncodeParams.from_options(30, preset="plain"))
    assert plain.trace.bits["filter"] == 0
    assert len(shown.data) == len(plain.data) + shown.trace.bits["filter"] // 8
    assert shown.data.endswith(plain.data[places(plain.data)["payload"] :])
    assert squared_error(picture, shown.samples) < squared_error(picture, plain.samples)
    np.testing.assert_array_equal(shown.trace.leaf_scales, plain.trace.leaf_scales)
