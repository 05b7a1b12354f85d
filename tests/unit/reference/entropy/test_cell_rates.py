"""Rates of cells: how the rate of a block is spread, and that nothing is lost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmpcodec import EncodeParams
from mmpcodec.backends.base import PlaneTask
from mmpcodec.backends.reference import ReferenceBackend
from mmpcodec.reference.entropy.cell_rates import CellRates
from mmpcodec.reference.entropy.symbols import Tally
from mmpcodec.tools import LosslessTools

REFERENCE = ReferenceBackend()


def spread(shape, *blocks):
    """Rates of the cells of a plane after blocks: rate, row, column, height and width of each."""
    tally = Tally()
    cells = CellRates(shape, tally)
    for rate, *place in blocks:
        tally.rate["class"] += rate
        cells.add(*place)
    return cells.rates.tolist()


def test_a_block_within_a_cell_gives_it_all():
    assert spread((20, 40), (77, 0, 36, 4, 4), (5, 16, 32, 4, 8)) == [[0, 0, 77], [0, 0, 5]]


def test_a_block_is_spread_by_area():
    """Cells have 8, 16 and 8 rows of 4 samples; after them 1, 2, 5, 7, 8 and 10 are given."""
    assert spread((48, 32), (10, 8, 12, 32, 8)) == [[1, 1], [3, 2], [1, 2]]
    assert spread((16, 32), (100, 0, 12, 16, 16)) == [[25, 75]]


def test_samples_beyond_the_plane_get_nothing():
    """64x64 samples cover 17x18 of the plane, with 16x16, 16x2, 1x16 and 1x2 in the cells."""
    assert spread((17, 18), (306, 0, 0, 64, 64)) == [[256, 32], [16, 2]]
    assert spread((17, 18), (1, 0, 0, 64, 64)) == [[0, 0], [0, 1]]


def test_what_was_counted_before_belongs_to_no_cell():
    tally = Tally()
    tally.add("flag", 1, 2)
    cells = CellRates((16, 16), tally)
    tally.add("element", 1, 8)
    cells.add(3, 4)
    assert cells.rates.tolist() == [[3 * 4096]]
    cells.add(3, 5)
    assert cells.rates.tolist() == [[3 * 4096]]


@given(
    st.tuples(st.integers(1, 70), st.integers(1, 70)),
    st.lists(st.tuples(st.integers(0, 1 << 40), *[st.floats(0, 1)] * 2, *[st.integers(1, 64)] * 2)),
)
def test_nothing_is_lost(shape, blocks):
    placed = [
        (rate, int(row * (shape[0] - 1)), int(column * (shape[1] - 1)), height, width)
        for rate, row, column, height, width in blocks
    ]
    found = np.array(spread(shape, *placed))
    assert found.shape == tuple(-(-side // 16) for side in shape)
    assert (found >= 0).all()
    assert found.sum() == sum(rate for rate, *_ in placed)


@pytest.mark.parametrize(("frequency", "bits"), [(1 << 15, 1), (1 << 8, 8), ((1 << 8) + 15, 8)])
def test_coarse_rates_of_bits_come_from_twelve_bits(frequency, bits):
    coarse, fine = Tally(("map",), coarse=True), Tally(("map",))
    for tally in (coarse, fine):
        tally.add_bit("map", frequency)
    assert coarse.sum() == 4096 * bits
    assert coarse.rate == {"map": 4096 * bits}
    assert fine.sum() == round(4096 * (16 - np.log2(frequency)))


def flat_but_one_cell(shape):
    """A flat picture with noise in the cell of row 1 and column 1."""
    picture = np.full(shape, 90, np.uint8)
    picture[16:32, 16:32] = np.random.default_rng(5).integers(0, 256, (16, 16))
    return picture


@pytest.mark.parametrize(
    "options",
    [
        {"preset": "plain"},
        {"preset": "mixed", "fragment_size": 32, "cross_component": 0},
        {"preset": "photo", "cross_component": 0, "delta_step": True},
    ],
    ids=["trees", "trees and blocks", "blocks"],
)
def test_noise_takes_the_bits_of_a_picture(options):
    picture = flat_but_one_cell((33, 38))
    params = EncodeParams.from_options(20, effort=1, **options)
    coded = REFERENCE.encode(PlaneTask(picture, params))
    rates = coded.trace.cell_rates
    assert rates.shape == (3, 3)
    assert rates.dtype == np.int64
    assert rates.sum() == 4096 * sum(coded.trace.bits.values())
    assert rates[1, 1] > 0.8 * rates.sum()
    decoded = REFERENCE.decode(coded.payload, picture.shape, params.coded_tools)
    np.testing.assert_array_equal(decoded.trace.cell_rates, rates)


def test_cells_of_lossless_samples_have_no_part_of_the_values():
    """The second plane has one value, so that all its bits name it."""
    params = EncodeParams(tools=LosslessTools(1))
    first = flat_but_one_cell((34, 33)).astype(np.uint16)
    planes = np.dstack([first, np.full_like(first, 7)])
    coded = REFERENCE.encode(PlaneTask(planes, params))
    trace = coded.trace
    assert trace.cell_rates.shape == (3, 3)
    assert trace.bits["map"] > 10
    assert trace.cell_rates.sum() == 4096 * trace.bits["residual"]
    assert trace.cell_rates[1, 1] > 0.7 * trace.cell_rates.sum()
    decoded = REFERENCE.decode(coded.payload, planes.shape, params.tools).trace
    assert decoded.bits == trace.bits
    np.testing.assert_array_equal(decoded.cell_rates, trace.cell_rates)
