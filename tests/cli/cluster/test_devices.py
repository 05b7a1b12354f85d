"""The option ``--device``; here each device is the processor."""

import json
import threading
from dataclasses import replace

import numpy as np
import pytest
from support.devices import put_in_place_of_cuda
from support.strategies import natural

import mmpcodec
from mmpcodec import MissingExtra, ParameterError, backends, pictures
from mmpcodec.cli.cluster import clients
from mmpcodec.cli.cluster.devices import OnDevices, on_devices
from mmpcodec.cli.commands.budget.measuring import MeasureLadders
from mmpcodec.cli.encoding import sources
from mmpcodec.cli.jobs import Job
from mmpcodec.limits import DecodeLimits
from mmpcodec.params import EncodeParams


@pytest.fixture
def devices(monkeypatch):
    return put_in_place_of_cuda(monkeypatch)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of seven pictures, in the current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "photos").mkdir()
    for number in range(7):
        picture = natural(np.random.default_rng(number), 40 + number, 64)
        pictures.write(picture, tmp_path / "photos" / f"{number}.png")
    return tmp_path / "photos"


def expected(folder, **options):
    return {
        path.stem: mmpcodec.encode(
            pictures.read(path).samples, metadata=pictures.read(path).metadata, **options
        )
        for path in sorted(folder.glob("*.png"))
    }


def written(folder):
    return {path.stem: path.read_bytes() for path in sorted(folder.glob("*.mmp"))}


@pytest.mark.parametrize(("device", "used"), [("all", {0, 1, 2}), ("0,2", {0, 2}), ("1", {1})])
def test_encode_shares_a_folder(mmp, devices, folder, device, used):
    done = mmp("encode", folder, "-l", 32, "--preset", "plain", "--device", device, "-v")
    assert done.exit_code == 0, done.stderr
    assert written(folder) == expected(folder, lam=32, preset="plain", backend="cpu")
    assert {number for number, _ in devices.calls} <= used
    assert len(devices.calls) == len(used)
    assert sum(planes for _, planes in devices.calls) == 7
    assert "backend cuda: " in done.stderr
    named = ", ".join(map(str, sorted(used)))
    assert f"; device{'s' if len(used) > 1 else ''} {named}\n" in done.stderr


def test_groups_feed_all_devices(mmp, devices, folder, monkeypatch):
    monkeypatch.setattr(sources, "GROUP", 1)
    assert mmp("encode", folder, "-l", 32, "--preset", "plain", "--device", "0,1").exit_code == 0
    assert sorted(planes for _, planes in devices.calls) == [1, 2, 2, 2]


def test_a_target_takes_one_picture_on_each_device(mmp, devices, folder, monkeypatch):
    met = threading.Barrier(3, timeout=30)
    first = iter(range(100))
    code = devices.encode_batch

    def waiting(self, *arguments, **options):
        if next(first) < 3:
            met.wait()  # three pictures are in work at once
        return code(self, *arguments, **options)

    monkeypatch.setattr(devices, "encode_batch", waiting)
    options = ("--preset", "plain", "--target-size", "900")
    done = mmp("encode", folder, *options, "--device", "all", "--json")
    assert done.exit_code == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["input"][-5:] for row in rows] == [f"{number}.png" for number in range(7)]
    assert written(folder) == expected(folder, preset="plain", target_size=900, backend="cpu")
    assert {number for number, _ in devices.calls} == {0, 1, 2}


def test_tiles_of_one_picture_are_shared(mmp, devices, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    picture = natural(np.random.default_rng(5), 200, 260)
    pictures.write(picture, tmp_path / "large.pgm")
    options = {"preset": "plain", "tile_size": 64}
    done = mmp("encode", "large.pgm", "--preset", "plain", "--tile", 64, "--device", "all")
    assert done.exit_code == 0, done.stderr
    assert (tmp_path / "large.mmp").read_bytes() == mmpcodec.encode(picture, **options)
    assert len(devices.calls) == 3


def test_an_unreadable_picture_does_not_stop_the_others(mmp, devices, folder):
    (folder / "3.png").write_bytes(b"no picture")
    done = mmp("encode", folder, "--preset", "plain", "--device", "all")
    assert done.exit_code == 3
    assert "1 of 7 inputs failed" in done.stderr
    assert sorted(written(folder)) == ["0", "1", "2", "4", "5", "6"]


def test_budget_shares_pictures(mmp, devices, folder):
    options = ("-n", "--total", "1MB", "--preset", "plain", "--lambdas", "8,32", "--cache", "none")
    done = mmp("budget", folder, *options, "--device", "0,1", "--json")
    assert done.exit_code == 0, done.stderr
    assert {number for number, _ in devices.calls} <= {0, 1}
    assert len(devices.calls) == 4
    same = mmp("budget", folder, *options, "--backend", "cpu", "--json")
    found, expected = json.loads(done.stdout), json.loads(same.stdout)
    assert (found.pop("backend"), expected.pop("backend")) == ("cuda", "cpu")
    expected["solver_seconds"] = found["solver_seconds"]
    assert found == expected


def test_a_task_of_a_budget_encodes_its_pictures_together(devices, folder):
    work = MeasureLadders(
        (8.0, 32.0),
        "kept",
        EncodeParams.from_options(preset="plain"),
        "cuda",
        None,
        None,
        (),
        DecodeLimits(),
    )
    assert work.wants_many
    assert not replace(work, backend="cpu").wants_many
    jobs = [Job(str(path)) for path in sorted(folder.glob("*.png"))]
    chosen = work.together(jobs)
    assert [planes for _, planes in devices.calls] == [7, 7]
    found = [chosen(job, None) for job in jobs]
    assert len(devices.calls) == 2  # each picture finds its files in the cache
    for path, each in zip(sorted(folder.glob("*.png")), found, strict=True):
        sizes = [
            len(mmpcodec.encode(pictures.read(path).samples, lam, preset="plain"))
            for lam in (8, 32)
        ]
        assert [point.bytes for point in each.ladder.points] == sizes
    spoilt = work.together([*jobs, Job("missing.png")])
    assert spoilt(jobs[0], None).ladder == found[0].ladder
    assert len(devices.calls) == 2


@pytest.mark.parametrize("command", ["median", "highlight"])
def test_the_solvers_take_a_picture_on_each_device(mmp, folder, monkeypatch, command):
    """The pictures run in two threads, whose current devices differ."""
    made = put_in_place_of_cuda(monkeypatch)
    monkeypatch.setattr("mmpcodec.solvers.dispatch.resolved", lambda *_, **__: "cuda")
    from mmpcodec.solvers.max_sum import cpu as max_sum
    from mmpcodec.solvers.rank_filter import cpu as rank_filter

    met = threading.Barrier(2, timeout=30)
    seen = []

    def module(solver, backend):
        current = made().current_device()
        if len(seen) < 2:
            seen.append(current)
            met.wait()
        return max_sum if "max_sum" in solver else rank_filter

    monkeypatch.setattr("mmpcodec.solvers.dispatch.module", module)
    arguments = ("-r", 1) if command == "median" else ()
    done = mmp(command, folder, *arguments, "--device", "0,2", "-O", "out")
    assert done.exit_code == 0, done.stderr
    assert sorted(seen) == [0, 2]
    assert len(list((folder.parent / "out").iterdir())) == 7


@pytest.mark.parametrize("command", [("encode",), ("median", "-r", 1), ("highlight",)])
@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--device", "3"), "device = 3: must be from 0 to 2, the numbers of the 3 CUDA devices"),
        (("--device", "one"), "device = 'one': must be all, or numbers such as 0 or 0,1"),
        (("--device", "0", "--backend", "cpu"), "device = '0': has no effect on backend cpu"),
        (
            ("--device", "all", "--cluster", "local"),
            "--device all: has no effect with --cluster local",
        ),
    ],
)
def test_wrong_devices_are_wrong_use(mmp, devices, folder, monkeypatch, command, options, says):
    monkeypatch.setattr("mmpcodec.solvers.dispatch.resolved", lambda *_, **__: "cuda")
    done = mmp(command[0], folder, *command[1:], *options)
    assert done.exit_code == 2
    assert done.stderr.startswith(f"mmp: {says}")
    assert sorted(path.suffix for path in folder.iterdir()) == [".png"] * 7


@pytest.mark.skipif(backends.status()["cuda"] is None, reason="a CUDA device is there")
@pytest.mark.parametrize("command", [("encode",), ("median", "-r", 1), ("budget", "--total", "9")])
def test_a_device_without_cuda_is_an_absent_backend(mmp, folder, command):
    done = mmp(command[0], folder, *command[1:], "--device", "0")
    assert done.exit_code == 4
    assert done.stderr.startswith("mmp: backend cuda cannot run here: ")


def test_sweep_takes_a_device_of_a_codec(mmp, devices, folder):
    options = ("--out", "out", "--peers", "none", "-l", "32")
    codec = "mmp:preset=plain,device={}"
    done = mmp("sweep", folder / "0.png", *options, "--codec", codec.format(2))
    assert done.exit_code == 0, done.stderr
    assert {number for number, _ in devices.calls} == {2}
    done = mmp("sweep", folder / "0.png", *options, "--codec", codec.format(3))
    assert done.exit_code == 2
    assert "device = 3: must be from 0 to 2" in done.stderr


def test_doctor_lists_all_devices(mmp, monkeypatch):
    made = put_in_place_of_cuda(monkeypatch)
    warmed = []

    def facts(self, number=None):
        number = self.current_device() if number is None else number
        return {
            "number": number,
            "name": f"Device {number}",
            "compute_capability": "90",
            "multiprocessors": 132,
            "memory_bytes": 80 << 30,
            "free_bytes": 79 << 30,
            "driver": 13000,
            "runtime": 13000,
            "cupy": "14.0",
            "kernel_cache": "folder",
        }

    monkeypatch.setattr(made, "device", facts)
    monkeypatch.setattr(made, "warm", lambda self: warmed.append(self.current_device()))
    lines = mmp("doctor", "--warm").stdout.splitlines()
    assert [line.split(",")[0] for line in lines if line.startswith("device ")] == [
        f"device {number}: Device {number}" for number in range(3)
    ]
    assert warmed == [0, 1, 2]
    found = json.loads(mmp("doctor", "--json").stdout)
    assert [one["number"] for one in found["devices"]] == [0, 1, 2]
    assert found["device"] == found["devices"][0]


class FakeDask:
    """What ``LocalCUDACluster`` is asked for."""

    asked: dict

    class utils:
        visible = "0,1,2"

        @classmethod
        def cuda_visible_devices(cls, first):
            assert first == 0
            return cls.visible

    @classmethod
    def LocalCUDACluster(cls, **options):
        cls.asked = options
        raise MissingExtra("no cluster is started")


LIBRARIES = {
    "cryptography": None,
    "dask_cuda": FakeDask,
    "dask_cuda.utils": FakeDask.utils,
    "distributed": None,
}


@pytest.mark.parametrize(
    ("device", "workers", "visible", "asked"),
    [
        (None, None, "0,1,2", {"n_workers": None}),
        (None, 2, "0,1,2", {"n_workers": 2}),
        ("all", None, "0,1,2", {"CUDA_VISIBLE_DEVICES": ["0", "1", "2"], "n_workers": None}),
        ("2,0", None, "0,1,2", {"CUDA_VISIBLE_DEVICES": ["2", "0"], "n_workers": None}),
        ("1", 1, "5,7", {"CUDA_VISIBLE_DEVICES": ["7"], "n_workers": 1}),
        ("0", None, "GPU-9b", {"CUDA_VISIBLE_DEVICES": ["GPU-9b"], "n_workers": None}),
    ],
)
def test_a_cluster_of_devices(monkeypatch, device, workers, visible, asked):
    """The numbers count the devices that ``CUDA_VISIBLE_DEVICES`` leaves."""
    monkeypatch.setattr(clients, "_library", LIBRARIES.__getitem__)
    monkeypatch.setattr(FakeDask.utils, "visible", visible)
    with (
        pytest.raises(MissingExtra, match="no cluster"),
        clients.connected("cuda", workers, device),
    ):
        pass
    closed = {"security": True, "dashboard_address": "127.0.0.1:0"}
    assert FakeDask.asked == asked | closed


@pytest.mark.parametrize(
    ("device", "workers", "says"),
    [
        ("3", None, "device = 3: must be from 0 to 2"),
        ("0,1", 3, "--workers 3: must be from 1 to 2, the devices"),
    ],
)
def test_a_cluster_of_wrong_devices(monkeypatch, device, workers, says):
    monkeypatch.setattr(clients, "_library", LIBRARIES.__getitem__)
    with pytest.raises(ParameterError, match=says), clients.connected("cuda", workers, device):
        pass


def test_jobs_have_a_device_each(devices):
    """No two jobs have one device at a time, unless there are more threads than devices."""
    work, at_once = on_devices(lambda job, progress: None, "cuda", (), 4)
    assert (work(None, None), at_once) == (None, 4)
    inside = []
    lock = threading.Lock()

    def one(job, progress):
        number = devices().current_device()
        with lock:
            assert number not in inside
            inside.append(number)
        threading.Event().wait(0.002)
        with lock:
            inside.remove(number)
        return number

    work, at_once = on_devices(one, "cuda", (2, 0))
    assert isinstance(work, OnDevices)
    assert at_once == 2
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda job: work(job, None), [Job("-")] * 40))
    assert set(found) == {0, 2}
    work, at_once = on_devices(lambda job, progress: devices().current_device(), "cuda", (1,), 3)
    assert at_once == 3
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(lambda job: work(job, None), [Job("-")] * 9)) == [1] * 9
