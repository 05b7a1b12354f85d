"""Pages of two values that continue others, as files that decode alone.

A page in a browser has the file of one picture, so it gets a chained one without its chain.
"""

from dataclasses import replace

from mmpcodec import backends
from mmpcodec.backends.base import PlaneTask
from mmpcodec.codec.chains import ChainPage
from mmpcodec.codec.decoder import decode
from mmpcodec.format import container, layers
from mmpcodec.opening.contents import PictureBytes, errors_named
from mmpcodec.params import EncodeParams


def alone(file: PictureBytes) -> bytes:
    """Return a page that continues others as a file of the same samples that decodes alone.

    It has the tools and metadata of the page, and is encoded again.

    Raises
    ------
    FormatError
        If the page, or one that it continues, is damaged or beyond the limits.
    """
    samples = decode(file)
    with errors_named(file):
        page = ChainPage.of(file)
    header, layer = page.header, page.layer
    task = PlaneTask(samples, EncodeParams(0, layer.tools), header.depth)
    own = replace(layer, payload=backends.get("cpu").encode(task).payload)
    tile = layers.write(header, page.stream.layout, [own], page.stream.samples_crc)
    return container.write(replace(header, tile_bytes=(len(tile),)), [tile])
