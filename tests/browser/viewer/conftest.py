"""Pages and servers of the viewer."""

import threading
from pathlib import Path

import pytest
from support.web_decoder import real_decoder, until_drawn

from mmpcodec.web.server import PageServer, ServedFile


@pytest.fixture
def served():
    """Serves files under their names until the end of the test, and gives the server."""
    servers = []

    def serve(*paths, **options):
        files = [ServedFile(str(path), Path(path).name) for path in paths]
        server = PageServer(files, decoder=real_decoder(), **options)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def viewing(browser):
    """Opens a page; at the end, nothing may have gone wrong in it or come from elsewhere.

    ``expected`` is a list of parts of the errors that the console may say.
    """
    contexts, problems, requests, expected = [], [], [], []

    def open_page(address, *, wait=True, **device):
        context = browser.new_context(**device)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda said: problems.append(said.text) if said.type == "error" else 0)
        page.on("request", lambda request: requests.append(request.url))
        page.goto(address)
        if wait:
            until_drawn(page)
        return page

    open_page.requests, open_page.expected = requests, expected
    yield open_page
    for context in contexts:
        context.close()
    assert [said for said in problems if not any(part in said for part in expected)] == []
    own = ("http://127.0.0.1:", "file:", "data:", "blob:")
    assert [url for url in requests if not url.startswith(own)] == []
