"""The fixed filters against its description, sample by sample, and what the encoder chooses."""

from dataclasses import replace

import numpy as np
import pytest
from mutate import places, repaired, with_number
from support.strategies import CONTENT

import mmpcodec
from mmpcodec import CorruptStream, EncodeParams
from mmpcodec.backends import cpu
from mmpcodec.reference.filters import fixed as bank
from mmpcodec.reference.filters.fixed import FixedFilters, scales_of, trained_filters, value_of

ALL_ONE = value_of([2] * 7)


def test_weights_and_clip_levels_are_in_range():
    weights, levels = trained_filters().transpose(2, 0, 1, 3)
    assert abs(weights).max() <= 63
    assert levels.min() >= 0
    assert levels.max() == 3


def test_scales_and_value():
    assert scales_of(0b11_10_01_00_11_10_01) == [1, 2, 3, 0, 1, 2, 3]
    for value in (0, 1, 4097, (1 << 14) - 1):
        assert value_of(scales_of(value)) == value


def test_a_flat_plane_and_scales_of_0_change_nothing():
    flat = np.full((9, 12), 200, np.uint8)
    np.testing.assert_array_equal(FixedFilters().apply(flat, (1 << 14) - 1, 300), flat)
    samples = CONTENT["noise"](np.random.default_rng(0), 8, 8)
    assert FixedFilters().apply(samples, 0, 300) is samples


def rougher(rng, height=48, width=60):
    """A picture and a rougher one."""
    source = CONTENT["natural"](rng, height, width)
    return source, np.clip(source + rng.normal(0, 6, source.shape), 0, 255).astype(np.uint8)


def test_choice_has_the_least_error_of_each_activity():
    source, samples = rougher(np.random.default_rng(0))
    value = FixedFilters().choose(source, samples, 300)
    activity = bank.classes_of(bank.variations(samples), 300)[0] // 5
    for number, own in enumerate(scales_of(value)):
        chosen = activity == number
        errors = []
        for scale in range(4):
            shown = FixedFilters().apply(samples, value_of([scale] * 7), 300)
            errors.append(int(((source.astype(int) - shown)[chosen] ** 2).sum()))
        assert own == errors.index(min(errors))


def test_nothing_to_gain():
    source, _ = rougher(np.random.default_rng(0))
    assert FixedFilters().choose(source, source, 300) == 0


@pytest.mark.parametrize("threads", [1, 3, None])
def test_bands_change_nothing(monkeypatch, threads):
    source, samples = rougher(np.random.default_rng(1))
    value = FixedFilters().choose(source, samples, 300)
    shown = FixedFilters().apply(samples, value, 300)
    assert value
    monkeypatch.setattr(FixedFilters, "band_samples", 7 * source.shape[1])
    monkeypatch.setattr(cpu, "FILTER_BAND_SAMPLES", 7 * source.shape[1])
    for own in (FixedFilters(), cpu.NativeFixedFilters()):
        assert own.choose(source, samples, 300, threads=threads) == value
        np.testing.assert_array_equal(own.apply(samples, value, 300, threads=threads), shown)


@pytest.fixture(scope="module")
def picture():
    return CONTENT["natural"](np.random.default_rng(0), 96, 96)


def encoded(picture, **options):
    params = EncodeParams.from_options(60, preset="photo", effort=1, **options)
    return mmpcodec.encode_picture(picture, params)


def test_an_encoder_takes_the_bank_where_it_costs_less(picture):
    found, without = encoded(picture), encoded(picture, fixed_filters=0)
    costs = []
    for each in (found, without):
        error = ((picture.astype(int) - each.samples) ** 2).sum()
        costs.append(error + 60 * 8 * len(each.data))
    assert costs[0] <= costs[1]
    assert without.layers[0].tools.fixed_filters == 0
    assert found.layers[0].tools == replace(
        without.layers[0].tools,
        fixed_filters=found.layers[0].tools.fixed_filters,
        post_filter=found.layers[0].tools.post_filter,
    )


def test_an_encoder_takes_the_scales_that_are_named(picture):
    found = encoded(picture, fixed_filters=ALL_ONE)
    assert found.layers[0].tools.fixed_filters == ALL_ONE
    np.testing.assert_array_equal(mmpcodec.decode(found.data), found.samples)


def test_the_value_in_the_file(picture):
    data = encoded(picture, fixed_filters=ALL_ONE).data
    assert places(data)["fixed filters"]
    with pytest.raises(CorruptStream, match="fixed filters is 16384, allowed is 0 to 16383"):
        mmpcodec.inspect(with_number(data, "fixed filters", 1 << 14))
    with pytest.raises(CorruptStream, match="samples CRC"):
        mmpcodec.decode(repaired(with_number(data, "fixed filters", ALL_ONE ^ 0xFFF)))
