"""The tools of predicted blocks, and their trained initial states, as native structures hold them.

No CuPy here: the layout can be checked where there is no device.
"""

import numpy as np

from mmpcodec.reference.blocks.models import START_STEPS, independent_step, start_class
from mmpcodec.reference.blocks.partition import is_small
from mmpcodec.tools import BlockTools

NATIVE_TOOLS = (
    *("fragment_size", "templates", "step", "dictionary", "pdpc", "initial_states"),
    *("cross_component", "fixed_filters", "dependent", "ternary", "fine_contexts", "delta_step"),
    *("trained_transforms", "border_sines", "transform_skip", "quantisation_matrix"),
)
"""The tools in the order of ``MMP_BLOCK_TOOLS``."""
TOOLS_DTYPE = np.dtype([(name, "i4") for name in (*NATIVE_TOOLS, "fragment_log2")])


def native_tools(tools: BlockTools, padded: tuple[int, int]) -> tuple[int, ...]:
    """Return the tools of a plane of this padded size as a value of ``TOOLS_DTYPE``."""
    values = {name: int(getattr(tools, name) or 0) for name in NATIVE_TOOLS}
    values["border_sines"] &= is_small(padded)
    return *values.values(), tools.fragment_size.bit_length() - 1


def states_offset(tools: BlockTools, padded: tuple[int, int], states_bytes: int) -> int:
    """Return where the initial states of a plane begin.

    Parameters
    ----------
    tools : BlockTools
    padded : (int, int)
        Padded height and width of the plane.
    states_bytes : int
        Bytes of the initial states of usual and then of small planes.
    """
    classes = len(START_STEPS) + 1
    own = is_small(padded) * classes + start_class(independent_step(tools))
    return own * (states_bytes // (2 * classes))
