"""Small PDF files, written by hand."""

import zlib
from collections.abc import Sequence

IMAGE = b"q 40 0 0 30 0 0 cm /I Do Q"
"""Draws the image I, of 40 x 30 points."""
BOX = "/MediaBox[0 0 40 30]"


def pdf_of(
    pages: Sequence[tuple[str, bytes, str]], objects: Sequence[bytes] = (), more: bytes = b""
) -> bytes:
    """Return a file.

    Parameters
    ----------
    pages : sequence of (str, bytes, str)
        Entries of the page, its contents, and its resources.
    objects : sequence of bytes
        Further objects, from number 3 on.
    more : bytes
        Entries of the trailer.
    """
    parts = [b"<</Type/Catalog/Pages 2 0 R>>", b"", *objects]
    kids = []
    for entries, contents, resources in pages:
        parts.append(_stream(b"", contents))
        page = f"/Parent 2 0 R/Contents {len(parts)} 0 R/Resources<<{resources}>>{entries}"
        parts.append(f"<</Type/Page{page}>>".encode())
        kids.append(f"{len(parts)} 0 R")
    parts[1] = f"<</Type/Pages/Count {len(kids)}/Kids[{' '.join(kids)}]>>".encode()
    data, table = b"%PDF-1.7\n", b"0000000000 65535 f \n"
    for number, part in enumerate(parts, 1):
        table += b"%010d 00000 n \n" % len(data)
        data += b"%d 0 obj\n%b\nendobj\n" % (number, part)
    end = b"<</Size %d/Root 1 0 R%b>>\nstartxref\n%d\n%%%%EOF" % (len(parts) + 1, more, len(data))
    return data + b"xref\n0 %d\n%btrailer%b" % (len(parts) + 1, table, end)


def image_of(
    width: int, height: int, space: str, bits: int, data: bytes, kind: str = "", more: str = ""
) -> bytes:
    """Return an image; without a ``kind`` of compression, it is compressed by Flate."""
    entries = f"/Width {width}/Height {height}/BitsPerComponent {bits}/ColorSpace{space}{more}"
    data, kind = (data, kind) if kind else (zlib.compress(data), "FlateDecode")
    return _stream(f"/Type/XObject/Subtype/Image/Filter/{kind}{entries}".encode(), data)


def form_of(contents: bytes, entries: str) -> bytes:
    """Return a form, which draws what a page may draw."""
    return _stream(f"/Type/XObject/Subtype/Form{entries}".encode(), contents)


def page_of(image: bytes, contents: bytes = IMAGE, entries: str = BOX, *others: bytes) -> bytes:
    """Return a file of a page that draws an image."""
    return pdf_of([(entries, contents, "/XObject<</I 3 0 R>>")], [image, *others])


def _stream(entries: bytes, data: bytes) -> bytes:
    return b"<<%b/Length %d>>stream\n%b\nendstream" % (entries, len(data), data)
