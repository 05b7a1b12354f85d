"""mmp files decoded block by block, to zarr stores and large TIFF files, here and on a cluster."""

import json
import os
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import tifffile
from support.pairs import every_pair
from support.picture_files import EXIF, METADATA
from support.strategies import natural

import mmpcodec
from mmpcodec import pictures
from mmpcodec.cli.decoding import by_tiles
from mmpcodec.pictures import parts

CLUSTER = ("--cluster", "local", "--workers", 2)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Blocks of 2x2 tiles of 64 pixels, and TIFF files by tiles from 10000 samples on."""
    monkeypatch.setattr(parts, "BLOCK_PIXELS", 128 * 128)
    monkeypatch.setattr(by_tiles, "MOST_IN_MEMORY", 10000)


def shade(planes, depth):
    found = [natural(np.random.default_rng(plane), 200, 300) for plane in range(planes)]
    samples = np.stack(found, axis=2).astype(np.uint8 if depth <= 8 else np.uint16)
    samples = samples >> (8 - depth) if depth < 8 else samples << (depth - 8)
    return samples if planes > 1 else samples[..., 0]


@cache
def lossless_file(planes, depth):
    """A lossless file of 12 tiles."""
    return mmpcodec.encode(
        shade(planes, depth), 0, preset="lossless", effort=1, depth=depth, tile_size=80
    )


@pytest.fixture
def large(folder):
    """The name of an mmp file of 20 tiles."""
    data = mmpcodec.encode(shade(1, 8), 30, preset="photo", effort=1, tile_size=64)
    Path("large.mmp").write_bytes(data)
    return "large.mmp"


@every_pair(
    form=[(1, 8), (1, 1), (2, 12), (3, 8), (4, 16)],
    name=["out.zarr", "out.tif"],
    region=[None, (70, 3, 201, 150)],
)
def test_samples_are_those_of_the_library(mmp, form, name, region):
    planes, depth = form
    data = lossless_file(planes, depth)
    Path("a.mmp").write_bytes(data)
    options = () if region is None else ("--region", ",".join(map(str, region)))
    found = mmp("decode", "a.mmp", "-o", name, "--json", *options)
    assert found.exit_code == 0, found.stderr
    read = pictures.read(name)
    expected = mmpcodec.decode(data, region=region)
    assert read.depth == depth
    assert np.array_equal(read.samples, expected)
    facts = json.loads(found.stdout)
    assert (facts["height"], facts["width"]) == expected.shape[:2]
    assert facts["format"] == Path(name).suffix[1:]
    if name == "out.tif":
        with tifffile.TiffFile(name) as file:
            assert file.is_bigtiff
            assert file.pages[0].tile == (80, 80)


@pytest.mark.parametrize("name", ["zarr", "tif"])
def test_a_cluster_writes_the_same(mmp, large, name):
    pytest.importorskip("distributed", reason="needs distributed, of the extra cluster")
    mmp("decode", large, "-O", "alone", "--format", name)
    found = mmp("decode", large, "-O", "spread", "--format", name, *CLUSTER)
    assert found.exit_code == 0, found.stderr
    assert "tiles are the tasks" in found.stderr
    assert contents("spread") == contents("alone") != {}


@pytest.mark.parametrize("name", ["zarr", "tif"])
def test_an_interrupt_leaves_nothing(mmp, large, name, monkeypatch):
    pytest.importorskip("distributed", reason="needs distributed, of the extra cluster")

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(by_tiles, "report_progress", interrupt)
    found = mmp("decode", large, "-o", f"a.{name}", *CLUSTER)
    assert found.exit_code == 130
    assert [path.name for path in Path().iterdir()] == ["large.mmp"]


def contents(folder):
    return {
        path.relative_to(folder): path.read_bytes()
        for path in Path(folder).rglob("*")
        if path.is_file()
    }


def test_small_tiff_files_are_written_whole(mmp, large, monkeypatch):
    monkeypatch.setattr(by_tiles, "MOST_IN_MEMORY", 60000)
    mmp("decode", large, "-o", "a.tif")
    with tifffile.TiffFile("a.tif") as file:
        assert not file.is_bigtiff


def test_limits_count_the_whole_picture(mmp, large):
    for name in ("a.zarr", "a.tif"):
        found = mmp("decode", large, "-o", name, "--max-samples", 20000)
        assert found.exit_code == 1
        assert "picture is 300x200: 60000 samples" in found.stderr
        assert sorted(path.name for path in Path().iterdir()) == ["large.mmp"]


def test_what_exists_is_kept_without_force(mmp, large):
    assert mmp("decode", large, "-o", "a.zarr").exit_code == 0
    before = contents("a.zarr")
    refused = mmp("decode", large, "-o", "a.zarr", "--region", "0,0,100,90")
    assert refused.exit_code == 1
    assert "a.zarr: exists; -f overwrites it" in refused.stderr
    skipped = mmp("decode", large, "-o", "a.zarr", "--skip-existing")
    assert (skipped.exit_code, contents("a.zarr")) == (0, before)
    assert mmp("decode", large, "-o", "a.zarr", "--region", "0,0,100,90", "-f").exit_code == 0
    assert pictures.read("a.zarr").samples.shape == (90, 100)
    Path("b.zarr").mkdir()
    Path("b.zarr/mine").write_text("kept")
    folder = mmp("decode", large, "-o", "b.zarr", "-f")
    assert folder.exit_code == 1
    assert "b.zarr: is a folder" in folder.stderr
    assert [path.name for path in Path("b.zarr").iterdir()] == ["mine"]
    assert not list(Path().glob(".mmp-*"))


@pytest.mark.parametrize("name", ["out.zarr", "out.tif"])
def test_damaged_tiles(mmp, large, name):
    data = bytearray(Path(large).read_bytes())
    header = mmpcodec.inspect(bytes(data)).header
    for number in (0, 1, 5, 6, 13):  # the first block, and another tile
        data[header.tile_offsets[number] + 12] ^= 1
    Path("bad.mmp").write_bytes(data)
    found = mmp("decode", "bad.mmp", "-o", name)
    assert found.exit_code == 1
    assert "tile 0" in found.stderr
    assert not Path(name).exists()
    partial = mmp("decode", "bad.mmp", "-o", name, "--allow-partial", "--json")
    assert partial.exit_code == 3
    assert json.loads(partial.stdout)["bad_tiles"] == 5
    whole = mmpcodec.inspect(bytes(data), decode=True, allow_partial=True)
    assert [bad.tile.number for bad in whole.bad_tiles] == [0, 1, 5, 6, 13]
    assert np.array_equal(pictures.read(name).samples, whole.samples)


def test_damaged_tiles_on_a_cluster(mmp, large):
    pytest.importorskip("distributed", reason="needs distributed, of the extra cluster")
    data = bytearray(Path(large).read_bytes())
    data[mmpcodec.inspect(bytes(data)).header.tile_offsets[6] + 20] ^= 1
    Path("bad.mmp").write_bytes(data)
    options = ("bad.mmp", "--format", "zarr", "--json")
    failed = mmp("decode", *options, "-O", "none", *CLUSTER)
    assert failed.exit_code == 1
    assert "tile 6" in failed.stderr
    assert not list(Path("none").iterdir())
    alone = mmp("decode", *options, "-O", "alone", "--allow-partial")
    spread = mmp("decode", *options, "-O", "spread", "--allow-partial", *CLUSTER)
    assert (alone.exit_code, spread.exit_code) == (3, 3)
    _, facts, end = map(json.loads, spread.stdout.splitlines())
    assert facts["bad_tiles"] == 1
    assert (end["pictures"], end["failed"]) == (1, 0)
    assert contents("spread") == contents("alone") != {}


def test_a_file_without_a_good_tile_is_an_error(mmp, large):
    data = bytearray(Path(large).read_bytes())
    header = mmpcodec.inspect(bytes(data)).header
    for offset in header.tile_offsets[:-1]:
        data[offset + 12] ^= 1
    Path("bad.mmp").write_bytes(data)
    found = mmp("decode", "bad.mmp", "-o", "a.zarr", "--allow-partial")
    assert found.exit_code == 1
    assert not Path("a.zarr").exists()


def test_bytes_after_the_last_tile_are_an_error(mmp, large):
    Path("long.mmp").write_bytes(Path(large).read_bytes() + b"x")
    found = mmp("decode", "long.mmp", "-o", "a.zarr")
    assert found.exit_code == 1
    assert "1 bytes follow the trailer" in found.stderr


def test_metadata_that_is_lost_is_named(mmp, folder):
    options = {"preset": "photo", "effort": 1, "tile_size": 64}
    data = mmpcodec.encode(shade(3, 8), 30, metadata=replace(METADATA, exif=EXIF), **options)
    Path("a.mmp").write_bytes(data)
    tiff = mmp("decode", "a.mmp", "-o", "a.tif")
    assert "a.mmp: tif cannot hold all of: exif" in tiff.stderr
    assert pictures.read("a.tif").metadata.icc == METADATA.icc
    stored = mmp("decode", "a.mmp", "-o", "a.zarr", "--strip", "exif")
    # EXIF keeps the orientation alone, which zarr cannot hold either.
    assert "a.mmp: zarr cannot hold all of: icc, exif, xmp" in stored.stderr


def test_samples_that_do_not_fit_are_refused_before_the_work(mmp, large, monkeypatch):
    monkeypatch.setattr(by_tiles.shutil, "disk_usage", lambda path: SimpleNamespace(free=59999))
    found = mmp("decode", large, "-o", "a.tif")
    assert found.exit_code == 1
    assert "a.tif: needs 60000 bytes, the file system has 59999 left" in found.stderr
    assert [path.name for path in Path().iterdir()] == ["large.mmp"]


@pytest.mark.parametrize("cluster", [(), CLUSTER])
def test_what_a_store_cannot_be(mmp, large, cluster):
    if cluster:
        pytest.importorskip("distributed", reason="needs distributed, of the extra cluster")
    for arguments, message in (
        (("-", "-o", "a.zarr"), "-: standard input cannot be decoded to a zarr store"),
        (
            (large, "--format", "zarr", "-o", "-"),
            "-o -: a zarr store is a folder and cannot be written to standard output",
        ),
        (
            (large, "-o", "memory://there/a.zarr"),
            "memory://there/a.zarr: a zarr store can be written only to a folder of this machine",
        ),
        ((large, "-o", "a.zarr", "--quality", 5), "--quality 5: has no effect on zarr"),
        ((large, "-o", "a.zarr", "--format", "png"), "a.zarr names another format"),
        ((large, "-o", "a.png", "--format", "zarr"), "a.png names another format"),
    ):
        found = mmp("decode", *arguments, *cluster)
        assert found.exit_code == 2, found.stderr
        assert message in found.stderr
    assert [path.name for path in Path().iterdir()] == ["large.mmp"]


def test_a_manifest_goes_on(mmp, large):
    options = ("decode", large, "-o", "a.zarr", "--manifest", "run.jsonl")
    assert mmp(*options).exit_code == 0
    row = json.loads(Path("run.jsonl").read_text().splitlines()[-1])
    assert row["event"] == "done"
    assert row["output_bytes"] == sum(map(len, contents("a.zarr").values()))
    again = mmp(*options)
    assert again.exit_code == 0, again.stderr
    assert Path("run.jsonl").read_text().count('"done"') == 1


def test_a_cluster_counts_whole_stores(mmp, large):
    pytest.importorskip("distributed", reason="needs distributed, of the extra cluster")
    Path("second.mmp").write_bytes(Path(large).read_bytes())
    read = 2 * Path(large).stat().st_size
    options = ("--format", "zarr", "-O", "out", *CLUSTER)
    found = mmp("decode", large, "second.mmp", *options)
    assert found.exit_code == 0, found.stderr
    written = sum(map(len, contents("out").values()))
    assert f"{read} -> {written} bytes" in found.stderr


def test_update_looks_at_the_chunks_of_a_store(mmp, large):
    assert mmp("decode", large, "-o", "a.zarr").exit_code == 0
    time = Path(large).stat().st_mtime
    for path in (Path("a.zarr"), *Path("a.zarr").rglob("*")):
        os.utime(path, (time - 100, time - 100))
    os.utime(next(path for path in Path("a.zarr").rglob("*") if path.is_file()), (time, time + 9))
    assert "is up to date" in mmp("decode", large, "-o", "a.zarr", "--update").stderr
