"""What the decoded samples around a sample tell: activity, texture, means of errors, and matches.

Source: section "Lossless samples" of ``docs/format/format.md``; after X. Wu and N. Memon,
"Context-based, adaptive, lossless image coding", 1997.
"""

from collections.abc import Sequence
from typing import NamedTuple

from mmpcodec.reference.entropy.binary import moved
from mmpcodec.reference.lossless.plane import ABOVE, BESIDE, OWN, Plane
from mmpcodec.reference.lossless.prediction import FRACTION_BITS

MOST_ACTIVITY = 31
FARTHEST_SEEN, SEEN_CONTEXTS, MOST_SEEN = 500, 1024, 4
"""Limits of the context *match*: distance of the value, contexts for each use, uses."""
CHECK_BITS = 14
"""Digits of a key that an entry of a table of earlier samples keeps."""


class Bias:
    """Running mean of the errors of the fit in one context (B in the format).

    Attributes
    ----------
    mean : int
        In 1/16 of the unit of the errors.
    uses : int
        Number of errors seen, at most 64.
    """

    def __init__(self):
        self.mean = self.uses = 0

    def learn(self, error: int) -> None:
        """Move the mean towards an error."""
        self.mean = moved(self.mean, 16 * error, self.uses)
        self.uses = min(self.uses + 1, 64)


class Context(NamedTuple):
    """What the samples around a sample tell.

    Attributes
    ----------
    around : list of 6 int
        The samples W, N, NW, NE, WW and NN.
    residuals : (int, int, int)
        Residuals of W, N and NE.
    earlier : list of int
        Residuals of P1 and P2, as far as they exist.
    activity : int
    active : int
        Class of the activity (act in the format).
    median : int
    texture : int
    predicted : int
        The prediction that the means have corrected.
    mended : int
        The same before it is rounded, in 1/64.
    """

    around: list[int]
    residuals: tuple[int, int, int]
    earlier: list[int]
    activity: int
    active: int
    median: int
    texture: int
    predicted: int = 0
    mended: int = 0


def look_around(
    plane: Plane, before: Sequence[Plane], row: int, column: int, fitted: int
) -> Context:
    """Return what the context of a sample tell, without a corrected prediction.

    Parameters
    ----------
    plane : Plane
        The plane to code.
    before : sequence of Plane
        The earlier planes, the last one first.
    row, column : int
        Position of the sample.
    fitted : int
        Fitted prediction, in 1/64.
    """
    w, n, nw, _ne, _ww, _nn = around = plane.around(row, column, OWN[:6]).tolist()
    median = sorted((w, n, w + n - nw))[1]

    r, c = row + ABOVE, column + BESIDE
    e = plane.errors[r - 2 : r + 1, c - 2 : c + 2]
    ew, en, ene = (int(value) for value in (e[2, 1], e[1, 2], e[1, 3]))
    activity = 2 * (abs(ew) + abs(en)) + int(abs(e[1, 1]) + abs(ene) + abs(e[2, 0]) + abs(e[0, 2]))
    earlier = [other.error(row, column) for other in before]
    if earlier:
        share = 8 // len(earlier)
        activity = (3 * activity + share * sum(map(abs, earlier))) >> 2
    texture = sum((value << FRACTION_BITS > fitted) << i for i, value in enumerate(around))
    active = activity_class(activity)
    return Context(around, (ew, en, ene), earlier, activity, active, median, texture)


class Corrector:
    """Corrects the fitted predictions of a plane by the means of earlier errors.

    Parameters
    ----------
    plane : Plane
        The plane to code.
    before : sequence of Plane
        The earlier planes, the last one first.
    """

    def __init__(self, plane: Plane, before: Sequence[Plane]):
        self.plane, self.before = plane, before
        self.biases: dict[tuple[int, int, int], Bias] = {}
        self._row = self._column = self._fitted = 0
        self._used: list[Bias] = []

    def correct(self, row: int, column: int, fitted: int) -> Context:
        """Return what the context of a sample tell, with the corrected prediction.

        Parameters
        ----------
        row, column : int
            Position of the sample.
        fitted : int
            Fitted prediction, in 1/64.
        """
        near = look_around(self.plane, self.before, row, column, fitted)
        spread = 8 + 2 * near.activity
        towards = ((near.median << FRACTION_BITS) - fitted + spread // 2) // spread
        skew = min(max(16 + towards, 0), 31)

        self._row, self._column, self._fitted = row, column, fitted
        self._used = [
            self.biases.setdefault(key, Bias())
            for key in ((0, near.texture, near.active), (1, skew, near.active))
        ]
        mended = fitted + ((sum(bias.mean for bias in self._used) + 16) >> 5)
        mended = min(max(mended, 0), self.plane.most << FRACTION_BITS)
        predicted = (mended + (1 << FRACTION_BITS - 1)) >> FRACTION_BITS
        return near._replace(predicted=predicted, mended=mended)

    def learn(self, sample: int) -> None:
        """Learn the sample whose prediction was corrected last, and keep its residual."""
        error = (sample << FRACTION_BITS) - self._fitted
        for bias in self._used:
            bias.learn(error)
        self.plane.set_error(
            self._row, self._column, (error + (1 << FRACTION_BITS - 1)) >> FRACTION_BITS
        )


class EarlierSamples:
    """Table of the samples that followed the same context.

    Attributes
    ----------
    seen : dict of int to (int, int, int)
        Check, uses and value by number of the entry.
    uses, value : int
        Those of the entry found last; 0 uses if its check differs.
    """

    def __init__(self):
        self.seen: dict[int, tuple[int, int, int]] = {}
        self.uses = self.value = 0
        self._slot = self._check = 0

    def find(self, key: int, line: int) -> None:
        """Find the entry of a key.

        Parameters
        ----------
        key : int
            A number below 2**32.
        line : int
            The line of eight entries that holds the entry.
        """
        self._check = key % 2**CHECK_BITS
        self._slot = 8 * line + (key >> 29)
        known, uses, value = self.seen.get(self._slot, (self._check, 0, 0))
        self.uses, self.value = (uses, value) if known == self._check else (0, 0)

    def match(self, predicted: int) -> int:
        """Return the context *match* of the entry found last."""
        if not self.uses:
            return 0
        off = min(max(self.value - predicted, -FARTHEST_SEEN), FARTHEST_SEEN)
        return (min(self.uses, MOST_SEEN) - 1) * SEEN_CONTEXTS + 2 + FARTHEST_SEEN + off

    def agreement(self, predicted: int) -> int:
        """Return the agreement 0 to 3 of the entry found last with the prediction."""
        if not self.uses:
            return 0
        if self.value != predicted:
            return 3
        return 1 if self.uses <= 2 else 2

    def learn(self, sample: int) -> None:
        """Put a coded sample into the entry found last."""
        uses, value = self.uses, self.value
        if uses and value == sample:
            uses = min(uses + 1, 255)
        elif uses > 1:
            uses >>= 1
        else:
            uses, value = 1, sample
        self.seen[self._slot] = self._check, uses, value


def activity_class(activity: int) -> int:
    """Return the class 0 to 31 of an activity, two classes per doubling (act in the format)."""
    if activity < 4:
        return activity
    length = activity.bit_length()
    return min(MOST_ACTIVITY, 2 * (length - 1) + (activity >> length - 2 & 1))


def distance_class(distance: int) -> int:
    """Return the class 0 to 14 of a distance from the prediction (f in the format)."""
    size = sum(abs(distance) >= bound for bound in (1, 2, 3, 5, 8, 12, 32))
    return 7 - size if distance < 0 else 7 + size


def signed_class(value: int) -> int:
    """Return the class 0 to 8 of a difference; 4 is the class of 0 (sc in the format)."""
    size = sum(abs(value) >= bound for bound in (1, 3, 8, 20))
    return 4 - size if value < 0 else 4 + size
