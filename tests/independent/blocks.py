"""Sections Blocks to Transform of the text."""

import itertools
from collections import namedtuple
from pathlib import Path

import numpy as np
from independent.arithmetic import limited, padded, trunc
from independent.rangecoder import BinaryModels
from independent.transforms import trained_transform, transform, weighted
from independent.trees import Trees

ROOT = Path(__file__).parents[2]
SLOPES = (32, 26, 21, 17, 13, 9, 5, 2, 0, -2, -5, -9, -13, -17, -21, -26)
SLOPES += (-32, -26, -21, -17, -13, -9, -5, -2, 0, 2, 5, 9, 13, 17, 21, 26, 32)
CONSTANT, AVERAGE, PLANAR, TEMPLATES, CROSS_COMPONENT, WIDE = 0, 1, 2, 36, 37, 38


def factor(mode, neighbours):
    """f of Modes; ``neighbours`` are the modes L, H and those at the far ends."""
    f = 4 if mode <= 2 else 2
    for other in neighbours:
        if 3 <= mode <= 35 and 3 <= other <= 35:  # angles
            f += {0: 6, 1: 6, 2: 3}.get(abs(mode - other), 0)
    return f


def blocks(coder, height, width, depth, tools, earlier=()):
    """The decoded padded picture of a layer of predicted blocks, and the steps of its fragments."""
    decoder = Blocks(coder, padded(height, 4), padded(width, 4), depth, tools)
    decoder.earlier = earlier[: tools["cross component"]]
    for y in range(0, height, tools["fragment size"]):
        for x in range(0, width, tools["fragment size"]):
            decoder.fragment(y, x)
    return decoder.picture, decoder.steps


Block = namedtuple("Block", "a b mode kind")  # what is known of a decoded block


class Blocks:
    def __init__(self, coder, height, width, depth, tools):
        self.coder = coder
        self.height, self.width = height, width  # padded
        self.small = height * width <= 2**14
        self.extra = depth - 8
        self.middle = 2 ** (depth - 1)
        self.most = 2**depth - 1
        self.tools = tools
        self.changes, self.steps = {}, {}  # by row and column of the fragment
        self.earlier = []
        self.picture = np.zeros((height, width), np.int64)
        self.decoded = np.zeros((height, width), bool)
        self.units = {}  # the block over each unit, by the unit's row and column
        self.models = BinaryModels(coder)
        self.mode_frequencies = {}
        if tools["initial states"]:
            self.models.models, self.mode_frequencies = initial_states(tools, self.small)
        self.trees = Trees(coder, self.picture, tools) if tools["dictionary"] else None

    def fragment(self, y0, x0):
        size = self.tools["fragment size"]
        self.y0, self.x0 = y0, x0
        bits = size.bit_length() - 1
        here = y0 // size, x0 // size
        self.changes[here] = self.step_change(*here) if self.tools["delta step"] else 0
        n, r = divmod(self.changes[here], 4)
        scaled = self.tools["step"] * (16384, 19484, 23170, 27554)[r] + 2 ** (13 - n)
        self.step = self.steps[here] = limited(scaled >> (14 - n), 1, 65535)
        self.block(y0, x0, bits, bits)
        if not self.trees:
            return
        nodes, copied = self.trees.split_nodes, self.trees.copied
        for y in range(y0, min(y0 + size, self.height), 16):
            for x in range(x0, min(x0 + size, self.width), 16):
                self.trees.split_nodes, self.trees.copied = (
                    [node for node in all_ if node[0] // 16 == y // 16 and node[1] // 16 == x // 16]
                    for all_ in (nodes, copied)
                )
                self.trees.learn(y, x)

    def step_change(self, i, j):
        if i > 0 and j > 0:
            W, U, corner = (
                self.changes[place] for place in ((i, j - 1), (i - 1, j), (i - 1, j - 1))
            )
            e, c = limited(W + U - corner, min(W, U), max(W, U)), int(W != U)
        else:
            e, c = self.changes.get((i, j - 1) if i == 0 else (i - 1, j), 0), 0
        d = 0
        if self.models.bit("changed", c):
            sign = -1 if self.models.bit("finer") else 1
            d = 1
            while d < 48 and self.models.bit("further", min(d, 8) - 1):
                d += 1
            d *= sign
        if not -24 <= e + d <= 24:
            raise ValueError(f"step change is {e + d}, allowed is -24 to 24")
        return e + d

    def block(self, y, x, a, b):
        if y >= self.height or x >= self.width:
            return
        above = self.units.get((y // 4 - 1, x // 4))  # U
        left = self.units.get((y // 4, x // 4 - 1))  # W
        neighbours = [block for block in (above, left) if block]
        if x + 2**b > self.width:
            direction = "columns"
        elif y + 2**a > self.height:
            direction = "rows"
        else:
            direction = self.split(a, b, above, left)
        if direction == "columns":
            self.block(y, x, a, b - 1)
            self.block(y, x + 2 ** (b - 1), a, b - 1)
            return
        if direction == "rows":
            self.block(y, x, a - 1, b)
            self.block(y + 2 ** (a - 1), x, a - 1, b)
            return
        if direction == "three columns":
            self.block(y, x, a, b - 2)
            self.block(y, x + 2 ** (b - 2), a, b - 1)
            self.block(y, x + 3 * 2 ** (b - 2), a, b - 2)
            return
        if direction == "three rows":
            self.block(y, x, a - 2, b)
            self.block(y + 2 ** (a - 2), x, a - 1, b)
            self.block(y + 3 * 2 ** (a - 2), x, a - 2, b)
            return
        h, w = 2**a, 2**b
        here = np.s_[y : y + h, x : x + w]
        s = a + b - 4
        aligned = y % h == 0 and x % w == 0
        if self.trees and a <= 4 and b <= 4 and aligned and self.trees.occurs(4 - a, 4 - b):
            r = sum(block.kind == 2 for block in neighbours)
            tree = self.models.bit("tree", s, r)
        else:
            tree = 0
        if tree:
            mode, kind = 0, 2
            self.trees.tree(y, x, 4 - a, 4 - b, self.y0, self.x0)
        else:
            mode = self.mode(y, x, a, b, above, left)
            k = sum(block.kind == 1 for block in neighbours)
            kind = self.models.bit("kind", s, k)
            samples = 0
            if kind == 1:
                area = area_class(a, b)
                g = (mode > 2) + (mode > 18) + (mode > 35)
                trained = self.tools["trained transforms"] and self.models.bit("trained", area, g)
                sine = not trained and a <= 4 and b <= 4 and self.models.bit("type", area, g)
                skips = sine and self.tools["transform skip"]
                skips = skips and self.models.bit("skip", area, g, start=(65536 * 12 // 100, 4))
                coefficients = self.coefficients(a, b, area, g)
                if trained:
                    trained_transform(coefficients, h, w, mode)
                if (s := self.tools["quantisation matrix"]) and not skips:
                    coefficients = weighted(coefficients, h, w, s)
                down = across = sine
                if self.tools["border sines"] and self.small and (y == 0) != (x == 0):
                    down, across = sine and y > 0, sine and x > 0
                if skips:
                    samples = (coefficients[::-1, ::-1] * 2**self.extra + 4) >> 3
                else:
                    samples = transform(coefficients, h, w, down, across, self.extra)
            samples = samples + self.prediction(mode, y, x, h, w)
            self.picture[here] = np.clip(samples, 0, self.most)
        self.decoded[here] = True
        block = Block(a, b, mode, kind)
        for row in range(y // 4, (y + h) // 4):
            for column in range(x // 4, (x + w) // 4):
                self.units[row, column] = block

    def split(self, a, b, above, left):
        """Decodes how a block is split: None, "columns", "rows", "three columns", "three rows"."""
        if a == 2 and b == 2:
            return None
        c = sum(block is not None and block.a + block.b < a + b for block in (above, left))
        if not self.models.bit("split", a, b, c):
            return None
        if a == 2 or b == 2:
            rows = b == 2
        else:
            narrower = above is not None and above.b < b
            lower = left is not None and left.a < a
            d = 0 if narrower == lower else 1 if narrower else 2
            rows = self.models.bit("direction", a, b, d)
        direction = "rows" if rows else "columns"
        may_be_three = self.tools["ternary"] and (a if rows else b) >= 4
        three = may_be_three and self.models.bit("ternary", a, b, int(rows))
        return "three " + direction if three else direction

    # ---- Modes ----

    def mode(self, y, x, a, b, above, left):
        s = a + b - 4
        if self.earlier and (y > 0 or x > 0):
            c = sum(block is not None and block.mode >= CROSS_COMPONENT for block in (above, left))
            if self.models.bit("planes", s, c):
                return WIDE if s >= 3 and self.models.bit("wide", s) else CROSS_COMPONENT
        there = set(range(36))
        if self.tools["templates"] and self.has_place(y, x, 2**a, 2**b):
            there.add(TEMPLATES)
        L, H = (
            block and (PLANAR if block.mode >= CROSS_COMPONENT else block.mode)
            for block in (left, above)
        )
        if L is None:
            L = PLANAR if H is None else H
        if H is None:
            H = L
        frequencies = self.mode_frequencies.setdefault(s, [3] * 37)
        if self.models.bit("likely", s, int(L == H)):
            mode = L
        elif L != H and self.models.bit("likely", s, 2):
            mode = H
        else:
            others = sorted(there - {L, H})
            far = (y // 4 - 1, (x + 2**b - 1) // 4), ((y + 2**a - 1) // 4, x // 4 - 1)
            near = [L, H, *(self.units[unit].mode for unit in far if unit in self.units)]
            weights = [frequencies[k] * factor(k, near) for k in others]
            mode = others[self.coder.symbol(weights)]
        if mode not in there:
            raise ValueError(f"mode {mode} is not there")
        frequencies[mode] += 20
        if sum(frequencies) > 4000:
            frequencies[:] = [(p + 1) >> 1 for p in frequencies]
        return mode

    # ---- Prediction ----

    def prediction(self, mode, y, x, h, w):
        if mode == CONSTANT:
            return np.full((h, w), self.middle)
        if mode >= CROSS_COMPONENT:
            return self.from_planes(mode, y, x, h, w)
        if mode == TEMPLATES:
            return self.templates(y, x, h, w)
        T, Z, K = self.border(y, x, h, w)
        if mode == AVERAGE:
            block = np.full((h, w), (sum(T[:w]) + sum(Z[:h]) + (w + h) // 2) // (w + h))
        elif mode == PLANAR:
            block = planar(T, Z, h, w)
        else:
            block = angle(mode - 3, T, Z, K, h, w, self.most)
        if self.tools["pdpc"]:
            block = np.clip(pdpc(mode, block, T, Z, K, h, w), 0, self.most)
        return block

    def border(self, y, x, h, w):
        T, Z = [], []
        if y > 0:
            above = np.s_[y - 1, x : x + w + h]
            T = self.picture[above][np.logical_and.accumulate(self.decoded[above])].tolist()
        if x > 0:
            beside = np.s_[y : y + w + h, x - 1]
            Z = self.picture[beside][np.logical_and.accumulate(self.decoded[beside])].tolist()
        T = T or Z[:1] or [self.middle]
        Z = Z or T[:1]
        K = int(self.picture[y - 1, x - 1]) if y > 0 and x > 0 else T[0]
        T += T[-1:] * (w + h - len(T))
        Z += Z[-1:] * (w + h - len(Z))
        return T, Z, K

    def from_planes(self, mode, y, x, h, w):
        middle, height, width = self.middle, *self.earlier[0].shape

        def earlier(number, i, j):
            # Padding repeats the last row and column; so does what lies around the padding.
            return int(self.earlier[number][limited(i, 0, height - 1), limited(j, 0, width - 1)])

        used = [
            (i, j)
            for i in range(max(0, y - 4), y + h)
            for j in range(max(0, x - 4), x + w)
            if i < y or j < x
        ]
        M = sum(earlier(0, i, j) for i, j in used) // len(used)

        def regressors(i, j):
            places = [(0, 0, 0)]
            if mode == WIDE:
                places += [(0, -1, 0), (0, 0, -1), (0, 0, 1), (0, 1, 0)]
            if len(self.earlier) == 2:
                places.append((1, 0, 0))
            found = [earlier(number, i + down, j + right) for number, down, right in places]
            if mode == WIDE:
                found.append(abs(found[0] - M))
            return [each - middle for each in found]

        rows = [[*regressors(i, j), int(self.picture[i, j]) - middle] for i, j in used]
        v = np.array(rows, np.int64).T
        n, N = len(v) - 1, len(used)
        S = [int(sum(each)) for each in v]
        m = [
            [
                trunc(
                    256 * (N * int(v[p] @ v[q]) - S[p] * S[q]),
                    N * 4**self.extra,
                )
                + 65536 * (p == q)
                for q in range(n + 1)
            ]
            for p in range(n)
        ]
        C = solved(m)
        B = trunc(4096 * S[n] - sum(C[p] * S[p] for p in range(n)), N)
        block = np.zeros((h, w), np.int64)
        for i in range(h):
            for j in range(w):
                total = B + sum(c * own for c, own in zip(C, regressors(y + i, x + j), strict=True))
                block[i, j] = limited(((total + 2048) >> 12) + middle, 0, self.most)
        return block

    def has_place(self, y, x, h, w):
        # What is decoded of rows never grows downwards: an area is decoded if its last sample is.
        if y < 2 or x < 2:
            return False
        return bool(self.decoded[max(2, y - 32) + h - 1, max(2, x - 32) + w - 1])

    def templates(self, y, x, h, w):
        top, left = max(2, y - 32), max(2, x - 32)
        rows = y + 1 - top
        columns = min(x + 31, self.width - w) + 1 - left
        samples = self.picture >> self.extra
        errors = np.zeros((rows, columns), np.int64)
        template = [(i, j) for i in (-2, -1) for j in (-2, -1, *range(0, w, max(1, w // 8)))]
        template += [(i, j) for i in range(0, h, max(1, h // 8)) for j in (-2, -1)]
        for i, j in template:
            others = samples[top + i : top + i + rows, left + j : left + j + columns]
            errors += abs(others - samples[y + i, x + j])
        is_place = self.decoded[top + h - 1 : y + h, left + w - 1 : left + w - 1 + columns]
        best = {}
        for i, j in zip(*np.nonzero(is_place), strict=True):
            place = int(errors[i, j]), int(i), int(j)
            best[j] = min(best.get(j, place), place)
        places = sorted(best.values())[: self.tools["templates"]]
        most = places[0][0] * 3 // 2 + 2 * (w + h)
        found = [
            self.picture[top + i : top + i + h, left + j : left + j + w]
            for error, i, j in places
            if error <= most
        ]
        return (sum(found) + len(found) // 2) // len(found)

    # ---- Levels ----

    def coefficients(self, a, b, area, g):
        """The coefficients of the levels of a block, rows of frequencies."""
        step, dependent = self.step, self.tools["dependent"]
        h, w = 2**a, 2**b
        R, Q = min(h, 32), min(w, 32)
        s = a + b - 4
        bit = self.models.bit
        order = sorted((i * w + j * h, i, j) for i in range(R) for j in range(Q))
        n = 0
        while n < (R * Q).bit_length() - 1 and bit("last", s, n):
            n += 1
        last = 0
        if n > 0:
            last = ((2 + bit("lastbit", n)) << (n - 1)) + self.coder.plain(n - 1) - 1
        if last >= R * Q:
            raise ValueError(f"last place is {last}, allowed is 0 to {R * Q - 1}")
        B = int(area >= 2)
        levels, coefficients = np.zeros((2, R + 2, Q + 2), np.int64)
        state = 0
        for number in range(last, -1, -1):
            _, i, j = order[number]
            around = ((i, j + 1), (i, j + 2), (i + 1, j), (i + 2, j), (i + 1, j + 1))
            t = sum(min(3, abs(int(levels[place]))) for place in around)
            o = (i + j > 0) + (i + j >= 3) + (i + j >= 6)
            # The second quantiser of Dependent quantisation has models of its own.
            q = state % 2
            state = (0, 5, 1, 6, 2, 4, 3, 7)[state] if dependent else 0
            own = (1,) if q else ()
            z = min(t, 5)
            percent = min(90, (12, 28, 42, 52, 60, 70)[z] * (20, 14, 10, 10)[o] // 10)
            start = (65536 * percent // 100, 4)
            zero = ("zero", *own, area, o, z)
            z = min(t, 4)
            more, remainder = (*own, B, min(o, 2), z), ("remainder", B)
            fine = self.tools["fine contexts"]
            if fine:
                F = sum(i + j >= first for first in (1, 2, 3, 4, 6, 8, 12))
                T = sum(t >= first for first in (1, 2, 3, 4, 5, 7, 10))
                G = 0
                if g in (1, 2) and i != j:
                    G = 1 if (i > j and g == 1) or (i < j and g == 2) else 2
                more, remainder = ("fine", q, F, T), ("remainder", "fine", min(o, 2), T)
            if number < last:
                if fine:
                    nonzero = self.models.mean_bit(zero, ("zero", "fine", q, G, F, T), start=start)
                else:
                    nonzero = bit(*zero, start=start)
                if not nonzero:
                    continue
            below = self.coder.plain(1)
            percent = (20, 25, 35, 45, 55)[z]
            size = 1
            if bit("one", *more, start=(65536 * percent // 100, 4)):
                size = 2
                if bit("two", *more, start=(65536 * (percent + 10) // 100, 4)):
                    n = 0
                    while n < 15 and bit(*remainder, min(11, n)):
                        n += 1
                    size = 2 + 2**n + self.coder.plain(n)
            if size > 32767:
                raise ValueError(f"size of a level is {size}, allowed is 0 to 32767")
            levels[i, j] = -size if below else size
            if dependent and size % 2 == 1:
                state ^= 2
            value = min(32767, ((2 * size - q) * step + 2) >> 2)
            coefficients[i, j] = -value if below else value
        return coefficients[:R, :Q]


def solved(m):
    """The coefficients C of Cross-component prediction, from n rows of n + 1 sums."""
    n = len(m)
    for i in range(n):
        m[i][i:] = [limited(value, -(2**32), 2**32) for value in m[i][i:]]
        m[i][i] = max(m[i][i], 256)
        for r in range(i + 1, n):
            F = trunc(65536 * limited(m[r][i], -(2**32), 2**32), m[i][i])
            F = limited(F, -(2**30), 2**30)
            for k in range(i, n + 1):
                m[r][k] -= (F * m[i][k]) >> 16
    C = [0] * n
    for i in reversed(range(n)):
        rest = 4096 * m[i][n] - sum(m[i][k] * C[k] for k in range(i + 1, n))
        C[i] = limited(trunc(rest, m[i][i]), -16384, 16384)
    return C


def area_class(a, b):
    """A of Blocks: 0 for areas to 16, 1 to 64, 2 to 256, 3 beyond."""
    return (a + b > 4) + (a + b > 6) + (a + b > 8)


def planar(T, Z, h, w):
    i, j = np.mgrid[:h, :w]
    T, Z = np.array(T), np.array(Z)
    across = ((w - 1 - j) * Z[i] + (j + 1) * T[w]) * h
    down = ((h - 1 - i) * T[j] + (i + 1) * Z[h]) * w
    return (across + down + h * w) // (2 * h * w)


def initial_states(tools, small):
    """Section Initial states: p and n of the binary models, and the frequencies of the modes."""
    step = max(1, 5 * tools["step"] // 6) if tools["dependent"] else tools["step"]
    number = sum(step >= first for first in (149, 278, 481, 833, 1445))
    name = "small_initial_states.bin" if small else "initial_states.bin"
    states = (ROOT / "kernels/shared/tables" / name).read_bytes()
    table = iter(states[3727 * number : 3727 * (number + 1)])
    zero, one = (range(4), range(4), range(6)), (range(2), range(3), range(5))
    models, frequencies = {}, {}
    for name, *indices in (
        ("split", range(2, 7), range(2, 7), range(3)),
        ("direction", range(2, 7), range(2, 7), range(3)),
        ("likely", range(9), range(3)),
        ("kind", range(9), range(3)),
        ("type", range(4), range(4)),
        ("last", range(9), range(12)),
        ("lastbit", range(12)),
        ("zero", *zero),
        ("one", *one),
        ("two", *one),
        ("remainder", range(2), range(12)),
        ("tree", range(9), range(3)),
        ("modes", range(9)),
        ("zero", (1,), *zero),
        ("one", (1,), *one),
        ("two", (1,), *one),
        ("zero", ("fine",), range(2), range(3), range(8), range(8)),
        ("one", ("fine",), range(2), range(8), range(8)),
        ("two", ("fine",), range(2), range(8), range(8)),
        ("remainder", ("fine",), range(3), range(8), range(12)),
        ("trained", range(4), range(4)),
        ("ternary", range(2, 7), range(2, 7), range(2)),
    ):
        if name == "modes":
            frequencies = {s: [max(next(table), 1) for _ in range(37)] for s in range(9)}
            continue
        for index in itertools.product(*indices):
            q, n = next(table), next(table)
            models[name, *index] = 256 * q + 128, min(n, 64)
    return models, frequencies


def angle(t, T, Z, K, h, w, most):
    if t not in (8, 24) and h + w >= 20:
        T, Z, K = smoothed(T, K), smoothed(Z, K), (T[0] + 2 * K + Z[0] + 2) >> 2
    if t < 16:
        return angle_from(SLOPES[t], Z, T, K, w, h, most).T
    return angle_from(SLOPES[t], T, Z, K, h, w, most)


def pdpc(mode, block, T, Z, K, h, w):
    """Section PDPC: the blended prediction, not yet limited."""
    TS, ZS = (smoothed(T, K), smoothed(Z, K)) if h + w >= 20 else (T, Z)
    out = block.copy()
    shift = (h.bit_length() + w.bit_length() - 4) >> 2
    t = mode - 3
    for i in range(h):
        for j in range(w):
            p = int(block[i, j])
            A, B = 32 >> ((2 * j) >> shift), 32 >> ((2 * i) >> shift)
            if mode in (AVERAGE, PLANAR):
                out[i, j] = (A * ZS[i] + B * TS[j] + (64 - A - B) * p + 32) >> 6
            elif t == 24:
                out[i, j] = p + ((A * (Z[i] - K) + 32) >> 6)
            elif t == 8:
                out[i, j] = p + ((B * (T[j] - K) + 32) >> 6)
            elif t > 24 or t < 8:
                q = SLOPES[t]
                v = (16384 + q // 2) // q
                if t > 24:
                    weight, n, line = A, i + ((v * (j + 1) + 256) >> 9), ZS
                else:
                    weight, n, line = B, j + ((v * (i + 1) + 256) >> 9), TS
                if n < h + w:
                    out[i, j] = (weight * line[n] + (64 - weight) * p + 32) >> 6
    return out


def smoothed(line, before):
    longer = [before, *line, *line[-1:]]
    return [(longer[i] + 2 * longer[i + 1] + longer[i + 2] + 2) >> 2 for i in range(len(line))]


def angle_from(q, M, N, K, h, w, most):
    r = {0: K}
    for i in range(h + w + 3):
        r[i + 1] = M[min(i, len(M) - 1)]
    if q < 0:
        for k in range(1, h + 1):
            r[-k] = N[min((32 * k + -q // 2) // -q - 1, h + w - 1)]
    block = np.zeros((h, w), np.int64)
    for i in range(h):
        z = (i + 1) * q
        e, f = z >> 5, z % 32
        c0 = (-1024 * f + 64 * f**2 - f**3 + 512) >> 10
        c1 = (65536 - 160 * f**2 + 3 * f**3 + 512) >> 10
        c3 = (-32 * f**2 + f**3 + 512) >> 10
        c2 = 64 - c0 - c1 - c3
        for j in range(w):
            k = j + e
            value = c0 * r[k] + c1 * r[k + 1] + c2 * r[k + 2] + c3 * r[k + 3]
            block[i, j] = limited((value + 32) >> 6, 0, most)
    return block
