"""Section Fitted prediction of the text."""

import numpy as np
from independent.arithmetic import limited, trunc

PLACES = (
    *((0, -1), (-1, 0), (-1, -1), (-1, 1), (0, -2), (-2, 0), (-1, -2), (-1, 2), (-2, -1), (-2, 1)),
    *((-2, -2), (-2, 2), (0, -3), (-3, 0), (-1, -3), (-1, 3), (-3, -1), (-3, 1), (-2, 3), (-2, -3)),
    *((-3, 2), (-3, -2)),
)
EARLIER_PLACES = (
    *((0, 0), (0, -1), (-1, 0), (0, 1), (1, 0), (-1, -1), (-2, 0), (0, -2), (0, 2), (-1, 1)),
    *((1, -1), (1, 1), (-1, -2), (-1, 2), (1, -2), (1, 2), (-2, -1), (-2, 1), (-2, -2), (-2, 2)),
)
FEW = (18,), (6, 9), (6, 9, 6)
MANY = (18,), (10, 20), (10, 20, 9)


class Prediction:
    """The predictors of a plane and their blend."""

    def __init__(self, plane, before, tools):
        self.plane, self.before = plane, before
        q, count = len(before), tools["predictors"]
        if count == 3:
            near = (6,), (4, 3), (4, 2, 2)
            kinds = (Strips, 8, FEW), (Near, 1, near), (Strips, 32, MANY)
        elif tools["models"] == 2:
            kinds = ((Strips, 32, FEW),)
        else:
            kinds = ((Strips, 32, MANY),)
        self.predictors = []
        for kind, columns, numbers in kinds:
            self.predictors.append((kind(plane.width, sum(numbers[q]), columns), numbers[q]))
        self.C = [None] * count
        self.E = [[[0] * plane.width for _ in range(plane.height)] for _ in range(count)]

    def begin_row(self, row):
        for sums, _ in self.predictors:
            sums.begin_row(row)

    def fitted(self, row, column):
        plane = self.plane
        self.level = plane.level(row, column)
        self.u, self.p = [], []
        for j, (sums, numbers) in enumerate(self.predictors):
            u = [plane.sample(row + r, column + c) - self.level for r, c in PLACES[: numbers[0]]]
            for earlier, number in zip(self.before, numbers[1:], strict=True):
                level = earlier.level(row, column)
                u += [
                    earlier.sample(row + r, column + c) - level for r, c in EARLIER_PLACES[:number]
                ]
            if column % sums.columns == 0:
                self.C[j] = coefficients(sums.S(column), plane.M.bit_length())
            total = sum(w * x for w, x in zip(self.C[j], u, strict=True))
            self.p.append(limited(64 * self.level + ((total + 128) >> 8), 0, 64 * plane.M))
            self.u.append(u)
        return self.blend(row, column)

    def blend(self, row, column):
        logs = []
        for E in self.E:

            def at(places, E=E):
                return sum(self.plane.beyond(E, row + i, column + j) for i, j in places)

            T = 64 + 4 * at(PLACES[:2]) + 3 * at(PLACES[2:4]) + 2 * at(PLACES[4:6])
            T += at(((-1, -2), (-1, 2), (-2, -1), (-2, 1), (0, -3), (-3, 0)))
            k = T.bit_length() - 1
            logs.append(8 * k + (T >> (k - 3)) % 8)
        self.logs = logs
        Y = total = 0
        for log, p in zip(logs, self.p, strict=True):
            d = log - min(logs)
            y = 0 if d > 64 else (65536, 55109, 46341, 38968)[d % 4] >> (d >> 2)
            Y += y
            total += y * p
        return ((Y >> 1) + total) // Y

    def learn(self, row, column, x):
        for j, (sums, _) in enumerate(self.predictors):
            u = np.array(self.u[j])
            g = 256 if sums.columns <= 16 else 128
            sums.learn(column, g * np.outer(u, np.append(u, x - self.level)))
            self.E[j][row][column] = (64 * x - self.p[j]) ** 2


class Near:
    """The sums of Fitted prediction with another fade; columns is 1."""

    def __init__(self, width, K, columns):
        self.columns = columns
        self.Q = np.zeros((width, K, K + 1), np.int64)

    def fade(self, v):
        return v - (v >> 2) - (v >> 4)

    def begin_row(self, row):
        self.A = self.Z = np.zeros_like(self.Q[0])
        self.R = [np.zeros_like(self.Q[0])]
        for Q in self.Q[:0:-1]:
            self.R.insert(0, self.fade(self.R[0] + Q))

    def S(self, column):
        self.A = self.fade(self.A) + self.Q[column]
        return self.fade(self.A + self.R[column]) + self.Z

    def learn(self, column, v):
        self.Q[column] = self.fade(self.Q[column]) + v
        self.Z = self.fade(self.Z + v)


class Strips:
    """The sums of strips of columns."""

    def __init__(self, width, K, columns):
        self.columns = columns
        count = -(-width // columns)
        self.Q = [np.zeros((K, K + 1), np.int64) for _ in range(count)]
        self.added = None

    def share(self, v):
        return (v >> 3) + (v >> 4)

    def begin_row(self, row):
        if row > 0:
            for k, added in enumerate(self.added):
                self.Q[k] = self.Q[k] - self.share(self.Q[k]) + added
        self.added = [np.zeros_like(Q) for Q in self.Q]
        last = len(self.Q) - 1
        self.A = {0: np.zeros_like(self.Q[0])}
        for k in range(last):
            self.A[k + 1] = self.share(self.A[k] + self.Q[k])
        self.B = {last: np.zeros_like(self.Q[0])}
        for k in range(last, 0, -1):
            self.B[k - 1] = self.share(self.B[k] + self.Q[k])

    def S(self, column):
        k = column // self.columns
        return self.Q[k] + self.A[k] + self.B[k]

    def learn(self, column, v):
        self.added[column // self.columns] += v


def coefficients(m, b):
    """Weights: m is read in and above its diagonal only."""
    g = max(256, 3 * 2 ** (2 * b - 6)) if b >= 4 else 256
    return solved(m, g, [(g * c) >> 3 for c in (5, 5, -3, 1)])


def solved(m, g, pulls):
    """Weights, with the ridge g and with what is added to the first m[i][K]."""
    K = len(m)
    z = max(0, (int(m.diagonal().max()) + g).bit_length() - 29)
    m[range(K), range(K)] += g
    m[: len(pulls), K] += pulls
    m >>= z
    for i in range(K):
        m[i, i:] = np.clip(m[i, i:], -(2**30), 2**30)
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
