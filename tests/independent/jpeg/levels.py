"""Section Levels of a stripe of the text, but for the contexts of levels behind the first one."""

from dataclasses import dataclass, field

from independent.arithmetic import limited, trunc
from independent.jpeg.around import Around, Block
from independent.jpeg.fitted import Predictors
from independent.jpeg.groups import Groups, c, n, sg
from independent.jpeg.other_levels import decode_levels
from independent.rangecoder import RangeCoder


@dataclass
class Component:
    """A component of a stripe; R and S say where Y_1 is."""

    number: int
    columns: int
    rows_of_mcu: int
    S: int
    R: int
    steps: list
    blocks: list = field(default_factory=list)  # by row and column
    weights: list = field(default_factory=lambda: [20000] * 2 + [12768] * 2 + [0] * 8)

    @property
    def q(self):
        return self.number % 3


class Stripe:
    """The state of a stripe."""

    def __init__(self, coder, form, components):
        self.form = form
        self.groups = Groups(coder, form)
        self.predictors = [Predictors(q) for q in range(3)] if form == 3 else None
        self.components = components


def decode_stripe(payload, form, components, mcu_rows):
    """Decode the blocks of all components."""
    coder = RangeCoder(payload)
    stripe = Stripe(coder, form, components)
    for component in components:
        predictors = stripe.predictors and stripe.predictors[component.q]
        for y in range(mcu_rows * component.rows_of_mcu):
            component.blocks.append([])
            for x in range(component.columns):
                decode_block(stripe, component, y, x)
                if predictors and (x % 64 == 63 or x == component.columns - 1):
                    predictors.first.fit()
            if predictors:
                predictors.fit()
    coder.end()


def decode_block(stripe, component, y, x):
    block = Block()
    around = Around(stripe, component, y, x, block)
    decode_first(stripe, component, around, block)
    around.learn_level(0)
    decode_end(stripe, component, around, block)
    decode_levels(stripe, component, around, block)
    block.finish(component.steps)
    component.blocks[y].append(block)


def decode_first(stripe, component, around, block):
    q, o = component.q, around
    W, N, K = o.L.levels[0], o.A.levels[0], o.LA.levels[0]
    med = W + N - K
    if max(W, N) <= K:
        med = min(W, N)
    elif min(W, N) >= K:
        med = max(W, N)
    base = 4 * (W + N)
    ua = o.up(0, 31) if o.above else 8 * W
    sa = o.side(0, 31) if o.left else 8 * N
    if not (o.above or o.left):
        ua = sa = 0
    dW, dN, dK, dR = (
        each.difference if each else 0 for each in (o.left, o.above, o.above_left, o.above_right)
    )
    dY = o.Y[0].difference if o.Y else 0
    E = o.B.difference if o.B else abs(dY)
    inputs = [ua - base, sa - base, 8 * med - base, 8 * o.RA.levels[0] - base]
    inputs += [8 * N - base, 8 * K - base, 8 * dW, 8 * dN, 8 * E if o.B else 0, 8 * dY]
    inputs.append((8 * W if o.x < 2 else 8 * o.LL.levels[0]) - base)
    inputs.append((8 * N if o.y < 2 else 8 * o.AA.levels[0]) - base)
    inputs = [limited(each, -4095, 4095) for each in inputs]
    total = sum(weight * each for weight, each in zip(component.weights, inputs, strict=True))
    followed = predicted = base + (total >> 16)
    if stripe.form == 3:
        predictor = stripe.predictors[q].first
        up8 = o.up(0, 31, 1) - base if o.above else 0
        side8 = o.side(0, 31, 1) - base if o.left else 0
        more = [up8, side8, followed - base, *o.changes_of_Y(), *o.changes_of_B(), 8 * dR]
        fitted_inputs = inputs + [limited(each, -4095, 4095) for each in more]
        predicted = base + predictor.predicted(fitted_inputs)
    predicted = limited(predicted, -262136, 262136)
    whole = (predicted + 4) >> 3
    part = predicted - 8 * whole

    oU, oS, oM = trunc(ua, 8) - whole, trunc(sa, 8) - whole, med - whole
    spread = max(abs(oU), abs(oS), abs(oM))
    every = 2 * (abs(dW) + abs(dN)) + abs(dK) + abs(dR)
    b, s, a, e = c(every + spread), c(4 * spread), c(2 * every), c(4 * abs(E))

    def J(x, y):
        return 2**12 * q + 2**6 * x + y

    def c4(v):
        return c(4 * abs(v))

    cL, cA = o.cL, o.cA
    contexts = [32 * q + b, J(a, 0), J(s, 0), J(a >> 2, s >> 2), J(e // 3, b // 3)]
    contexts += [J(c(2 * (cL + cA)) // 3, s // 3), J(c(abs(W - K) + abs(N - K)), 0)]
    contexts += [J(min(abs(dW), 12), min(abs(dN), 12)), J(a, s), J(b, e), J(c4(oU), c4(oS))]
    contexts += [J(c4(dR), c4(dK)), J(b, abs(part)), J(c(2 * cL), c(2 * cA)), J(c4(oM), a)]
    contexts += [J(c(abs(ua - sa)), a), J(e, s), J(c4(dW), c4(oS)), J(c4(dN), c4(oU))]
    contexts.append(J(c(abs(followed - predicted)), b))
    rows = [32 * q + b, 32 * q + a, q, 32 * q + s]
    D = stripe.groups.size("firsts", q, contexts, rows, (192 + q, b, a, s, 0))
    if D:
        contexts = [8 * q + part + 4, J(n(oU, 8), 0), J(n(oS, 8), 0), J(n(oM, 8), 0)]
        contexts += [J(sg(dW), sg(dN)), J(n(E, 8) if o.B else 20, 0), J(min(D, 3), part + 4)]
        contexts += [J(n(oU, 4), n(oS, 4)), J(n(oM, 4), n(N - whole, 4))]
        contexts += [J(n(dW, 4), n(dN, 4)), J(n(followed - predicted, 16), 0)]
        if stripe.groups.bit("first signs", 0, contexts, [q, 0, 0, 0]):
            D = -D
    level = checked_level(whole + D)
    block.levels[0] = level
    block.difference = limited(D, -32768, 32767)
    error = 8 * level - followed
    squares = 4096 + sum(each * each for each in inputs)
    component.weights = [
        limited(weight + trunc(256 * error * each, squares), -(2**24), 2**24)
        for weight, each in zip(component.weights, inputs, strict=True)
    ]
    if stripe.form == 3:
        predictor.learn(fitted_inputs, limited(8 * level - base, -4095, 4095))


def checked_level(level):
    if not -32768 <= level <= 32767:
        raise ValueError(f"level is {level}, which is not allowed")
    return level


def decode_end(stripe, component, around, block):
    q, o = component.q, around
    cL, cA, eL, eA, h = o.cL, o.cA, o.eL, o.eA, o.h
    m, e = (cL + cA + 1) >> 1, (eL + eA + 1) >> 1
    f = 4 * abs(block.difference)
    g = 0
    if o.above:
        g += sum(min(abs(o.up(u, 32)), 64) for u in range(1, 8))
    if o.left:
        g += sum(min(abs(o.side(8 * v, 32)), 64) for v in range(1, 8))
    eR = o.above_right.end if o.above_right else eA
    eK = o.above_left.end if o.above_left else eA
    eB = o.B.end if o.B else 64

    def J(x, y):
        return 2**17 * q + 2**7 * x + y

    contexts = [32 * q + (c(3 * m + h) if q else c(4 * m)), J(eL >> 1, eA >> 1), J(m, e)]
    contexts.append(J(1000, h) if q else J(c(f), c(2 * m) >> 1))
    contexts += [J(c(2 * m) >> 1, c(2 * h) >> 1), J(c(g), c(2 * m))]
    contexts.append(J(16 * (eL >> 2) + (eA >> 2), 8 * (c(g) >> 1) + (h >> 3)))
    contexts += [J(cL, cA), J(eL, h), J(eA, h), J(c(f), c(g)), J(eB, e), J(e, c(4 * m))]
    contexts += [J(c(4 * m), c(g)), J(eR, eL), J(eK, eA), J(eR, eA), J(eB, c(g)), J(e, c(f))]
    contexts.append(J(e, c(g)))
    rows = [64 * q + (h if q else m), 64 * q + e, 32 * q + c(g), q]
    decision = 1
    for _ in range(6):
        decision = 2 * decision + stripe.groups.bit("ends", decision, contexts, rows)
    block.end = decision - 64
