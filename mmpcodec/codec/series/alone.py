"""Pages that continue others, as files that decode alone."""

from mmpcodec import backends
from mmpcodec.backends.base import PlaneTask
from mmpcodec.codec.decoder import decode
from mmpcodec.codec.tiles.chains import ChainPage
from mmpcodec.opening.contents import PictureBytes, errors_named
from mmpcodec.params import EncodeParams


def alone(file: PictureBytes) -> bytes:
    """Return a page that continues others as a file of the same samples that decodes alone.

    It has the tools and the own metadata of the page, and is encoded again.

    Raises
    ------
    FormatError
        If the page, or one that it continues, is damaged or beyond the limits.
    """
    samples = decode(file)
    with errors_named(file):
        page = ChainPage.of(file)
    layer = page.layer
    task = PlaneTask(samples, EncodeParams(0, layer.tools), page.header.depth)
    return page.with_payload(backends.get("cpu").encode(task).payload)
