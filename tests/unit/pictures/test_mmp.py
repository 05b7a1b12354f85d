"""mmp files as pictures."""

import numpy as np
import pytest
from support.picture_files import DEEP, GRAY

import mmpcodec
from mmpcodec import PictureError, pictures


def test_mmp_files_keep_depth_and_alpha():
    four = np.dstack([DEEP >> 4] * 4)
    found = pictures.from_bytes(mmpcodec.encode(four, 0, depth=12))
    np.testing.assert_array_equal(found.samples, four)
    assert found.depth == 12
    with pytest.raises(PictureError, match=r"^x: "):
        pictures.from_bytes(mmpcodec.encode(GRAY, 0)[:30], "x")
