"""The parts of exact samples: mixed bits, fitted prediction, classes, values."""

from decimal import Decimal, getcontext

import numpy as np
import pytest

import mmpcodec
from mmpcodec import CorruptStream, EncodeParams, ParameterError, Tools
from mmpcodec.codec import exact
from mmpcodec.codec.fitted import FadedSums, fitted_weights
from mmpcodec.codec.mixedbits import MOST_MIXED, MOST_STRETCH, MixedBits, squash, stretch
from mmpcodec.codec.symbols import SymbolReader, SymbolWriter
from mmpcodec.codec.syntax import EXACT_SYNTAX


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


@pytest.mark.parametrize(
    ("activity", "expected"),
    [(0, 0), (3, 3), (4, 4), (5, 4), (6, 5), (8, 6), (12, 7), (2**16, 31), (2**20, 31)],
)
def test_activity_classes(activity, expected):
    assert exact.activity_class(activity) == expected


def test_signed_classes():
    values = [-20, -19, -8, -7, -3, -2, -1, 0, 1, 2, 3, 7, 8, 19, 20, 300]
    expected = [0, 1, 1, 2, 2, 3, 3, 4, 5, 5, 6, 6, 7, 7, 8, 8]
    assert [exact.signed_class(value) for value in values] == expected


def test_values_are_named_where_few_occur():
    used = np.zeros(256, bool)
    used[[3, 77, 255]] = True
    writer = SymbolWriter(EXACT_SYNTAX)
    assert exact.code_values(writer, 8, used, True).tolist() == [3, 77, 255]
    reader = SymbolReader(writer.finish(), EXACT_SYNTAX)
    assert exact.code_values(reader, 8, None, False).tolist() == [3, 77, 255]
    assert exact.map_pays(used, 100)
    assert not exact.map_pays(used, 60)
    assert not exact.map_pays(~used, 100)


def test_no_values_are_refused():
    writer = SymbolWriter(EXACT_SYNTAX)
    writer.bit("map", 1 << 15, 1)
    models = exact.BinaryModels("map", (2,))
    for _ in range(256):
        models.code(writer, (0,), 0)
    payload = writer.finish()
    for backend in mmpcodec.backends.HOST:
        with pytest.raises(CorruptStream, match="no value occurs"):
            mmpcodec.backends.get(backend).decode(payload, (3, 3), Tools(exact=True))


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
    assert mmpcodec.inspect(data).header.tools.exact
    assert len(data) < len(mmpcodec.encode(picture, 0, preset="text")) / 2
