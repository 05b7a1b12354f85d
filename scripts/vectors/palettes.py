"""Files with palettes that are made by hand: the colours that are drawn are the most frequent ones.

Below them, colours are predicted blocks, and alpha is lossless samples.
"""

from collections.abc import Callable, Container, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from cases import shipped

from mmpcodec import EncodeParams, backends
from mmpcodec.backends.base import Backend, PlaneTask
from mmpcodec.codec.colour import joined, split
from mmpcodec.codec.palettes.layer import encode_palette
from mmpcodec.depth import BYTE
from mmpcodec.format import container, layers
from mmpcodec.format.container import Header
from mmpcodec.format.layers import Layer
from mmpcodec.format.layouts import ALPHA, Layout, layer_names
from mmpcodec.format.palette import Palette
from mmpcodec.reference.colour import narrowed
from mmpcodec.reference.palette import PaletteSamples, drawn_over
from mmpcodec.samples import Samples, form_of
from mmpcodec.tools import BlockTools, LosslessTools

TOOLS = LosslessTools()
"""Tools of the numbers."""
BELOW = EncodeParams.from_options(
    200, preset="photo", tune="psnr", effort=1, cross_component=0, fixed_filters=0
)
"""How the colours below a palette are coded."""


def palettes() -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yield names and makers of files with palettes."""
    gray = shipped("terminal.pgm")[10:26, 20:60]
    slope = (4 * np.indices(gray.shape)[1] + 60).astype(np.uint8)
    page = np.where(gray > 60, gray >> 5 << 5, slope)  # letters beside a slope
    colours = np.dstack([page, page // 2, 255 - page])
    alpha = np.where(page > 90, 255, slope)
    few = np.where(gray > 60, 200, 30).astype(np.uint8)
    many = colours >> 6 << 6
    deep = (page.astype(np.uint16) << 4) + 3
    tiles = np.tile(page, (1, 4))[:, :136]
    cases: tuple[tuple[str, Any, dict[str, Any]], ...] = (
        ("gray", page, {}),
        ("gray-alone", few, {"transparent": False}),
        ("one-colour", np.full((3, 5), 9, np.uint8), {"transparent": False}),
        ("two-models", page, {"tools": LosslessTools(1)}),
        ("gray-alpha", np.dstack([page, alpha]), {}),
        ("fine", colours, {"layout": Layout.FINE_LUMA}),
        ("luma-alpha", np.dstack([colours, alpha]), {"layout": Layout.LUMA}),
        ("alpha-alone", np.dstack([many, alpha]), {"transparent": False}),
        ("depth-12", deep, {"depth": 12}),
        ("depth-3", np.dstack([many, alpha]) >> 5, {"depth": 3, "transparent": False}),
        ("tiles", tiles, {"tile_size": 64, "without": {1}}),
    )
    for name, samples, options in cases:
        yield f"palette-{name}", partial(_data_of, samples, options)


def _data_of(samples: Samples, options: dict[str, Any]) -> bytes:
    return file_of(samples, backend="reference", **options)[0]


def palette_of(samples: Samples, transparent: bool) -> PaletteSamples:
    """Return the palette of all colours of a picture, or of the more frequent half with transparent
    pixels."""
    colours = samples[..., : form_of(samples).colours] if samples.ndim == 3 else samples[..., None]
    rows = colours.reshape(-1, colours.shape[2])
    own, numbers, counts = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    kept = max(1, len(own) // 2) if transparent else len(own)
    numbers = np.minimum(np.argsort(order), kept)[numbers].reshape(samples.shape[:2])
    return PaletteSamples(own[order[:kept]].astype(np.uint16), numbers.astype(np.uint16))


def file_of(
    samples: Samples,
    *,
    depth: int = 8,
    transparent: bool = True,
    layout: Layout = Layout.APART,
    tools: LosslessTools = TOOLS,
    tile_size: int = 0,
    without: Container[int] = (),
    backend: str = "cpu",
) -> tuple[bytes, Samples]:
    """Return a file whose tiles have a palette, and the samples that it decodes to.

    Tiles whose number is in ``without`` have lossless samples only.
    """
    height, width = samples.shape[:2]
    header = Header(width, height, form_of(samples), depth, tile_size)
    own, shown, parts = backends.get(backend), np.empty_like(samples), []
    for tile in header.tiles:
        here = np.ascontiguousarray(samples[tile.slices])
        if tile.number in without:
            data, shown[tile.slices] = _lossless_tile(own, header, here)
        else:
            data, shown[tile.slices] = _tile(own, header, here, transparent, layout, tools)
        parts.append(data)
    header = replace(header, tile_bytes=tuple(map(len, parts)))
    return container.write(header, parts), shown


def _tile(
    backend: Backend,
    header: Header,
    samples: Samples,
    transparent: bool,
    layout: Layout,
    tools: LosslessTools,
) -> tuple[bytes, Samples]:
    """Return the bytes of a tile with a palette, and the samples that it decodes to."""
    form, depth = header.form, header.depth
    layout = layout if form else Layout.TOGETHER
    found = palette_of(samples, transparent)
    palette, _ = encode_palette(backend, *found, transparent, depth, tools, 1)
    planes = split(samples, depth, layout or Layout.APART)
    below = list(zip(layer_names(form, layout), planes, strict=True))
    coded = [
        _layer(backend, name, plane, layout.depth_of(name, depth))
        for name, plane in below[0 if transparent else form.colours :]
    ]
    decoded = [plane for _, plane in coded]
    of_layers: Samples | None
    if transparent:
        of_layers = joined(decoded, form, depth, layout)
    else:
        of_layers = narrowed(decoded[0], depth) if decoded else None
    shown = drawn_over(of_layers, found, transparent, depth)
    crc = layers.samples_crc(shown)
    own = [layer for layer, _ in coded]
    return layers.write(header, layout, own, crc, palette=palette), shown


def _layer(backend: Backend, name: str, plane: np.ndarray, depth: int) -> tuple[Layer, np.ndarray]:
    """Return a layer and the samples that it decodes to."""
    if name == ALPHA:
        coded = backend.encode(PlaneTask(plane, EncodeParams(tools=TOOLS), depth))
        return Layer(name, TOOLS, coded.payload), plane
    made = backend.encode(PlaneTask(plane, BELOW, depth))
    tools = BELOW.coded_tools
    assert isinstance(tools, BlockTools)
    tools = replace(tools, post_filter=False, cross_component_filter=False)
    return Layer(name, tools, made.payload), made.samples


def _lossless_tile(backend: Backend, header: Header, samples: Samples) -> tuple[bytes, Samples]:
    coded = backend.encode(PlaneTask(samples, EncodeParams(tools=TOOLS), header.depth))
    layer = Layer(header.form.title, TOOLS, coded.payload)
    return layers.write(header, Layout.TOGETHER, [layer], layers.samples_crc(samples)), samples


def remade(
    data: bytes, change: Callable[[Palette], Palette], layout: Layout | None = None
) -> bytes:
    """Return a file of one tile with another palette, and maybe another layout."""
    header = container.read_header(memoryview(data))
    stream = layers.read(memoryview(data)[header.tile_offsets[0] :], 0, header)
    assert stream.palette is not None
    tile = layers.write(
        header,
        stream.layout if layout is None else layout,
        stream.layers,
        stream.samples_crc,
        stream.rotation,
        change(stream.palette),
    )
    return container.write(replace(header, tile_bytes=(len(tile),)), [tile])


def with_number_beyond() -> bytes:
    """Return a file of two colours and transparent, with a pixel that has number 3."""
    own, samples = backends.get("reference"), (np.arange(15, dtype=np.uint8) % 4).reshape(3, 5)
    colours, numbers = palette_of(samples, True)
    data, _ = file_of(samples, backend=own.name)
    numbers[1, 2] = 3
    wrong, _ = encode_palette(own, colours, numbers, True, BYTE, TOOLS)
    return remade(data, lambda palette: replace(palette, payload=wrong.payload))
