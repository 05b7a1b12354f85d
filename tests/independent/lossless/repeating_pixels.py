"""Section Repeating pixels of the text."""

from independent.arithmetic import limited
from independent.lossless.logistic_mixing import STRETCH, squash

LISTS = None, (1, 3), range(8), range(12)
SETS = None, 1, 2, 2
VALUES = None, (0, 3, 5, 6, 8), range(9), range(9)
BITS = None, (16, 16), (17, 17), (18, 18)
FACTOR = 2654435761
WINDOW = (
    *((0, -1), (1, 0), (1, 1), (1, -1), (0, -2), (2, 0), (1, 2), (1, -2), (2, 1), (2, -1)),
    *((1, 3), (0, -3), (3, 0), (2, 2), (2, -2), (1, -3)),
)
ALIKE = [(0, -i) for i in range(1, 9)] + [(u, i) for u in (1, 2, 3, 4) for i in range(-4, 4)]


def fold(x):
    return (x % 2**32 + FACTOR * (x // 2**32)) % 2**32


def chain(h, v):
    y = ((h ^ (v % 2**32)) * FACTOR) % 2**32
    return y ^ (y >> 15)


def hash_of(h, *values):
    for v in values:
        h = chain(h, v)
    return h


def class_of(v, *limits):
    return sum(limit <= v for limit in limits)


def median(a, b, c):
    return sorted((a, b, a + b - c))[1]


def stretch(p):
    return STRETCH[p >> 4]


class Slow:
    """A slow model."""

    def __init__(self, p=32768):
        self.p, self.n = p, 0

    def learn(self, bit):
        p = self.p + (((65536 * bit - self.p) * (131072 // (2 * self.n + 9))) >> 16)
        self.p, self.n = limited(p, 1, 65535), min(self.n + 1, 250)


class Quick:
    """A quick model with the maps of its owner."""

    def __init__(self):
        self.p, self.n = 32768, 0

    def odds(self, maps):
        self.map = None
        if self.n == 0:
            return 0
        if self.n >= 8:
            return stretch(self.p)
        start = 4096 * (self.p >> 12) + 2048
        self.map = maps.setdefault((self.n, self.p >> 12), Slow(start))
        return stretch(self.map.p)

    def learn(self, bit):
        if self.map:
            self.map.learn(bit)
        p = self.p + (((65536 * bit - self.p) * (131072 // (2 * self.n + 3))) >> 16)
        self.p, self.n = limited(p, 32, 65504), min(self.n + 1, 250)


class Mixer:
    def __init__(self, coder, start, shift=8):
        self.coder, self.start, self.shift = coder, start, shift
        self.rows = {}  # weights and m

    def bit(self, inputs, rows, least, learners):
        """Decodes a bit by its inputs; the learners learn it."""
        used = [
            self.rows.setdefault(key, [[self.start] * len(inputs), 0]) for key in enumerate(rows)
        ]
        total = sum((w >> 6) * s for row in used for w, s in zip(row[0], inputs, strict=True))
        p = squash(limited(total >> 12, -2815, 2815))
        bit = self.coder.bit(limited(p, least, 65536 - least))
        for row in used:
            weights, m = row
            g = ((56 + 3960 // (12 + m)) * (65536 * bit - p)) >> self.shift
            moved = (w + ((s * g + 1024) >> 11) for w, s in zip(weights, inputs, strict=True))
            row[:] = [limited(w, -786432, 786432) for w in moved], min(m + 1, 255)
        for learner in learners:
            learner.learn(bit)
        return bit


class List:
    def __init__(self):
        self.check, self.colours = 0, []  # [colour, count]

    def first(self):
        return self.colours[0][1] if self.colours else 0

    def see(self, x):
        count = sum(n for colour, n in self.colours if colour == x)
        others = [[colour, n] for colour, n in self.colours if colour != x][:2]
        others = [[colour, n // 2 if n > 2 else n] for colour, n in others]
        self.colours = [[x, min(count + 1, 255)], *others]

    def state(self, x, refused):
        rank, count, others = 3, 0, 0
        for i, (colour, n) in enumerate(self.colours):
            if colour == x:
                rank, count = i, n
            elif colour not in refused:
                others += n
        if rank == 3 and others == 0:
            return None
        return rank, class_of(count, 1, 2, 3, 4, 6, 9, 16), class_of(others, 1, 2, 3, 5, 9)


def first_of_state(state):
    o = (0, 4, 8, 12, 18, 28, 48, 120)[state[1]]
    v = (0, 4, 8, 14, 24, 56)[state[2]]
    if state[0] == 3:
        return limited(786432 // (40 + 10 * v), 32, 65504)
    return limited(65536 * (10 * o + 8) // (10 * (o + v) + 32), 32, 65504)


class Blocks:
    def __init__(self, models, height, width):
        self.width = width
        down, across = -(-height // 32), -(-width // 32)
        self.bits = [[1] * across for _ in range(down)]
        for i in range(down):
            for j in range(across):
                left = self.bits[i][j - 1] if j else 1
                above = self.bits[i - 1][j] if i else 1
                self.bits[i][j] = models.bit("repeats", left + 2 * above)

    def repeat(self, row, column):
        return self.bits[row // 32][column // 32]

    def all_repeat(self):
        return all(map(all, self.bits))


class Decoder:
    """Decodes the colours of the blocks that repeat, x[row][column]."""

    def __init__(self, coder, blocks, largest, form, height, width):
        self.coder, self.blocks, self.form = coder, blocks, form
        self.height, self.width, self.M = height, width, largest
        self.b = [M.bit_length() for M in largest]
        self.c = [max(0, b - 8) for b in self.b]
        self.planes = range(len(largest))
        self.x = [[0] * width for _ in range(height)]
        self.kinds = {}  # of pixels of step 3, by position: "escaped", "sloped" or "other"
        self.places = {}
        self.columns = [(0, 0)] * width
        self.slow = {}
        self.group_mixer, self.single_mixer = Mixer(coder, 98304), Mixer(coder, 98304)
        self.lists, self.alike = {}, {}
        self.question_mixer = Mixer(coder, 37449 if SETS[form] == 1 else 18724)
        self.directs, self.maps = {}, {}
        start = 65536 if SETS[form] == 1 else 19660
        self.value_mixers = [Mixer(coder, start, 9) for _ in largest]
        self.values, self.scales = {}, {}
        self.spots = {}

    def decode(self):
        for row in range(self.height):
            self.row = row
            self.R, self.D = 255, 0
            column = 0
            while column < self.width:
                if self.blocks.repeat(row, column):
                    column = self.next(column)
                else:
                    column = self.done(column, 1, 0)
        return self.x

    def at(self, up, right):
        return self.pixel(self.row - up, self.column + right)

    def pixel(self, row, column):
        if row < 0:
            return 0
        if column < 0:
            return self.pixel(row - 1, 0)
        return self.x[row][min(column, self.width - 1)]

    def sample(self, colour, k):
        return (colour >> sum(self.b[:k])) % 2 ** self.b[k]

    def done(self, column, count, colour):
        """Sets pixels of steps 1 and 2; returns the column after them."""
        for j in range(column, column + count):
            self.x[self.row][j] = colour
            r, C = self.columns[j]
            self.columns[j] = min(r + 1, 255), C
        self.R = min(self.R + count, 255)
        return column + count

    def model(self, *name, start):
        return self.slow.setdefault(name, Slow(start))

    def next(self, column):
        """Decodes the next pixels; returns the column after them."""
        self.column = column
        W = self.at(0, -1)
        near = [(0, -2), (0, -3)] + [(1, j) for j in range(-3, 5)] + [(2, j) for j in range(-1, 3)]
        flat = all(self.at(*position) == W for position in near)
        if not flat:
            return self.coded(column, False)
        ahead = [(1, j) for j in range(4, 12)] + [(2, j) for j in range(3, 11)]
        group = all(
            column + j < self.width and self.blocks.repeat(self.row, column + j) for j in range(8)
        ) and all(self.at(*position) == W for position in ahead)
        r, C = self.columns[column]
        if group:
            k = 8 * class_of(self.R, 4, 12, 40, 120) + class_of(r, 2, 6, 16, 40, 100)
            models = [
                self.model("group", 0, k, start=65300),
                self.model("group", 1, hash_of(1, fold(W), fold(C), r) >> 23, start=65300),
                self.model(
                    "group", 2, hash_of(2, fold(W), fold(self.D), self.R) >> 23, start=65300
                ),
            ]
            inputs = [stretch(model.p) for model in models]
            if self.group_mixer.bit(inputs, (k,), 2, models):
                return self.done(column, 8, W)
            number = 1
            for _ in range(3):
                model = self.model("end", number, start=32768)
                bit = self.coder.bit(model.p)
                model.learn(bit)
                number = 2 * number + bit
            return self.coded(self.done(column, number - 8, W), True)
        a = next((a for a in range(4, 8) if self.at(1, a) != W), 8)
        A = self.at(1, a) if a < 8 else 0
        keys = (
            min(r, 15) + 16 * min(self.R, 31),
            hash_of(3, fold(W), fold(C), r) >> 20,
            hash_of(4, fold(W), fold(self.D), self.R) >> 20,
            hash_of(5, fold(W), fold(A), a) >> 20,
        )
        models = [self.model("single", i, key, start=64500) for i, key in enumerate(keys)]
        row = (a < 8) + 2 * (r < 3) + 4 * (self.R < 4)
        if self.single_mixer.bit([stretch(model.p) for model in models], (row,), 2, models):
            return self.done(column, 1, W)
        return self.coded(column, True)

    def coded(self, column, excluded):
        """Step 3."""
        self.column = column
        position = self.row, column
        W, N, NW, NE = self.at(0, -1), self.at(1, 0), self.at(1, -1), self.at(1, 1)
        contexts = self.contexts()
        place, near = self.find_place(contexts[4] >> 16)
        P = self.pixel(*place) if place else 0
        S = 0
        for k in reversed(self.planes):
            w, n, nw = (self.sample(colour, k) for colour in (W, N, NW))
            S = S << self.b[k] | limited(w + n - nw, 0, self.M[k])
        kinds = [
            self.kinds.get((self.row - up, column + right))
            for up, right in ((0, -1), (1, 0), (1, -1), (1, 1))
        ]
        s = kinds[:2].count("sloped")
        lists = [self.find_list(i, contexts[number]) for i, number in enumerate(LISTS[self.form])]
        candidates = ([P] if place else []) + ([S] if s else [])
        for own in reversed(lists):
            candidates += [colour for colour, _ in own.colours[:2]]
        candidates += [W, N, NE, NW, self.at(2, 0), S]
        candidates = list(dict.fromkeys(candidates))[:12]
        refused = []
        if excluded:
            refused = [W]
            candidates = [x for x in candidates if x != W]
        found = None
        for t in range(1 if kinds.count("escaped") >= 3 else 2):
            if found is not None or not candidates:
                break
            scores = []
            for x in candidates:
                score = 2500 * s * (x == S)
                if place and x == P:
                    score += 1500 - 200 * near
                for i, own in enumerate(lists):
                    state = own.state(x, refused)
                    if state:
                        score += stretch(self.state(i, 0, state).p)
                scores.append(score)
            x = candidates.pop(scores.index(max(scores)))
            if self.ask(x, t, lists, place, near, P, S, s, refused):
                found = x
            else:
                refused.append(x)
        window = self.window(*position)
        keys = self.keys(window)
        kind = "other"
        if found is None:
            kind = "escaped"
            found = self.escaped(place, near, P, window, keys)
        elif found == S and (s or found not in (W, N)):
            kind = "sloped"
        self.x[self.row][column] = found
        self.kinds[position] = kind
        for key in keys:
            self.spots[key] = [position, *self.spots.get(key, [])][:2]
        for own in lists:
            own.see(found)
        self.columns[column] = 0, found
        self.R, self.D = 0, found
        return column + 1

    def contexts(self):
        def more(h, *positions):
            return hash_of(h, *(fold(self.at(*position)) for position in positions))

        W, N, NE = (0, -1), (1, 0), (1, 1)
        H = [more(1, W, N)]
        H.append(more(H[0], NE, (1, -1)))
        H.append(more(H[1], (0, -2), (2, 0)))
        H.append(more(H[2], (1, 2), (2, 1), (2, -1), (1, -2)))
        H.append(more(H[3], (0, -3), (3, 0), (2, 2), (2, -2), (1, 3), (1, -3)))
        last = (3, 1), (3, -1), (0, -4), (1, 4), (3, 2), (3, -2), (2, 3), (2, -3)
        H.append(more(H[4], *last))
        H.append(more(2, W, (0, -2), (0, -3)))
        H.append(more(4, NE, N, (1, 2)))
        H.append(more(3, N, (2, 0), (3, 0)))
        H.append(more(5, W))
        H.append(more(6, W, NE, (1, 2), (1, 3)))
        H.append(more(7, W, (0, -2), (0, -3), (0, -4), N))
        return H

    def find_list(self, i, context):
        y = chain(context, 5369127 * (i + 1))
        check, place = y % 256 | 1, y >> (32 - BITS[self.form][0])
        one = self.lists.setdefault(place, List())
        other = self.lists.setdefault(place ^ 1, List())
        for own in one, other:
            if own.check == check:
                return own
        if other.first() < one.first():
            one, other = other, one
        if other.first() > 1:
            other.colours[0][1] -= 1
        one.check, one.colours = check, []
        return one

    def find_place(self, key):
        row, column = self.row, self.column
        left, above = self.places.get((row, column - 1)), self.places.get((row - 1, column))
        tried = [
            left and (left[0], left[1] + 1),
            above and (above[0] + 1, above[1]),
            self.alike.get(key),
        ]
        best, least = None, 41
        for position in tried:
            if position is None or position[1] >= self.width or position == best:
                continue
            distance = sum(
                self.pixel(row - u, column + j) != self.pixel(position[0] - u, position[1] + j)
                for u, j in ALIKE
            )
            if distance < least:
                best, least = position, distance
            if distance == 0:
                break
        self.alike[key] = row, column
        if best is None:
            return None, 7
        self.places[row, column] = best
        return best, class_of(least, 1, 2, 4, 7, 12, 19)

    def state(self, i, t, state):
        return self.model("state", i, t, state, start=first_of_state(state))

    def ask(self, x, t, lists, place, near, P, S, s, refused):
        """Whether the pixel is x."""
        W, N, NW, NE = self.at(0, -1), self.at(1, 0), self.at(1, -1), self.at(1, 1)
        inputs, learners = [], []
        for i, own in enumerate(lists):
            state = own.state(x, refused)
            if state:
                learners.append(self.state(i, t, state))
            inputs.append(stretch(learners[-1].p) if state else 0)
        g = 3 if not place else 1 if x == P else 2 if P in refused else 0
        if place:
            start = 59000 - 6500 * near if g == 1 else 6500
            learners.append(self.model("place", near, g, t, start=start))
        inputs.append(stretch(learners[-1].p) if place else 0)
        q = (W == N) + 2 * (N == NE) + 4 * (NW == N) + 8 * (W == NW)
        z = (x == W) + 2 * (x == N) + 4 * (x == NE) + 8 * (x == NW)
        eight = [W, N, NE, NW, self.at(0, -2), self.at(2, 0), self.at(1, 2), self.at(2, -1)]
        f = (x == eight[4]) + 2 * (x == eight[5]) + 4 * (x == eight[6])
        j = 0
        for colour in eight[1:]:
            j = 9 * j + eight.index(colour)
        first = q + 16 * z + 256 * f + 4096 * t + 8192 * g + 32768 * (x == S) + 65536 * s
        hashes = (
            hash_of(11, first),
            hash_of(12, j, z + 16 * f + 256 * t),
            hash_of(13, fold(x), fold(W), fold(N), 256 * t + 8 * g + near),
        )
        for i, key in enumerate(hashes):
            model = self.directs.setdefault((i, key >> 17), Quick())
            inputs.append(model.odds(self.maps.setdefault(("direct", i), {})))
            learners.append(model)
        inputs.append(256)
        l = max((i + 1 for i, own in enumerate(lists[:6]) if own.colours), default=0)  # noqa: E741
        rows = [
            128 * (4 * t + g) + 16 * near + l,
            256 * t + (15 if x == S and z == 0 else 16 * q + z),
        ]
        return self.question_mixer.bit(inputs, rows[: SETS[self.form]], 16, learners)

    def window(self, row, column):
        return [
            self.sample(self.pixel(row - up, column + right), 0) >> self.c[0]
            for up, right in WINDOW
        ]

    def keys(self, v):
        L, R = min(v), max(v) - min(v)
        if R < 16:
            return []
        fine, coarse = 5, 9
        for i in range(14):
            fine = (5 * fine + 1023 * (v[i] - L) // R // 256) % 2**32
        for i in range(6):
            coarse = 7 * coarse + 1791 * (v[i] - L) // R // 256
        return [(1, chain(fine, 1) >> 18), (2, chain(coarse, 2) >> 18)]

    def match(self, v, keys):
        """Y, or None, and y."""
        best, least = None, None
        for key in keys:
            for spot in self.spots.get(key, []):
                other = self.window(*spot)
                L, R = min(other), max(other) - min(other)
                if R == 0:
                    continue
                distance = 0
                for i in range(16):
                    own = 255 * (v[i] - min(v)) // (max(v) - min(v))
                    distance += abs(255 * (other[i] - L) // R - own) * (2 if i < 6 else 1)
                if least is None or distance < least:
                    best, least = (spot, L, R), distance
        if best is None:
            return None, 6
        spot, L, R = best
        u = self.sample(self.pixel(*spot), 0) >> self.c[0]
        Y = (min(v) + (u - L) * (max(v) - min(v)) // R) * 2 ** self.c[0]
        return limited(Y, 0, self.M[0]), class_of(least, 50, 130, 260, 450, 800)

    def escaped(self, place, near, P, window, keys):
        W, N, NW, NE = self.at(0, -1), self.at(1, 0), self.at(1, -1), self.at(1, 1)
        WW, NN = self.at(0, -2), self.at(2, 0)
        ten = [W, N, NW, NE, WW, NN]
        ten += [self.at(*at) for at in ((1, 2), (1, -2), (2, 1), (2, -1))]
        low = min(ten, key=lambda colour: self.sample(colour, 0))
        high = max(ten, key=lambda colour: self.sample(colour, 0))
        run = self.sample(high, 0) - self.sample(low, 0)
        d = int(run > 0)
        Y, y = self.match(window, keys)
        X = 0
        for k in self.planes:
            if self.M[k] == 0:
                continue
            M = self.M[k]

            def of(colour, plane=k):
                return self.sample(colour, plane)

            w, n, nw, ne = of(W), of(N), of(NW), of(NE)
            away = abs(w - nw) + abs(n - nw) + abs(n - ne)
            act = class_of(away >> self.c[k], 2, 6, 14, 30, 80)
            scales = [act] * 4
            if k in (1, 2):
                X_0, W_0, N_0, NW_0, NE_0 = (of(colour, 0) for colour in (X, W, N, NW, NE))
                slope = median(w, n, nw) + X_0 - median(W_0, N_0, NW_0)
                line = slope
                if d:
                    rise = of(high) - of(low)
                    line = of(low) + (2 * (X_0 - of(low, 0)) * rise + run) // (2 * run)
                scales = [act + 8 * d] * 4
                other = X_0 + ((2 * (w + n) + ne - nw) >> 2)
                other -= (2 * (W_0 + N_0) + NE_0 - NW_0) >> 2
                predictions = [line, slope, other]
            else:
                slope = line = median(w, n, nw)
                predictions = [slope, (2 * (w + n) + ne - nw) >> 2, slope]
                if k == 0 and Y is not None:
                    predictions[2], scales[2] = Y, 8 + y
            predictions.append(of(P) if place else line)
            scales[3] = near + 8 if place else near
            slope, line = limited(slope, 0, M), limited(line, 0, M)
            predictions = [limited(v, 0, M) for v in predictions]
            used = []
            for i in range(len(predictions)):
                start = (384 if k else 768) * (1 + scales[i] % 8)
                used.append(self.scales.setdefault((k, i, scales[i]), [start, 0]))

            def upper(bits, *colours, plane=k):
                total = 0
                for i, colour in enumerate(colours):
                    v = self.sample(colour, plane) >> max(0, self.b[plane] - bits)
                    total += v << bits * i
                return total

            so_far = fold(X)
            seventh = hash_of(8, slope, act)
            if k == 0:
                seventh = hash_of(7, slope if Y is None else Y, y)
            contexts = (
                hash_of(1, so_far),
                hash_of(2, fold(W), so_far),
                hash_of(3, fold(N), so_far),
                hash_of(4, fold(W), fold(N), so_far),
                hash_of(5, fold(W), fold(N), fold(NE), so_far),
                hash_of(6, line, act + 256 * d),
                seventh,
                hash_of(9, upper(3, W, N, NW, NE), so_far),
                hash_of(10, fold(low), fold(high), so_far),
            )
            contexts = [
                hash_of(contexts[number], k, i) for i, number in enumerate(VALUES[self.form])
            ]
            x = self.coded_sample(k, contexts, predictions, [E for E, _ in used], act, d)
            for scale, v in zip(used, predictions, strict=True):
                E, uses = scale
                E += ((256 * abs(x - v) - E) * (131072 // (2 * uses + 3))) >> 16
                scale[:] = E, min(uses + 1, 60)
            X |= x << sum(self.b[:k])
        return X

    def coded_sample(self, k, contexts, predictions, errors, act, d):
        low, top, node = 0, self.M[k] + 1, 1
        places = []
        for count, bit in enumerate(reversed(range(self.b[k]))):
            if count % 4 == 0:
                node, places = 1, []
                for context in contexts:
                    key = hash_of(context, low, bit)
                    place = key >> (32 - BITS[self.form][1])
                    if self.values.get(place, (0, {}))[0] != key | 1:
                        self.values[place] = key | 1, {}
                    places.append(place)
            found = 0
            middle = low + 2**bit
            if middle <= self.M[k]:
                inputs, learners, v = [], [], 0
                for i, place in enumerate(places):
                    model = self.values[place][1].setdefault(node, Quick())
                    inputs.append(model.odds(self.maps.setdefault((k, i), {})))
                    learners.append(model)
                    if i < 5 and model.n >= 2:
                        v = i + 1
                for prediction, E in zip(predictions, errors, strict=True):
                    inputs.append(self.share(prediction, E, low, middle, top))
                inputs.append(64)
                rows = (
                    6 * bit + act,
                    4 * (2 * bit + d) + class_of(v, 2, 4, 5),
                )
                rows = rows[: SETS[self.form]]
                found = self.value_mixers[k].bit(inputs, rows, 16, learners)
                if found:
                    low = middle
                else:
                    top = middle
            node = 2 * node + found
        return low

    @staticmethod
    def share(v, E, low, middle, top):
        i = 2**23 // (5 * E // 8 + 16)

        def below(a):
            return squash(limited(((2 * a - 1 - 2 * v) * i) >> 8, -2815, 2815))

        up, down = below(top) - below(middle) + 1, below(middle) - below(low) + 1
        return stretch(16 * (4096 * up // (up + down)))
