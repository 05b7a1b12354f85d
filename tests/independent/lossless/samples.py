"""Sections Lossless samples and Fast mode of the text."""

import numpy as np
from independent.arithmetic import limited
from independent.file import Reader
from independent.lossless.fitted_prediction import PLACES, Prediction
from independent.lossless.logistic_mixing import LogisticMixing, learn
from independent.lossless.repeating_pixels import Blocks, Decoder
from independent.lossless.source_colours import SourceColours
from independent.lossless.two_values import two_values
from independent.rangecoder import BinaryModels, RangeCoder


def lossless_samples(payload, height, width, depth, count, tools, chain=None):
    """The planes of a layer, in the order of the form; ``chain`` is that of ``two_values``."""
    planes, source = coded_planes(payload, height, width, depth, count, tools, chain)
    planes = source.pixels(planes)
    if count >= 3:
        planes[:2] = planes[1::-1]  # green and red
    return planes


def coded_planes(payload, height, width, depth, count, tools, chain=None):
    """The planes of a layer in the order of their streams, and its SourceColours."""
    reader = Reader(payload)
    sizes = [reader.number("bytes of a stream") for _ in range(count - 1)]
    streams = [reader.take(size) for size in sizes]
    streams.append(reader.rest())
    coders = [RangeCoder(stream) for stream in streams]
    has_fields = count >= 3 and depth == 8 and not tools["max error"] and min(height, width) >= 8
    source = SourceColours(height, width, coders[0] if has_fields else None)
    occurring = [
        range(2**depth) if tools["max error"] else values(coder, depth) for coder in coders
    ]
    planes = [Plane(*source.shape(k), len(own) - 1) for k, own in enumerate(occurring)]
    alone = count == 1 and planes[0].M == 1 and not tools["max error"]
    blocks = None
    may_repeat = not alone and not tools["max error"] and not source.colours
    may_repeat = may_repeat and any(plane.M > 0 for plane in planes)
    if may_repeat and coders[0].bit(32768):
        blocks = Blocks(BinaryModels(coders[0]), height, width)
    noisy = [0] * count
    for number, (coder, plane) in enumerate(zip(coders, planes, strict=True)):
        has_samples = plane.M > 0 and not (blocks and blocks.all_repeat())
        if has_samples and tools["models"] > 2 and not alone:
            noisy[number] = coder.bit(32768)
        if number == 0 and blocks:
            largest = [own.M for own in planes]
            decoder = Decoder(coder, blocks, largest, tools["form"], height, width)
            for row, colours in enumerate(decoder.decode()):
                for column, colour in enumerate(colours):
                    if blocks.repeat(row, column):
                        for k, own in enumerate(planes):
                            own.x[row][column] = decoder.sample(colour, k)
            tools = {**tools, "predictors": 1}
    found = []
    for number, coder in enumerate(coders):
        plane, before = planes[number], source.earlier(planes[:number])
        plane.blocks = blocks
        if alone:
            two_values(coder, plane, tools["form"], chain)
        elif plane.M > 0 and not (blocks and blocks.all_repeat()):
            if tools["models"] == 2:
                FastDecoder(coder, plane, before, tools).decode()
            else:
                PlaneDecoder(coder, plane, before, tools, noisy[number]).decode()
        source.read_corrections(coder, number)
        coder.end()
        found.append(np.array(occurring[number])[np.array(plane.x)])
    return found, source


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


class Plane:
    """Samples x (numbers of values) and residuals; the methods know the margins."""

    def __init__(self, height, width, M):
        self.height, self.width, self.M = height, width, M
        self.x = [[0] * width for _ in range(height)]
        self.residuals = [[0] * width for _ in range(height)]

    blocks = None

    def known(self, row, column):
        return self.blocks is not None and self.blocks.repeat(row, column)

    def sample(self, row, column):
        row = min(row, self.height - 1)
        if row < 0 or (row == 0 and column < 0):
            return (self.M + 1) >> 1
        if column < 0:
            return self.x[row - 1][0]
        return self.x[row][min(column, self.width - 1)]

    def residual(self, row, column):
        return self.beyond(self.residuals, row, column)

    def beyond(self, numbers, row, column):
        """One of the numbers of the samples, 0 beyond the plane."""
        inside = 0 <= row < self.height and 0 <= column < self.width
        return numbers[row][column] if inside else 0

    def level(self, row, column):
        return (sum(self.sample(row + i, column + j) for i, j in PLACES[:4]) + 2) >> 2


def sc(v):
    s = sum(bound <= abs(v) for bound in (1, 3, 8, 20))
    return 4 + s if v >= 0 else 4 - s


def f(distance):
    """The class of a distance v - predicted."""
    k = len([bound for bound in (1, 2, 3, 5, 8, 12, 32) if abs(distance) >= bound])
    return 7 + k if distance >= 0 else 7 - k


def h(*numbers):
    total = 0
    for x in reversed(numbers):
        total = (total + x) * 65599
    return total % 2**32


def hash_of(s):
    return ((s ^ (s >> 15)) * 2654435761) % 2**32


class Table:
    """Earlier samples in the same context of n neighbours; there are 2^bits lines."""

    def __init__(self, n, bits=15):
        self.n, self.bits = n, bits
        self.entries = {}  # check, uses and value, by number

    def look_up(self, P1, P2, neighbours):
        rest = P1 * 65599 + P2 * 65599**2
        rest += sum(neighbours[i] * 65599 ** (i + 3) for i in range(1, self.n))
        key = hash_of((rest + neighbours[0] * 65599**3) % 2**32)
        line = hash_of(rest % 2**32) >> (32 - self.bits)
        self.number = (line, key >> 29)  # line, entry
        self.check = key % 2**14
        check, self.uses, self.value = self.entries.get(self.number, (0, 0, 0))
        if check != self.check:
            self.uses = 0

    def match(self, predicted):
        if self.uses == 0:
            return 0
        away = limited(self.value - predicted, -500, 500)
        return 1024 * (min(self.uses, 4) - 1) + 502 + away

    def agreement(self, predicted):
        if self.uses == 0:
            return 0
        if self.value != predicted:
            return 3
        return 1 if self.uses <= 2 else 2

    def learn(self, x):
        uses, value = self.uses, self.value
        if uses > 0 and value == x:
            uses = min(uses + 1, 255)
        else:
            uses >>= 1
            if uses == 0:
                uses, value = 1, x
        self.entries[self.number] = self.check, uses, value


def activity_of(near, earlier_residuals):
    """activity and act; near are the residuals of W, N, NW, NE, WW and NN."""
    activity = sum(map(abs, near)) + abs(near[0]) + abs(near[1])
    q = len(earlier_residuals)
    if q > 0:
        activity = (3 * activity + 8 // q * sum(map(abs, earlier_residuals))) >> 2
    return activity, class_of(activity)


def class_of(activity):
    """act."""
    if activity < 4:
        return activity
    digits = activity.bit_length()
    return min(31, 2 * (digits - 1) + ((activity >> (digits - 2)) & 1))


OF_NOISY = (1, 5, 6, 7, 9, 10, 11, 12), (1, 3, 6, 7, 8, 10, 11, 12)


class PlaneDecoder:
    def __init__(self, coder, plane, before, tools, noisy):
        self.noisy = noisy
        self.order = tuple(range(1, tools["models"] + 1))
        if noisy and tools["models"] == 8:
            self.order = OF_NOISY[min(len(before), 1)]
        self.runs = tools["predictors"] == 1
        self.plane = plane
        self.before = before  # P1 and P2
        self.M, self.b, self.e = plane.M, plane.M.bit_length(), tools["max error"]
        self.prediction = Prediction(plane, before, tools)
        self.logistic_mixing = LogisticMixing(coder, tools, self.order, len(before))
        self.means = {}  # B and n, by ("texture" or "skew", its number, act)
        self.tables = {n: Table(n) for n in (3, 6, 10, 22)}

    def decode(self):
        for row in range(self.plane.height):
            self.prediction.begin_row(row)
            self.row(row)
            self.T = self.t

    T = 0  # broken runs of the row above

    def row(self, row):
        self.t = self.alone = column = 0
        while column < self.plane.width:
            if self.plane.known(row, column):
                self.prediction.fitted(row, column)
                self.prediction.learn(row, column, self.plane.x[row][column])
                column += 1
                continue
            n = self.longest_run(row, column) if self.runs else 0
            same = self.run(row, column, n) if n else 0
            column += same
            if n == 0 or same < n:
                self.sample(row, column, n > 0)
                column += 1
                self.alone = column

    def longest_run(self, row, column):
        W = self.plane.sample(row, column - 1)

        def flat(n):
            places = [(0, -3), (0, -2), (0, -1)]
            places += [(i, j) for i in (-3, -2, -1) for j in range(-3, n + 3)]
            return all(self.plane.sample(row + i, column + j) == W for i, j in places) and all(
                earlier.sample(row, column + j) == earlier.sample(row, column - 1)
                for earlier in self.before
                for j in range(n)
            )

        def is_free(n):
            return not any(self.plane.known(row, column + j) for j in range(n))

        for n in (32, 16, 8):
            if column + n <= self.plane.width and is_free(n) and flat(n):
                return n
        return 0

    def run(self, row, column, n):
        """How many samples of a run of n are W; they are set."""
        plane = self.plane
        W = plane.sample(row, column - 1)
        N = (8, 16, 32).index(n)
        near = [plane.residual(row + i, column + j) for i, j in PLACES[:6]]
        act = activity_of(near, [earlier.residual(row, column) for earlier in self.before])[1]
        d = column - self.alone
        gap = class_of(d)
        t, T = min(self.t, 3), min(self.T, 3)
        P = [earlier.sample(row, column) for earlier in self.before]
        contexts = (
            h(W, *P),
            4 * min(d, 1023) + N,
            16 * (gap // 2) + 4 * t + N,
            16 * T + 4 * t + N,
            32 * N + act,
            4 * class_of(plane.width - column) + N,
            16 * min(self.t, 15) + min(self.T, 15),
            64 * T + 16 * t + gap // 2,
            *[N] * 16,
        )
        rows = act, 3 * N + min(t, 2), 4 * gap + N, 4 * T + t
        same = n
        if self.logistic_mixing.bit(13, [contexts[i - 1] for i in self.order], rows):
            same = self.logistic_mixing.coder.plain(3 + N)
            self.t += 1
        for j in range(column, column + same):
            self.prediction.fitted(row, j)
            plane.x[row][j] = W
            self.prediction.learn(row, j, W)
        return same

    def sample(self, row, column, breaks):
        plane, q = self.plane, len(self.before)
        v = [plane.sample(row + i, column + j) for i, j in PLACES]
        W, N, NW = v[:3]
        fitted = self.prediction.fitted(row, column)

        near = [plane.residual(row + i, column + j) for i, j in PLACES[:6]]
        earlier_residuals = [earlier.residual(row, column) for earlier in self.before]
        activity, act = activity_of(near, earlier_residuals)

        median = sorted((W, N, W + N - NW))[1]
        texture = sum((64 * v[i] > fitted) << i for i in range(6))
        skew = limited(16 + (64 * median - fitted + 4 + activity) // (8 + 2 * activity), 0, 31)

        means = [self.means.setdefault(k, [0, 0]) for k in ((0, texture, act), (1, skew, act))]
        mended = limited(fitted + ((means[0][0] + means[1][0] + 16) >> 5), 0, 64 * self.M)
        predicted = (mended + 32) >> 6
        fraction = (mended % 64) >> 3

        P = [earlier.sample(row, column) for earlier in self.before] + [0, 0]
        for table in self.tables.values():
            table.look_up(P[0], P[1], v)
        E = [sc(residual) for residual in [*earlier_residuals, 0, 0][:2]]
        contexts = self.contexts(row, column, v, predicted, act, sc(median - predicted), near)
        contexts += self.more_contexts(row, column, v, predicted, mended, act, near)
        contexts = [contexts[i - 1] for i in self.order]
        agreement = sum(4**i * t.agreement(predicted) for i, t in enumerate(self.tables.values()))
        rows = (
            act,
            3 * sc(median - predicted) + min(2, fraction // 3),
            9 * sc(near[0]) + sc(near[1]) if self.noisy else agreement,
            9 * E[0] + E[1] if q > 0 else predicted >> max(0, self.b - 5),
        )
        x = self.coded(predicted, contexts, rows, breaks and predicted == W)

        plane.x[row][column] = x
        plane.residuals[row][column] = (64 * x - fitted + 32) >> 6
        for table in self.tables.values():
            table.learn(x)
        for mean in means:
            B, n = mean
            B += ((16 * (64 * x - fitted) - B) * (131072 // (2 * n + 3))) >> 16
            mean[:] = B, min(n + 1, 64)
        self.prediction.learn(row, column, x)

    def contexts(self, row, column, v, predicted, act, o, near):
        """The contexts of all models; v are the samples at the 22 places."""
        W, N, NW, NE, WW, NN = v[:6]
        WWW, NNN, NNE = (v[PLACES.index(at)] for at in ((0, -3), (-3, 0), (-2, 1)))
        c = min(7, act // 3)
        match = {n: table.match(predicted) for n, table in self.tables.items()}

        def F(value):
            return f(value - predicted)

        texts = {
            "activity": 32 * o + act,
            "beside": 16 * F(W) + F(N),
            "above": 16 * F(NE) + F(NW),
            "curves": 16 * F(3 * (W - WW) + WWW) + F(3 * (N - NN) + NNN),
            "line": 8 * F(2 * W - WW) + c,
        }
        if not self.before:
            return (
                h(predicted),
                match[3],
                match[22],
                match[6],
                texts["activity"],
                texts["beside"],
                texts["above"],
                match[10],
                texts["curves"],
                8 * min(255, predicted >> max(0, self.b - 8)) + c,
                8 * F(N + NE - NNE) + c,
                h(N, predicted, NE),
                texts["line"],
                8 * F(N + W - NW) + c,
                h(W, predicted, WW),
                64 * (W >> max(0, self.b - 6)) + (N >> max(0, self.b - 6)),
            )
        A, B = (
            [plane.sample(row + i, column + j) for i, j in ((0, 0), (0, -1), (-1, 0))]
            for plane in (self.before * 2)[:2]
        )
        if len(self.before) == 1:
            B = [0, 0, 0]
        return (
            h(predicted, A[0], B[0]),
            match[6],
            16 * F(W + A[0] - A[1]) + F(N + A[0] - A[2]),
            match[3],
            match[22],
            16 * F(W + A[0] - A[1]) + F(W + B[0] - B[1]),
            texts["beside"],
            16 * F(N + A[0] - A[2]) + F(N + B[0] - B[2]),
            match[10],
            81 * sc(near[0]) + 9 * sc(near[1]) + sc(near[3]),
            texts["activity"],
            h(N, predicted, NE, A[0]),
            texts["line"],
            texts["curves"],
            h(W, predicted, WW, A[0]),
            texts["above"],
        )

    def more_contexts(self, row, column, v, predicted, mended, act, near):
        """The contexts of models 17 to 24."""
        W, N = v[:2]
        p, r = self.prediction.p, [0] * 3
        if len(p) == 3:
            r = [limited((log - 88) // 5, 0, 31) for log in self.prediction.logs]
        else:
            p = p * 3

        def G(value):
            return f((value - 64 * predicted) >> 3)

        found = [32 * G(p[j]) + r[j] for j in range(3)]
        beside = 16 * G(p[0]) + G(p[2])
        if not self.before:
            last = 16 * G(mended + 64 * near[0]) + G(mended + 64 * near[1])
            fraction = 32 * (mended % 64 >> 2) + act
            found += fraction, beside, h(W, N, predicted), 16 * G(p[0]) + G(p[1]), last
            return tuple(found)
        A, A_W, A_N = (
            self.before[0].sample(row + i, column + j) for i, j in ((0, 0), (0, -1), (-1, 0))
        )
        B = self.before[1].sample(row, column) if len(self.before) == 2 else 0
        residual = self.before[0].residual(row, column)
        last = 16 * G(mended + 64 * residual) + G(mended + 64 * near[1])
        found += h(A - B, predicted - A), beside, h(predicted, A)
        found += h(W - A_W, predicted - A, N - A_N), last
        return tuple(found)

    def coded(self, predicted, contexts, rows, differs):
        """The sample, by the decisions of number 7."""
        M, e = self.M, self.e
        s = 2 * e + 1
        most = ((M + e) // s).bit_length()

        def mixed(decision):
            return self.logistic_mixing.bit(decision, contexts, rows)

        if not differs and mixed(0) == 0:
            return predicted
        if predicted == 0:
            below = 0
        elif predicted == M:
            below = 1
        else:
            below = mixed(1)
        L = 0
        for length in range(most - 1):
            if mixed(2 + 2 * L + below if L < 5 else 120 + 2 * (L - 5) + below) == 0:
                break
            L = length + 1
        r = 1
        k = max(0, L - 2 if self.noisy else min(L - 3, most - 8))
        for i in range(L - k):
            if i >= 3:
                decision = 16 + 8 * (L - 1 - i)
            elif L >= 3:
                decision = 16 + 8 * (L - 3) + r
            else:
                decision = {1: 11, 2: 12}[L] + r
            r = 2 * r + mixed(decision)
        if k > 0:
            r = 2**k * r + self.logistic_mixing.coder.plain(k)
        return shown(predicted - s * r if below else predicted + s * r, M, e)


def shown(v, M, e):
    if not -e <= v <= M + e:
        raise ValueError(f"sample is {v}, allowed is {-e} to {M + e}")
    return limited(v, 0, M)


class FastDecoder:
    """The samples of a plane in the fast mode."""

    def __init__(self, coder, plane, before, tools):
        self.coder = coder
        self.plane = plane
        self.before = before  # P1 and P2
        self.M, self.e, self.s = plane.M, tools["max error"], 2 * tools["max error"] + 1
        self.prediction = Prediction(plane, before, tools)
        self.means = {}  # B, by texture and act
        self.table = Table(6, bits=14)
        self.models = {}  # p and n of known and first, by the name
        self.second = {}  # p and n, by line and d'

    def decode(self):
        for row in range(self.plane.height):
            self.prediction.begin_row(row)
            for column in range(self.plane.width):
                if self.plane.known(row, column):
                    self.prediction.fitted(row, column)
                    self.prediction.learn(row, column, self.plane.x[row][column])
                else:
                    self.sample(row, column)

    def sample(self, row, column):
        plane = self.plane
        v = [plane.sample(row + i, column + j) for i, j in PLACES[:6]]
        W, N, NW = v[:3]
        fitted = self.prediction.fitted(row, column)
        near = [plane.residual(row + i, column + j) for i, j in PLACES[:6]]
        earlier_residuals = [earlier.residual(row, column) for earlier in self.before]
        act = class_of(activity_of(near, earlier_residuals)[0] >> (self.s.bit_length() - 1))
        texture = sum((64 * v[i] > fitted) << i for i in range(6))
        B = self.means.get((texture, act), 0)
        predicted = (limited(fitted + ((B + 8) >> 4), 0, 64 * self.M) + 32) >> 6

        P = [earlier.sample(row, column) for earlier in self.before]
        self.table.look_up(*[*P, 0, 0][:2], v)
        uses = self.table.uses
        V = self.table.value if uses > 0 else 0
        equal = (V == W) + 2 * (V == N) + 4 * (V == NW)
        if uses > 0 and self.bit("known", min(uses, 7), act, equal):
            x = V
        else:
            away = sorted((W, N, W + N - NW))[1] - predicted
            o = sc(earlier_residuals[0] if self.before else away)
            y = 4 + limited(V - predicted, -3, 3) if uses > 0 else 0
            k = max(0, (act >> 1) - (3 if self.before else 2))
            k = min(((self.M + self.e) // self.s).bit_length(), k)
            line = hash_of(h(predicted, k, *(P or [V]))) >> 19
            x = self.far(predicted, k, ("first", o, y, act), line)

        plane.x[row][column] = x
        plane.residuals[row][column] = (64 * x - fitted + 32) >> 6
        self.means[texture, act] = B + ((16 * (64 * x - fitted) - B) >> 5)
        self.table.learn(x)
        self.prediction.learn(row, column, x)

    def far(self, predicted, k, first, line):
        """The sample, by its distance from the prediction."""
        high = 0
        while high < 14 and self.bit(*first, high, second=(line, high) if high < 6 else None):
            high += 1
        if high == 14:
            n = self.coder.plain(5)
            if n > 16:
                raise ValueError(f"n of a distance is {n}, allowed is 0 to 16")
            high = 13 + 2**n
            if n > 0:
                high += self.coder.plain(n)
        r = high << k
        if k > 0:
            beyond = int(high > 0)
            r += self.bit(*first, 14 + beyond, second=(line, 6 + beyond)) << (k - 1)
        if k > 1:
            r += self.coder.plain(k - 1)
        distance = -self.s * ((r + 1) >> 1) if r % 2 else self.s * (r >> 1)
        return shown(predicted + distance, self.M, self.e)

    def bit(self, *name, second=None):
        """A bit by the model of a name, and by the one of second if that is named."""
        model = self.models.setdefault(name, [32768, 0])
        if second is None:
            bit = self.coder.bit(model[0])
        else:
            p, n = self.second.get(second, (2048, 0))
            bit = self.coder.bit((model[0] + 16 * p + 8) >> 1)
            p += ((4095 * bit - p) * (131072 // (n + 4))) >> 16
            self.second[second] = p, min(n + 1, 12)
        learn(model, bit)
        return bit
