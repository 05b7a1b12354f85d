"""NPY files."""

import io

import numpy as np
import pytest
from support.picture_files import COLOUR, DEEP, GRAY

from mmpcodec import PictureError, pictures


def npy_of(array, **options):
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("array", "depth"),
    [
        (GRAY, 8),
        (GRAY > 99, 1),
        (DEEP, 16),
        (DEEP.astype(">u2"), 16),
        (np.asfortranarray(COLOUR), 8),
        (DEEP[:, ::2, None] * np.ones(4, np.uint16), 16),
    ],
)
def test_npy(array, depth):
    found = pictures.from_bytes(npy_of(array))
    np.testing.assert_array_equal(found.samples, array)
    assert (found.depth, found.samples.flags.c_contiguous) == (depth, True)
    assert found.samples.dtype == (np.uint16 if depth == 16 else np.uint8)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", ["u1", "<u2", ">u2", "?"])
def test_one_plane_may_have_an_axis(order, kind, tmp_path):
    samples = np.asarray(DEEP[..., None] if kind != "u1" else GRAY[..., None], kind, order=order)
    data = npy_of(samples)
    np.testing.assert_array_equal(pictures.from_bytes(data).samples, samples[..., 0])
    path = tmp_path / "a.npy"
    path.write_bytes(data)
    with pictures.opened(path) as reader:
        assert reader.shape == (6, 9)
        part = reader.read(slice(1, 3), slice(2, 7))
    np.testing.assert_array_equal(part, samples[1:3, 2:7, 0])


def bad_bool():
    data = bytearray(npy_of(GRAY > 99))
    data[-1] = 2
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (npy_of(GRAY.astype(float)), "holds an array of shape .* and type float64; supported are"),
        (npy_of(GRAY.astype(np.int16)), "type int16; supported are"),
        (npy_of(GRAY.ravel()), r"shape \(54,\) and type uint8"),
        (npy_of(np.zeros((16, 20, 30), np.uint8)), "holds 16 pages; --page N, or page=N"),
        (npy_of(np.zeros((2, 16, 20, 30), np.uint8)), r"shape \(2, 16, 20, 30\) .*; supported are"),
        (npy_of(COLOUR.astype(float)), r"shape \(6, 9, 3\) and type float64; supported are"),
        (npy_of(GRAY[:0]), "is 9x0, a picture without pixels"),
        (npy_of(np.array([[{}]], object), allow_pickle=True), "type object; supported are"),
        (npy_of(GRAY)[:-1], "holds 181 bytes, 182 are needed"),
        (bad_bool(), "holds level 2, allowed is 0 to 1"),
        (npy_of(GRAY).replace(b"(6, 9)", b"(6, -9"), "is damaged or truncated"),
        (npy_of(GRAY)[:6] + b"\3" + npy_of(GRAY)[7:], "is damaged or truncated"),
    ],
)
def test_npy_refuses(data, says):
    with pytest.raises(PictureError, match=rf"^x: .*{says}"):
        pictures.from_bytes(data, "x")
