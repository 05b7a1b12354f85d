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
    """Python's estimate with what the web decoder takes more."""
    of_layer, of_palette = memory._layer_bytes, memory._palette_bytes
    of_jpeg = memory._jpeg_bytes

    def taken(needed, tile, planes):
        return (4 << 20) + 2 * needed + 8 * tile.width * tile.height * planes

    def layer_bytes(layer, tile, planes, depth):
        needed = of_layer(layer, tile, planes, depth)
        return taken(needed, tile, planes) if layer.tools.lossless else needed

    def palette_bytes(palette, tile, depth, planes):
        return taken(of_palette(palette, tile, depth, planes), tile, 1)

    def jpeg_bytes(kept, *rest):
        return of_jpeg(kept, *rest) + (10 << 20)

    monkeypatch.setattr(memory, "_jpeg_bytes", jpeg_bytes)
    monkeypatch.setattr(memory, "_layer_bytes", layer_bytes)
    monkeypatch.setattr(memory, "_palette_bytes", palette_bytes)
