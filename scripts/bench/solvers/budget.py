"""Measure budgets: time of plans and curves, and the loss of one common lambda and of greedy steps.

    python scripts/bench/solvers/budget.py [--seconds S]

The ladders are synthetic, so nothing is encoded. Prints Markdown tables.
"""

import argparse
import time
from collections.abc import Iterator
from datetime import date

import numpy as np

from mmpcodec.bench.codecs.base import machine
from mmpcodec.planning.budget import Ladder, Point, budget_curve, compare, least_bytes

PIXELS = 1 << 21
SETS = ((4, 16, 20_000), (20, 10, 100_000), (50, 10, 400_000), (50, 16, 400_000))
SHARES = (0.05, 0.3, 0.7)
"""Budgets, as fractions of the range from the smallest total of bytes to the largest."""


def ladders(pictures: int, lambdas: int, size: int) -> Iterator[Ladder]:
    """Yield ladders whose slope is lambda, as for an encoder, with 1 % of noise."""
    rng = np.random.default_rng(pictures * lambdas)
    lams = np.geomspace(4, 1024, lambdas)
    for number in range(pictures):
        slope = rng.uniform(0.45, 0.6)
        scale = rng.uniform(0.3, 1.7) * size * 32**slope
        noise = rng.uniform(0.99, 1.01, (2, lambdas))
        sizes = scale * lams**-slope * noise[0]
        errors = 8 * scale * slope / (1 - slope) * lams ** (1 - slope) * noise[1]
        points = zip(lams.tolist(), sizes.tolist(), errors.tolist(), strict=True)
        yield Ladder(str(number), PIXELS, tuple(Point(p[0], int(p[1]), int(p[2])) for p in points))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="time for each search")
    limit = parser.parse_args().seconds
    print(f"{date.today()}; {machine()}\n")
    print("| pictures | lambdas | budget | s | proven | one lambda loses dB | greedy loses dB |")
    print("|---|---|---|---|---|---|---|")
    curves = []
    for pictures, lambdas, size in SETS:
        some = list(ladders(pictures, lambdas, size))
        least = least_bytes(some)
        most = sum(max(point.bytes for point in ladder.points) for ladder in some)
        for share in SHARES:
            total = int(least + share * (most - least))
            start = time.perf_counter()
            found = compare(some, total, time_limit=limit)
            seconds = time.perf_counter() - start
            one = found.one_lambda
            print(
                f"| {pictures} | {lambdas} | {total} | {seconds:.2g} | "
                f"{'yes' if found.exact.proven else 'no'} | "
                f"{'none fits' if one is None else f'{found.loss(one):.3f}'} | "
                f"{found.loss(found.greedy):.5f} |",
                flush=True,
            )
        start = time.perf_counter()
        curve = budget_curve(some)
        curves.append((pictures, lambdas, most, time.perf_counter() - start, curve.unit))
    print("\n| curve of pictures | lambdas | bytes | s | to bytes |\n|---|---|---|---|---|")
    for *row, seconds, unit in curves:
        print(f"| {' | '.join(map(str, row))} | {seconds:.2g} | {unit} |")


if __name__ == "__main__":
    main()
