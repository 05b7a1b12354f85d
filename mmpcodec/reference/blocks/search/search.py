"""The encoder's search for the blocks of a fragment.

The encoder's, not the format's: any partition decodes. All is in integers and ties go to what is
tried first, so that every backend writes the same bytes.
"""

from dataclasses import dataclass
from math import isqrt

import numpy as np

from mmpcodec.depth import BYTE
from mmpcodec.params import RATE_MODELS
from mmpcodec.reference.blocks.coder import BlockPicture, Progress, code_blocks
from mmpcodec.reference.blocks.partition import (
    AVERAGE,
    PLANAR,
    TEMPLATES,
    UNIT,
    Block,
    BlockNode,
    BlockPlace,
    is_outside,
    pad,
)
from mmpcodec.reference.blocks.search.costs import BlockCosts
from mmpcodec.reference.blocks.search.effort import EFFORTS, Effort
from mmpcodec.reference.blocks.search.survey import NEVER, BlockSurvey
from mmpcodec.reference.blocks.search.trial import Trial, hadamard_difference
from mmpcodec.reference.blocks.trees import tree_block
from mmpcodec.reference.entropy.symbols import SymbolWriter
from mmpcodec.reference.entropy.syntax import block_syntax
from mmpcodec.reference.trees.scales import COLUMNS, LEAF, ROWS
from mmpcodec.tools import Tools

REACH = 8
"""Rows above and columns left of a block that its prediction can depend on, but for templates."""


@dataclass(frozen=True)
class Outcome:
    """A way to code a block and what is split off it.

    Parameters
    ----------
    cost : int
    nodes : list of BlockNode
        In coding order.
    samples : (h, w) uint8 or uint16 array
        What of the block lies in the padded picture, as it decodes.
    known : (h / 4, w / 4, 4) uint8 array
        As ``Units.known``.
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
        Blocks are tried in it, and none is left.
    effort : Effort
    rate_model : {"adaptive", "log2"}
        Of the indices of trees.
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
        self.survey = BlockSurvey(source, picture, effort, rate_model)

    def find(self, fragment: BlockPlace, costs: BlockCosts) -> list[BlockNode]:
        """The nodes of least cost for a fragment, in coding order."""
        self.survey.look(fragment, costs)
        self.costs = costs
        self.fragment = fragment
        self.found: dict[tuple[BlockPlace, bytes], tuple[int, Outcome | None]] = {}
        outcome = self._search(fragment, NEVER)
        assert outcome is not None
        return outcome.nodes

    def _search(self, place: BlockPlace, bound: int) -> Outcome | None:
        """The best way that costs less than the bound."""
        key = place, self._surroundings(place)
        searched, best = self.found.get(key, (0, None))
        if best is None and searched < bound:
            best, least = None, bound
            for flag in (LEAF, COLUMNS, ROWS):
                if self.survey.worthwhile(place, flag):
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
        """All that a search over a block can see, so that none is done twice."""
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
            # Of what lies further away only the fragment's own part differs.
            own = units.decoded[self.fragment.units]
            known = own.repeat(UNIT, axis=0).repeat(UNIT, axis=1)
            parts.append(np.where(known, self.picture.samples[self.fragment.slices], 0))
            decoded.append(own)
        return b"".join(bytes(part) for part in (*parts, *decoded, *beside))

    def _whole(self, place: BlockPlace, bound: int) -> Outcome | None:
        """The best block at a place that is not split."""
        picture, units, costs = self.picture, self.picture.units, self.costs
        trial = Trial(place, self.source[place.slices], bound, costs)
        cost = costs.of_flag(units, place, LEAF)
        if picture.trees and picture.trees.may_be(place):
            not_tree, is_tree = costs.tree[place.size, units.tree_context(place)].tolist()
            if place in self.survey.trees:
                self._attempt_tree(trial, cost + is_tree)
            cost += not_tree
        if self.survey.may_be_predicted(place):
            self._attempt_modes(trial, cost)
        if trial.block is None or trial.samples is None:
            return None
        units.mark(place, trial.block)
        known = units.known[place.units].copy()
        units.forget(place)
        samples = trial.samples.astype(picture.samples.dtype)
        return Outcome(trial.cost, [BlockNode(place, LEAF, trial.block)], samples, known)

    def _attempt_tree(self, trial: Trial, given: int) -> None:
        """Try the tree that was found; ``given`` is the cost of what is sent before it."""
        assert self.picture.trees is not None
        found = self.survey.trees[trial.place]
        samples = self.picture.trees.samples(trial.place, found.nodes)
        trial.take(given + found.cost, tree_block(found.nodes), samples)

    def _attempt_modes(self, trial: Trial, given: int) -> None:
        """Try the promising modes; ``given`` is the cost of what is sent before the mode."""
        picture, units, costs = self.picture, self.picture.units, self.costs
        place, source = trial.place, trial.source
        likely = units.likely_modes(place)
        mode_costs = costs.of_modes(place.size, likely, picture.absent_modes(place))
        # Templates take long, so they are tried only where the survey says so.
        others = {*likely, AVERAGE, PLANAR} - {TEMPLATES}
        promising = {*self.survey.seen[place].modes, *others} & mode_costs.keys()
        root = max(isqrt(costs.lambda_fixed), 1)
        candidates = []
        for mode in sorted(promising):
            prediction = picture.predict(mode, place)
            # A bit is worth 0.6 sqrt(lambda) of absolute differences.
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
            trial.attempt(cost + bare, Block(mode), prediction)
            trial.attempt_residual(cost + transformed, mode, prediction, picture.tools.step)

    def _split(self, place: BlockPlace, flag: int, bound: int) -> Outcome | None:
        """The best way to code the halves of a block, each after the other."""
        picture, units = self.picture, self.picture.units
        cost = self.costs.of_flag(units, place, flag)
        nodes = [BlockNode(place, flag)]
        outcome = None
        for half in place.halves(flag):
            if is_outside(half, picture.samples.shape):
                continue
            best = self._search(half, bound - cost) if cost < bound else None
            if best is None:
                break
            picture.samples[half.slices] = best.samples
            units.known[half.units] = best.known
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
    tools: Tools,
    lambda_fixed: int,
    effort: int,
    progress: Progress | None = None,
    rate_model: str = RATE_MODELS[0],
    depth: int = BYTE,
) -> tuple[bytes, np.ndarray, dict[str, float], BlockPicture]:
    """Encode a plane.

    Parameters
    ----------
    plane : (H, W) uint8 or uint16 array
    tools : Tools
    lambda_fixed : int
        Squared error per bit, in 2**-16.
    effort : int
        1 to 9.
    progress : Progress or None
    rate_model : {"adaptive", "log2"}
        Of the indices of trees.
    depth : int

    Returns
    -------
    payload : bytes
    samples, bits, picture
        As of ``decode_blocks``.
    """
    picture = BlockPicture(plane.shape, tools, depth)
    writer = SymbolWriter(block_syntax(tools.dictionary))
    search = BlockSearch(pad(plane).astype(np.int64), picture, EFFORTS[effort], rate_model)
    for fragment in picture.fragments(progress):
        nodes = search.find(fragment, BlockCosts(picture.models, lambda_fixed, depth))
        code_blocks(writer, picture, fragment, nodes)
    return writer.finish(), picture.shown(), writer.tally.bits(), picture
