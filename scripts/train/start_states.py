"""Train the states from which the models of predicted blocks start (tool *trained start*).

    python scripts/train/start_states.py PICTURE... [--leave-out NAME]... [--trained]

Each picture is cut to its middle, turned into gray, and encoded with a lambda of each class of
steps. The states of the models after the last block are observations of a prior: the mean of the
probabilities, and the number of bits that this mean is worth (the moments of a beta distribution).
With --trained the pictures are encoded with the present states; `make train` does a round without
and a round with them. The tables replace
``kernels/shared/blocks/start_states.h``; compile the package again to use them.
"""

import argparse
import hashlib
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import mmpcodec
from mmpcodec import EncodeParams, _cpu, pictures
from mmpcodec.format import layers
from mmpcodec.reference.blocks.models import BlockModels

FILE = Path(__file__).parents[2] / "kernels" / "shared" / "blocks" / "start_states.h"
LAMBDAS = ((3, 5), (12, 20), (40, 58), (120, 172), (360, 518), (1000, 1800))
"""Lambdas of each class of steps."""
SIDE = 768
MOST_SEEN = 64
LEAST_SEEN = 16
"""Bits of a model in all pictures below which it keeps its plain start."""
HEAD = """\
// Trained by scripts/train/start_states.py: the states of the models at the start of a picture.
// Source: section "Start states" of docs/format/format.md.
#pragma once

#include <stdint.h>

namespace mmp {

constexpr uint8_t kStartStates[] = {
"""
TAIL = """
};

}  // namespace mmp
"""
WORTH = 1000
"""Total of the frequencies of the modes of a size."""


def middle(path: Path) -> np.ndarray:
    """Return the middle of a picture, in gray of 8 bits."""
    picture = pictures.read(path)
    samples = picture.samples >> max(picture.depth - 8, 0)
    if samples.ndim == 3:
        weights = np.array([77, 150, 29] if samples.shape[2] >= 3 else [256])
        samples = (samples[..., : len(weights)] * weights).sum(axis=2) >> 8
    top, left = (max(0, (side - SIDE) // 2) for side in samples.shape)
    return np.ascontiguousarray(samples[top : top + SIDE, left : left + SIDE].astype(np.uint8))


def states_of(samples: np.ndarray, params: EncodeParams) -> tuple[np.ndarray, ...]:
    """Return the states of the models after the last block of a picture."""
    found = mmpcodec.encode_picture(samples, params, backend="cpu", threads=1)
    tile = memoryview(found.data)[found.header.size :]
    (layer,) = layers.read(tile, 0, found.header).layers
    return _cpu.block_states(bytes(layer.payload), *samples.shape, layer.tools, [])


def plain_start() -> tuple[np.ndarray, np.ndarray]:
    """Return probability and number of bits of each binary model without training."""
    ones, seen = [], []
    for probability, uses, shape in BlockModels().binary():
        more = [(0, full - own) for full, own in zip(shape, probability.shape, strict=True)]
        ones.append(np.pad(probability, more, constant_values=1 << 15).ravel())
        seen.append(np.pad(uses, more).ravel())
    return np.concatenate(ones), np.concatenate(seen)


def table_of(observed: list[tuple[np.ndarray, ...]]) -> np.ndarray:
    """Return the table of a class from the states of its pictures."""
    ones = np.array([states[0] for states in observed]) / 65536
    seen = np.array([states[1] for states in observed], float)
    total = seen.sum(axis=0)
    weight = seen / np.maximum(total, 1)
    mean = (weight * ones).sum(axis=0)
    spread = (weight * (ones - mean) ** 2).sum(axis=0)
    chance = mean * (1 - mean)
    # A state moves with the last bits: its own variance is that of about so many bits.
    own = chance / (2 * np.maximum(seen, 1)).mean(axis=0)
    worth = chance / np.maximum(spread - own, chance / (MOST_SEEN + 1)) - 1
    plain_ones, plain_seen = plain_start()
    rare = total < LEAST_SEEN
    pairs = np.empty((len(mean), 2), np.uint8)
    pairs[:, 0] = np.where(rare, plain_ones >> 8, np.clip(256 * mean, 0, 255)).astype(int)
    pairs[:, 1] = np.where(rare, plain_seen, np.clip(worth, 1, MOST_SEEN).round()).astype(int)
    modes = np.array([states[2] for states in observed], float)
    shares = (modes / modes.sum(axis=2, keepdims=True)).mean(axis=0)
    return np.concatenate([pairs.ravel(), np.clip((WORTH * shares).round(), 1, 255).ravel()])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", nargs="+", type=Path)
    parser.add_argument("--leave-out", action="append", default=[], help="stem of a picture")
    parser.add_argument("--effort", type=int, default=2)
    parser.add_argument("--trained", action="store_true", help="encode with the present states")
    args = parser.parse_args()
    chosen = [path for path in args.pictures if path.stem not in args.leave_out]
    samples = [middle(path) for path in chosen]
    tables = []
    for lambdas in LAMBDAS:
        params = [
            EncodeParams.from_options(
                lam, preset="photo", effort=args.effort, version=2, trained_start=args.trained
            )
            for lam in lambdas
        ]
        with ThreadPoolExecutor() as pool:
            jobs = [pool.submit(states_of, one, each) for one in samples for each in params]
            tables.append(table_of([job.result() for job in jobs]))
    data = np.concatenate(tables).astype(np.uint8)
    numbers = textwrap.fill(
        ", ".join(map(str, data)), 100, initial_indent="    ", subsequent_indent="    "
    )
    FILE.write_text(HEAD + numbers + TAIL)
    print(f"{len(chosen)} pictures, SHA-256 {hashlib.sha256(data.tobytes()).hexdigest()}")


if __name__ == "__main__":
    main()
