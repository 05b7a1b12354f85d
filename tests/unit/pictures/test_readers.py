"""Parts of picture files, and the memory that they take."""

import io
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
import tifffile
from hypothesis import given
from hypothesis import strategies as st
from support.picture_files import FILES, tiff_of

from mmpcodec import DecodeLimits, ParameterError, PictureError, pictures
from mmpcodec.metadata import Metadata
from mmpcodec.pictures import Picture

RNG = np.random.default_rng(8)
DEEP = RNG.integers(0, 65536, (70, 83), np.uint16)
COLOUR = RNG.integers(0, 256, (70, 83, 3), np.uint8)
PLANES = np.ascontiguousarray(np.moveaxis(COLOUR, 2, 0))
RGB = {"photometric": "rgb"}
TILED = {"compression": "deflate", "tile": (16, 32)}


def npy_of(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


KINDS = {
    "npy": npy_of(DEEP),
    "npy by columns": npy_of(np.asfortranarray(COLOUR)),
    "npy of bool": npy_of(DEEP > 999),
    "pgm": pictures.to_bytes(Picture(DEEP >> 4, 12), "pgm"),
    "ppm": pictures.to_bytes(COLOUR, "ppm"),
    "pam": pictures.to_bytes(np.dstack([DEEP, DEEP]), "pam"),
    "tiff": tiff_of(DEEP, byteorder=">", photometric="miniswhite"),
    "tiff 12 of 16": pictures.to_bytes(Picture(DEEP >> 4, 12, Metadata(icc=b"p")), "tif"),
    "tiff strips": tiff_of(COLOUR, compression="lzw", rowsperstrip=7, **RGB),
    "tiff tiles": tiff_of(COLOUR, **TILED, **RGB),
    "tiff planes": tiff_of(PLANES, planarconfig="separate", **TILED, **RGB),
    "tiff plain planes": tiff_of(PLANES, planarconfig="separate", **RGB),
    "tiff packed": tiff_of(DEEP >> 4, bitspersample=12, rowsperstrip=7),
    "png": FILES["png"],
    "pgm plain": FILES["pgm plain"],
    "mmp": FILES["mmp"],
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    for kind, data in KINDS.items():
        (folder / kind).write_bytes(data)
    return folder


@pytest.mark.parametrize("kind", KINDS)
def test_parts_are_those_of_the_whole(kind, folder):
    whole = pictures.read(folder / kind)
    with pictures.opened(folder / kind) as reader:
        assert (reader.shape, reader.depth) == (whole.samples.shape, whole.depth)
        assert reader.metadata == whole.metadata
        everything = reader.read(slice(None), slice(None))
        np.testing.assert_array_equal(everything, whole.samples)
        assert everything.dtype == whole.samples.dtype
        everything[:] = 0  # it is the caller's
        for rows, columns in (
            (slice(0, 1), slice(0, 1)),
            (slice(1, 5), slice(-2, None)),
            (slice(-3, 999), slice(2, 4)),
            (slice(3, 6), slice(None)),
        ):
            found = reader.read(rows, columns)
            np.testing.assert_array_equal(found, whole.samples[rows, columns])
            assert found.dtype == whole.samples.dtype


@given(data=st.data())
def test_any_part(data, folder):
    kind = data.draw(st.sampled_from(sorted(KINDS)))
    whole = pictures.read(folder / kind).samples
    with pictures.opened(folder / kind) as reader:
        for _ in range(4):
            height, width = whole.shape[:2]
            top, left = data.draw(st.integers(0, height - 1)), data.draw(st.integers(0, width - 1))
            rows = slice(top, data.draw(st.integers(top + 1, height)))
            columns = slice(left, data.draw(st.integers(left + 1, width)))
            np.testing.assert_array_equal(reader.read(rows, columns), whole[rows, columns])


@pytest.mark.parametrize("kind", KINDS)
def test_empty_parts_are_refused(kind, folder):
    with pictures.opened(folder / kind) as reader:
        for rows, columns in ((slice(2, 2), slice(1)), (slice(1), slice(999, None))):
            with pytest.raises(PictureError, match=r"rows \d+ to \d+ and columns .* hold no pixel"):
                reader.read(rows, columns)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_slice_is_named(kind, folder):
    with pictures.opened(folder / kind) as reader:
        for wrong in (3, None, slice("a"), slice(0, 9, 2)):
            with pytest.raises(ParameterError, match=r"rows = .*: must be a slice of integers"):
                reader.read(wrong, slice(None))
            with pytest.raises(ParameterError, match=r"columns = .*: must be a slice of integers"):
                reader.read(slice(None), wrong)


def test_limits_hold_for_each_part(folder):
    for kind in ("npy", "pgm", "tiff", "tiff strips", "tiff tiles"):
        with pictures.opened(folder / kind) as reader:
            samples = reader.read(slice(None), slice(20)).size
        with pictures.opened(folder / kind, limits=DecodeLimits(samples)) as reader:
            assert reader.read(slice(None), slice(20)).shape[:2] == (70, 20)
            says = f"is 21x70: {samples // 20 * 21} samples, the limit is {samples}; max_samples"
            with pytest.raises(PictureError, match=says):
                reader.read(slice(None), slice(21))
    with pytest.raises(PictureError, match="is 32x16: 1536 samples, the limit is 1535"):
        pictures.opened(folder / "tiff tiles", limits=DecodeLimits(1535))
    with pytest.raises(PictureError, match="is 9x6: 54 samples, the limit is 53"):
        pictures.opened(folder / "png", limits=DecodeLimits(53))


def test_damage_is_reported(folder, tmp_path):
    for kind in ("npy", "pgm", "tiff"):
        (tmp_path / kind).write_bytes(KINDS[kind][:-1])
        with pytest.raises(PictureError, match=rf"{kind}: is damaged .* bytes, \d+ are needed"):
            pictures.opened(tmp_path / kind)
    (tmp_path / "huge").write_bytes(b"P5 9999999999 9999999999 65535\n")
    with pytest.raises(PictureError, match=r"huge: is 9999999999x9999999999: .* the limit is"):
        pictures.opened(tmp_path / "huge")
    (tmp_path / "bright").write_bytes(b"P5 2 1 1000\n\0\0\4\0")
    with pictures.opened(tmp_path / "bright") as reader:
        assert reader.read(slice(1), slice(1)) == 0
        with pytest.raises(PictureError, match=r"bright: .* 1024, allowed is 0 to 1000"):
            reader.read(slice(1), slice(1, 2))
    with pytest.raises(PictureError, match=r"none: No such file"):
        pictures.opened(tmp_path / "none")


MEMORY = """
import resource, sys
from mmpcodec import pictures
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
with pictures.opened(sys.argv[1]) as reader:
    reader.read(slice(0, 64), slice(0, 64))
    before = peak()
    for row in range(0, 20000, 4000):
        found = reader.read(slice(row + 99, row + 355), slice(15000, 15256))
        print(int(found[1, 2]))
    print(peak() - before)
"""


def test_a_part_of_a_huge_sparse_file_takes_little_memory(tmp_path):
    side = 20000
    names = {"tif": tmp_path / "huge.tif", "npy": tmp_path / "huge.npy"}
    mapped = {
        "tif": tifffile.memmap(names["tif"], shape=(side, side), dtype=np.uint16, metadata=None),
        "npy": np.lib.format.open_memmap(names["npy"], "w+", np.uint16, (side, side)),
    }
    for kind, samples in mapped.items():
        for row in range(0, side, 4000):
            samples[row + 100, 15002] = row + 1
        samples.flush()
        assert (
            names[kind].stat().st_size > 2 * side * side > 1000 * 512 * names[kind].stat().st_blocks
        )
    del mapped, samples
    for path in names.values():
        done = subprocess.run(
            [sys.executable, "-P", "-c", MEMORY, path], capture_output=True, text=True, check=True
        )
        *values, kibibytes = map(int, done.stdout.split())
        assert values == [1, 4001, 8001, 12001, 16001]
        assert kibibytes < 20_000  # the whole takes 781 250


def test_compressed_tiles_take_the_memory_of_one_row(tmp_path):
    path = tmp_path / "tiles.tif"
    side, tile = 4096, 256
    rows = (np.full((tile, tile), number, np.uint8) for number in range((side // tile) ** 2))
    options = {"compression": "deflate", "tile": (tile, tile), "metadata": None}
    tifffile.imwrite(path, rows, shape=(side, side), dtype=np.uint8, **options)
    with pictures.opened(path) as reader:
        reader.read(slice(0, 9), slice(0, 9))
        tracemalloc.start()
        for top in range(0, side, 512):
            found = reader.read(slice(top + 250, top + 262), slice(250, 262))
            number = top // tile * (side // tile)
            below = number + side // tile
            np.testing.assert_array_equal(
                found[[0, 0, -1, -1], [0, -1, 0, -1]], [number, number + 1, below, below + 1]
            )
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 6 * tile * tile  # two tiles side by side, and the next ones being unpacked
