"""Fragments with steps of their own: the compiled code writes and reads the reference's bytes."""

from dataclasses import replace

import numpy as np
import pytest
from support.same import assert_same
from support.strategies import CONTENT, deepened, earlier_planes, natural

from mmpcodec import EncodeParams, FormatError
from mmpcodec.backends.base import PlaneTask
from mmpcodec.backends.block_efforts import PLAIN_EFFORTS
from mmpcodec.backends.cpu import CpuBackend, NativeFixedFilters
from mmpcodec.backends.reference import ReferenceBackend
from mmpcodec.reference.blocks.steps import FragmentMap, fragments_across, steps_of
from mmpcodec.reference.filters.fixed import FixedFilters

REFERENCE, CPU = ReferenceBackend(), CpuBackend(efforts=PLAIN_EFFORTS)


def map_of(shape, size, seed=4):
    """Any delta step, and some fragments that are hidden."""
    rng, across = np.random.default_rng(seed), fragments_across(shape, size)
    changes = rng.integers(-24, 25, across).astype(np.int8)
    changes[rng.random(across) < 0.4] = 0
    return FragmentMap(changes, rng.random(across) < 0.2)


@pytest.mark.parametrize(
    ("preset", "size", "depth", "content"),
    [
        ("photo", 16, 8, "natural"),
        ("photo", 32, 12, "flat"),
        ("mixed", 16, 8, "text"),
    ],
)
def test_any_changes(preset, size, depth, content):
    rng = np.random.default_rng(size + depth)
    picture = deepened(rng, CONTENT[content](rng, 18, size + 18), depth)
    params = EncodeParams.from_options(
        40, preset=preset, effort=1, fragment_size=size, delta_step=True
    )
    options = {"depth": depth, "earlier": earlier_planes(picture.shape, params.tools, depth)}
    fragments = map_of(picture.shape, size)
    task = PlaneTask(picture, params, fragments=fragments, **options)
    coded = REFERENCE.encode(task)
    for threads in (1, 3):
        assert_same(coded, CPU.encode_batch([task], threads=threads)[0])
    for backend in (REFERENCE, CPU):
        found = backend.decode(coded.payload, picture.shape, params.coded_tools, **options)
        assert_same(coded, found)
        assert (found.trace.changes == fragments.changes).all()


def test_hidden_fragments_without_changes():
    picture = natural(np.random.default_rng(6), 18, 34)
    params = EncodeParams.from_options(
        20, preset="photo", effort=1, fragment_size=16, cross_component=0
    )
    hidden = np.array([[False, True, False], [True, False, False]])
    fragments = FragmentMap(np.zeros(hidden.shape, np.int8), hidden)
    task = PlaneTask(picture, params, fragments=fragments)
    coded = REFERENCE.encode(task)
    assert_same(coded, CPU.encode(task))
    assert coded.trace.changes is None
    assert len(coded.payload) < len(CPU.encode(PlaneTask(picture, params)).payload)


@pytest.mark.parametrize(("depth", "dependent"), [(8, True), (8, False), (12, True)])
def test_any_weights_of_cells(depth, dependent):
    rng = np.random.default_rng(depth + dependent)
    picture = deepened(rng, natural(rng, 27, 44), depth)
    params = EncodeParams.from_options(
        30,
        preset="photo",
        effort=1,
        fragment_size=32,
        dependent=dependent,
        quantisation_matrix=5,
        cross_component=0,
    )
    shape, options = fragments_across(picture.shape, 32), {"depth": depth}
    flat = FragmentMap(np.zeros(shape, np.int8), np.zeros(shape, bool))
    payloads = []
    for cells in (None, np.full((4, 6), 16), rng.integers(4, 65, (4, 6))):
        fragments = replace(flat, cells=None if cells is None else cells.astype(np.uint8))
        task = PlaneTask(picture, params, fragments=fragments, **options)
        coded = REFERENCE.encode(task)
        for threads in (1, 3):
            assert_same(coded, CPU.encode_batch([task], threads=threads)[0])
        payloads.append(coded.payload)
    assert payloads[0] == payloads[1] != payloads[2]


def test_errors_of_heavy_cells_are_smaller():
    picture = natural(np.random.default_rng(5), 64, 64)
    params = EncodeParams.from_options(
        60, preset="photo", fragment_size=32, quantisation_matrix=5, cross_component=0
    )
    cells = np.full((8, 8), 8, np.uint8)
    cells[:, 4:] = 32
    flat = FragmentMap(np.zeros((2, 2), np.int8), np.zeros((2, 2), bool))
    errors = []
    for each in (cells, cells[:, ::-1]):
        weighing = replace(flat, cells=np.ascontiguousarray(each))
        coded = CPU.encode(PlaneTask(picture, params, fragments=weighing))
        errors.append(np.square(coded.samples.astype(int) - picture).sum(axis=0))
    left, right = slice(0, 32), slice(32, 64)
    assert errors[0][right].sum() < 0.9 * errors[1][right].sum()
    assert errors[1][left].sum() < 0.9 * errors[0][left].sum()


def test_a_map_must_fit():
    params = EncodeParams.from_options(
        20, preset="photo", fragment_size=16, cross_component=0, delta_step=True
    )
    with pytest.raises(ValueError, match="another size"):
        CPU.encode(PlaneTask(np.zeros((40, 40), np.uint8), params, fragments=map_of((40, 50), 16)))
    shape = fragments_across((40, 40), 16)
    cells = FragmentMap(np.zeros(shape, np.int8), np.zeros(shape, bool), np.full((5, 6), 16, "u1"))
    with pytest.raises(ValueError, match="cells of another size"):
        CPU.encode(PlaneTask(np.zeros((40, 40), np.uint8), params, fragments=cells))
    without = EncodeParams.from_options(20, preset="photo", fragment_size=16, cross_component=0)
    with pytest.raises(ValueError, match="without the tool"):
        CPU.encode(PlaneTask(np.zeros((40, 40), np.uint8), without, fragments=map_of((40, 40), 16)))


def test_damaged_payloads_have_one_message():
    params = EncodeParams.from_options(
        20, preset="photo", fragment_size=16, cross_component=0, delta_step=True
    )
    messages = []
    for seed in range(20):
        # Half of them begin with a step change of 48, half with one of -48.
        start = (b"\x40", b"\x00")[seed % 2] + bytes(7)
        payload = start + np.random.default_rng(seed).bytes(40)
        found = []
        for backend in (REFERENCE, CPU):
            with pytest.raises(FormatError) as raised:
                backend.decode(payload, (40, 40), params.coded_tools)
            found.append(str(raised.value))
        assert found[0] == found[1]
        messages.append(found[0])
    assert sum("step change is 48" in message for message in messages) == 10
    assert sum("step change is -48" in message for message in messages) == 10


@pytest.mark.parametrize("depth", [8, 12])
def test_fixed_filters_take_the_step_of_each_fragment(depth):
    rng = np.random.default_rng(depth)
    source = deepened(rng, natural(rng, 60, 75), depth)
    noise = rng.integers(-4, 5, source.shape) << (depth - 8)
    samples = np.clip(source.astype(int) + noise, 0, (1 << depth) - 1).astype(source.dtype)
    tools = EncodeParams.from_options(
        90, preset="photo", fragment_size=16, delta_step=True
    ).coded_tools
    steps = steps_of(tools, map_of(source.shape, 16).changes)
    reference, native, value = FixedFilters(), NativeFixedFilters(), 0b11_10_01_00_11_10_01
    shown = reference.apply(samples, value, steps, depth)
    assert (native.apply(samples, value, steps, depth) == shown).all()
    numbers = steps.of_samples(samples.shape)
    assert len(steps.steps) > 1
    for number, step in enumerate(steps.steps):
        alone, inside = native.apply(samples, value, step, depth), numbers == number
        assert (shown[inside] == alone[inside]).all()
    errors = [
        each._errors(source, samples, steps, 7, 50, depth).tolist() for each in (reference, native)
    ]
    assert errors[0] == errors[1]
    chosen = reference.choose(source, samples, steps, depth)
    assert native.choose(source, samples, steps, depth) == chosen > 0


@pytest.mark.parametrize("threads", [1, 3])
def test_fixed_filters_take_fragments_in_bands(monkeypatch, threads):
    monkeypatch.setattr("mmpcodec.backends.cpu.FILTER_BAND_SAMPLES", 7 * 75)
    rng = np.random.default_rng(threads)
    source = natural(rng, 60, 75)
    samples = np.clip(source + rng.integers(-9, 10, source.shape), 0, 255).astype(np.uint8)
    tools = EncodeParams.from_options(
        90, preset="photo", fragment_size=16, delta_step=True
    ).coded_tools
    steps = steps_of(tools, map_of(source.shape, 16).changes)
    reference, native, value = FixedFilters(), NativeFixedFilters(), 0b11_10_01_00_11_10_01
    shown = reference.apply(samples, value, steps)
    assert (native.apply(samples, value, steps, threads=threads) == shown).all()
    chosen = reference.choose(source, samples, steps)
    assert native.choose(source, samples, steps, threads=threads) == chosen
