"""Pictures in blocks: the compiled code writes the reference's bytes and reads them back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import CONTENT, block_params, pictures

from mmpcodec import EncodeParams, FormatError
from mmpcodec.backends.cpu import CpuBackend
from mmpcodec.backends.reference import ReferenceBackend

REFERENCE, CPU = ReferenceBackend(), CpuBackend()


def assert_same(expected, found, name):
    assert found.payload == expected.payload, name
    assert np.array_equal(found.samples, expected.samples), name
    assert found.trace.bits == expected.trace.bits, name
    assert np.array_equal(found.trace.units, expected.trace.units), name


def check(picture, params, threads=(1, 3)):
    expected = REFERENCE.encode(picture, params)
    for count in threads:
        found = CPU.encode(picture, params, threads=count)
        assert_same(expected, found, f"encode, {count} threads")
    for backend in (REFERENCE, CPU):
        decoded = backend.decode(expected.payload, picture.shape, params.coded_tools)
        assert_same(expected, decoded, f"decode, {backend.name}")


@given(pictures(max_side=28), block_params((1, 2, 4)), st.sampled_from([1, 2, 5]))
def test_any_picture_and_parameters(picture, params, threads):
    check(picture, params, [threads])


@given(pictures(max_side=13), block_params((5, 7, 9)))
def test_any_small_picture_with_much_effort(picture, params):
    check(picture, params, [2])


@pytest.mark.parametrize("lam", [1e-5, 1, 32, 512, 2.0**20])
@pytest.mark.parametrize("fragment_size", [16, 32, 64])
def test_grid(fragment_size, lam):
    rng = np.random.default_rng(int(lam))
    params = EncodeParams.from_options(lam, preset="photo", fragment_size=fragment_size, effort=4)
    for height, width in ((1, 1), (5, 38), (33, 7)):
        for content in ("natural", "text"):
            check(CONTENT[content](rng, height, width), params)


@pytest.mark.parametrize(("height", "width"), [(68, 24), (20, 100)])
def test_several_fragments(height, width):
    picture = CONTENT["natural"](np.random.default_rng(1), height, width)
    check(picture, EncodeParams.from_options(32, preset="photo", effort=1))


@pytest.mark.parametrize("content", CONTENT)
@pytest.mark.parametrize("lam", [0.5, 60])
def test_larger_pictures_decode_alike(content, lam):
    picture = CONTENT[content](np.random.default_rng(2), 150, 131)
    params = EncodeParams.from_options(lam, preset="photo", effort=2)
    coded = CPU.encode(picture, params)
    decoded = REFERENCE.decode(coded.payload, picture.shape, params.coded_tools)
    assert_same(coded, decoded, content)


def outcome(backend, payload, shape, params):
    """The decoded samples, or the type and the text of the error."""
    try:
        return backend.decode(payload, shape, params.coded_tools).samples.tobytes()
    except FormatError as error:
        return type(error).__name__, str(error)


@given(
    st.binary(max_size=120)
    | st.binary(min_size=20, max_size=60).map(lambda tail: b"\xff" * 9 + tail),
    st.integers(1, 70),
    st.integers(1, 70),
    block_params(),
)
def test_random_payloads_decode_alike(payload, height, width, params):
    expected = outcome(REFERENCE, payload, (height, width), params)
    assert outcome(CPU, payload, (height, width), params) == expected
    if not isinstance(expected, bytes):
        kind, text = expected
        assert kind in ("TruncatedStream", "CorruptStream")
        assert text.split(":")[0] in ("Range coder", "Modes", "Levels")


def test_damaged_payloads_decode_alike():
    rng = np.random.default_rng(3)
    picture = CONTENT["natural"](rng, 33, 50)
    params = EncodeParams.from_options(30, preset="photo", effort=3)
    payload = CPU.encode(picture, params).payload
    damaged = [payload[:length] for length in range(0, len(payload), 5)]
    damaged += [payload + b"\x01"]
    for place in range(0, len(payload), 2):
        changed = bytearray(payload)
        changed[place] ^= int(rng.integers(1, 256))
        damaged.append(bytes(changed))
    results = [outcome(REFERENCE, data, picture.shape, params) for data in damaged]
    assert results == [outcome(CPU, data, picture.shape, params) for data in damaged]
    kinds = {result[0] for result in results if not isinstance(result, bytes)}
    assert kinds == {"TruncatedStream", "CorruptStream"}
