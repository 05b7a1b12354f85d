"""Sections Sizes and Signs of the text, with their inputs of Fitted levels."""

from independent.arithmetic import limited, trunc
from independent.jpeg.around import NONE
from independent.jpeg.groups import c, log, n, sg
from independent.jpeg.tables import SUM_WEIGHTS
from independent.jpeg.zigzag import ZIGZAG


def decode_levels(stripe, component, around, block):
    for z in range(1, block.end + 1):
        level = Level(stripe, component, around, block, z)
        block.levels[ZIGZAG[z]] = level.decode()
        around.learn_level(ZIGZAG[z])


def beside(levels, k, rows, columns):
    """The level some rows and columns of frequencies further; 0 beyond the block and for k = 0."""
    v, u = k // 8 + rows, k % 8 + columns
    inside = 0 <= v < 8 and 0 <= u < 8 and (v or u)
    return levels[8 * v + u] if inside else 0


class Level:
    """Decodes level k of a block; names are those of the text."""

    def __init__(self, stripe, component, around, block, z):
        self.stripe, self.groups, self.form = stripe, stripe.groups, stripe.form
        self.q, self.o, self.block, self.z = component.q, around, block, z
        self.k = ZIGZAG[z]
        self.v, self.u = divmod(self.k, 8)
        self.E = block.end
        self.rest = self.E - z
        self.fitted = 0

    def own(self, rows, columns):
        return beside(self.block.levels, self.k, rows, columns)

    def r(self, *blocks):
        return sum(
            abs(beside(each.levels, self.k, 0, i)) for each in blocks for i in (-1, 1) if each
        )

    def t(self, *blocks):
        return sum(
            abs(beside(each.levels, self.k, i, 0)) for each in blocks for i in (-1, 1) if each
        )

    def decode(self):
        o, k = self.o, self.k
        self.up, self.side = o.up(k, 32), o.side(k, 32)
        self.up2 = limited(o.up(k, 32, 1), -4095, 4095)
        self.side2 = limited(o.side(k, 32, 1), -4095, 4095)
        self.find_neighbours()
        if self.form == 3:
            predictors = self.stripe.predictors[self.q]
            inputs = self.inputs_of_level()
            self.fitted = limited(2 * predictors.levels[k].predicted(inputs), -8000, 8000)
        if self.form == 3:
            inputs_of_size = self.inputs_of_fitted_size()
            p = predictors.sizes[k].predicted(inputs_of_size)
        else:
            weights = SUM_WEIGHTS[self.q][k]
            p = sum(w * each for w, each in zip(weights, self.inputs_of_size(), strict=True)) >> 12
        self.s = 0 if p < 0 else p >> 2 if p < 192 else min(63, 48 + ((p - 192) >> 4))
        size = self.size()
        level = -size if size and self.sign(size) else size
        if not -32768 <= level <= 32767:
            raise ValueError(f"level is {level}, which is not allowed")
        if self.form == 3:
            predictors.sizes[k].learn(inputs_of_size, log(size))
            predictors.levels[k].learn(inputs, limited(4 * level, -16383, 16383))
        return level

    def find_neighbours(self):
        o, k = self.o, self.k
        self.l, self.a, self.la, self.ra = (abs(x.levels[k]) for x in (o.L, o.A, o.LA, o.RA))
        self.w, self.n = abs(self.own(0, -1)), abs(self.own(-1, 0))
        self.d = abs(self.own(-1, -1)) + abs(self.own(-1, 1)) + abs(self.own(1, -1))
        self.f = abs(self.own(0, -2)) + abs(self.own(-2, 0))
        self.S = 6 * (self.l + self.a) + 2 * (self.la + self.ra)
        self.T = 4 * (self.w + self.n) + 3 * self.d + 2 * self.f
        self.y = 8 * sum(abs(x.levels[k]) for x in o.Y) // len(o.Y) if self.q else 0
        self.b = abs(o.B.levels[k]) if o.B else 0
        self.m = max(abs(self.up), abs(self.side))
        up, side = self.up, self.side
        if self.u == 0:
            self.continued = side
        elif self.v == 0:
            self.continued = up
        else:
            is_up = abs(up) * (8 - self.v) > abs(side) * (8 - self.u)
            self.continued = up if is_up else side
        self.difference = abs(self.block.difference)

    def inputs_of_size(self):
        """Those of forms 1 and 2."""
        o, k = self.o, self.k
        found = [self.l, self.a, self.la, self.ra, abs(o.LL.levels[k]), abs(o.AA.levels[k])]
        inputs = [*map(log, found)]
        inputs.append(
            sum(log(abs(beside(each.levels, k, 0, i))) for each in (o.L, o.A) for i in (-1, 1))
        )
        inputs.append(
            sum(log(abs(beside(each.levels, k, i, 0))) for each in (o.L, o.A) for i in (-1, 1))
        )
        inputs += map(log, (self.rest, o.cL + o.cA, self.E, self.difference))
        of_Y = 4 * sum(abs(x.levels[k]) for x in o.Y) // len(o.Y) if self.q else 0
        inputs += [64, log(of_Y), log(self.b)]
        for i in (-1, -2, -8, -16, -9, -7, 7, -10):
            inputs.append(log(abs(self.block.levels[k + i])) if 0 < k + i < 64 else 0)
        return [*inputs, log(abs(self.up)), log(abs(self.side))]

    def inputs_of_fitted_size(self):
        o, k = self.o, self.k
        found = [self.l, self.a, self.la, self.ra, abs(o.LL.levels[k]), abs(o.AA.levels[k])]
        found += [self.w, self.n, self.d, self.f, abs(self.up), abs(self.side), self.rest]
        found += [o.cL + o.cA, self.y >> 1 if self.q else self.S + self.T]
        found.append(self.b if o.B else self.m)
        inputs = [*map(log, found), 64]
        r, t = self.r, self.t
        found = [self.E, r(o.L, o.A) + t(o.L, o.A), self.difference]
        found += [r(o.L), r(o.A), t(o.L), t(o.A), r(o.RA) + t(o.RA), r(o.LA) + t(o.LA)]
        found.append(r(*o.Y) + t(*o.Y) if self.q else self.l + self.a)
        found.append(r(o.B) + t(o.B) if o.B else abs(self.fitted) >> 3)
        return [*inputs, *map(log, found)]

    def inputs_of_level(self):
        o, k = self.o, self.k
        found = [self.up, self.side, self.up2, self.side2]
        found += [4 * x.levels[k] for x in (o.L, o.A, o.LA, o.RA, o.B or NONE)]
        has_Y = self.q > 0
        found.append(trunc(4 * sum(x.levels[k] for x in o.Y), len(o.Y)) if has_Y else 0)
        own = (0, -1), (-1, 0), (0, -2), (-2, 0), (0, 1), (1, 0), (-1, -1), (1, -1), (-1, 1)
        found += [4 * self.own(*place) for place in own]
        for levels, places in (
            (o.A.levels, ((1, 0), (-1, 0), (-2, 0))),
            (o.L.levels, ((0, 1), (0, -1), (0, -2))),
            (o.A.levels, ((0, 1),)),
            (o.L.levels, ((1, 0),)),
            (self.block.levels, ((0, -3), (-3, 0))),
        ):
            found += [4 * beside(levels, k, *place) for place in places]
        return [limited(each, -4095, 4095) for each in found]

    def size(self):
        q, o, k, s, E, z, rest = self.q, self.o, self.k, self.s, self.E, self.z, self.rest
        S, T, y, b, m, fitted = self.S, self.T, self.y, self.b, self.m, abs(self.fitted)
        left, a, la, ra = self.l, self.a, self.la, self.ra
        w, n, d, r, t = self.w, self.n, self.d, self.r, self.t
        P = 64 * q + k
        c1, c2, U, V, F = c(S), c(T), c(abs(self.up)), c(abs(self.side)), c(fitted)
        i = r(o.L, o.A) + t(o.L, o.A)
        j = r(o.RA, o.LA) + t(o.RA, o.LA)
        g = S + T + y + 6 * b
        of_frequency = 16 * q + self.u + self.v

        def J(x, y):
            return 2**18 * P + 2**6 * x + y

        contexts = [64 * P + s, J(E >> 1, 0)]
        if q == 0:
            contexts.append(J(c(S + T) >> 1, c(abs(self.continued)) // 3))
        else:
            contexts.append(J(c1 >> 1, min(b, 7) if o.B else 8))
        contexts.append(J(8 * min(w, 7) + min(n, 7), min(d, 3)))
        contexts.append(2**10 * of_frequency + 2**5 * c(2 * S + 2 * T + y + 6 * b) + c(m))
        contexts += [J(U, V >> 1), J(min(rest, 31), c2 >> 1)]
        contexts.append(J(c(y), c(4 * b) if o.B else c2) if q else J(min(left, 7), min(a, 7)))
        contexts += [J(F, 0), J(s >> 1, F), J(c(2 * i), c(j) // 3), J(c(i + (S >> 1)), c2 >> 1)]
        contexts += [J(s >> 1, c(2 * i) >> 1), J(c(g), 0), 64 * (64 * q + E) + z]
        contexts += [J(min(rest, 15), c(g) >> 1), J(c(o.cL + o.cA), c1 >> 1), J(V, c1 // 3)]
        small = 8 * min(w + n, 7) + (min(rest, 15) >> 1)
        contexts += [J(4 * min(left, 3) + min(a, 3), small), J(s >> 1, min(rest, 31))]
        contexts.append(16 * (64 * of_frequency + s) + (F >> 1))
        far = abs(o.LL.levels[k]) + abs(o.AA.levels[k])
        contexts += [J(min(far, 7), min(la + ra, 7)), J(c1, c2 >> 1)]
        of_B = c(4 * (r(o.B) + t(o.B))) if o.B else c(self.difference)
        contexts.append(J(c(r(*o.Y) + t(*o.Y)), of_B))
        rows = [8 * q + min(self.u + self.v, 7), 64 * q + s]
        rows += [64 * q + 2 * c1 + (rest > 3), 64 * q + 2 * F + (rest < 2)]
        numbers = P, s, left, a, fitted
        return self.groups.size("sizes", q, contexts, rows, numbers, above_zero=rest == 0)

    def sign(self, a):
        q, o, k, s = self.q, self.o, self.k, self.s
        up, side, continued, fitted = self.up, self.side, self.continued, self.fitted
        t = min(a, 3)

        def J(x, y):
            return 2**18 * q + 2**9 * x + y

        def half(v, m, divisor=2):
            return n(trunc(v, divisor), m)

        def x3(v):
            return 2 if v > 4 else 0 if v < -4 else 1

        def g(rows, columns):
            return sg(self.own(rows, columns))

        if self.u == 0:
            first = 3 * half(side, 20) + x3(up)
        elif self.v == 0:
            first = 123 + 3 * half(up, 20) + x3(side)
        else:
            first = 246 + 11 * half(up, 5) + half(side, 5)
        sL, sA = sg(o.L.levels[k]), sg(o.A.levels[k])
        sY = sg(o.Y[0].levels[k]) if o.Y else 0
        sB = sg(o.B.levels[k]) if o.B else 0
        contexts = [384 * q + first, J(half(side if self.v else up, 31), 0)]
        contexts += [J(half(continued, 15), t > 1), J(3 * sL + sA, 3 * sB + sY)]
        contexts.append(J(half(up, 3, 4), half(side, 3, 4)))
        contexts.append(J(3 * g(0, -1) + g(-1, 0), 3 * g(0, -2) + g(-2, 0)))
        contexts += [J(half(up + side, 31, 4), t), J(n(up, 4), n(side, 4))]
        contexts += [J(n(fitted, 60), 0), J(half(fitted, 30), t), J(half(fitted * t, 60), s)]
        contexts += [J(n(continued, 100), 0), J(half(continued, 30, 8), 0)]
        contexts.append(J(3 * sg(up) + sg(side), n(o.B.levels[k], 2) if o.B else 5))
        contexts.append(J(3 * (3 * sL + sA) + sg(continued), t))
        contexts.append(J(3 * g(0, 1) + g(1, 0), 3 * g(0, -1) + g(-1, 0)))
        contexts += [J(n(fitted, 100), t), J(half(fitted, 8, 4), half(continued, 8))]
        contexts += [J(half(self.up2, 30), 0), J(half(self.side2, 30), 0)]
        contexts += [J(half(self.up2, 8), half(self.side2, 8)), J(half(fitted, 30), s)]
        contexts += [J(half(fitted, 8), 3 * sY + sB), J(n(fitted, 40), half(continued, 4, 4))]
        F = c(abs(fitted))
        rows = [q, 32 * q + F, 8 * q + min(a, 7), 33 * q + half(fitted, 16)]
        return self.groups.bit("signs", self.z, contexts, rows)
