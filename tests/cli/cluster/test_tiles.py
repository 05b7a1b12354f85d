"""One picture over the workers of a cluster from the command line."""

import json
from pathlib import Path

import numpy as np
import pytest
from support.strategies import natural

from mmpcodec import pictures

pytest.importorskip("distributed", reason="needs distributed, of the extra cluster")

CLUSTER = ("--cluster", "local", "--workers", 2)
FAST = ("--preset", "photo", "--effort", 1, "--tile", 64)


@pytest.fixture
def large(folder):
    """The name of a picture of 20 tiles."""
    pictures.write(natural(np.random.default_rng(5), 256, 300), "large.tif")
    return "large.tif"


def test_encode(mmp, large):
    alone = mmp("encode", large, *FAST, "-o", "alone.mmp", "--json")
    assert alone.exit_code == 0, alone.stderr
    spread = mmp("encode", large, *FAST, *CLUSTER, "-o", "spread.mmp", "--json", "--verify")
    assert spread.exit_code == 0, spread.stderr
    assert "tiles are the tasks" in spread.stderr
    assert Path("spread.mmp").read_bytes() == Path("alone.mmp").read_bytes()
    own = {"output", "seconds", "verified"}
    start, row, end = map(json.loads, spread.stdout.splitlines())
    assert (start["event"], start["workers"], end["event"]) == ("cluster", 2, "end")
    assert (end["pictures"], end["failed"], end["written_bytes"]) == (1, 0, row["output_bytes"])
    facts = [json.loads(alone.stdout), row]
    assert facts[0].keys() == facts[1].keys()
    for name in facts[0].keys() - own:
        assert facts[1][name] == pytest.approx(facts[0][name]), name


def test_an_error_leaves_no_output_and_the_next_input_is_encoded(mmp, large):
    Path("bad.tif").write_bytes(Path(large).read_bytes()[:2000])
    found = mmp("encode", "bad.tif", large, *FAST, *CLUSTER, "-O", "out", "--manifest", "run.jsonl")
    assert found.exit_code == 3
    assert [path.name for path in Path("out").iterdir()] == ["large.mmp"]
    again = mmp("encode", "bad.tif", large, *FAST, *CLUSTER, "-O", "out", "--manifest", "run.jsonl")
    assert again.exit_code == 3
    assert "tiles are the tasks" not in again.stderr  # the cluster is not needed


def test_pictures_that_are_read_whole_are_tasks_themselves(mmp, picture):
    found = mmp("encode", picture, *FAST, *CLUSTER, "-o", "whole.mmp")
    assert found.exit_code == 0, found.stderr
    assert "tiles are the tasks" not in found.stderr
    mmp("encode", picture, *FAST, "-o", "alone.mmp")
    assert Path("whole.mmp").read_bytes() == Path("alone.mmp").read_bytes()


def test_a_damaged_part_is_named_as_on_the_command_line(mmp, folder):
    zarr = pytest.importorskip("zarr", reason="needs zarr, of the extra arrays")
    samples = natural(np.random.default_rng(5), 256, 300)
    zarr.create_array("a.zarr", data=samples, chunks=(64, 64))
    Path("a.zarr/c/1/2").write_bytes(b"no chunk")
    found = mmp("encode", "a.zarr", *FAST, *CLUSTER, "-o", "out.mmp")
    assert found.exit_code == 1
    assert "mmp: a.zarr: " in found.stderr
    assert str(Path.cwd()) not in found.stderr
    assert not Path("out.mmp").exists()
