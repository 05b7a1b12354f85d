"""Train the states from which the models of predicted blocks start (tool *initial states*).

    python scripts/train/initial_states.py PICTURE... [--leave-out NAME]... [--trained] [--folds 5]
        [--only built-in | --only small]

Each picture is cut to its middle, turned into gray, and encoded in tiles with lambdas of each class
of steps: in tiles of 256 for the built-in start, in tiles of 64 for the small start. The first bits
of each binary model are counted, tile by tile. The start of a model is the beta distribution that
makes these counts most likely: its mean, and the number of bits that the mean is worth. With
--trained the pictures are encoded with the present states; `make train` does a
round without and a round with them. With --folds, the script says what states trained on the other
pictures save on each part of the pictures, and writes nothing. The tables replace
``initial_states.bin`` and ``small_initial_states.bin`` of ``kernels/shared/tables``; compile the
package again to use them.
"""

import argparse
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from counts import (
    LAMBDAS,
    TILE_SIZE,
    WORTH,
    Observed,
    observed,
    plain_pairs,
    trained_pairs,
    trained_table,
)
from scipy.special import betaln
from tables import SIDE, middle, write

from mmpcodec import EncodeParams
from mmpcodec.presets import SLOW_TOOLS
from mmpcodec.reference.blocks.models import initial_states


@dataclass(frozen=True)
class Kind:
    """What a start is trained on: tiles of a size, from the middles of pictures, at efforts.

    ``worth`` is the total of the frequencies of the modes of a size.
    """

    tile_size: int
    side: int
    efforts: tuple[int, ...]
    worth: int


SLOW = max(SLOW_TOOLS.values())
KINDS = {
    "built-in": Kind(TILE_SIZE, SIDE, (SLOW,), WORTH),
    "small": Kind(64, SIDE // 2, (2, SLOW), 1600),
}


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


def counted(
    samples: list[np.ndarray], kind: Kind, lambdas: tuple[float, ...], trained: bool
) -> list[list[Observed]]:
    """Return what the tiles of each picture show at some lambdas."""
    params = [
        EncodeParams.from_options(
            lam,
            preset="photo",
            effort=effort,
            initial_states=trained,
            trained_transforms=effort >= SLOW,
        )
        for effort in kind.efforts
        for lam in lambdas
    ]
    with ThreadPoolExecutor() as pool:
        jobs = [
            [pool.submit(observed, one, each, kind.tile_size) for each in params] for one in samples
        ]
        return [[tile for job in own for tile in job.result()] for own in jobs]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", nargs="+", type=Path)
    parser.add_argument("--leave-out", action="append", default=[], help="stem of a picture")
    parser.add_argument("--only", choices=KINDS, help="train this start alone")
    parser.add_argument("--trained", action="store_true", help="encode with the present states")
    parser.add_argument(
        "--folds", type=int, default=0, help="only validate, with this number of parts"
    )
    args = parser.parse_args()
    chosen = [path for path in args.pictures if path.stem not in args.leave_out]
    for name in [args.only] if args.only else KINDS:
        kind = KINDS[name]
        samples = [middle(path, kind.side) for path in chosen]
        tables = []
        for number, lambdas in enumerate(LAMBDAS):
            seen = counted(samples, kind, lambdas, args.trained)
            if args.folds:
                saved = validate(seen, args.folds)
                print(f"{name} start, class {number}, bits of models a tile: {saved}")
                continue
            tiles = [one for each in seen for one in each]
            tables.append(trained_table(tiles, plain_pairs(), worth=kind.worth))
        if args.folds:
            continue
        data = np.array(tables).astype(np.uint8)
        assert data.shape == initial_states(name == "small").shape
        print(f"{name} start, {len(chosen)} pictures")
        write("small_initial_states" if name == "small" else "initial_states", data)


if __name__ == "__main__":
    main()
