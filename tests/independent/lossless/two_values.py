"""Section Two values of the text."""

from independent.arithmetic import limited
from independent.lossless.logistic_mixing import STRETCH, learn, squash

SEVEN = 8, 12, 18, 28, 44, 72, 110
TEMPLATES = (12, 48), (12, 48), (10, 18, 34, 72), SEVEN
MOST_PLACES = 1, 1, 3, 6
WEIGHT_SETS = 1, 1, 2, 3
CERTAIN = 2048, 2048, 512, 0
F = (
    *(0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93),
    *(0xA0761D6478BD642F, 0xE7037ED1A0B428DB, 0x8EBC6AF09C88C6E3, 0x589965CC75374CC3),
    *(0x1D8E4E27C47D124F, 0xEB44ACCAB455D165, 0x2545F4914F6CDD1D, 0xBF58476D1CE4E5B9),
)


class Chain:
    """What the pictures of a chain share; each of them is decoded with it, in their order."""

    def __init__(self):
        self.pictures = 0  # that are decoded
        self.decoder = None  # of all of them
        self.form = None


def two_values(coder, plane, form, chain=None):
    """Decodes the samples of a plane of two values, x[row][column] of the plane.

    ``chain`` is the Chain of the picture, None if the picture is alone.
    """
    ink = coder.bit(32768)
    m_c, m_r = 1 + coder.plain(2), 1 + coder.plain(2)
    chain = chain or Chain()
    if coder.plain(1) != (chain.pictures > 0):
        raise ValueError("the plane and its picture disagree whether it is chained")
    if chain.pictures == 0:
        chain.decoder, chain.form = Decoder(form, plane.height, plane.width), form
    if chain.form != form:
        raise ValueError("tools of a chained picture differ from those before")
    pixels = chain.decoder.pixels
    pixels.begin_picture(plane.height, plane.width, m_c, m_r)
    chain.decoder.decode(coder)
    chain.pictures += 1
    for row in range(plane.height):
        for column in range(plane.width):
            pixel = pixels.bits(pixels.first + row, column, 1)
            plane.x[row][column] = ink if pixel else 1 - ink


class Pixels:
    """The pixels of the plane, which is a picture with those before it in its chain.

    Positions are (row, column) of the plane.
    """

    def __init__(self):
        self.rows = []  # bit 32 + column is the pixel

    def begin_picture(self, height, width, m_c, m_r):
        self.first = len(self.rows)  # row of the plane
        self.width = width
        self.m_c, self.m_r = m_c, m_r
        self.rows += [0] * height

    def set(self, row, column, bit):
        self.rows[row] |= bit << (32 + column)

    def bits(self, row, column, n):
        inside = 0 <= row < len(self.rows)
        return (self.rows[row] >> (32 + column)) % 2**n if inside else 0

    def clear(self, row, column):
        near = (0, -3, 3), (-1, -3, 14), (-2, -3, 14), (-3, -1, 10)
        return all(self.bits(row + r, column + c, n) == 0 for r, c, n in near)

    def value_of_group(self, row, column):
        """v, None if the group has none."""
        if self.clear(row, column):
            return 0
        full = self.bits(row, column - 16, 16) == 2**16 - 1
        full &= all(self.bits(row - k, column - 16, 32) == 2**32 - 1 for k in range(1, 5))
        return 1 if full else None

    def distance(self, one, other):
        """How many pixels of two windows differ; those nearby count twice."""
        total = 0
        for k in range(13):
            n = 25 if k else 12
            here, there = (self.bits(row - k, column - 12, n) for row, column in (one, other))
            total += (here ^ there).bit_count()
            if k <= 4:
                total += (((here ^ there) >> 8) % 2**9).bit_count()
        return total

    def key(self, number, row, column):
        left, right, rows, first, factor = {
            1: (5, 5, 3, 2, 6),
            2: (8, 8, 6, 4, 1),
            3: (17, 10, 8, 3, 0),
        }[number]
        total = self.bits(row, column - left, left - 1) * F[first]
        for k in range(1, rows + 1):
            total += self.bits(row - k, column - left, left + right) * F[first + k]
        return total * F[factor] % 2**64


def size_of_tables(height, width):
    """l."""
    return limited((height * width).bit_length() - 5, 6, 17)


def learn_slowly(model, bit):
    p, n = model
    p += ((65536 * bit - p) * (131072 // (2 * n + 9))) >> 16
    model[:] = limited(p, 1, 65535), min(n + 1, 250)


class Places:
    """The lists of places; a place is (distance, row, column)."""

    def __init__(self, pixels, most, size):
        self.pixels, self.most, self.size = pixels, most, size
        self.entries = {1: 1, 3: 2}.get(most, 4)
        self.lines = {}  # entries by (number of the key, line), the first one first
        self.lists = []  # of the pixels of the row
        self.mixed = []  # columns of the pixels of each row that were mixed

    def begin_row(self, row):
        self.row = row
        self.L = []
        width = self.pixels.width  # that of the row above may differ
        self.above = (self.lists + [[]] * width)[:width]
        self.lists = [[]] * width
        self.mixed.append([])
        if row >= 6:
            for column in self.mixed[row - 6]:
                for line in self.lines_of(row - 6, column):
                    entries = [(row - 6, column), *self.lines.get(line, [])]
                    self.lines[line] = entries[: self.entries]

    def lines_of(self, row, column):
        """The lines of the keys 3, 2 and 1 of a pixel."""
        return [(n, self.pixels.key(n, row, column) >> (63 - self.size)) for n in (3, 2, 1)]

    def next_to(self, i):
        """L_i, the pixel one column to the right of a place of L."""
        _, row, column = self.L[i]
        return row, column + 1

    def given(self):
        """A group gives the pixel."""
        self.L = [(d, r, c + 1) for d, r, c in self.L]

    def certain(self, column):
        """The pixel is certain."""
        moved = [(d, r, c + 1) for d, r, c in self.L if c + 1 < self.pixels.width]
        self.L = moved or [(d, r + 1, c) for d, r, c in self.above[column]]
        self.lists[column] = self.L

    def find(self, column, far):
        """The places of a pixel that is mixed."""
        candidates = [(r, c + 1) for _, r, c in self.L]
        candidates += [(r + 1, c) for _, r, c in self.above[column]]
        if column + 1 < self.pixels.width:
            candidates += [(r + 1, c - 1) for _, r, c in self.above[column + 1][:1]]
        if self.most >= 4 or far > 0 or not self.L or self.L[0][0] > 0:
            for line in self.lines_of(self.row, column):
                candidates += self.lines.get(line, [])
        found = [
            (self.pixels.distance((self.row, column), (r, c)), r, c)
            for r, c in dict.fromkeys(candidates)
            if 0 <= c < self.pixels.width
        ]
        self.L = sorted(found, key=lambda place: place[0])[: self.most]
        self.lists[column] = self.L
        self.mixed[self.row].append(column)


class WeightSet:
    """Weights and m for each row."""

    def __init__(self, inputs, start):
        self.inputs, self.start = inputs, start
        self.rows = {}

    def mix(self, row, s):
        """x."""
        self.w, self.m = self.rows.setdefault(row, ([self.start] * self.inputs, [0]))
        self.s = s
        total = sum((w >> 4) * s for w, s in zip(self.w, s, strict=True))
        self.x = limited(total >> 14, -2815, 2815)
        return self.x

    def learn(self, bit):
        rate = 16 + 8000 // (100 + self.m[0])
        h = (rate * (65536 * bit - squash(self.x))) >> 8
        for i, s in enumerate(self.s):
            self.w[i] = limited(self.w[i] + ((s * h + 1024) >> 11), -448000, 448000)
        self.m[0] = min(self.m[0] + 1, 2047)


class Decoder:
    """The pixels of a plane, by groups; height and width are those of the first picture."""

    def __init__(self, form, height, width):
        self.pixels = Pixels()
        size = size_of_tables(height, width)
        self.places = Places(self.pixels, MOST_PLACES[form], size)
        self.mixing = Mixing(self.pixels, form, size)
        self.limit = CERTAIN[form]
        self.known = {}
        self.near_class = 7
        self.T = 0
        self.group_models = {}
        self.group_weights = WeightSet(4, 78643)

    def decode(self, coder):
        """The rows of the picture that began."""
        self.coder = self.mixing.coder = coder
        for row in range(self.pixels.first, len(self.pixels.rows)):
            self.places.begin_row(row)
            self.row = row
            self.far = self.t = 0
            self.u = 31
            for column in range(0, self.pixels.width, 8):
                self.group(column, min(8, self.pixels.width - column))
            self.T = self.t

    def group(self, column, n):
        v = self.pixels.value_of_group(self.row, column)
        broken = v is not None and self.broken(v, column)
        if v == 0:
            self.t += broken
            self.u = 0 if broken else self.u + 1
        if v is not None and not broken:
            for j in range(n):
                self.give(column + j, v)
            self.far += n
            return
        g = 1 + v if broken else 0
        for j in range(n):
            if g > 0 and j == n - 1:
                self.give(column + j, 1 - v)
            elif self.pixel(column + j, g) != v:
                g = 0

    def give(self, column, bit):
        self.pixels.set(self.row, column, bit)
        self.places.given()

    def broken(self, v, column):
        """The bit of a group with the value v."""
        if v == 1:
            names, row = ["full"], None
        else:
            names, row = self.names_of_group(column)
        models = [self.group_models.setdefault(name, [64, 0]) for name in names]
        if len(models) == 1:
            bit = self.bit(models[0][0])
        else:
            inputs = [STRETCH[p >> 4] for p, n in models]
            bit = self.bit(squash(self.group_weights.mix(row, inputs)))
            self.group_weights.learn(bit)
        for model in models:
            learn_slowly(model, bit)
        return bit

    def bit(self, p):
        return self.coder.bit(limited(p, 2, 65534))

    def names_of_group(self, column):
        """The names of the models of a group with v = 0, and the row of the weights."""

        def bits(r, c, n):
            return self.pixels.bits(self.row + r, column + c, n)

        L, far, t, T, u = self.places.L, self.far, self.t, self.T, self.u
        near = bits(0, -16, 16) != 0 or any(bits(r, -12, 31) for r in (-4, -3, -2, -1))
        placed = len(L) > 0 and far < 100
        a = sum(bound <= u for bound in (3, 8, 30))
        breaks = "breaks", near, min(t, 7), min(T, 7), a
        if not (near or t or T or placed):
            return [breaks], None
        place, row = ("no place",), 0
        if placed:
            c = min(self.near_class, 6)
            d = sum(bound <= far for bound in (8, 16, 32, 64))
            place = "place", self.ink_at(0), c, d, self.second_place()
            row = 1 + 5 * c + d
        bands = [bits(r, c, 8) != 0 for r in (-5, -9, -16, -28) for c in (-8, 0, 8)]
        counts = "counts", min(t, 15), min(u, 31), min(T, 7), near
        return [breaks, place, ("bands", *bands), counts], row

    def ink_at(self, i):
        """y of a group."""
        at = self.places.next_to(i)
        if not self.pixels.clear(*at):
            return 5
        eight = self.pixels.bits(*at, 8)
        lowest = (eight & -eight).bit_length() - 1
        return 1 + (lowest >> 1) if eight else 0

    def second_place(self):
        """z of a group."""
        if len(self.places.L) == 1:
            return 0
        return 1 + (self.pixels.bits(*self.places.next_to(1), 8) != 0)

    def pixel(self, column, g):
        known = self.known.setdefault(self.name_of_known(column), [32768, 0])
        certain = g == 0 and not self.limit <= known[0] <= 65536 - self.limit
        if certain:
            bit = self.bit(known[0])
            self.places.certain(column)
        else:
            self.places.find(column, self.far)
            bit = self.mixing.bit(self.row, column, g, self.places.L)
            if g == 0:
                self.far = 0
                self.near_class = class_of(self.places.L, 0)
        if g == 0:
            learn_slowly(known, bit)
        self.pixels.set(self.row, column, bit)
        return bit

    def name_of_known(self, column):
        """The indices of the model of a pixel with g = 0."""
        ends = (0, -4, 4), (-1, -3, 7), (-2, -2, 5)
        y = 0
        if self.places.L and self.far == 0:
            d = self.places.L[0][0]
            y = 1 + self.pixels.bits(*self.places.next_to(0), 1) + 2 * ((d < 6) + (d < 2))
        return *[self.pixels.bits(self.row + r, column + c, n) for r, c, n in ends], y


def class_of(places, i):
    """c_(i + 1)."""
    if i >= len(places):
        return 7
    return sum(bound < places[i][0] for bound in (0, 2, 5, 9, 15, 24))


def template(m):
    """For each row -j: the pixels of R_j, as bits."""
    decoded = [(r, c) for r in range(-15, 1) for c in range(-15, 16) if r < 0 or c < 0]
    decoded.sort(key=lambda at: (at[0] ** 2 + at[1] ** 2, -at[0], at[1]))
    rows = [0] * 11
    for r, c in decoded[:m]:
        if (r, c) != (0, -1):
            rows[-r] |= 1 << (c + 15)
    return rows


def kept(keep):
    """The bits of q_i that are kept."""
    places = [(r, c) for r in range(-2, 3) for c in range(-2, 3) if keep(r, c)]
    return sum(32 ** (r + 2) * 2 ** (c + 2) for r, c in places)


SQUARE = kept(lambda r, c: abs(r) <= 1 and abs(c) <= 1)
DIAMOND = kept(lambda r, c: abs(r) + abs(c) <= 2)


class State:
    """What a model knows of a pixel."""

    def __init__(self):
        self.model = [32768, 0]  # p and n
        self.seen = [0, 0]  # zeros and ones

    def learn(self, bit):
        learn(self.model, bit)
        self.seen[bit] = min(self.seen[bit] + 1, 15)
        if self.seen[1 - bit] > 2:
            self.seen[1 - bit] = (self.seen[1 - bit] + 2) >> 1


class Model:
    """2^size lines of a check and two states."""

    def __init__(self, size):
        self.size = size
        self.lines = {}

    def state(self, x, W):
        y = x * F[0] % 2**64
        y = (y ^ (y >> 29)) * F[1] % 2**64
        line, check = y >> (64 - self.size), (y >> 8) % 2**16
        if line not in self.lines or self.lines[line][0] != check:
            self.lines[line] = check, State(), State()
        return self.lines[line][1 + W]


class Mixing:
    """Parts Contexts and Mixing: the pixels that are mixed."""

    def __init__(self, pixels, form, size):
        self.pixels = pixels
        self.templates = [template(m) for m in TEMPLATES[form]]
        self.place_models = 8 if MOST_PLACES[form] > 1 else 4
        K = len(self.templates) + self.place_models
        self.models = [Model(size) for _ in range(K)]
        self.history = {}
        start = 1572864 // (5 * (K + 3))
        self.sets = [WeightSet(2 * K + 1, start) for _ in range(WEIGHT_SETS[form])]
        self.shares = {}
        self.last_stage = {}

    def bit(self, row, column, g, places):
        def bits(r, c, n):
            return self.pixels.bits(row + r, column + c, n)

        W, A = bits(0, -1, 1), bits(-1, -1, 3)
        c_1, vote = class_of(places, 0), self.votes(places, 0, 0, 16) if places else 16
        k = 1 + column % 8 if g else 0
        k += 2**8 * (column % self.pixels.m_c) + 2**12 * (
            (row - self.pixels.first) % self.pixels.m_r
        )
        contexts = self.template_contexts(bits, k)
        contexts += self.place_contexts(bits, places)[: self.place_models]
        states = [m.state(x, W) for m, x in zip(self.models, contexts, strict=True)]
        histories = [self.history_of(i, *state.seen) for i, state in enumerate(states)]

        last = [i + 1 for i in range(len(self.templates)) if states[i].model[1] >= 2]
        rows = (
            17 * c_1 + vote if g == 0 else 128 + 8 * g + column % 8,
            W + 2 * bits(0, -2, 1) + 4 * A + 32 * bits(-2, 0, 1),
            8 * max(last, default=0) + c_1,
        )
        inputs = self.inputs(states, histories)
        xs = [s.mix(r, inputs) for s, r in zip(self.sets, rows, strict=False)]
        a = W + 2 * bits(0, -3, 2) + 8 * bits(-1, -2, 5) + 256 * bits(-2, -1, 3)
        bit = self.coded(xs, 16 * c_1 + 2 * A + W, a)

        for weight_set in self.sets:
            weight_set.learn(bit)
        for history, state in zip(histories, states, strict=True):
            learn_slowly(history, bit)
            state.learn(bit)
        return bit

    def template_contexts(self, bits, k):
        rows = [bits(-j, -15, 31) for j in range(11)]
        return [
            2**40 * k + sum(F[j] * (rows[j] & pixels[j]) for j in range(11))
            for pixels in self.templates
        ]

    def place_contexts(self, bits, places):
        f = len(places)
        c_1, c_2 = class_of(places, 0), class_of(places, 1)
        q_1, q_2 = self.around(places[:1]), self.around(places[1:2])
        x_1, x_2 = (q_1 >> 12) & 1, (q_2 >> 12) & 1
        vote = self.votes(places, 0, 0, 16) if places else 16
        at = (0, 1, 4), (1, 0, 4), (1, 1, 3), (1, -1, 3), (-1, 0, 3)
        parts = sum(4**i * self.votes(places, *a) for i, a in enumerate(at))
        A = bits(-1, -1, 3)
        B = bits(0, -2, 1) + 2 * bits(-1, -2, 5) + 64 * bits(-2, -1, 3)
        return [
            2**60 * f + 2**32 * c_1 + 2**25 * A + (q_1 & DIAMOND),
            2**60 * f + 2**40 * (c_1 >> 1) + 2**25 * B + (q_1 & SQUARE),
            2**60 * f + 2**25 * B + q_1,
            2**26 * c_2 + 2**24 * x_2 + 2**8 * B + 2**4 * c_1 + x_1,
            2**60 * f + 2**32 * c_2 + 2**25 * A + (q_2 & DIAMOND),
            2**60 * f + 2**25 * (q_2 & SQUARE) + (q_1 & SQUARE),
            2**16 * B + 2**8 * c_1 + vote,
            2**20 * A + 2**8 * parts + vote,
        ]

    def around(self, place):
        """q_i, by a list of one place or none."""
        return sum(
            32 ** (r + 2) * self.pixels.bits(row + r, column - 2, 5)
            for _, row, column in place
            for r in range(-2, 3)
        )

    def votes(self, places, r, c, n):
        w = [256 >> min(8, (place[0] - places[0][0]) // 7) for place in places]
        ink = [self.pixels.bits(row + r, column + c, 1) for _, row, column in places]
        return n * sum(w * x for w, x in zip(w, ink, strict=True)) // (1 + sum(w))

    def history_of(self, i, zeros, ones):
        start = 65536 * (2 * ones + 1) // (2 * (zeros + ones) + 2)
        return self.history.setdefault((i, zeros, ones), [start, 0])

    def inputs(self, states, histories):
        own, from_history = [], []
        for state, history in zip(states, histories, strict=True):
            p, n = state.model
            s = STRETCH[p >> 4] if n > 0 else 0
            own.append(s if n > 2 else 5 * s // 8)
            from_history.append(STRETCH[history[0] >> 4] if n > 0 else 0)
        return [*own, *from_history, 80]

    def coded(self, xs, number, last):
        """The pixel, by the x of the sets."""
        z = xs[0]
        if len(xs) > 1:
            shares = self.shares.setdefault(number, [65536 // len(xs)] * len(xs))
            total = sum(share * x for share, x in zip(shares, xs, strict=True))
            z = limited(total >> 16, -2815, 2815)
        a = self.last_stage.setdefault(last, [squash(128 * (i - 16)) for i in range(33)])
        t = limited(z + 2048, 0, 4095)
        k, f = t >> 7, t % 128
        p = (squash(z) + (((128 - f) * a[k] + f * a[k + 1]) >> 7)) >> 1
        bit = self.coder.bit(limited(p, 2, 65534))

        j = k + (f >= 64)
        a[j] += (min(65536 * bit, 65535) - a[j]) >> 6
        if len(xs) > 1:
            error = (65536 * bit - squash(z)) >> 2
            for i, x in enumerate(xs):
                share = shares[i] + ((x * error + 32768) >> 16)
                shares[i] = limited(share, -131072, 131072)
        return bit
