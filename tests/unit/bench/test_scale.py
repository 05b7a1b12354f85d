"""scripts/bench/cluster: the simulation in closed form, processor seconds, rows of tables."""

import importlib.util
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "scripts" / "bench" / "cluster"

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the scripts are not here")


@pytest.fixture
def script(monkeypatch):
    """Import a script of the folder by its name."""
    monkeypatch.syspath_prepend(str(FOLDER))

    def load(name):
        path = FOLDER / f"{name}.py"
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
        return module

    return load


@pytest.fixture
def simulated(script):
    return script("simulated")


def test_tasks_ahead_are_those_of_the_command(simulated):
    from mmpcodec.dask.in_flight import TASKS_AHEAD

    assert simulated.AHEAD == TASKS_AHEAD


@pytest.mark.parametrize(("workers", "rounds"), [(1, 60), (4, 15), (7, 9), (60, 1), (100, 1)])
def test_without_costs_equal_tasks_take_whole_rounds(simulated, workers, rounds):
    found = simulated.simulate([2.0] * 60, workers)
    assert found.seconds == pytest.approx(2.0 * rounds)
    assert found.efficiency == pytest.approx(60 / (workers * rounds))
    assert found.scheduler == found.client == 0


def test_one_worker_does_all_tasks_one_after_the_other(simulated):
    tasks = simulated.drawn([0.1, 0.5, 2.0], 50, 1)
    worker = simulated.Cost(0.25, 0.5)
    found = simulated.simulate(tasks, 1, simulated.Costs(worker=worker))
    assert found.seconds == pytest.approx(tasks.sum() + 50 * 0.75)
    assert found.efficiency == pytest.approx(tasks.sum() / found.seconds)


def test_a_single_task_passes_all_processes(simulated):
    cost = simulated.Cost
    costs = simulated.Costs(cost(0.5, 0.25), cost(2.0, 1.0), cost(4.0, 1.0))
    found = simulated.simulate([10.0], 8, costs, batch=2)
    assert found.seconds == pytest.approx(1.0 + 4.0 + 6.0 + 10.0)
    assert found.scheduler == pytest.approx(4.0 / 21)
    assert found.client == pytest.approx(1.0 / 21)


@pytest.mark.parametrize("process", ["client", "scheduler"])
def test_with_many_workers_the_slowest_process_limits(simulated, process):
    costs = simulated.Costs(**{process: simulated.Cost(0.01)})
    found = simulated.simulate([0.1] * 4000, 64, costs)
    assert found.seconds == pytest.approx(4000 * 0.01 + 0.1, rel=0.01)
    assert getattr(found, process) > 0.99
    few = simulated.simulate([0.1] * 4000, 4, costs)
    assert few.seconds == pytest.approx(4000 / 4 * 0.1, rel=0.01)
    assert getattr(few, process) == pytest.approx(0.4, rel=0.01)


def test_larger_tasks_move_the_limit(simulated):
    costs = simulated.Costs(scheduler=simulated.Cost(0.01, 0.001))
    one = simulated.simulate([0.1] * 6400, 32, costs)
    many = simulated.simulate([1.6] * 400, 32, costs, batch=16)
    assert one.seconds == pytest.approx(6400 * 0.011, rel=0.01)
    assert many.seconds == pytest.approx(1.6 * 13, rel=0.03)  # 400 tasks, 32 at a time
    assert simulated.limit(costs.scheduler, 0.1, 1) == pytest.approx(0.1 / 0.011)
    assert simulated.limit(costs.scheduler, 0.1, 16) == pytest.approx(1.6 / 0.026)


@pytest.mark.parametrize("batch", [1, 4, 64])
def test_the_most_workers_are_those_of_the_closed_form(simulated, batch):
    costs = simulated.Costs(simulated.Cost(0.002), simulated.Cost(0.004, 0.0001))
    most = simulated.most_workers([0.05, 0.1, 0.15], costs, batch)
    assert most == pytest.approx(simulated.limit(costs.scheduler, 0.1, batch), rel=0.12)


@given(
    tasks=st.lists(st.floats(0.001, 10), min_size=1, max_size=40),
    workers=st.integers(1, 12),
    costs=st.tuples(*[st.floats(0, 2)] * 3),
)
@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_no_process_works_more_than_all_the_time(simulated, tasks, workers, costs):
    client, scheduler, worker = costs
    found = simulated.simulate(
        tasks, workers, simulated.Costs(*(simulated.Cost(cost) for cost in costs))
    )
    work = sum(tasks) + worker * len(tasks)
    busiest = max(work / workers, client * len(tasks), scheduler * len(tasks), max(tasks))
    assert busiest <= found.seconds * (1 + 1e-9)
    assert found.seconds <= (work + (client + scheduler) * len(tasks)) * (1 + 1e-9)
    assert 0 < found.efficiency <= 1 + 1e-9


def test_no_worker_is_within_the_share_if_the_client_takes_longer(simulated):
    assert simulated.most_workers([0.1], simulated.Costs(simulated.Cost(1.0)), 1) == 0


def test_drawn_tasks_hold_all_pictures(simulated):
    times = [1.0, 10.0, 100.0]
    tasks = simulated.drawn(times, 10, 4, seed=3)
    assert len(tasks) == 3
    assert tasks.sum() == simulated.drawn(times, 10, 1, seed=3).sum()
    assert np.array_equal(tasks, simulated.drawn(times, 10, 4, seed=3))
    assert simulated.drawn([7.0], 10, 4).tolist() == [28.0, 28.0, 14.0]


def test_costs_are_fitted(simulated):
    batches = (1, 4, 16, 64)
    assert simulated.fitted(batches, [2 + 0.5 * batch for batch in batches]) == pytest.approx(
        (2, 0.5)
    )
    assert simulated.fitted(batches, [3.0] * 4) == pytest.approx((3, 0), abs=1e-9)
    assert simulated.fitted((1, 2), [1.0, 4.0]).task == 0
    assert simulated.fitted((1, 2), [4.0, 1.0]).picture == 0


def test_processor_seconds_are_those_of_the_process(script):
    pytest.importorskip("psutil")
    usage = script("usage")
    before = time.process_time()
    at = usage.processor_seconds(os.getpid())
    while time.process_time() < before + 0.3:
        pass
    assert usage.processor_seconds(os.getpid()) - at == pytest.approx(0.3, abs=0.03)


def test_processor_seconds_of_a_program_are_not_its_wall_seconds(script, tmp_path):
    pytest.importorskip("psutil")
    usage = script("usage")
    program = tmp_path / "program.py"
    program.write_text(
        "import time\n"
        "while time.process_time() < 0.4: pass\n"
        "time.sleep(0.5)\n"
        "data = bytes(300 << 20)\n"
        "data = bytearray(data)\n"
        "print('done')\n"
    )
    used = usage.used_by([str(program)])
    assert used.output == "done\n"
    assert used.wall_s > used.cpu_s + 0.45
    assert 0.39 < used.cpu_s < 3
    assert 300 < used.peak_mib < 900
    program.write_text("import sys; print('why', file=sys.stderr); sys.exit(3)")
    with pytest.raises(SystemExit, match="exit 3: why"):
        usage.used_by([str(program)])


def test_a_run_replaces_the_run_of_its_name_only(script, tmp_path):
    pytest.importorskip("psutil")
    usage = script("usage")
    path = tmp_path / "rows.jsonl"
    for run, value in (("a", 1.0), ("b", 2.0), ("a", 3.14159)):
        usage.keep({"run": run, "command": "c"}, [{"value_s": value, "all_s": [value]}], path)
    assert usage.rows_of("a", path) == [{"run": "a", "value_s": 3.142, "all_s": [3.142]}]
    assert usage.rows_of("b", path) == [{"run": "b", "value_s": 2.0, "all_s": [2.0]}]
    assert len(path.read_text().splitlines()) == 4


def test_rows_of_the_page_are_computed_from_the_measured_rows(script):
    """Rows of the simulation and of hours follow from the other rows of the data."""
    for package in ("psutil", "distributed"):
        pytest.importorskip(package)
    usage, forecast = script("usage"), script("forecast")
    costs = forecast.costs_of(usage.rows_of("scale-tasks"))
    for run, rows in (
        ("scale-costs", forecast.cost_rows(costs)),
        ("scale-validated", forecast.validated_rows(usage.DATA, costs)),
    ):
        kept = usage.rows_of(run)
        assert kept == [usage.rounded({"run": run, **row}) for row in rows]
    for row in usage.rows_of("scale-codecs"):
        assert row["core_hours"] == pytest.approx(1e6 * row["cpu_s"] / 3600, rel=1e-3)
    for row in usage.rows_of("scale-devices"):
        assert row["gpu_hours"] == pytest.approx(1e6 / row["per_second"] / 3600, rel=1e-3)
    means = {name: sum(times) / len(times) for name, times, _ in forecast.settings_of(usage.DATA)}
    for row in usage.rows_of("scale-limits"):
        mean = means[row["setting"]]
        at = forecast.limit(costs.scheduler, mean, row["batch"], costs.worker)
        assert row["scheduler_workers"] == round(at)
        assert 0 < row["linear_workers"] <= 1.1 * min(at, row["client_workers"])
    for row in usage.rows_of("scale-simulated"):
        ideal = 1e6 * means[row["setting"]] / row["workers"] / 3600
        assert row["efficiency_percent"] == pytest.approx(100 * ideal / row["hours"], rel=0.01)


def test_idle_work_goes_through_the_cluster_of_the_command(script, tmp_path):
    """A client counts processor seconds of scheduler and workers, and resumes with its manifest."""
    for package in ("psutil", "distributed"):
        pytest.importorskip(package)
    overhead = script("overhead")
    overhead.make_files(str(tmp_path), 600, ("in", "pgm"), ("out", "mmp"))
    manifest = str(tmp_path / "run.jsonl")
    found = overhead.on_cluster(str(tmp_path), manifest, 1, 50, 500, "--sleep")
    assert (found["files"], found["to_do"]) == (600, 600)
    row = overhead.folder_row("step", 600, found, "client", manifest)
    assert row["million_cpu_s"] == pytest.approx(found["client_cpu_s"] * 1e6 / 600)
    assert row["million_mib"] > row["peak_mib"] > found["start_mib"]
    for key in ("client_cpu_s", "scheduler_cpu_s", "workers_cpu_s"):
        assert 0.01 < found[key] < 60
    assert 0.0005 < found["occupied_s"] < 5
    done = [json.loads(line) for line in Path(manifest).read_text().splitlines()]
    assert sum(line["event"] == "done" for line in done) == 4 * 50 + 500 + 600
    assert overhead.client(str(tmp_path), manifest)["to_do"] == 0


def test_options_are_reported(script):
    for package in ("psutil", "distributed"):
        pytest.importorskip(package)
    for name in ("scale", "memory"):
        done = subprocess.run(
            [sys.executable, FOLDER / f"{name}.py", "--help"],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        assert done.returncode == 0, done.stderr
        assert "usage:" in done.stdout
