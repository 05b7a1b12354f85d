"""Pages and servers of the viewer."""

import threading
from pathlib import Path

import pytest
from support.web.decoder import real_decoder
from support.web.pages import OF_A_FILE, watched

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
    """Opens pages of the viewer, as ``watched`` does."""
    with watched(browser, ("http://127.0.0.1:", *OF_A_FILE)) as open_page:
        yield open_page
