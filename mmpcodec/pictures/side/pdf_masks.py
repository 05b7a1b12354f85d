"""Alpha of the images of PDF files: their soft masks and stencils, which pdfium does not give.

Source: ISO 32000-1, 8.9.6 and 11.6.5.
"""

import contextlib
import io
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from mmpcodec.errors import MissingExtra, PictureError
from mmpcodec.limits import DecodeLimits
from mmpcodec.pictures.compressed import jpeg
from mmpcodec.pictures.limits import library
from mmpcodec.samples import Samples

_MOST_FORMS = 64
_INVERTED, _USUAL = [1, 0], [0, 1]


class Alpha(NamedTuple):
    """Alpha of an image, and the bits of a sample."""

    samples: Samples
    depth: int


class Masks:
    """The masks of the images of a file, which is opened when the first page is asked for.

    Parameters
    ----------
    source : str or bytes
        Path or content of the file.
    name : str
        Its name in messages.
    limits : DecodeLimits
    """

    def __init__(self, source: str | bytes, name: str, limits: DecodeLimits):
        self._source, self._name, self._limits = source, name, limits
        self._file: Any = None

    def of(self, number: int, width: int, height: int) -> Iterator[Alpha]:
        """Yield the masks of the images of a page that have this size, as their images.

        Without pikepdf there are none, so pages with masks are rendered. Those of other sizes, of
        ranges of colours, or whose colours are mixed with another one already are left out.
        """
        with contextlib.ExitStack() as stack:
            stack.enter_context(contextlib.suppress(MissingExtra))
            pikepdf = library("pikepdf", "alpha of PDF", self._name, extra="pdf")
            stack.enter_context(
                contextlib.suppress(
                    *(pikepdf.PdfError, PictureError, ValueError, TypeError),
                    *(AttributeError, IndexError, KeyError, OSError),
                )
            )
            if self._file is None:
                source = self._source
                self._file = pikepdf.open(
                    io.BytesIO(source) if isinstance(source, bytes) else source
                )
            for image in _images(self._file.pages[number]):
                if (int(image.Width), int(image.Height)) != (width, height):
                    continue
                soft = image.get("/SMask")
                mask = image.get("/Mask") if soft is None else soft
                if not isinstance(mask, pikepdf.Stream) or "/Matte" in mask:
                    continue
                found = self._alpha(mask, width, height)
                if found is not None:
                    alpha, depth = found
                    yield found if soft is not None else Alpha(1 - alpha, depth)

    def _alpha(self, mask: Any, width: int, height: int) -> Alpha | None:
        """Return the samples of a mask; None if they have another size or are coded otherwise."""
        if (int(mask.Width), int(mask.Height)) != (width, height):
            return None
        bits = 1 if mask.get("/ImageMask") else int(mask.BitsPerComponent)
        filters = mask.get("/Filter")
        if str(filters) in ("/DCTDecode", "/DCT"):
            picture = jpeg.read(bytes(mask.read_raw_bytes()), self._name, self._limits)
            alpha, depth = picture.samples, picture.depth
        else:
            stored = unpacked(bytes(mask.read_bytes()), width, height, 1)
            if stored is None:
                return None
            alpha, depth = stored
        if alpha.shape != (height, width) or depth != bits:
            return None
        decode = [float(each) for each in mask.get("/Decode", _USUAL)]
        if decode not in (_USUAL, _INVERTED):
            return None
        most = np.array((1 << depth) - 1, alpha.dtype)
        return Alpha(most - alpha if decode == _INVERTED else alpha, depth)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


def _images(page: Any) -> Iterator[Any]:
    """Yield the images among the resources of a page and its forms."""
    to_do, forms = [page.resources], 0
    while to_do:
        resources = to_do.pop()
        objects = {} if resources is None else resources.get("/XObject", {})
        for each in (objects[name] for name in objects):
            kind = each.get("/Subtype")
            if kind == "/Image":
                yield each
            elif kind == "/Form" and forms < _MOST_FORMS:
                forms += 1
                to_do.append(each.get("/Resources"))


def unpacked(data: bytes, width: int, height: int, planes: int) -> tuple[Samples, int] | None:
    """Return stored samples and their depth, if their number of bytes is that of a depth."""
    for depth in (16, 8, 4, 2, 1):
        row = -(-width * planes * depth // 8)
        if not 0 <= len(data) - row * height <= 2:  # a line may end behind them
            continue
        rows = np.frombuffer(data, np.uint8, row * height).reshape(height, row)
        samples: np.ndarray
        if depth == 16:
            samples = rows.view(">u2").astype(np.uint16)
        elif depth == 8:
            samples = rows
        else:
            bits = np.unpackbits(rows, axis=1, count=width * planes * depth)
            weights = (1 << np.arange(depth)[::-1]).astype(np.uint8)
            samples = bits.reshape(height, -1, depth) @ weights
        samples = samples.reshape(height, width, planes)
        return (samples[..., 0] if planes == 1 else samples), depth
    return None
