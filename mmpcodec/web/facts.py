"""What a page shows of a file beside its pixels: layers of its coding, and bright regions.

Both are of the upright picture, as pages show it.

A browser draws each layer over the picture: a PNG of its size in a few colours. They are made from
the traces of ``mmpcodec.inspect``, so they are true for every coding.
"""

import base64
import io
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

import mmpcodec
from mmpcodec import pictures
from mmpcodec.analysis.drawings.blocks import PALETTE
from mmpcodec.analysis.drawings.file import outlined
from mmpcodec.analysis.regions import Region, find_regions
from mmpcodec.analysis.turning import turned, turned_place, turns
from mmpcodec.codec.decoder import Inspection
from mmpcodec.errors import Cancelled, FormatError, LimitExceeded, MmpError
from mmpcodec.limits import DecodeLimits
from mmpcodec.opening.header import read_header
from mmpcodec.picture import Picture
from mmpcodec.pictures import registry
from mmpcodec.pictures.mmp.file import RESCUE
from mmpcodec.pictures.side.facts import orientation_of
from mmpcodec.reference.blocks.partition import KIND_NAMES, MODE_NAMES, TREE, UNIT, mode_name
from mmpcodec.runtime.files import LazyBytes
from mmpcodec.runtime.progress import Progress, report_progress

MOST_PIXELS = 1 << 24
"""Pixels of a picture. Of larger ones neither layers nor regions are computed, because that decodes
the whole file."""

CELL = 16
"""Height and width of the cells of ``Trace.cell_rates``, in samples."""
BIT = 1 << 12
"""Units of ``Trace.cell_rates`` for a bit."""

MODE_COLOURS: dict[str, tuple[int, int, int]] = {
    "constant": (120, 120, 120),
    "average": (86, 180, 233),
    "planar": (0, 158, 115),
    "angle": (230, 159, 0),
    "templates": (204, 121, 167),
    "cross-component": (240, 228, 66),
    "wide cross-component": (0, 114, 178),
    "tree": (130, 60, 200),
}
"""Colours of the modes, and of blocks that are trees. Most are of the palette of Okabe and Ito,
https://jfly.uni-koeln.de/color/, which people with weak colour vision can tell apart."""
MODE_OPACITY, RATE_OPACITY = 150, 190
"""Of 255."""
RAMP = ((20, 20, 70), (160, 40, 110), (240, 120, 50), (255, 245, 160))
"""Colours from no bits to the most."""
RAMP_LEVELS = 64
PARTS_NAMED = 4
"""Colours of the ramp that the legend names beside the first."""


KINDS = ("layers", "regions")
"""What a page can show beside pixels."""


class RegionSearch(NamedTuple):
    """How bright regions are searched.

    Parameters
    ----------
    most : int
        Largest number of regions; 0 searches none.
    offset : str
        See ``regions.offset_level``.
    seconds : float
        Seconds after which the search stops.
    """

    most: int = 3
    offset: str = "0.5"
    seconds: float = 2.0


def facts_of(
    data: bytes | LazyBytes,
    name: str,
    search: RegionSearch | None = None,
    wanted: Collection[str] = KINDS,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Return layers and regions of a file as JSON can hold them, of the upright picture.

    Parameters
    ----------
    data : bytes or LazyBytes
        The file. Of LazyBytes, only the header is read if the picture is too large.
    name : str
        Its name; a name that ends in .mmp is that of an mmp file.
    search : RegionSearch or None
        None searches with the defaults.
    wanted : collection of str
        Which of ``KINDS`` are computed.
    progress : callable or None
        See ``mmpcodec.decode``. It is called between the parts of the work, too.

    Returns
    -------
    dict
        Of each kind that is wanted: ``layers``, a list; ``regions``, a dict or None. ``problems``,
        a dict, says of a kind why there are none.

    Raises
    ------
    Cancelled
        If the progress callback returned False.
    """
    search = search or RegionSearch()
    limits = DecodeLimits(max_samples=4 * (MOST_PIXELS + (1 << 20)))
    facts: dict[str, Any] = {"problems": {}}
    facts |= {kind: [] if kind == "layers" else None for kind in wanted}
    try:
        if registry.is_mmp(bytes(data[: registry.MAGIC_END]), name):
            _facts_of_mmp(facts, data, name, search, limits, progress)
        elif "regions" in facts and search.most:
            picture = pictures.from_bytes(bytes(data[:]), name, limits=limits)
            _add_regions(facts, picture, name, search, progress)
    except Cancelled:
        raise
    except FormatError as error:
        facts["problems"] = dict.fromkeys(wanted, str(error.with_hint(RESCUE)))
    except MmpError as error:
        facts["problems"] = dict.fromkeys(wanted, str(error))
    return facts


def _facts_of_mmp(
    facts: dict[str, Any],
    data: bytes | LazyBytes,
    name: str,
    search: RegionSearch,
    limits: DecodeLimits,
    progress: Progress | None,
) -> None:
    """Add the facts of an mmp file whose picture is not too large."""
    view = data if isinstance(data, LazyBytes) else memoryview(data)
    header = read_header(view)
    if header.width * header.height > MOST_PIXELS:
        raise LimitExceeded(
            name,
            f"has {header.width * header.height} pixels; layers and regions are computed of at "
            f"most {MOST_PIXELS}",
        )
    if "layers" not in facts and not search.most:
        return
    found = mmpcodec.inspect(data, decode=True, limits=limits, progress=progress)
    assert found.samples is not None
    if "layers" in facts:
        facts["layers"] = layers_of(found, progress)
    if "regions" in facts:
        picture = Picture(found.samples, header.depth, found.header.metadata)
        _add_regions(facts, picture, name, search, progress)


def _add_regions(
    facts: dict[str, Any],
    picture: Picture,
    name: str,
    search: RegionSearch,
    progress: Progress | None,
) -> None:
    """Add the bright regions of a picture, without alpha, or say that the search took too long."""
    if search.most == 0:
        return
    report_progress(progress, 1, 1)
    opaque = picture.without_alpha()
    try:
        found = find_regions(
            opaque,
            offset=search.offset,
            k=search.most,
            time_limit=search.seconds,
            backend="cpu",
        )
    except LimitExceeded:
        facts["problems"]["regions"] = (
            f"{name}: the search for regions was stopped after {search.seconds:g} seconds; mmp "
            "highlight searches without a limit of time"
        )
        return
    turn = orientation_of(picture.metadata)
    shape = picture.samples.shape[:2]
    facts["regions"] = {
        "offset": found.offset,
        "white": opaque.white,
        "rows": [_row(region, shape, turn) for region in found.regions],
    }


def _row(region: Region, shape: tuple[int, int], turn: int) -> dict[str, Any]:
    """Return a region of the upright picture."""
    place = turned_place(region.left, region.top, region.width, region.height, shape, turn)
    return {
        "rank": region.rank,
        **dict(zip(("left", "top", "width", "height"), place, strict=True)),
        **{name: getattr(region, name) for name in ("sum", "mean", "deviation")},
    }


def layers_of(found: Inspection, progress: Progress | None = None) -> list[dict[str, Any]]:
    """Return the layers of a decoded file: outlines, modes and bits, as far as its coding has them.

    Outlines and modes are those of the first layer of each tile, as in drawings of ``mmp info``.

    Parameters
    ----------
    found : Inspection
        Inspection of a whole file, with ``decode=True``.
    progress : callable or None
        Is called before each layer.

    Returns
    -------
    list of dict
        ``key``, ``meaning``, ``colours`` (pairs of name and CSS colour), and ``png`` in Base64, of
        the size of the upright picture. Outlines have ``phase``: column and row of a multiple of 16
        samples.
    """
    turn, layers = orientation_of(found.header.metadata), []
    for make in (_edges, _modes, _bits):
        report_progress(progress, 1, 1)
        layer = make(found, turn)
        if layer is not None:
            layers.append(layer)
    return layers


def _edges(found: Inspection, turn: int) -> dict[str, Any] | None:
    """Return the outlines: level 1 in first rows, 2 in first columns, 3 in both."""
    header, first = found.header, outlined(found.layers)
    tops, lefts = (np.zeros((header.height, header.width), bool) for _ in range(2))
    known = False
    for tile in header.tiles:
        layer = first.get(tile.number)
        edges = None if layer is None or layer.trace is None else layer.trace.edges()
        if edges is not None:
            for whole, edge in zip((tops, lefts), edges, strict=True):
                own = whole[tile.slices]
                own[:] = edge[: own.shape[0], : own.shape[1]]
            known = True
    if not known:
        return None
    transposed, columns, rows = turns(turn)
    tops, lefts = turned(tops, turn), turned(lefts, turn)
    if transposed:
        tops, lefts = lefts, tops
    # The line before a sample is the line behind it in a picture whose samples are reversed.
    if rows:
        tops = np.roll(tops, 1, axis=0)
    if columns:
        lefts = np.roll(lefts, 1, axis=1)
    height, width = tops.shape
    return {
        "key": "edges",
        "meaning": "Outlines of leaves or blocks of the first layer of each tile, in blue; those "
        "on multiples of 16 samples in red. Zoom in if there are too many of them.",
        "colours": [],
        "phase": [width % CELL if columns else 0, height % CELL if rows else 0],
        "png": _base64(Image.fromarray(tops + 2 * lefts.astype(np.uint8))),
    }


def _modes(found: Inspection, turn: int) -> dict[str, Any] | None:
    """Return the modes of predicted blocks, and the pixels that palettes draw."""
    header, first = found.header, outlined(found.layers)
    names = list(MODE_COLOURS)
    numbers = np.array([names.index(mode_name(mode)) + 1 for mode in range(max(MODE_NAMES) + 1)])
    levels = np.zeros((header.height, header.width), np.uint8)
    for tile in header.tiles:
        layer, own = first.get(tile.number), levels[tile.slices]
        units = None if layer is None or layer.trace is None else layer.trace.units
        if units is not None:
            is_tree = units[..., 3] == TREE
            tree = names.index(KIND_NAMES[TREE]) + 1
            modes = np.where(is_tree, tree, numbers[np.where(is_tree, 0, units[..., 2])])
            own[:] = _enlarged(modes.astype(np.uint8), UNIT, own.shape)
    drawn = len(names) + 1
    for layer in found.layers:
        if layer.trace is not None and layer.trace.drawn is not None:
            tile = header.tiles[layer.tile]
            levels[tile.slices][layer.trace.drawn] = drawn
    there = np.unique(levels[levels > 0]).tolist()
    if not there:
        return None
    colours = {**MODE_COLOURS, "palette": PALETTE.rgb}
    shown = list(colours.items())
    return {
        "key": "modes",
        "meaning": "Prediction of each block of the first layer of each tile.",
        "colours": [(shown[level - 1][0], _css(shown[level - 1][1])) for level in there],
        "png": _tinted(turned(levels, turn), list(colours.values()), MODE_OPACITY),
    }


def _bits(found: Inspection, turn: int) -> dict[str, Any] | None:
    """Return the bits of each pixel, all layers together, in cells of 16x16 samples."""
    header = found.header
    rates = np.zeros((header.height, header.width), np.float32)
    known = False
    for layer in found.layers:
        cells = None if layer.trace is None else layer.trace.cell_rates
        if cells is not None:
            own = rates[header.tiles[layer.tile].slices]
            own += _enlarged(_per_pixel(cells, own.shape), CELL, own.shape)
            known = True
    if not known:
        return None
    top = float(rates.max())
    share = rates / top if top else rates
    levels = 1 + np.rint((RAMP_LEVELS - 1) * share).astype(np.uint8)
    ramp = _ramp()
    named = [round(k * (RAMP_LEVELS - 1) / PARTS_NAMED) for k in range(PARTS_NAMED + 1)]
    return {
        "key": "bits",
        "meaning": f"Bits per pixel in cells of {CELL}x{CELL} samples, of all layers together.",
        "colours": [
            (f"{top * level / (RAMP_LEVELS - 1):.3g}", _css(ramp[level])) for level in named
        ],
        "png": _tinted(turned(levels, turn), ramp, RATE_OPACITY),
    }


def _per_pixel(cells: NDArray[np.int64], shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Divide the rates of cells by their pixels; cells at the border may have fewer of them."""
    heights, widths = (
        np.minimum(side - CELL * np.arange(count), CELL)
        for side, count in zip(shape, cells.shape, strict=True)
    )
    return (cells / (BIT * heights[:, None] * widths)).astype(np.float32)


def _enlarged(values: np.ndarray, side: int, shape: tuple[int, ...]) -> np.ndarray:
    """Repeat each value in a square, and cut the result to a shape."""
    return values.repeat(side, axis=0).repeat(side, axis=1)[: shape[0], : shape[1]]


def _ramp() -> list[tuple[int, int, int]]:
    """Return the colours of the levels of a ramp."""
    places = np.linspace(0, len(RAMP) - 1, RAMP_LEVELS)
    parts = [
        np.interp(places, np.arange(len(RAMP)), [colour[part] for colour in RAMP])
        for part in range(3)
    ]
    return [(int(r), int(g), int(b)) for r, g, b in zip(*parts, strict=True)]


def _tinted(
    levels: NDArray[np.uint8], colours: Sequence[tuple[int, int, int]], opacity: int
) -> str:
    """Return a PNG whose level 0 is transparent, and level k the colour k - 1."""
    image = Image.fromarray(np.ascontiguousarray(levels)).convert("L")
    image.putpalette([0, 0, 0, *(part for colour in colours for part in colour)])
    return _base64(image, transparency=bytes([0, *[opacity] * len(colours)]))


def _css(colour: tuple[int, int, int]) -> str:
    return f"rgb({colour[0]} {colour[1]} {colour[2]})"


def _base64(image: Image.Image, **options: Any) -> str:
    stream = io.BytesIO()
    image.save(stream, "PNG", **options)
    return base64.b64encode(stream.getvalue()).decode()
