"""Filter samples and compress them as in the chunk IDAT, in strips of rows that threads take."""

import zlib
from collections.abc import Iterator

import numpy as np
from PIL import Image, PngImagePlugin

from mmpcodec.pictures.png import deep
from mmpcodec.runtime.progress import Progress, report_progress
from mmpcodec.runtime.tasks import in_order

STRIP = 1 << 20
"""Bytes of samples in a strip."""
_WINDOW = 1 << 15
"""Bytes before a place that zlib can repeat."""
_HEADER = b"\x78\x01"
"""Of a stream of zlib: the window, a level that decoders ignore, and a check of both."""


def compressed(
    samples: np.ndarray, depth: int, level: int, threads: int | None, progress: Progress | None
) -> list[bytes]:
    """Filter and compress samples.

    The strips have the window of those before, and their number does not depend on the threads, so
    neither do the bytes.

    Parameters
    ----------
    samples : (H, W) or (H, W, 2 to 4) array of bool, uint8 or uint16
    depth : {1, 2, 4, 8, 16}
        Bits of a sample; less than 8 for one plane only.
    level : int
        Level of zlib, 0 to 9.
    threads : int or None
        None takes all processors.
    progress : callable or None
        ``progress(done, total)`` gets numbers of rows.

    Returns
    -------
    list of bytes
        Parts of one stream of zlib.

    Raises
    ------
    Cancelled
        If the progress callback returns False.
    """
    height = len(samples)
    rows = max(1, STRIP * height // max(samples.nbytes, 1))

    sum_of_bytes = zlib.adler32(b"")

    def strips() -> Iterator[tuple[bytes, bytes, bool]]:
        nonlocal sum_of_bytes
        window = b""
        for top in range(0, height, rows):
            strip = _filtered(samples[max(top - 1, 0) : top + rows], depth, first=top == 0)
            sum_of_bytes = zlib.adler32(strip, sum_of_bytes)
            yield window, strip, top + rows >= height
            window = (window + strip)[-_WINDOW:]

    def packed(strip: tuple[bytes, bytes, bool]) -> bytes:
        window, contents, is_last = strip
        packer = zlib.compressobj(level, wbits=-15, zdict=window)
        return packer.compress(contents) + packer.flush(
            zlib.Z_FINISH if is_last else zlib.Z_SYNC_FLUSH
        )

    parts = []
    for part in in_order(packed, strips(), threads):
        parts.append(part)
        report_progress(progress, min(len(parts) * rows, height), height)
    parts[0] = _HEADER + parts[0]
    parts[-1] += sum_of_bytes.to_bytes(4, "big")
    return parts


def _filtered(rows: np.ndarray, depth: int, first: bool) -> bytes:
    """Filter rows, of which the first is only read unless it is the ``first`` of the picture."""
    rows = np.ascontiguousarray(rows)
    if depth == 16 and rows.ndim == 3:
        return deep.filtered(rows, first)
    image = Image.fromarray(rows)
    given = {"compress_level": 0}
    if depth < 8:
        # Pillow packs only palette indexes below 8 bits, and packed gray is identical.
        image.putpalette(bytes(range(1 << depth)) * 3)
        given["bits"] = depth
    # Unlike Image.save, this does not import Pillow's modules of other formats.
    chunks = PngImagePlugin.getchunks(image, **given)
    found = zlib.decompress(b"".join(contents for kind, contents, _ in chunks if kind == b"IDAT"))
    return found if first else found[len(found) // len(rows) :]
