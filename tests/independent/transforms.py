"""Sections Transform, Trained transforms and Quantisation matrix of the text."""

import itertools
import math
from pathlib import Path

import numpy as np
from independent.arithmetic import limited

ROOT = Path(__file__).parents[2]


def basis(N, sine):
    """The basis of a side: rows are frequencies, columns samples."""
    k, i = np.mgrid[:N, :N]
    if sine:
        values = 8192 / math.sqrt(2 * N + 1) * np.sin(np.pi * (2 * k + 1) * (i + 1) / (2 * N + 1))
    else:
        scale = 4096 * np.sqrt((2 - (k == 0)) / N)
        values = scale * np.cos(np.pi * k * (2 * i + 1) / (2 * N))
    return np.rint(values).astype(np.int64)


def transform(c, h, w, down, across, extra):
    """The residual of a block; ``down`` and ``across`` say where sines are."""
    R, Q = c.shape
    U = basis(h, down)[:R]
    V = basis(w, across)[:Q]
    H = np.clip((U.T @ c + 2048) >> 12, -32767, 32767)
    return (H @ V + 2 ** (14 - extra)) >> (15 - extra)


def weighted(coefficients, h, w, s):
    """Section Quantisation matrix: the coefficients for which those of a block stand."""
    found = np.zeros_like(coefficients)
    for (i, j), c in np.ndenumerate(coefficients):
        u, v = 64 * i // h, 64 * j // w
        weight = 64 + (s * math.isqrt(u**2 + v**2) + 1) // 2
        found[i, j] = np.sign(c) * min((abs(int(c)) * weight + 32) // 64, 32767)
    return found


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
    entries = iter((ROOT / "kernels/shared/tables/trained_transforms.bin").read_bytes())
    for key in itertools.product(range(5), (4, 6), (4, 6)):
        if key[0] < 2 and key[1] > key[2]:
            continue
        n = key[1] * key[2]
        matrix = [[(next(entries) ^ 128) - 128 for _ in range(n)] for _ in range(n)]
        if key == (group, rows, columns):
            return matrix
    raise KeyError((group, rows, columns))
