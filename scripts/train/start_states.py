"""Train the states from which the models of predicted blocks start (tool *trained start*).

    python scripts/train/start_states.py PICTURE... [--leave-out NAME]... [--trained] [--folds 5]

Each picture is cut to its middle, turned into gray, and encoded with lambdas of each class of
steps. The first bits of each binary model are counted, picture by picture. The start of a model is
the beta distribution that makes these counts most likely: its mean, and the number of bits that the
mean is worth. With --trained the pictures are encoded with the present states; `make train` does a
round without and a round with them. With --folds, the script says what states trained on the other
pictures save on each part of the pictures, and writes nothing. The tables replace
``start_states.h`` and ``fine_states.h`` of ``kernels/shared/blocks``; compile the package again to
use them.
"""

import argparse
import hashlib
import textwrap
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.special import betaln, digamma

import mmpcodec
from mmpcodec import EncodeParams, _cpu, pictures
from mmpcodec.bench.codecs.conversion import luma_of
from mmpcodec.format import layers
from mmpcodec.reference.blocks.models import BlockModels, start_states

FOLDER = Path(__file__).parents[2] / "kernels" / "shared" / "blocks"
LAMBDAS = ((3, 5), (12, 20), (40, 58), (120, 172), (360, 518), (1000, 1800))
"""Lambdas of each class of steps."""
SIDE = 768
COUNTED = 160
"""First bits of a model that count: later ones depend little on the start."""
MOST_SEEN = 64
LEAST_SEEN = 16
"""Bits of a model in all pictures below which it keeps its plain start."""
ROUNDS = 300
"""Steps of the search for the most likely distribution."""
HEAD = """\
// Trained by scripts/train/start_states.py: how the models {models}start.
// Source: section "Start states" of docs/format/format.md.
#pragma once

#include <stdint.h>

namespace mmp {{

constexpr uint8_t {name}[] = {{
"""
TAIL = """
};

}  // namespace mmp
"""
START_BYTES = 1748
"""Bytes of a table without the models of fine contexts."""
WORTH = 1000
"""Total of the frequencies of the modes of a size."""


@dataclass(frozen=True)
class Observed:
    """What a picture at one lambda shows.

    Parameters
    ----------
    bits : (M, 2) int array
        How often the first bits of each binary model were 0 and 1.
    modes : (9, 38) int array
        Frequencies of the modes after the last block.
    """

    bits: np.ndarray
    modes: np.ndarray


def middle(path: Path) -> np.ndarray:
    """Return the middle of a picture, in gray of 8 bits."""
    picture = pictures.read(path)
    samples = (picture.samples >> max(picture.depth - 8, 0)).astype(np.uint8)
    if samples.ndim == 3:
        samples = luma_of(samples[..., :3]) if samples.shape[2] >= 3 else samples[..., 0]
    top, left = (max(0, (side - SIDE) // 2) for side in samples.shape)
    return np.ascontiguousarray(samples[top : top + SIDE, left : left + SIDE])


def observed(samples: np.ndarray, params: EncodeParams) -> Observed:
    """Encode a picture and count the bits of its models."""
    found = mmpcodec.encode_picture(samples, params, backend="cpu", threads=1)
    tile = memoryview(found.data)[found.header.size :]
    (layer,) = layers.read(tile, 0, found.header).layers
    payload = bytes(layer.payload)
    return Observed(*_cpu.block_counts(payload, *samples.shape, layer.tools, [], COUNTED))


def plain_start() -> np.ndarray:
    """Return probability in 1/256 and number of bits of each binary model without training."""
    pairs = []
    for quantiser in (0, 1):
        for probability, uses, shape in BlockModels().binary(quantiser):
            more = [(0, full - own) for full, own in zip(shape, probability.shape, strict=True)]
            ones = np.pad(probability, more, constant_values=1 << 15).ravel() >> 8
            pairs.append(np.stack([ones, np.pad(uses, more).ravel()], axis=1))
    return np.concatenate(pairs)


def most_likely(bits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the beta distributions, for 0 and 1, that make counts of pictures most likely.

    Parameters
    ----------
    bits : (P, M, 2) int array
        Counts of 0 and 1 by picture and model.

    Returns
    -------
    zeros, ones : (M,) float arrays
        Parameters of the distributions, found by Minka's fixed point.
    """
    zeros, ones = (bits[..., value].astype(float) for value in (0, 1))
    total = zeros + ones
    share = (ones.sum(axis=0) + 0.5) / (total.sum(axis=0) + 1)
    a, b = 8 * (1 - share), 8 * share
    for _ in range(ROUNDS):
        below = (digamma(total + a + b) - digamma(a + b)).sum(axis=0)
        below = np.maximum(below, 1e-9)
        factor_a = (digamma(zeros + a) - digamma(a)).sum(axis=0) / below
        factor_b = (digamma(ones + b) - digamma(b)).sum(axis=0) / below
        a, b = np.maximum(a * factor_a, 1e-3), np.maximum(b * factor_b, 1e-3)
        scale = np.minimum(1, 4 * MOST_SEEN / (a + b))
        a, b = a * scale, b * scale
    return a, b


def pairs_of(seen: list[Observed]) -> np.ndarray:
    """Return probability in 1/256 and number of bits of each binary model, a (M, 2) array."""
    bits = np.array([each.bits for each in seen])
    a, b = most_likely(bits)
    # A model that counts for n bits moves by 1 / (n + 3/2), the mean by 1 / (a + b + 1).
    trained = np.stack(
        [
            np.clip(np.floor(256 * b / (a + b)), 0, 255),
            np.clip(np.round(a + b - 0.5), 0, MOST_SEEN),
        ],
        axis=1,
    )
    rare = bits.sum(axis=(0, 2)) < LEAST_SEEN
    return np.where(rare[:, None], plain_start(), trained).astype(np.uint8)


def table_of(seen: list[Observed]) -> np.ndarray:
    """Return the table of a class of steps."""
    pairs = pairs_of(seen)
    modes = np.array([each.modes for each in seen], float)
    shares = (modes / modes.sum(axis=2, keepdims=True)).mean(axis=0)
    frequencies = np.clip((WORTH * shares).round(), 1, 255).astype(np.uint8)
    first = sum(uses.size for uses in _full_shapes(0))
    return np.concatenate([pairs[:first].ravel(), frequencies.ravel(), pairs[first:].ravel()])


def _full_shapes(quantiser: int) -> list[np.ndarray]:
    return [np.empty(shape) for _, _, shape in BlockModels().binary(quantiser)]


def code_length(pairs: np.ndarray, seen: list[Observed]) -> float:
    """Return the bits that counts cost on average if models start from pairs and learn.

    Bits that two models code, each with its share, count for both.
    """
    worth = pairs[:, 1] + 0.5
    share = np.clip((pairs[:, 0] + 0.5) / 256, 1 / 256, 255 / 256)
    a, b = worth * (1 - share), worth * share
    lengths = [betaln(a, b) - betaln(a + each.bits[:, 0], b + each.bits[:, 1]) for each in seen]
    return float(np.sum(lengths) / np.log(2) / len(seen))


def validate(seen: list[list[Observed]], folds: int) -> str:
    """Return what states trained on other pictures save, in bits a picture."""
    parts = [seen[start::folds] for start in range(folds)]
    plain = trained = own = 0.0
    for number, part in enumerate(parts):
        rest = [each for other in parts[:number] + parts[number + 1 :] for each in other]
        held = [one for each in part for one in each]
        pairs = pairs_of([one for each in rest for one in each])
        plain += code_length(plain_start(), held) / folds
        trained += code_length(pairs, held) / folds
        own += code_length(pairs_of(held), held) / folds
    return f"plain start {plain:.0f}, trained {trained:.0f}, by the pictures themselves {own:.0f}"


def write(file: str, name: str, models: str, data: np.ndarray) -> None:
    """Write tables to a header, and print their hash."""
    numbers = textwrap.fill(
        ", ".join(map(str, data.ravel())), 100, initial_indent="    ", subsequent_indent="    "
    )
    (FOLDER / file).write_text(HEAD.format(name=name, models=models) + numbers + TAIL)
    print(f"{file}: SHA-256 {hashlib.sha256(data.tobytes()).hexdigest()}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", nargs="+", type=Path)
    parser.add_argument("--leave-out", action="append", default=[], help="stem of a picture")
    parser.add_argument("--effort", type=int, default=2)
    parser.add_argument("--trained", action="store_true", help="encode with the present states")
    parser.add_argument("--folds", type=int, default=0, help="only validate, with so many parts")
    args = parser.parse_args()
    chosen = [path for path in args.pictures if path.stem not in args.leave_out]
    samples = [middle(path) for path in chosen]
    tables = []
    for number, lambdas in enumerate(LAMBDAS):
        params = [
            EncodeParams.from_options(
                lam, preset="photo", effort=args.effort, version=2, trained_start=args.trained
            )
            for lam in lambdas
        ]
        with ThreadPoolExecutor() as pool:
            jobs = [[pool.submit(observed, one, each) for each in params] for one in samples]
            seen = [[job.result() for job in of_picture] for of_picture in jobs]
        if args.folds:
            print(f"class {number}, bits of models a picture: {validate(seen, args.folds)}")
            continue
        tables.append(table_of([one for each in seen for one in each]))
    if args.folds:
        return
    data = np.array(tables).astype(np.uint8)
    assert data.shape == start_states().shape
    print(f"{len(chosen)} pictures")
    write("start_states.h", "kStartStates", "", data[:, :START_BYTES])
    write("fine_states.h", "kFineStates", "of fine contexts ", data[:, START_BYTES:])


if __name__ == "__main__":
    main()
