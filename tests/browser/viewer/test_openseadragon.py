"""Tiles of ``mmp view --iiif`` in OpenSeadragon, on a page of another site."""

import http.server
import io
import json
import shutil
import subprocess
import tarfile
import threading
from contextlib import contextmanager
from functools import partial
from urllib.parse import quote

import numpy as np
import pytest
from support.web.asking import ask
from support.web.pages import watched

import mmpcodec
from mmpcodec.format.collection import Role
from mmpcodec.format.collection_writer import CollectionWriter
from mmpcodec.web.server import PageServer, ServedFile

pytestmark = pytest.mark.browser

PACKAGE = "openseadragon@6.1.1"
HEIGHT, WIDTH = 1500, 2100
PAGE = """<!doctype html><title>Another site</title><link rel="icon" href="data:,">
<div id="viewer" style="width: 700px; height: 500px"></div>
<script src="openseadragon.min.js"></script>
<script>
const viewer = OpenSeadragon({id: "viewer", showNavigationControl: false, drawer: "canvas",
  animationTime: 0, immediateRender: true, crossOriginPolicy: "Anonymous", tileSources: [SOURCE]});
viewer.addHandler("open-failed", event => { window.failed = event.message; });
viewer.addHandler("tile-load-failed", event => { window.failed = event.message; });
</script>"""


@pytest.fixture(scope="module")
def openseadragon(tmp_path_factory):
    """A folder with the script of OpenSeadragon."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("there is no npm, which fetches OpenSeadragon")
    folder = tmp_path_factory.mktemp("openseadragon")
    run = partial(subprocess.run, capture_output=True, text=True, timeout=120, cwd=folder)
    found = run([npm, "pack", "--silent", PACKAGE])
    if found.returncode:
        pytest.skip(f"npm cannot fetch {PACKAGE}: {found.stderr.strip()[-200:]}")
    (archive,) = folder.glob("*.tgz")
    with tarfile.open(archive) as packed:
        script = packed.extractfile("package/build/openseadragon/openseadragon.min.js")
        (folder / "openseadragon.min.js").write_bytes(script.read())
    return folder


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, *_):
        pass


@contextmanager
def running(server):
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Serves a book whose second page has levels that are brighter than the page."""
    page = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    page[:, WIDTH // 2 :] = 0, 100, 200
    stream = io.BytesIO()
    writer = CollectionWriter(stream)
    how = {"effort": 1, "preset": "lossless"}
    writer.add(mmpcodec.encode(np.full((40, 50), 128, np.uint8), 0, **how))
    writer.add(mmpcodec.encode(page, 0, tile_size=512, **how))
    for factor in (2, 4):
        level = np.ascontiguousarray(page[::factor, ::factor])
        level[..., 0] = 40 * factor
        writer.add(mmpcodec.encode(level, 0, **how), Role.LEVEL, (1,))
    writer.close()
    path = tmp_path_factory.mktemp("book") / "my book.mmp"
    path.write_bytes(stream.getvalue())
    files = [ServedFile(str(path), "sub/my book.mmp")]
    with running(PageServer(files, decoder=";", tiled=True)) as found:
        yield found


def colour(page, x, y):
    """The colour that the viewer draws at a place of the picture, from 0 to 1."""
    read = """([x, y]) => {
        const place = viewer.viewport.viewportToViewerElementCoordinates(
            new OpenSeadragon.Point(x, y * viewer.world.getItemAt(0).getBounds().height));
        const canvas = viewer.drawer.canvas, scale = canvas.width / canvas.clientWidth;
        const pen = canvas.getContext("2d");
        return [...pen.getImageData(place.x * scale, place.y * scale, 1, 1).data];
    }"""
    return page.evaluate(read, [x, y])


DRAWN = """window.failed ||
    viewer.world.getItemCount() === 1 && viewer.world.getItemAt(0).getFullyLoaded()"""


@pytest.mark.parametrize("kind", ["iiif", "dzi"])
def test_openseadragon_shows_a_page_of_a_book(browser, openseadragon, server, kind):
    name = quote("sub/my book.mmp;2", safe="")
    source = server.address + (f"iiif/{name}/info.json" if kind == "iiif" else f"dzi/{name}.dzi")
    (openseadragon / f"{kind}.html").write_text(PAGE.replace("SOURCE", json.dumps(source)))
    handler = partial(Quiet, directory=str(openseadragon))
    other = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    with running(other), watched(browser, ("http://127.0.0.1:", "data:", "blob:")) as open_page:
        address = f"http://127.0.0.1:{other.server_address[1]}/{kind}.html"
        page = open_page(address, wait=False, viewport={"width": 800, "height": 600})
        page.wait_for_function(DRAWN, timeout=60_000)
        assert page.evaluate("window.failed") is None
        size = page.evaluate("viewer.world.getItemAt(0).getContentSize()")
        assert (size["x"], size["y"]) == (WIDTH, HEIGHT)
        left, right = colour(page, 0.25, 0.5), colour(page, 0.75, 0.5)
        # The whole picture in 700 pixels is of a level: 1/2 or 1/4.
        assert min(abs(left[0] - red) for red in (80, 160)) < 12
        assert np.abs(np.array(right[1:3]) - (100, 200)).max() < 12
        page.evaluate("viewer.viewport.zoomTo(viewer.viewport.imageToViewportZoom(1), null, true)")
        page.evaluate("viewer.viewport.panTo(new OpenSeadragon.Point(0.25, 0.3), true)")
        page.wait_for_function(DRAWN, timeout=60_000)
        page.wait_for_timeout(300)
        page.wait_for_function(DRAWN, timeout=60_000)
        assert max(colour(page, 0.25, 0.3 * WIDTH / HEIGHT)[:3]) < 12  # samples of the page itself
        asked = [url for url in open_page.requests if f"/{kind}/" in url]
    assert len(asked) >= 4
    assert all(name in url for url in asked)
    assert all(ask(server, url.partition(server.token + "/")[2])[0] == 200 for url in asked)
