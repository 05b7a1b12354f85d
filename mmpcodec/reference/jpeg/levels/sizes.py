"""Coding a size: unary up to 6, then the digits of the rest, then the lower digits.

Source: section "Levels of a stripe", "Coding a size", of ``docs/format/format.md``.
"""

from mmpcodec.reference.entropy.logistic_mixing import LogisticMixing
from mmpcodec.reference.jpeg.levels.mixers import Limited, OneModel
from mmpcodec.reference.jpeg.levels.scales import coarse

UNARY, MOST_DIGITS = 7, 15
FULL = 65535


class SizeCoder:
    """Codes sizes, and holds the models of their lower digits.

    Parameters
    ----------
    coder : Limited
    form : int
    """

    def __init__(self, coder: Limited, form: int):
        self._coder = coder
        self._tails = LogisticMixing(8, range(8)) if form == 3 else None
        self._digits: dict[tuple[int, int, int], int] = {}

    def select(self, place: int, step: int, a: int, b: int, fitted: int, kind: int) -> None:
        """Choose the models of the lower digits."""
        if self._tails is None:
            return

        def joined(x: int, y: int) -> int:
            return (place * 1024 + x) * 1024 + y

        contexts = [
            joined(0, 0),
            joined(step, 0),
            joined(1, min(a, 127) // 2),
            joined(2, min(b, 127) // 2),
            joined(3, min(fitted // 16, 63)),
            joined(4, step // 2),
            joined(5, coarse(fitted)),
            joined(6 + min(a, 1000), min(b, 1000)),
        ]
        self._tails.select(contexts, [kind])

    def code(
        self,
        mixer: OneModel | LogisticMixing,
        group: str,
        given: int | None,
        above_zero: bool,
        kind: int,
    ) -> int:
        """Code a size.

        Parameters
        ----------
        mixer : OneModel or LogisticMixing
            Of the group of decisions, with its contexts chosen.
        group : str
        given : int or None
            The size to encode; None decodes.
        above_zero : bool
            Whether it is known that the size is not 0.
        kind : int

        Returns
        -------
        int
        """
        for least in range(UNARY):
            if least == 0 and above_zero:
                continue
            bit = None if given is None else int(given > least)
            if not mixer.code(self._coder, group, least, bit):
                return least
        rest = None if given is None else given - UNARY + 1
        digits = 0
        while digits < MOST_DIGITS:
            bit = None if rest is None else int(rest >> digits + 1 > 0)
            if not mixer.code(self._coder, group, UNARY + min(digits, 7), bit):
                break
            digits += 1
        return self._lower_digits(digits, rest, kind) + UNARY - 1

    def _lower_digits(self, digits: int, given: int | None, kind: int) -> int:
        number = 1
        for place in reversed(range(digits)):
            bit = None if given is None else given >> place & 1
            if self._tails is not None:
                decision = 24 + min(place, 7)
                if place == digits - 1:
                    decision = min(digits, 7)
                elif place == digits - 2:
                    decision = 8 + 2 * min(digits, 7) + number % 2
                bit = self._tails.code(self._coder, "tails", decision, bit)
            else:
                key = kind, digits, place
                one = self._digits.get(key, 32768)
                bit = self._coder.bit("tails", one, bit)
                self._digits[key] = one + (FULL - one >> 6) if bit else one - (one >> 6)
            number = 2 * number + bit
        return number
