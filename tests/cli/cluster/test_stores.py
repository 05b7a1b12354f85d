"""Inputs and outputs named by URLs, on a server of S3 and in memory."""

import json
import pickle
import socket
import subprocess
import sys
import time

import numpy as np
import pytest

import mmpcodec
from mmpcodec import PictureError, pictures
from mmpcodec.dask.reading import from_mmp
from mmpcodec.runtime import stores

fsspec = pytest.importorskip("fsspec", reason="needs fsspec, of the extra cluster")

PICTURES = {
    "flat.png": np.full((20, 30), 9, np.uint8),
    "deep/ramp.png": np.arange(24 * 40, dtype=np.uint16).reshape(24, 40) * 68,
    "deep/colour.ppm": np.arange(18 * 20 * 3, dtype=np.uint16).reshape(18, 20, 3).astype(np.uint8),
}


@pytest.fixture(scope="session")
def s3_server():
    """The address of a server of S3, in a process of its own."""
    pytest.importorskip("moto.server", reason="needs moto[server]")
    pytest.importorskip("s3fs", reason="needs s3fs")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait()


@pytest.fixture
def bucket(s3_server, monkeypatch, tmp_path):
    """The URL of an empty bucket."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3_server)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    name = "".join(char for char in tmp_path.name.lower() if char.isalnum())
    fsspec.filesystem("s3", use_listings_cache=False).mkdir(name)
    return f"s3://{name}"


@pytest.fixture(params=["s3", "memory"])
def store(request, tmp_path):
    """The URL of an empty folder."""
    if request.param == "s3":
        return request.getfixturevalue("bucket")
    return f"memory://{tmp_path.name}"


def put(folder, files=PICTURES):
    for name, samples in files.items():
        with stores.written_whole(f"{folder}/{name}") as stream:
            stream.write(pictures.to_bytes(pictures.Picture.of(samples), name.rpartition(".")[2]))


def test_a_folder_is_coded_into_another_store_and_back(mmp, store, tmp_path):
    put(f"{store}/in")
    result = mmp("encode", f"{store}/in", "-O", f"{store}/out", "--preset", "lossless")
    assert result.exit_code == 0, result.output
    assert list(stores.files_below(f"{store}/out")) == [
        "deep/colour.mmp",
        "deep/ramp.mmp",
        "flat.mmp",
    ]
    result = mmp("decode", f"{store}/out", "-O", tmp_path / "back", "--json")
    assert result.exit_code == 0
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [row["input"] for row in rows] == [
        f"{store}/out/{name}.mmp" for name in ("deep/colour", "deep/ramp", "flat")
    ]
    for name, samples in PICTURES.items():
        found = mmpcodec.imread(tmp_path / "back" / f"{name.rpartition('.')[0]}.png")
        np.testing.assert_array_equal(found, samples)


def test_outputs_that_exist_are_kept(mmp, store):
    put(f"{store}/in")
    arguments = ("encode", f"{store}/in", "-O", f"{store}/out", "--preset", "lossless")
    assert mmp(*arguments).exit_code == 0
    before = stores.files_below(f"{store}/out")
    result = mmp(*arguments)
    assert result.exit_code == 1
    assert f"{store}/out/flat.mmp: exists; -f overwrites it" in result.stderr
    assert mmp(*arguments, "--skip-existing").exit_code == 0
    result = mmp(*arguments, "--update")
    assert (result.exit_code, result.stderr.count("is up to date")) == (0, 3)
    assert stores.files_below(f"{store}/out") == before


def test_an_output_older_than_its_input_is_updated(mmp, store):
    arguments = ("encode", f"{store}/in", "-O", f"{store}/out", "--preset", "lossless", "--update")
    put(f"{store}/in")
    assert mmp(*arguments).exit_code == 0
    time.sleep(1.1)  # S3 tells times in seconds
    put(f"{store}/in", {"flat.png": np.full((20, 30), 8, np.uint8)})
    result = mmp(*arguments)
    assert (result.exit_code, result.stderr.count("is up to date")) == (0, 2)
    assert mmpcodec.decode(stores.read(f"{store}/out/flat.mmp")).max() == 8


def test_parts_of_a_file_are_read(store):
    with stores.written_whole(f"{store}/name.bin") as stream:
        stream.write(bytes(range(100)))
    data = stores.UrlBytes(f"{store}/name.bin")
    assert len(data) == 100
    assert bytes(data[90:200]) == bytes(range(90, 100))
    assert bytes(data[5:7]) == b"\5\6"
    assert bytes(data[7:7]) == b""


def test_a_region_reads_only_its_tiles(mmp, store, tmp_path, monkeypatch):
    samples = np.random.default_rng(1).integers(0, 256, (512, 512)).astype(np.uint8)
    data = mmpcodec.encode(samples, 0, preset="lossless", tile_size=64)
    with stores.written_whole(f"{store}/tiled.mmp") as stream:
        stream.write(data)
    read = []
    one = stores.UrlBytes.__getitem__

    def counted(self, part):
        start, stop, _ = part.indices(len(self))
        read.append(stop - start)
        return one(self, part)

    monkeypatch.setattr(stores.UrlBytes, "__getitem__", counted)
    region = ("--region", "70,5,30,40")
    result = mmp("decode", f"{store}/tiled.mmp", "-o", tmp_path / "part.png", *region)
    assert result.exit_code == 0, result.output
    np.testing.assert_array_equal(mmpcodec.imread(tmp_path / "part.png"), samples[5:45, 70:100])
    assert sum(read) < len(data) / 2


def test_an_open_file_is_read_by_tiles_and_must_not_change(store):
    samples = np.random.default_rng(1).integers(0, 256, (256, 320), np.uint8)
    url = f"{store}/tiled.mmp"
    with stores.written_whole(url) as stream:
        stream.write(mmpcodec.encode(samples, 0, preset="lossless", tile_size=64))
    with pictures.MmpReader(url, cache_bytes=0) as reader:
        np.testing.assert_array_equal(reader[60:70, 100:], samples[60:70, 100:])
        again = pickle.loads(pickle.dumps(reader))
        np.testing.assert_array_equal(again[5], samples[5])
        array = from_mmp(url)
        np.testing.assert_array_equal(array.compute(), samples)
        with stores.written_whole(url) as stream:
            stream.write(mmpcodec.encode(255 - samples[:250], 0, preset="lossless", tile_size=64))
        for read in (lambda: reader[...], array.compute):
            with pytest.raises(PictureError, match=f"^{url}: has changed since it was opened"):
                read()
    assert from_mmp(url).name != array.name


def test_nothing_is_written_after_an_error(store):
    def write_half():
        with stores.written_whole(f"{store}/half.bin") as stream:
            stream.write(b"half")
            raise KeyError

    with pytest.raises(KeyError):
        write_half()
    assert stores.entry(f"{store}/half.bin") is None
    with stores.written_whole(f"{store}/half.bin") as stream:
        stream.write(b"all")
    with (
        pytest.raises(FileExistsError),
        stores.written_whole(f"{store}/half.bin", overwrite=False),
    ):
        pass
    assert stores.read(f"{store}/half.bin") == b"all"


def test_errors_name_the_url(mmp, store):
    result = mmp("encode", f"{store}/none.png")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"mmp: {store}/none.png: No such file or directory\n"
    put(store)
    result = mmp("encode", f"{store}/deep", "--preset", "lossless", "-o", f"{store}/x.mmp")
    assert result.stderr == (
        f"mmp: -o {store}/x.mmp: is one output for 2 inputs; use -O DIR, or --together for one "
        "file of all\n"
    )


def test_unknown_stores_and_missing_packages(mmp):
    result = mmp("encode", "foo://bucket/x.png")
    assert result.exit_code == 1
    assert result.stderr == "mmp: foo://bucket/x.png: ValueError: Protocol not known: foo\n"


def test_a_url_of_a_file_is_a_path(mmp, tmp_path):
    pictures.write(PICTURES["flat.png"], tmp_path / "flat.png")
    result = mmp("encode", f"file://{tmp_path}/flat.png", "-o", f"file://{tmp_path}/x.mmp")
    assert result.exit_code == 0, result.output
    assert mmpcodec.decode((tmp_path / "x.mmp").read_bytes()).shape == (20, 30)


def test_a_server_that_does_not_answer(mmp, monkeypatch):
    pytest.importorskip("s3fs", reason="needs s3fs")
    fsspec.filesystem("s3").clear_instance_cache()
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    result = mmp("encode", "s3://bucket/x.png")
    fsspec.filesystem("s3").clear_instance_cache()
    assert result.exit_code == 1
    assert result.stderr.startswith("mmp: s3://bucket/x.png: ")
    assert "\n" not in result.stderr[:-1]


def test_a_cluster_measures_what_lies_in_a_store(mmp, bucket, cluster, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cluster.add_worker(cwd="/")
    there = ("--cluster", cluster.address)
    put(f"{bucket}/in")
    options = ("--total", "20kB", "--preset", "lossless", "-l", "0", "--cache", "kept")
    result = mmp("budget", f"{bucket}/in", *options, "-O", f"{bucket}/coded", *there)
    assert result.exit_code == 0, result.output
    result = mmp("compare", f"{bucket}/in", f"{bucket}/coded", "--diff", f"{bucket}/d", *there)
    assert result.exit_code == 0, result.output
    assert f"{bucket}/in/flat.png, {bucket}/coded/flat.mmp: equal" in result.stdout
    assert list(stores.files_below(f"{bucket}/d")) == [
        "deep/colour.png",
        "deep/ramp.png",
        "flat.png",
    ]
    codec = ("--codec", "mmp:preset=lossless,lambda=0", "--peers", "none", "--out", "out")
    result = mmp("sweep", f"{bucket}/in", *codec, *there)
    assert result.exit_code == 0, result.output
    assert "out: 3 results measured, 0 failed" in result.stderr
