"""Several CUDA devices give the bytes of one."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from support.strategies import natural, text_like

import mmpcodec
from mmpcodec import Cancelled, EncodeParams, ParameterError, Target, backends, pictures

pytestmark = pytest.mark.gpu

SHAPES = [(1, 1), (200, 330), (17, 33), (64, 64, 3), (48, 70, 4), (9, 300), (130, 40, 2), (1, 70)]
PRESETS = ["plain", "classic", "text", "photo", "auto"]
BACKENDS = {"text": "cuda", "auto": "cuda"}
"""Backends whose bytes are expected: cuda where the device lacks tools of the preset, else cpu."""


def picture(shape, seed=0):
    rng = np.random.default_rng(seed + sum(shape))
    planes = [natural(rng, *shape[:2]) for _ in range(shape[2] if len(shape) == 3 else 1)]
    planes[0][shape[0] // 2 :] = text_like(rng, *planes[0][shape[0] // 2 :].shape)
    return planes[0] if len(planes) == 1 else np.stack(planes, axis=2)


PICTURES = [picture(shape) for shape in SHAPES]


@pytest.fixture
def two_devices():
    """Skip a test where there are not two devices."""
    if backends.get("cuda").device_count() < 2:
        pytest.skip("needs two CUDA devices")


@pytest.fixture
def one_device_twice(monkeypatch):
    """Let any ``device`` stand for two threads that share the first device."""
    monkeypatch.setattr(backends, "numbers_of", lambda device, backend: (0, 0))


def current():
    import cupy

    return cupy.cuda.Device().id


@pytest.mark.parametrize("device", ["all", 0, "0", [0]])
@pytest.mark.parametrize("preset", PRESETS)
def test_a_named_device_gives_the_bytes_of_the_current_one(preset, device):
    options, backend = {"preset": preset, "effort": 1}, BACKENDS.get(preset, "cpu")
    expected = mmpcodec.encode_batch(PICTURES, 30, backend=backend, **options)
    assert mmpcodec.encode_batch(PICTURES, 30, backend="cuda", **options) == expected
    assert mmpcodec.encode_batch(PICTURES, 30, device=device, **options) == expected
    assert mmpcodec.encode(PICTURES[1], 30, device=device, **options) == expected[1]


@pytest.mark.parametrize("preset", PRESETS)
def test_two_threads_on_one_device(one_device_twice, preset):
    options, backend = {"preset": preset, "effort": 1}, BACKENDS.get(preset, "cpu")
    expected = mmpcodec.encode_batch(PICTURES, 30, backend=backend, **options)
    assert mmpcodec.encode_batch(PICTURES, 30, device="all", **options) == expected


@pytest.mark.parametrize("effort", [1, 3, 6])
def test_two_threads_on_one_device_with_many_planes(one_device_twice, effort):
    planes = [picture((40 + i, 100 - i), i) for i in range(40)]
    options = {"preset": "photo", "effort": effort}
    expected = mmpcodec.encode_batch(planes, 24, backend="cuda", **options)
    seen = []
    found = mmpcodec.encode_batch(
        planes, 24, device="all", progress=lambda *state: seen.append(state), **options
    )
    assert found == expected
    assert seen == sorted(seen)
    assert seen[-1][0] == seen[-1][1]


@pytest.mark.parametrize("preset", ["plain", "text", "photo"])
def test_two_lanes_of_one_device(preset, monkeypatch):
    """One thread's tiles are on the device while those of the other are filtered and stored."""
    monkeypatch.setattr("mmpcodec.codec.devices.GROUP_FRAGMENTS", 160)
    planes = [picture((40 + i, 100 - i), i) for i in range(60)]
    options, backend = {"preset": preset, "effort": 1}, BACKENDS.get(preset, "cpu")
    expected = mmpcodec.encode_batch(planes, 24, backend=backend, **options)
    assert mmpcodec.encode_batch(planes, 24, device=0, **options) == expected


def test_two_threads_share_tiles_and_passes(one_device_twice):
    whole = picture((200, 270, 4))
    options = {"preset": "photo", "effort": 1, "tile_size": 64}
    expected = mmpcodec.encode(whole, 30, backend="cuda", **options)
    assert mmpcodec.encode(whole, 30, device="all", **options) == expected
    params, target = EncodeParams.from_options(preset="photo", effort=1), Target("size", 40_000)
    by_size = mmpcodec.encode_picture(whole, params, target=target, tile_size=64, backend="cuda")
    shared = mmpcodec.encode_picture(whole, params, target=target, tile_size=64, device="all")
    assert shared.data == by_size.data
    files = mmpcodec.encode_batch(PICTURES, target_psnr=35, preset="plain", backend="cpu")
    assert mmpcodec.encode_batch(PICTURES, target_psnr=35, preset="plain", device="all") == files


def test_arrays_on_the_device_and_any_stream(one_device_twice):
    import cupy

    expected = mmpcodec.encode_batch(PICTURES, 30, backend="cuda", effort=1)
    mixed = [cupy.asarray(one) if i % 2 else one for i, one in enumerate(PICTURES)]
    assert mmpcodec.encode_batch(mixed, 30, device="all", effort=1) == expected
    with cupy.cuda.Stream(non_blocking=True):
        # Samples that the stream may not have written when the encoder is called.
        late = [(cupy.asarray(one).astype(np.uint16) + 1 - 1).astype(np.uint8) for one in PICTURES]
        assert mmpcodec.encode_batch(late, 30, device="all", effort=1) == expected


def test_cancelling_leaves_the_device_usable(one_device_twice):
    planes = [picture((256, 256), i) for i in range(8)]
    for preset in ("plain", "photo"):
        with pytest.raises(Cancelled):
            mmpcodec.encode_batch(
                planes, 60, preset=preset, device="all", progress=lambda done, total: done < 99
            )
    options = {"preset": "photo", "effort": 1}
    expected = mmpcodec.encode_batch(planes, 60, backend="cuda", **options)
    assert mmpcodec.encode_batch(planes, 60, device="all", **options) == expected


def test_a_device_that_does_not_exist():
    count = backends.get("cuda").device_count()
    before = current()
    with pytest.raises(ParameterError, match=f"device = {count}: must be from 0 to {count - 1}"):
        mmpcodec.encode(PICTURES[0], device=count)
    assert current() == before


def run(*arguments, visible):
    command = [sys.executable, "-P", "-m", "mmpcodec.cli", *map(str, arguments)]
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": visible}
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def test_the_environment_hides_devices(tmp_path):
    facts = json.loads(run("doctor", "--json", visible="0").stdout)
    assert [device["number"] for device in facts["devices"]] == [0]
    pictures.write(PICTURES[1], tmp_path / "a.png")
    options = ("--device", "all", "--preset", "plain", "-v")
    done = run("encode", tmp_path / "a.png", *options, visible="0")
    assert done.returncode == 0, done.stderr
    assert "; device 0\n" in done.stderr
    done = run("encode", tmp_path / "a.png", "-f", "--device", "1", visible="0")
    assert done.returncode == 2
    assert "device = 1: must be from 0 to 0, the CUDA device" in done.stderr
    done = run("encode", tmp_path / "a.png", "-f", "--device", "0", visible="")
    assert done.returncode == 4
    assert done.stderr.startswith("mmp: backend cuda cannot run here: ")


@pytest.mark.parametrize("device", ["all", 1, "0,1", "1,0"])
@pytest.mark.parametrize("preset", PRESETS)
def test_other_devices_give_the_same_bytes(two_devices, preset, device):
    planes = [*PICTURES, *(picture((60 + i, 90), i) for i in range(30))]
    options, backend = {"preset": preset, "effort": 2}, BACKENDS.get(preset, "cpu")
    expected = mmpcodec.encode_batch(planes, 30, backend=backend, **options)
    before = current()
    assert mmpcodec.encode_batch(planes, 30, device=device, **options) == expected
    assert current() == before


@pytest.mark.parametrize("device", [None, "all", 0, 1])
def test_arrays_on_other_devices(two_devices, device):
    import cupy

    arrays = []
    for number, one in enumerate(PICTURES):
        with cupy.cuda.Device(number % 2):
            arrays.append(cupy.asarray(one))
    expected = mmpcodec.encode_batch(PICTURES, 30, backend="cuda", effort=1)
    assert mmpcodec.encode_batch(arrays, 30, device=device, effort=1) == expected
    assert mmpcodec.encode(arrays[1], 30, device=device, effort=1) == expected[1]
    with cupy.cuda.Device(1):
        bits = cupy.asarray(PICTURES[1] > 99)
    alone = mmpcodec.encode(PICTURES[1] > 99, 30, backend="cuda", effort=1)
    assert mmpcodec.encode(bits, 30, device=device, effort=1) == alone


def test_a_full_device_is_an_error_and_leaves_the_other_usable(two_devices):
    import cupy

    planes = [picture((256, 256), i) for i in range(8)]
    pool = cupy.get_default_memory_pool()
    with cupy.cuda.Device(1):
        pool.free_all_blocks()
        pool.set_limit(size=pool.used_bytes() + (1 << 20))
    try:
        with pytest.raises(mmpcodec.MmpError, match=r"needs \d+ bytes, \d+ are free"):
            mmpcodec.encode_batch(planes, 30, preset="plain", device="1,0")
    finally:
        with cupy.cuda.Device(1):
            pool.set_limit(size=0)
    expected = mmpcodec.encode_batch(planes, 30, preset="plain", backend="cpu")
    assert mmpcodec.encode_batch(planes, 30, preset="plain", device="1,0") == expected


def test_the_solvers_run_on_another_device(two_devices, tmp_path):
    for number in range(4):
        pictures.write(PICTURES[1], tmp_path / f"{number}.png")
    names = [tmp_path / f"{number}.png" for number in range(4)]
    for command in (("median", "-r", 2), ("highlight",)):
        outputs = []
        for options in (("--backend", "cpu"), ("--device", "1"), ("--device", "0,1")):
            folder = tmp_path / f"{command[0]}{'-'.join(options)}"
            arguments = (command[0], *names, *command[1:], *options, "-O", folder)
            done = subprocess.run(
                [sys.executable, "-P", "-m", "mmpcodec.cli", *map(str, arguments)],
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, done.stderr
            outputs.append([path.read_bytes() for path in sorted(folder.iterdir())])
        assert outputs[0] == outputs[1] == outputs[2]
