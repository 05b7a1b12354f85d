"""Commands that bring the results of all workers together: sweep, budget and compare."""

import json
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from support.clusters import Cluster, errors_of, hashes, large_pictures, stop, wait_for

import mmpcodec
from mmpcodec import pictures

pytest.importorskip("distributed", reason="needs distributed, of the extra cluster")

SWEEP = ("--codec", "mmp:preset=plain,lambda=16/64", "--peers", "jpeg:quality=20/80")
BUDGET = ("--preset", "plain", "-l", "8,32,128,512", "--total", "2200")
OF_A_RUN = {
    *("time", "machine", "backend", "encode_seconds", "decode_seconds"),
    *("encode_megapixels_per_second", "decode_megapixels_per_second"),
}
"""What differs from run to run in the rows of a sweep."""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The address of a cluster with two workers, which were started in another folder."""
    folder = tmp_path_factory.mktemp("dask")
    started = Cluster(folder)
    for _ in range(2):
        started.add_worker(cwd=folder)
    yield started.address
    started.stop()


def json_of(result):
    return [json.loads(line) for line in result.stdout.splitlines()]


def events_of(result):
    return [row["event"] for row in json_of(result) if "event" in row]


def swept(folder):
    """The rows of a sweep, without what differs from run to run; and each key of them."""
    lines = Path(folder, "results.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    kept = [{key: row[key] for key in row.keys() - OF_A_RUN} for row in rows]
    return sorted(kept, key=lambda row: (row["picture"], row["codec"], row["point"]))


def test_a_sweep_has_the_rows_of_this_process(mmp, folder_of_pictures, address):
    here = mmp("sweep", "in", "--out", "here", *SWEEP, "--json")
    there = mmp("sweep", "in", "--out", "there", *SWEEP, "--json", "--cluster", address)
    assert here.exit_code == there.exit_code == 3, there.stderr
    assert swept("here") == swept("there")
    assert len(swept("there")) == 24
    drawn = [{**hashes(folder), "results.jsonl": ""} for folder in ("here", "there")]
    assert drawn[0] == drawn[1]
    assert len(drawn[0]) == 2 + 6 + 24 + 24 + 12  # originals, coded, decoded pictures, trees
    printed = [row for row in json_of(there) if "codec" in row]
    written = Path("there/results.jsonl").read_text().splitlines()
    assert sorted(map(json.dumps, printed)) == sorted(written)
    assert events_of(there) == ["cluster", "end"]
    assert "mmp: in/bad.png: is not a picture file" in there.stderr
    assert "1 of 7 inputs failed" in there.stderr
    assert there.stderr.count("jpeg: gray, optimised Huffman tables") == 1
    assert "there: 24 results measured, 0 failed; 0 were there" in there.stderr
    again = mmp("sweep", "in", "--out", "there", *SWEEP, "--cluster", address, "--batch", 3)
    assert (again.exit_code, again.stdout) == (3, "")
    assert "0 results measured, 0 failed; 24 were there" in again.stderr


def test_failures_of_codecs_are_rows_on_a_cluster_too(mmp, picture, address):
    Path("peers.toml").write_text(
        '[bad]\nencode = "false {input} {coded} {point}"\ndecode = "true {coded} {output}"\n'
        "points = [1]\n"
    )
    options = ("--out", "out", "--peers", "none", "--commands", "peers.toml")
    options += ("--cluster", address)
    result = mmp("sweep", picture, *options, "--codec", "mmp:preset=plain,lambda=64")
    assert result.exit_code == 3, result.stderr
    assert "a.png: bad, point 1: failed: MmpError: false: exit code 1" in result.stdout
    result = mmp("sweep", picture, *options, "--codec", "none", "--retry", "--quiet")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("mmp: a.png: bad, point 1: failed: MmpError: false: exit")


def lines_of(path):
    return Path(path).read_text().splitlines() if Path(path).exists() else []


SLOW_CODEC = ("--codec", "mmp:preset=photo,effort=6,lambda=8/32", "--peers", "none")


@pytest.mark.slow
def test_a_sweep_outlives_a_worker(process, cluster):
    cluster.add_worker()
    cluster.add_worker()
    large_pictures(4)
    program = process("sweep", "large", "--out", "out", *SLOW_CODEC, "--cluster", cluster.address)
    wait_for(lambda: len(lines_of("out/results.jsonl")) >= 3)
    before = lines_of("out/results.jsonl")
    assert len(before) < 8
    stop(cluster.workers[0])
    errors = errors_of(program, 120)
    assert program.returncode == 0, errors
    after = lines_of("out/results.jsonl")
    assert after[: len(before)] == before
    rows = [json.loads(line) for line in after]
    assert not any("error" in row for row in rows)
    assert sorted((row["name"], row["point"]) for row in rows) == [
        (f"{number}.png", point) for number in range(4) for point in (8, 32)
    ]


@pytest.mark.slow
def test_an_interrupted_sweep_ends_in_five_seconds_and_goes_on(process, mmp):
    """One of the workers is in native code, which does not hear of the end."""
    large_pictures(3)
    noise = np.random.default_rng(0).integers(0, 256, (900, 900)).astype(np.uint8)
    pictures.write(noise, "endless.png")
    options = ("--out", "out", *SLOW_CODEC)
    program = process(
        "sweep", "endless.png", "large", *options, "--cluster", "local", "--workers", 2
    )
    wait_for(lambda: len(lines_of("out/results.jsonl")) >= 2)
    program.send_signal(signal.SIGINT)
    start = time.monotonic()
    errors = errors_of(program, 30)
    assert time.monotonic() - start < 5
    assert (program.returncode, errors.splitlines()[-1]) == (130, "mmp: interrupted")
    before = lines_of("out/results.jsonl")
    assert 2 <= len(before) < 6
    assert mmp("sweep", "large", *options).exit_code == 0
    after = lines_of("out/results.jsonl")
    assert after[: len(before)] == before
    rows = [json.loads(line) for line in after]
    assert len({(row["name"], row["point"]) for row in rows}) == len(rows) == 6


def test_a_budget_has_the_files_of_this_process(mmp, folder_of_pictures, address):
    Path("in/bad.png").unlink()
    Path("w.csv").write_text("".join(f"{n}.png,{1 + n}\n" for n in range(6)))
    options = ("in", *BUDGET, "--weights", "w.csv", "--json")
    here = mmp("budget", *options, "-O", "here", "--cache", "kept")
    there = mmp("budget", *options, "-O", "there", "--cache", "shared", "--cluster", address)
    assert here.exit_code == there.exit_code == 0, there.stderr
    assert hashes("here") == hashes("there")
    assert hashes("kept") == hashes("shared")
    assert len(hashes("here")) == 6
    (expected,), (*events, found) = json_of(here), json_of(there)
    assert [row["event"] for row in events] == ["cluster", "end"]
    for row in (expected, found):
        row.pop("solver_seconds")
        for entry in row["pictures"]:
            entry["output"] = Path(entry["output"]).name
    assert found == expected
    again = mmp("budget", *options, "-n", "--cache", "shared", "--cluster", address)
    assert json_of(again)[-1]["plans"] == expected["plans"]


def test_a_budget_writes_nothing_if_a_picture_fails(mmp, folder_of_pictures, address):
    options = ("in", *BUDGET, "--cache", "shared", "-O", "out", "--cluster", address)
    result = mmp("budget", *options)
    assert result.exit_code == 1
    assert "mmp: in/bad.png: is not a picture file" in result.stderr
    assert result.stderr.splitlines()[-2:] == [
        "mmp: 1 of 7 inputs failed",
        "mmp: nothing was written: the budget is for all pictures",
    ]
    assert not Path("out").exists()
    assert len(hashes("shared")) == 24  # of the others, for the next run
    Path("in/bad.png").unlink()
    deep = mmp("budget", *options, "--depth", "9")
    assert deep.stderr.count("in/0.png: depth = 9: must be from 1 to 8 for uint8\n") == 1
    light = "".join(f"{number}.png,0.000001\n" for number in range(1, 6))
    Path("w.csv").write_text(f"0.png,999999999999\n{light}")
    heavy = mmp("budget", *options, "--weights", "w.csv")
    assert heavy.exit_code == 2
    assert "w.csv: weights in lowest terms times pixels add up to " in heavy.stderr
    assert not Path("out").exists()


def test_a_comparison_has_the_measures_of_this_process(mmp, folder_of_pictures, address):
    assert mmp("encode", "in", "-O", "coded", "--preset", "plain", "-l", 200).exit_code == 3
    Path("coded/deep/3.mmp").write_bytes(b"no file")
    Path("coded/2.mmp").write_bytes(mmpcodec.encode(np.zeros((9, 9), np.uint8)))
    here = mmp("compare", "in", "coded", "--json", "--diff", "here")
    there = mmp("compare", "in", "coded", "--json", "--diff", "there", "--cluster", address)
    assert here.exit_code == there.exit_code == 3, there.stderr
    assert hashes("here") == hashes("there")
    assert set(hashes("there")) == {"0.png", "4.png", "deep/1.png", "deep/5.png"}
    assert events_of(there) == ["cluster", "end", "mean"]

    def rows(result, name):
        found = [row for row in json_of(result) if name in row]
        for row in found:
            row.pop("diff", None), row.pop("output", None)
        return sorted(map(json.dumps, found))

    for name in ("a", "error", "measured"):
        assert rows(here, name) == rows(there, name)
    assert len(rows(there, "a")) == 4
    assert "in/bad.png: coded holds no picture of this name" in there.stderr
    assert "size of in/2.png is 128x96 gray and of coded/2.mmp 9x9 gray" in there.stderr
    assert "coded/deep/3.mmp: is not a picture file" in there.stderr


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (("sweep", "in", "--out", "out", "--workers", "2"), "--workers 2: has no effect without"),
        (("budget", "in", *BUDGET, "--batch", "2"), "--batch 2: has no effect without --cluster"),
        (("compare", "in", "in", "--batch", "2"), "--batch 2: has no effect without --cluster"),
        (("sweep", "in", "--out", "out", "--cluster", "x"), "--cluster x: must be local, cuda"),
        (("compare", "in", "in", "--cluster", "x"), "--cluster x: must be local, cuda, the"),
        (("budget", "in", *BUDGET, "--cluster", "x", "--cache", "c"), "--cluster x: must be local"),
        (
            ("budget", "in", *BUDGET, "--cluster", "tcp://127.0.0.1:1"),
            "--cluster tcp://127.0.0.1:1: needs --cache DIR, a folder that this machine and the",
        ),
        (
            ("budget", "in", *BUDGET, "--cluster", "tcp://127.0.0.1:1", "--cache", "none"),
            "--cluster tcp://127.0.0.1:1: needs --cache DIR",
        ),
        (("budget", "in", *BUDGET, "--cache", "s3://b/c"), "--cache s3://b/c: must be a path"),
        (
            ("compare", "in/0.png", "in/0.png", "--cluster", "local"),
            "--cluster local: has no effect for two files",
        ),
        (
            ("sweep", "in", "--out", "memory://out"),
            "--out memory://out: must be a path, where processes can lock files",
        ),
        (("sweep", "-", "--out", "o", "--cluster", "local"), "-: --cluster needs files that its"),
    ],
)
def test_wrong_options(mmp, folder_of_pictures, files, command, says):
    before = files()
    result = mmp(*command)
    assert result.exit_code == 2, result.output
    assert result.stderr.startswith(f"mmp: {says}")
    assert result.stderr.count("\n") == 1
    assert files() == before
