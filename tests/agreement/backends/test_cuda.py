"""The cuda backend writes the bytes of the cpu backend."""

import os
from dataclasses import replace
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from support.same import assert_same
from support.strategies import BASIC, CONTENT

import mmpcodec
from mmpcodec import EncodeParams, LimitExceeded, pictures
from mmpcodec.backends import block_efforts
from mmpcodec.backends.base import PlaneTask
from mmpcodec.backends.block_efforts import PLAIN_EFFORTS, block_effort
from mmpcodec.backends.cpu import CpuBackend
from mmpcodec.backends.cuda import blocks, trees
from mmpcodec.backends.cuda.backend import CudaBackend
from mmpcodec.backends.cuda.trees_state import trees_dtype
from mmpcodec.reference.blocks.steps import FragmentMap, fragments_across
from mmpcodec.reference.entropy.rates import MAX_TOTAL

pytestmark = pytest.mark.gpu

FULL = {"dictionary_limit": 300, "replacement": True}
IMAGES = sorted((Path(__file__).parents[3] / "images").glob("*.pgm"))


def check(picture, params, *, plain=False, **given):
    task = PlaneTask(picture, params, **given)
    expected = CpuBackend(efforts=PLAIN_EFFORTS if plain else None).encode(task)
    assert_same(expected, CudaBackend(plain=plain).encode(task), f"cuda, {params}")


@pytest.mark.parametrize("lam", [0, 1, 16, 32, 128, 512])
@pytest.mark.parametrize("partition", ["flexible", "dyadic"])
@pytest.mark.parametrize("rate_model", ["adaptive", "log2"])
@pytest.mark.parametrize("preset", ["plain", "classic", "text"])
def test_pictures(preset, rate_model, partition, lam):
    params = EncodeParams.from_options(
        lam, preset=preset, rate_model=rate_model, partition=partition
    )
    params = replace(params, tools=CudaBackend().able(params.tools))
    for path in IMAGES:
        check(pictures.read(path).samples[:256, :256].copy(), params)


@pytest.mark.parametrize("content", CONTENT)
@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (17, 33), (100, 75)])
@pytest.mark.parametrize("limit", [256, 300, 65536])
def test_sizes_and_limits(content, shape, limit):
    picture = CONTENT[content](np.random.default_rng(3), *shape)
    for lam in (0, 20):
        check(picture, EncodeParams.from_options(lam, dictionary_limit=limit, preset="plain"))


@pytest.mark.parametrize("redundancy_radius", [0, 1, 400])
@pytest.mark.parametrize("limit", [256, 300, 1000])
@pytest.mark.parametrize("preset", ["plain", "classic"])
def test_replacement(preset, limit, redundancy_radius):
    """The hand goes round dictionaries of few elements, whose places are taken again and again."""
    options = {"redundancy_radius": redundancy_radius, "dictionary_limit": limit}
    params = EncodeParams.from_options(2, preset=preset, replacement=True, **options)
    for content in ("natural", "text"):
        check(CONTENT[content](np.random.default_rng(limit), 47, 63), params)


@pytest.mark.parametrize("content", CONTENT)
def test_redundancy_radius(content):
    picture = CONTENT[content](np.random.default_rng(3), 50, 34)
    for lam in (0, 20):
        check(picture, EncodeParams.from_options(lam, preset="plain", redundancy_radius=200))


def test_many_insertions_go_through_the_room_of_few(monkeypatch):
    """More elements are replaced than there is room to tell the host of at once."""
    monkeypatch.setattr(trees, "CHUNK", 2)
    options = {"dictionary_limit": 300, "displaced_blocks": 0, "redundancy_radius": 0}
    params = EncodeParams.from_options(1, preset="text", copy_radius=8, **options)
    picture = CONTENT["noise"](np.random.default_rng(1), 64, 64)
    layout = trees_dtype(trees.CHUNK, params.tools)
    assert layout["first_class"].shape[1] < 3000 < 16 * 240
    check(picture, params)


def test_elements_give_way_once_their_counts_are_halved():
    lively = CONTENT["natural"](np.random.default_rng(5), 16, 16 * 200)
    plain = np.full((16, 16 * (MAX_TOTAL + 100)), 200, np.uint8)
    picture = np.hstack([lively, plain, lively[:, ::-1]])
    check(picture, EncodeParams.from_options(300, preset="classic", **FULL))
    check(picture[:, : 16 * 1000].copy(), EncodeParams.from_options(300, preset="plain", **FULL))


def test_counts_are_halved():
    picture = CONTENT["noise"](np.random.default_rng(5), 512, 512)
    check(picture, EncodeParams.from_options(0, preset="classic", dictionary_limit=256))


@pytest.mark.parametrize("lam", [1e-5, 1, 48, 512, 2.0**20])
@pytest.mark.parametrize("fragment_size", [16, 32, 64])
@pytest.mark.parametrize(
    ("effort", "plain"), [*((effort, False) for effort in range(1, 10)), (1, True), (6, True)]
)
def test_blocks(effort, plain, fragment_size, lam):
    params = EncodeParams.from_options(
        lam, preset="photo", **BASIC, effort=effort, fragment_size=fragment_size
    )
    for path in IMAGES:
        check(pictures.read(path).samples[100:195, 60:193].copy(), params, plain=plain)


ONE_BY_ONE = {
    "split_bits": 3,
    "elongation": 1,
    "every_angle": False,
    "angles": 40,
    "matching": 500,
    "rounded": True,
    "hopeless": 2,
    "inherited": True,
    "reserve": 80,
    "again": 95,
    "patience": 40,
    "settled": 30,
    "ternary": 20,
}
TOGETHER = {
    "inherited": {"every_angle": False},
    "again": {"reserve": 90},
    "patience": {"reserve": 90, "again": 93},
    "settled": {"every_angle": False, "rounded": True},
}
"""Shortcuts that others need."""


@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_each_shortcut_of_blocks(name, monkeypatch):
    """Each shortcut alone, beside a search without shortcuts."""
    changed = {
        number: replace(effort, **{name: ONE_BY_ONE[name]}, **TOGETHER.get(name, {}))
        for number, effort in block_efforts.PLAIN_EFFORTS.items()
    }
    monkeypatch.setattr(block_efforts, "EFFORTS", changed)
    options = {**BASIC, "ternary": name == "ternary", "effort": 6}
    params = EncodeParams.from_options(40, preset="photo", **options)
    height, width = (70, 60) if name == "ternary" else (120, 170)
    for path in IMAGES:
        check(pictures.read(path).samples[90 : 90 + height, 60 : 60 + width].copy(), params)


@pytest.mark.parametrize("content", CONTENT)
@pytest.mark.parametrize("shape", [(1, 1), (1, 140), (67, 33), (130, 75)])
def test_sizes_of_blocks(content, shape):
    picture = CONTENT[content](np.random.default_rng(4), *shape)
    for lam, step in ((3, 1), (60, 0), (60, 20000)):
        for effort in (1, 3, 6):
            options = {"step": step, "effort": effort}
            check(picture, EncodeParams.from_options(lam, preset="photo", **BASIC, **options))


TOOLS = [
    *("pdpc", "initial_states", "dependent", "fine_contexts"),
    *("trained_transforms", "border_sines", "transform_skip", "ternary"),
]
ALL = dict.fromkeys(TOOLS, True)


@pytest.mark.parametrize("content", ["natural", "text", "noise"])
@pytest.mark.parametrize("tools", [*({name: True} for name in TOOLS), ALL], ids="+".join)
def test_tools_of_blocks(tools, content):
    picture = CONTENT[content](np.random.default_rng(4), 36, 44)
    options = {**BASIC, **tools, "templates": 2}
    for effort, plain in ((1, False), (3, True), (5, False), (8, False)):
        params = EncodeParams.from_options(2, preset="photo", **options, effort=effort)
        check(picture, params, plain=plain)


@pytest.mark.parametrize("content", ["natural", "text", "noise"])
@pytest.mark.parametrize("used", [1, 2])
def test_modes_from_earlier_planes(used, content):
    rng = np.random.default_rng(7)
    earlier = [CONTENT[content](rng, 70, 100) for _ in range(used)]
    other = CONTENT["natural"](rng, 70, 100)
    picture = np.clip(150 - 0.4 * earlier[0] + 0.3 * other, 0, 255).astype(np.uint8)
    options = {**BASIC, **ALL, "cross_component": used}
    for effort, plain in ((1, False), (2, False), (3, True), (4, False)):
        params = EncodeParams.from_options(8, preset="photo", **options, effort=effort)
        check(picture, params, plain=plain, earlier=earlier)


@pytest.mark.parametrize("strength", [0, 6, 15])
@pytest.mark.parametrize("content", ["natural", "text"])
def test_steps_lambdas_and_weights(content, strength):
    rng = np.random.default_rng(strength)
    picture = CONTENT[content](rng, 70, 140)
    tools = {"delta_step": True, "quantisation_matrix": strength, "transform_skip": not strength}
    options = {**BASIC, **ALL, **tools, "fragment_size": 32}
    fragments = fragments_across(picture.shape, 32)
    given = FragmentMap(
        rng.integers(-8, 9, fragments).astype(np.int8),
        rng.random(fragments) < 0.2,
        rng.integers(4, 65, fragments_across(picture.shape, 8)).astype(np.uint8),
    )
    for effort, plain in ((2, False), (3, True), (4, False), (8, False)):
        params = EncodeParams.from_options(8, preset="photo", **options, effort=effort)
        check(picture, params, plain=plain, fragments=given)


@pytest.mark.parametrize("depth", [9, 12, 16])
@pytest.mark.parametrize("content", ["natural", "text"])
def test_deep_samples(content, depth):
    rng = np.random.default_rng(depth)
    whole = CONTENT[content](rng, 70, 90).astype(np.uint16) << (depth - 8)
    picture = whole + rng.integers(0, 1 << (depth - 8), whole.shape).astype(np.uint16)
    for options in (BASIC, {**BASIC, **ALL, "cross_component": 1, "quantisation_matrix": 6}):
        earlier = [np.flipud(picture).copy()] * options["cross_component"]
        for effort, lam in ((2, 20), (6, 0.05)):
            own = {
                **options,
                "transform_skip": not options["quantisation_matrix"],
                "effort": effort,
            }
            params = EncodeParams.from_options(lam, preset="photo", **own)
            check(picture, params, depth=depth, earlier=earlier)


@pytest.mark.parametrize("tune", ["eye", "psnr"])
@pytest.mark.parametrize("effort", [2, 4])
def test_files_are_those_of_the_processor(effort, tune):
    """Colours, tiles and filters as well."""
    shape = 80, 100
    planes = [CONTENT["natural"](np.random.default_rng(n), *shape) for n in range(3)]
    picture = np.stack([planes[0], planes[0] // 2 + planes[1] // 3, 255 - planes[0]], axis=-1)
    params = EncodeParams.from_options(12, preset="photo", tune=tune, effort=effort)
    files = [
        mmpcodec.encode_picture(picture, params, backend=backend, tile_size=64).data
        for backend in ("cpu", "cuda")
    ]
    assert files[0] == files[1]


@pytest.mark.parametrize("fragment_size", [16, 64])
@pytest.mark.parametrize("workers", [1, 2, 8, 64])
def test_any_number_of_workers(workers, fragment_size, monkeypatch):
    monkeypatch.setattr(blocks.DeviceSearch, "most_workers", lambda search: workers)
    picture = pictures.read(IMAGES[0]).samples[:200, :270].copy()
    options = {**BASIC, **ALL, "fragment_size": fragment_size, "effort": 2}
    check(picture, EncodeParams.from_options(30, preset="photo", **options))


@pytest.mark.parametrize("tickets", [1, 5])
def test_launches_of_few_fragments(tickets, monkeypatch):
    monkeypatch.setattr(blocks, "MOST_TICKETS", tickets)
    picture = pictures.read(IMAGES[0]).samples[:200, :330].copy()
    check(picture, EncodeParams.from_options(30, preset="photo", **BASIC, effort=2))


def test_little_memory_leaves_few_workers():
    import cupy

    plane = pictures.read(IMAGES[0]).samples[:200, :330].copy()
    params = EncodeParams.from_options(30, preset="photo", **BASIC, effort=2)
    CudaBackend().encode(PlaneTask(plane, params))  # allocates tables, which stay
    device = cupy.cuda.Device().id
    effort = block_effort(params.effort, plane.size)
    search = blocks.DeviceSearch(device, effort, 8)
    needed = search.picture_bytes(plane.shape, params) + search.least_bytes()
    expected = CpuBackend().encode(PlaneTask(plane, params))
    for more, workers in ((0, 1), (60 << 20, 4)):
        pool = cupy.cuda.MemoryPool()
        pool.set_limit(size=needed + more)
        with (
            cupy.cuda.using_allocator(pool.malloc),
            mock.patch.object(cupy, "get_default_memory_pool", return_value=pool),
        ):
            crew = search.crew([plane.shape], params)
            assert 1 <= crew.workers <= workers
            assert_same(
                expected, CudaBackend().encode(PlaneTask(plane, params)), f"{more} bytes more"
            )


@pytest.mark.parametrize("preset", ["plain", "text", "photo"])
def test_batch_is_one_by_one(preset):
    planes = [
        pictures.read(path).samples[: 100 + i, : 200 - i].copy() for i, path in enumerate(IMAGES)
    ]
    params = EncodeParams.from_options(24, preset=preset)
    params = replace(params, tools=CudaBackend().able(params.tools))
    tasks = [PlaneTask(plane, params) for plane in planes]
    for task, coded in zip(tasks, CudaBackend().encode_batch(tasks), strict=True):
        assert_same(CudaBackend().encode(task), coded, "batch")


def test_batch_of_different_sizes():
    whole = pictures.read(IMAGES[0]).samples
    shapes = [(200, 330), (1, 1), (64, 65), (130, 40), (70, 400), (9, 300)]
    planes = [whole[:height, :width].copy() for height, width in shapes]
    params = EncodeParams.from_options(24, preset="photo", **BASIC, effort=1, fragment_size=32)
    tasks = [PlaneTask(plane, params) for plane in planes]
    for task, coded in zip(tasks, CudaBackend().encode_batch(tasks), strict=True):
        assert_same(CpuBackend().encode(task), coded, f"{task.plane.shape}")


def test_many_pictures_run_in_groups():
    whole = next(
        picture
        for picture in (pictures.read(path).samples for path in IMAGES)
        if picture.shape[0] > 330
    )
    tasks = [PlaneTask(whole[i : i + 30, :40].copy(), EncodeParams(30)) for i in range(300)]
    expected = [CpuBackend().encode(task).payload for task in tasks]
    calls = []
    coded = CudaBackend().encode_batch(
        tasks, progress=lambda done, total: calls.append((done, total))
    )
    assert [each.payload for each in coded] == expected
    assert calls == sorted(calls)
    assert calls[-1] == (300 * 6, 300 * 6)


def test_arrays_on_the_device_and_any_stream():
    import cupy

    plane = pictures.read(IMAGES[0]).samples[:64, :80].copy()
    expected = mmpcodec.encode(plane, 20, backend="cuda")
    assert mmpcodec.encode(cupy.asarray(plane), 20) == expected
    whole = cupy.asarray(pictures.read(IMAGES[0]).samples)
    with cupy.cuda.Stream(non_blocking=True):
        assert mmpcodec.encode_batch([whole[:64, :80], plane], 20, backend="cuda") == [expected] * 2
    with pytest.raises(mmpcodec.ParameterError, match="lies on a CUDA device"):
        mmpcodec.encode(whole, 20, backend="cpu")


def test_device_bytes_count_what_is_allocated():
    import cupy

    plane = np.zeros((48, 64), np.uint8)
    for preset in ("plain", "text"):
        params = EncodeParams.from_options(9, preset=preset)
        params = replace(params, tools=CudaBackend().able(params.tools))
        CudaBackend().encode(PlaneTask(plane, params))  # allocates the table of rates, which stays
        # A pool of its own: what other tests left in the default pool counts against its limit.
        pool = cupy.cuda.MemoryPool()
        # CuPy rounds each array up to 512 bytes.
        pool.set_limit(size=trees.device_bytes(plane.shape, params) + 8 * 512)
        with cupy.cuda.using_allocator(pool.malloc):
            assert CudaBackend().encode(PlaneTask(plane, params)).payload


@pytest.mark.parametrize("preset", ["plain", "photo"])
def test_too_little_memory_is_refused_with_numbers(preset):
    import cupy

    pool = cupy.get_default_memory_pool()
    pool.free_all_blocks()
    pool.set_limit(size=pool.used_bytes() + (1 << 20))
    try:
        with pytest.raises(
            LimitExceeded, match=r"a picture of 64x48 needs \d+ bytes, \d+ are free"
        ):
            mmpcodec.encode(np.zeros((48, 64), np.uint8), backend="cuda", preset=preset)
    finally:
        pool.set_limit(size=0)
    assert mmpcodec.encode(np.zeros((48, 64), np.uint8), backend="cuda")


@pytest.mark.parametrize("preset", ["plain", "photo"])
def test_cancelling_leaves_the_device_usable(preset):
    plane = pictures.read(IMAGES[0]).samples[:256, :256].copy()
    params = EncodeParams.from_options(60, preset=preset, effort=2)
    params = replace(params, tools=CudaBackend().able(params.tools))
    with pytest.raises(mmpcodec.Cancelled):
        CudaBackend().encode(PlaneTask(plane, params), progress=lambda done, total: False)
    check(plane, params)


def test_a_thousand_encodes_leak_nothing():
    import cupy

    planes = [pictures.read(path).samples[:32, :48].copy() for path in IMAGES]
    used = []
    for i in range(1000):
        CudaBackend().encode(PlaneTask(planes[i % len(planes)], EncodeParams(16 + i % 3)))
        if i % 100 == 99:
            used.append(
                (cupy.get_default_memory_pool().total_bytes(), cupy.cuda.Device().mem_info[0])
            )
    assert used[-1][0] == used[0][0]
    if "PYTEST_XDIST_WORKER" not in os.environ:  # workers take memory of the same device
        assert used[-1][1] == used[0][1]
