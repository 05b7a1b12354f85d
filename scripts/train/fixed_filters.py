"""Train the fixed filters (tool *fixed filters*).

    python scripts/train/fixed_filters.py PICTURE... [--leave-out NAME]... [--folds N]

Each picture is cut to its middle, turned into gray, and encoded with several lambdas. For each
class of samples, the sums of products of all clipped differences and of the error are gathered.
From these, weights of least squared error follow for any choice of clip levels; the levels are
found by coordinate descent. A file counts by the inverse of the root of its squared error, so that
neither fine nor coarse steps dominate a table. The tables replace
``kernels/shared/tables/fixed_filters.bin``; compile the package again to use them.

With --folds, N parts of the pictures are left out in turn: the script prints by how many decibels
the filters of the other parts improve them, beside those of all pictures, and writes nothing.
"""

import argparse
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from tables import middle, write

from mmpcodec import EncodeParams, backends
from mmpcodec.backends.base import PlaneTask
from mmpcodec.reference.filters.base import variations
from mmpcodec.reference.filters.fixed import (
    ACTIVITIES,
    CLIPS,
    DIRECTIONS,
    START_STEPS,
    TAPS,
    TURNS,
    ZERO,
    classes_of,
    clips_of,
    table_number,
    turned,
)

LAMBDAS = (5, 10, 20, 40, 70, 120, 200, 360, 600, 1000)
SHARE = 4
"""The share 1 / SHARE of the samples is taken."""
REACH = max(map(max, TAPS))
"""Most rows and columns between a sample and a tap."""
BESIDE = 0.1
"""How much the files of the other tables count in a table."""
CLASSES, COUNT, LEVELS = ACTIVITIES * DIRECTIONS, len(TAPS), len(CLIPS)
STEADY = 1e-4
"""Part of the mean sum of squares that is added to each: rare classes get small weights."""
MOST_WEIGHT = ZERO - 1
ROUNDS = 3
SCALES = (0, 0.5, 1, 1.5)


def params_of(lam: float, effort: int) -> EncodeParams:
    """Return the parameters of a file that is trained on."""
    return EncodeParams.from_options(lam, preset="photo", effort=effort, cross_component=0)


TABLES = np.array([table_number(params_of(lam, 1).coded_tools.step) for lam in LAMBDAS])
"""The number of the table of each lambda."""


def sums_of(samples: np.ndarray, lam: float, effort: int) -> np.ndarray:
    """Return the sums of products of a picture that is coded with lambda.

    Returns
    -------
    (35, 49, 49) float32 array
        For each class, of the differences by clip level and tap, then the error.
    """
    params = params_of(lam, effort)
    coded = backends.get("cpu").encode(PlaneTask(samples, params), threads=1).samples
    step = params.coded_tools.step
    classes, turns = classes_of(variations(coded), step)
    taken = np.random.default_rng(0).random(samples.shape) < 1 / SHARE
    offsets = np.array([[turned(tap, turn) for tap in TAPS] for turn in range(TURNS)])
    offsets = offsets[turns[taken]]
    places = REACH + np.argwhere(taken)[:, None]
    padded = np.pad(coded, REACH, mode="edge").astype(np.float32)
    own = padded[places[..., 0], places[..., 1]]
    sides = [
        padded[places[..., 0] + side * offsets[..., 0], places[..., 1] + side * offsets[..., 1]]
        - own
        for side in (1, -1)
    ]
    values = [sum(np.clip(side, -clip, clip) for side in sides) for clip in clips_of(step)]
    error = (samples.astype(np.float32) - coded)[taken]
    rows = np.concatenate([*values, error[:, None]], axis=1)
    own = classes[taken]
    found = np.empty((CLASSES, rows.shape[1], rows.shape[1]), np.float32)
    for number, sums in enumerate(found):
        chosen = rows[own == number]
        sums[:] = chosen.T @ chosen
    return found


def fitted(sums: np.ndarray, levels: np.ndarray) -> tuple[float, np.ndarray]:
    """Return by how much weights of these clip levels reduce the squared error, and the weights."""
    place = COUNT * levels + np.arange(COUNT)
    square = sums[np.ix_(place, place)]
    steady = STEADY * np.trace(square) / COUNT + 1e-9
    weights = np.linalg.solve(square + steady * np.eye(COUNT), sums[place, -1])
    return float(weights @ sums[place, -1]), weights


def filter_of(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights in 1/128 and the clip levels of a class, by coordinate descent."""
    levels = np.full(COUNT, LEVELS // 2)
    best, weights = fitted(sums, levels)
    for _ in range(ROUNDS):
        for tap in range(COUNT):
            for level in range(LEVELS):
                other = levels.copy()
                other[tap] = level
                value, its_weights = fitted(sums, other)
                if value > best * (1 + 1e-6):
                    best, weights, levels = value, its_weights, other
    return np.clip((128 * weights).round(), -MOST_WEIGHT, MOST_WEIGHT).astype(int), levels


def trained(files: np.ndarray) -> np.ndarray:
    """Return the weights and clip levels of all tables, a (3, 35, 2, 12) array.

    Parameters
    ----------
    files : (P, L, 35, 49, 49) array
        Sums by picture and lambda.
    """
    errors = files[..., -1, -1].sum(axis=2, dtype=float)
    shares = np.sqrt(errors.mean() / errors)
    by_lambda = np.array(
        [np.tensordot(shares[:, number], files[:, number], 1) for number in range(len(LAMBDAS))]
    )
    tables = []
    for number in range(len(START_STEPS) + 1):
        sums = np.tensordot(np.where(number == TABLES, 1, BESIDE), by_lambda, 1)
        tables.append([filter_of(own) for own in sums])
    return np.array(tables)


def gain(files: np.ndarray, tables: np.ndarray) -> np.ndarray:
    """Return the mean gain in dB by lambda, of files that are filtered at the best scales."""
    gains = []
    for number, table in enumerate(tables[TABLES]):
        lost = np.zeros((len(files), ACTIVITIES, 2))
        for kind, (weights, levels) in enumerate(table):
            place = COUNT * levels + np.arange(COUNT)
            own, w = files[:, number, kind].astype(float), weights / 128
            lost[:, kind // DIRECTIONS, 0] += np.einsum(
                "fij,i,j->f", own[:, place][:, :, place], w, w
            )
            lost[:, kind // DIRECTIONS, 1] += own[:, place, -1] @ w
        reduced = [2 * scale * lost[..., 1] - scale**2 * lost[..., 0] for scale in SCALES]
        errors = files[:, number, :, -1, -1].sum(axis=1, dtype=float)
        part = np.max(reduced, axis=0).sum(axis=1) / errors
        gains.append(np.mean(-10 * np.log10(1 - part)))
    return np.array(gains)


def validate(files: np.ndarray, folds: int) -> None:
    """Print the gain of each fold by filters of the other folds and by filters of all."""
    everything = trained(files)
    print("| part | pictures | left out, dB | trained on, dB |\n|---|---|---|---|")
    rows = []
    for fold in range(folds):
        own = np.arange(len(files)) % folds == fold
        rows.append([gain(files[own], each) for each in (trained(files[~own]), everything)])
        left_out, seen = (each.mean() for each in rows[-1])
        print(f"| {fold + 1} | {own.sum()} | {left_out:.3f} | {seen:.3f} |", flush=True)
    left_out, seen = np.mean(rows, axis=0)
    print(f"| mean | {len(files)} | {left_out.mean():.3f} | {seen.mean():.3f} |")
    for lam, one, other in zip(LAMBDAS, left_out, seen, strict=True):
        print(f"| lambda {lam} | {len(files)} | {one:.3f} | {other:.3f} |")


def gathered(paths: Sequence[Path], effort: int) -> np.ndarray:
    """Return the sums of all pictures, by picture and lambda."""
    samples = [middle(path) for path in paths]
    with ThreadPoolExecutor() as pool:
        jobs = [[pool.submit(sums_of, one, lam, effort) for lam in LAMBDAS] for one in samples]
        return np.array([[job.result() for job in row] for row in jobs])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", nargs="+", type=Path)
    parser.add_argument("--leave-out", action="append", default=[], help="stem of a picture")
    parser.add_argument("--effort", type=int, default=2)
    parser.add_argument("--folds", type=int, default=0)
    args = parser.parse_args()
    chosen = [path for path in args.pictures if path.stem not in args.leave_out]
    files = gathered(chosen, args.effort)
    if args.folds:
        validate(files, args.folds)
    else:
        print(f"{len(chosen)} pictures")
        write("fixed_filters", (trained(files) + np.array([[ZERO], [0]])).astype(np.uint8))


if __name__ == "__main__":
    main()
