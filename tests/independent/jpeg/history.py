"""Section Bytes of the text."""

import copy
from functools import cache

from independent.jpeg.tables import USUAL_BYTES
from independent.lossless.logistic_mixing import Mixing


class KnownBits:
    """Stands for the range coder where models learn from bytes that are known."""

    def __init__(self, data):
        self.bits = iter([byte >> i & 1 for byte in data for i in reversed(range(8))])

    def bit(self, p):
        return next(self.bits)


class History:
    """All bytes so far, and the models that have learned from them."""

    def __init__(self):
        self.bytes = []
        self.places = {}  # by hash
        self.match, self.length = None, 0
        hashed = [False] * 2 + [True] * 6
        self.mixing = Mixing(None, hashed, 2**13, 1, [2621] * 8)

    def before(self, i):
        return self.bytes[-i] if i <= len(self.bytes) else 0

    def last(self, count):
        return sum(self.before(i + 1) << (8 * i) for i in range(count))

    def find_match(self):
        n = len(self.bytes)
        if n < 4:
            return
        key = (self.last(4) * 2654435761 % 2**32) >> 16
        place = self.places.get(key)
        self.places[key] = n
        if self.match is not None or place is None:
            return
        length = 0
        while length < min(15, place) and self.bytes[place - 1 - length] == self.before(length + 1):
            length += 1
        if length >= 4:
            self.match, self.length = place, length

    def code(self):
        """The next byte, from the coder of ``mixing``."""
        self.find_match()
        x = y = 0
        if self.match is not None:
            x, y = 1 + self.bytes[self.match], self.length
        b, last4 = self.before, self.last(4)

        def h(i, c):
            return ((c + 2654435761 * i) * 625341585 % 2**32) ^ i

        contexts = [
            0,
            b(1),
            h(2, self.last(2)),
            h(3, self.last(3)),
            h(4, last4),
            h(5, 789269575 * last4 + b(5) + (b(6) << 8)),
            h(6, 32 * x + y),
            h(7, (b(12) << 8) + b(1) + (len(self.bytes) % 2 << 16)),
        ]
        decision = 1
        for _ in range(8):
            decision = 2 * decision + self.mixing.bit(decision, contexts, [y])
        byte = decision - 256
        if self.match is not None:
            if self.bytes[self.match] == byte:
                self.match += 1
                self.length = min(15, self.length + 1)
            else:
                self.match = None
        self.bytes.append(byte)
        return byte


@cache
def preset():
    history = History()
    history.mixing.coder = KnownBits(USUAL_BYTES)
    for _ in USUAL_BYTES:
        history.code()
    history.mixing.coder = None
    return history


def decoded_bytes(coder, count):
    history = copy.deepcopy(preset())
    history.mixing.coder = coder
    return bytes(history.code() for _ in range(count))
