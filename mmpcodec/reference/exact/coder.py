"""Lossless coding of planes: each sample is predicted, and its prediction error is coded.

Source: section "Exact samples" of ``docs/format/format.md``. ``prediction`` fits the prediction;
the contexts are after X. Wu and N. Memon, "Context-based, adaptive, lossless image coding", 1997.
"""

from collections.abc import Callable

import numpy as np

from mmpcodec.errors import CorruptStream
from mmpcodec.reference.entropy.binary import ONE, BinaryModels, BitCoder, moved
from mmpcodec.reference.entropy.mixed_bits import MixedBits
from mmpcodec.reference.entropy.symbols import SymbolReader, SymbolWriter
from mmpcodec.reference.entropy.syntax import EXACT_SYNTAX
from mmpcodec.reference.exact.prediction import WEIGHT_BITS, FadedSums, fitted_weights

SECTION = "Exact samples"
ABOVE, BESIDE, BELOW = 2, 3, 1
"""Rows above, columns on each side and rows below that the margins add to a plane."""
OWN = ((0, -1), (-1, 0), (-1, -1), (-1, 1), (0, -2), (-2, 0), (-1, -2), (-1, 2), (-2, -1), (-2, 1))
"""Row and column offsets of the regressors in the sample's own plane."""
OTHER = ((0, 0), (0, -1), (-1, 0), (0, 1), (-1, -1), (1, 0))
"""Row and column offsets of the regressors in each earlier plane."""
REGRESSORS = ((10, 0), (8, 6), (6, 4))
"""Numbers of regressors in the own plane and in each earlier plane, by number of earlier planes."""
FRACTION_BITS = 6
"""Fitted predictions are in 1/64."""
MOST_ACTIVITY = 31
FARTHEST_SEEN, SEEN_CONTEXTS, MOST_SEEN = 500, 1024, 4
"""Limits of the context *match*: distance of the value, contexts for each use, uses."""
HASH_BITS = 18
"""Binary logarithm of the number of entries in the table of earlier samples."""
STRIP = 16
"""Progress counts squares of this height and width, in samples."""

ZERO, NEGATIVE, LENGTH = 0, 1, 2
"""Decisions of the mixed bits: not 0, below 0, and the first of the decisions on the length."""


class Plane:
    """Samples of a plane with margins, and their distances from the fitted predictions.

    Parameters
    ----------
    height, width : int
        Size of the plane in samples, without margins.
    most : int
        Largest sample (M in the format).

    Attributes
    ----------
    samples, errors : (height + 3, width + 6) int64 arrays
        Samples and errors with the margins.
    """

    def __init__(self, height: int, width: int, most: int):
        self.height, self.width, self.most = height, width, most
        shape = height + ABOVE + BELOW, width + 2 * BESIDE
        self.samples = np.zeros(shape, np.int64)
        self.errors = np.zeros(shape, np.int64)
        self.samples[:ABOVE] = self.samples[ABOVE, :BESIDE] = (most + 1) >> 1

    @property
    def inner(self) -> np.ndarray:
        """View of the samples without margins, (height, width)."""
        return self.samples[ABOVE : ABOVE + self.height, BESIDE : BESIDE + self.width]

    def begin_row(self, row: int) -> None:
        """Fill the margin left of a row with the first sample of the row above."""
        if row:
            self.samples[row + ABOVE, :BESIDE] = self.samples[row + ABOVE - 1, BESIDE]

    def end_row(self, row: int) -> None:
        """Fill the margin right of a row with its last sample, and below the last row copy it."""
        own = self.samples[row + ABOVE]
        own[-BESIDE:] = own[-BESIDE - 1]
        if row == self.height - 1:
            self.samples[row + ABOVE + 1] = own

    def around(self, row: int, column: int, offsets) -> np.ndarray:
        """Return the samples at row and column offsets from a position, an int64 array."""
        return np.array([self.samples[row + ABOVE + i, column + BESIDE + j] for i, j in offsets])


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


class PlaneCoder:
    """Encoder or decoder of the samples of one plane.

    Parameters
    ----------
    planes : list of Plane
        The earlier planes, then the plane to code.
    coder : BitCoder
    """

    def __init__(self, planes: list[Plane], coder: BitCoder):
        self.plane = planes[-1]
        self.before = planes[-2:-4:-1]
        self.coder = coder
        self.bits = self.plane.most.bit_length()
        self.own, self.other = REGRESSORS[len(self.before)]
        self.sums = FadedSums(self.plane.width, self.own + self.other * len(self.before))
        self.mixed = MixedBits()
        self.biases: dict[tuple[int, int, int], Bias] = {}
        self.seen: dict[int, tuple[int, int, int]] = {}

    def code_row(self, row: int, given: np.ndarray | None) -> None:
        """Code a row.

        Parameters
        ----------
        row : int
        given : (W,) int array or None
            The samples to encode; None decodes.
        """
        self.plane.begin_row(row)
        self.sums.begin_row()
        for column in range(self.plane.width):
            sample = None if given is None else int(given[column])
            self._code_sample(row, column, sample)
        self.plane.end_row(row)

    def _code_sample(self, row: int, column: int, given: int | None) -> None:
        plane = self.plane
        w, n, nw, _ne, _ww, _nn = around = plane.around(row, column, OWN[:6]).tolist()
        level, regressors = self._regressors(row, column)
        weights = fitted_weights(self.sums.at(column), self.bits)
        limit = plane.most << FRACTION_BITS
        dropped = WEIGHT_BITS - FRACTION_BITS
        drift = sum(a * b for a, b in zip(weights, regressors.tolist(), strict=True))
        fitted = (level << FRACTION_BITS) + ((drift + (1 << dropped - 1)) >> dropped)
        fitted = min(max(fitted, 0), limit)
        median = sorted((w, n, w + n - nw))[1]

        e = plane.errors[row : row + 3, column : column + 5]
        ew, en, ene = (int(value) for value in (e[2, 2], e[1, 3], e[1, 4]))
        activity = 2 * (abs(ew) + abs(en)) + int(
            abs(e[1, 2]) + abs(ene) + abs(e[2, 1]) + abs(e[0, 3])
        )
        others = [int(p.errors[row + ABOVE, column + BESIDE]) for p in self.before]
        if others:
            share = 8 // len(others)
            activity = (3 * activity + share * sum(map(abs, others))) >> 2
        active = activity_class(activity)
        texture = sum((value << FRACTION_BITS > fitted) << i for i, value in enumerate(around))
        spread = 8 + 2 * activity
        towards = ((median << FRACTION_BITS) - fitted + spread // 2) // spread
        skew = min(max(16 + towards, 0), 31)
        biases = [
            self.biases.setdefault(key, Bias()) for key in ((0, texture, active), (1, skew, active))
        ]
        mended = fitted + ((sum(bias.mean for bias in biases) + 16) >> 5)
        mended = min(max(mended, 0), limit)
        predicted = (mended + (1 << FRACTION_BITS - 1)) >> FRACTION_BITS
        fraction = (mended & (1 << FRACTION_BITS) - 1) >> 3

        slot, check = self._slot(row, column, around)
        uses, value = self._seen(slot, check)
        match = 0
        if uses:
            off = min(max(value - predicted, -FARTHEST_SEEN), FARTHEST_SEEN)
            match = (min(uses, MOST_SEEN) - 1) * SEEN_CONTEXTS + 2 + FARTHEST_SEEN + off
        coarse = min(7, active // 3)
        off = signed_class(median - predicted)
        first, second = (*map(signed_class, others), 4, 4)[:2]
        self.mixed.select(
            (
                active,
                (_length(ew) * 16 + _length(en)) * 16 + _length(ene),
                off * 32 + active,
                texture * 8 + coarse,
                (signed_class(ew) * 9 + signed_class(en)) * 9 + signed_class(ene),
                min(predicted >> max(0, self.bits - 8), 255) * 8 + coarse,
                (first * 9 + second if others else fraction) * 32 + active,
                match,
            ),
            (active, off * 3 + min(2, fraction // 3)),
        )
        sample = self._code_residual(predicted, given)

        plane.inner[row, column] = sample
        if uses and value == sample:
            uses = min(uses + 1, 255)
        elif uses > 1:
            uses >>= 1
        else:
            uses, value = 1, sample
        self.seen[slot] = check, uses, value
        error = (sample << FRACTION_BITS) - fitted
        for bias in biases:
            bias.learn(error)
        plane.errors[row + ABOVE, column + BESIDE] = (
            error + (1 << FRACTION_BITS - 1)
        ) >> FRACTION_BITS
        self.sums.add(column, regressors, sample - level)

    def _regressors(self, row: int, column: int) -> tuple[int, np.ndarray]:
        """Return the level of a sample and its regressors, each minus the level of its plane."""
        level = _level(self.plane.around(row, column, OWN[:4]))
        found = [self.plane.around(row, column, OWN[: self.own]) - level]
        for plane in self.before:
            found.append(
                plane.around(row, column, OTHER[: self.other])
                - _level(plane.around(row, column, OWN[:4]))
            )
        return level, np.concatenate(found)

    def _slot(self, row: int, column: int, around: list[int]) -> tuple[int, int]:
        """Return the entry number and check of the surroundings in the table of earlier samples."""
        hashed = 0
        for value in (*around, *(int(p.inner[row, column]) for p in self.before[:1])):
            hashed = (hashed * 65599 + value) % 2**32
        hashed = hashed * 0x9E3779B1 % 2**32
        return hashed >> 32 - HASH_BITS, hashed % 2 ** (32 - HASH_BITS)

    def _seen(self, slot: int, check: int) -> tuple[int, int]:
        """Return the uses and value of an entry; 0 uses if its check differs."""
        known, uses, value = self.seen.get(slot, (check, 0, 0))
        return (uses, value) if known == check else (0, 0)

    def _code_residual(self, predicted: int, given: int | None) -> int:
        """Code a sample by its distance from the prediction, and return the sample."""
        most = self.plane.most
        residual = 0 if given is None else given - predicted

        def code(decision: int, bit: int) -> int:
            wanted = None if given is None else int(bit)
            return self.mixed.code(self.coder, "residual", decision, wanted)

        if not code(ZERO, residual != 0):
            return predicted
        if predicted in (0, most):
            negative = int(predicted == most)
        else:
            negative = code(NEGATIVE, residual < 0)
        length, own_length = 0, abs(residual).bit_length() - 1
        while length < self.bits - 1 and code(LENGTH + 2 * length + negative, length < own_length):
            length += 1
        size = 1
        for i in reversed(range(length)):
            high = length - 1 - i < 3
            decision = 8 * length + size if high else 8 * self.bits + min(i, 15)
            bit = code(LENGTH + 2 * self.bits + decision, abs(residual) >> i & 1)
            size = 2 * size + bit
        sample = predicted - size if negative else predicted + size
        if not 0 <= sample <= most:
            raise CorruptStream(SECTION, f"sample is {sample}, allowed is 0 to {most}")
        return sample


def activity_class(activity: int) -> int:
    """Return the class 0 to 31 of an activity, two classes per doubling (act in the format)."""
    if activity < 4:
        return activity
    length = activity.bit_length()
    return min(MOST_ACTIVITY, 2 * (length - 1) + (activity >> length - 2 & 1))


def signed_class(value: int) -> int:
    """Return the class 0 to 8 of a difference; 4 is the class of 0 (sc in the format)."""
    size = sum(abs(value) >= bound for bound in (1, 3, 8, 20))
    return 4 - size if value < 0 else 4 + size


def _length(value: int) -> int:
    """Return the number of binary digits, at most 15 (lc in the format)."""
    return min(15, abs(value).bit_length())


def _level(samples: np.ndarray) -> int:
    """Return the rounded mean of four samples."""
    return (int(samples.sum()) + 2) >> 2


def code_values(coder: BitCoder, depth: int, used: np.ndarray | None, wanted: int) -> np.ndarray:
    """Code which values occur in a plane.

    Parameters
    ----------
    coder : BitCoder
    depth : int
        Bits of a sample.
    used : (2**depth,) bool array or None
        Whether each value occurs, to encode; None decodes.
    wanted : int
        1 to encode one bit for each value, 0 to encode that all values occur. Used only when
        encoding.

    Returns
    -------
    (N,) int array
        The values that occur, in ascending order.

    Raises
    ------
    CorruptStream
        If no value occurs.
    """
    if not coder.bit("map", ONE // 2, None if used is None else wanted):
        return np.arange(1 << depth)
    models, last, found = BinaryModels("map", (2,)), 0, []
    for value in range(1 << depth):
        last = models.code(coder, (last,), None if used is None else int(used[value]))
        if last:
            found.append(value)
    if not found:
        raise CorruptStream(SECTION, "no value occurs")
    return np.array(found)


def map_pays(used: np.ndarray, samples: int) -> bool:
    """Return whether it pays to encode which values occur.

    *Encoder only*. It pays if less than 3/4 of the possible values occur, and if the number of
    possible values is below four times the number of samples.
    """
    return 4 * int(used.sum()) < 3 * len(used) and len(used) < 4 * samples


def encode_planes(
    samples: np.ndarray, depth: int, progress: Callable[[int, int], None]
) -> tuple[bytes, dict[str, float]]:
    """Encode planes without loss.

    Parameters
    ----------
    samples : (C, H, W) unsigned integer array
        Samples of the C planes in coding order, below ``2**depth``.
    depth : int
        Bits of a sample, 1 to 16.
    progress : callable
        Called with the number of 16x16 squares done and the number of all.

    Returns
    -------
    payload : bytes
    bits : dict of str to float
        Ideal code length of each syntax element, in bits.
    """
    writer = SymbolWriter(EXACT_SYNTAX)
    _code_planes(writer, samples, samples.shape, depth, progress)
    return writer.finish(), writer.tally.bits()


def decode_planes(
    payload: bytes, shape: tuple[int, int, int], depth: int, progress: Callable[[int, int], None]
) -> tuple[np.ndarray, dict[str, float]]:
    """Decode a payload of exact samples.

    Parameters
    ----------
    payload : bytes
    shape : (int, int, int)
        Number of planes C, height H and width W.
    depth : int
        Bits of a sample, 1 to 16.
    progress : callable
        Called with the number of 16x16 squares done and the number of all.

    Returns
    -------
    samples : (C, H, W) uint16 array
    bits : dict of str to float
        Ideal code length of each syntax element, in bits.

    Raises
    ------
    TruncatedStream, CorruptStream
        If the payload breaks a rule of the format.
    """
    reader = SymbolReader(payload, EXACT_SYNTAX)
    samples = _code_planes(reader, None, shape, depth, progress)
    reader.finish()
    return samples, reader.tally.bits()


def _code_planes(coder, given, shape, depth, progress) -> np.ndarray:
    """Code planes; ``given`` are the samples to encode, or None to decode."""
    count, height, width = shape
    decoded = np.zeros(shape, np.uint16)
    across = -(-width // STRIP)
    total = across * -(-height // STRIP)
    planes: list[Plane] = []
    for number in range(count):
        used, pays, numbers = None, False, None
        if given is not None:
            used = np.zeros(1 << depth, bool)
            used[given[number]] = True
            pays = map_pays(used, height * width)
        values = code_values(coder, depth, used, pays)
        if given is not None:
            numbers = np.searchsorted(values, given[number])
        planes.append(Plane(height, width, len(values) - 1))
        plane_coder = PlaneCoder(planes, coder) if len(values) > 1 else None
        for row in range(height):
            if row % STRIP == 0:
                progress(number * total + row // STRIP * across, count * total)
            if plane_coder:
                plane_coder.code_row(row, None if numbers is None else numbers[row])
        decoded[number] = values[planes[-1].inner]
    progress(count * total, count * total)
    return decoded
