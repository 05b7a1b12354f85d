"""Coding the blocks of a picture, in either direction, and decoding their samples.

Source: sections "Blocks" and "Modes" of ``docs/format/format.md``.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from mmpcodec.depth import BYTE, most, sample_type
from mmpcodec.reference.blocks.dependent import dequantised
from mmpcodec.reference.blocks.levels import code_levels
from mmpcodec.reference.blocks.models import BlockModels
from mmpcodec.reference.blocks.partition import (
    CROSS_COMPONENT,
    FIRST_ANGLE,
    TEMPLATES,
    TERNARY,
    THREE_ROWS,
    UNIT_LOG2,
    WIDE_CROSS_COMPONENT,
    Block,
    BlockNode,
    BlockPlace,
    Units,
    forced_flag,
    fragment_places,
    is_outside,
    is_small,
    pad,
    padded_shape,
)
from mmpcodec.reference.blocks.planes import WIDE_FROM_LOG2, predict_from_planes
from mmpcodec.reference.blocks.prediction import FIRST_FROM_ABOVE, predict
from mmpcodec.reference.blocks.quantisation_matrix import unweighted
from mmpcodec.reference.blocks.steps import code_change, fragments_across, step_at
from mmpcodec.reference.blocks.templates import average_of_places, has_place
from mmpcodec.reference.blocks.trained_transforms import inverse_low
from mmpcodec.reference.blocks.transform import inverse, sine_sides, skip_inverse
from mmpcodec.reference.blocks.trees import BlockTrees, tree_block
from mmpcodec.reference.entropy.binary import BitCoder
from mmpcodec.reference.entropy.cell_rates import CellRates
from mmpcodec.reference.entropy.symbols import SymbolReader
from mmpcodec.reference.entropy.syntax import block_syntax
from mmpcodec.reference.trees.fragments import fragment_count, fragments_in
from mmpcodec.reference.trees.scales import COLUMNS, FRAGMENT_SIZE, LEAF, ROWS
from mmpcodec.tools import BlockTools

Report = Callable[[int, int], None]
"""Callback with the numbers of 16x16 squares done and of all; its errors pass through."""


class BlockPicture:
    """State that encoder and decoder share while they code a picture by predicted blocks.

    Parameters
    ----------
    shape : (int, int)
        Height and width of the plane in samples.
    tools : BlockTools
        Those of the layer.
    depth : int
        Bits of a sample, 8 to 16; 8 if the tool *dictionary* is on.
    earlier : sequence of (H, W) arrays
        The decoded planes that predict this one, as many as the tool *cross component* says.

    Attributes
    ----------
    small : bool
        Whether the picture is small.
    tools : BlockTools
        Without *border sines* if the picture is not small.
    models : BlockModels
    samples : (H', W') uint8 or uint16 array
        Decoded samples of the padded picture.
    units : Units
        Sizes, modes and kinds of the decoded blocks.
    trees : BlockTrees or None
        State of the trees among the blocks; None if *dictionary* is off.
    earlier : list of (H', W') int64 arrays
        The earlier planes, padded.
    changes : (R, C) int8 array
        Delta step of the fragments; 0 before a fragment is decoded.
    fragment_tools : BlockTools
        The tools with the step of the current fragment.
    """

    def __init__(
        self,
        shape: tuple[int, int],
        tools: BlockTools,
        depth: int = BYTE,
        earlier: Sequence[np.ndarray] = (),
    ):
        self.shape = shape
        self.small = is_small(padded_shape(shape))
        tools = tools if self.small else replace(tools, border_sines=False)
        self.tools = tools
        self.depth = depth
        self.samples = np.zeros(padded_shape(shape), sample_type(depth))
        self.models = self.models_at_start()
        self.units = Units(self.samples.shape)
        self.trees = None
        if tools.trees:
            self.trees = BlockTrees(self.samples.shape, tools.trees, tools.fragment_size)
        self.earlier = [pad(plane).astype(np.int64) for plane in earlier]
        self.changes = np.zeros(fragments_across(shape, tools.fragment_size), np.int8)
        self.fragment_tools = tools

    def models_at_start(self) -> BlockModels:
        """Return the models before the first fragment."""
        return BlockModels(self.tools, small=self.small)

    def fragments(self, progress: Report | None) -> Iterator[BlockPlace]:
        """Yield the fragments in coding order; call ``progress`` before each and at the end."""
        (height, width), total = self.shape, fragments_in(self.shape)
        for place in fragment_places(self.samples.shape, self.tools.fragment_size):
            if progress:
                rows = fragment_count(min(place.height, height - place.row))
                above = place.row // FRAGMENT_SIZE * fragment_count(width)
                progress(above + place.column // FRAGMENT_SIZE * rows, total)
            yield place
        if progress:
            progress(total, total)

    def number_of(self, fragment: BlockPlace) -> tuple[int, int]:
        """Return the row and the column of a fragment among the fragments."""
        size = self.tools.fragment_size
        return fragment.row // size, fragment.column // size

    def tools_of(self, fragment: BlockPlace) -> BlockTools:
        """Return the tools with the step of a fragment whose step change is known."""
        if not self.tools.delta_step:
            return self.tools
        step = step_at(self.tools.step, int(self.changes[self.number_of(fragment)]))
        return replace(self.tools, step=step)

    def has_templates(self, place: BlockPlace) -> bool:
        """Return whether mode 36, templates, is available for a block."""
        return self.tools.templates > 0 and has_place(self.units.decoded_samples, place)

    def planes_modes(self, place: BlockPlace) -> tuple[int, ...]:
        """Return the modes from earlier planes, 37 and 38, that are available for a block."""
        if self.tools.cross_component == 0 or max(place.row, place.column) == 0:
            return ()
        wide = place.height_log2 + place.width_log2 >= WIDE_FROM_LOG2
        return (CROSS_COMPONENT, WIDE_CROSS_COMPONENT) if wide else (CROSS_COMPONENT,)

    def absent_modes(self, place: BlockPlace) -> list[int]:
        """Return the modes that are not available for a block."""
        return [] if self.has_templates(place) else [TEMPLATES]

    def predict(self, mode: int, place: BlockPlace) -> np.ndarray:
        """Predict a block from the decoded samples.

        Returns
        -------
        (h, w) int64 array
            Predicted samples.
        """
        if mode >= CROSS_COMPONENT:
            return predict_from_planes(mode, self.samples, self.earlier, place, self.depth)
        if mode == TEMPLATES:
            decoded, count = self.units.decoded_samples, self.tools.templates
            return average_of_places(self.samples, decoded, place, count, self.depth)
        pdpc = self.tools.pdpc
        return predict(mode, self.samples, self.units, place, self.depth, pdpc=pdpc)

    def rebuild(self, place: BlockPlace, block: Block) -> None:
        """Compute the samples of a coded block, write them, and mark its units as decoded."""
        if self.trees and block.tree is not None:
            self.trees.mark(place, block.tree)
            samples = self.trees.samples(place, block.tree)
        else:
            samples = self.predict(block.mode, place)
        if block.levels is not None:
            coefficients = dequantised(block.levels, place, self.fragment_tools)
            samples = samples + residual_of(coefficients, place, block, self.tools, self.depth)
        self.samples[place.slices] = np.clip(samples, 0, most(self.depth))
        self.units.mark(place, block)

    def shown(self) -> np.ndarray:
        """Return the decoded samples without the padding, a (H, W) uint8 or uint16 array."""
        height, width = self.shape
        return self.samples[:height, :width].copy()


def code_blocks(
    coder: BitCoder,
    picture: BlockPicture,
    fragment: BlockPlace,
    nodes: list[BlockNode] | None,
    cells: CellRates | None = None,
) -> list[BlockNode]:
    """Code the step and the blocks of a fragment, then let the dictionaries learn from its trees.

    The samples of a block are written as soon as the block is coded, since the next blocks are
    predicted from them.

    Parameters
    ----------
    coder : BitCoder
    picture : BlockPicture
        Changed in place.
    fragment : BlockPlace
    nodes : list of BlockNode or None
        The partition to encode, in coding order; None decodes.
    cells : CellRates or None
        Gets the rate of each block, which begins at the end of the block before; None counts none.

    Returns
    -------
    list of BlockNode
        The coded partition, in coding order.

    Raises
    ------
    TruncatedStream, CorruptStream
        If the payload breaks a rule of the format.
    """
    given = iter(nodes or ())
    coded: list[BlockNode] = []

    def visit(place: BlockPlace) -> None:
        if is_outside(place, picture.samples.shape):
            return
        node = next(given, None)
        flag = code_flag(coder, picture, place, node.flag if node else None)
        if flag == LEAF:
            block = code_block(coder, picture, place, node.block if node else None)
            if cells:
                cells.add(place.row, place.column, place.height, place.width)
            picture.rebuild(place, block)
            coded.append(BlockNode(place, flag, block))
            return
        coded.append(BlockNode(place, flag))
        for part in place.parts(flag):
            visit(part)

    if picture.tools.delta_step:
        row, column = picture.number_of(fragment)
        code_change(coder, picture.models, picture.changes, row, column, nodes is not None)
    picture.fragment_tools = picture.tools_of(fragment)
    visit(fragment)
    if picture.trees:
        trees = [(node.place, node.block.tree) for node in coded if node.block and node.block.tree]
        picture.trees.learn(fragment, trees, picture.samples)
    return coded


def code_flag(coder: BitCoder, picture: BlockPicture, place: BlockPlace, flag: int | None) -> int:
    """Code whether a block is split, in which direction, and whether into three parts.

    Nothing is coded if the block's size or position leaves only one choice.

    Parameters
    ----------
    coder : BitCoder
    picture : BlockPicture
    place : BlockPlace
    flag : int or None
        The flag to encode; None decodes.

    Returns
    -------
    int
        One of ``place.flags``.
    """
    forced = forced_flag(place, picture.samples.shape)
    if forced is not None:
        return forced
    a, b, models, units = place.height_log2, place.width_log2, picture.models, picture.units
    if a == b == UNIT_LOG2:
        return LEAF
    split = None if flag is None else flag != LEAF
    if not models.split.code(coder, (a, b, units.split_context(place)), split):
        return LEAF
    by_rows = b == UNIT_LOG2
    if not by_rows and a > UNIT_LOG2:
        context = a, b, units.direction_context(place)
        given = None if flag is None else flag in (ROWS, THREE_ROWS)
        by_rows = bool(models.direction.code(coder, context, given))
    halved = ROWS if by_rows else COLUMNS
    ternary = TERNARY[halved]
    if ternary not in place.flags(ternary=picture.tools.ternary):
        return halved
    given = None if flag is None else flag == ternary
    return ternary if models.ternary.code(coder, (a, b, int(by_rows)), given) else halved


def mode_family(mode: int) -> int:
    """Return the index 0 to 3 of a mode in the models of the transform's type (g in "Blocks")."""
    if mode < FIRST_ANGLE:
        return 0
    if mode >= TEMPLATES:
        return 3
    return 1 if mode < FIRST_ANGLE + FIRST_FROM_ABOVE else 2


def residual_of(
    coefficients: np.ndarray, place: BlockPlace, block: Block, tools: BlockTools, depth: int
) -> np.ndarray:
    """Return the residual of a block from its dequantised coefficients, an (h, w) int64 array."""
    if block.skipped:
        return skip_inverse(coefficients, depth)
    if block.trained:
        coefficients = inverse_low(coefficients, place, block.mode)
    height, width = place.height, place.width
    coefficients = unweighted(coefficients, height, width, tools.quantisation_matrix)
    sides = sine_sides(place, tools.border_sines)
    return inverse(coefficients, height, width, block.sine, depth, sides)


def code_block(
    coder: BitCoder, picture: BlockPicture, place: BlockPlace, block: Block | None
) -> Block:
    """Code a block that is not split: its tree, or its mode, kind and levels.

    Parameters
    ----------
    coder : BitCoder
    picture : BlockPicture
    place : BlockPlace
    block : Block or None
        The block to encode; None decodes.

    Returns
    -------
    Block
        The coded block.
    """
    models, units = picture.models, picture.units
    if picture.trees and picture.trees.may_be(place):
        nodes = block.tree if block else None
        context = place.size, units.tree_context(place)
        if models.tree.code(coder, context, None if block is None else nodes is not None):
            return tree_block(picture.trees.code(coder, place, nodes))
    mode = code_mode(coder, picture, place, block.mode if block else None)
    context = place.size, units.kind_context(place)
    if not models.kind.code(coder, context, block.kind if block else None):
        return Block(mode)
    sine = trained = skipped = False
    context = place.area_class, mode_family(mode)
    if picture.tools.trained_transforms:
        trained = bool(models.trained.code(coder, context, block.trained if block else None))
    if place.may_be_sine and not trained:
        other = block.sine or block.skipped if block else None
        sine = bool(models.transform.code(coder, context, other))
    if sine and picture.tools.transform_skip:
        skipped = bool(models.skipped.code(coder, context, block.skipped if block else None))
    given = block.levels if block else None
    family = mode_family(mode) if picture.tools.fine_contexts else None
    levels = code_levels(coder, models, place, given, picture.tools.dependent, family)
    return Block(mode, levels, sine and not skipped, trained=trained, skipped=skipped)


def code_mode(coder: BitCoder, picture: BlockPicture, place: BlockPlace, mode: int | None) -> int:
    """Code the mode of a predicted block; None as the mode decodes."""
    models, units, size = picture.models, picture.units, place.size
    planes_modes = picture.planes_modes(place)
    if planes_modes:
        context = size, units.planes_context(place)
        if models.planes.code(coder, context, None if mode is None else mode >= CROSS_COMPONENT):
            if WIDE_CROSS_COMPONENT not in planes_modes:
                return CROSS_COMPONENT
            wide = None if mode is None else mode == WIDE_CROSS_COMPONENT
            return (
                WIDE_CROSS_COMPONENT
                if models.wide_cross_component.code(coder, (size,), wide)
                else CROSS_COMPONENT
            )
    likely, absent = units.likely_modes(place), picture.absent_modes(place)
    return models.mode.code(coder, size, likely, absent, mode, units.far_modes(place))


def decode_blocks(
    payload: bytes,
    shape: tuple[int, int],
    tools: BlockTools,
    progress: Report | None = None,
    depth: int = BYTE,
    earlier: Sequence[np.ndarray] = (),
) -> tuple[np.ndarray, dict[str, float], np.ndarray, BlockPicture]:
    """Decode a payload of predicted blocks.

    Parameters
    ----------
    payload : bytes
    shape : (int, int)
        Height and width of the picture in samples.
    tools : BlockTools
    progress : Report or None
    depth : int
        Bits of a sample, 8 to 16.
    earlier
        See ``BlockPicture``.

    Returns
    -------
    samples : (H, W) uint8 or uint16 array
    bits : dict of str to float
        Ideal code length of each syntax element, in bits.
    cell_rates : (R, C) int64 array
        Rate of each cell; see ``CellRates``.
    picture : BlockPicture
        State after the last fragment.

    Raises
    ------
    TruncatedStream, CorruptStream
        If the payload breaks a rule of the format.
    """
    picture = BlockPicture(shape, tools, depth, earlier)
    reader = SymbolReader(payload, block_syntax(tools.dictionary))
    cells = CellRates(shape, reader.tally)
    for fragment in picture.fragments(progress):
        code_blocks(reader, picture, fragment, None, cells)
    reader.finish()
    return picture.shown(), reader.tally.bits(), cells.rates, picture
