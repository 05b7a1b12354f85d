"""Delta step: the quantisation step of each fragment of a layer.

Source: section "Delta step" of ``docs/format/format.md``. Weights of fragments are *encoder
only*.
"""

from dataclasses import dataclass
from itertools import chain

import numpy as np

from mmpcodec.errors import CorruptStream
from mmpcodec.quality import LAMBDA_FRACTION_BITS, MAX_LAMBDA
from mmpcodec.reference.blocks.models import FURTHER_MODELS, BlockModels
from mmpcodec.reference.entropy.binary import BitCoder
from mmpcodec.tools import BLOCK_TOOLS, BlockTools, Tools

SECTION = "Delta step"
MOST_CHANGE = 24
"""Largest step change, in quarters of a doubling: a factor of 64."""
FACTORS = (16384, 19484, 23170, 27554)
"""0 to 3 quarters of a doubling, in 1/16384."""
FACTOR_BITS = 14
WHOLE_PLANE = 1 << 30
"""A size of fragments of which one covers any plane."""
MOST_LAMBDA_FIXED = int(MAX_LAMBDA) << LAMBDA_FRACTION_BITS


def _scaled(number: int, quarters: int) -> int:
    """Return a number times 2**(quarters / 4), rounded."""
    doublings, rest = divmod(quarters, 4)
    shift = FACTOR_BITS - doublings
    number *= FACTORS[rest]
    return (number + (1 << shift >> 1)) >> shift if shift > 0 else number << -shift


def step_at(step: int, change: int) -> int:
    """Return the step of a fragment from the step of its layer.

    Examples
    --------
    >>> from mmpcodec.reference.blocks.steps import step_at
    >>> [step_at(100, change) for change in (-24, -4, -1, 0, 1, 4, 24)]
    [2, 50, 84, 100, 119, 200, 6400]
    """
    return min(max(_scaled(step, change), 1), BLOCK_TOOLS["step"].high)


def lambda_at(lambda_fixed: int, change: int) -> int:
    """Return the lambda of a fragment from that of its layer: it follows the square of the step."""
    return min(_scaled(lambda_fixed, 2 * change), MOST_LAMBDA_FIXED)


def fragments_across(shape: tuple[int, int], size: int) -> tuple[int, int]:
    """Return the numbers of rows and of columns of fragments of this size in a plane."""
    return -(-shape[0] // size), -(-shape[1] // size)


def predicted_change(changes: np.ndarray, row: int, column: int) -> tuple[int, int]:
    """Predict the step change of a fragment from those of the fragments before it.

    Parameters
    ----------
    changes : (R, C) int array
    row, column : int
        Row and column of the fragment among the fragments.

    Returns
    -------
    prediction : int
    context : int
        1 if the changes above and to the left differ, else 0.
    """
    if not row or not column:
        before = changes[row, column - 1] if column else changes[row - 1, column] if row else 0
        return int(before), 0
    left, above = int(changes[row, column - 1]), int(changes[row - 1, column])
    plane = left + above - int(changes[row - 1, column - 1])
    return min(max(plane, min(left, above)), max(left, above)), int(left != above)


def code_change(
    coder: BitCoder, models: BlockModels, changes: np.ndarray, row: int, column: int, encodes: bool
) -> None:
    """Code the step change of a fragment.

    Parameters
    ----------
    coder : BitCoder
    models : BlockModels
    changes : (R, C) int array
        A decoder writes the change of the fragment.
    row, column : int
        Row and column of the fragment among the fragments.
    encodes : bool

    Raises
    ------
    CorruptStream
        If the decoded change is out of range.
    """
    prediction, context = predicted_change(changes, row, column)
    given = int(changes[row, column]) - prediction if encodes else None
    size = models.changed.code(coder, (context,), None if given is None else given != 0)
    difference = 0
    if size:
        finer = models.finer.code(coder, (0,), None if given is None else given < 0)
        while size < 2 * MOST_CHANGE and models.further.code(
            coder,
            (min(size, FURTHER_MODELS) - 1,),
            None if given is None else abs(given) > size,
        ):
            size += 1
        difference = -size if finer else size
    change = prediction + difference
    if abs(change) > MOST_CHANGE:
        allowed = f"allowed is {-MOST_CHANGE} to {MOST_CHANGE}"
        raise CorruptStream(SECTION, f"step change is {change}, {allowed}")
    changes[row, column] = change


@dataclass(frozen=True)
class PlaneSteps:
    """The quantisation step of each fragment of a plane.

    Parameters
    ----------
    size : int
        Height and width of a fragment in samples.
    numbers : (R, C) uint8 array
        Number of each fragment's step among the steps.
    steps : tuple of int
        Distinct steps.
    changes : tuple of int
        Step change of each of them.
    """

    size: int
    numbers: np.ndarray
    steps: tuple[int, ...]
    changes: tuple[int, ...]

    def of_samples(self, shape: tuple[int, ...]) -> np.ndarray:
        """Return the number of each sample's step among the steps, an (H, W) array."""
        rows, columns = (np.arange(length) // self.size for length in shape)
        return self.numbers[rows[:, None], columns]


def one_step(step: int) -> PlaneSteps:
    """Return the steps of a plane, of any size, that has one."""
    return PlaneSteps(WHOLE_PLANE, np.zeros((1, 1), np.uint8), (step,), (0,))


def steps_of(tools: Tools, changes: np.ndarray | None) -> PlaneSteps:
    """Return the steps of a plane.

    Parameters
    ----------
    tools : Tools
        Of the layer.
    changes : (R, C) int array or None
        Delta step of its fragments; None without the tool *delta step*.

    Examples
    --------
    >>> import numpy as np
    >>> from mmpcodec.reference.blocks.steps import steps_of
    >>> from mmpcodec.tools import BlockTools
    >>> tools = BlockTools(fragment_size=16, step=160, delta_step=True)
    >>> found = steps_of(tools, np.array([[0, -4], [4, 0]]))
    >>> found.steps, found.numbers.tolist()
    ((80, 160, 320), [[1, 0], [2, 1]])
    """
    if changes is None or not isinstance(tools, BlockTools):
        return one_step(tools.step)
    found, numbers = np.unique(changes, return_inverse=True)
    distinct = tuple(found.tolist())
    steps = tuple(step_at(tools.step, change) for change in distinct)
    return PlaneSteps(
        tools.fragment_size, numbers.reshape(changes.shape).astype(np.uint8), steps, distinct
    )


def weight_of(change: int) -> int:
    """Return how much a squared error counts in a fragment, 4096 or more: *encoder only*."""
    return _scaled(1 << 24, -2 * change)


@dataclass(frozen=True)
class FragmentMap:
    """How much the samples of each fragment count. *Encoder only*.

    Parameters
    ----------
    changes : (R, C) int8 array
        Delta step, -24 to 24; all 0 without the tool *delta step*.
    hidden : (R, C) bool array
        Whether no sample of the fragment is seen: it then costs as few bits as possible.
    cells : (ceil(H / 8), ceil(W / 8)) uint8 array or None
        Weights of cells of 8x8 samples in 1/16, 4 to 64; None if all are 16. They count only with
        a quantisation matrix.
    """

    changes: np.ndarray
    hidden: np.ndarray
    cells: np.ndarray | None = None

    def lambdas(self, lambda_fixed: int) -> np.ndarray:
        """Return the lambda of each fragment in 1/65536 squared error per bit, int64."""
        rows = self.changes.tolist()
        of_change = {each: lambda_at(lambda_fixed, each) for each in {*chain(*rows)}}
        found = np.array([[of_change[each] for each in row] for row in rows])
        return np.where(self.hidden, MOST_LAMBDA_FIXED, found).astype(np.int64)


def flat_map(shape: tuple[int, int], size: int) -> FragmentMap:
    """Return the map of a plane whose fragments, of this size, all count alike."""
    across = fragments_across(shape, size)
    return FragmentMap(np.zeros(across, np.int8), np.zeros(across, bool))
