"""What the device holds of a picture: the structures of ``kernels/cuda/state.cuh``, and a plan of
the memory that they point to.

No CuPy here: the layout can be checked where there is no device.
"""

from dataclasses import dataclass

import numpy as np

from mmpcodec.codec.dictionary import CLASS_COUNT
from mmpcodec.codec.models import FLAG_CONTEXTS
from mmpcodec.codec.scales import FRAGMENT_SIZE, SCALES, Scale, reachable_scales
from mmpcodec.params import EncodeParams, Partition

CLASS_SLOTS = 64
COUNT_BLOCK = 128
MAX_NODES = 2 * FRAGMENT_SIZE**2 - 1
MAX_SYMBOLS = 3 * FRAGMENT_SIZE**2 - 1
"""Most symbols of a fragment: 256 single samples send class and element, 255 splits a flag."""

SEGMENTS = 961
PHASES = (
    "plan",
    "search",
    "wait for search",
    "tree",
    "code",
    "wait for tree",
    "learn",
    "wait for learn",
)
ALIGNMENT = 256

DICTIONARY_DTYPE = np.dtype(
    [
        ("samples", "u8"),
        ("cost", "u8"),
        ("element_class", "u8"),
        ("count", "u8"),
        ("block_total", "u8"),
        ("table", "u8"),
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
        ("symbols", "u8"),
        ("symbol_count", "u8"),
        ("lambda_fixed", "i8"),
        ("height", "i4"),
        ("width", "i4"),
        ("padded_height", "i4"),
        ("padded_width", "i4"),
        ("partition", "i4"),
        ("index_classes", "i4"),
        ("flag_contexts", "i4"),
        ("copy_radius", "i4"),
        ("dictionary_limit", "u4"),
        ("table_mask", "u4"),
        ("count_blocks", "u4"),
        ("log2_rates", "u4"),
    ],
    align=True,
)
SCALE_DTYPE = np.dtype(
    [
        ("size", "u4"),
        ("class_frequency", "u4", CLASS_COUNT),
        ("class_total", "u4", CLASS_COUNT),
        ("class_size", "u4", CLASS_COUNT),
        ("class_cost", "i4", CLASS_SLOTS),
    ],
    align=True,
)
NODE_DTYPE = np.dtype(
    [
        ("index", "u4"),
        ("symbol", "u2"),
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
        ("scales", SCALE_DTYPE, len(SCALES)),
        ("flag_frequency", "u4", (FLAG_CONTEXTS, len(SCALES), 3)),
        ("searched", "u4"),
        ("learnt", "u4"),
        ("chosen", "u4"),
        ("counted", "u4"),
        ("node_count", "u4"),
        ("unused", "u4"),
        ("nodes", NODE_DTYPE, MAX_NODES),
        ("coded", "u1", FRAGMENT_SIZE**2),
        ("key", "u8", SEGMENTS),
        ("phase_cycles", "u8", len(PHASES)),
    ],
    align=True,
)


@dataclass(frozen=True)
class DictionaryPlan:
    """Where the dictionaries of one picture lie in a piece of device memory.

    Parameters
    ----------
    offsets : dict of (Scale, str) to int
        Byte offset of each array.
    cleared : int
        The first so many bytes must be zero at the start.
    size : int
        Bytes in all.
    table_mask, count_blocks : int
        As in the state.
    """

    offsets: dict[tuple[Scale, str], int]
    cleared: int
    size: int
    table_mask: int
    count_blocks: int


def plan_dictionaries(partition: Partition, limit: int) -> DictionaryPlan:
    """Lay out the dictionaries of all scales that the partition reaches."""
    table = 1 << (2 * limit - 1).bit_length()
    blocks = -(-limit // COUNT_BLOCK)
    offsets: dict[tuple[Scale, str], int] = {}
    place = 0

    def reserve(scale: Scale, name: str, size: int) -> None:
        nonlocal place
        offsets[scale, name] = place
        place += -(-size // ALIGNMENT) * ALIGNMENT

    scales = reachable_scales(partition)
    for scale in scales:
        reserve(scale, "table", 8 * table)
        reserve(scale, "block_total", 4 * CLASS_COUNT * blocks)
    cleared = place
    for scale in scales:
        # Chunks of 32 elements lie side by side, so the last ones are reserved whole.
        reserve(scale, "samples", scale.height * scale.width * (-(-limit // 32) * 32))
        reserve(scale, "cost", 4 * limit)
        # These are read in whole blocks.
        reserve(scale, "element_class", blocks * COUNT_BLOCK)
        reserve(scale, "count", 4 * blocks * COUNT_BLOCK)
    return DictionaryPlan(offsets, cleared, place, table - 1, blocks)


def make_state(
    params: EncodeParams, shape: tuple[int, int], plan: DictionaryPlan, dictionaries: int
) -> np.ndarray:
    """A state whose pictures and symbols are still to be pointed to.

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
    tools = params.tools
    picture["lambda_fixed"] = params.lambda_fixed
    picture["height"], picture["width"] = shape
    picture["padded_height"], picture["padded_width"] = padded_shape(shape)
    picture["partition"] = tools.partition
    picture["index_classes"] = tools.index_classes
    picture["flag_contexts"] = tools.flag_contexts
    picture["copy_radius"] = tools.copy_radius
    picture["dictionary_limit"] = tools.dictionary_limit
    picture["log2_rates"] = params.rate_model == "log2"
    picture["table_mask"] = plan.table_mask
    picture["count_blocks"] = plan.count_blocks
    return state


def padded_shape(shape: tuple[int, int]) -> tuple[int, int]:
    """Height and width in whole fragments."""
    height, width = (-(-length // FRAGMENT_SIZE) * FRAGMENT_SIZE for length in shape)
    return height, width
