"""Blocks of tiles as tasks of a cluster: equal bytes, and errors that name the tile."""

import io
import os
import signal
import time

import numpy as np
import pytest
from support.strategies import natural

import mmpcodec
from mmpcodec import Cancelled, EncodeParams, PictureError, pictures
from mmpcodec.codec.tiles.streaming import encode_large
from mmpcodec.dask import in_flight, tile_tasks
from mmpcodec.dask.in_flight import as_they_come
from mmpcodec.dask.tile_tasks import encode_on_cluster
from mmpcodec.errors import MmpError
from mmpcodec.metadata import Metadata

pytest.importorskip("distributed", reason="needs distributed, of the extra cluster")
from support.clusters import local_client

FAST = {"preset": "photo", "effort": 1}


@pytest.fixture(scope="module")
def client():
    with local_client() as found:
        yield found


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks of 2x2 tiles of 64 pixels."""
    monkeypatch.setattr(tile_tasks, "BLOCK_PIXELS", 128 * 128)


def shade(shape, planes, kind=np.uint8):
    found = [natural(np.random.default_rng(plane), *shape) for plane in range(planes)]
    samples = np.stack(found, axis=2).astype(kind)
    return samples if planes > 1 else samples[..., 0]


def coded(client, path, params, **options):
    file = io.BytesIO()
    with pictures.opened(path) as reader:
        found = encode_on_cluster(client, str(path), reader, file, params, **options)
    return file.getvalue(), found


@pytest.mark.parametrize(
    ("name", "planes", "kind", "shape"),
    [
        ("a.npy", 1, np.uint8, (300, 430)),
        ("a.tif", 3, np.uint8, (200, 131)),
        ("a.pam", 4, np.uint8, (65, 129)),
        ("a.npy", 2, np.uint16, (70, 140)),
        ("a.npy", 1, np.uint8, (1, 200)),
        ("a.npy", 1, np.uint8, (60, 50)),
    ],
)
def test_bytes_and_statistics_are_those_of_one_machine(client, tmp_path, name, planes, kind, shape):
    samples, path = shade(shape, planes, kind), tmp_path / name
    pictures.write(samples, path)
    params, metadata = EncodeParams.from_options(20, **FAST), Metadata(text=(("Title", "a"),))
    data, found = coded(client, path, params, tile_size=64, metadata=metadata)
    assert data == mmpcodec.encode(samples, 20, tile_size=64, metadata=metadata, **FAST)
    alone = io.BytesIO()
    with pictures.opened(path) as reader:
        expected = encode_large(reader, alone, params, tile_size=64, metadata=metadata)
    assert (found.size, found.header) == (expected.size, expected.header)
    assert found.distortion == pytest.approx(expected.distortion)
    assert found.totals.leaves == expected.totals.leaves
    assert dict(found.totals.blocks) == dict(expected.totals.blocks)
    assert found.totals.bits == pytest.approx(expected.totals.bits)


def test_an_error_names_the_tile(client, tmp_path):
    samples, path = np.zeros((128, 300), np.uint8), tmp_path / "a.npy"
    samples[100, 200] = 77
    pictures.write(samples, path)
    params = EncodeParams.from_options(20, **FAST)
    with pytest.raises(MmpError, match=r"sample of 77.*\(tile 8, 64x64 at \(192, 64\)\)"):
        coded(client, path, params, tile_size=64, depth=6)


def test_a_picture_that_changes_is_noticed(client, tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.zeros((128, 300), np.uint8))
    with pictures.opened(path) as reader:
        np.save(path, np.zeros((300, 128), np.uint8))
        params = EncodeParams.from_options(20, **FAST)
        with pytest.raises(PictureError, match=r"has shape \(300, 128\), and had \(128, 300\)"):
            encode_on_cluster(client, str(path), reader, io.BytesIO(), params, tile_size=64)


def test_progress_counts_fragments_and_cancels(client, tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.zeros((256, 256), np.uint8))
    reported, params = [], EncodeParams.from_options(20, **FAST)
    coded(client, path, params, tile_size=64, progress=lambda *both: reported.append(both) or True)
    assert reported == [(64, 256), (128, 256), (192, 256), (256, 256)]
    with pytest.raises(Cancelled):
        coded(client, path, params, tile_size=64, progress=lambda done, total: False)


def test_only_a_few_tasks_are_in_flight(client):
    sent, came, most = [], [], []

    def submit(item):
        sent.append(item)
        most.append(len(sent) - len(came))
        return client.submit(abs, -item, pure=False)

    for item, result in as_they_come(client, submit, range(40)):
        came.append(item)
        assert result == item
    assert sorted(came) == list(range(40))
    assert max(most) == in_flight.TASKS_AHEAD * 2 + 1  # and the one whose result is here


def test_what_is_no_error_of_mmpcodec_names_the_item(client):
    def submit(item):
        return client.submit(divmod, item, 0, pure=False)

    with pytest.raises(MmpError, match="7: ZeroDivisionError"):
        list(as_they_come(client, submit, [7], named=True))
    with pytest.raises(ZeroDivisionError):
        list(as_they_come(client, submit, [7]))


@pytest.mark.parametrize("writes", [False, True])
def test_only_tasks_that_write_are_awaited(client, writes):
    def submit(item):
        return client.submit(time.sleep, item, pure=False)

    assert next(as_they_come(client, submit, [0], writes=writes)) == (0, None)
    started = time.monotonic()
    found = as_they_come(client, submit, [0, 1.5], writes=writes)
    next(found)
    found.close()
    assert (time.monotonic() - started > 1.3) is writes


def test_tiles_of_a_worker_that_dies_are_coded_by_others(tmp_path):
    samples, path = shade((512, 512), 1), tmp_path / "a.npy"
    np.save(path, samples)
    params = EncodeParams.from_options(20, preset="photo", effort=3)
    with local_client() as client:
        victim = next(iter(client.run(os.getpid).values()))
        reported = []

        def progress(done, total):
            if not reported:  # each worker has a block in work, and one that waits
                os.kill(victim, signal.SIGKILL)
            reported.append((done, total))
            return True

        data, _ = coded(client, path, params, tile_size=64, progress=progress)
    assert reported[0] == (64, 1024)
    assert data == mmpcodec.encode(samples, 20, preset="photo", effort=3, tile_size=64)
