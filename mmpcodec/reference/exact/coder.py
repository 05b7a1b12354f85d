"""Lossless coding of planes: each sample is predicted, and its prediction error is coded.

Source: section "Exact samples" of ``docs/format/format.md``. ``prediction`` fits the prediction;
``surroundings`` corrects it, and makes contexts with this module.
"""

from collections.abc import Callable

import numpy as np

from mmpcodec.errors import CorruptStream
from mmpcodec.reference.entropy.binary import BitCoder
from mmpcodec.reference.entropy.mixed_bits import MixedBits
from mmpcodec.reference.entropy.symbols import SymbolReader, SymbolWriter
from mmpcodec.reference.entropy.syntax import EXACT_SYNTAX
from mmpcodec.reference.exact.plane import Plane, regressors
from mmpcodec.reference.exact.prediction import FadedSums, fitted_prediction, fitted_weights
from mmpcodec.reference.exact.surroundings import (
    HASH_FACTOR,
    Corrector,
    EarlierSamples,
    Surroundings,
    signed_class,
)
from mmpcodec.reference.exact.values import code_values, map_pays, used_values

SECTION = "Exact samples"
ABOVE = 2
"""Rows that the margins add above a plane."""
REGRESSORS = ((10, 0), (8, 6), (6, 4))
"""Numbers of regressors in the own plane and in each earlier plane, by number of earlier planes."""
STRIP = 16
"""Progress counts squares of this height and width, in samples."""

ZERO, NEGATIVE, LENGTH = 0, 1, 2
"""Decisions of the mixed bits: not 0, below 0, and the first of the decisions on the length."""


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
        self.counts = own, other = REGRESSORS[len(self.before)]
        self.sums = FadedSums(self.plane.width, own + other * len(self.before))
        self.mixed = MixedBits()
        self.corrector = Corrector(self.plane, self.before)
        self.seen = EarlierSamples()

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
        level, parts = regressors(self.plane, self.before, row, column, self.counts)
        found = np.concatenate(parts)
        weights = fitted_weights(self.sums.at(column), self.bits)
        fitted = fitted_prediction(weights, found, level, self.plane.most)
        near = self.corrector.correct(row, column, fitted)
        self.seen.find(self._key(row, column, near.around))
        self._select(near)
        sample = self._code_residual(near.predicted, given)

        self.plane.inner[row, column] = sample
        self.seen.learn(sample)
        self.corrector.learn(sample)
        self.sums.add(column, found, sample - level)

    def _key(self, row: int, column: int, around: list[int]) -> int:
        """Return the key of the surroundings in the table of earlier samples."""
        hashed = 0
        for value in (*around, *(int(p.inner[row, column]) for p in self.before[:1])):
            hashed = (hashed * 65599 + value) % 2**32
        return hashed * HASH_FACTOR % 2**32

    def _select(self, near: Surroundings) -> None:
        """Choose the contexts and weights of the mixed bits."""
        active, (ew, en, ene) = near.active, near.residuals
        coarse = min(7, active // 3)
        off = signed_class(near.median - near.predicted)
        first, second = (*map(signed_class, near.earlier), 4, 4)[:2]
        self.mixed.select(
            (
                active,
                (_length(ew) * 16 + _length(en)) * 16 + _length(ene),
                off * 32 + active,
                near.texture * 8 + coarse,
                (signed_class(ew) * 9 + signed_class(en)) * 9 + signed_class(ene),
                min(near.predicted >> max(0, self.bits - 8), 255) * 8 + coarse,
                (first * 9 + second if near.earlier else near.fraction) * 32 + active,
                self.seen.match(near.predicted),
            ),
            (active, off * 3 + min(2, near.fraction // 3)),
        )

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


def _length(value: int) -> int:
    """Return the number of binary digits, at most 15 (lc in the format)."""
    return min(15, abs(value).bit_length())


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
    planes: list[Plane] = []
    for number in range(count):
        used, pays, numbers = None, False, None
        if given is not None:
            used = used_values(given[number], depth)
            pays = map_pays(used, height * width)
        values = code_values(coder, depth, used, pays)
        if given is not None:
            numbers = np.searchsorted(values, given[number])
        planes.append(Plane(height, width, len(values) - 1, ABOVE))
        plane_coder = PlaneCoder(planes, coder) if len(values) > 1 else None
        for row in range(height):
            report_row(progress, number, row, shape)
            if plane_coder:
                plane_coder.code_row(row, None if numbers is None else numbers[row])
        decoded[number] = values[planes[-1].inner]
    report_row(progress, count, 0, shape)
    return decoded


def report_row(
    progress: Callable[[int, int], None], number: int, row: int, shape: tuple[int, int, int]
) -> None:
    """Report the squares before a row of a plane, if squares begin there."""
    count, height, width = shape
    across, down = -(-width // STRIP), -(-height // STRIP)
    if row % STRIP == 0:
        progress((number * down + row // STRIP) * across, count * down * across)
