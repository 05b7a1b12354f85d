"""Damaged files decode to a picture or raise a FormatError, within seconds and little memory."""

import resource
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mutate import places, repaired, with_size
from palettes import file_of
from support.strategies import block_tools, earlier_planes, natural, text_like, tools
from support.vectors import DECODERS

import mmpcodec
from mmpcodec import CorruptStream, DecodeLimits, FormatError, TruncatedStream, backends
from mmpcodec.codec.palettes.layer import decode_palette
from mmpcodec.format.palette import Palette, Streams, joined
from mmpcodec.tools import LosslessTools

SMALL = DecodeLimits(max_samples=1 << 14, max_dimension=1 << 12)


def outcome(data, limits=SMALL, backend="auto"):
    """Return the decoded samples, or the type of the error."""
    try:
        return mmpcodec.decode(data, limits=limits, backend=backend)
    except FormatError as error:
        return type(error)


OPTIONS = {
    **{
        name: {"preset": name}
        for name in ("plain", "classic", "text", "photo", "mixed", "lossless")
    },
    "dyadic": {"preset": "plain", "partition": "dyadic"},
    "exact, effort 1": {"preset": "lossless", "effort": 1},
    "exact, effort 6": {"preset": "lossless", "effort": 6},
}


PALETTE = "palette"
"""The picture as a palette without transparent pixels, so that each byte counts."""


@pytest.fixture(scope="module", params=[*OPTIONS, PALETTE])
def data(request):
    picture = text_like(np.random.default_rng(0), 33, 50)
    if request.param == PALETTE:
        return file_of(picture, transparent=False)[0]
    options = OPTIONS[request.param]
    return mmpcodec.encode(picture, lam=20, **options)


def test_payload_flips_past_the_checksum(data):
    """A payload with one changed byte is refused, unless the changed bits mean nothing.

    These are of the last byte, and where a long row of likely bits spans a word of the range coder.
    """
    intact, same = mmpcodec.decode(data), 0
    for place in range(places(data)["payload"], len(data), 3):
        changed = bytearray(data)
        changed[place] ^= 0x41
        result = outcome(repaired(bytes(changed)))
        if not isinstance(result, type):
            same += 1
            np.testing.assert_array_equal(result, intact)
    assert same <= 2


def test_payload_cut_past_the_checksum(data):
    for length in range(places(data)["payload"], len(data)):
        assert isinstance(outcome(repaired(data[:length])), type)


@given(
    st.binary(max_size=200),
    st.integers(1, 60),
    st.integers(1, 60),
    st.one_of(tools(), block_tools()),
)
def test_random_payloads_decode_alike_everywhere(payload, height, width, tools):
    results = []
    for name in DECODERS:
        try:
            shape = height, width
            earlier = earlier_planes(shape, tools)
            coded = backends.get(name).decode(payload, shape, tools, earlier=earlier)
            results.append(coded.samples.tobytes())
        except FormatError as error:
            results.append(str(error))
    assert results[0] == results[1]


@given(
    st.binary(max_size=60),
    st.binary(max_size=200),
    st.integers(1, 4096),
    st.booleans(),
    st.tuples(st.integers(1, 30), st.integers(1, 30), st.sampled_from([1, 3])),
    st.integers(1, 16),
    st.integers(1, 3),
)
def test_random_palettes_decode_alike_everywhere(
    colours, numbers, entries, transparent, shape, depth, form
):
    """Errors of the numbers are the same; of colours of three planes, any may be reported first."""
    height, width, count = shape
    palette = Palette(
        LosslessTools(lossless_form=form),
        entries,
        transparent,
        joined(Streams(colours, numbers)),
    )
    results = []
    for name in DECODERS:
        try:
            found, _ = decode_palette(backends.get(name), palette, (height, width), count, depth)
            results.append((found.colours.tobytes(), found.numbers.tobytes()))
        except FormatError as error:
            reported = str(error)
            results.append(
                "colours" if count > 1 and "colours of the palette" in reported else reported
            )
    assert results[0] == results[1]


@given(
    st.lists(st.binary(max_size=60), min_size=2, max_size=4),
    st.tuples(st.integers(1, 30), st.integers(1, 30)),
    st.integers(1, 16),
    st.integers(1, 3),
    st.sampled_from([0, 3]),
)
def test_random_planes_are_refused_everywhere_at_any_number_of_threads(
    streams, shape, depth, number, max_error
):
    """The reference and cpu refuse the same payloads; threads change no error of cpu."""
    payload = bytes(map(len, streams[:-1])) + b"".join(streams)
    tools = LosslessTools(number, max_error)
    results = []
    for backend, threads in (("reference", 1), *(("cpu", count) for count in (1, 2, 4, 4))):
        try:
            coded = backends.get(backend).decode(
                payload, (*shape, len(streams)), tools, depth=depth, threads=threads
            )
            results.append(coded.samples.tobytes())
        except FormatError as error:
            results.append((type(error), str(error)))
    expected, *found = results
    assert len(set(found)) == 1
    assert isinstance(found[0], tuple) if isinstance(expected, tuple) else found[0] == expected


@given(st.binary(max_size=400))
def test_random_bytes_after_the_magic(tail):
    assert isinstance(outcome(b"\x89MMP\r\n\x1a\n" + tail), type)


@given(st.data())
def test_random_headers_past_the_checksum(draw):
    good = mmpcodec.encode(natural(np.random.default_rng(1), 20, 20), lam=10)
    changed, end = bytearray(good), places(good)["payload"]
    for _ in range(draw.draw(st.integers(1, 4))):
        changed[draw.draw(st.integers(8, end - 1))] = draw.draw(st.integers(0, 255))
    result = outcome(repaired(bytes(changed)))
    assert isinstance(result, type) or result.size <= SMALL.max_samples


@given(st.integers(0, 255), st.binary(max_size=30))
def test_any_coefficients_are_read_alike_everywhere(active, coefficients):
    good = mmpcodec.encode(natural(np.random.default_rng(1), 20, 20), lam=10, post_filter=False)
    place = places(good)["post filter"]
    changed = repaired(good[:place] + bytes([active]) + coefficients + good[place + 1 :])
    results = []
    for name in DECODERS:
        try:
            results.append(mmpcodec.decode(changed, backend=name).tobytes())
        except FormatError as error:
            results.append(str(error))
    assert results[0] == results[1]


@pytest.mark.parametrize(("height", "width"), [(1, 1 << 24), (1 << 14, 1 << 14), (1 << 24, 1)])
def test_absurd_sizes_within_the_limits_end_soon(data, height, width):
    """A small file that states 2**28 pixels is refused because its payload is too short."""
    start = time.process_time()
    result = outcome(
        with_size(data, height, width), DecodeLimits(1 << 28, 1 << 28, max_seconds=1 << 20)
    )
    assert result in (TruncatedStream, CorruptStream)
    assert time.process_time() - start < 10


def test_memory_does_not_grow_with_damaged_files(data):
    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    changed = bytearray(data)
    changed[places(data)["payload"] + 9] ^= 0xFF
    changed = repaired(bytes(changed))
    for _ in range(10):
        outcome(changed)
    before = peak()
    for _ in range(100):
        outcome(changed)
    assert peak() - before < 4096  # KiB
