"""mmp files as pictures, whole and in parts."""

import io
import os
import pickle
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.books import collection_of
from support.pairs import every_pair
from support.picture_files import DEEP, GRAY
from support.tiled import (
    SHAPES,
    damaged,
    large,
    samples_of,
    tiled,
    tiles_decoded,
    with_wrong_samples,
)

import mmpcodec
from mmpcodec import DecodeLimits, LimitExceeded, ParameterError, PictureError, pictures
from mmpcodec.codec import regions
from mmpcodec.codec.tiles.streaming import encode_large
from mmpcodec.metadata import Metadata
from mmpcodec.params import EncodeParams
from mmpcodec.pictures import MmpReader, parts
from mmpcodec.runtime import stores

WHOLE = samples_of((130, 200), 3, 8)
EVERYTHING = slice(None), slice(None)


@pytest.fixture
def path(tmp_path):
    """A file of 3x4 tiles of RGB, at a path that tests may change."""
    path = tmp_path / "tiled.mmp"
    path.write_bytes(tiled(WHOLE, metadata=Metadata(white=200)))
    return path


@pytest.fixture
def decoded(monkeypatch):
    """Numbers of the tiles that are decoded, in their order."""
    return tiles_decoded(monkeypatch)


def test_mmp_files_keep_depth_and_alpha():
    four = np.dstack([DEEP >> 4] * 4)
    found = pictures.from_bytes(mmpcodec.encode(four, 0, depth=12))
    np.testing.assert_array_equal(found.samples, four)
    assert found.depth == 12
    with pytest.raises(PictureError, match=r"^x: "):
        pictures.from_bytes(mmpcodec.encode(GRAY, 0)[:30], "x")


@every_pair(planes=[1, 2, 3, 4], depth=[1, 5, 8, 9, 16], shape=SHAPES)
def test_parts_of_every_form_and_depth(tmp_path, planes, depth, shape):
    samples = samples_of(shape, planes, depth)
    (tmp_path / "a.mmp").write_bytes(tiled(samples, depth))
    with pictures.opened(tmp_path / "a.mmp") as reader:
        assert isinstance(reader, MmpReader)
        assert (reader.shape, reader.depth) == (samples.shape, depth)
        assert (reader.ndim, reader.dtype) == (samples.ndim, samples.dtype)
        for rows, columns in (EVERYTHING, (slice(60, 70), slice(120, 140)), (slice(1), slice(1))):
            if samples[rows, columns].size:
                np.testing.assert_array_equal(reader.read(rows, columns), samples[rows, columns])


def test_a_part_decodes_the_tiles_that_it_touches_once(path, decoded):
    with pictures.opened(path) as reader:
        assert (reader.metadata.white, reader.header.tile_size) == (200, 64)
        assert decoded == []
        reader.read(slice(60, 70), slice(130, 135))
        assert decoded == [2, 6]
        reader.read(slice(64, 70), slice(120, 135))
        assert decoded == [2, 6, 5]
    decoded.clear()
    with MmpReader(path, cache_bytes=0) as reader:
        for _ in range(2):
            reader.read(slice(1), slice(1))
    assert decoded == [0, 0]


def test_the_header_is_read_once(path, monkeypatch):
    with pictures.opened(path) as reader:
        monkeypatch.setattr(regions, "read_header", None)
        reader.read(*EVERYTHING)
        assert reader[0, 0].tolist() == WHOLE[0, 0].tolist()


def test_the_tiles_that_are_kept_have_a_bound(path, decoded):
    tile_bytes = 64 * 64 * 3
    with MmpReader(path, cache_bytes=2 * tile_bytes) as reader:
        for number in (0, 1, 0, 2, 0, 1):  # 2 replaces 1, which was used before 0
            reader.read(slice(9), slice(64 * number, 64 * number + 9))
    assert decoded == [0, 1, 2, 1]
    decoded.clear()
    with MmpReader(path, cache_bytes=1) as reader:  # the newest stays
        for number in (0, 0, 1, 0):
            reader.read(slice(9), slice(64 * number, 64 * number + 9))
    assert decoded == [0, 1, 0]


def test_what_is_read_is_the_callers_own(path):
    with pictures.opened(path) as reader:
        for part in (EVERYTHING, (slice(64), slice(64))):
            reader.read(*part)[:] = 0
        np.testing.assert_array_equal(reader.read(*EVERYTHING), WHOLE)


axis = st.integers(-200, 199) | st.slices(200)


@given(index=st.tuples(axis, axis, st.integers(-3, 2) | st.slices(3)), data=st.data())
def test_indices_are_those_of_arrays(index, data, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "indexed.mmp"
    if not path.exists():
        path.write_bytes(tiled(WHOLE))
    short = data.draw(st.integers(0, 3))
    index = index[:short] if short < 2 or data.draw(st.booleans()) else (*index[: short - 1], ...)
    place = data.draw(st.integers(0, len(index)))
    index = (*index[:place], None, *index[place:]) if data.draw(st.booleans()) else index
    with pictures.opened(path) as reader:
        try:
            expected = WHOLE[index]
        except IndexError:
            with pytest.raises(IndexError):
                reader[index]
            return
        found = reader[index]
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype


@pytest.mark.parametrize("index", [True, [1, 2], np.array([1]), 1.5, "a", (0, 0, 0, 0), (..., ...)])
def test_other_indices_are_refused(path, index):
    with pictures.opened(path) as reader, pytest.raises(IndexError):
        reader[index]


def test_a_damaged_tile_is_named_and_others_are_read(path):
    path.write_bytes(damaged(path.read_bytes(), 6))
    with pictures.opened(path) as reader:
        says = rf"^{path}: .* tile 6, 64x64 at \(128, 64\): .*CRC"
        for part in ((slice(60, 70), slice(130, 135)), EVERYTHING):
            with pytest.raises(PictureError, match=says):
                reader.read(*part)
        np.testing.assert_array_equal(reader.read(slice(64), slice(200)), WHOLE[:64])


def test_a_tile_that_does_not_decode_to_its_samples_is_named(path):
    path.write_bytes(with_wrong_samples(path.read_bytes(), 6))
    with pictures.opened(path) as reader:
        for _ in range(2):  # it is not kept
            with pytest.raises(PictureError, match=r"tile 6, 64x64 at \(128, 64\): samples CRC"):
                reader.read(*EVERYTHING)
        np.testing.assert_array_equal(reader.read(slice(64), slice(200)), WHOLE[:64])


def test_an_error_is_not_its_own_cause(tmp_path):
    (tmp_path / "one.mmp").write_bytes(tiled(WHOLE[:9, :9])[:-1])
    says = pytest.raises(PictureError, match=r"one\.mmp: .* file has \d+ of")
    with pictures.opened(tmp_path / "one.mmp") as reader, says as caught:
        reader.read(*EVERYTHING)
    assert caught.value.__cause__.__cause__ is None


def test_a_truncated_file_gives_what_it_has(path):
    data = path.read_bytes()
    end = mmpcodec.inspect(data).header.tile_offsets[-1]
    path.write_bytes(data[: end - 1])
    with pictures.opened(path) as reader:
        np.testing.assert_array_equal(reader.read(slice(130), slice(192)), WHOLE[:, :192])
        says = rf"tile 11, 8x2 at \(192, 128\): file has {end - 1} of {end} bytes"
        with pytest.raises(PictureError, match=says):
            reader.read(*EVERYTHING)
    path.write_bytes(data[:100])
    with pictures.opened(path) as reader, pytest.raises(PictureError, match="file has 100 of"):
        reader.read(slice(128, 130), slice(1))
    for size, says in ((0, "is empty|not a picture"), (20, "Container")):
        path.write_bytes(data[:size])
        with pytest.raises(PictureError, match=says):
            pictures.opened(path)


def test_a_file_replaced_while_it_is_open_is_read_as_it_was(path, tmp_path):
    (tmp_path / "new").write_bytes(tiled(255 - WHOLE))
    with pictures.opened(path) as reader:
        reader.read(slice(1), slice(1))
        os.replace(tmp_path / "new", path)
        np.testing.assert_array_equal(reader.read(*EVERYTHING), WHOLE)
        again = pickle.loads(pickle.dumps(reader))
    with again, pytest.raises(PictureError, match=f"^{path}: has changed since it was opened"):
        again.read(slice(1), slice(1))


@pytest.mark.parametrize("keep_open", [True, False])
def test_a_file_changed_in_place_is_refused(path, keep_open):
    with MmpReader(path, keep_open=keep_open, cache_bytes=0) as reader:
        reader.read(*EVERYTHING)
        data = path.read_bytes()
        path.write_bytes(data)  # of equal size, so that only the time tells
        os.utime(path, ns=(1, 1))
        with pytest.raises(PictureError, match="has changed since it was opened; open it again"):
            reader.read(slice(1), slice(1))
        path.write_bytes(data[:100])
        with pytest.raises(PictureError, match="has changed since it was opened; open it again"):
            reader.read(slice(1), slice(1))


def test_a_deleted_file(path):
    with pictures.opened(path) as reader, MmpReader(path, keep_open=False) as other:
        path.unlink()
        np.testing.assert_array_equal(reader.read(*EVERYTHING), WHOLE)
        again = pickle.loads(pickle.dumps(reader))
        for one in (again, other):
            with pytest.raises(PictureError, match=f"^{path}: No such file") as caught:
                one.read(*EVERYTHING)
            assert isinstance(caught.value, FileNotFoundError)
    with pytest.raises(FileNotFoundError, match="No such file"):
        MmpReader(path)


def test_a_reader_that_does_not_keep_its_file_open_has_no_file(path):
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    readers = [MmpReader(path, keep_open=False) for _ in range(20)]
    if before:
        assert len(os.listdir("/proc/self/fd")) == before
    np.testing.assert_array_equal(readers[-1].read(*EVERYTHING), WHOLE)


def test_a_pickled_reader_is_small_and_opens_the_file_when_it_is_used(path, monkeypatch):
    with MmpReader(path, limits=DecodeLimits(4 * 64 * 64 * 3), threads=1) as reader:
        data = pickle.dumps(reader)
        assert reader.header.tile_bytes
    assert b"Header" not in data
    monkeypatch.chdir("/")
    again = pickle.loads(data)
    with again:
        assert again._regions is None
        assert again.shape == WHOLE.shape
        np.testing.assert_array_equal(again[5:70, 3:9], WHOLE[5:70, 3:9])
        with pytest.raises(PictureError, match="the limit is 49152; max_samples"):
            again.read(*EVERYTHING)


def test_a_relative_path_is_found_from_another_folder(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    with pictures.opened("tiled.mmp") as reader:
        data = pickle.dumps(reader)
    monkeypatch.chdir("/")
    with pickle.loads(data) as again:
        np.testing.assert_array_equal(again.read(*EVERYTHING), WHOLE)


def test_a_closed_reader_says_so(path):
    reader = pictures.opened(path)
    reader.read(*EVERYTHING)
    reader.close()
    reader.close()
    assert reader.shape == WHOLE.shape
    for read in (lambda: reader.read(*EVERYTHING), lambda: reader[0, 0]):
        with pytest.raises(PictureError, match=f"^{path}: is closed; open it again"):
            read()


def test_closing_while_another_thread_reads(path, monkeypatch):
    reader = pictures.opened(path)
    real = regions.RegionDecoder._read

    def closing(self, tiles):
        reader.close()
        return real(self, tiles)

    monkeypatch.setattr(regions.RegionDecoder, "_read", closing)
    with pytest.raises(PictureError, match="is closed; open it again"):
        reader.read(*EVERYTHING)


@pytest.mark.parametrize("options", [{}, {"keep_open": False}, {"cache_bytes": 64 * 64 * 3}])
def test_threads_read_at_once(path, options):
    parts = [
        (slice(y, y + 40), slice(x, x + 50)) for y in range(0, 100, 18) for x in range(0, 200, 21)
    ]
    wrong = []
    with MmpReader(path, threads=1, **options) as reader:

        def work(first):
            for rows, columns in parts[first::4]:
                if not np.array_equal(reader.read(rows, columns), WHOLE[rows, columns]):
                    wrong.append((rows, columns))

        workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert wrong == []


def test_a_part_of_a_picture_beyond_the_limits(tmp_path, decoded):
    data, tile = large()
    (tmp_path / "large.mmp").write_bytes(data)
    with pictures.opened(tmp_path / "large.mmp") as reader:
        assert reader.shape == (20000, 20000)
        assert 20000 * 20000 > 1 << 28 > DecodeLimits().max_samples
        found = reader.read(slice(12345, 12400), slice(19990, 20000))
        np.testing.assert_array_equal(found, tile[345:400, 990:])
        assert decoded == [12 * 20 + 19]
        with pytest.raises(PictureError, match=r"large\.mmp: .*20000x20000: \d+ samples in whole"):
            reader.read(*EVERYTHING)


@pytest.mark.parametrize("limits", [{"max_samples": 4095}, {"max_seconds": 1e-9}])
def test_limits_hold_whether_tiles_are_kept_or_not(path, limits):
    gray = np.zeros((64, 128), np.uint8)
    path.write_bytes(tiled(gray))
    with MmpReader(path, limits=DecodeLimits(**limits)) as reader:
        for _ in range(2):
            with pytest.raises(PictureError, match="the limit is"):
                reader.read(slice(1), slice(1))


def test_memory_has_a_limit(path):
    says = r"decoding can take \d+ bytes of memory, the limit is 1000"
    limits = DecodeLimits(max_memory=1000)
    with MmpReader(path, limits=limits) as reader, pytest.raises(PictureError, match=says):
        reader.read(slice(1), slice(1))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"limits": 5}, "limits = 5: must be DecodeLimits or None"),
        ({"cache_bytes": -1}, "cache_bytes = -1: must be from 0"),
        ({"threads": 0}, "threads = 0"),
        ({"backend": "fast"}, "backend"),
    ],
)
def test_wrong_options_are_named(path, options, says):
    with pytest.raises(ParameterError, match=says):
        MmpReader(path, **options)


def test_the_reference_backend_reads_the_same(tmp_path):
    samples = np.arange(9 * 70).reshape(9, 70).astype(np.uint8)
    (tmp_path / "a.mmp").write_bytes(tiled(samples, preset="plain"))
    with MmpReader(tmp_path / "a.mmp", backend="reference") as reader:
        np.testing.assert_array_equal(reader[3:7, 60:70], samples[3:7, 60:70])


@pytest.fixture
def url(request):
    """The URL of a file in memory."""
    fsspec = pytest.importorskip("fsspec", reason="needs fsspec, of the extra cluster")
    url = f"memory://{request.node.name}/tiled.mmp"
    with stores.written_whole(url) as stream:
        stream.write(tiled(WHOLE))
    yield url
    fsspec.filesystem("memory").store.clear()


def test_a_url_is_read_by_tiles(url, monkeypatch):
    sizes = []
    real = stores.UrlBytes.__getitem__

    def counted(self, part):
        found = real(self, part)
        sizes.append(len(found))
        return found

    with pictures.opened(url) as reader:
        monkeypatch.setattr(stores.UrlBytes, "__getitem__", counted)
        np.testing.assert_array_equal(reader[70, 80], WHOLE[70, 80])
        assert sizes == [reader.header.tile_bytes[5]]
        sizes.clear()
        np.testing.assert_array_equal(reader[60:70, 90:], WHOLE[60:70, 90:])
        rows = reader.header.tile_bytes[1:4], reader.header.tile_bytes[6:8]
        assert sizes == [*map(sum, rows)]  # a request for a row of tiles; 5 is kept
        again = pickle.loads(pickle.dumps(reader))
    np.testing.assert_array_equal(again.read(*EVERYTHING), WHOLE)


def test_a_url_that_changed(url):
    with MmpReader(url, cache_bytes=0) as reader:
        with stores.written_whole(url) as stream:
            stream.write(tiled(WHOLE[:70]))
        with pytest.raises(PictureError, match=f"^{url}: has changed since it was opened"):
            reader.read(*EVERYTHING)
        again = pickle.loads(pickle.dumps(reader))
        with pytest.raises(PictureError, match=f"^{url}: has changed since it was opened"):
            again.read(*EVERYTHING)


def test_a_damaged_file_at_a_url(url):
    with stores.written_whole(url) as stream:
        stream.write(damaged(tiled(WHOLE), 1))
    with pictures.opened(url) as reader:
        with pytest.raises(PictureError, match=rf"^{url}: .* tile 1, "):
            reader.read(*EVERYTHING)
        np.testing.assert_array_equal(reader.read(slice(64), slice(64)), WHOLE[:64, :64])


def test_urls_of_other_files(url):
    other = url.replace(".mmp", ".npy")
    stream = io.BytesIO()
    np.save(stream, WHOLE)
    with stores.written_whole(other) as file:
        file.write(stream.getvalue())
    with pictures.opened(other) as reader:
        np.testing.assert_array_equal(reader.read(*EVERYTHING), WHOLE)
    missing = url + ".none"
    for open_it in (pictures.opened, MmpReader):
        with pytest.raises(FileNotFoundError, match=f"^{missing}: No such file"):
            open_it(missing)
    with pytest.raises(mmpcodec.MmpError, match=r"^foo://x: ValueError: Protocol not"):
        MmpReader("foo://x")


def test_a_url_of_this_machine_is_a_path(path):
    with pictures.opened(f"file://{path}") as reader:
        np.testing.assert_array_equal(reader.read(*EVERYTHING), WHOLE)


def test_a_file_is_encoded_again_in_other_tiles(path, decoded):
    params, file = EncodeParams.from_options(lam=0, preset="lossless"), io.BytesIO()
    with pictures.opened(path) as reader:
        encode_large(reader, file, params, tile_size=96)
    assert sorted(decoded) == list(range(12))  # each tile once, although new tiles share them
    np.testing.assert_array_equal(mmpcodec.decode(file.getvalue()), WHOLE)


@pytest.mark.parametrize("allow_partial", [False, True])
def test_files_written_in_parts_take_the_limits_of_the_caller(tmp_path, allow_partial):
    files = [mmpcodec.encode(np.full((20, 30), level, np.uint8), 0) for level in (1, 2, 3)]
    (tmp_path / "a.mmp").write_bytes(collection_of(files))
    few = DecodeLimits(max_pictures=2)
    with parts.bytes_of(str(tmp_path / "a.mmp")) as data:
        assert parts.header_of(data, DecodeLimits(), allow_partial, 3)[0].width == 30
        for find in (parts.header_of, parts.picture_in):
            with pytest.raises(LimitExceeded, match="max_pictures"):
                find(data, few, allow_partial, 3)
        header, _ = parts.header_of(data, DecodeLimits(), allow_partial, 3)
        with pytest.raises(LimitExceeded, match="max_pictures"):
            parts.halves_of(data, header, few, allow_partial)
