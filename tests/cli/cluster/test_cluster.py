"""Commands on Dask clusters of real processes: equal outputs, however a run is disturbed."""

import contextlib
import json
import os
import resource
import shutil
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from support.clusters import SLOW, errors_of, hashes, large_pictures, stop, wait_for
from typer.testing import CliRunner

import mmpcodec
from mmpcodec import pictures
from mmpcodec.cli.app import app

pytest.importorskip("distributed", reason="needs distributed, of the extra cluster")

COUNT = 5
"""Pictures of a run that is disturbed."""


def rows_of(manifest):
    return [json.loads(line) for line in Path(manifest).read_text().splitlines()]


def done_in(manifest):
    if not Path(manifest).exists():
        return []
    return [row["output"] for row in rows_of(manifest) if row["event"] == "done"]


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("encode", ("--preset", "lossless")),
        ("encode", ("--target-bpp", "2", "--preset", "photo")),
        ("median", ("--radius", "2")),
        ("highlight", ()),
    ],
    ids=["encode", "target", "median", "highlight"],
)
def test_outputs_equal_those_of_this_process(mmp, folder_of_pictures, cluster, command, options):
    cluster.add_worker()
    cluster.add_worker()
    here = mmp(command, folder_of_pictures, "-O", "here", "--json", *options)
    there = mmp(
        *(command, folder_of_pictures, "-O", "there", "--json", *options),
        *("--cluster", cluster.address, "--batch", "2"),
    )
    assert here.exit_code == there.exit_code == 3
    assert hashes("here") == hashes("there")
    assert len(hashes("here")) == 6

    def rows(result):
        found = [json.loads(line) for line in result.stdout.splitlines()]
        found = [row for row in found if "event" not in row]
        kept = [
            {
                key: value
                for key, value in row.items()
                if key not in ("output", "seconds", "backend")
            }
            for row in found
        ]
        return sorted(kept, key=lambda row: row["input"])

    assert rows(here) == rows(there)
    assert "in/bad.png: is not a picture file" in there.stderr


def test_decoding_of_folders(mmp, folder_of_pictures, cluster):
    cluster.add_worker()
    assert mmp("encode", folder_of_pictures, "-O", "coded", "--preset", "lossless").exit_code == 3
    Path("coded/bad.mmp").write_bytes(b"no file")
    result = mmp("decode", "coded", "-O", "back", "--cluster", cluster.address)
    assert result.exit_code == 3
    assert "coded/bad.mmp: is not an mmp file" in result.stderr
    for name in hashes("back"):
        np.testing.assert_array_equal(
            mmpcodec.imread(f"back/{name}"), mmpcodec.imread(f"in/{name}")
        )
    assert len(hashes("back")) == 6


def test_a_cluster_of_this_machine(process, folder_of_pictures):
    program = process(
        *("encode", "in", "-O", "out", "--preset", "lossless", "--cluster", "local", "--workers", 2)
    )
    output, errors = (pipe.decode() for pipe in program.communicate(timeout=60))
    assert program.returncode == 3
    assert len(hashes("out")) == len(output.splitlines()) == 6
    assert "mmp: cluster: 2 workers, 2 threads; dashboard http://" in errors
    assert "mmp: 7 pictures, 1 failed, " in errors


def test_a_manifest_leaves_out_what_is_done(mmp, folder_of_pictures):
    arguments = ("encode", "in", "-O", "out", "--preset", "lossless", "--manifest", "m.jsonl")
    assert mmp(*arguments).exit_code == 3
    first = hashes("out")
    done = [row for row in rows_of("m.jsonl") if row["event"] == "done"]
    assert {row["output"]: row["sha256"] for row in done} == {
        os.path.abspath(f"out/{name}"): digest for name, digest in first.items()
    }
    for row in done:
        assert row["output_bytes"] == Path(row["output"]).stat().st_size
        assert row["source_bytes"] == Path(row["source"]).stat().st_size
    Path("in/bad.png").write_bytes(Path("in/0.png").read_bytes())
    result = mmp(*arguments)
    assert (result.exit_code, result.stdout.count("\n")) == (0, 1)
    assert "6 of 7 inputs skipped" in result.stderr
    assert hashes("out") == {**first, "bad.mmp": first["0.mmp"]}
    assert mmp(*arguments).stdout == ""


@pytest.mark.parametrize("change", ["source", "output", "zeros", "options", "gone"])
def test_a_manifest_does_again_what_has_changed(mmp, folder_of_pictures, change):
    arguments = ["encode", "in", "-O", "out", "--preset", "lossless", "--manifest", "m.jsonl"]
    mmp(*arguments)
    if change == "source":
        shutil.copy("in/0.png", "in/2.png")
    elif change == "output":
        Path("out/2.mmp").write_bytes(b"short")
    elif change == "zeros":
        Path("out/2.mmp").write_bytes(bytes(Path("out/2.mmp").stat().st_size))
    elif change == "gone":
        Path("out/2.mmp").unlink()
    else:
        arguments += ["--strip", "all"]
    result = mmp(*arguments)
    assert result.stdout.count("\n") == (6 if change == "options" else 1)
    assert mmpcodec.decode(Path("out/2.mmp").read_bytes()).shape == (96, 128)


def test_other_outputs_are_not_overwritten(mmp, folder_of_pictures):
    Path("out").mkdir()
    Path("out/0.mmp").write_bytes(b"mine")
    arguments = ("encode", "in", "-O", "out", "--preset", "lossless", "--manifest", "m.jsonl")
    for _ in range(2):
        result = mmp(*arguments)
        assert "out/0.mmp: exists; -f overwrites it" in result.stderr
        assert Path("out/0.mmp").read_bytes() == b"mine"


def test_wrong_manifests(mmp, folder_of_pictures):
    arguments = ("encode", "in", "-O", "out", "--manifest")
    Path("m.jsonl").write_text("no row\n")
    assert mmp(*arguments, "m.jsonl").stderr == (
        "mmp: --manifest m.jsonl: line 1 is no row of a manifest: must be an object of JSON\n"
    )
    for name in ("in", os.devnull):
        assert mmp(*arguments, name).stderr == f"mmp: --manifest {name}: must be a file\n"
    for name in ("memory://m", "", "-"):
        assert mmp(*arguments, name).stderr == (
            f"mmp: --manifest {name}: must be a path, to which lines are added\n"
        )
    assert mmp("encode", "in/0.png", "-o", "m.mmp", "--manifest", "./m.mmp").stderr == (
        "mmp: --manifest ./m.mmp: is the output of in/0.png\n"
    )
    assert not Path("out").exists()


RUN = '{"event": "run", "run": "0"}'
BEGUN = '{"event": "begun", "run": "0", "source": "a", "output": "b"}'
DONE = (
    '{"event": "done", "run": "0", "source": "a", "output": "b", "source_bytes": 1, '
    '"source_state": "", "sha256": ""}'
)


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("precious, and without an end of the line", 1, "must be an object of JSON"),
        ('{"event": "done"}', 1, "event: must be run"),
        (f"{BEGUN}\n", 1, "event: must be run"),
        (f'{RUN}\n{{"event": "done", "source": "a", "output": "b"}}\n', 2, "run: must be a text"),
        (f'{RUN}\n{BEGUN[:-1]}, "output": 1}}\n', 2, "output: must be a text"),
        (f'{RUN}\n{DONE[:-1]}, "output_bytes": "1"}}\n', 2, "output_bytes: must be an integer"),
        (f"{RUN}\n[]\n", 2, "must be an object of JSON"),
        (f"{RUN}\n{'[' * 200_000}\n", 2, "must be an object of JSON"),
    ],
)
def test_files_that_are_no_manifest_are_kept(mmp, folder_of_pictures, text, line, problem):
    Path("m.jsonl").write_text(text)
    found = mmp("encode", "in/0.png", "-o", "a.mmp", "--manifest", "m.jsonl")
    assert found.exit_code == 2
    assert found.stderr == (
        f"mmp: --manifest m.jsonl: line {line} is no row of a manifest: {problem}\n"
    )
    assert Path("m.jsonl").read_text() == text


def test_a_line_that_was_not_finished_is_written_again(mmp, folder_of_pictures):
    for text in (RUN[:-3], f"{RUN}\n{BEGUN}\n{BEGUN[:40]}"):
        Path("m.jsonl").write_text(text)
        found = mmp("encode", "in/0.png", "-f", "-o", "a.mmp", "--manifest", "m.jsonl")
        assert found.exit_code == 0, found.stderr
        assert rows_of("m.jsonl")[-1]["event"] == "done"


def test_a_manifest_knows_files_not_names(mmp, folder_of_pictures, monkeypatch):
    """The same names in another folder are other files, whose outputs are not overwritten."""
    for name in ("a", "b"):
        Path(name).mkdir()
        shutil.copy("in/0.png", f"{name}/x.png")
    Path("b/x.mmp").write_bytes(b"mine")
    for name, code in (("a", 0), ("b", 1), ("a", 0)):
        monkeypatch.chdir(Path(folder_of_pictures).resolve().parent / name)
        found = mmp("encode", "x.png", "--manifest", "../m.jsonl")
        assert found.exit_code == code, found.stderr
        monkeypatch.chdir("..")
    assert Path("b/x.mmp").read_bytes() == b"mine"
    events = [row["event"] for row in rows_of("m.jsonl")]
    assert events == ["run", "begun", "done", "run", "run"]


def test_a_full_disk_names_the_manifest(process, folder_of_pictures):
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))\n"
    program = process(
        *("encode", "in/0.png", "-o", "a.mmp", "--preset", "plain", "--manifest", "m.jsonl"),
        before=limit,
    )
    assert errors_of(program, 60) == "mmp: m.jsonl: File too large\n"
    assert program.returncode == 1


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--cluster", "somewhere"), "--cluster somewhere: must be local, cuda, the address of"),
        (("--cluster", "tcp://127.0.0.1:1"), "--cluster tcp://127.0.0.1:1: cannot be reached: "),
        (("--workers", "2"), "--workers 2: has no effect without --cluster"),
        (("--batch", "2"), "--batch 2: has no effect without --cluster"),
        (("--cluster", "none.json"), "--cluster none.json: cannot be reached: No such file"),
        (
            ("--cluster", "other.json"),
            "--cluster other.json: cannot be reached: it is no scheduler's",
        ),
        (("--cluster", "tls://127.0.0.1:1"), "--cluster tls://127.0.0.1:1: cannot be reached: TLS"),
        (("--cluster", "tcp://"), "--cluster tcp://: cannot be reached: missing port number"),
        (("--cluster", "local", "-j", "2"), "--jobs 2: has no effect with --cluster"),
    ],
)
def test_wrong_clusters(mmp, folder_of_pictures, options, says, monkeypatch):
    Path("other.json").write_text('{"address": 5}')
    monkeypatch.setattr("mmpcodec.cli.cluster.clients.CONNECT_SECONDS", 1)
    result = mmp("encode", "in", "-O", "out", *options)
    assert result.exit_code in (1, 2)
    assert result.stderr.startswith(f"mmp: {says}")
    assert result.stderr.count("\n") == 1


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A folder with the outputs of a run that nothing disturbs."""
    folder = tmp_path_factory.mktemp("whole")
    with contextlib.chdir(folder):
        found = CliRunner().invoke(app, ["encode", large_pictures(COUNT), "-O", "whole", *SLOW])
    assert found.exit_code == 0
    return folder / "whole"


@pytest.fixture
def undisturbed(folder, whole):
    """The hashes of these outputs; their sources are in the folder of the test."""
    large_pictures(COUNT)
    return hashes(whole)


def test_a_worker_that_is_killed(process, cluster, undisturbed):
    cluster.add_worker()
    cluster.add_worker()
    arguments = ("encode", "large", "-O", "out", "--manifest", "m.jsonl", *SLOW)
    program = process(*arguments, "--cluster", cluster.address)
    wait_for(lambda: len(done_in("m.jsonl")) >= 2)
    stop(cluster.workers[0])
    errors = errors_of(program, 120)
    assert program.returncode == 0, errors
    assert hashes("out") == undisturbed
    assert sorted(done_in("m.jsonl")) == sorted(
        os.path.abspath(f"out/{name}") for name in undisturbed
    )


@pytest.mark.parametrize("who", ["client", pytest.param("scheduler", marks=pytest.mark.slow)])
def test_a_run_goes_on_after_its_end(process, cluster, undisturbed, who):
    cluster.add_worker()
    arguments = ("encode", "large", "-O", "out", "--manifest", "m.jsonl", *SLOW)
    arguments += ("--cluster", cluster.address)
    program = process(*arguments)
    wait_for(lambda: len(done_in("m.jsonl")) >= 2)
    if who == "client":
        program.kill()
        program.communicate()
    else:
        stop(cluster.scheduler)
        errors = errors_of(program, 60)
        assert program.returncode == 1
        assert "the scheduler of the cluster is lost; with --manifest" in errors
        cluster.start_scheduler()
        cluster.add_worker()
    before = done_in("m.jsonl")
    assert 2 <= len(before) < COUNT
    program = process(*arguments)
    errors = errors_of(program, 120)
    assert program.returncode == 0, errors
    assert f"{len(before)} of {COUNT} inputs skipped" in errors
    assert hashes("out") == undisturbed
    assert sorted(done_in("m.jsonl")) == sorted(
        os.path.abspath(f"out/{name}") for name in undisturbed
    )


@pytest.mark.slow
def test_a_disk_that_is_full(process, cluster, whole, undisturbed):
    """The limit of the size of files stands for a full disk: writing ends with an error."""
    sizes = {name: (whole / name).stat().st_size for name in undisturbed}
    limit = sorted(sizes.values())[COUNT // 2]
    cluster.add_worker(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    small = {name for name, size in sizes.items() if size <= limit}
    arguments = ("encode", "large", "-O", "out", "--manifest", "m.jsonl", *SLOW)
    arguments += ("--cluster", cluster.address)
    program = process(*arguments)
    errors = errors_of(program, 120)
    assert errors.count("File too large") == COUNT - len(small) > 0
    assert hashes("out") == {name: undisturbed[name] for name in small}
    stop(cluster.workers.pop())
    cluster.add_worker()
    program = process(*arguments)
    errors = errors_of(program, 120)
    assert program.returncode == 0, errors
    assert hashes("out") == undisturbed


def test_an_interrupt_ends_in_five_seconds(process, cluster):
    cluster.add_worker()
    arguments = ("encode", large_pictures(COUNT), "-O", "out", "--manifest", "m.jsonl", *SLOW)
    program = process(*arguments, "--cluster", cluster.address)
    wait_for(lambda: len(done_in("m.jsonl")) >= 1)
    program.send_signal(signal.SIGINT)
    start = time.monotonic()
    errors = errors_of(program, 30)
    assert time.monotonic() - start < 5
    assert program.returncode == 130
    assert errors.splitlines()[-1] == "mmp: interrupted"
    assert "Traceback" not in errors


@pytest.mark.parametrize("seconds", [1.5, 6])
def test_an_interrupt_of_all_processes_of_a_cluster_of_this_machine(process, folder, seconds):
    """As by Ctrl-C in a terminal: while workers start, and while they work."""
    noise = np.random.default_rng(0).integers(0, 256, (1000, 1000), np.uint8)
    pictures.write(noise, "noise.png")
    arguments = ("encode", "noise.png", "--preset", "best", "-O", "out", "--cluster", "local")
    program = process(*arguments, start_new_session=True)
    time.sleep(seconds)
    os.killpg(program.pid, signal.SIGINT)
    start = time.monotonic()
    errors = errors_of(program, 30)
    assert time.monotonic() - start < 5
    assert program.returncode == 130
    assert errors.splitlines()[-1] == "mmp: interrupted"
    assert len(errors.splitlines()) <= 2  # the other line tells what the cluster is
    assert not list(Path("out").glob("*"))


def test_outputs_of_dead_workers_are_written_again(mmp, folder_of_pictures, cluster):
    """A task of a dead worker is done again, though its output may be there already."""
    from mmpcodec.cli.cluster.workers import _Placed, outcome_of
    from mmpcodec.cli.jobs import Job
    from mmpcodec.cli.output import write

    def work(job, progress):
        write(job.target, b"new", force=job.overwrite)

    job = _Placed.of(Job("in/0.png", "out.mmp"))
    for _ in range(2):
        assert outcome_of(job.own, work, None).fault is None
    assert job.own.target == os.path.abspath("out.mmp")
    assert job.as_given(f"{job.own.source}: is bad") == "in/0.png: is bad"


def test_workers_in_another_folder(mmp, folder_of_pictures, cluster, tmp_path_factory):
    cluster.add_worker(cwd=tmp_path_factory.mktemp("elsewhere"))
    result = mmp(
        *("encode", "in", "-O", "out", "--preset", "lossless", "--json", "--batch", "64"),
        *("--cluster", cluster.address, "--manifest", "m.jsonl"),
    )
    assert result.exit_code == 3
    assert "mmp: in/bad.png: is not a picture file" in result.stderr
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    start, end = (row for row in rows if "event" in row)
    assert (start["event"], start["workers"], start["threads"]) == ("cluster", 1, 1)
    assert (end["event"], end["pictures"], end["failed"]) == ("end", 7, 1)
    written = [Path("out", name).stat().st_size for name in hashes("out")]
    assert (len(written), end["written_bytes"]) == (6, sum(written))
    assert {row["input"] for row in rows if "output_bytes" in row} == {
        f"in/{name.replace('.mmp', '.png')}" for name in hashes("out")
    }


def test_standard_input_stays_on_this_machine(mmp, picture, cluster):
    result = mmp("encode", "-", "-o", "a.mmp", "--cluster", cluster.address, input=b"")
    assert result.exit_code == 2
    assert result.stderr == "mmp: -: --cluster needs files that its workers can reach\n"
