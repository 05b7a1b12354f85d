"""Large pictures in the viewer: only the tiles in view are fetched, and few are kept."""

import re
import threading
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from support.tiled import repeated
from support.web.decoder import HEADER, STANDIN, mmp_file, real_decoder, until, until_drawn

import mmpcodec
from mmpcodec import pictures
from mmpcodec.web.server import PageServer, ServedFile, _Handler

pytestmark = pytest.mark.browser

SIDE, TILE = 1 << 14, 512
ACROSS = SIDE // TILE
PHOTO = Path(__file__).parents[3] / "images" / "camera.pgm"
SIDE_28 = 256
"""Side of the tiles of a real file of 2^28 pixels, which are all the same."""
MOST_FETCHED = 2 << 20
"""Bytes that are fetched until something of such a file is seen."""


class Counting(PageServer):
    """A server that notes the ranges that are asked for."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.asked = []
        self.RequestHandlerClass = type("Noting", (_Handler,), {"_file": self.noted})

    @staticmethod
    def noted(handler, number):
        start, stop = map(int, re.findall(r"\d+", handler.headers["Range"]))
        handler.server.asked.append((start, stop + 1))
        _Handler._file(handler, number)


@contextmanager
def serving(path, decoder):
    """Serve a file, and note what is asked for."""
    server = Counting([ServedFile(str(path), "giant.mmp")], decoder=decoder)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def giant(tmp_path):
    """A picture of 2^28 pixels, black but for its middle, where tile k has the level k % 251."""
    path = tmp_path / "giant.mmp"
    facts = (
        f'{{"width": {SIDE}, "height": {SIDE}, "tileSize": {TILE}, "planes": 1, "depth": 8, '
        '"form": "gray"}'
    )
    with open(path, "wb") as stream:
        stream.write(facts.encode().ljust(HEADER - 1) + b"\n")
        stream.truncate(HEADER + SIDE * SIDE)
        for tile in range(ACROSS * ACROSS):
            if all(abs(each - ACROSS / 2) < 5 for each in divmod(tile, ACROSS)):
                stream.seek(HEADER + tile * TILE * TILE)
                stream.write(bytes([tile % 251]) * (TILE * TILE))
    with serving(path, STANDIN) as server:
        yield server


def tiles(server):
    """Numbers of the tiles that were fetched, in order."""
    return [(start - HEADER) // (TILE * TILE) for start, _ in server.asked if start >= HEADER]


def test_a_gigantic_picture_is_seen_at_once(viewing, giant):
    viewer = viewing(giant.address, wait=False, viewport={"width": 1000, "height": 900})
    until(viewer, "document.getElementById('progress').textContent.includes('overview')")
    until(viewer, "Number(document.getElementById('canvas').dataset.waiting) < 1000", 60)
    early = tiles(giant)
    middle = {(ACROSS // 2 - 1 + i) * ACROSS + ACROSS // 2 - 1 + j for i in (0, 1) for j in (0, 1)}
    assert set(early[:4]) == middle  # from the middle out
    assert len(set(early)) == len(early)
    viewer.locator("#zoom-one").click()
    until(
        viewer,
        "document.getElementById('canvas').dataset.zoom === '1' &&"
        "document.getElementById('canvas').dataset.waiting === '0'",
    )
    giant.asked.clear()
    box = viewer.locator("#canvas").bounding_box()
    viewer.mouse.move(box["x"] + 20, box["y"] + 20)
    viewer.mouse.down()
    viewer.mouse.move(box["x"] + 20 + 2 * TILE, box["y"] + 20, steps=4)
    viewer.mouse.up()
    viewer.wait_for_timeout(300)
    until_drawn(viewer)
    fetched = tiles(giant)
    rows = {number // ACROSS for number in fetched}
    assert 0 < len(fetched) <= 3 * 4  # three columns of tiles came into view, of at most 4 rows
    assert rows <= set(range(ACROSS // 2 - 2, ACROSS // 2 + 2))
    text = viewer.locator("#values").text_content()
    column, row, sample = map(int, re.findall(r"column (\d+), row (\d+) · (\d+)", text)[0])
    assert sample == (row // TILE * ACROSS + column // TILE) % 251


def test_the_first_view_of_2_to_the_28_pixels_needs_less_than_2_megabytes(viewing, tmp_path):
    photo = pictures.read(PHOTO).samples[:SIDE_28, :SIDE_28]
    one = mmpcodec.encode(photo, quality=85)
    path = tmp_path / "giant.mmp"
    path.write_bytes(repeated(one, SIDE))
    with serving(path, real_decoder()) as server:
        viewer = viewing(server.address, wait=False, viewport={"width": 1000, "height": 900})
        until(viewer, "document.getElementById('progress').textContent.match(/overview, [1-9]/)")
        first = sum(stop - start for start, stop in server.asked)
        viewer.locator("#zoom-one").click()
        until(viewer, "document.getElementById('canvas').dataset.zoom === '1'")
        server.asked.clear()
        until_drawn(viewer)
        detail = sum(stop - start for start, stop in server.asked)
        viewer.mouse.move(500, 500)
        text = viewer.locator("#values").text_content()
    assert first < MOST_FETCHED < path.stat().st_size // 4
    assert detail < MOST_FETCHED
    column, row, sample = map(int, re.findall(r"column (\d+), row (\d+) · (\d+)", text)[0])
    assert sample == mmpcodec.decode(one)[row % SIDE_28, column % SIDE_28]


def test_the_cache_is_limited_and_keeps_what_is_in_view(viewing, served, tmp_path):
    path = mmp_file(tmp_path / "a.mmp", np.zeros((9, 9), np.uint8))
    viewer = viewing(served(path).address)
    found = viewer.evaluate("""() => {
        const cache = new TileCache(1000), put = (key, frame) => {
            cache.frame = frame;
            cache.put(key, {samples: new Uint8Array(100), width: 10, height: 5});
        };
        for (let k = 0; k < 9; k++) put(`1/${k}`, k);
        const kept = [...Array(9).keys()].filter(k => cache.get(`1/${k}`));
        const bytes = cache.bytes;
        for (let k = 10; k < 20; k++) put(`1/${k}`, 99);
        return {kept, bytes, inView: [...cache.of({id: 1})].length, other: [...cache.of({id: 2})]};
    }""")
    assert found == {"kept": [6, 7, 8], "bytes": 900, "inView": 10, "other": []}


def test_zooming_out_again_fetches_nothing_twice(viewing, tmp_path, served):
    rows, columns = np.indices((1024, 1024))
    samples = ((rows + columns) % 256).astype(np.uint8)
    path = mmp_file(tmp_path / "a.mmp", samples, tile_size=256)
    server = served(path)
    viewer = viewing(server.address, viewport={"width": 1000, "height": 900})
    before = len(viewing.requests)
    viewer.locator("#zoom-one").click()
    viewer.wait_for_timeout(400)
    viewer.locator("#zoom-fit").click()
    viewer.wait_for_timeout(200)
    assert len(viewing.requests) == before
