"""Train the states from which the models of predicted blocks start (tool *trained start*).

    python scripts/train/start_states.py PICTURE... [--leave-out NAME]... [--trained] [--folds 5]

Each picture is cut to its middle, turned into gray, and encoded in tiles with lambdas of each class
of steps. The first bits of each binary model are counted, tile by tile. The start of a model is
the beta distribution that makes these counts most likely: its mean, and the number of bits that the
mean is worth. With --trained the pictures are encoded with the present states; `make train` does a
round without and a round with them. With --folds, the script says what states trained on the other
pictures save on each part of the pictures, and writes nothing. The tables replace
``start_states.h`` and ``fine_states.h`` of ``kernels/shared/blocks``; compile the package again to
use them.
"""

import argparse
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from scipy.special import betaln
from tables import middle, write

from mmpcodec import EncodeParams
from mmpcodec.planning.start_training import (
    LAMBDAS,
    TILE_SIZE,
    Observed,
    observed,
    plain_pairs,
    trained_pairs,
    trained_table,
)
from mmpcodec.reference.blocks.models import start_states
from mmpcodec.tools import SLOW_TOOLS

START_BYTES = 1748
"""Bytes of a table without the models of fine contexts."""


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
        pairs = trained_pairs([one for each in rest for one in each], plain_pairs())
        plain += code_length(plain_pairs(), held) / folds
        trained += code_length(pairs, held) / folds
        own += code_length(trained_pairs(held, plain_pairs()), held) / folds
    return f"plain start {plain:.0f}, trained {trained:.0f}, by the pictures themselves {own:.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", nargs="+", type=Path)
    parser.add_argument("--leave-out", action="append", default=[], help="stem of a picture")
    parser.add_argument("--effort", type=int, default=max(SLOW_TOOLS.values()))
    parser.add_argument("--tile-size", type=int, default=TILE_SIZE, help="count bits of such tiles")
    parser.add_argument("--trained", action="store_true", help="encode with the present states")
    parser.add_argument("--folds", type=int, default=0, help="only validate, with so many parts")
    args = parser.parse_args()
    chosen = [path for path in args.pictures if path.stem not in args.leave_out]
    samples = [middle(path) for path in chosen]
    tables = []
    for number, lambdas in enumerate(LAMBDAS):
        params = [
            EncodeParams.from_options(
                lam,
                preset="photo",
                effort=args.effort,
                version=2,
                trained_start=args.trained,
                trained_transforms=True,
            )
            for lam in lambdas
        ]
        with ThreadPoolExecutor() as pool:
            jobs = [
                [pool.submit(observed, one, each, args.tile_size) for each in params]
                for one in samples
            ]
            seen = [[tile for job in own for tile in job.result()] for own in jobs]
        if args.folds:
            print(f"class {number}, bits of models a tile: {validate(seen, args.folds)}")
            continue
        tables.append(trained_table([one for each in seen for one in each], plain_pairs()))
    if args.folds:
        return
    data = np.array(tables).astype(np.uint8)
    assert data.shape == start_states().shape
    print(f"{len(chosen)} pictures")
    words = {"script": "start_states.py", "section": "Start states"}
    first, second = data[:, :START_BYTES], data[:, START_BYTES:]
    what = "how the models start."
    write("blocks/start_states.h", "kStartStates", first, what=what, **words)
    what = "how the models of fine contexts, of\n// trained transforms and of ternary splits start."
    write("blocks/fine_states.h", "kFineStates", second, what=what, **words)


if __name__ == "__main__":
    main()
