"""Predicted blocks of samples of 9 to 16 bits: C++ writes the bytes of the reference."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.operations import check_decoding, check_picture
from support.strategies import (
    BASIC,
    CONTENT,
    deep_pictures,
    deepened,
    earlier_planes,
    predicted_params,
    woven,
)

from mmpcodec import EncodeParams, FormatError
from mmpcodec.backends.base import PlaneTask
from mmpcodec.backends.block_efforts import PLAIN_EFFORTS
from mmpcodec.backends.cpu import CpuBackend
from mmpcodec.backends.reference import ReferenceBackend
from mmpcodec.reference.blocks.partition import (
    CROSS_COMPONENT,
    TEMPLATES,
    WIDE_CROSS_COMPONENT,
)

REFERENCE, CPU = ReferenceBackend(), CpuBackend(efforts=PLAIN_EFFORTS)


def check(picture, params, depth, threads=(1, 3)):
    expected = check_picture("blocks", picture, params, depth, threads)
    assert int(expected.samples.max()) < 1 << depth


@given(deep_pictures(max_side=20), predicted_params((1, 2, 4)), st.sampled_from([1, 2, 5]))
def test_any_picture_and_parameters(drawn, params, threads):
    picture, depth = drawn
    check(picture, params, depth, [threads])


@pytest.mark.parametrize(
    ("depth", "lam", "contents"),
    [
        (depth, lam, (("natural", "text"), ("text", "natural"))[(i + j) % 2])
        for i, depth in enumerate([9, 12, 16])
        for j, lam in enumerate([1e-5, 0.02, 1, 32, 2.0**20])
    ],
)
def test_grid(depth, lam, contents):
    rng = np.random.default_rng(depth)
    params = EncodeParams.from_options(lam, preset="photo", effort=2, **BASIC)
    check(deepened(rng, CONTENT["natural"](rng, 1, 1), depth), params, depth)
    for shape, content in zip([(5, 38), (33, 7)], contents, strict=True):
        check(deepened(rng, CONTENT[content](rng, *shape), depth), params, depth)


def test_templates():
    rng = np.random.default_rng(16)
    picture = deepened(rng, woven(rng, 44, 40), 16)
    params = EncodeParams.from_options(20, preset="photo", fragment_size=32, effort=2, **BASIC)
    check(picture, params, 16, [2])
    modes = CPU.encode(PlaneTask(picture, params, depth=16)).trace.units[..., 2]
    assert (modes == TEMPLATES).sum() > 3


@pytest.mark.parametrize("depth", [10, 11])
def test_the_largest_differences(depth):
    """Samples of 0 and of the largest value take sums of 16 and of 32 bits to their limits."""
    rows, columns = np.indices((24, 36))
    noise = np.random.default_rng(depth).integers(0, 2, rows.shape)
    largest = (1 << depth) - 1
    picture = largest * np.where(columns < 20, (rows // 4 + columns // 4) % 2, noise)
    params = EncodeParams.from_options(60, preset="photo", effort=1, templates=0, cross_component=0)
    check(picture.astype(np.uint16), params, depth, [1])


@pytest.mark.parametrize(("lam", "depth"), [(1e-5, 16), (1, 9), (60, 12)])
def test_cross_component(lam, depth):
    params = EncodeParams.from_options(lam, preset="photo", effort=2)
    luma, other = earlier_planes((29, 36), params.tools, depth)
    picture = luma // 2 + other // 3
    check(picture, params, depth)
    earlier = [luma, other]
    modes = CPU.encode(PlaneTask(picture, params, depth=depth, earlier=earlier)).trace.units[..., 2]
    assert (modes >= CROSS_COMPONENT).sum() > 10


def test_sums_of_cross_component_beyond_32_bits():
    """Dark samples give five weights near 4, which take bright ones far beyond the range."""
    rng = np.random.default_rng(1)
    luma = rng.integers(0, 3000, (32, 64)).astype(np.uint16)
    around = np.pad(luma.astype(int), 1, mode="edge")
    sides = around[:-2, 1:-1] + around[2:, 1:-1] + around[1:-1, :-2] + around[1:-1, 2:]
    picture = (4 * (luma + sides)).astype(np.uint16)
    params = EncodeParams.from_options(1, preset="photo", effort=2, cross_component=1)
    coded = CPU.encode(PlaneTask(picture, params, depth=16, earlier=[luma]))
    modes = coded.trace.units[..., 2]
    luma[:, 32:] += 62000  # the samples decode to others, from the weights of the dark ones
    found = [
        backend.decode(coded.payload, luma.shape, params.coded_tools, depth=16, earlier=[luma])
        for backend in (REFERENCE, CPU)
    ]
    np.testing.assert_array_equal(found[0].samples, found[1].samples)
    wide = np.kron(modes[:, 8] == WIDE_CROSS_COMPONENT, np.ones(4, bool))
    assert wide.any()
    assert (found[0].samples[wide, 32:34] > 60000).all()


def extremes(most, height, width):
    """Pictures of nothing but the least and the largest sample."""
    rng = np.random.default_rng(0)
    i, j = np.indices((height, width))
    shapes = {
        "checks": (i + j) % 2,
        "wide checks": (i // 4 + j // 4) % 2,
        "rows": i % 2,
        "columns": j // 3 % 2,
        "halves": j > width // 2,
        "corner": (i >= 32) & (j >= 32),
        "noise": rng.integers(0, 2, (height, width)),
        "black": np.zeros((height, width)),
        "white": np.ones((height, width)),
    }
    return {name: (most * shape).astype(np.uint16) for name, shape in shapes.items()}


EXTREMES = tuple(extremes(1, 2, 2))


@pytest.mark.parametrize(
    ("content", "depth", "lam"),
    [
        (content, depth, (1e-5, 3, 2.0**20)[(i + j) % 3])
        for i, content in enumerate(EXTREMES)
        for j, depth in enumerate([9, 15, 16])
    ],
)
def test_extreme_samples_in_small_pictures(content, depth, lam):
    picture = extremes((1 << depth) - 1, 17, 18)[content]
    check(picture, EncodeParams.from_options(lam, preset="photo", effort=2, **BASIC), depth, [2])


@pytest.mark.parametrize("content", EXTREMES)
@pytest.mark.parametrize("lam", [1e-5, 0.5, 700, 2.0**20])
def test_extreme_samples_in_the_largest_blocks(content, lam):
    """The largest sums that there can be; beyond 32 bits they would be others than NumPy's."""
    picture = extremes(65535, 68, 130)[content]
    params = EncodeParams.from_options(lam, preset="photo", effort=2, **BASIC)
    coded = CPU.encode(PlaneTask(picture, params, depth=16))
    check_decoding("blocks", coded, params, 16)
    if lam == 1e-5:
        error = np.abs(coded.samples.astype(int) - picture).max()
        assert error < 300, "about one level of 8 bits"


def outcome(backend, payload, shape, params, depth):
    """The decoded samples, or the type and the text of the error."""
    try:
        earlier = earlier_planes(shape, params.tools, depth)
        decoded = backend.decode(payload, shape, params.coded_tools, depth=depth, earlier=earlier)
    except FormatError as error:
        return type(error).__name__, str(error)
    assert decoded.samples.shape == shape
    assert int(decoded.samples.max()) < 1 << depth
    return decoded.samples.tobytes()


@given(
    st.binary(max_size=120)
    | st.binary(min_size=20, max_size=60).map(lambda tail: b"\xff" * 9 + tail),
    st.integers(1, 70),
    st.integers(1, 70),
    st.integers(9, 16),
    predicted_params(),
)
def test_random_payloads_decode_alike(payload, height, width, depth, params):
    expected = outcome(REFERENCE, payload, (height, width), params, depth)
    assert outcome(CPU, payload, (height, width), params, depth) == expected
    if not isinstance(expected, bytes):
        kind, text = expected
        assert kind in ("TruncatedStream", "CorruptStream")
        assert text.split(":")[0] in ("Range coder", "Modes", "Levels", "Delta step")


@pytest.mark.parametrize("depth", [12, 16])
def test_damaged_payloads_decode_alike(depth):
    rng = np.random.default_rng(3)
    picture = deepened(rng, CONTENT["natural"](rng, 33, 50), depth)
    params = EncodeParams.from_options(3, preset="photo", effort=2, **BASIC)
    payload = CPU.encode(PlaneTask(picture, params, depth=depth)).payload
    damaged = [payload[:length] for length in range(0, len(payload), 9)] + [payload + b"\x01"]
    for place in range(0, len(payload), 5):
        changed = bytearray(payload)
        changed[place] ^= int(rng.integers(1, 256))
        damaged.append(bytes(changed))
    results = [outcome(REFERENCE, data, picture.shape, params, depth) for data in damaged]
    assert results == [outcome(CPU, data, picture.shape, params, depth) for data in damaged]
    kinds = {result[0] for result in results if not isinstance(result, bytes)}
    assert kinds == {"TruncatedStream", "CorruptStream"}
