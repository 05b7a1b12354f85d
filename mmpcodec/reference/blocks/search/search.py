"""Search for the cheapest partition of a fragment into blocks.

*Encoder only*: any partition decodes. The arithmetic is in integers, and of equal costs the first
candidate is taken, so that every backend writes equal bytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt

import numpy as np

from mmpcodec.depth import BYTE
from mmpcodec.params import RATE_MODELS
from mmpcodec.reference.blocks.coder import BlockPicture, Report, code_blocks
from mmpcodec.reference.blocks.partition import (
    AVERAGE,
    PLANAR,
    TEMPLATES,
    THREE_COLUMNS,
    THREE_ROWS,
    UNIT,
    Block,
    BlockNode,
    BlockPlace,
    is_outside,
    pad,
)
from mmpcodec.reference.blocks.search.cell_weights import weight_in
from mmpcodec.reference.blocks.search.costs import BlockCosts
from mmpcodec.reference.blocks.search.effort import EFFORTS, Effort
from mmpcodec.reference.blocks.search.rough_search import NEVER, RoughSearch
from mmpcodec.reference.blocks.search.trial import Trial, hadamard_difference
from mmpcodec.reference.blocks.search.wavefront import ModelLine
from mmpcodec.reference.blocks.steps import FragmentMap, flat_map
from mmpcodec.reference.blocks.trees import tree_block
from mmpcodec.reference.entropy.cell_rates import CellRates
from mmpcodec.reference.entropy.symbols import SymbolWriter
from mmpcodec.reference.entropy.syntax import block_syntax
from mmpcodec.reference.trees.scales import COLUMNS, LEAF, ROWS
from mmpcodec.tools import BlockTools

REACH = 8
"""Number of rows above and columns left of a block from which modes 0 to 36 predict it."""


@dataclass(frozen=True)
class Outcome:
    """One way to code a block, which may be split.

    Parameters
    ----------
    cost : int
        Rate-distortion cost in 1/16 squared error.
    nodes : list of BlockNode
        Partition of the block, in coding order.
    samples : (h, w) uint8 or uint16 array
        Decoded samples of the part of the block that lies in the padded picture.
    known : (h / 4, w / 4, 4) uint8 array
        Record of the decoded blocks in this part, as in ``Units.known``.
    """

    cost: int
    nodes: list[BlockNode]
    samples: np.ndarray
    known: np.ndarray


class BlockSearch:
    """Searches the fragments of one picture.

    Parameters
    ----------
    source : (H, W) int64 array
        The padded picture.
    picture : BlockPicture
        State of the coder. The search tries blocks in it and removes them again.
    effort : Effort
    rate_model : {"adaptive", "log2"}
        How the rates of indices in trees are computed; see ``index_costs``.
    cells : array or None
        See ``weight_in``.
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
        self.cells = cells
        self.rough_search = RoughSearch(source, picture, effort, rate_model, cells)

    def find(self, fragment: BlockPlace, costs: BlockCosts) -> list[BlockNode]:
        """Find the cheapest partition of a fragment.

        Returns
        -------
        list of BlockNode
            In coding order.
        """
        self.rough_search.look(fragment, costs)
        self.costs = costs
        self.fragment = fragment
        self.found: dict[tuple[BlockPlace, bytes], tuple[int, Outcome | None]] = {}
        outcome = self._search(fragment, NEVER)
        assert outcome is not None
        return outcome.nodes

    def _search(self, place: BlockPlace, bound: int) -> Outcome | None:
        """Find the cheapest way to code a block; None if no way costs less than the bound."""
        key = place, self._surroundings(place)
        searched, best = self.found.get(key, (0, None))
        if best is None and searched < bound:
            best, least = None, bound
            for flag in (LEAF, COLUMNS, ROWS, THREE_COLUMNS, THREE_ROWS):
                if self.rough_search.worthwhile(place, flag):
                    outcome = (
                        self._whole(place, least)
                        if flag == LEAF
                        else self._split(place, flag, least)
                    )
                    if outcome:
                        best, least = outcome, outcome.cost
            self.found[key] = bound, best
        return best if best and best.cost < bound else None

    def _surroundings(self, place: BlockPlace) -> bytes:
        """Return the key of all decoded state that the search of a block reads.

        The search of a block with an equal key has an equal result, and is done once.
        """
        row, column, length = place.row, place.column, place.height + place.width
        top, left = max(row - REACH, 0), max(column - REACH, 0)
        right = column + max(length, place.width + REACH)
        units = self.picture.units
        seen = [
            self.picture.samples[top:row, left:right],
            self.picture.samples[row : row + length, left:column],
        ]
        decoded = [
            units.decoded[top // UNIT : row // UNIT, left // UNIT : right // UNIT],
            units.decoded[row // UNIT : (row + length) // UNIT, left // UNIT : column // UNIT],
        ]
        parts = [
            np.where(known.repeat(UNIT, axis=0).repeat(UNIT, axis=1), samples, 0)
            for samples, known in zip(seen, decoded, strict=True)
        ]
        rows, columns = place.units
        beside = [
            units.known[row // UNIT - 1, columns] if row else b"",
            units.known[rows, column // UNIT - 1] if column else b"",
        ]
        if self.picture.tools.templates:
            # Farther decoded samples are equal in all searches, except those in the fragment.
            own = units.decoded[self.fragment.units]
            known = own.repeat(UNIT, axis=0).repeat(UNIT, axis=1)
            parts.append(np.where(known, self.picture.samples[self.fragment.slices], 0))
            decoded.append(own)
        return b"".join(bytes(part) for part in (*parts, *decoded, *beside))

    def _whole(self, place: BlockPlace, bound: int) -> Outcome | None:
        """Find the cheapest way to code a block without a split."""
        picture, units, costs = self.picture, self.picture.units, self.costs
        weight = weight_in(self.cells, place)
        trial = Trial(place, self.source[place.slices], bound, costs, weight)
        cost = costs.of_flag(units, place, LEAF, ternary=picture.tools.ternary)
        if picture.trees and picture.trees.may_be(place):
            not_tree, is_tree = costs.tree[place.size, units.tree_context(place)].tolist()
            if place in self.rough_search.trees:
                self._attempt_tree(trial, cost + is_tree)
            cost += not_tree
        if self.rough_search.may_be_predicted(place):
            self._attempt_modes(trial, cost)
        if trial.block is None or trial.samples is None:
            return None
        units.mark(place, trial.block)
        known = units.known[place.units].copy()
        units.forget(place)
        samples = trial.samples.astype(picture.samples.dtype)
        return Outcome(trial.cost, [BlockNode(place, LEAF, trial.block)], samples, known)

    def _attempt_tree(self, trial: Trial, given: int) -> None:
        """Try the tree that the rough search found; ``given`` is the cost of the bits before it."""
        assert self.picture.trees is not None
        found = self.rough_search.trees[trial.place]
        samples = self.picture.trees.samples(trial.place, found.nodes)
        trial.take(given + found.cost, tree_block(found.nodes), samples)

    def _attempt_modes(self, trial: Trial, given: int) -> None:
        """Try the most promising modes; ``given`` is the cost of the bits before the mode."""
        picture, units, costs = self.picture, self.picture.units, self.costs
        tools = picture.fragment_tools
        place, source = trial.place, trial.source
        likely = units.likely_modes(place)
        absent, far = picture.absent_modes(place), units.far_modes(place)
        mode_costs = costs.of_modes(place.size, likely, absent, far)
        if planes_modes := picture.planes_modes(place):
            context = units.planes_context(place)
            costs.add_planes(mode_costs, place.size, context, planes_modes)
        # Template matching is slow: it is tried only if the rough search recommends it.
        others = {*likely, AVERAGE, PLANAR} - {TEMPLATES}
        promising = {*self.rough_search.seen[place].modes, *others} & mode_costs.keys()
        root = max(isqrt(costs.lambda_fixed), 1)
        candidates = []
        for mode in sorted(promising):
            prediction = picture.predict(mode, place)
            # One bit is weighed as 0.6 sqrt(lambda) of Hadamard difference.
            difference = hadamard_difference(source - prediction, costs.coarser)
            estimate = difference + mode_costs[mode] * 10 // root
            candidates.append((estimate, mode, prediction))
        candidates.sort(key=lambda candidate: candidate[:2])
        hopeless = candidates[0][0] * 8 // 5 + root // 32
        bare, transformed = costs.kind[place.size, units.kind_context(place)].tolist()
        for estimate, mode, prediction in candidates[: self.effort.tried]:
            if estimate > hopeless:
                break
            cost = given + mode_costs[mode]
            trial.attempt(cost + bare, Block(mode), prediction, tools.quantisation_matrix)
            trial.attempt_residual(cost + transformed, mode, prediction, tools)

    def _split(self, place: BlockPlace, flag: int, bound: int) -> Outcome | None:
        """Find the cheapest way to code the parts of a block, one after the other."""
        picture, units = self.picture, self.picture.units
        cost = self.costs.of_flag(units, place, flag, ternary=picture.tools.ternary)
        nodes = [BlockNode(place, flag)]
        outcome = None
        for part in place.parts(flag):
            if is_outside(part, picture.samples.shape):
                continue
            best = self._search(part, bound - cost) if cost < bound else None
            if best is None:
                break
            picture.samples[part.slices] = best.samples
            units.known[part.units] = best.known
            cost += best.cost
            nodes += best.nodes
        else:
            if cost < bound:
                samples = picture.samples[place.slices].copy()
                outcome = Outcome(cost, nodes, samples, units.known[place.units].copy())
        units.forget(place)
        return outcome


def encode_blocks(
    plane: np.ndarray,
    tools: BlockTools,
    lambda_fixed: int,
    effort: int,
    progress: Report | None = None,
    rate_model: str = RATE_MODELS[0],
    depth: int = BYTE,
    earlier: Sequence[np.ndarray] = (),
    fragments: FragmentMap | None = None,
) -> tuple[bytes, np.ndarray, dict[str, float], np.ndarray, BlockPicture]:
    """Encode a plane by predicted blocks.

    Parameters
    ----------
    plane : (H, W) uint8 or uint16 array
    tools : BlockTools
    lambda_fixed : int
        lambda in 1/65536 squared error of 8-bit samples per bit.
    effort : int
        1 (fastest) to 9 (smallest files).
    progress : Report or None
    rate_model : {"adaptive", "log2"}
        How the rates of indices in trees are computed; see ``index_costs``.
    depth : int
        Bits of a sample, 8 to 16.
    earlier
        See ``BlockPicture``.
    fragments : FragmentMap or None
        How much each fragment counts; None if all count alike.

    Returns
    -------
    payload : bytes
    samples, bits, cell_rates, picture
        As ``decode_blocks`` returns them for this payload.
    """
    picture = BlockPicture(plane.shape, tools, depth, earlier)
    fragments = fragments or flat_map(plane.shape, tools.fragment_size)
    picture.changes[...] = fragments.changes
    lambdas = fragments.lambdas(lambda_fixed)
    writer = SymbolWriter(block_syntax(tools.dictionary))
    cells = CellRates(plane.shape, writer.tally)
    source = pad(plane).astype(np.int64)
    weights = fragments.cells if tools.quantisation_matrix else None
    search = BlockSearch(source, picture, EFFORTS[effort], rate_model, weights)
    line = None if picture.trees else ModelLine(picture)
    for fragment in picture.fragments(progress):
        models = line.models_at(fragment) if line else picture.models
        picture.fragment_tools = picture.tools_of(fragment)
        own = int(lambdas[picture.number_of(fragment)])
        costs = BlockCosts(models, own, depth, fine=tools.fine_contexts)
        nodes = search.find(fragment, costs)
        code_blocks(writer, picture, fragment, nodes, cells)
        if line:
            line.count(fragment, nodes, models)
    return writer.finish(), picture.shown(), writer.tally.bits(), cells.rates, picture
