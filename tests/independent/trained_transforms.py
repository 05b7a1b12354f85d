"""Section Trained transforms of the text."""

import itertools
from pathlib import Path

from independent.arithmetic import limited

ROOT = Path(__file__).parents[2]


def trained_transform(coefficients, h, w, mode):
    """Section Trained transforms: changes the low frequencies of the coefficients of a block."""
    t = mode - 3
    if 0 <= t <= 32:
        group, turned = 2 + (abs(t - 16) >= 6) + (abs(t - 16) >= 11), t < 16
    else:
        group, turned = int(t > 32), h > w
    if turned:
        coefficients, h, w = coefficients.T, w, h  # a view
    rows, columns = min(h, 6), min(w, 6)
    places = list(itertools.product(range(rows), range(columns)))
    v = [int(coefficients[i, j]) for _, i, j in sorted((i * w + j * h, i, j) for i, j in places)]
    matrix = trained_matrix(group, rows, columns)
    for m, place in enumerate(places):
        total = sum(row[m] * value for row, value in zip(matrix, v, strict=True))
        coefficients[place] = limited((total + 64) >> 7, -32767, 32767)


def trained_matrix(group, rows, columns):
    text = (ROOT / "kernels" / "shared" / "blocks" / "trained_transforms.h").read_text()
    entries = iter(text.split("= {")[1].split("}")[0].split(","))
    for key in itertools.product(range(5), (4, 6), (4, 6)):
        if key[0] < 2 and key[1] > key[2]:
            continue
        n = key[1] * key[2]
        matrix = [[int(next(entries)) for _ in range(n)] for _ in range(n)]
        if key == (group, rows, columns):
            return matrix
    raise KeyError((group, rows, columns))
