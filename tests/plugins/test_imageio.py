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


@EACH
def test_bytes_and_streams(samples):
    data = imageio.imwrite("<bytes>", samples, extension=".mmp", lam=0)
    assert data == mmpcodec.encode(samples, 0)
    assert np.array_equal(imageio.imread(data), samples)
    stream = io.BytesIO()
    imageio.imwrite(stream, samples, extension=".mmp", quality=80, preset="photo", effort=1)
    assert stream.getvalue() == mmpcodec.encode(samples, quality=80, preset="photo", effort=1)


def test_several_pictures_are_refused():
    with pytest.raises(mmpcodec.ParameterError, match="MMP holds one picture"):
        imageio.imwrite("<bytes>", np.stack([GRAY] * 2), extension=".mmp")


def test_pillow_plugin_does_not_import_imageio():
    program = "import sys, mmpcodec.plugins.pillow; sys.exit('imageio' in sys.modules)"
    assert subprocess.run([sys.executable, "-P", "-c", program], check=False).returncode == 0
