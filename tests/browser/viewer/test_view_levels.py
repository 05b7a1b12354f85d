"""Levels in the viewer: a far view is drawn from them, a near one from the picture."""

import io

import numpy as np
import pytest
from support.web.decoder import until, until_drawn
from support.web.pages import middle

import mmpcodec
from mmpcodec.format.collection import Role
from mmpcodec.format.collection_writer import CollectionWriter
from mmpcodec.opening.contents import contents_of

pytestmark = pytest.mark.browser

SIDE = 4096
DESK = {"viewport": {"width": 1000, "height": 900}}


def marked(depth=8, broken=False):
    """A picture of noise-like squares that is 30, with levels of 60, 90, 120 and 150."""
    scale = 1 << (depth - 8 if depth > 8 else 0)
    kind = np.uint8 if depth <= 8 else np.uint16
    how = {"effort": 1, "preset": "lossless"}
    picture = np.full((SIDE, SIDE), 30 if depth > 1 else 0, kind) * kind(scale)
    stream = io.BytesIO()
    writer = CollectionWriter(stream)
    writer.add(mmpcodec.encode(picture, 0, depth=depth, tile_size=512, **how))
    for k in range(1, 5):
        level = np.full((SIDE >> k, SIDE >> k), (30 + 30 * k) * scale, kind)
        own = max(8, depth)
        writer.add(mmpcodec.encode(level, 0, depth=own, tile_size=256, **how), Role.LEVEL, (0,))
    writer.close()
    data = bytearray(stream.getvalue())
    if broken:
        entry = contents_of(memoryview(data)).entries[2]
        data[entry.place + entry.size - 1] ^= 1
    return bytes(data)


def test_a_far_view_is_of_a_level(viewing, served, tmp_path):
    path = tmp_path / "a.mmp"
    path.write_bytes(marked())
    server = served(path)
    viewer = viewing(server.address, **DESK)
    assert (middle(viewer, 30) == 90).all()  # 1/4: a sample for each pixel, or more
    assert not [url for url in viewing.requests if url.endswith("files/0/1")]
    viewer.locator("#zoom-one").click()
    until(viewer, "document.getElementById('canvas').dataset.zoom === '1'")
    until_drawn(viewer)
    assert (middle(viewer, 30) == 30).all()
    viewer.keyboard.press("-")
    until(viewer, "Number(document.getElementById('canvas').dataset.zoom) <= 0.5")
    until_drawn(viewer)
    assert (middle(viewer, 30) == 60).all()
    viewer.locator("#zoom-fit").click()
    until_drawn(viewer)
    assert (middle(viewer, 30) == 90).all()


def test_levels_of_two_levels_and_deep_ones(viewing, served, tmp_path):
    for depth, shown in ((1, 90), (12, None)):
        path = tmp_path / f"{depth}.mmp"
        path.write_bytes(marked(depth))
        viewer = viewing(served(path).address, **DESK)
        found = middle(viewer, 30)
        assert (found == found[0, 0]).all()
        if shown is not None:
            assert (found == shown).all()


def test_a_broken_level_is_named_and_the_page_stays(viewing, served, tmp_path):
    path = tmp_path / "a.mmp"
    path.write_bytes(marked(broken=True))
    viewer = viewing(served(path).address, **DESK)
    until(viewer, "document.getElementById('problem').textContent.includes('CorruptStream')")
    assert (middle(viewer, 30) == 150).all()  # the smallest level shows through
    viewer.locator("#zoom-one").click()
    until(viewer, "document.getElementById('canvas').dataset.zoom === '1'")
    until_drawn(viewer)
    assert (middle(viewer, 30) == 30).all()
