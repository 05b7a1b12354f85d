"""Which backend is taken."""

import sys
from dataclasses import replace

import numpy as np
import pytest

import mmpcodec
from mmpcodec import (
    BackendUnavailable,
    EncodeParams,
    ParameterError,
    backends,
    encode_picture,
    encode_pictures,
)
from mmpcodec.backends.base import PlaneTask
from mmpcodec.backends.cpu import CpuBackend
from mmpcodec.backends.cuda.backend import CudaBackend
from mmpcodec.backends.reference import ReferenceBackend
from mmpcodec.presets import PRESETS
from mmpcodec.solvers.max_sum import max_interval
from mmpcodec.tools import BlockTools, TreeTools


class Device(CpuBackend):
    """A device that can run."""

    name = "cuda"


def register(monkeypatch, make):
    """Put another backend in the place of cuda, at the same costs."""
    monkeypatch.setitem(backends.ROWS, "cuda", replace(backends.ROWS["cuda"], make=make))


@pytest.fixture
def device(monkeypatch):
    register(monkeypatch, Device)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    monkeypatch.delitem(sys.modules, "cupy", raising=False)


@pytest.mark.parametrize(
    ("fragments", "loaded", "expected"),
    [(1, False, "cpu"), (1024, False, "cpu"), (50_000, False, "cuda"), (1024, True, "cuda")],
)
def test_auto_takes_the_device_where_it_is_faster(device, monkeypatch, fragments, loaded, expected):
    if loaded:
        monkeypatch.setitem(sys.modules, "cupy", object())
    assert backends.get("auto", fragments).name == expected


def test_a_device_pays_from_much_work_on(device):
    assert backends.get("auto", 7200, PRESETS["plain"]).name == "cuda"
    assert backends.get("auto", 7200 // 2, PRESETS["plain"]).name == "cpu"


@pytest.mark.parametrize("effort", [2, 6])
def test_a_device_does_not_pay_for_predicted_blocks(device, effort):
    assert backends.get("auto", 1 << 30, PRESETS["photo"], effort=effort).name == "cpu"


def test_auto_does_not_look_for_a_device_for_little_work(monkeypatch):
    register(monkeypatch, lambda: pytest.fail("was asked"))
    assert backends.get("auto", 100).name == "cpu"


def test_auto_asks_for_no_device_where_cupy_is_absent(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    register(monkeypatch, lambda: pytest.fail("was asked"))
    assert not backends.depends_on_work("auto")
    assert backends.get("auto", 1 << 30).name == "cpu"


def test_named_backend_is_never_replaced(monkeypatch):
    class Missing(Device):
        def unavailable(self):
            return "no CUDA device"

    register(monkeypatch, Missing)
    with pytest.raises(BackendUnavailable, match="backend cuda cannot run here: no CUDA device"):
        backends.get("cuda", 1 << 30)
    with pytest.raises(ParameterError, match="must be one of auto, cpu, cuda, reference"):
        backends.get("gpu")


def test_a_backend_that_lacks_a_tool_is_not_taken(device, monkeypatch):
    class Lacking(Device):
        def lacks(self, tools, depth=8):
            return "prediction" if isinstance(tools, BlockTools) else None

    register(monkeypatch, Lacking)
    assert backends.get("auto", 1 << 30, TreeTools()).name == "cuda"
    tools = BlockTools()
    assert backends.get("auto", 1 << 30, tools).name == "cpu"
    message = "backend cuda cannot run here: it has no prediction"
    with pytest.raises(BackendUnavailable, match=message):
        backends.get("cuda", 1, tools)


@pytest.fixture
def without_trees(device, monkeypatch):
    """A device without trees among predicted blocks."""

    class Lacking(Device):
        missing, lacks = CudaBackend.missing, CudaBackend.lacks

    register(monkeypatch, Lacking)


def test_a_candidate_that_the_named_backend_lacks_is_coded_by_another(without_trees, monkeypatch):
    monkeypatch.setattr(backends.Row, "start", -10.0)
    picture = np.hstack([np.tile(np.eye(16, dtype=np.uint8) * 200, (2, 2)), np.zeros((32, 9))])
    picture = picture.astype(np.uint8)
    params = EncodeParams.from_options(300, preset="auto", effort=1, palette=False)
    reported = []
    found = encode_picture(
        picture, params, backend="cuda", progress=lambda *state: reported.append(state)
    )
    expected = {
        preset: mmpcodec.encode(picture, 300, preset=preset, effort=1, **options)
        for preset, options in (
            ("photo", {}),
            ("text", {"displaced_blocks": 0}),
            ("mixed", {}),
            ("lossless", {}),
        )
    }
    assert found.data in expected.values()
    lacking = expected["mixed"], expected["lossless"]
    assert found.backend == ("cpu" if found.data in lacking else "cuda")
    assert reported[-1] == (6, 6)
    only = EncodeParams(300, PRESETS["mixed"], effort=1, candidates=(PRESETS["mixed"],))
    assert encode_picture(picture, only, backend="cuda").backend == "cpu"


def test_a_preset_that_the_named_backend_lacks_is_refused(without_trees):
    message = "backend cuda cannot run here: it has no trees among predicted blocks"
    with pytest.raises(BackendUnavailable, match=message):
        mmpcodec.encode(np.zeros((9, 9), np.uint8), preset="mixed", backend="cuda")


def test_candidates_need_the_named_backend(monkeypatch):
    class Missing(Device):
        def unavailable(self):
            return "no CUDA device"

    register(monkeypatch, Missing)
    with pytest.raises(BackendUnavailable, match="no CUDA device"):
        mmpcodec.encode(np.zeros((9, 9), np.uint8), preset="auto", backend="cuda")


def test_batch_of_any_backend_is_one_by_one():
    planes = [np.full((20, 16 * i), 40 * i, np.uint8) for i in (1, 2, 3)]
    tasks, calls = [PlaneTask(plane, EncodeParams()) for plane in planes], []
    coded = CpuBackend().encode_batch(
        tasks, progress=lambda done, total: calls.append((done, total))
    )
    alone = [CpuBackend().encode(task).payload for task in tasks]
    assert [each.payload for each in coded] == alone
    assert calls == sorted(calls)
    assert calls[-1] == (12, 12)


def test_a_device_refuses_what_it_would_not_use():
    plane = np.zeros((16, 16), np.uint8)
    task = PlaneTask(plane, EncodeParams(tools=PRESETS["photo"]), earlier=[plane])
    with pytest.raises(ParameterError, match="earlier has planes of shapes"):
        CudaBackend().encode_batch([task])


class Fake(ReferenceBackend):
    """A backend that no module but the registry has heard of."""

    name = "fake"
    batches = True
    calls = 0

    def encode_batch(self, tasks, **options):
        type(self).calls += 1
        return super().encode_batch(tasks, **options)


def test_a_row_of_the_registry_is_all_that_a_backend_needs(monkeypatch):
    monkeypatch.setitem(backends.ROWS, "fake", backends.Row(Fake))
    assert backends.names()[-1] == "fake"
    assert backends.decoders()[-1] == "fake"
    assert backends.status()["fake"] is None
    pictures = [np.full((20, 16 * i), 40 * i, np.uint8) for i in (1, 2, 3)]
    params = EncodeParams.from_options(8, preset="plain")
    found = encode_pictures(pictures, params, backend="fake")
    assert [each.backend for each in found] == ["fake"] * 3
    assert Fake.calls == 1  # one call for all of them
    for picture, each in zip(pictures, found, strict=True):
        assert each.data == mmpcodec.encode(picture, 8, preset="plain", backend="cpu")
        decoded = mmpcodec.inspect(each.data, decode=True, backend="fake")
        assert decoded.layers[0].backend == "fake"
        assert np.array_equal(decoded.samples, each.samples)
    with pytest.raises(ParameterError, match=r"must be one of auto, cpu, .*, fake$"):
        backends.get("gpu")
    with pytest.raises(BackendUnavailable, match="the solver max_sum has no operations for it"):
        max_interval([1, 2], backend="fake")
    assert backends.get("auto").name == "cpu"


def test_a_backend_that_decodes_is_another_than_one_that_only_encodes(monkeypatch):
    monkeypatch.setattr(Fake, "decodes", False)
    monkeypatch.setitem(backends.ROWS, "fake", backends.Row(Fake))
    with pytest.raises(BackendUnavailable, match="it only encodes; cpu decodes"):
        backends.get("fake", decodes=True)
    assert backends.get("auto", decodes=True).decodes
