"""Progress goes from none to all fragments, while encoding and while decoding."""

import numpy as np
import pytest

import mmpcodec
from mmpcodec import backends


@pytest.mark.parametrize("name", [name for name, why in backends.status().items() if why is None])
def test_progress_reaches_the_end(name):
    reported: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> bool:
        reported.append((done, total))
        return True

    picture = np.zeros((40, 24), np.uint8)
    data = mmpcodec.encode(picture, backend=name, progress=progress)
    assert reported == [(0, 6), (2, 6), (4, 6), (6, 6)]
    reported.clear()
    mmpcodec.decode(data, backend=name, progress=progress)
    assert reported == [(0, 6), (2, 6), (4, 6), (6, 6)]
