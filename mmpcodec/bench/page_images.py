"""The images of a report's page: files as they were coded, or PNGs of what they decode to.

A page shows a file as it was coded if a browser can decode it: an mmp file by the decoder in the
page, a peer's file by the browser itself. The original is a PNG. Alpha is left out, as it is by the
metrics.
"""

import base64
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from mmpcodec import pictures as files
from mmpcodec.bench.map_images import map_images
from mmpcodec.bench.metrics import MetricMap
from mmpcodec.bench.results import Results, Row, key_of
from mmpcodec.depth import BYTE, most
from mmpcodec.format.container import MMP_SUFFIX
from mmpcodec.limits import UNLIMITED
from mmpcodec.picture import Picture
from mmpcodec.web.parts import NOT_BUILT

MMP = "mmp"
KINDS = {MMP_SUFFIX: MMP, ".jpg": "image/jpeg", ".webp": "image/webp", ".avif": "image/avif"}
"""What the page calls the files of a suffix: mmp files, or the media type of others."""


class PageImage(NamedTuple):
    """An image of the page.

    Parameters
    ----------
    data : bytes
    white : int
        Level of white; 0 for 255. A PNG with a level of white has two bytes a sample.
    kind : str or None
        A value of ``KINDS``; None for PNG.
    """

    data: bytes
    white: int = 0
    kind: str | None = None

    def named(self, name: str) -> dict[str, Any]:
        """Return name and contents as the page has them, in Base64."""
        data = base64.b64encode(self.data).decode()
        return {"name": name, "data": data, "white": self.white, "kind": self.kind}


def coded_file(row: Row, results: Results, *, decodes: bool) -> Path | None:
    """Return the file of a result that the page shows, or None if it shows what it decodes to.

    Parameters
    ----------
    row : dict
    results : Results
    decodes : bool
        Whether the page has the decoder of mmp files.
    """
    known = row.get("suffix") in KINDS and (decodes or row["suffix"] != MMP_SUFFIX)
    return results.coded(row) if known else None


def has_mmp(rows: Sequence[Row], results: Results) -> bool:
    """Return whether a page with the decoder would show mmp files of some results."""
    found = (coded_file(row, results, decodes=True) for row in rows)
    return any(path is not None and path.suffix == MMP_SUFFIX for path in found)


def notes(rows: Sequence[Row], results: Results, *, decodes: bool) -> list[str]:
    """Return sentences that say how the page shows some results, by the names of their codecs."""
    by_page: set[str] = set()
    by_browser: set[str] = set()
    as_png: set[str] = set()
    for row in rows:
        path = coded_file(row, results, decodes=decodes)
        shown = as_png if path is None else by_page if path.suffix == MMP_SUFFIX else by_browser
        shown.add(row["codec"].partition(":")[0])
    found = []
    if by_page:
        found.append("This page decodes the mmp files themselves.")
    if by_browser:
        found.append(f"The browser decodes the files of {', '.join(sorted(by_browser))}.")
    if as_png:
        found.append(f"Of {', '.join(sorted(as_png))}, it shows PNGs of what the sweep decoded.")
    if not decodes and has_mmp(rows, results):
        found.append(f"To show mmp files, mmp report needs {NOT_BUILT}.")
    return found


def images_of(
    rows: Sequence[Row], results: Results, maps: Sequence[MetricMap], *, decodes: bool
) -> Iterator[dict[str, Any]]:
    """Yield each image of some results of one picture, one at a time, the original first.

    Parameters
    ----------
    rows : sequence of dict
    results : Results
    maps : sequence of MetricMap
        Maps that the picture is large enough for.
    decodes : bool
        Whether the page has the decoder of mmp files.
    """
    own = {key_of(row): row for row in rows}
    sha256, depth = rows[0]["picture"], rows[0].get("depth", BYTE)
    white = rows[0].get("white", most(depth))
    original = results.original(sha256)
    yield _as_png(original, depth, white).named(sha256[:16])
    for key, row in own.items():
        path = coded_file(row, results, decodes=decodes)
        if path is None:
            yield _as_png(results.decoded(key), depth, white).named(key)
        else:
            yield PageImage(path.read_bytes(), white, KINDS[path.suffix]).named(key)
    for key in own:
        if results.tree(key).is_file():
            yield PageImage(results.tree(key).read_bytes()).named(f"{key}-tree")
    decoded = {key: results.decoded(key) for key in own}
    for kind in maps:
        found = map_images(kind, original, decoded, white, rows[0].get("range"))
        for key, levels in found.levels.items():
            image = PageImage(_png(levels)).named(f"{key}-{kind.metric.key}")
            yield {**image, "top": found.top}


def _opaque(path: Path) -> Picture:
    return files.read(path, limits=UNLIMITED).without_alpha()


def _as_png(path: Path, depth: int, white: int) -> PageImage:
    """Return a picture as a PNG; if its samples do not go from 0 to 255, with two bytes for each.

    A browser narrows samples to 8 bits. So such a PNG has all upper bytes, and below them all lower
    bytes.
    """
    if (depth, white) == (BYTE, most(BYTE)):
        data = path.read_bytes()
        picture = files.from_bytes(data, str(path), limits=UNLIMITED)
        opaque = picture.without_alpha()
        return PageImage(data if opaque is picture else files.to_bytes(opaque, "png", png_level=9))
    samples = _opaque(path).samples.astype(np.uint16)
    halves = np.concatenate([samples >> 8, samples & 255]).astype(np.uint8)
    return PageImage(_png(halves), white)


def _png(samples: np.ndarray) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(samples).save(stream, "PNG", optimize=True)
    return stream.getvalue()
