"""Web servers that send more than they are asked for, or do not say how much."""

import json
from pathlib import Path

import numpy as np
import pytest
from support.web.range_server import RangeServer

import mmpcodec
from mmpcodec import pictures
from mmpcodec.errors import FileError
from mmpcodec.runtime import downloads, stores

pytest.importorskip("aiohttp", reason="needs aiohttp")

SLACK = 16 << 20
"""Bytes that lie in the buffers of connections, or are sent before a connection is closed."""


@pytest.fixture(params=[True, False], ids=["ranges", "whole"])
def server(request, encoded, picture):
    """A server of the files of this folder, with and without ranges."""
    files = {name: Path(name).read_bytes() for name in (encoded, picture)}
    with RangeServer(files, ranges=request.param).running() as server:
        yield server


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (("info",), "a.mmp"),
        (("decode", "-o", "b.png"), "a.mmp"),
        (("decode", "--region", "0,0,4,4", "-o", "b.png"), "a.mmp"),
        (("encode", "-o", "b.mmp"), "a.png"),
    ],
    ids=["info", "decode", "region", "encode"],
)
def test_a_server_that_sends_without_end(mmp, server, command, name):
    server.endless = True
    first, *options = command
    result = mmp(first, server.url(name), *options)
    assert result.exit_code == 1
    assert f"{server.url(name)}: the server sends more than the" in result.stderr
    assert result.stderr.strip().endswith("bytes that it should")
    assert max(server.sent) < SLACK
    assert not Path(options[-1] if options else "b").exists()


@pytest.mark.parametrize("option", [(), ("--max-memory", "100kB")], ids=["default", "option"])
def test_a_server_that_names_no_size_and_sends_without_end(mmp, server, monkeypatch, option):
    monkeypatch.setattr(downloads, "MOST_BYTES", 100_000)
    server.endless, server.tells_size = True, False
    result = mmp("decode", server.url("a.mmp"), "-o", "b.png", *option)
    advice = "max_memory (--max-memory) raises it; or download the file" if option else "download"
    assert result.exit_code == 1
    assert (
        "the server sends more than 100000 bytes, the limit is 100000; " + advice in result.stderr
    )
    assert max(server.sent) < SLACK


def test_a_server_that_names_no_size(mmp, server, samples):
    server.tells_size = False
    assert mmp("decode", server.url("a.mmp"), "-o", "b.png").exit_code == 0
    np.testing.assert_array_equal(mmpcodec.imread("b.png"), samples)
    assert mmp("encode", server.url("a.png"), "-o", "b.mmp", "--preset", "lossless").exit_code == 0
    np.testing.assert_array_equal(mmpcodec.decode(Path("b.mmp").read_bytes()), samples)
    row = json.loads(mmp("info", server.url("a.mmp"), "--json").stdout)
    assert row["file_bytes"] == len(server.files["a.mmp"])
    with pictures.opened(server.url("a.mmp")) as reader:
        np.testing.assert_array_equal(reader.read(slice(2, 7), slice(3, 7)), samples[2:7, 3:7])


def test_a_size_beyond_the_limit(mmp, server):
    size = len(server.files["a.mmp"])
    result = mmp("info", server.url("a.mmp"), "--max-memory", size - 1)
    assert result.exit_code == 1
    assert f"the server would send {size} bytes, the limit is {size - 1}; " in result.stderr


def test_bounds_count_before_a_part_is_read(server):
    found = stores.UrlBytes(server.url("a.mmp"), 50)
    assert len(found) > 60
    if server.ranges:
        assert bytes(found[10:60]) == server.files["a.mmp"][10:60]
    with pytest.raises(FileError, match="would send 51 bytes, the limit is 50; max_memory"):
        found[:51]


@pytest.mark.parametrize("most", [None, 6])
def test_other_stores(most):
    fsspec = pytest.importorskip("fsspec", reason="needs fsspec, of the extra cluster")
    fsspec.filesystem("memory").pipe("/a.bin", b"abcdef")
    assert stores.read("memory://a.bin", most) == b"abcdef"
    assert bytes(stores.UrlBytes("memory://a.bin", most)[2:]) == b"cdef"
    for refused in (
        lambda: stores.read("memory://a.bin", 5),
        lambda: stores.UrlBytes("memory://a.bin", 5)[:],
    ):
        with pytest.raises(FileError, match="would send 6 bytes, the limit is 5"):
            refused()


@pytest.mark.parametrize("endless", ["zarr.json", "c/0/0"])
def test_zarr_stores(mmp, samples, monkeypatch, endless):
    zarr = pytest.importorskip("zarr", reason="needs zarr, of the extra cluster")
    array = zarr.create_array("s.zarr", shape=(16, 20), chunks=(16, 20), dtype="uint8")
    array[:] = samples
    files = {str(p): p.read_bytes() for p in Path("s.zarr").rglob("*") if p.is_file()}
    with RangeServer(files).running() as server:
        options = ("--preset", "lossless", "-o", "a.mmp")
        assert mmp("encode", server.url("s.zarr"), *options).exit_code == 0
        np.testing.assert_array_equal(mmpcodec.imread("a.mmp"), samples)
        monkeypatch.setattr(downloads, "MOST_CHUNK_BYTES", 1 << 20)
        server.endless = f"s.zarr/{endless}"
        server.sent.clear()
        result = mmp("encode", server.url("s.zarr"), "-f", *options)
        assert result.exit_code == 1
        assert f"/s.zarr/{endless}: the server sends more than 1048576 bytes" in result.stderr
        assert max(server.sent) < SLACK
