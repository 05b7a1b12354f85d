"""The tools of layers, and those that the header of a file of version 2 holds for its tiles.

Source: section "Tool sets" of ``docs/format/format.md``.
"""

from collections.abc import Sequence
from dataclasses import replace

from mmpcodec.codec.colour import layout_of_form
from mmpcodec.format.container import Header
from mmpcodec.format.layouts import WEIGHTS, Layout, earlier_planes
from mmpcodec.params import EncodeParams
from mmpcodec.reference.filter_bank import ACTIVITIES, value_of
from mmpcodec.samples import Form
from mmpcodec.tools import Tools

USUAL_FILTER_BANK = value_of([2] * ACTIVITIES)
"""The filter bank of tool sets if the encoder chooses it: scale 1 for all activities."""


def params_of_layer(
    candidate: EncodeParams, form: Form, layout: Layout, layer: int
) -> EncodeParams:
    """Return the parameters of a candidate for a layer of colour of this number."""
    weight = WEIGHTS[layout][layer] if form.colours == 3 else 1.0
    planes = min(candidate.tools.earlier_planes, earlier_planes(form, layer))
    tools = replace(candidate.tools, earlier_planes=planes)
    return replace(candidate, lam=candidate.lam / weight, tools=tools)


def with_tool_sets(header: Header, candidates: Sequence[EncodeParams]) -> Header:
    """Return a header with the version, the start and the tool sets of an encoder.

    The sets are the tools of the first candidate with tools of version 2, by layer. They depend on
    nothing in the picture, so that tiles can be written before others are coded. A picture of one
    tile has none.
    """
    version, start = candidates[0].version, candidates[0].start
    header = replace(header, version=version, start=start.name if start else b"")
    later = [one for one in candidates if one.tools.prediction and one.tools.later_than(1)]
    if not later or not header.tile_size:
        return header
    layout = layout_of_form(header.form, later[0].lam)
    sets: dict[Tools, None] = {}
    for layer in range(header.form.colours):
        params = params_of_layer(later[0], header.form, layout, layer)
        bank = params.tools.filter_bank
        bank = USUAL_FILTER_BANK if bank is None else bank
        sets[replace(params.coded_tools, filter_bank=bank, post_filter=False)] = None
    return replace(header, tool_sets=tuple(sets))
