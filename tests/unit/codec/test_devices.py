"""Several devices share pictures and tiles; here each of them is the processor."""

import io
import threading
import time

import numpy as np
import pytest
from support.devices import put_in_place_of_cuda
from support.strategies import natural

import mmpcodec
from mmpcodec import Cancelled, EncodeParams, LimitExceeded, ParameterError, Target
from mmpcodec.codec import sources
from mmpcodec.codec.layers import coding
from mmpcodec.codec.tiles import streaming
from mmpcodec.codec.tiles.streaming import encode_large
from mmpcodec.metadata import Metadata

RNG = np.random.default_rng(8)
SHAPES = [(40, 60), (1, 1), (33, 20, 3), (90, 17), (16, 16, 2), (64, 64, 4), (5, 200), (48, 48)]
PICTURES = [
    natural(RNG, *shape[:2])
    if len(shape) == 2
    else np.stack([natural(RNG, *shape[:2]) for _ in range(shape[2])], axis=2)
    for shape in SHAPES
]


@pytest.fixture
def devices(monkeypatch):
    return put_in_place_of_cuda(monkeypatch)


@pytest.mark.parametrize("device", [None, 0, 2, "1", "all", "2,0", [0, 1, 2]])
@pytest.mark.parametrize("preset", ["plain", "photo", "auto"])
def test_any_devices_give_the_bytes_of_one_in_order(devices, device, preset):
    options = {"preset": preset, "effort": 1}
    expected = mmpcodec.encode_batch(PICTURES, 30, backend="cuda", **options)
    if preset == "plain":
        assert expected == mmpcodec.encode_batch(PICTURES, 30, backend="cpu", **options)
    devices.calls.clear()
    found = mmpcodec.encode_batch(PICTURES, 30, backend="cuda", device=device, **options)
    assert found == expected
    used = {number for number, _ in devices.calls}
    if device is None:
        assert used == {0}
    else:
        assert used <= {0: {0}, 2: {2}, "1": {1}, "2,0": {0, 2}}.get(str(device), {0, 1, 2})


def test_all_devices_work(devices, monkeypatch):
    """Each device waits in its first call until all have begun one."""
    met = threading.Barrier(3, timeout=30)
    code = devices.encode_batch

    def waiting(self, *arguments, **options):
        met.wait()
        return code(self, *arguments, **options)

    monkeypatch.setattr(devices, "encode_batch", waiting)
    pictures = [PICTURES[0]] * 6
    files = mmpcodec.encode_batch(pictures, 30, preset="plain", device="all")
    assert files == [mmpcodec.encode(PICTURES[0], 30, preset="plain", backend="cpu")] * 6
    assert sorted(devices.calls) == [(0, 2), (1, 2), (2, 2)]


def test_more_devices_than_pictures_and_one_picture(devices):
    for count in (1, 2):
        devices.calls.clear()
        files = mmpcodec.encode_batch(PICTURES[:count], 9, preset="plain", device="all")
        assert files == mmpcodec.encode_batch(PICTURES[:count], 9, preset="plain", backend="cpu")
        assert [planes for _, planes in devices.calls] == [1] * count
    assert mmpcodec.encode_batch([], device="all") == []


def test_large_batches_make_several_shares(devices, monkeypatch):
    monkeypatch.setattr("mmpcodec.codec.devices.GROUP_FRAGMENTS", 12)
    pictures = [PICTURES[0]] * 24  # 12 fragments each
    mmpcodec.encode_batch(pictures, 30, preset="plain", device="0,1")
    assert [planes for _, planes in devices.calls] == [1] * 24
    assert {number for number, _ in devices.calls} <= {0, 1}


@pytest.mark.parametrize("device", ["1", "0,2"])
def test_a_device_searches_while_the_processor_goes_on(devices, monkeypatch, device):
    """Calls of a device wait for each other, and overlap with what follows other calls."""
    monkeypatch.setattr("mmpcodec.codec.devices.GROUP_FRAGMENTS", 48)
    inside, finishing, overlaps = set(), set(), []
    code, finish = devices.encode_batch, coding._finished

    def alone(self, *arguments, **options):
        here = self.current_device()
        assert here not in inside
        inside.add(here)
        time.sleep(0.01)
        overlaps.append(bool(finishing))
        try:
            return code(self, *arguments, **options)
        finally:
            inside.remove(here)

    def slow(*arguments):
        one = object()
        finishing.add(one)
        time.sleep(0.02)
        finishing.remove(one)
        return finish(*arguments)

    monkeypatch.setattr(devices, "encode_batch", alone)
    monkeypatch.setattr(coding, "_finished", slow)
    pictures = [PICTURES[0]] * 24  # 12 fragments each
    files = mmpcodec.encode_batch(pictures, 30, preset="plain", device=device)
    assert files == [mmpcodec.encode(PICTURES[0], 30, preset="plain", backend="cpu")] * 24
    assert [planes for _, planes in devices.calls] == [2] * 12
    assert {number for number, _ in devices.calls} <= set(map(int, device.split(",")))
    assert any(overlaps)


def test_tiles_are_shared_too(devices, monkeypatch):
    picture = natural(RNG, 200, 260)
    options = {"preset": "plain", "tile_size": 64}
    expected = mmpcodec.encode(picture, 30, backend="cpu", **options)
    assert mmpcodec.encode(picture, 30, device="all", **options) == expected
    assert sum(planes for _, planes in devices.calls) == 20
    assert len(devices.calls) == 3
    monkeypatch.setattr(streaming, "GROUP_PIXELS", 3 * 64 * 64)

    class Whole:
        shape, depth, metadata = picture.shape, 8, Metadata()

        def read(self, rows, columns):
            return picture[rows, columns]

    devices.calls.clear()
    file = io.BytesIO()
    params = EncodeParams.from_options(30, preset="plain")
    encode_large(Whole(), file, params, tile_size=64, device="all")
    assert file.getvalue() == expected
    assert max(planes for _, planes in devices.calls) <= 4
    assert len(devices.calls) > 3


def test_targets_take_a_picture_on_each_device(devices):
    pictures = [PICTURES[0], PICTURES[3], PICTURES[6], PICTURES[7]]
    inside, passes = threading.Lock(), []

    def on_pass(one):
        assert inside.acquire(blocking=False)  # one at a time
        passes.append(one)
        inside.release()

    options = {"target_size": 700, "preset": "plain"}
    expected = mmpcodec.encode_batch(pictures, backend="cpu", **options)
    found = mmpcodec.encode_batch(pictures, device="0,2", on_pass=on_pass, **options)
    assert found == expected
    assert {number for number, _ in devices.calls} <= {0, 2}
    assert {one.picture for one in passes} == {0, 1, 2, 3}


def test_a_target_of_a_picture_in_tiles(devices, monkeypatch):
    """Alpha is coded once and not again in each pass, whichever device takes its tile."""
    picture = np.stack([natural(RNG, 130, 200), natural(RNG, 130, 200)], axis=2)
    params = EncodeParams.from_options(preset="plain")
    options = {"target": Target("size", 25000), "tile_size": 64}
    expected = mmpcodec.encode_picture(picture, params, backend="cpu", **options)
    alphas = []
    code = devices.encode

    def noted(self, task, **more):
        if task.params.tools.lossless:
            alphas.append(self.current_device())
        return code(self, task, **more)

    monkeypatch.setattr(devices, "encode", noted)
    found = mmpcodec.encode_picture(picture, params, device="all", **options)
    assert found.data == expected.data
    assert len(found.passes) > 1
    assert len(alphas) == len(found.header.tiles) == 12


def test_progress_counts_all_devices_and_cancels_them(devices):
    seen = []
    total = sum(
        (shape[2] if len(shape) == 3 else 1) * -(-shape[0] // 16) * -(-shape[1] // 16)
        for shape in SHAPES
    )
    mmpcodec.encode_batch(
        PICTURES, 30, preset="plain", device="all", progress=lambda *state: seen.append(state)
    )
    assert seen == sorted(seen)
    assert seen[-1] == (total, total)
    with pytest.raises(Cancelled):
        mmpcodec.encode_batch(
            PICTURES, 30, preset="plain", device="all", progress=lambda done, total: done < 40
        )


def test_an_error_on_one_device_is_raised(devices, monkeypatch):
    code = devices.encode_batch

    def small(self, tasks, **options):
        if self.current_device() == 1:
            raise LimitExceeded("Device memory", "device 1 is full")
        return code(self, tasks, **options)

    monkeypatch.setattr(devices, "encode_batch", small)
    with pytest.raises(LimitExceeded, match="device 1 is full"):
        mmpcodec.encode_batch([natural(RNG, 64, 64)] * 30, 30, preset="plain", device="all")


def test_wrong_devices_are_refused(devices):
    with pytest.raises(ParameterError, match="device = 3: must be from 0 to 2"):
        mmpcodec.encode(PICTURES[0], device=3)
    with pytest.raises(ParameterError, match="device = 0: has no effect on backend cpu, only on"):
        mmpcodec.encode(PICTURES[0], backend="cpu", device=0)
    with pytest.raises(ParameterError, match="device = 'all': has no effect on backend reference"):
        mmpcodec.encode_batch(PICTURES, backend="reference", device="all")
    with pytest.raises(ParameterError, match="none twice"):
        mmpcodec.encode(PICTURES[0], device="1,1")


class OnDevice(np.ndarray):
    """An array in the memory of a device that is none."""

    __cuda_array_interface__ = None
    number = 0

    def __array_finalize__(self, source):
        self.number = getattr(source, "number", 0)

    @property
    def device(self):
        class Place:
            id = self.number

            def __enter__(self):
                return self

            def __exit__(self, *error):
                return None

        return Place()

    def get(self):
        return np.array(self)


@pytest.mark.parametrize(
    ("device", "used"), [(None, {0, 1, 2}), ("all", {0, 1, 2}), ("0,1", {0, 1}), (1, {1})]
)
def test_arrays_stay_on_their_device(devices, monkeypatch, device, used):
    places = [0, 2, 1, 2, 0, 1, 2, 2]
    arrays = []
    for picture, number in zip(PICTURES, places, strict=True):
        array = picture.copy().view(OnDevice)
        array.number = number
        arrays.append(array)
    expected = mmpcodec.encode_batch(PICTURES, 30, preset="plain", backend="cpu")
    monkeypatch.setattr(sources, "check_picture", lambda array, depth: (array, 8))
    lying = []
    choose = mmpcodec.codec.devices.encode_tiles

    def noted(tiles, *rest):
        here = devices().current_device()
        lying.extend((getattr(tile.samples, "number", None), here) for tile in tiles)
        on_host = [type(tile)(tile.on_host, tile.on_host, tile.depth) for tile in tiles]
        return choose(on_host, *rest)

    monkeypatch.setattr(mmpcodec.codec.devices, "encode_tiles", noted)
    assert mmpcodec.encode_batch(arrays, 30, preset="plain", device=device) == expected
    stayed = [(home, here) for home, here in lying if home is not None]
    assert sorted(home for home, _ in stayed) == sorted(one for one in places if one in used)
    assert all(home == here for home, here in stayed)
    assert {here for _, here in lying} <= used
