"""Section Logistic mixing of the text."""

import math

from independent.arithmetic import limited

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


def learn(model, bit):
    p, n = model
    p += ((65536 * bit - p) * (131072 // (2 * n + 3))) >> 16
    model[:] = limited(p, 32, 65504), min(n + 1, 127)


class Mixing:
    """Mixes models, some of them hashed, by sets of weights that start at ``weights``.

    ``first`` gives a new model of context, decision and number of the model; ``limits`` are those
    of a probability before its bit is coded.
    """

    def __init__(self, coder, hashed, lines, sets, weights, last_stage=False):
        self.coder = coder
        self.hashed = hashed  # for each model, whether it is
        self.lines = lines
        self.weights = weights
        self.last_stage = last_stage
        self.models = [{} for _ in hashed]  # of each, p and n
        self.sets = [{} for _ in range(sets)]  # of each, weights and [m]
        self.shares = {}  # by decision
        self.a = {}  # by decision and row
        self.limits = 1, 65535

    def first(self, context, decision, number):
        return [32768, 0]

    def bit(self, decision, contexts, rows):
        known = []
        for i, (model, context) in enumerate(zip(self.models, contexts, strict=True)):
            if self.hashed[i]:
                y = ((context + (decision >> 4) * 2654435761) * 789269575) % 2**32
                name = (y ^ (y >> 15)) % self.lines, decision % 16
            else:
                name = context, decision
            found = model.get(name)
            if found is None:
                found = model[name] = self.first(context, decision, i)
            known.append(found)
        bit = self.mixture([STRETCH[p >> 4] for p, n in known], decision, rows)
        for model in known:
            learn(model, bit)
        return bit

    def mixture(self, s, decision, rows):
        sets, xs = [], []
        for weight_set, row in zip(self.sets, rows, strict=False):
            w, m = weight_set.setdefault((decision, row), (self.weights[:], [0]))
            sets.append((w, m))
            total = sum(weight * each for weight, each in zip(w, s, strict=True))
            xs.append(limited(total >> 14, -2815, 2815))
        z = xs[0]
        if len(xs) == 4:
            shares = self.shares.setdefault(decision, [16384] * 4)
            z = limited(sum(shares[i] * xs[i] for i in range(4)) >> 16, -2815, 2815)
        p = squash(z)
        if self.last_stage:
            a = self.a.get((decision, rows[0]))
            if a is None:
                a = [squash(limited(128 * (i - 16), -2815, 2815)) for i in range(33)]
                self.a[decision, rows[0]] = a
            t = limited(z + 2048, 0, 4095)
            k, f = t >> 7, t % 128
            p = limited((p + (((128 - f) * a[k] + f * a[k + 1]) >> 7)) >> 1, 32, 65504)
        bit = self.coder.bit(limited(p, *self.limits))

        if self.last_stage:
            j = k + 1 if f >= 64 else k
            a[j] += (min(65536 * bit, 65535) - a[j]) >> 6
        if len(xs) == 4:
            error = 65536 * bit - squash(z)
            for i, x in enumerate(xs):
                share = shares[i] + ((4 * x * error + 131072) >> 18)
                shares[i] = limited(share, -131071, 131071)
        for (w, m), x in zip(sets, xs, strict=True):
            rate = 2 + 2000 // (100 + m[0])
            g = limited(rate * ((65536 * bit - squash(x)) >> 4), -32767, 32767)
            for i, each in enumerate(s):
                w[i] = limited(w[i] + ((each * g + 16384) >> 15), -28000, 28000)
            m[0] = min(m[0] + 1, 2047)
        return bit


class LogisticMixing(Mixing):
    """The models of lossless samples; ``numbers`` are those in use, of a plane with q before it."""

    def __init__(self, coder, tools, numbers, q):
        hashed = (1, 12, 15, 22, 20, 23) if q else (1, 12, 15, 22)
        count = tools["models"]
        most = count == 24
        super().__init__(
            coder,
            [number in hashed for number in numbers],
            2**15 if most else 2**13,
            4 if most else 1,
            [1200 if most else 2621] * count,
            last_stage=most,
        )
