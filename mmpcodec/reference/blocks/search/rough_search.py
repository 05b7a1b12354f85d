"""Rough search: estimates the cost of every possible block of a fragment before the search.

*Encoder only*. The search then tries only the promising splits and modes. The rough search predicts
from a coarsely quantised source, because the decoded neighbours do not exist yet.
"""

from dataclasses import dataclass

import numpy as np

from mmpcodec.depth import BYTE, middle, most
from mmpcodec.params import RATE_MODELS
from mmpcodec.reference.blocks.coder import BlockPicture
from mmpcodec.reference.blocks.levels import MOST_LEVEL
from mmpcodec.reference.blocks.models import independent_step
from mmpcodec.reference.blocks.partition import (
    AVERAGE,
    FIRST_ANGLE,
    TEMPLATES,
    UNIT_LOG2,
    Block,
    BlockPlace,
    Units,
    forced_flag,
    fragment_places,
    is_outside,
)
from mmpcodec.reference.blocks.planes import predict_from_planes
from mmpcodec.reference.blocks.prediction import (
    References,
    blended,
    predict_from,
    surrounding,
)
from mmpcodec.reference.blocks.search.cell_weights import weight_in
from mmpcodec.reference.blocks.search.costs import BlockCosts
from mmpcodec.reference.blocks.search.effort import COARSE_SIZE, MOST_MATCHED_STEP, Effort
from mmpcodec.reference.blocks.search.trees import FoundTree, find_trees
from mmpcodec.reference.blocks.search.trial import hadamard_difference, rough_cost
from mmpcodec.reference.blocks.templates import average_of_places, has_place
from mmpcodec.reference.blocks.transform import dequantised, forward, inverse
from mmpcodec.reference.blocks.trees import BlockTrees
from mmpcodec.reference.trees.copy_search import CopySearch
from mmpcodec.reference.trees.scales import LEAF

NEVER = (1 << 63) // 4
"""Cost of an impossible choice."""
MODE_BITS = 5
"""Estimate of the bits that code a mode."""


@dataclass
class Seen:
    """Estimates of the rough search for one block. Costs are in 1/16 squared error.

    Parameters
    ----------
    predicted : int
        Cost without a split, as a predicted block.
    least : int
        Least cost, with or without splits.
    modes : list of int
        The most promising modes, best first.
    tree : int
        Cost without a split, as a tree.
    """

    predicted: int
    least: int
    modes: list[int]
    tree: int = NEVER

    @property
    def whole(self) -> int:
        """Cost without a split, predicted or as a tree."""
        return min(self.predicted, self.tree)


class RoughSearch:
    """Searches the fragments of one picture.

    Parameters
    ----------
    source : (H, W) int array
        The padded picture.
    picture : BlockPicture
    effort : Effort
    rate_model : {"adaptive", "log2"}
        How the rates of indices in trees are computed; see ``index_costs``.
    cells : array or None
        See ``weight_in``.

    Attributes
    ----------
    seen : dict of BlockPlace to Seen
        Estimates for the blocks of the fragment.
    trees : dict of BlockPlace to FoundTree
        The cheapest trees of the fragment's blocks for which a tree may pay.
    """

    def __init__(
        self,
        source: np.ndarray,
        picture: BlockPicture,
        effort: Effort,
        rate_model: str = RATE_MODELS[0],
        cells: np.ndarray | None = None,
    ):
        self.source = source
        self.picture = picture
        self.effort = effort
        self.rate_model = rate_model
        self.cells = cells
        self.trees: dict[BlockPlace, FoundTree] = {}
        trees = picture.trees
        self.copies = CopySearch(trees.models, trees.dictionaries, trees.copies) if trees else None
        self.coarse = source.astype(np.int64)
        for fragment in fragment_places(source.shape, picture.tools.fragment_size):
            step = independent_step(picture.tools_of(fragment))
            own = fragment.slices
            self.coarse[own] = coarsened(source[own], step, picture.depth)
        self.units = Units(source.shape)
        self.units.mark(BlockPlace(0, 0, UNIT_LOG2, UNIT_LOG2), Block(0))
        self.units.known[:] = self.units.known[0, 0]
        self.seen: dict[BlockPlace, Seen] = {}

    def look(self, fragment: BlockPlace, costs: BlockCosts) -> None:
        """Search roughly a fragment; the results are in ``seen`` and ``trees``."""
        self.fragment = fragment
        self.seen = {}
        self._look_at(fragment, costs)
        if self.picture.trees:
            self._look_for_trees(self.picture.trees, costs)

    def worthwhile(self, place: BlockPlace, flag: int) -> bool:
        """Return whether the search should try a flag for a block."""
        forced = forced_flag(place, self.source.shape)
        if forced is not None:
            return flag == forced
        if flag not in self._flags(place):
            return False
        seen = self.seen[place]
        cost = seen.whole if flag == LEAF else self._split_cost(place, flag)
        return cost <= self._most(seen.least)

    def may_be_predicted(self, place: BlockPlace) -> bool:
        """Return whether the search should try to predict a block besides coding it as a tree."""
        seen = self.seen[place]
        return seen.predicted <= self._most(seen.whole)

    def _most(self, least: int) -> int:
        """Return the largest estimate that the search still tries, from the least estimate."""
        return least + least * self.effort.slack // 100

    def _look_for_trees(self, trees: BlockTrees, costs: BlockCosts) -> None:
        """Find the trees that may pay, and update the estimates with their costs."""
        bounds = {
            place: self._most(seen.least)
            for place, seen in self.seen.items()
            if forced_flag(place, self.source.shape) is None and trees.may_be(place)
        }
        lambda_fixed = costs.lambda_fixed
        assert self.copies is not None
        self.trees = find_trees(
            self.source, trees, self.copies, bounds, lambda_fixed, self.rate_model
        )
        # The parts of a block precede it in this order, so their estimates are updated first.
        for place, seen in self.seen.items():
            if place in self.trees:
                seen.tree = self.trees[place].cost + int(costs.tree[place.size, 1, 1])
            splits = (self._split_cost(place, flag) for flag in self._flags(place)[1:])
            seen.least = min(seen.whole, *splits, NEVER)

    def _look_at(self, place: BlockPlace, costs: BlockCosts) -> int:
        """Search roughly a block and all blocks that it can be split into; return the least
        cost."""
        if is_outside(place, self.source.shape):
            return 0
        if place not in self.seen:
            whole: int = NEVER
            modes: list[int] = []
            if forced_flag(place, self.source.shape) is None:
                whole, modes = self._look_at_whole(place, costs)
            least = whole
            for flag in self._flags(place)[1:]:
                for part in place.parts(flag):
                    self._look_at(part, costs)
                least = min(least, self._split_cost(place, flag))
            self.seen[place] = Seen(whole, least, modes)
        return self.seen[place].least

    def _split_cost(self, place: BlockPlace, flag: int) -> int:
        """Return the estimated cost of a block that is split."""
        parts = sum(
            self.seen[part].least
            for part in place.parts(flag)
            if not is_outside(part, self.source.shape)
        )
        # The least of several estimates is biased downwards; 1/32 corrects it.
        return parts + (parts >> 5)

    def _flags(self, place: BlockPlace) -> tuple[int, ...]:
        return place.flags(ternary=self.picture.tools.ternary)

    def _look_at_whole(self, place: BlockPlace, costs: BlockCosts) -> tuple[int, list[int]]:
        """Estimate the cost of an unsplit predicted block, and find its most promising modes."""
        source = self.source[place.slices]
        around, depth = self._references(place), self.picture.depth
        found = []
        for mode in range(AVERAGE, TEMPLATES):
            prediction = ranked = predict_from(mode, around, place.height, place.width, depth)
            if self.picture.tools.pdpc:
                prediction = blended(mode, prediction, around, depth)
                # Angles are ranked by what they predict before they are blended.
                ranked = prediction if mode < FIRST_ANGLE else ranked
            rank = hadamard_difference(source - ranked, costs.coarser)
            found.append((rank, mode, source - prediction))
        for mode in self.picture.planes_modes(place):
            prediction = predict_from_planes(mode, self.coarse, self.picture.earlier, place, depth)
            left = source - prediction
            found.append((hadamard_difference(left, costs.coarser), mode, left))
        found.sort(key=lambda candidate: candidate[:2])
        tools = self.picture.fragment_tools
        step, strength = independent_step(tools), tools.quantisation_matrix
        difference = self._template_difference(place, found[0][0], costs)
        if difference is not None:
            rated = hadamard_difference(difference, costs.coarser), TEMPLATES, difference
            # Templates join only if at most one other mode has a smaller difference.
            if rated[0] < found[1][0]:
                found = sorted([*found, rated], key=lambda candidate: candidate[:2])
        weight = weight_in(self.cells, place)
        whole = min(
            MODE_BITS * costs.plain + rough_cost(difference, place, step, strength, costs, weight)
            for _, _, difference in found[: self.effort.rough]
        )
        return whole, [mode for _, mode, _ in found[: self.effort.kept]]

    def _template_difference(
        self, place: BlockPlace, least: int, costs: BlockCosts
    ) -> np.ndarray | None:
        """Return source minus prediction by templates; None if matching is not worth its time.

        Parameters
        ----------
        place : BlockPlace
        least : int
            Least Hadamard difference of the other modes.
        costs : BlockCosts
        """
        tools, area = self.picture.fragment_tools, place.height * place.width
        decoded = self._decoded_samples(place)
        step = min(independent_step(tools), MOST_MATCHED_STEP)
        large = self.effort.matching * least >= step * area << costs.finer
        if not (tools.templates and large and has_place(decoded, place)):
            return None
        prediction = average_of_places(
            self.coarse, decoded, place, tools.templates, self.picture.depth
        )
        return self.source[place.slices] - prediction

    def _decoded_samples(self, place: BlockPlace) -> np.ndarray:
        """Count the samples of each row that would be decoded before a block, a (H,) int array.

        This assumes that the blocks before it in raster order are decoded.
        """
        fragment, (height, width) = self.fragment, self.source.shape
        decoded = np.zeros(height, np.int64)
        decoded[: fragment.row + fragment.height] = fragment.column
        decoded[: place.row + place.height] = place.column
        decoded[: place.row] = place.column + place.width
        decoded[: fragment.row] = width
        return decoded

    def _references(self, place: BlockPlace) -> References:
        """Return a block's coarse references, as if all blocks before it were decoded."""
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


def coarsened(source: np.ndarray, step: int, depth: int = BYTE) -> np.ndarray:
    """Transform and quantise the source in blocks of 16x16 samples, and decode the result.

    Predictions from the exact source would make small blocks look better than they are.

    Parameters
    ----------
    source : (H, W) int array
        The padded picture.
    step : int
        Quantisation step in 1/16 of a unit of 8-bit samples.
    depth : int
        Bits of a sample.

    Returns
    -------
    (H, W) int64 array
        Coarse samples; equal to the source in blocks that reach beyond the padded picture.
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
