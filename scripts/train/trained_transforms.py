"""Train the transforms of low frequencies (tool *trained transforms*).

    python scripts/train/trained_transforms.py PICTURE... [--leave-out NAME]... [--folds N]

Each picture is cut to its middle, turned into gray, and encoded with several lambdas, without the
tool. The reference decodes the files and shows the prediction of each block with a residual. A
transform begins as the Karhunen-Loeve transform of the low frequencies of these residuals. Then it
is made sparse, round by round: values of less than 3/5 of a step become 0, and the orthonormal
matrix is found that comes nearest to the values that remain. After some rounds only those blocks
count whose estimated cost it lowers. The transforms replace
``kernels/shared/tables/trained_transforms.bin``; compile the package again to use them.

With --folds, N parts of the pictures are left out in turn: the script prints by how much transforms
of the other parts lower the estimated cost of the residuals, beside those of all pictures, and
writes nothing.
"""

import argparse
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from itertools import product, repeat
from pathlib import Path

import numpy as np
from tables import SIDE, middle, write

from mmpcodec import EncodeParams, backends
from mmpcodec.backends.base import PlaneTask
from mmpcodec.reference.blocks.coder import BlockPicture, code_blocks
from mmpcodec.reference.blocks.models import independent_step
from mmpcodec.reference.blocks.partition import Block, BlockPlace
from mmpcodec.reference.blocks.trained_transforms import (
    ENTRY_BITS,
    SIZES,
    group_of,
    is_turned,
    low_shape,
)
from mmpcodec.reference.blocks.transform import forward
from mmpcodec.reference.entropy.symbols import SymbolReader
from mmpcodec.reference.entropy.syntax import BLOCK_SYNTAX
from mmpcodec.tools import BlockTools

LAMBDAS = (16, 48, 144, 432)
STEADY = 1 / 8
"""A block's mean energy, in squared steps, grows by this before its inverse weighs the block."""
KEPT = 0.6
"""Least size of a value that a sparse transform keeps, in steps."""
ROUNDS, ROUNDS_WITH_ALL = 24, 6
OTHERS = 0.02
"""How much a block counts whose cost a transform does not lower."""
ROUNDED = 0.27
"""A value is rounded up from one minus this, in steps."""
LIMITS = ((0, 3.0), (1, 1.2), (2, 0.6), (4, 1.3), (8, 2.4), (16, 3.9))
"""A size above the first number adds the second, in bits: ``kernels/shared/blocks/estimate.h``."""
SQUARED_STEP = 7.0
"""The squared step of independent levels, in lambda."""
Key = tuple[int, int, int]
"""Group of modes, and numbers of rows and of columns of low frequencies."""
Blocks = dict[Key, np.ndarray]
"""Low frequencies of blocks, in steps, as rows, with the cost of the sine transform last."""


class WatchedPicture(BlockPicture):
    """A picture that keeps the residuals that its blocks should have had.

    Parameters
    ----------
    source : (H, W) uint8 array
    params : EncodeParams
    """

    def __init__(self, source: np.ndarray, params: EncodeParams):
        tools = params.coded_tools
        assert isinstance(tools, BlockTools)
        super().__init__(source.shape, tools)
        more = [(0, full - own) for full, own in zip(self.samples.shape, source.shape, strict=True)]
        self.source = np.pad(source.astype(np.int64), more, mode="edge")
        self.low: dict[Key, list[np.ndarray]] = {}
        self.real_step = independent_step(tools) / 16

    def rebuild(self, place: BlockPlace, block: Block) -> None:
        """Keep the low frequencies of the residual of a block, then compute its samples."""
        if block.levels is not None:
            residual = self.source[place.slices] - self.predict(block.mode, place)
            coefficients = forward(residual, sine=False)
            if is_turned(place, block.mode):
                coefficients = coefficients.T
            high, wide = low_shape(place, block.mode)
            key = group_of(block.mode), high, wide
            low = coefficients[:high, :wide].ravel() / (8 * self.real_step)
            # By how much the sine transform lowers the cost.
            lower = 0.0
            if place.may_be_sine:
                sine = forward(residual, sine=True).ravel() / (8 * self.real_step)
                whole = coefficients.ravel() / (8 * self.real_step)
                lower = float(cost_of(whole[None])[0] - cost_of(sine[None])[0])
            self.low.setdefault(key, []).append(np.append(low, max(lower, 0.0)))
        super().rebuild(place, block)


def cost_of(values: np.ndarray) -> np.ndarray:
    """Return the estimated cost of each row of values in steps, in bits."""
    size = np.abs(values)
    level = np.floor(size + ROUNDED)
    bits = sum(more * (level > limit).sum(axis=1) for limit, more in LIMITS)
    return bits + SQUARED_STEP * ((size - level) ** 2).sum(axis=1)


def blocks_of(source: np.ndarray, lam: float, effort: int) -> Blocks:
    """Return the low frequencies of the blocks of a picture that is coded with lambda."""
    params = EncodeParams.from_options(
        lam,
        preset="photo",
        effort=effort,
        cross_component=0,
        fixed_filters=0,
        trained_transforms=False,
        transform_skip=False,
    )
    payload = backends.get("cpu").encode(PlaneTask(source, params), threads=1).payload
    picture = WatchedPicture(source, params)
    reader = SymbolReader(payload, BLOCK_SYNTAX)
    for fragment in picture.fragments(None):
        code_blocks(reader, picture, fragment, None)
    return {key: np.array(rows, np.float32) for key, rows in picture.low.items()}


def joined(parts: Iterable[Blocks]) -> Blocks:
    """Return the blocks of several pictures."""
    lists: dict[Key, list[np.ndarray]] = {}
    for part in parts:
        for key, rows in part.items():
            lists.setdefault(key, []).append(rows)
    return {key: np.concatenate(rows) for key, rows in lists.items()}


def exact_transform(rows: np.ndarray) -> np.ndarray:
    """Return the sparse transform of blocks: an orthonormal matrix with a row for each value."""
    values, lower = rows[:, :-1], rows[:, -1]
    energy = (values * values).mean(axis=1)
    products = (values / (energy + STEADY)[:, None]).T @ values
    transform = np.linalg.eigh(products)[1][:, ::-1].T
    before = cost_of(values) - lower
    for turn in range(ROUNDS):
        found = values @ transform.T
        weights = 1 / (1 + energy)
        if turn >= ROUNDS_WITH_ALL:
            weights = weights * np.where(cost_of(found) < before, 1, OTHERS)
        kept = np.where(np.abs(found) > KEPT, found, 0)
        left, _, right = np.linalg.svd((kept * weights[:, None]).T @ values)
        transform = left @ right
    found = values @ transform.T
    used = (cost_of(found) < before) / (energy + STEADY)
    transform = transform[np.argsort(-(found * found * used[:, None]).sum(axis=0))]
    # The largest entry of a row is below 0, where a byte has one value more.
    largest = transform[np.arange(len(transform)), np.abs(transform).argmax(axis=1)]
    return -np.sign(largest)[:, None] * transform


def transform_of(blocks: Blocks, key: Key) -> np.ndarray:
    """Return the transform of a key in integers; the cosine transform where blocks are few."""
    size = key[1] * key[2]
    few = key not in blocks or len(blocks[key]) < size
    exact = -np.eye(size) if few else exact_transform(blocks[key])
    one = 1 << ENTRY_BITS
    return np.clip((one * exact).round(), -one, one - 1).astype(np.int8)


def gain(transforms: dict[Key, np.ndarray], held: Blocks) -> float:
    """Return by how many per cent the best of all transforms lowers the cost of blocks."""
    before = after = 0.0
    for key, rows in held.items():
        values, lower = rows[:, :-1], rows[:, -1]
        own = cost_of(values) - lower
        before += own.sum()
        after += np.minimum(own, cost_of(values @ transforms[key].T / (1 << ENTRY_BITS))).sum()
    return 100 * (before - after) / before


def trained(blocks: Blocks) -> dict[Key, np.ndarray]:
    """Return the transforms of all keys."""
    return {key: transform_of(blocks, key) for key in SIZES}


def validate(files: list[Blocks], folds: int) -> str:
    """Return the gain of transforms that are trained on other pictures."""
    parts = [files[start::folds] for start in range(folds)]
    other = [
        gain(trained(joined(each for rest in parts[:n] + parts[n + 1 :] for each in rest)), own)
        for n, own in enumerate(map(joined, parts))
    ]
    everything = joined(files)
    return (
        f"estimated cost of {len(files)} pictures: -{np.mean(other):.2f} % with the transforms of "
        f"the other parts, -{gain(trained(everything), everything):.2f} % with those of all"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", nargs="+", type=Path)
    parser.add_argument("--leave-out", action="append", default=[], help="stem of a picture")
    parser.add_argument("--effort", type=int, default=4, help="templates need 3 or more")
    parser.add_argument("--side", type=int, default=SIDE, help="side of the middle, in samples")
    parser.add_argument("--processes", type=int, help="default: one a processor")
    parser.add_argument(
        "--folds", type=int, default=0, help="only validate, with this number of parts"
    )
    args = parser.parse_args()
    chosen = [path for path in args.pictures if path.stem not in args.leave_out]
    samples = [middle(path, args.side) for path in chosen]
    jobs = list(product(samples, LAMBDAS))
    with ProcessPoolExecutor(args.processes) as pool:
        done = list(pool.map(blocks_of, *zip(*jobs, strict=True), repeat(args.effort)))
    each = len(LAMBDAS)
    files = [joined(done[start : start + each]) for start in range(0, len(done), each)]
    if args.folds:
        print(validate(files, args.folds))
        return
    blocks = joined(files)
    for key in SIZES:
        print(f"group {key[0]}, {key[1]}x{key[2]}: {len(blocks.get(key, ()))} blocks")
    entries = np.concatenate([transform.ravel() for transform in trained(blocks).values()])
    write("trained_transforms", entries)


if __name__ == "__main__":
    main()
