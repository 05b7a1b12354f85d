"""Tiles before and after they are encoded, and the header on which their bytes depend."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from mmpcodec.codec.colour import can_be_fine, layout_of_form
from mmpcodec.depth import BYTE
from mmpcodec.format.container import MOST_BORDER_STEP, Header
from mmpcodec.format.layers import Layer, TileStream
from mmpcodec.format.layouts import Layout, planes_before, weight_of
from mmpcodec.params import EYE, EncodeParams
from mmpcodec.quality import derived_step
from mmpcodec.reference.filters.cross_component import NO_CROSS_COMPONENT
from mmpcodec.reference.filters.fixed import ACTIVITIES, value_of
from mmpcodec.reference.filters.post import OFF
from mmpcodec.reference.lossless.source_colours.colours import NO_COLOURS, SourceColours
from mmpcodec.reference.lossless.source_colours.reading import read_colours
from mmpcodec.reference.trees.fragments import fragments_in
from mmpcodec.samples import Form, form_of
from mmpcodec.tools import BlockTools, LosslessTools, Tools
from mmpcodec.trace import Trace

USUAL_FIXED_FILTERS = value_of([2] * ACTIVITIES)
"""The fixed filters of tool sets if the encoder chooses them: scale 1 for all activities."""


@dataclass(frozen=True)
class TileSource:
    """A tile to encode.

    Parameters
    ----------
    samples : (H, W) or (H, W, C) array of uint8 or uint16
        In host or device memory.
    on_host : array
        The same samples in host memory.
    depth : int
        Bits per sample.
    roi : (H, W) int8 array or None
        Importance of its pixels, see ``maps.Weighting``; None if all count alike.
    tile_size : int
        Tile size of the file; 0 for one tile.
    hidden : (H, W) bool array or None
        Pixels that a palette draws, whose colours do not count; None if there are none.
    """

    samples: Any
    on_host: np.ndarray
    depth: int
    roi: np.ndarray | None = None
    tile_size: int = 0
    hidden: np.ndarray | None = None

    @property
    def fragments(self) -> int:
        """Number of 16x16 fragments in all planes."""
        return form_of(self.on_host).planes * fragments_in(self.on_host.shape[:2])


PLANES = {form.title: form.planes for form in Form}
"""Planes of a layer that holds all of them, by its name."""


def source_of(layer: Layer, shape: tuple[int, int], depth: int) -> SourceColours:
    """Return what the colours of a layer were made from, if it holds all planes of lossless RGB.

    ``shape`` are the rows and columns of the tile, ``depth`` are the bits of its samples.
    """
    if not isinstance(layer.tools, LosslessTools):
        return NO_COLOURS
    planes = PLANES.get(layer.name, 1)
    return read_colours(layer.payload, planes, shape, depth, layer.tools.max_error)


@dataclass(frozen=True)
class LayerCoding:
    """A layer or a palette of a file, with statistics of its coding.

    Parameters
    ----------
    name : str
        Planes that the layer holds: "gray", "luma", "alpha", ...; or "palette".
    tools : Tools
    payload_bytes : int
    coefficients : tuple of tuple of int
        Coefficients of the post filter, by class.
    cross_component_coefficients : tuple of tuple of int
        Coefficients of the cross-component filter, by earlier plane.
    trace : Trace or None
        None if only the header was read.
    tile : int
        Number of the tile, from 0.
    backend : str
        Name of the backend that coded the layer; empty if only the header was read.
    depth : int
        Bits per sample of the layer, or bits of a number of the palette.
    entries : int
        Colours of the palette; 0 for a layer.
    transparent : bool
        Whether pixels can show the layers below the palette.
    source : SourceColours
        What red, green and blue of lossless samples were made from.
    jpeg_bytes : int
        Size of the JPEG file that is kept; 0 for others.
    """

    name: str
    tools: Tools
    payload_bytes: int
    coefficients: tuple[tuple[int, ...], ...] = OFF
    cross_component_coefficients: tuple[tuple[int, ...], ...] = NO_CROSS_COMPONENT
    trace: Trace | None = None
    tile: int = 0
    backend: str = ""
    depth: int = BYTE
    entries: int = 0
    transparent: bool = False
    source: SourceColours = NO_COLOURS
    jpeg_bytes: int = 0

    @classmethod
    def of(
        cls,
        layer: Layer,
        depth: int,
        trace: Trace | None = None,
        backend: str = "",
        tile: int = 0,
        source: SourceColours = NO_COLOURS,
    ) -> "LayerCoding":
        """Describe a layer of a tile."""
        return cls(
            layer.name,
            layer.tools,
            len(layer.payload),
            layer.coefficients,
            layer.cross_component_coefficients,
            trace,
            tile,
            backend,
            depth,
            source=source,
        )


@dataclass(frozen=True)
class TileEncoding:
    """A tile, coded at the least rate-distortion cost.

    Parameters
    ----------
    data : bytes
        Bytes of the tile in the file.
    samples : (H, W) or (H, W, C) array of uint8 or uint16
        Decoded samples, without the border filter.
    layers : tuple of LayerCoding
    costs : tuple of float
        Rate-distortion cost D + lambda R of the tile coded by each candidate alone, with the price
        of its decoding time; infinite if a layer was not tried with it.
    used : frozenset of int
        Numbers of the candidates that code a layer of the tile.
    stream : TileStream
        The coded form of the tile.
    """

    data: bytes
    samples: np.ndarray
    layers: tuple[LayerCoding, ...]
    costs: tuple[float, ...]
    used: frozenset[int]
    stream: TileStream

    @property
    def drawn(self) -> np.ndarray | None:
        """Pixels that the palette of the tile draws, an (H, W) bool array; None without one."""
        trace = self.layers[0].trace
        return None if trace is None else trace.drawn


SEEN_GAIN = 4.0
"""How much more an error counts if it is weighted by frequency: so that one lambda gives about one
visible quality, tuned for the eye or not."""
SEEN_CHROMA = 0.6
"""How much less an error of chroma counts than one of luma, for the eye."""


def weight_of_layer(form: Form, layout: Layout, layer: int, tune: str, *, weighs: bool) -> float:
    """Return how much a squared error counts in a layer of colour.

    Parameters
    ----------
    form : Form
    layout : Layout
    layer : int
        Number of the layer.
    tune : str
        What the encoder aims at.
    weighs : bool
        Whether errors are weighted by frequency.
    """
    weight = weight_of(form, layout, layer)
    if tune == EYE:
        weight *= SEEN_GAIN if weighs else 1.0
        weight *= SEEN_CHROMA if layer > 0 and layout is not Layout.APART else 1.0
    return weight


@lru_cache
def params_of_layer(
    candidate: EncodeParams, form: Form, layout: Layout, layer: int
) -> EncodeParams:
    """Return the parameters of a candidate for a layer of colour of this number."""
    weighs = candidate.tools.quantisation_matrix > 0
    weight = weight_of_layer(form, layout, layer, candidate.tune, weighs=weighs)
    tools = candidate.tools
    if isinstance(tools, BlockTools):
        planes = min(tools.cross_component, planes_before(form, layer))
        tools = replace(tools, cross_component=planes)
    return replace(candidate, lam=candidate.lam / weight, tools=tools)


def with_tool_sets(header: Header, candidates: Sequence[EncodeParams]) -> Header:
    """Return a header with the tool sets and the border step of an encoder.

    The sets are the tools of the first candidate with predicted blocks, by layer. They depend on
    nothing in the picture, so that tiles can be written before others are coded. A picture of one
    tile has none. The border step is the quantisation step of the first layer in this candidate,
    or that of its lambda if only trees are lossy.
    """
    if not header.tile_size:
        return replace(header, tool_sets=(), border_step=0)
    predicting = [one for one in candidates if isinstance(one.tools, BlockTools)]
    sets: tuple[BlockTools, ...] = ()
    if predicting:
        sets = _tool_sets(predicting[0], header.form, header.depth)
    lossy = predicting or [one for one in candidates if not one.tools.lossless]
    step = _border_step(lossy[0], header.form) if lossy and lossy[0].lam else 0
    return replace(header, tool_sets=sets, border_step=step)


def _border_step(candidate: EncodeParams, form: Form) -> int:
    """Return the quantisation step of the first layer of a lossy candidate."""
    layout = layout_of_form(form, candidate.lam)
    params = params_of_layer(candidate, form, layout, 0)
    step = params.coded_tools.step or derived_step(params.lambda_fixed, dependent=True)
    return min(step, MOST_BORDER_STEP)


@lru_cache
def _tool_sets(candidate: EncodeParams, form: Form, depth: int) -> tuple[BlockTools, ...]:
    layout = layout_of_form(form, candidate.lam)
    if layout is Layout.LUMA and can_be_fine(candidate, depth):
        layout = Layout.FINE_LUMA
    sets: dict[BlockTools, None] = {}
    for layer in range(form.colours):
        params = params_of_layer(candidate, form, layout, layer)
        bank, tools = params.tools.fixed_filters, params.coded_tools
        bank = USUAL_FIXED_FILTERS if bank is None else bank
        assert isinstance(tools, BlockTools)
        own = replace(
            tools,
            fixed_filters=bank,
            post_filter=False,
            cross_component_filter=False,
            delta_step=False,
        )
        sets[own] = None
    return tuple(sets)


def header_of_tile(tile: TileSource, candidates: Sequence[EncodeParams]) -> Header:
    """Return the header of a file with this tile, as far as the bytes of the tile depend on it."""
    height, width = tile.on_host.shape[:2]
    form = form_of(tile.on_host)
    return with_tool_sets(Header(width, height, form, tile.depth, tile.tile_size), candidates)
