"""Section Fixed filters of docs/format/format.md."""

from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
TAPS = (
    *((0, 1), (0, 2), (0, 3), (1, -2), (1, -1), (1, 0)),
    *((1, 1), (1, 2), (2, -1), (2, 0), (2, 1), (3, 0)),
)


def fixed_filters(x, depth, step, scales):
    """The filtered samples of a plane, an array (height, width) of int64."""
    most = 2**depth - 1
    across, down, falling, rising = (
        variation(x, depth, p, q) for p, q in ((0, 1), (1, 0), (1, 1), (1, -1))
    )
    table = filters(step)
    C = [most]
    for n in (10, 6, 3):
        C.append(min(most, max(1, (n * step * 2 ** (depth - 8) + 256) >> 9)))
    padded = np.pad(x, 3, mode="edge")
    shown = x.copy()
    for r, c in np.ndindex(x.shape):
        V = tuple(int(own[r // 4, c // 4]) for own in (across, down, falling, rising))
        activity, direction = place(*V, step)
        weights, levels = table[5 * activity + direction]
        S = 0
        for w, level, (i, j) in zip(weights, levels, TAPS, strict=True):
            if V[3] > V[2]:
                j = -j
            if V[1] > V[0]:
                i, j = j, i
            for z in (padded[r + 3 + i, c + 3 + j], padded[r + 3 - i, c + 3 - j]):
                S += w * min(max(int(z) - int(x[r, c]), -C[level]), C[level])
        s = (scales >> (2 * activity)) % 4
        shown[r, c] = min(max(int(x[r, c]) + ((s * S + 128) >> 8), 0), most)
    return shown


def activities(x, depth):
    """The activity A of each block, of section Post filter."""
    return variation(x, depth, 0, 1) + variation(x, depth, 1, 0)


def variation(x, depth, p, q):
    """The weighted sums V of a direction around the blocks."""
    height, width = x.shape
    around = np.pad(x, 1, mode="edge")

    def moved(p, q):
        return around[1 + p : 1 + p + height, 1 + q : 1 + q + width]

    v = abs(2 * x - moved(p, q) - moved(-p, -q)) >> max(depth - 10, 0)
    V = np.zeros(((height + 3) // 4, (width + 3) // 4), np.int64)
    w = (1, 2, 3, 4, 4, 4, 4, 3, 2, 1)
    for R, C in np.ndindex(V.shape):
        for i in range(10):
            for j in range(10):
                r, c = 4 * R + i - 3, 4 * C + j - 3
                V[R, C] += w[i] * w[j] * v[min(max(r, 0), height - 1), min(max(c, 0), width - 1)]
    return V >> (min(depth, 10) - 4)


def place(across, down, falling, rising, step):
    """The activity and the direction."""
    h, H = sorted((across, down))
    g, G = sorted((falling, rising))
    m, least, direction = (H, h, 1) if H * g > G * h else (G, g, 3)
    if m > 3 * least:
        direction += 1
    if 2 * m <= 3 * least:
        direction = 0
    activity = sum(across + down > (49 * step * 2**k) >> 9 for k in range(6))
    return activity, direction


def filters(step):
    """The weights and clip levels of the 35 classes."""
    table = list((ROOT / "kernels/shared/tables/fixed_filters.bin").read_bytes())
    table = table[840 * ((step >= 278) + (step >= 833)) :]
    found = []
    for k in range(35):
        own = table[24 * k : 24 * k + 24]
        found.append(([b - 64 for b in own[:12]], own[12:]))
    return found
