"""The presets: named sets of tools, at each effort, and the options that change them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from mmpcodec.checks import check_switch
from mmpcodec.errors import ParameterError
from mmpcodec.tools import (
    BLOCK_TOOLS,
    LOSSLESS_TOOLS,
    TABLES,
    TREE_TOOLS,
    BlockTools,
    LosslessTools,
    Tools,
    TreeTools,
    trees_of,
)

DEFAULT_EFFORT = 2
"""Effort of the search for predicted blocks. A photograph of 12 megapixels takes seconds; decision
20 has rates and times."""
SLOW_TOOLS = {"trained_transforms": 3, "transform_skip": 3, "ternary": 4}
"""Tools that take long to search, and the effort from which presets have them."""
FORM_EFFORTS = {1: 1, 2: 2, 6: 3}
"""The efforts from which presets have a lossless form, and its number; decisions 84 and 85
have times."""

EYE_FRAGMENT = 32
"""Size of fragments that is tuned for the eye: an area of one importance."""
EYE_WEIGHTS = 6
"""Strength of the quantisation matrix that is tuned for the eye, on photographs."""
EYE_TOOLS = frozenset({"delta_step", "quantisation_matrix"})
"""Tools that an encoder needs to be tuned for the eye: they need to know what matters, and do not
serve squared error."""

CODING_OPTIONS = ("prediction", "dictionary", "lossless")
"""Options that choose the coding of a named preset: predicted blocks, blocks that can be trees,
lossless samples. For "auto" and "best" they choose presets."""
TOOL_OPTIONS = tuple(dict.fromkeys((*TREE_TOOLS, *BLOCK_TOOLS, *LOSSLESS_TOOLS, *CODING_OPTIONS)))
"""Names of the options that change the tools of a preset."""

_PHOTO = BlockTools(
    **{
        row.name: row.fullest
        for row in BLOCK_TOOLS.values()
        if row.name not in {"step", "dictionary", *EYE_TOOLS}
    }
)
_TEXT = TreeTools(
    copy_radius=1,
    dictionary_limit=65536,
    displaced_blocks=2,
    redundancy_radius=None,
    replacement=True,
)
_PRESETS: dict[str, Tools] = {
    "photo": _PHOTO,
    "text": _TEXT,
    "mixed": replace(_PHOTO, fragment_size=32, trees=replace(_TEXT, post_filter=False)),
    "lossless": LosslessTools(),
    "plain": TreeTools(),
    "classic": TreeTools(
        index_classes=False, flag_contexts=False, copy_radius=8, post_filter=False
    ),
}


def lossless_tools(effort: int) -> LosslessTools:
    """Return the tools of preset lossless at an effort."""
    return LosslessTools(FORM_EFFORTS[max(least for least in FORM_EFFORTS if least <= effort)])


def preset_tools(name: str, effort: int = DEFAULT_EFFORT) -> Tools:
    """Return the tools of a preset at an effort from 1 to 9.

    Tools whose search takes too long at the effort are left out.
    """
    tools = _PRESETS[name]
    if isinstance(tools, LosslessTools):
        return lossless_tools(effort)
    if isinstance(tools, BlockTools):
        slow: dict[str, Any] = {each: effort >= least for each, least in SLOW_TOOLS.items()}
        return replace(tools, **slow)
    return tools


PRESETS: dict[str, Tools] = {name: preset_tools(name) for name in _PRESETS}
"""Named sets of tools at the default effort; "auto" is no set but tries several."""


def for_eye(tools: Tools) -> Tools:
    """Return tools with those that serve the eye; decision 42 has measurements.

    Pages keep equal steps for all frequencies, because their strokes have high ones.
    """
    if not isinstance(tools, BlockTools):
        return tools
    strength = 0 if tools.trees else EYE_WEIGHTS
    return replace(
        tools,
        fragment_size=EYE_FRAGMENT,
        delta_step=True,
        quantisation_matrix=strength,
        transform_skip=tools.transform_skip and not strength,
    )


def preset_of(tools: Tools) -> str | None:
    """Return the name of the preset that has these tools at some effort, or None.

    Examples
    --------
    >>> from mmpcodec.presets import PRESETS, preset_of
    >>> preset_of(PRESETS["text"])
    'text'
    """
    efforts = {1, *SLOW_TOOLS.values(), *FORM_EFFORTS}
    alike = (name for name in PRESETS if any(preset_tools(name, each) == tools for each in efforts))
    return next(alike, None)


def presets_where(holds: Callable[[Tools], bool]) -> str:
    """Return the presets of whose tools a condition holds, for messages; "" if there is none.

    Examples
    --------
    >>> from mmpcodec.presets import presets_where
    >>> from mmpcodec.tools import BlockTools
    >>> presets_where(lambda tools: isinstance(tools, BlockTools))
    'preset photo or mixed'
    """
    names = [name for name, tools in PRESETS.items() if holds(tools)]
    if not names:
        return ""
    return f"preset {' or '.join(filter(None, [', '.join(names[:-1]), names[-1]]))}"


def has_effect(option: str, tools: Tools) -> bool:
    """Return whether an option changes these tools, which are those of a preset."""
    of_trees = trees_of(tools) is not None and option in TREE_TOOLS
    return of_trees or option in CODING_OPTIONS or option in TABLES[tools.coding]


def _choices(tools: Tools) -> dict[str, bool]:
    """Return the values of ``CODING_OPTIONS`` that stand for the coding of tools."""
    blocks = isinstance(tools, BlockTools)
    trees = blocks and trees_of(tools) is not None
    return {"prediction": blocks, "dictionary": trees, "lossless": tools.lossless}


def suits(tools: Tools, given: Mapping[str, Any]) -> bool:
    """Return whether a preset has the coding that options ask for, and all options affect it."""
    choices = _choices(tools)
    return all(
        check_switch(name, value) == choices[name] if name in choices else has_effect(name, tools)
        for name, value in given.items()
    )


def of_coding(tools: Tools, given: Mapping[str, Any]) -> Tools:
    """Return the tools of a preset in the coding that the options ``CODING_OPTIONS`` ask for."""
    asked = {name: check_switch(name, given[name]) for name in CODING_OPTIONS if name in given}
    prediction, dictionary, lossless = (_choices(tools) | asked).values()
    if lossless and prediction:
        if "prediction" in given:
            raise ParameterError("prediction = True: must be False with lossless")
        raise ParameterError(
            "lossless = True: the preset has predicted blocks; take preset lossless"
        )
    if dictionary and not prediction:
        raise ParameterError("dictionary = True: must be False without prediction")
    if lossless:
        return tools if isinstance(tools, LosslessTools) else LosslessTools()
    trees = replace(trees_of(tools) or TreeTools(), post_filter=tools.post_filter)
    if not prediction:
        return trees
    blocks = tools if isinstance(tools, BlockTools) else BlockTools(post_filter=tools.post_filter)
    return replace(blocks, trees=replace(trees, post_filter=False) if dictionary else None)


def with_options(tools: Tools, given: Mapping[str, Any]) -> Tools:
    """Return the tools of a preset with the values of options, all of which have an effect."""
    found = of_coding(tools, given)
    own: dict[str, Any] = {}
    trees: dict[str, Any] = {}
    for name in given.keys() - set(CODING_OPTIONS):
        (own if name in TABLES[found.coding] else trees)[name] = given[name]
    if trees and isinstance(found, BlockTools) and found.trees:
        own["trees"] = replace(found.trees, **trees)
    return replace(found, **own)
