"""Files with palettes that are made by hand, with predicted blocks below them."""

from dataclasses import replace

import numpy as np

from mmpcodec import EncodeParams, backends
from mmpcodec.codec.colour import joined, narrowed, split
from mmpcodec.codec.palette_layer import PaletteSamples, drawn_over, encode_palette
from mmpcodec.format import container, layers
from mmpcodec.format.container import Header
from mmpcodec.format.layers import Layer
from mmpcodec.format.layouts import Layout, layer_names
from mmpcodec.format.palette import Palette
from mmpcodec.reference.exact.planes import to_planes
from mmpcodec.samples import form_of
from mmpcodec.tools import EXACT_FORMS, Tools

TOOLS = Tools(exact=True, post_filter=False, **EXACT_FORMS[2])
"""Tools of the numbers."""
BELOW = EncodeParams.from_options(200, preset="photo", effort=1, version=2)
"""How the colours below a palette are coded."""


def palette_of(samples, depth, clear):
    """The palette of the most frequent colours of a picture; all colours if nothing is clear."""
    colours = samples[..., : form_of(samples).colours] if samples.ndim == 3 else samples[..., None]
    rows = colours.reshape(-1, colours.shape[2])
    own, numbers, counts = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    kept = len(own) if not clear else max(1, len(own) // 2)
    order = np.argsort(-counts, kind="stable")
    place = np.minimum(np.argsort(order), kept)
    shape = samples.shape[:2]
    return PaletteSamples(
        own[order[:kept]].astype(np.uint16), place[numbers].reshape(shape).astype(np.uint16)
    )


def tile_of(header, samples, found, clear, layout, tools=TOOLS, backend="cpu"):
    """The bytes of a tile with a palette, and the samples that it decodes to."""
    own, form = backends.get(backend), header.form
    palette, _ = encode_palette(own, *found, clear, header.depth, tools, 1)
    names = layer_names(form, layout)
    planes = split(samples, header.depth, Layout.APART if not clear else max(layout, Layout.APART))
    if not clear:
        names, planes = names[form.colours :], planes[form.colours :]
    coded, decoded = [], []
    params = replace(BELOW, tools=replace(BELOW.tools, earlier_planes=0))
    for name, plane in zip(names, planes, strict=True):
        made = own.encode(plane.samples, params, depth=plane.depth)
        tools = replace(params.coded_tools, post_filter=False, filter_bank=0, planes_filter=False)
        coded.append(Layer(name, tools, made.payload))
        decoded.append(made.samples)
    if clear:
        below = joined(decoded, form, header.depth, layout)
    else:
        below = narrowed(decoded[0], header.depth) if decoded else None
    shown = drawn_over(below, found, clear, header.depth)
    return layers.write(header, layout, coded, layers.samples_crc(shown), palette=palette), shown


def file_of(
    samples,
    *,
    depth=8,
    clear=True,
    layout=None,
    tools=TOOLS,
    tile_size=0,
    without=(),
    backend="cpu",
):
    """A file whose tiles have a palette, and the samples that it decodes to.

    Tiles whose number is in ``without`` have exact samples only.
    """
    form = form_of(samples)
    if layout is None:
        layout = Layout.APART if form else Layout.TOGETHER
    height, width = samples.shape[:2]
    header = Header(width, height, form, depth, tile_size, version=2)
    shown, parts = np.empty_like(samples), []
    for tile in header.tiles:
        own = samples[tile.slices]
        if tile.number in without:
            parts.append(exact_tile(header, own, backend))
            shown[tile.slices] = own
            continue
        data, shown[tile.slices] = tile_of(
            header, own, palette_of(own, depth, clear), clear, layout, tools, backend
        )
        parts.append(data)
    header = replace(header, tile_bytes=tuple(map(len, parts)))
    return container.write(header, parts), shown


def exact_tile(header, samples, backend="cpu"):
    """The bytes of a tile of exact samples, without a palette."""
    payload, _, _ = backends.get(backend).encode_exact(to_planes(samples), header.depth, TOOLS)
    layer = Layer(header.form.title, TOOLS, payload)
    return layers.write(header, Layout.TOGETHER, [layer], layers.samples_crc(samples))


def remade(data, change, layout=None):
    """A file of one tile with another palette, that ``change`` returns, or another layout."""
    header = container.read_header(memoryview(data))
    stream = layers.read(memoryview(data)[header.tile_offsets[0] :], 0, header)
    assert isinstance(stream.palette, Palette)
    tile = layers.write(
        header,
        stream.layout if layout is None else layout,
        stream.layers,
        stream.samples_crc,
        stream.turn,
        change(stream.palette),
    )
    return container.write(replace(header, tile_bytes=(len(tile),)), [tile])
