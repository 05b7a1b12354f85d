"""The parts of exact samples: mixed bits, fitted prediction, classes, values."""

import zlib
from decimal import Decimal, getcontext

import numpy as np
import pytest
from support.mutate import places

import mmpcodec
from mmpcodec import CorruptStream, EncodeParams, ParameterError
from mmpcodec.reference.entropy.mixed_bits import (
    MOST_MIXED,
    MOST_STRETCH,
    MixedBits,
    squash,
    stretch,
)
from mmpcodec.reference.entropy.symbols import SymbolReader, SymbolWriter
from mmpcodec.reference.entropy.syntax import EXACT_SYNTAX
from mmpcodec.reference.exact import coder, prediction
from mmpcodec.reference.exact.prediction import FadedSums, fitted_weights


def test_squash_is_rounded_alike_everywhere():
    """No value is so near to a half that another machine's exponential could round it elsewhere."""
    getcontext().prec = 30
    for x, found in zip(range(-MOST_MIXED, MOST_MIXED + 1), squash(), strict=True):
        value = 65536 / (1 + (Decimal(-x) / 256).exp())
        assert abs(value - int(value) - Decimal("0.5")) > Decimal("1e-6")
        assert found == min(max(round(value), 1), 65535)


def test_stretch_is_the_inverse_of_squash():
    table, odds = squash(), stretch()
    for i in range(4096):
        at = int(odds[i])
        if at < MOST_STRETCH:
            assert table[at + MOST_MIXED] >= 16 * i + 8
        if at > -MOST_STRETCH:
            assert table[at - 1 + MOST_MIXED] < 16 * i + 8


def test_mixed_bits_learn_what_their_contexts_tell():
    """A bit that one context tells for certain takes next to nothing, one that none tells a bit."""
    rng = np.random.default_rng(3)
    writer, mixed = SymbolWriter(EXACT_SYNTAX), MixedBits()
    bits = rng.integers(0, 2, (2, 1500)).tolist()
    for told, other in zip(*bits, strict=True):
        mixed.select([told, *rng.integers(0, 2, 7).tolist()], (0, 1))
        mixed.code(writer, "residual", 0, told)
        mixed.code(writer, "map", 1, other)
    assert writer.tally.bits()["residual"] < 80
    assert 1490 < writer.tally.bits()["map"] < 1600


def test_weights_fit_a_plane():
    """Where each sample is twice the left one less the one before, these become the weights."""
    sums = FadedSums(40, 10)
    rng = np.random.default_rng(5)
    for _ in range(3):
        sums.begin_row()
        for column in range(40):
            sums.at(column)
            regressors = rng.integers(-90, 90, 10)
            sums.add(column, regressors, int(2 * regressors[0] - regressors[4]))
    sums.begin_row()
    found = np.array(fitted_weights(sums.at(0), 8)) / 2**14
    assert found == pytest.approx([2, 0, 0, 0, -1, 0, 0, 0, 0, 0], abs=0.01)


def test_nothing_known_gives_the_prior():
    assert fitted_weights(np.zeros((10, 11), np.int64), 8)[:5] == [10240, 10240, -6144, 2048, 0]


def test_products_stay_within_63_bits_where_the_equations_have_no_solution(monkeypatch):
    """Sums that no samples give: without limits the weights are others, and C++ overflows."""
    sums = np.random.default_rng(647).integers(-(1 << 40), 1 << 40, (10, 11))
    limited = fitted_weights(sums, 16)
    monkeypatch.setattr(prediction, "MOST_VALUE", 1 << 400)
    assert fitted_weights(sums, 16) != limited


@pytest.mark.parametrize(
    ("activity", "expected"),
    [(0, 0), (3, 3), (4, 4), (5, 4), (6, 5), (8, 6), (12, 7), (2**16, 31), (2**20, 31)],
)
def test_activity_classes(activity, expected):
    assert coder.activity_class(activity) == expected


def test_signed_classes():
    values = [-20, -19, -8, -7, -3, -2, -1, 0, 1, 2, 3, 7, 8, 19, 20, 300]
    expected = [0, 1, 1, 2, 2, 3, 3, 4, 5, 5, 6, 6, 7, 7, 8, 8]
    assert [coder.signed_class(value) for value in values] == expected


def test_values_are_named_where_few_occur():
    used = np.zeros(256, bool)
    used[[3, 77, 255]] = True
    writer = SymbolWriter(EXACT_SYNTAX)
    assert coder.code_values(writer, 8, used, True).tolist() == [3, 77, 255]
    reader = SymbolReader(writer.finish(), EXACT_SYNTAX)
    assert coder.code_values(reader, 8, None, False).tolist() == [3, 77, 255]
    assert coder.map_pays(used, 100)
    assert not coder.map_pays(used, 60)
    assert not coder.map_pays(~used, 100)


def test_no_values_are_refused():
    writer = SymbolWriter(EXACT_SYNTAX)
    writer.bit("map", 1 << 15, 1)
    models = coder.BinaryModels("map", (2,))
    for _ in range(256):
        models.code(writer, (0,), 0)
    payload = writer.finish()
    for backend in mmpcodec.backends.decoders():
        with pytest.raises(CorruptStream, match="no value occurs"):
            mmpcodec.backends.get(backend).decode_exact(payload, (1, 3, 3), 8)


def test_exact_and_prediction_exclude_each_other():
    with pytest.raises(ParameterError, match="prediction = True: must be False with exact"):
        EncodeParams.from_options(9, preset="exact", prediction=True, step=3)


def test_any_lambda_is_lossless():
    picture = np.random.default_rng(1).integers(0, 256, (20, 30), np.uint8)
    files = {lam: mmpcodec.encode(picture, lam, preset="exact") for lam in (0, 40.5, 1e6)}
    assert len(set(files.values())) == 1
    np.testing.assert_array_equal(mmpcodec.decode(files[0]), picture)


def test_auto_takes_it_for_lossless_photographs():
    rows, columns = np.indices((64, 80))
    noise = np.random.default_rng(2).integers(0, 4, rows.shape)
    picture = (120 + 50 * np.sin(rows / 9) + 40 * np.cos(columns / 11) + noise).astype(np.uint8)
    data = mmpcodec.encode(picture, 0)
    assert mmpcodec.inspect(data).tools.exact
    assert len(data) < len(mmpcodec.encode(picture, 0, preset="text")) / 2


def pictures():
    """Pictures of every form, with their depths."""
    rng = np.random.default_rng(8)
    shaded = np.add.outer(np.arange(9), 2 * np.arange(14))
    for depth in (1, 3, 8, 10, 12, 16):
        kind = np.uint8 if depth <= 8 else np.uint16
        for planes in (1, 2, 3, 4):
            noise = rng.integers(0, 3, (9, 14, planes))
            samples = ((shaded[..., None] + noise) % (1 << depth)).astype(kind)
            yield samples[..., 0] if planes == 1 else samples, depth


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_every_form_and_depth_comes_back(backend):
    for samples, depth in pictures():
        data = mmpcodec.encode(samples, 0, depth=depth, preset="exact", backend=backend)
        found = mmpcodec.inspect(data, decode=True, backend="cpu")
        assert (found.header.depth, found.header.planes) == (depth, samples[0, 0].size)
        assert found.samples.dtype == samples.dtype
        np.testing.assert_array_equal(found.samples, samples)
        assert data == mmpcodec.encode(samples, 0, depth=depth, preset="exact")


def test_checksum_of_deep_samples_is_big_endian():
    samples = np.array([[[0x102, 0x304], [0x506, 0x708]]], np.uint16)
    data = mmpcodec.encode(samples, 0, depth=12)
    place = places(data)["samples CRC"]
    expected = zlib.crc32(bytes([1, 2, 3, 4, 5, 6, 7, 8]))
    assert int.from_bytes(data[place : place + 4], "big") == expected


def test_planes_that_are_alike_cost_little():
    rng = np.random.default_rng(4)
    gray = rng.integers(0, 256, (40, 50), np.uint8)
    alone = len(mmpcodec.encode(gray, 0, preset="exact"))
    thrice = len(mmpcodec.encode(np.dstack([gray] * 3), 0, preset="exact"))
    assert thrice < 1.15 * alone


@pytest.mark.parametrize(
    ("array", "options", "says"),
    [
        (
            np.zeros((3, 3), np.uint16),
            {"preset": "text"},
            "depth is 16, allowed with trees is 1 to 8; take preset photo or exact",
        ),
        (np.zeros((3, 3), np.uint16), {"preset": "mixed", "depth": 9}, "allowed with dictionary"),
        (np.zeros((3, 3), np.uint8), {"lam": 0, "depth": 9}, "depth = 9: must be from 1 to 8"),
        (np.zeros((3, 3), np.uint8), {"lam": 0, "depth": 0}, "depth = 0: must be from 1 to 8"),
        (np.zeros((3, 3), np.uint16), {"lam": 0, "depth": 17}, "must be from 1 to 16 for uint16"),
        (np.full((3, 3), 4, np.uint8), {"lam": 0, "depth": 2}, "a sample of 4, allowed is 0 to 3"),
        (np.zeros((3, 3, 5), np.uint8), {"lam": 0}, r"shape \(3, 3, 5\) and type uint8: supported"),
        (np.zeros((3, 3), np.int16), {"lam": 0}, "type int16: supported are"),
    ],
)
def test_what_cannot_be_coded_is_told(array, options, says):
    with pytest.raises(ParameterError, match=says):
        mmpcodec.encode(array, **options)


def test_auto_takes_exact_for_what_only_it_can_code():
    samples = np.random.default_rng(1).integers(0, 4096, (6, 7, 3)).astype(np.uint16)
    np.testing.assert_array_equal(mmpcodec.decode(mmpcodec.encode(samples, 0, depth=12)), samples)


def test_a_batch_of_all_forms_gives_each_its_own_file():
    arrays = [samples for samples, depth in pictures() if depth in (8, 16)]
    told = []
    batch = mmpcodec.encode_batch(arrays, 0, progress=lambda *both: told.append(both) or True)
    assert batch == [mmpcodec.encode(array, 0) for array in arrays]
    done = [count for count, _ in told]
    assert done == sorted(done)
    assert {total for _, total in told} == {20} == {done[-1]}


def test_a_device_does_not_code_it():
    class Device(mmpcodec.backends.cpu.CpuBackend):
        name = "device"
        encode_exact = mmpcodec.backends.base.Backend.encode_exact

    with pytest.raises(mmpcodec.BackendUnavailable, match="device cannot run here: it has no ex"):
        Device().encode_exact(np.zeros((1, 2, 2), np.uint16), 8)
