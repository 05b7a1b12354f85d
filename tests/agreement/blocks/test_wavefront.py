"""Rows of fragments that threads search at once: the bytes are those of one thread."""

import numpy as np
import pytest
from support.operations import check_picture
from support.same import assert_same
from support.strategies import BASIC, CONTENT

from mmpcodec import Cancelled, EncodeParams, FormatError
from mmpcodec.backends.base import PlaneTask
from mmpcodec.backends.cpu import CpuBackend


def params_of(effort, fragment_size=64):
    return EncodeParams.from_options(
        40, preset="photo", effort=effort, fragment_size=fragment_size, templates=0, **BASIC
    )


@pytest.mark.parametrize(
    ("fragment_size", "height", "width"),
    [(16, 37, 175), pytest.param(32, 37, 170, marks=pytest.mark.slow)],
)
def test_models_merge_as_in_the_reference(fragment_size, height, width):
    """Rows of more fragments than the distance between rows."""
    picture = CONTENT["natural"](np.random.default_rng(width), height, width)
    check_picture("blocks", picture, params_of(1, fragment_size), threads=(1, 2, 5))


@pytest.mark.parametrize("shape", [(700, 60), (60, 700), (333, 417)])
@pytest.mark.parametrize("effort", [1, 6])
def test_any_number_of_threads(effort, shape):
    picture = CONTENT["natural"](np.random.default_rng(effort), *shape)
    cpu, params = CpuBackend(), params_of(effort)
    alone = cpu.encode(PlaneTask(picture, params), threads=1)
    for threads in (2, 3, 16):
        assert_same(alone, cpu.encode(PlaneTask(picture, params), threads=threads))
    decoded = cpu.decode(alone.payload, shape, params.coded_tools)
    np.testing.assert_array_equal(decoded.samples, alone.samples)


def test_a_decoder_reads_symbols_ahead():
    """The thread that reads meets damage at the same place, whether or not it is ahead."""
    picture = CONTENT["natural"](np.random.default_rng(5), 130, 300)
    cpu, params = CpuBackend(), params_of(1, 16)
    payload = cpu.encode(PlaneTask(picture, params)).payload

    def decoded(payload, threads):
        seen = []

        def progress(done, total):
            seen.append(done)
            return True

        try:
            found = cpu.decode(
                payload, picture.shape, params.coded_tools, threads=threads, progress=progress
            )
        except FormatError as error:
            return str(error), seen
        return found.samples.tobytes(), found.trace.units.tobytes(), seen

    for damaged in (payload, payload[: len(payload) // 2], payload + b"0"):
        alone = decoded(damaged, 1)
        assert decoded(damaged, 2) == alone
        assert decoded(damaged, 3) == alone


@pytest.mark.parametrize("call", [0, 3, 11])
def test_a_caller_stops_a_decoder_that_reads_ahead(call):
    picture = CONTENT["natural"](np.random.default_rng(call), 320, 320)
    cpu, params = CpuBackend(), params_of(1)
    payload = cpu.encode(PlaneTask(picture, params)).payload
    calls = []

    def progress(done, total):
        calls.append(done)
        return len(calls) <= call

    with pytest.raises(Cancelled):
        cpu.decode(payload, picture.shape, params.coded_tools, threads=2, progress=progress)
    assert len(calls) == call + 1


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("call", [0, 3, 11])
def test_a_caller_stops_all_rows(threads, call):
    picture = CONTENT["natural"](np.random.default_rng(call), 320, 320)
    calls = []

    def progress(done, total):
        calls.append((done, total))
        return len(calls) <= call

    with pytest.raises(Cancelled) as caught:
        CpuBackend().encode(PlaneTask(picture, params_of(1)), threads=threads, progress=progress)
    assert len(calls) == call + 1
    assert f"after {calls[-1][0]} of 400 fragments" in str(caught.value)


def test_an_error_of_progress_passes_through():
    picture = CONTENT["natural"](np.random.default_rng(4), 320, 320)

    def progress(done, total):
        if done > total // 2:
            raise RuntimeError(f"{done} of {total}")

    with pytest.raises(RuntimeError, match="of 400"):
        CpuBackend().encode(PlaneTask(picture, params_of(1)), threads=3, progress=progress)


def test_progress_counts_in_order():
    picture = CONTENT["natural"](np.random.default_rng(5), 320, 320)
    calls = []
    CpuBackend().encode(
        PlaneTask(picture, params_of(1)), threads=4, progress=lambda *call: calls.append(call)
    )
    assert calls == [(80 * row + 16 * column, 400) for row in range(5) for column in range(5)] + [
        (400, 400)
    ]
