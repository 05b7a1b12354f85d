"""Lossless samples: the compiled code writes the reference's bytes and reads them back, or
refuses."""

import ctypes
import ctypes.util
import platform
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.operations import LOSSLESS_INPUTS, OPERATIONS, silent
from support.planes import DEPTHS, ROUNDING, outcome, planes
from support.strategies import CONTENT

from mmpcodec import _cpu
from mmpcodec.reference.lossless import coder
from mmpcodec.reference.lossless.pixels.block_choice import repeating_blocks
from mmpcodec.reference.lossless.pixels.colours import ColourShape
from mmpcodec.reference.lossless.streams import joined, parted

FORMS = st.sampled_from([*LOSSLESS_INPUTS.values()])


def outcomes(payload, shape, depth, tools):
    """The outcomes of the reference, and of the compiled decoder with one and three threads."""
    return [
        outcome(lambda: coder.decode_planes(payload, shape, depth, tools, silent)[0]),
        outcome(lambda: _cpu.decode_lossless(payload, shape, depth, tools, 1, None)[0]),
        outcome(lambda: _cpu.decode_lossless(payload, shape, depth, tools, 3, None)[0]),
    ]


def check(samples, depth, tools):
    *_, bits, cells, decoded, _, _ = OPERATIONS["lossless samples"].check(samples, depth, tools)
    error = np.abs(decoded.astype(int) - samples)
    assert error.max() <= tools.max_error
    assert cells.sum() == 4096 * bits[1]


@settings(max_examples=25)  # the reference takes milliseconds for a sample
@given(planes(), FORMS)
def test_any_planes(drawn, tools):
    check(*drawn, tools)


@pytest.mark.parametrize("form", LOSSLESS_INPUTS)
@pytest.mark.parametrize("depth", [1, 8, 16])
def test_extremes(depth, form):
    most = (1 << depth) - 1
    rows, columns = np.indices((4, 13))
    chequered = ((rows + columns) % 2 * most).astype(np.uint16)
    striped = (columns // 3 % 2 * most).astype(np.uint16)
    check(np.stack([chequered, striped, most - chequered]), depth, LOSSLESS_INPUTS[form])


def test_largest_sums_of_the_widest_strips():
    """Rows of black and white, with which the sums of strips come close to 2**31."""
    samples = np.tile(np.where(np.arange(20) % 3, 0, 255)[:, None], (1, 160))
    samples[:2] = np.arange(320).reshape(2, 160) % 256  # all values, so that none is renumbered
    check(samples[None].astype(np.uint16), 8, LOSSLESS_INPUTS["form 1"])


@pytest.mark.parametrize("form", LOSSLESS_INPUTS)
def test_few_values_beside_many(form):
    """The sums of a plane of few values hold the samples of the planes before it."""
    wide = np.random.default_rng(8).integers(0, 1 << 16, (12, 30))
    check(np.stack([wide, wide >> 12]).astype(np.uint16), 16, LOSSLESS_INPUTS[form])


@pytest.mark.parametrize("form", LOSSLESS_INPUTS)
def test_longer_rows(form):
    samples = CONTENT["text"](np.random.default_rng(7), 16, 45).astype(np.uint16)
    check(samples[None], 8, LOSSLESS_INPUTS[form])


@pytest.mark.parametrize("noise", [0.3, 0.8])
@pytest.mark.parametrize(("form", "error"), [("form 2", 0), ("form 3", 0), ("form 2", 1)])
def test_runs(form, error, noise):
    """Flat areas with runs of all lengths, some broken, beside noise of two amounts."""
    generator = np.random.default_rng(9)
    planes = np.full((3, 14, 70), 3)
    noisy = slice(0, round(70 * noise))
    planes[:, :4, noisy] = generator.integers(0, 8, planes[:, :4, noisy].shape)
    planes[:, 4:, -9:] = 5
    planes[0, 9, 13] = planes[1, 9, 14] = planes[2, 12, 40] = 6
    check(planes.astype(np.uint16), 8, replace(LOSSLESS_INPUTS[form], max_error=error))


@settings(max_examples=60)
@given(st.binary(max_size=60), st.integers(1, 4), st.integers(1, 9), st.sampled_from(DEPTHS), FORMS)
def test_random_payloads_decode_alike(payload, count, side, depth, tools):
    """Of several damaged planes, the decoders name the same one."""
    shape = count, side, 10 - side
    expected, *found = outcomes(payload, shape, depth, tools)
    assert found == [expected] * 2


@pytest.mark.parametrize("form", LOSSLESS_INPUTS)
def test_a_stream_that_is_too_long_is_named_after_the_samples(form):
    """A later plane whose samples do not decode is named first."""
    tools, depth = LOSSLESS_INPUTS[form], 8
    samples = CONTENT["noise"](np.random.default_rng(4), 2 * 9, 11).reshape(2, 9, 11)
    payload = coder.encode_planes(samples.astype(np.uint16), depth, tools, silent)[0]
    first, second = parted(payload, 2)
    longer = first + bytes(9)
    expected, *found = outcomes(joined([longer, second[:5]]), samples.shape, depth, tools)
    assert "payload ends after 5 bytes" in expected
    assert found == [expected] * 2
    expected, *found = outcomes(joined([longer, second]), samples.shape, depth, tools)
    assert f"payload has {len(longer)} bytes" in expected
    assert found == [expected] * 2


@pytest.mark.parametrize("rounding", ["down", "up", "toward zero"])
@pytest.mark.parametrize("depth", [8, 16])
def test_rounding_of_the_host_changes_nothing(rounding, depth):
    numbers = ROUNDING.get(platform.machine())
    if numbers is None:
        pytest.skip(f"the rounding modes of {platform.machine()} have no numbers here")
    most, tools = (1 << depth) - 1, LOSSLESS_INPUTS["form 3"]
    noise = np.random.default_rng(3).integers(0, most + 1, (40, 40))
    slope = np.add.outer(np.arange(40), np.arange(40)) * most // 78
    samples = np.stack([slope, noise // 64 + slope * 63 // 64, noise]).astype(np.uint16)
    payload = _cpu.encode_lossless(samples, depth, tools, 1, None)[0]
    host = ctypes.CDLL(ctypes.util.find_library("m"))
    assert host.fesetround(numbers[rounding]) == 0
    try:
        found = _cpu.encode_lossless(samples, depth, tools, 1, None)[0]
        decoded = _cpu.decode_lossless(payload, samples.shape, depth, tools, 1, None)[0]
        kept = host.fegetround() == numbers[rounding]
    finally:
        host.fesetround(0)
    assert found == payload
    np.testing.assert_array_equal(decoded, samples)
    assert kept, "the coder left another rounding than the host's"


def screens(count, depth, height=34, width=70):
    """Glyphs of three shapes on one background."""
    generator = np.random.default_rng(depth)
    most = (1 << depth) - 1
    samples = np.full((count, height, width), most * 9 // 10)
    glyphs = [generator.integers(0, most + 1, (7, 5)) for _ in range(3)]
    for row in range(1, height - 7, 8):
        for column in range(1, width - 5, 6):
            glyph = glyphs[generator.integers(3)]
            for plane in range(count):
                shaded = glyph * (plane + 2) // (count + 1)
                samples[plane, row : row + 7, column : column + 5] = shaded
    return samples.astype(np.uint16)


def screens_beside_slopes(count):
    """Two blocks of glyphs, and slopes with noise in the others."""
    samples = screens(count, 8, 34, 102)
    noise = np.random.default_rng(count).integers(0, 4, (count, 34, 70))
    samples[:, :, 32:] = np.add.outer(np.arange(34), np.arange(70)) + noise
    return samples


@pytest.mark.parametrize(
    ("form", "count"), [("form 1", 3), ("form 2", 1), ("form 3", 2), ("form 3", 3)]
)
def test_pixels_that_repeat(form, count):
    """Blocks that repeat beside natural ones."""
    samples = screens_beside_slopes(count)
    check(samples, 8, LOSSLESS_INPUTS[form])
    assert chosen_blocks(samples, int(form[-1])) == [[1, 0, 0, 0], [1, 0, 0, 0]]


def chosen_blocks(samples, form):
    """Return the blocks that the reference lets repeat, 1 or 0 each."""
    numbers = np.stack(
        [np.unique(one, return_inverse=True)[1].reshape(one.shape) for one in samples]
    )
    shape = ColourShape([int(one.max()) for one in numbers])
    return repeating_blocks(shape.packed(numbers), shape, form).repeats.astype(int).tolist()


@pytest.mark.parametrize(
    ("form", "count", "depth"), [("form 1", 1, 2), ("form 2", 4, 16), ("form 3", 3, 8)]
)
def test_all_blocks_repeat(form, count, depth):
    """A few slopes join the glyphs around them."""
    samples = screens(count, depth, 40, 30)
    samples[:, 28:, 12:] = np.add.outer(np.arange(12) // 2, np.arange(18) // 2) % 4
    check(samples, depth, LOSSLESS_INPUTS[form])
    assert chosen_blocks(samples, int(form[-1])) == [[1], [1]]


def test_one_row_and_noise_do_not_repeat():
    """A row has only left neighbours; noise of few levels repeats those beside it by chance."""
    generator = np.random.default_rng(4)
    row = generator.integers(0, 200, (1, 1, 120)).astype(np.uint16)
    noise = generator.normal(100, 1.5, (1, 32, 40)).astype(np.uint16)
    for form in (1, 2, 3):
        assert not np.any(chosen_blocks(row, form))
        assert not np.any(chosen_blocks(noise, form))
        check(row, 8, LOSSLESS_INPUTS[f"form {form}"])
        check(noise, 8, LOSSLESS_INPUTS[f"form {form}"])


def test_noise_of_many_colours_does_not_repeat():
    """Whole pixels would save some bits in the fast mode, and take far longer."""
    noise = np.random.default_rng(5).integers(0, 1 << 16, (1, 80, 80)).astype(np.uint16)
    assert not np.any(chosen_blocks(noise, 1))
    check(noise, 16, LOSSLESS_INPUTS["form 1"])


@pytest.mark.parametrize("form", [1, 2])
def test_random_colours_of_a_palette_repeat(form):
    generator = np.random.default_rng(6)
    colours = generator.integers(0, 256, (64, 3)).astype(np.uint16)
    samples = np.moveaxis(colours[generator.integers(0, 64, (40, 40))], 2, 0)
    assert np.all(chosen_blocks(samples, form))
    check(np.ascontiguousarray(samples), 8, LOSSLESS_INPUTS[f"form {form}"])


def test_slopes_repeat():
    slope = np.add.outer(np.arange(20) // 2, np.arange(50) // 2)
    check(np.stack([slope, slope // 2, 40 - slope]).astype(np.uint16), 8, LOSSLESS_INPUTS["form 1"])
