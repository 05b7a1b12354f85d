"""imageio's door, with the real imageio."""

import io
import subprocess
import sys

import numpy as np
import pytest
from support.strategies import natural

import mmpcodec

imageio = pytest.importorskip("imageio.v3")
pytest.importorskip("mmpcodec.plugins.imageio")

GRAY = natural(np.random.default_rng(0), 40, 52)
RGB = np.dstack([GRAY, GRAY // 2, 255 - GRAY])
DEEP = GRAY.astype(np.uint16) * 257
EACH = pytest.mark.parametrize(
    "samples",
    [GRAY, RGB, np.dstack([RGB, GRAY]), DEEP, GRAY > 99],
    ids=["L", "RGB", "RGBA", "I;16", "1"],
)


@EACH
def test_files(samples, tmp_path):
    path = tmp_path / "a.mmp"
    imageio.imwrite(path, samples, lam=0)
    assert path.read_bytes() == mmpcodec.encode(samples, 0)
    found = imageio.imread(path)
    assert found.dtype == samples.dtype
    assert np.array_equal(found, samples)
    assert imageio.improps(path).shape == samples.shape


def test_black_and_white_is_written_without_loss_by_default(tmp_path):
    path, bits = tmp_path / "page.mmp", GRAY > 99
    imageio.imwrite(path, bits, preset="text")
    assert path.read_bytes() == mmpcodec.encode(bits, 0, preset="text")
    found = imageio.imread(path)
    assert found.dtype == bool
    assert np.array_equal(found, bits)


@EACH
def test_bytes_and_streams(samples):
    data = imageio.imwrite("<bytes>", samples, extension=".mmp", lam=0)
    assert data == mmpcodec.encode(samples, 0)
    assert np.array_equal(imageio.imread(data), samples)
    stream = io.BytesIO()
    imageio.imwrite(stream, samples, extension=".mmp", quality=80, preset="photo", effort=1)
    assert stream.getvalue() == mmpcodec.encode(samples, quality=80, preset="photo", effort=1)


def test_several_pictures(tmp_path):
    stack = np.stack([GRAY, 255 - GRAY, GRAY // 2])
    path = tmp_path / "a.mmp"
    imageio.imwrite(path, stack, lam=0, duration=40, loop=2)
    np.testing.assert_array_equal(imageio.imread(path, index=...), stack)
    np.testing.assert_array_equal(imageio.imread(path, index=2), stack[2])
    np.testing.assert_array_equal(imageio.imread(path), stack[0])
    np.testing.assert_array_equal(np.stack(list(imageio.imiter(path))), stack)
    assert imageio.improps(path, index=...).n_images == 3
    assert imageio.immeta(path, index=1)["duration"] == 40
    data = path.read_bytes()
    np.testing.assert_array_equal(imageio.imread(data, index=..., extension=".mmp"), stack)


def test_volumes_and_lists_of_version_2(tmp_path):
    old = pytest.importorskip("imageio.v2")
    stack = np.stack([RGB, 255 - RGB])
    path = tmp_path / "a.mmp"
    old.mimwrite(path, list(stack), lam=0)
    np.testing.assert_array_equal(np.stack(old.mimread(path)), stack)
    np.testing.assert_array_equal(old.volread(path), stack)
    with old.get_reader(path) as reader:
        assert reader.get_length() == 2
        np.testing.assert_array_equal(reader.get_data(1), stack[1])
    old.volwrite(path, stack[..., 0], lam=0)
    np.testing.assert_array_equal(old.volread(path), stack[..., 0])


def test_pillow_plugin_does_not_import_imageio():
    program = "import sys, mmpcodec.plugins.pillow; sys.exit('imageio' in sys.modules)"
    assert subprocess.run([sys.executable, "-P", "-c", program], check=False).returncode == 0
