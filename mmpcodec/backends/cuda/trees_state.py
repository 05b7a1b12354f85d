"""The structures of ``kernels/cuda/trees/state.cuh``, and a plan of the memory that they point to.

No CuPy here: the layout can be checked where there is no device.
"""

import secrets
from dataclasses import dataclass

import numpy as np

from mmpcodec.format.tool_fields import HEADER_TOOLS
from mmpcodec.params import EncodeParams
from mmpcodec.reference.trees.dictionary import CELL_SIZE, CLASS_COUNT
from mmpcodec.reference.trees.fragments import padded_shape
from mmpcodec.reference.trees.models import FLAG_CONTEXTS
from mmpcodec.reference.trees.scales import (
    FRAGMENT_SIZE,
    PIXEL_SCALE,
    SCALES,
    Scale,
    reachable_scales,
)
from mmpcodec.tools import TREES, TreeTools

CLASS_SLOTS = 64
CELLS = 256
MAX_NODES = 2 * FRAGMENT_SIZE**2 - 1
MAX_INSERTIONS = FRAGMENT_SIZE**2 - 1
"""Most insertions of a fragment into one dictionary: its splits."""

SEGMENTS = 961
PHASES = (
    "wait for learning",
    "search",
    "prepare",
    "wait for search",
    "choose tree",
    "rebuild",
    "learn",
    "publish",
)
ALIGNMENT = 256

DICTIONARY_DTYPE = np.dtype(
    [
        ("samples", "u8"),
        ("cost", "u8"),
        ("element_class", "u8"),
        ("count", "u8"),
        ("table", "u8"),
        ("cells", "u8"),
        ("insertion", "u8"),
    ],
    align=True,
)
PICTURE_DTYPE = np.dtype(
    [
        ("dictionaries", DICTIONARY_DTYPE, len(SCALES)),
        ("source", "u8"),
        ("samples", "u8"),
        ("leaf_scales", "u8"),
        ("rates", "u8"),
        ("nodes", "u8"),
        ("node_counts", "u8"),
        ("insertions", "u8"),
        ("first_class", "u8"),
        ("lambda_fixed", "i8"),
        ("height", "i4"),
        ("width", "i4"),
        ("padded_height", "i4"),
        ("padded_width", "i4"),
        *((tool.name, "i4") for tool in HEADER_TOOLS[TREES]),
        ("class_room", "u4"),
        ("hash_key", "u4"),
        ("table_mask", "u4"),
        ("chunk", "u4"),
        ("log2_rates", "u4"),
    ],
    align=True,
)
SCALE_DTYPE = np.dtype(
    [
        ("class_frequency", "u4", CLASS_COUNT),
        ("class_total", "u4", CLASS_COUNT),
        ("class_size", "u4", CLASS_COUNT),
        ("start", "u4"),
        ("hand", "u4"),
        ("entries", "u4"),
    ],
    align=True,
)
NODE_DTYPE = np.dtype(
    [
        ("index", "u2"),
        ("scale", "u1"),
        ("k", "u1"),
        ("l", "u1"),
        ("flag", "u1"),
        ("context", "u1"),
        ("unused", "u1"),
    ],
    align=True,
)
STATE_DTYPE = np.dtype(
    [
        ("picture", PICTURE_DTYPE),
        ("learnt", "u8", len(SCALES)),
        ("key", "u8", (2, SEGMENTS)),
        ("searched", "u4"),
        ("rebuilt", "u4"),
        ("class_cost", "i4", (len(SCALES), CLASS_SLOTS)),
        ("scales", SCALE_DTYPE, len(SCALES)),
        ("flag_frequency", "u4", (FLAG_CONTEXTS, len(SCALES), 3)),
        ("phase_cycles", "u8", len(PHASES)),
    ],
    align=True,
)


def scale_places() -> dict[Scale, slice]:
    """Return the places of each scale in the device's cost map, sorted by depth, then by scale."""
    places, start = {}, 0
    for scale in sorted(SCALES, key=lambda scale: (scale.n + scale.m, scale.number)):
        end = start + (1 << (scale.n + scale.m))
        places[scale] = slice(start, end)
        start = end
    return places


def element_bytes(scale: Scale, count: int) -> np.ndarray:
    """Return the byte offsets of the first elements' samples; see ``element_word`` of the device.

    Returns
    -------
    (count, height * width) int64 array
    """
    area = scale.height * scale.width
    element, sample = np.arange(count)[:, None], np.arange(area)[None, :]
    if area < 16:
        return element * area + sample
    word = sample // 4
    if area == 16:
        row = element % 32
        words = element // 32 * 128 + (row % 8 * 4 + word) * 4 + row // 8
    else:
        row = element % 16
        piece = element // 16 * 4 * area + word // 8 * 128
        words = piece + (row % 8 * 4 + word % 4) * 4 + word % 8 // 4 * 2 + row // 8
    return words * 4 + sample % 4


def has_dictionary_tools(tools: TreeTools) -> bool:
    """Return whether a redundancy radius or replacement is on."""
    return bool(tools.redundancy_radius or tools.replacement)


def trees_dtype(chunk: int, tools: TreeTools) -> np.dtype:
    """Return the structure of one picture that the device writes into host memory: ``ChosenTrees``.

    Parameters
    ----------
    chunk : int
        Fragments of one launch. There are two slots: the host reads one while the device writes
        the other.
    tools : TreeTools
    """
    room = tools.dictionary_limit
    if tools.replacement:
        # While the device writes one launch's insertions, the host reads those of the launch before
        # it and of the last fragment before that launch.
        room = (2 * chunk + 1) * MAX_INSERTIONS
    return np.dtype(
        [
            ("nodes", "u4", (2, chunk * MAX_NODES)),
            ("node_counts", "u4", (2, chunk)),
            ("insertions", "u4", (2, chunk, len(SCALES))),
            ("first_class", "u1", (len(SCALES), room)),
        ],
        align=True,
    )


@dataclass(frozen=True)
class DictionaryPlan:
    """Layout of the dictionaries of one picture in a piece of device memory.

    Parameters
    ----------
    offsets : dict of (Scale, str) to int
        Byte offset of each array.
    cleared : int
        Bytes at the front that must be zero at the start.
    size : int
        Size in bytes.
    table_mask : int
        Number of slots of a hash table, less 1.
    """

    offsets: dict[tuple[Scale, str], int]
    cleared: int
    size: int
    table_mask: int


def plan_dictionaries(tools: TreeTools) -> DictionaryPlan:
    """Lay out the dictionaries of all scales that the partition reaches."""
    limit = tools.dictionary_limit
    table = 1 << (2 * limit - 1).bit_length()
    offsets: dict[tuple[Scale, str], int] = {}
    place = 0

    def reserve(scale: Scale, name: str, size: int) -> None:
        nonlocal place
        offsets[scale, name] = place
        place += -(-size // ALIGNMENT) * ALIGNMENT

    scales = reachable_scales(tools.partition)
    for scale in scales:
        reserve(scale, "table", 8 * table)
        if tools.redundancy_radius and scale != PIXEL_SCALE:
            reserve(scale, "cells", 8 * CELLS * CELL_SIZE)
    cleared = place
    for scale in scales:
        # Up to 32 elements are interleaved, so the last group is reserved whole.
        reserve(scale, "samples", scale.height * scale.width * (-(-limit // 32) * 32))
        reserve(scale, "cost", 4 * limit)
        reserve(scale, "element_class", limit)
        if tools.redundancy_radius and tools.replacement:
            reserve(scale, "insertion", 4 * limit)
        reserve(scale, "count", 4 * limit)
    return DictionaryPlan(offsets, cleared, place, table - 1)


def make_state(
    params: EncodeParams, shape: tuple[int, int], plan: DictionaryPlan, dictionaries: int
) -> np.ndarray:
    """Return a state whose pointers to samples and trees are not set yet.

    Parameters
    ----------
    params : EncodeParams
    shape : (int, int)
        Height and width of the picture.
    plan : DictionaryPlan
    dictionaries : int
        Device address that the plan's offsets count from.

    Returns
    -------
    () array of STATE_DTYPE
    """
    state = np.zeros((), STATE_DTYPE)
    picture = state["picture"]
    for (scale, name), offset in plan.offsets.items():
        picture["dictionaries"][name][scale.number] = dictionaries + offset
    tools = params.coded_tools
    picture["lambda_fixed"] = params.lambda_fixed
    picture["height"], picture["width"] = shape
    picture["padded_height"], picture["padded_width"] = padded_shape(shape)
    for tool in HEADER_TOOLS[TREES]:
        picture[tool.name] = getattr(tools, tool.name)
    picture["log2_rates"] = params.rate_model == "log2"
    picture["hash_key"] = secrets.randbits(32)
    picture["table_mask"] = plan.table_mask
    return state


def dictionary_sizes(states: np.ndarray) -> np.ndarray:
    """Return the number of elements of each scale; a full dictionary replaces elements.

    Returns
    -------
    (..., 25) int64 array
    """
    insertions = (states["learnt"] & np.uint64(0xFFFFFFFF)).astype(np.int64)
    return np.minimum(insertions, states["picture"]["dictionary_limit"][..., None])
