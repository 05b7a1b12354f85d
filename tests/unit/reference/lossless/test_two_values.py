"""Planes of two values: round trips, what is ink, templates, keys, places and groups."""

import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.planes import PIXELS, plane_of, text

from mmpcodec import CorruptStream, TruncatedStream
from mmpcodec.errors import FormatError
from mmpcodec.reference.entropy.cell_rates import CellRates
from mmpcodec.reference.entropy.symbols import SymbolWriter
from mmpcodec.reference.entropy.syntax import LOSSLESS_SYNTAX
from mmpcodec.reference.lossless.coder import decode_planes, encode_planes
from mmpcodec.reference.lossless.plane import Plane
from mmpcodec.reference.lossless.two_values.bit_rows import BitRows
from mmpcodec.reference.lossless.two_values.mixing import (
    CORE_SQUARE,
    DIAMOND,
    ContextModel,
    PixelState,
    SlowModels,
    first_of_history,
    template_masks,
)
from mmpcodec.reference.lossless.two_values.periods import Periods, periods_of
from mmpcodec.reference.lossless.two_values.places import FACTORS, AlikePlace, Places
from mmpcodec.reference.lossless.two_values.plane import FORMS as TWO_VALUES_FORMS
from mmpcodec.reference.lossless.two_values.plane import (
    BrokenGroups,
    TwoValuesCoder,
    TwoValuesPlane,
    rarer,
)
from mmpcodec.tools import LosslessTools

FORMS = range(1, 4)


def silent(done, total):
    pass


def encoded(samples, form, depth=1):
    """The payload, after a check that it decodes to the samples."""
    tools = LosslessTools(form)
    payload, shown, bits, cells = encode_planes(samples, depth, tools, silent)
    decoded, same_bits, same_cells = decode_planes(payload, samples.shape, depth, tools, silent)
    np.testing.assert_array_equal(shown, samples)
    np.testing.assert_array_equal(decoded, samples)
    assert bits == same_bits
    assert (cells == same_cells).all()
    assert cells.sum() == 4096 * bits["residual"]
    return payload


def rows_of(pixels):
    """The pixels of an array as a plane."""
    height, width = np.shape(pixels)
    found = BitRows(height, width)
    for row, column in np.argwhere(pixels).tolist():
        found.fill(row, column, 1, 1)
    return found


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", PIXELS)
def test_round_trips(name, form):
    encoded(plane_of(name), form)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("depth", "values"), [(8, (255, 0)), (9, (3, 4))])
def test_round_trips_of_deeper_samples(depth, values, form):
    encoded(plane_of("halftone", values), form, depth)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(1, 40), st.sampled_from(FORMS))
def test_round_trips_of_any_planes(seed, height, width, form):
    rng = np.random.default_rng(seed)
    rows = rng.random((5, width)) < rng.choice([0.01, 0.1, 0.5, 0.95])
    encoded(rows[rng.integers(0, 5, height)][None].astype(np.uint16), form)


def test_glyphs_that_come_again_need_fewer_bytes_with_more_places():
    samples = text(54, 96)[None].astype(np.uint16)
    sizes = [len(encode_planes(samples, 1, LosslessTools(form), silent)[0]) for form in (1, 2, 3)]
    assert sizes[0] > sizes[1] > sizes[2]
    assert sizes[2] < samples.size / 8 / 3


def test_white_costs_little():
    assert len(encoded(plane_of("one pixel"), 3)) <= 8


def test_planes_beside_others_and_with_errors_are_coded_as_before():
    samples = plane_of("noise")
    twice = np.concatenate([samples, samples])
    for planes, tools in (
        (twice, LosslessTools(2)),
        (samples, LosslessTools(2, 1)),
    ):
        payload, shown, *_ = encode_planes(planes, 1, tools, silent)
        decoded, *_ = decode_planes(payload, planes.shape, 1, tools, silent)
        np.testing.assert_array_equal(decoded, shown)


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=60), st.integers(1, 20), st.integers(1, 30), st.sampled_from(FORMS))
def test_any_payload_is_a_picture_or_refused(payload, height, width, form):
    shape = 1, height, width
    with contextlib.suppress(FormatError):
        found, *_ = decode_planes(payload, shape, 1, LosslessTools(form), silent)
        assert found.shape == shape
        assert found.max() <= 1


@pytest.mark.parametrize("form", FORMS)
def test_wrong_lengths_are_refused(form):
    samples = plane_of("noise")
    payload, tools = encoded(samples, form), LosslessTools(form)
    with pytest.raises(CorruptStream):
        decode_planes(payload + bytes(9), samples.shape, 1, tools, silent)
    with pytest.raises(TruncatedStream):
        decode_planes(payload[:20], samples.shape, 1, tools, silent)


@pytest.mark.parametrize(
    ("numbers", "ink"), [([0, 0, 1], 1), ([0, 1, 1], 0), ([0, 1], 1), ([1, 0, 1, 0], 1)]
)
def test_ink_is_the_rarer_value(numbers, ink):
    assert rarer(np.array(numbers)) == ink


@pytest.mark.parametrize(
    ("name", "columns", "rows"),
    [
        ("enlarged by 2 and 4", 4, 2),
        ("enlarged by 3/2", 3, 3),
        ("noise", 1, 1),
        ("text", 1, 1),
        ("a row", 1, 1),
        ("two pixels", 1, 1),
    ],
)
def test_periods_of_enlarged_pictures(name, columns, rows):
    assert periods_of(plane_of(name)[0]) == (columns, rows)


@pytest.mark.parametrize(("name", "ink"), [("one pixel", 1), ("all but one pixel", 0)])
def test_pixels_of_ink_are_ones(name, ink):
    numbers = plane_of(name)[0]
    plane, writer = Plane(*numbers.shape, 1), SymbolWriter(LOSSLESS_SYNTAX, coarse=True)
    cells = CellRates(numbers.shape, writer.tally)
    coder = TwoValuesCoder(TwoValuesPlane(plane, writer, cells, ink, Periods()), LosslessTools(1))
    for row, given_row in enumerate(numbers):
        coder.code_row(row, given_row)
    assert sum(row.bit_count() for row in coder.pixels.rows) == 1
    np.testing.assert_array_equal(plane.inner, numbers)


class Recorder:
    """Coder that keeps the probability of each bit that it encodes."""

    def __init__(self):
        self.coded = []
        self.tally = SymbolWriter(LOSSLESS_SYNTAX).tally

    def bit(self, syntax, probability, bit):
        self.coded.append((probability, bit))
        return bit


def coder_of(height, width, form=3):
    recorder, plane = Recorder(), Plane(height, width, 1)
    cells = CellRates((height, width), recorder.tally)
    first = TwoValuesPlane(plane, recorder, cells, 1, Periods())
    return TwoValuesCoder(first, LosslessTools(form)), recorder


def test_groups_of_a_row():
    """Three whole groups; a broken one whose last pixel needs no bit; a group without a value."""
    coder, recorder = coder_of(2, 40)
    row = np.zeros(40, int)
    row[31] = 1
    coder.code_row(0, row)
    bits = [bit for _, bit in recorder.coded]
    assert bits == [0, 0, 0, 1, *[0] * 7, *[0] * 8]
    assert [probability for probability, _ in recorder.coded[:4]] == [64, 49, 40, 33]
    assert coder.breaks.broken == 1
    assert coder.breaks.whole == 0
    assert coder.far == 0  # a pixel of the last group was mixed
    assert coder.near_class == 7
    assert coder.places.mixed[0] == [*range(24, 31), *range(32, 40)]
    coder.code_row(1, np.zeros(40, int))
    assert (coder.breaks.broken_above, coder.breaks.broken, coder.breaks.whole) == (1, 0, 34)
    assert coder.places.mixed[1] == [*range(24, 40)]  # these groups are not clear
    assert coder.far == 0


def test_far_counts_pixels_of_whole_groups_of_both_values():
    coder, recorder = coder_of(5, 64)
    coder.pixels.rows[:4] = [(1 << 64) - 1] * 4
    coder.pixels.rows[4] = 0
    coder.places.begin_row(4)
    coder.pixels.fill(4, 0, 16, 1)
    coder.places.followed = [AlikePlace(0, 40, 3)]
    coder._code_group(4, 16, [1] * 8)
    assert coder.far == 8
    assert recorder.coded == [(64, 0)]
    assert coder.places.followed == [AlikePlace(0, 48, 3)]
    coder._code_group(4, 24, [1, 1, 0, 1, 1, 1, 1, 1])
    assert [bit for _, bit in recorder.coded[1:]] == [1, 1, 1, 0, 1, 1, 1, 1, 1]
    assert coder.far == 0
    assert coder.breaks.broken == 0
    keys = coder.places.mixed[4]
    assert keys == [*range(24, 32)]


def test_what_places_say_about_a_group():
    pixels = np.zeros((12, 60), int)
    pixels[5, 26] = 1
    groups = BrokenGroups(rows_of(pixels))

    def says(*columns, row=5):
        return groups._says([AlikePlace(row, column, 0) for column in columns], (2, 3))

    assert says(20) == (1 + (5 >> 1), 2, 3, 0)
    assert says(25, 3) == (1, 2, 3, 1)
    assert says(26, 20) == (5, 2, 3, 2)  # the one is left of the group
    assert says(15, 40, row=6) == (5, 2, 3, 1)
    assert says(14, 40, row=6) == (0, 2, 3, 1)
    assert says(70) == (0, 2, 3, 0)


def test_forms_choose_rows_of_the_table():
    found = [TWO_VALUES_FORMS[form] for form in FORMS]
    assert [len(form.templates) for form in found] == [2, 4, 7]
    assert [form[1:] for form in found] == [(1, 1, 2048), (3, 2, 512), (6, 3, 0)]


def test_bits_beyond_the_plane_are_0():
    pixels = rows_of([[1, 0, 1], [0, 1, 1]])
    assert pixels.bits(0, 0, 3) == 0b101
    assert pixels.bits(0, -2, 9) == 0b10100
    assert pixels.bits(1, 1, 31) == 0b11
    assert pixels.bits(1, 3, 8) == pixels.bits(-1, 0, 3) == pixels.bits(2, 0, 3) == 0


@pytest.mark.parametrize(("side", "bits"), [(1, 6), (45, 6), (46, 7), (200, 11), (3000, 17)])
def test_lines_by_size(side, bits):
    """45 * 45 has 11 binary digits, 46 * 46 has 12."""
    assert BitRows(side, side).line_bits == bits


def test_templates_have_the_nearest_pixels():
    """Columns -2 to 2 are digits 13 to 17; the pixel to the left is in no mask."""
    assert template_masks(8)[:3] == [1 << 13, 0b11111 << 13, 1 << 15]
    assert template_masks(9)[:3] == [1 << 13, 0b11111 << 13, 0b11 << 14]
    for count in (8, 12, 48, 110):
        masks = template_masks(count)
        assert len(masks) == 11
        assert sum(mask.bit_count() for mask in masks) == count - 1


def test_masks_of_places():
    assert bin(DIAMOND) == "0b100011101111101110" + "00100"
    assert bin(CORE_SQUARE) == "0b111001110011100" + "0000"


def naive_distance(pixels, first, second):
    """Distance of two windows, pixel by pixel."""

    def at(pixel, r, c):
        row, column = pixel[0] + r, pixel[1] + c
        inside = 0 <= row < pixels.shape[0] and 0 <= column < pixels.shape[1]
        return pixels[row, column] if inside else 0

    offsets = [(r, c) for r in range(-12, 1) for c in range(-12, 13) if (r, c) < (0, 0)]
    return sum(
        (2 if r >= -4 and abs(c) <= 4 else 1) * (at(first, r, c) != at(second, r, c))
        for r, c in offsets
    )


def test_distances_and_order_of_places():
    """All pixels of an early row are candidates; those of the same distance keep their order."""
    pixels = np.random.default_rng(2).random((20, 40)) < 0.3
    pixels[10:] = pixels[:10]
    places = Places(rows_of(pixels), 6)
    for row in range(17):
        places.begin_row(row)
    places.followed = [AlikePlace(6, column, 0) for column in (3, 20, 38, 39)]
    places.above[15] = [AlikePlace(5, 15, 3), AlikePlace(4, 21, 5)]
    places.above[16] = [AlikePlace(6, 30, 0), AlikePlace(2, 9, 0)]
    candidates = [(6, 4), (6, 21), (6, 39), (6, 15), (5, 21), (7, 29)]
    expected = sorted(
        (
            (row, column, naive_distance(pixels, (16, 15), (row, column)))
            for row, column in candidates
        ),
        key=lambda place: place[2],
    )
    assert [tuple(place) for place in places.find(16, 15, 0)] == expected
    assert places.own[15] == places.followed
    assert places.mixed[16] == [15]


def test_pixels_enter_lines_after_six_rows_the_last_one_first():
    pixels = rows_of(np.zeros((12, 9), int))
    places = Places(pixels, 3)
    for row in range(8):
        places.begin_row(row)
        if row == 1:
            for column in (2, 5, 7):
                places.find(row, column, 0)
        assert bool(places.lines) == (row == 7)
    assert [places.lines[key, 0] for key in range(3)] == 3 * [[(1, 7), (1, 5)]]


@pytest.mark.parametrize(("most", "far", "by_keys"), [(3, 0, 0), (3, 8, 1), (4, 0, 1)])
def test_equal_places_need_no_keys(most, far, by_keys):
    places = Places(rows_of(np.zeros((12, 40), int)), most)
    places.begin_row(0)
    places.find(0, 30, 0)
    for row in range(1, 8):
        places.begin_row(row)
    places.followed = [AlikePlace(0, 19, 0)]
    found = [place[:2] for place in places.find(7, 20, far)]
    assert found == [(0, 20), (0, 30)][: 1 + by_keys]


def test_keys_by_the_formula():
    pixels = rows_of(np.random.default_rng(3).random((12, 60)) < 0.5)
    places = Places(pixels, 4)

    def bits(r, c, n):
        return pixels.bits(10 + r, 30 + c, n)

    rows = [range(1, 4), range(1, 7), range(1, 9)]
    sums = [
        bits(0, -5, 4) * FACTORS[2] + sum(bits(-k, -5, 10) * FACTORS[2 + k] for k in rows[0]),
        bits(0, -8, 7) * FACTORS[4] + sum(bits(-k, -8, 16) * FACTORS[4 + k] for k in rows[1]),
        bits(0, -17, 16) * FACTORS[3] + sum(bits(-k, -17, 27) * FACTORS[3 + k] for k in rows[2]),
    ]
    keys = [own * FACTORS[last] % 2**64 for own, last in zip(sums, (6, 1, 0), strict=True)]
    line_bits = (12 * 60).bit_length() - 5
    assert line_bits < 6  # so the limit holds
    assert places._lines(10, 30) == [(i, key >> 63 - 6) for i, key in enumerate(keys)]


def test_certain_pixels_take_places_along():
    places = Places(rows_of(np.zeros((12, 10), int)), 3)
    places.begin_row(7)
    places.followed = [AlikePlace(1, 8, 4), AlikePlace(0, 9, 5)]
    places.follow(3)
    assert places.own[3] == places.followed == [AlikePlace(1, 9, 4)]
    places.above[4] = [AlikePlace(0, 0, 7), AlikePlace(0, 9, 8)]
    places.follow(4)
    assert places.own[4] == places.followed == [AlikePlace(1, 0, 7), AlikePlace(1, 9, 8)]
    places.skip(8)
    assert places.followed == [AlikePlace(1, 8, 7), AlikePlace(1, 17, 8)]
    assert places.own[5:] == [[]] * 5


def test_states_of_slow_models():
    models = SlowModels()
    models.learn("a", 1)
    assert models.states["a"] == (32768 + (32768 * 14563 >> 16), 1)
    for _ in range(600):
        models.learn("a", 0)
    assert models.states["a"][1] == 250
    assert 1 <= models.probability("a") < 300
    assert first_of_history((0, 0, 0)) == 32768
    assert first_of_history((9, 3, 1)) == 65536 * 3 // 10


def test_states_of_pixels():
    state = PixelState()
    assert state.odds() == 0
    for bit in (1, 1, 1, 1, 1, 0):
        state.learn(bit)
    assert state.seen == [1, 3]
    assert state.uses == 6
    low = PixelState(probability=30000, uses=2)
    whole = PixelState(probability=30000, uses=3)
    assert low.odds() == int(np.floor(5 * whole.odds() / 8)) < 0


def test_another_check_starts_a_line_anew():
    model = ContextModel(6)
    first = model.find(12345, 1)
    first.learn(1)
    assert model.find(12345, 1) is first
    other = next(context for context in range(10**4) if same_line(context, 12345))
    assert model.find(other, 1).uses == 0
    assert model.find(12345, 1).uses == 0


def same_line(first, second):
    """Whether two different contexts have one line of 2**6."""

    def line(context):
        y = context * FACTORS[0] % 2**64
        return (y ^ y >> 29) * FACTORS[1] % 2**64 >> 58

    return first != second and line(first) == line(second)
