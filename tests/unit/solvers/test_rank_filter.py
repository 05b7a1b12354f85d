"""Rank filters: SciPy's results, brute force where pixels do not count, and what is refused."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy import ndimage
from support.pairs import every_pair

from mmpcodec import ParameterError
from mmpcodec.backends import status
from mmpcodec.errors import BackendUnavailable
from mmpcodec.solvers.rank_filter import (
    cpu,
    median_filter,
    percentile_filter,
    rank_filter,
    reference,
)
from mmpcodec.solvers.rank_filter.borders import MODES, places

BACKENDS = ["cpu", "reference", pytest.param("cuda", marks=pytest.mark.gpu)]
every_backend = pytest.mark.parametrize("backend", BACKENDS)
TYPES = [np.uint8, np.uint16, np.int16, np.float32, np.float64]
every_type = pytest.mark.parametrize("dtype", TYPES)


def noise(shape, dtype, seed=0):
    """All values of integers, and floats of both signs and many magnitudes, some of them equal."""
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        numbers = rng.normal(size=shape) * 10.0 ** rng.integers(-30, 30, shape)
        return np.where(rng.random(shape) < 0.2, dtype(1.5), numbers.astype(dtype))
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def shape_of(size, part=0.5):
    """A window of some cells."""
    cells = np.random.default_rng(sum(size)).random(size) < part
    cells[-1, 0] = True
    return cells


WINDOWS = [2, 3, 4, 5, 7, 9, (1, 3), (5, 1), (3, 13), (8, 6)]
WINDOWS += [shape_of(size) for size in ((1, 2), (3, 3), (4, 5), (9, 2), (24, 21))]


@every_backend
@every_pair(dtype=TYPES, mode=MODES, shape=[(1, 1), (1, 9), (7, 1), (2, 3), (40, 75)])
def test_results_are_those_of_scipy(backend, dtype, mode, shape):
    picture = noise(shape, dtype)
    for size in WINDOWS:
        is_shape = isinstance(size, np.ndarray)
        border = {"mode": mode, "cval": 7, "footprint" if is_shape else "size": size}
        area = size.sum() if is_shape else np.prod(np.broadcast_to(size, 2))
        for own, judge, first in (
            (median_filter, ndimage.median_filter, ()),
            (rank_filter, ndimage.rank_filter, (-2,)),
            (rank_filter, ndimage.rank_filter, (0,)),
            (rank_filter, ndimage.rank_filter, (int(area) - 1,)),
            (percentile_filter, ndimage.percentile_filter, (30,)),
            (percentile_filter, ndimage.percentile_filter, (100,)),
        ):
            if area + min([*first, 0]) < 0:
                continue
            found = own(picture, *first, **border, backend=backend)
            assert found.dtype == dtype
            np.testing.assert_array_equal(found, judged(judge, picture, *first, **border))


PADDING = {"reflect": "symmetric", "mirror": "reflect", "nearest": "edge", "wrap": "wrap"}
"""Names of NumPy for the borders of SciPy."""


def judged(judge, picture, *first, mode, cval, **window):
    """Return what SciPy finds in a picture that is larger than its windows.

    With windows beyond the picture SciPy rarely returns values that the picture does not have.
    """
    cells = window["footprint"].shape if "footprint" in window else window["size"]
    beyond = [(side, side) for side in np.broadcast_to(cells, 2)]
    constant = {"constant_values": np.array(cval, picture.dtype)} if mode == "constant" else {}
    large = np.pad(picture, beyond, PADDING.get(mode, mode), **constant)
    (top, _), (left, _) = beyond
    height, width = picture.shape
    return judge(large, *first, mode=mode, cval=cval, **window)[top:, left:][:height, :width]


@every_type
@pytest.mark.parametrize("size", [3, 7, 15, (9, 255), (255, 5)])
def test_large_pictures_and_windows_agree(dtype, size):
    """Several tiles; windows beyond the picture; whole vectors and their rest."""
    picture = noise((150, 211) if size != 7 else (65, 600), dtype)
    if isinstance(size, tuple):
        picture = picture[:90, :70]
    expected = median_filter(picture, size, backend="reference")
    np.testing.assert_array_equal(median_filter(picture, size), expected)


@every_type
def test_the_largest_window(dtype):
    picture = noise((300, 280), dtype)
    found = median_filter(picture, 255, mode="wrap")
    for row, column in ((0, 0), (299, 279), (100, 270), (255, 3)):
        lines = [
            np.arange(at - 127, at + 128) % side
            for at, side in zip((row, column), picture.shape, strict=True)
        ]
        assert found[row, column] == np.median(picture[np.ix_(*lines)])


@every_type
def test_pictures_of_few_levels(dtype):
    """Equal values are many, and of the 256 bins most are empty or full of one value."""
    rng = np.random.default_rng(4)
    for picture in (np.zeros((90, 80)), rng.integers(0, 2, (90, 80)), np.indices((90, 80))[1] // 9):
        levels = (picture * 100).astype(dtype)
        for size in (9, 31):
            expected = ndimage.percentile_filter(levels, 40, size)
            np.testing.assert_array_equal(percentile_filter(levels, 40, size), expected)


@every_type
@pytest.mark.parametrize("size", [(200, 5), (33, 140), (40, 40)])
def test_large_shapes_agree(dtype, size):
    """Sets of bits, in several tiles."""
    picture = noise((70, 90) if size[1] < 100 else (20, 300), dtype)
    for cells in (shape_of(size), np.tri(*size)):
        assert np.count_nonzero(cells) > cpu.SHAPE_CELLS[1]
        expected = percentile_filter(picture, 40, footprint=cells, backend="reference")
        found = percentile_filter(picture, 40, footprint=cells)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("window", [(1, 2), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6), (7, 7), (2, 7)])
def test_every_rank_of_small_windows(window):
    """Pictures of two values with about as many of either as decides whether a rank is right."""
    rng = np.random.default_rng(7)
    area = window[0] * window[1]
    border = places("nearest", 40, window[0]), places("nearest", 90, window[1])
    for rank in range(area):
        for cells in (None, shape_of(window, 0.7)):
            nth = rank if cells is None else min(rank, cells.sum() - 1)
            count = area if cells is None else cells.sum()
            picture = (rng.random((40, 90)) > (nth + 0.5) / count).astype(np.uint8)
            expected = reference.ranked(picture, border, window, nth, cells)
            found = cpu.ranked(picture, border, window, nth, cells)
            np.testing.assert_array_equal(found, expected)


@every_type
@pytest.mark.parametrize("columns", [63, 256, 257, 258, 513, 1025, 2049, 2050])
def test_widths_around_strips(columns, dtype):
    picture = noise((6, columns), dtype)
    for size in (3, 5, 7, (2, 8)):
        for mode in ("wrap", "reflect"):
            expected = ndimage.median_filter(picture, size, mode=mode)
            np.testing.assert_array_equal(median_filter(picture, size, mode=mode), expected)
            expected = ndimage.maximum_filter(picture, size, mode=mode)
            np.testing.assert_array_equal(rank_filter(picture, -1, size, mode=mode), expected)


def brute_force(picture, counts, cells, rank_of):
    """By the definition, with a reflecting border."""
    padding = [(side // 2, side - side // 2 - 1) for side in cells.shape]
    samples, valid = (np.pad(plane, padding, "symmetric") for plane in (picture, counts))
    out = picture.copy()
    for row, column in np.ndindex(picture.shape):
        place = slice(row, row + cells.shape[0]), slice(column, column + cells.shape[1])
        values = np.sort(samples[place][valid[place] & cells])
        if len(values):
            out[row, column] = values[rank_of(len(values))]
    return out


sides = st.integers(1, 7)
shapes = st.tuples(sides, sides).filter(lambda sides: sides != (1, 1))
windows = shapes.map(lambda sides: np.ones(sides, bool)) | shapes.flatmap(
    lambda sides: arrays(bool, sides).filter(np.any)
)


@every_backend
@given(data=st.data(), cells=windows)
def test_pixels_that_do_not_count(backend, data, cells):
    dtype = data.draw(st.sampled_from(TYPES))
    shape = data.draw(array_shapes(min_dims=2, max_dims=2, max_side=9))
    values = st.sampled_from([0, 1, 2, 200, 255]) | st.integers(0, 255)
    if np.dtype(dtype).kind == "f":
        values = st.sampled_from([np.nan, 1, -1, np.inf, -np.inf]) | st.floats(width=32)
        values = values.map(lambda value: value or 0.0)
    picture = data.draw(arrays(dtype, shape, elements=values))
    mask = data.draw(arrays(np.int8, shape, elements=st.integers(0, 1)) | st.none())
    counts = ~np.isnan(picture) & (True if mask is None else mask != 0)
    area = int(cells.sum())
    rank = data.draw(st.integers(-area, area - 1))
    percentile = data.draw(st.floats(0, 100))
    window = {"size": cells.shape} if cells.all() and cells.size > 1 else {"footprint": cells}
    for own, first, rank_of in (
        (median_filter, (), lambda n: n // 2 if n == area else (n - 1) // 2),
        (rank_filter, (rank,), lambda n: min(rank, n - 1) if rank >= 0 else max(rank, -n)),
        (percentile_filter, (percentile,), lambda n: min(int(n * percentile / 100), n - 1)),
    ):
        found = own(picture, *first, **window, mask=mask, backend=backend)
        np.testing.assert_array_equal(found, brute_force(picture, counts, cells, rank_of))


@every_type
@pytest.mark.parametrize("part", [0.01, 0.5, 0.99])
def test_masks_over_several_tiles_agree(dtype, part):
    rng = np.random.default_rng(5)
    picture = noise((140, 150), dtype)
    mask = rng.random(picture.shape) < part
    mask[:60, :70] = False
    for size, mode in ((3, "reflect"), (17, "constant"), ((5, 41), "wrap")):
        expected = median_filter(picture, size, mask=mask, mode=mode, backend="reference")
        found = median_filter(picture, size, mask=mask, mode=mode)
        np.testing.assert_array_equal(found, expected)
    assert (median_filter(picture, 3, mask=mask)[:59, :69] == picture[:59, :69]).all()
    cells = shape_of((9, 12))
    expected = median_filter(picture, footprint=cells, mask=mask, backend="reference")
    np.testing.assert_array_equal(median_filter(picture, footprint=cells, mask=mask), expected)


@every_type
def test_operations_agree_where_windows_are_empty(dtype):
    """What a window without pixels gives is stated, though the filters do not show it."""
    samples = noise((30, 40), dtype)
    valid = np.zeros(samples.shape, bool)
    valid[::9, ::11] = True
    border = places("nearest", 30, 5), places("nearest", 40, 3)
    ranks = (np.arange(16) // 2).astype(np.int32)
    operations = [reference.ranked_of_valid, cpu.ranked_of_valid]
    for cells in (None, np.ones((5, 3), bool)):
        judged, found = (work(samples, valid, border, (5, 3), ranks, cells) for work in operations)
        assert 0 < judged[1].sum() < samples.size
        assert not judged[0][~judged[1]].any()
        for expected, plane in zip(judged, found, strict=True):
            np.testing.assert_array_equal(plane, expected)


def test_what_counts_beyond_the_border():
    """A constant border counts, whatever the mask; copies of pixels count as the pixels do."""
    picture = np.full((1, 2), 9, np.uint8)
    nothing = np.zeros((1, 2))
    beyond = median_filter(picture, 3, mask=nothing, mode="constant", cval=4)
    assert beyond.tolist() == [[4, 4]]
    left = rank_filter(np.uint8([[1, 2, 3]]), 0, (1, 3), mask=[[0, 1, 1]], mode="nearest")
    assert left.tolist() == [[2, 2, 2]]


@every_backend
def test_nan_and_infinities(backend):
    nan = np.float32([[np.nan, np.nan, np.nan, 5]])
    found = median_filter(nan, (1, 3), backend=backend)
    np.testing.assert_array_equal(found, np.float32([[np.nan, np.nan, 5, 5]]))
    zeros = np.zeros((1, 3), np.float32)
    assert (rank_filter(zeros, 0, (1, 3), mode="constant", cval=-np.inf)[0, 0]) == -np.inf


@every_backend
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("window", [{"size": 3}, {"size": 5}, {"size": 4}, {"size": 15}])
def test_signed_zeros_have_an_order(backend, dtype, window):
    """-0.0 comes before 0.0 also where samples are compared by value."""
    rng = np.random.default_rng(3)
    values = np.array([-1, -0.0, 0.0, 1], dtype)
    picture = rng.choice(values, (70, 150), p=[0.1, 0.4, 0.4, 0.1])
    keys = np.searchsorted([-1, 0, 1], picture) * 2 + ~np.signbit(picture)
    for own, first in ((median_filter, ()), (rank_filter, (0,)), (rank_filter, (7,))):
        found = own(picture, *first, **window, backend=backend)
        expected = own(keys.astype(np.uint8), *first, **window, backend="reference")
        found_keys = np.searchsorted([-1, 0, 1], found) * 2 + ~np.signbit(found)
        np.testing.assert_array_equal(found_keys, expected)


@pytest.mark.parametrize("size", [2, 3, 5, (9, 8), 15])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nan_is_seen_wherever_it_lies(size, dtype):
    """Each place of the picture, and each vector, looks for NaN once at least."""
    picture = noise((41, 70), dtype)
    for place in [(0, 0), (40, 69), (0, 69), (40, 0), (20, 33), (39, 64), (17, 1)]:
        with_nan = picture.copy()
        with_nan[place] = -np.nan
        for own, first in ((median_filter, ()), (rank_filter, (-1,))):
            expected = own(with_nan, *first, size, backend="reference", mode="constant")
            found = own(with_nan, *first, size, mode="constant")
            np.testing.assert_array_equal(found, expected)


def test_results_do_not_depend_on_threads(monkeypatch):
    """Every way of the cpu backend."""
    picture = noise((200, 300), np.uint16)
    for first, window in (
        ((-1,), {"size": 3}),
        ((-1,), {"size": 31}),
        ((12,), {"size": 5}),
        ((9,), {"size": 6}),
        ((112,), {"size": 15}),
        ((3,), {"footprint": shape_of((4, 5))}),
        ((300,), {"footprint": shape_of((30, 30))}),
    ):
        expected = rank_filter(picture[:90], *first, **window, backend="reference")
        for threads in (1, 2, 3, 40):
            monkeypatch.setattr(cpu, "processors", lambda threads=threads: threads)
            monkeypatch.setattr(cpu, "THREAD_BYTES", 1)
            found = rank_filter(picture[:90], *first, **window)
            np.testing.assert_array_equal(found, expected)


def test_other_layouts_of_memory():
    picture = noise((30, 40), np.uint16)
    expected = median_filter(picture, 5)
    for other in (np.asfortranarray(picture), picture.astype(">u2"), picture.tolist()):
        if isinstance(other, list):
            other = np.array(other, np.uint16)
        np.testing.assert_array_equal(median_filter(other, 5), expected)
    twice = np.repeat(picture, 2, axis=1)[:, ::2]
    np.testing.assert_array_equal(median_filter(twice, 5, mask=twice >= 0), expected)
    picture.flags.writeable = False
    np.testing.assert_array_equal(median_filter(picture, 5), expected)


PICTURE = np.zeros((4, 5), np.uint8)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: median_filter(np.zeros((2, 2, 2)), 3), r"shape \(2, 2, 2\): must have 2 dim"),
        (lambda: median_filter(np.zeros((0, 4), np.uint8), 3), r"shape \(0, 4\): must not be emp"),
        (lambda: median_filter([[1, 2], [3]], 3), "picture: "),
        (lambda: median_filter([[1, 2]], 3), "type int64: must be one of uint8, uint16, int16, f"),
        (lambda: median_filter(PICTURE, 0), "size = 0: sides must be from 1 to 255"),
        (lambda: median_filter(PICTURE, 256), "size = 256: sides must be from 1 to 255"),
        (lambda: median_filter(PICTURE, (3, -1)), r"size = \(3, -1\): sides must be from 1"),
        (lambda: median_filter(PICTURE), "size, footprint: neither given; must be one of them"),
        (lambda: median_filter(PICTURE, 3, footprint=[[1]]), "size, footprint: both given"),
        (lambda: median_filter(PICTURE, footprint=[1, 1]), r"footprint of shape \(2,\): must have"),
        (lambda: median_filter(PICTURE, footprint=np.ones((1, 256))), "2 dimensions of 1 to 255"),
        (lambda: median_filter(PICTURE, footprint=np.zeros((2, 2))), "must have a nonzero cell"),
        (lambda: median_filter(np.int16(PICTURE), 3, cval=1 << 15), "integer from -32768 to 32767"),
        (lambda: median_filter(PICTURE, 1), "size = 1: a window of one pixel"),
        (lambda: median_filter(PICTURE, (3, 3, 3)), "must be one side, or height and width"),
        (lambda: median_filter(PICTURE, 3.0), "size = 3.0: must be an integer"),
        (lambda: median_filter(PICTURE, 3, mode="edge"), "mode = 'edge': must be one of reflect"),
        (lambda: median_filter(PICTURE, 3, cval=256), "cval = 256: must be an integer from 0 to"),
        (lambda: median_filter(PICTURE, 3, cval=1.5), "cval = 1.5: must be an integer"),
        (lambda: median_filter(PICTURE, 3, cval=np.nan), "cval = nan: must be an integer"),
        (lambda: median_filter(np.float32(PICTURE), 3, cval=np.nan), "cval = nan: must be a numb"),
        (lambda: median_filter(np.float32(PICTURE), 3, cval=1e39), "cval = 1e.39: must be a numb"),
        (lambda: median_filter(PICTURE, 3, cval="x"), "cval = 'x': must be an integer from 0"),
        (lambda: median_filter(PICTURE, 3, mask=[[1]]), r"mask of shape \(1, 1\): must be \(4, 5"),
        (lambda: median_filter(PICTURE, 3, backend="gpu"), "backend = 'gpu': must be one of auto"),
        (lambda: rank_filter(PICTURE, 9, 3), "rank = 9: must be from -9 to 8 for 9 pixels"),
        (lambda: rank_filter(PICTURE, -10, 3), "rank = -10: must be from -9 to 8"),
        (lambda: rank_filter(PICTURE, 1.0, 3), "rank = 1.0: must be an integer"),
        (lambda: percentile_filter(PICTURE, 101, 3), "percentile = 101: must be a number from 0"),
        (lambda: percentile_filter(PICTURE, np.nan, 3), "percentile = nan: must be a number"),
        (lambda: percentile_filter(PICTURE, None, 3), "percentile = None: must be a number"),
    ],
)
def test_bad_input_is_named(call, says):
    with pytest.raises(ParameterError, match=says):
        call()


@pytest.mark.skipif(status()["cuda"] is None, reason="there is a device")
def test_without_a_device():
    with pytest.raises(BackendUnavailable, match="backend cuda cannot run here: "):
        median_filter(PICTURE, 3, backend="cuda")


SHORT_OF_MEMORY = """
import resource, sys
import numpy as np
from mmpcodec.solvers.rank_filter import median_filter
picture = np.random.default_rng(0).integers(0, 65536, (2048, 2048), np.uint16)
median_filter(picture[:40, :40], 15)
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + (int(sys.argv[1]) << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    median_filter(picture, 255)
except MemoryError:
    print("MemoryError")
"""


def test_too_little_memory_is_an_error_of_the_call():
    """Also where a worker thread finds out; the process goes on."""
    said = []
    for mebibytes in (1, 3, 5, 7, 9):
        command = [sys.executable, "-P", "-c", SHORT_OF_MEMORY, str(mebibytes)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        # The C library gives up by itself where not even a thread's own data fit.
        if "thread-local" not in done.stderr:
            assert done.returncode == 0, done.stderr
        said.append(done.stdout.strip())
    assert "MemoryError" in said
