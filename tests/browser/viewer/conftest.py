"""Pages and servers of the viewer, with a stand-in for the decoder."""

import json
import threading
from pathlib import Path

import numpy as np
import pytest

from mmpcodec.web.server import PageServer, ServedFile

STANDIN = Path(__file__).parent.joinpath("standin.js").read_text()


def standin_file(path, samples, *, tile=0, depth=8, damaged=(), **header):
    """Write a file that the stand-in opens: a header of 256 bytes, and raw tiles."""
    height, width = samples.shape[:2]
    planes = samples[0, 0].size
    form = ("gray", "gray with alpha", "RGB", "RGB with alpha")[planes - 1]
    facts = {"width": width, "height": height, "tileSize": tile, "planes": planes, "depth": depth}
    facts |= {"form": form, "damaged": list(damaged), **header}
    side = tile or max(width, height)
    with open(path, "wb") as stream:
        stream.write(json.dumps(facts).encode().ljust(255) + b"\n")
        for top in range(0, height, side):
            for left in range(0, width, side):
                own = samples[top : top + side, left : left + side]
                stream.write(np.ascontiguousarray(own).tobytes())
    return path


@pytest.fixture
def served():
    """Serves files under their names until the end of the test, and gives the server."""
    servers = []

    def serve(*paths, **options):
        files = [ServedFile(str(path), Path(path).name) for path in paths]
        server = PageServer(files, decoder=STANDIN, **options)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def viewing(browser):
    """Opens a page; at the end, nothing may have gone wrong in it or come from elsewhere."""
    contexts, problems, requests = [], [], []

    def open_page(address, *, wait=True, **device):
        context = browser.new_context(**device)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda said: problems.append(said.text) if said.type == "error" else 0)
        page.on("request", lambda request: requests.append(request.url))
        page.goto(address)
        if wait:
            settled(page)
        return page

    open_page.requests = requests
    yield open_page
    for context in contexts:
        context.close()
    assert problems == []
    own = ("http://127.0.0.1:", "file:", "data:", "blob:")
    assert [url for url in requests if not url.startswith(own)] == []


def settled(page):
    """Wait until all tiles in view are drawn."""
    page.wait_for_function("document.getElementById('canvas').dataset.waiting === '0'")
    page.wait_for_timeout(50)
