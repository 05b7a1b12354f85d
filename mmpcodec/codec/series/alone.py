"""Pages that continue others, as files that decode alone."""

from mmpcodec.codec.decoder import decode
from mmpcodec.codec.series.chaining import encoded_again
from mmpcodec.codec.tiles.chains import ChainPage
from mmpcodec.opening.contents import PictureBytes, errors_named


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
    return page.with_payload(encoded_again(page, samples).payload)
