"""Size, state and time of files and of folders, here and at URLs."""

import os

import pytest
from support.web.range_server import RangeServer

from mmpcodec.errors import FileError
from mmpcodec.runtime import stores


@pytest.fixture
def folder(tmp_path):
    """A folder with three files, of 6 bytes."""
    found = tmp_path / "a.zarr"
    (found / "c" / "0").mkdir(parents=True)
    for name, data in (("zarr.json", b"{}"), ("c/0/0", b"abc"), ("c/0/1", b"d")):
        (found / name).write_bytes(data)
    for path in (found, *found.rglob("*")):
        os.utime(path, ns=(10**9, 10**9))
    return found


def test_a_file(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"abc")
    os.utime(path, ns=(0, 1234567890))
    assert stores.state_of(str(path)) == stores.Stored(False, 3, "1234567890", 1234567890)


def test_a_folder_has_the_bytes_and_the_newest_time_of_its_files(folder):
    found = stores.state_of(str(folder))
    assert found[:2] == (True, 6)
    assert found.modified == 10**9
    os.utime(folder / "c" / "0" / "1", ns=(0, 2 * 10**9))
    changed = stores.state_of(str(folder))
    assert (changed.size, changed.modified) == (6, 2 * 10**9)
    assert changed.state != found.state


def test_a_file_less_is_another_state_and_a_newer_folder(folder):
    before = stores.state_of(str(folder))
    (folder / "c" / "0" / "1").unlink()
    after = stores.state_of(str(folder))
    assert (after.size, after.state == before.state) == (5, False)
    assert after.modified > before.modified


def test_a_copy_has_the_same_state_whatever_its_name(folder, tmp_path):
    before = stores.state_of(str(folder)).state
    folder.rename(tmp_path / "b.zarr")
    assert stores.state_of(str(tmp_path / "b.zarr")).state == before


def test_a_folder_at_a_url(folder, tmp_path):
    fsspec = pytest.importorskip("fsspec", reason="needs fsspec, of the extra cluster")
    system = fsspec.filesystem("memory")
    system.put(str(folder), f"{tmp_path}/there.zarr", recursive=True)
    found = stores.state_of(f"memory://{tmp_path}/there.zarr")
    assert found[:2] == (True, 6)
    system.pipe(f"{tmp_path}/there.zarr/c/0/1", b"defg")
    changed = stores.state_of(f"memory://{tmp_path}/there.zarr")
    assert (changed.size, changed.state == found.state) == (9, False)
    assert changed.modified > found.modified


@pytest.mark.parametrize("name", ["none.zarr", "memory://none.zarr"])
def test_what_is_missing(name):
    if "://" in name:
        pytest.importorskip("fsspec", reason="needs fsspec, of the extra cluster")
    with pytest.raises(FileError, match=r"none\.zarr: ") as caught:
        stores.state_of(name)
    assert isinstance(caught.value, FileNotFoundError)


def test_parts_of_a_file_whose_server_ignores_ranges():
    pytest.importorskip("aiohttp", reason="needs aiohttp")
    data = bytes(range(100))
    with RangeServer({"a.bin": data}, ranges=False).running() as server:
        found = stores.UrlBytes(server.url("a.bin"))
        server.sent.clear()
        assert bytes(found[5:7]) == data[5:7]
        assert bytes(found[90:200]) == data[90:]
        assert server.sent == [100]
        other = stores.UrlBytes(server.url("a.bin"))
        server.files["a.bin"] = bytes(50)
        with pytest.raises(FileError, match="sent 50 bytes, not the 2 that were asked for"):
            other[5:7]


def test_a_server_that_cannot_be_asked_is_no_missing_file():
    pytest.importorskip("aiohttp", reason="needs aiohttp")
    with RangeServer({}).running() as server:
        url = server.url("a.bin")
        assert stores.entry(url) is None
        with pytest.raises(FileError, match="No such file") as missing:
            stores.UrlBytes(url)
    assert isinstance(missing.value, FileNotFoundError)
    for ask in (stores.entry, stores.UrlBytes, stores.read):
        with pytest.raises(FileError, match=rf"^{url}: Connect call failed"):
            ask(url)
