"""Zarr stores as inputs of mmp encode: a folder that is one picture."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from support.strategies import natural

import mmpcodec
from mmpcodec import pictures

zarr = pytest.importorskip("zarr", reason="needs zarr, of the extra arrays")

FAST = ("--preset", "photo", "--effort", 1)


@pytest.fixture
def samples():
    return natural(np.random.default_rng(7), 150, 210)


@pytest.fixture
def store(samples):
    """The name of a store, in a folder with a picture."""
    zarr.create_array("in/deep/a.zarr", data=samples, chunks=(50, 60))
    pictures.write(samples[:40], "in/b.png")
    return "in/deep/a.zarr"


@pytest.mark.parametrize("options", [(), ("--tile", 64), ("--tile", 64, "--target-bpp", 2)])
def test_a_store_is_one_picture(mmp, store, samples, options):
    found = mmp("encode", f"{store}/", *FAST, "-l", 20, *options[:2], "--json")
    if len(options) > 2:
        found = mmp("encode", f"{store}/", *FAST, *options, "--json", "-f")
    assert found.exit_code == 0, found.stderr
    facts = json.loads(found.stdout)
    size = sum(path.stat().st_size for path in Path(store).rglob("*") if path.is_file())
    assert (facts["input_bytes"], facts["output"]) == (size, "in/deep/a.mmp")
    tile = 64 if options else 0
    rate = {"target_bpp": 2} if len(options) > 2 else {"lam": 20}
    expected = mmpcodec.encode(samples, preset="photo", effort=1, tile_size=tile, **rate)
    assert Path("in/deep/a.mmp").read_bytes() == expected


def test_a_store_in_a_folder_is_not_searched(mmp, store, samples):
    found = mmp("encode", "in", "-O", "out", *FAST, "--tile", 64)
    assert found.exit_code == 0, found.stderr
    made = sorted(str(path) for path in Path("out").rglob("*.mmp"))
    assert made == ["out/b.mmp", "out/deep/a.mmp"]


def test_on_a_cluster(mmp, store):
    pytest.importorskip("distributed", reason="needs distributed, of the extra cluster")
    mmp("encode", store, *FAST, "--tile", 64, "-o", "alone.mmp")
    cluster = ("--cluster", "local", "--workers", 2)
    found = mmp("encode", store, *FAST, "--tile", 64, *cluster, "-o", "spread.mmp")
    assert found.exit_code == 0, found.stderr
    assert "tiles are the tasks" in found.stderr
    assert Path("spread.mmp").read_bytes() == Path("alone.mmp").read_bytes()


def test_a_url(mmp, store, folder):
    mmp("encode", store, *FAST, "--tile", 64, "-o", "alone.mmp")
    found = mmp("encode", f"memory://{folder}/none.zarr", *FAST, "--tile", 64, "-o", "b.mmp")
    assert found.exit_code == 1
    fsspec = pytest.importorskip("fsspec")
    fsspec.filesystem("memory").put(store, f"{folder}/a.zarr", recursive=True)
    found = mmp("encode", f"memory://{folder}/a.zarr", *FAST, "--tile", 64, "-o", "b.mmp")
    assert found.exit_code == 0, found.stderr
    assert Path("b.mmp").read_bytes() == Path("alone.mmp").read_bytes()


def test_other_commands_do_not_take_stores(mmp, store):
    found = mmp("compare", store, store)
    assert found.exit_code == 1
    assert "holds no picture" in found.stderr


def written_again(mmp, *options):
    """Whether an encoding wrote its output, which is replaced by a mark before."""
    Path("a.mmp").write_bytes(b"mark")
    found = mmp("encode", "in/deep/a.zarr", *FAST, "--tile", 64, "-o", "a.mmp", *options)
    assert found.exit_code == 0, found.stderr
    return Path("a.mmp").read_bytes() != b"mark"


def test_a_changed_chunk_is_newer(mmp, store):
    assert not written_again(mmp, "--update")
    chunk = Path(store, "c", "1", "1")
    time = Path("a.mmp").stat().st_mtime + 5
    os.utime(chunk, (time, time))
    assert written_again(mmp, "--update")


def test_a_changed_chunk_is_encoded_again_with_a_manifest(mmp, store):
    options = ("encode", store, *FAST, "--tile", 64, "-o", "a.mmp", "--manifest", "run.jsonl")
    assert mmp(*options).exit_code == 0
    before = Path("a.mmp").read_bytes()
    assert mmp(*options, "-f").stdout == ""
    zarr.open_array(store, mode="r+")[60:70, 70:80] = 0
    found = mmp(*options, "-f")
    assert found.stdout.startswith(f"{store} -> a.mmp")
    assert Path("a.mmp").read_bytes() != before
    row = json.loads(Path("run.jsonl").read_text().splitlines()[-1])
    size = sum(path.stat().st_size for path in Path(store).rglob("*") if path.is_file())
    assert row["source_bytes"] == size


def test_an_array_in_a_store_needs_a_place_for_its_output(mmp, samples, monkeypatch):
    group = zarr.create_group("slide.zarr")
    group.create_array("0", data=samples, chunks=(50, 60))
    before = sorted(Path("slide.zarr").rglob("*"))
    for name in ("slide.zarr/0", "slide.zarr/0/", "memory://there/slide.zarr/0"):
        found = mmp("encode", name, *FAST)
        assert found.exit_code == 2
        assert f"{name}: lies in a zarr store, where no output belongs; use -o" in found.stderr
    assert sorted(Path("slide.zarr").rglob("*")) == before
    assert mmp("encode", "slide.zarr/0", *FAST, "-O", "out").exit_code == 0
    assert [path.name for path in Path("out").iterdir()] == ["0.mmp"]
    monkeypatch.chdir("slide.zarr")
    assert mmp("encode", "0", *FAST).exit_code == 2
    assert sorted(Path(".").rglob("*")) == [path.relative_to("slide.zarr") for path in before]
