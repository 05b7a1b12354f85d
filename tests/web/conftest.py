"""The decoder of mmpcodec/web in Node: one process for the tests of a file, and its memory."""

import pytest
from support.web.decoder import Node, missing

from mmpcodec.codec.limits import memory


@pytest.fixture(scope="module")
def node():
    if reason := missing():
        pytest.skip(reason)
    process = Node()
    yield process
    process.end()


@pytest.fixture
def in_browsers(monkeypatch):
    """Python's estimate with the numbers of the web decoder for lossless samples."""
    usual = memory._layer_bytes

    def layer_bytes(tools, tile, planes):
        if tools.lossless:
            return planes * ((96 << 20) + 1536 * tile.width)
        return usual(tools, tile, planes)

    monkeypatch.setattr(memory, "_layer_bytes", layer_bytes)
