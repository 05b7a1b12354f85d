"""scripts/bench/cluster: limits, processor seconds, rows of tables."""

import importlib.util
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

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


def test_costs_are_fitted(script):
    for package in ("psutil", "distributed"):
        pytest.importorskip(package)
    fitted, batches = script("forecast").fitted, (1, 4, 16, 64)
    assert fitted(batches, [2 + 0.5 * batch for batch in batches]) == pytest.approx((2, 0.5))
    assert fitted(batches, [3.0] * 4) == pytest.approx((3, 0), abs=1e-9)
    assert fitted((1, 2), [1.0, 4.0]).task == 0
    assert fitted((1, 2), [4.0, 1.0]).picture == 0


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
    """Rows of limits and of hours follow from the other rows of the data."""
    for package in ("psutil", "distributed"):
        pytest.importorskip(package)
    usage, forecast = script("usage"), script("forecast")
    costs = forecast.costs_of(usage.rows_of("scale-tasks"))
    kept = [{"run": "scale-costs", **row} for row in forecast.cost_rows(costs)]
    assert usage.rows_of("scale-costs") == [usage.rounded(row) for row in kept]
    kept = [{"run": "scale-limits", **row} for row in forecast.limit_rows(usage.DATA, costs)]
    assert usage.rows_of("scale-limits") == kept
    for row in usage.rows_of("scale-codecs"):
        assert row["core_hours"] == pytest.approx(1e6 * row["cpu_s"] / 3600, rel=1e-3)
    for row in usage.rows_of("scale-devices"):
        assert row["gpu_hours"] == pytest.approx(1e6 / row["per_second"] / 3600, rel=1e-3)


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
