"""Section Levels of a stripe of the text: how bits of the groups get their probabilities."""

from independent.arithmetic import limited
from independent.jpeg.tables import STATES
from independent.lossless.logistic_mixing import Mixing

MODELS = {1: 1, 2: 8, 3: 24}
WEIGHTS = {
    ("sizes", 2): (12000, 1000),
    ("sizes", 3): (10000, 500),
    ("signs", 2): (9000, 1200),
    ("signs", 3): (8000, 600),
}
# Of each group: steps, and number of contexts for a kind.
STEPS = {"sizes": 64, "ends": 32, "firsts": 32, "signs": 384}
PER_KIND = {"sizes": 64 * 64, "ends": 32, "firsts": 32, "signs": 384}


def log(s):
    r = 1 + min(s, 1023)
    d = r.bit_length() - 1
    return 64 * d + (((64 * r) >> d) - 64)


def c(s):
    s = min(s, 1023)
    if s < 4:
        return s
    digits = s.bit_length()
    return min(31, 4 * digits - 8 + (s >> (digits - 3)) % 4)


def sg(v):
    return 0 if v == 0 else 1 if v < 0 else 2


def n(v, m):
    return limited(v, -m, m) + m


def start_of(group, form, context, decision):
    """The first model, when it begins."""
    if group == "first signs":
        return [32768, 0]
    other = context >= PER_KIND[group]
    step = context % STEPS[group]
    state = STATES[group, other, step, 0 if group == "signs" else decision]
    return [state, 12 if form == 1 else 24]


class MixedGroup(Mixing):
    """The models of a group in forms 2 and 3."""

    def __init__(self, coder, form, name):
        count = MODELS[form]
        first, others = WEIGHTS.get((name, form), ({2: 2621, 3: 1200}[form],) * 2)
        super().__init__(
            coder,
            [False] + [True] * (count - 1),
            2**11 if form == 3 else 2**13,
            4 if form == 3 else 1,
            [first] + [others] * (count - 1),
            last_stage=form == 3,
        )
        self.form, self.name, self.count = form, name, count
        self.limits = 32, 65504

    def first(self, context, decision, number):
        if number == 0:
            return start_of(self.name, self.form, context, decision)
        return [32768, 0]

    def bit(self, decision, contexts, rows):
        contexts = contexts[: self.count]
        return super().bit(decision, contexts + [0] * (self.count - len(contexts)), rows)


class PlainGroup:
    """The models of a group in form 1."""

    def __init__(self, coder, form, name):
        self.coder, self.name = coder, name
        self.models = {}

    def bit(self, decision, contexts, rows):
        key = contexts[0], decision
        model = self.models.get(key)
        if model is None:
            model = self.models[key] = start_of(self.name, 1, *key)
        p, uses = model
        bit = self.coder.bit(limited(p, 32, 65504))
        target = 65504 if bit else 32
        model[:] = p + (((target - p) * (131072 // (2 * uses + 3))) >> 16), min(uses + 1, 127)
        return bit


class PlainDigits:
    """The digits of large sizes in forms 1 and 2."""

    def __init__(self, coder):
        self.coder = coder
        self.models = {}

    def number(self, d, q, numbers):
        r = 1
        for i in reversed(range(d)):
            p = self.models.get((q, d, i), 32768)
            bit = self.coder.bit(limited(p, 32, 65504))
            self.models[q, d, i] = p + ((65535 - p) >> 6) if bit else p - (p >> 6)
            r = 2 * r + bit
        return r


class MixedDigits:
    """The digits of large sizes in form 3."""

    def __init__(self, coder):
        self.mixing = Mixing(coder, [True] * 8, 2**13, 1, [2621] * 8)
        self.mixing.limits = 32, 65504

    def number(self, d, q, numbers):
        P, s, a, b, g = numbers

        def T(x, y):
            return 2**20 * P + 2**10 * x + y

        contexts = [T(0, 0), T(s, 0), T(1, min(a, 127) >> 1), T(2, min(b, 127) >> 1)]
        contexts += [T(3, min(g >> 4, 63)), T(4, s >> 1), T(5, c(g))]
        contexts.append(T(6 + min(a, 1000), min(b, 1000)))
        r, bit = 1, 0
        for i in reversed(range(d)):
            decision = 24 + min(i, 7)
            if i == d - 1:
                decision = min(d, 7)
            elif i == d - 2:
                decision = 8 + 2 * min(d, 7) + bit
            bit = self.mixing.bit(decision, contexts, [q])
            r = 2 * r + bit
        return r


class Groups:
    """All models of a stripe."""

    def __init__(self, coder, form):
        kind = PlainGroup if form == 1 else MixedGroup
        names = "sizes", "ends", "firsts", "first signs", "signs"
        self.groups = {name: kind(coder, form, name) for name in names}
        self.digits = MixedDigits(coder) if form == 3 else PlainDigits(coder)

    def bit(self, name, decision, contexts, rows):
        return self.groups[name].bit(decision, contexts, rows)

    def size(self, name, q, contexts, rows, numbers, above_zero=False):
        """A size; ``numbers`` are P, s, a, b and g of large ones."""
        for i in range(1 if above_zero else 0, 7):
            if not self.bit(name, i, contexts, rows):
                return i
        d = 0
        while d < 15 and self.bit(name, 7 + min(d, 7), contexts, rows):
            d += 1
        return 6 + self.digits.number(d, q, numbers)
