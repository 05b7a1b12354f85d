"""Sections Exact samples, Mixed bits and Fitted prediction of the text."""

import math

import numpy as np
from independent.arithmetic import limited, trunc
from independent.rangecoder import BinaryModels

OWN = ((0, -1), (-1, 0), (-1, -1), (-1, 1), (0, -2), (-2, 0), (-1, -2), (-1, 2), (-2, -1), (-2, 1))
EARLIER = ((0, 0), (0, -1), (-1, 0), (0, 1), (-1, -1), (1, 0))
ABOVE, BESIDE = 2, 3  # rows and columns of margins


class Plane:
    """Samples (numbers of values) and errors, with their margins."""

    def __init__(self, height, width, M):
        self.height, self.width, self.M = height, width, M
        self.samples = [[(M + 1) >> 1] * (width + 2 * BESIDE) for _ in range(height + ABOVE + 1)]
        self.errors = [[0] * (width + 2 * BESIDE) for _ in range(height + ABOVE)]

    def begin_row(self, row):
        if row > 0:
            self.samples[row + ABOVE][:BESIDE] = [self.samples[row - 1 + ABOVE][BESIDE]] * BESIDE

    def end_row(self, row):
        line = self.samples[row + ABOVE]
        line[-BESIDE:] = [line[-BESIDE - 1]] * BESIDE
        if row == self.height - 1:
            self.samples[row + ABOVE + 1] = line


def exact_samples(coder, height, width, depth, count):
    """The planes of a layer, in the order of the form."""
    order = (1, 0, 2, 3)[:count] if count >= 3 else range(count)
    planes = [None] * count
    before = []
    for number in order:
        occurring = values(coder, depth)
        plane = Plane(height, width, len(occurring) - 1)
        if plane.M > 0:
            PlaneDecoder(coder, plane, before).decode()
        before = [plane, *before[:1]]
        lines = plane.samples[ABOVE : ABOVE + height]
        planes[number] = np.array(occurring)[np.array(lines)[:, BESIDE : BESIDE + width]]
    return planes


def values(coder, depth):
    """The values that occur in a plane."""
    if not coder.bit(32768):
        return list(range(2**depth))
    models = BinaryModels(coder)
    occurring = []
    bit = 0
    for value in range(2**depth):
        bit = models.bit("occurs", bit)
        if bit:
            occurring.append(value)
    if not occurring:
        raise ValueError("no value occurs")
    return occurring


def sc(v):
    s = sum(bound <= abs(v) for bound in (1, 3, 8, 20))
    return 4 + s if v >= 0 else 4 - s


def lc(v):
    return min(15, abs(v).bit_length())


class PlaneDecoder:
    def __init__(self, coder, plane, before):
        self.plane = plane
        self.before = before  # P1 and P2
        self.b = plane.M.bit_length()
        self.mixed_bits = MixedBits(coder)
        self.fitted_prediction = FittedPrediction(plane, before, self.b)
        self.means = {}  # B and n, by ("texture" or "skew", its number, act)
        self.table = {}  # check, uses and value, by number

    def decode(self):
        for row in range(self.plane.height):
            self.plane.begin_row(row)
            self.fitted_prediction.begin_row()
            for column in range(self.plane.width):
                self.sample(row, column)
            self.plane.end_row(row)

    def sample(self, row, column):
        M = self.plane.M
        r, k = row + ABOVE, column + BESIDE
        line, line1, line2 = (self.plane.samples[r - i] for i in range(3))
        W, N, NW = line[k - 1], line1[k], line1[k - 1]
        around = (W, N, NW, line1[k + 1], line[k - 2], line2[k])
        error, error1, error2 = (self.plane.errors[r - i] for i in range(3))
        eW, eN, eNE = error[k - 1], error1[k], error1[k + 1]
        fitted = self.fitted_prediction.fitted(row, column)

        activity = 2 * abs(eW) + 2 * abs(eN) + abs(error1[k - 1]) + abs(eNE)
        activity += abs(error[k - 2]) + abs(error2[k])
        earlier_errors = [plane.errors[r][k] for plane in self.before]
        if self.before:
            e = sum(abs(error) for error in earlier_errors)
            activity = (3 * activity + 8 // len(self.before) * e) >> 2
        act = activity
        if activity >= 4:
            L = activity.bit_length()
            act = min(31, 2 * (L - 1) + ((activity >> (L - 2)) & 1))

        median = sorted((W, N, W + N - NW))[1]
        texture = sum(2**i for i, v in enumerate(around) if 64 * v > fitted)
        skew = limited(16 + (64 * median - fitted + 4 + activity) // (8 + 2 * activity), 0, 31)

        means = (("texture", texture, act), ("skew", skew, act))
        B1, B2 = (self.means.get(name, (0, 0))[0] for name in means)
        mended = limited(fitted + ((B1 + B2 + 16) >> 5), 0, 64 * M)
        predicted = (mended + 32) >> 6
        fraction = (mended % 64) >> 3

        h = 0
        for v in around + tuple(plane.samples[r][k] for plane in self.before[:1]):
            h = (65599 * h + v) % 2**32
        h = 2654435761 * h % 2**32
        entry, check = h >> 14, h % 2**14
        old_check, uses, value = self.table.get(entry, (check, 0, 0))
        if old_check != check:
            uses = 0
        match = 0
        if uses:
            match = 1024 * (min(uses, 4) - 1) + 502 + limited(value - predicted, -500, 500)

        o = sc(median - predicted)
        c = min(7, act // 3)
        f = fraction
        if self.before:
            f = 9 * sc(earlier_errors[0]) + sc(earlier_errors[1] if len(self.before) > 1 else 0)
        contexts = (
            act,
            256 * lc(eW) + 16 * lc(eN) + lc(eNE),
            32 * o + act,
            8 * texture + c,
            81 * sc(eW) + 9 * sc(eN) + sc(eNE),
            8 * min(255, predicted >> max(0, self.b - 8)) + c,
            32 * f + act,
            match,
        )
        rows = (act, 3 * o + min(2, fraction // 3))
        x = self.decisions(predicted, contexts, rows)

        line[k] = x
        error[k] = (64 * x - fitted + 32) >> 6
        self.fitted_prediction.learn(column, x)
        for name in means:
            B, n = self.means.get(name, (0, 0))
            B += ((16 * (64 * x - fitted) - B) * (131072 // (2 * n + 3))) >> 16
            self.means[name] = B, min(64, n + 1)
        if uses and value == x:
            uses = min(255, uses + 1)
        else:
            uses >>= 1
            if uses == 0:
                uses, value = 1, x
        self.table[entry] = check, uses, value

    def decisions(self, predicted, contexts, rows):
        """The sample, by the decisions of number 7."""
        M, b = self.plane.M, self.b

        def bit(decision):
            return self.mixed_bits.bit(decision, contexts, rows)

        if not bit(0):
            return predicted
        below = predicted == M
        if predicted not in (0, M):
            below = bit(1)
        L = 0
        while b - 1 > L and bit(2 + 2 * L + (1 if below else 0)):
            L += 1
        r = 1
        for i in range(L):
            if i < 3:
                r = 2 * r + bit(2 + 2 * b + 8 * L + r)
            else:
                r = 2 * r + bit(2 + 10 * b + min(15, L - 1 - i))
        x = predicted - r if below else predicted + r
        if not 0 <= x <= M:
            raise ValueError(f"sample is {x}, allowed is 0 to {M}")
        return x


SQUASH = [
    limited(math.floor(65536 / (1 + math.exp(-x / 256)) + 0.5), 1, 65535)
    for x in range(-2815, 2816)
]


def squash(x):
    return SQUASH[x + 2815]


def stretch_table():
    """stretch(p) by p >> 4."""
    table = []
    x = -2047
    for p in range(4096):
        while x < 2047 and squash(x) < 16 * p + 8:
            x += 1
        table.append(x)
    return table


STRETCH = stretch_table()


class MixedBits:
    def __init__(self, coder):
        self.coder = coder
        self.models = [{} for _ in range(8)]  # of each, p and n by context and decision
        self.sets = [{}, {}]  # of each, eight weights by decision and row

    def bit(self, decision, contexts, rows):
        known = []
        for model, context in zip(self.models, contexts, strict=True):
            known.append(model.setdefault((context, decision), [32768, 0]))
        s = [STRETCH[p >> 4] for p, n in known]
        weights, mixed = [], []
        for weight_set, row in zip(self.sets, rows, strict=True):
            w = weight_set.setdefault((decision, row), [10650] * 8)
            weights.append(w)
            mixed.append(limited(sum(w[i] * s[i] for i in range(8)) >> 16, -2815, 2815))
        bit = self.coder.bit(squash((mixed[0] + mixed[1]) >> 1))
        for w, x in zip(weights, mixed, strict=True):
            error = 5 * (65536 * bit - squash(x))
            for i in range(8):
                w[i] = limited(w[i] + ((s[i] * error + 65536) >> 17), -131071, 131071)
        for model in known:
            p, n = model
            p += ((65536 * bit - p) * (131072 // (2 * n + 3))) >> 16
            model[:] = limited(p, 32, 65504), min(255, n + 1)
        return bit


def fade(v):
    return v - (v >> 3) - (v >> 4)


class FittedPrediction:
    """The sums are matrices of a row for each regressor and a column more, for the target."""

    def __init__(self, plane, before, b):
        self.plane = plane
        q = len(before)
        self.places = [(plane, OWN[: (10, 8, 6)[q]])]
        self.places += [(earlier, EARLIER[: (0, 6, 4)[q]]) for earlier in before]
        self.K = sum(len(places) for _, places in self.places)
        self.b = b
        self.Q = np.zeros((plane.width, self.K, self.K + 1), np.int64)

    def begin_row(self):
        self.A = self.Z = 0
        self.R = np.zeros_like(self.Q)
        for column in range(self.plane.width - 1, 0, -1):
            self.R[column - 1] = fade(self.R[column] + self.Q[column])

    def fitted(self, row, column):
        r, k = row + ABOVE, column + BESIDE
        u = []
        for plane, places in self.places:
            samples = plane.samples
            level = samples[r][k - 1] + samples[r - 1][k] + samples[r - 1][k - 1]
            level = (level + samples[r - 1][k + 1] + 2) >> 2
            u += [samples[r + i][k + j] - level for i, j in places]
            if plane is self.plane:
                self.level = level
        self.u = np.array(u)
        self.A = fade(self.A) + self.Q[column]
        C = coefficients(fade(self.A + self.R[column]) + self.Z, self.b)
        fitted = 64 * self.level + ((sum(c * v for c, v in zip(C, u, strict=True)) + 128) >> 8)
        return limited(fitted, 0, 64 * self.plane.M)

    def learn(self, column, x):
        v = 256 * np.outer(self.u, np.append(self.u, x - self.level))
        self.Q[column] = fade(self.Q[column]) + v
        self.Z = fade(self.Z + v)


def coefficients(m, b):
    """Weights: m is read in and above its diagonal only."""
    K = len(m)
    g = max(256, 3 * 2 ** (2 * b - 7)) if b >= 4 else 256
    z = max(0, (int(m.diagonal().max()) + g).bit_length() - 30)
    m[range(K), range(K)] += g
    m[:4, K] += [(g * c) >> 3 for c in (5, 5, -3, 1)]
    m >>= z
    for i in range(K):
        m[i, i:] = np.clip(m[i, i:], -(2**31), 2**31)
        m[i, i] = max(m[i, i], 16)
        scaled = 65536 * m[i, i + 1 : K]
        F = np.clip(np.sign(scaled) * (abs(scaled) // m[i, i]), -(2**30), 2**30)
        m[i + 1 :, i + 1 :] -= (F[:, None] * m[i, i + 1 :]) >> 16
    m = m.tolist()
    C = [0] * K
    for i in reversed(range(K)):
        rest = 16384 * m[i][K] - sum(m[i][j] * C[j] for j in range(i + 1, K))
        C[i] = limited(trunc(rest, m[i][i]), -131072, 131072)
    return C
