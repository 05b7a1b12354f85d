"""Random choices from which a broken file is made."""

import functools
import random
import zlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

RATES = (0.0, 0.01, 0.01, 0.03, 0.1, 0.3)
"""Shares of the fields that are broken; the choice of one for each file keeps most files deep."""


class Choices(random.Random):
    """Random choices of one file: its valid content, and which of its fields are broken.

    Parameters
    ----------
    recipe : str
        Equal recipes make equal choices.
    """

    def __init__(self, recipe: str):
        super().__init__(recipe)
        self.rate = self.choice(RATES)

    def odd(self) -> bool:
        """Return whether the next field is broken."""
        return self.random() < self.rate

    def once_in(self, count: int) -> bool:
        """Return True once in ``count`` calls."""
        return self.random() * count < 1

    def either(self, right: T, *others: T) -> T:
        """Return ``right``, or one of the others if the field is broken."""
        return self.choice(others) if others and self.odd() else right

    def number(self, right: int, bits: int = 32) -> int:
        """Return a field of an unsigned number: ``right``, or another number of ``bits`` bits."""
        if not self.odd():
            return right % (1 << bits)
        wrong = self.choice(
            (
                0,
                1,
                right - 1,
                right + 1,
                right * 2,
                right // 2,
                (1 << bits) - 1,
                1 << (bits - 1),
                (1 << (bits - 1)) - 1,
                self.getrandbits(bits),
                self.getrandbits(self.randint(1, bits)),
                right ^ (1 << self.randrange(bits)),
                300,
                20000,
                100000,
            )
        )
        return wrong % (1 << bits)

    def side(self) -> int:
        """Return a valid height or width in pixels, small in most files."""
        return self.randint(1, 24) if self.random() < 0.95 else self.randint(1, 400)

    def content(self, size: int) -> bytes:
        """Return random bytes, or a short pattern again and again."""
        kind = self.randrange(4)
        if kind == 0:
            return bytes(size)
        if kind == 1:
            pattern = self.randbytes(self.randint(1, 4))
            return (pattern * (size // len(pattern) + 1))[:size]
        return self.randbytes(size)

    def broken(self, right: bytes) -> bytes:
        """Return the content of a field: ``right``, or bytes that were changed."""
        return self.damage(right) if self.odd() else right

    def damage(self, right: bytes) -> bytes:
        """Change, cut, lengthen, repeat or remove bytes."""
        kind = self.randrange(8)
        found = bytearray(right)
        start = self.randint(0, len(found))
        end = min(len(found), start + self.choice((1, 2, 4, 16, 100)))
        if kind < 3:
            for _ in range(self.randint(1, 4) if found else 0):
                found[self.randrange(len(found))] = self.choice(
                    (0, 255, 127, 128, self.getrandbits(8))
                )
        elif kind == 3:
            del found[start:]
        elif kind == 4:
            found += self.randbytes(self.choice((1, 2, 8, 64, 1000)))
        elif kind == 5:
            del found[start:end]
        elif kind == 6:
            found[start:start] = found[start:end] * self.choice((1, 2, 10, 300))
        else:
            found[start:end] = self.randbytes(end - start)
        return bytes(found)

    def shuffled(self, parts: Sequence[T]) -> list[T]:
        """Return the parts of a file, or some of them left out, repeated or moved."""
        found = list(parts)
        while 0 < len(found) < 2000 and self.odd():
            kind, place = self.randrange(4), self.randrange(len(found))
            if kind == 0:
                del found[place]
            elif kind == 1:
                found.insert(self.randint(0, len(found)), found[place])
            elif kind == 2:
                found.insert(self.randint(0, len(found)), found.pop(place))
            else:
                found[place:place] = [found[place]] * self.choice((2, 10, 300))
        return found

    def zipped(self, right: bytes) -> bytes:
        """Compress bytes by zlib; if broken, damage them or unpack to as many as 2^24 zeros."""
        if self.once_in(4) and self.odd():
            return _zeros(self.choice((1, 1000, 1 << 20, 1 << 24)))
        return self.broken(zlib.compress(right, self.choice((0, 1, 6))))


@functools.cache
def _zeros(count: int) -> bytes:
    return zlib.compress(bytes(count))
