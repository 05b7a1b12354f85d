"""A look at all blocks of a fragment at once, so that the search need try few of them.

The encoder's, not the format's. Blocks are predicted from the source as a coder of this step might
leave it, since what they will be predicted from is not coded yet.
"""

from dataclasses import dataclass

import numpy as np

from mmpcodec.depth import BYTE, middle, most
from mmpcodec.params import RATE_MODELS
from mmpcodec.reference.blocks.coder import BlockPicture
from mmpcodec.reference.blocks.levels import MOST_LEVEL
from mmpcodec.reference.blocks.partition import (
    AVERAGE,
    LEAST_SQUARES,
    TEMPLATES,
    UNIT_LOG2,
    Block,
    BlockPlace,
    Units,
    forced_flag,
    fragment_places,
    is_outside,
)
from mmpcodec.reference.blocks.prediction import (
    References,
    least_squares,
    predict_from,
    surrounding,
)
from mmpcodec.reference.blocks.search.costs import BlockCosts
from mmpcodec.reference.blocks.search.effort import COARSE_SIZE, Effort
from mmpcodec.reference.blocks.search.trees import FoundTree, find_trees
from mmpcodec.reference.blocks.search.trial import hadamard_difference, rough_cost
from mmpcodec.reference.blocks.templates import average_of_places, has_place
from mmpcodec.reference.blocks.transform import dequantised, forward, inverse
from mmpcodec.reference.blocks.trees import BlockTrees
from mmpcodec.reference.trees.scales import COLUMNS, LEAF, ROWS

NEVER = (1 << 63) // 4
"""Cost of what cannot be."""
MODE_BITS = 5
"""What saying a mode is taken to cost."""


@dataclass
class Seen:
    """What the survey says of a block.

    Parameters
    ----------
    predicted, least : int
        Cost as one block that is predicted, and with the best splits.
    modes : list of int
        Promising ones.
    tree : int
        Cost as one block that is a tree.
    """

    predicted: int
    least: int
    modes: list[int]
    tree: int = NEVER

    @property
    def whole(self) -> int:
        """Cost as one block."""
        return min(self.predicted, self.tree)


class BlockSurvey:
    """Surveys the fragments of one picture.

    Parameters
    ----------
    source : (H, W) int array
        The padded picture.
    picture : BlockPicture
    effort : Effort
    rate_model : {"adaptive", "log2"}
        Of the indices of trees.

    Attributes
    ----------
    trees : dict of BlockPlace to FoundTree
        Those of the fragment that may be worthwhile.
    """

    def __init__(
        self,
        source: np.ndarray,
        picture: BlockPicture,
        effort: Effort,
        rate_model: str = RATE_MODELS[0],
    ):
        self.source = source
        self.picture = picture
        self.effort = effort
        self.rate_model = rate_model
        self.trees: dict[BlockPlace, FoundTree] = {}
        self.coarse = coarsened(source, picture.tools.step, picture.depth)
        self.units = Units(source.shape)
        self.units.mark(BlockPlace(0, 0, UNIT_LOG2, UNIT_LOG2), Block(0))
        self.units.known[:] = self.units.known[0, 0]
        self.seen: dict[BlockPlace, Seen] = {}

    def look(self, fragment: BlockPlace, costs: BlockCosts) -> None:
        """Survey a fragment."""
        self.fragment = fragment
        self.seen = {}
        self._look_at(fragment, costs)
        if self.picture.trees:
            self._look_for_trees(self.picture.trees, costs)

    def worthwhile(self, place: BlockPlace, flag: int) -> bool:
        """Whether a block may have this flag."""
        forced = forced_flag(place, self.source.shape)
        if forced is not None:
            return flag == forced
        if flag not in possible_flags(place):
            return False
        seen = self.seen[place]
        cost = seen.whole if flag == LEAF else self._split_cost(place, flag)
        return cost <= self._most(seen.least)

    def may_be_predicted(self, place: BlockPlace) -> bool:
        """Whether predicting a block that is not split may be cheaper than its tree."""
        seen = self.seen[place]
        return seen.predicted <= self._most(seen.whole)

    def _most(self, least: int) -> int:
        """What a way to code a block may cost by guess, where the least is this."""
        return least + least * self.effort.slack // 100

    def _look_for_trees(self, trees: BlockTrees, costs: BlockCosts) -> None:
        """Find the trees that may be worthwhile, and take them into account."""
        bounds = {
            place: self._most(seen.least)
            for place, seen in self.seen.items()
            if forced_flag(place, self.source.shape) is None and trees.may_be(place)
        }
        lambda_fixed = costs.lambda_fixed
        self.trees = find_trees(self.source, trees, bounds, lambda_fixed, self.rate_model)
        # What a block is split into comes before it.
        for place, seen in self.seen.items():
            if place in self.trees:
                seen.tree = self.trees[place].cost + int(costs.tree[place.size, 1, 1])
            splits = (self._split_cost(place, flag) for flag in possible_flags(place)[1:])
            seen.least = min(seen.whole, *splits, NEVER)

    def _look_at(self, place: BlockPlace, costs: BlockCosts) -> int:
        """Survey a block and all that it can be split into; gives the least cost."""
        if is_outside(place, self.source.shape):
            return 0
        if place not in self.seen:
            whole: int = NEVER
            modes: list[int] = []
            if forced_flag(place, self.source.shape) is None:
                whole, modes = self._look_at_whole(place, costs)
            least = whole
            for flag in possible_flags(place)[1:]:
                for half in place.halves(flag):
                    self._look_at(half, costs)
                least = min(least, self._split_cost(place, flag))
            self.seen[place] = Seen(whole, least, modes)
        return self.seen[place].least

    def _split_cost(self, place: BlockPlace, flag: int) -> int:
        halves = sum(
            self.seen[half].least
            for half in place.halves(flag)
            if not is_outside(half, self.source.shape)
        )
        # The least of many guesses is too low a guess.
        return halves + (halves >> 5)

    def _look_at_whole(self, place: BlockPlace, costs: BlockCosts) -> tuple[int, list[int]]:
        """Cost of a block that is not split, and its promising modes."""
        source = self.source[place.slices]
        around, depth = self._references(place), self.picture.depth
        last = LEAST_SQUARES if self.picture.has_least_squares(place) else LEAST_SQUARES - 1
        found = []
        for mode in range(AVERAGE, last + 1):
            if mode == LEAST_SQUARES:
                prediction = least_squares(self.coarse, self.units, place, depth)
            else:
                prediction = predict_from(mode, around, place.height, place.width, depth)
            difference = source - prediction
            found.append((hadamard_difference(difference, costs.coarser), mode, difference))
        found.sort(key=lambda candidate: candidate[:2])
        step = self.picture.tools.step
        difference = self._template_difference(place, found[0][0], costs)
        if difference is not None:
            rated = hadamard_difference(difference, costs.coarser), TEMPLATES, difference
            # At most one of the others may look better.
            if rated[0] < found[1][0]:
                found = sorted([*found, rated], key=lambda candidate: candidate[:2])
        whole = min(
            MODE_BITS * costs.plain + rough_cost(difference, place, step, costs)
            for _, _, difference in found[: self.effort.rough]
        )
        return whole, [mode for _, mode, _ in found[: self.effort.surveyed]]

    def _template_difference(
        self, place: BlockPlace, least: int, costs: BlockCosts
    ) -> np.ndarray | None:
        """Source less prediction by templates, or None where that is not worth the search.

        Parameters
        ----------
        place : BlockPlace
        least : int
            Hadamard difference of the best other mode.
        costs : BlockCosts
        """
        tools, area = self.picture.tools, place.height * place.width
        decoded = self._decoded_samples(place)
        large = self.effort.matching * least >= tools.step * area << costs.finer
        if not (tools.templates and large and has_place(decoded, place)):
            return None
        prediction = average_of_places(
            self.coarse, decoded, place, tools.templates, self.picture.depth
        )
        return self.source[place.slices] - prediction

    def _decoded_samples(self, place: BlockPlace) -> np.ndarray:
        """(H,) int array: samples that such a coder would have decoded before a block, by row."""
        fragment, (height, width) = self.fragment, self.source.shape
        decoded = np.zeros(height, np.int64)
        decoded[: fragment.row + fragment.height] = fragment.column
        decoded[: place.row + place.height] = place.column
        decoded[: place.row] = place.column + place.width
        decoded[: fragment.row] = width
        return decoded

    def _references(self, place: BlockPlace) -> References:
        """The samples that a coder which goes from the top left would know around a block."""
        row, column, fragment = place.row, place.column, self.fragment
        height, width = self.source.shape
        length = place.height + place.width
        right = width if row == fragment.row else column + place.width
        first_column = column == fragment.column
        bottom = fragment.row + fragment.height if first_column else row + place.height

        def line(samples: np.ndarray) -> np.ndarray:
            return samples[np.minimum(np.arange(length), len(samples) - 1)]

        above = line(self.coarse[row - 1, column:right]) if row else None
        left = line(self.coarse[row : min(bottom, height), column - 1]) if column else None
        corner = int(self.coarse[row - 1, column - 1])
        return surrounding(above, left, corner, length, self.picture.depth)


def possible_flags(place: BlockPlace) -> tuple[int, ...]:
    """The flags that a block of this size may have, in the order of the search."""
    columns = (COLUMNS,) if place.width_log2 > UNIT_LOG2 else ()
    rows = (ROWS,) if place.height_log2 > UNIT_LOG2 else ()
    return (LEAF, *columns, *rows)


def coarsened(source: np.ndarray, step: int, depth: int = BYTE) -> np.ndarray:
    """The source with its 16x16 blocks quantised.

    Noise in what a block is predicted from makes small blocks look no better than they are.

    Parameters
    ----------
    source : (H, W) int array
        The padded picture.
    step : int
    depth : int

    Returns
    -------
    (H, W) int64 array
        Samples; as the source in blocks that reach beyond the picture.
    """
    coarse = source.astype(np.int64)
    for place in fragment_places(source.shape, COARSE_SIZE):
        if forced_flag(place, source.shape) is not None:
            continue
        coefficients = forward(coarse[place.slices] - middle(depth), False, depth)
        sizes = np.minimum((40 * np.abs(coefficients) + 7 * step) // (20 * step), MOST_LEVEL)
        kept = dequantised(np.sign(coefficients) * sizes, step)
        residual = inverse(kept, COARSE_SIZE, COARSE_SIZE, False, depth)
        coarse[place.slices] = np.clip(middle(depth) + residual, 0, most(depth))
    return coarse
