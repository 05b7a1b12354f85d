"""Coding of planes without loss or with a bounded error, each plane in a stream of its own.

Source: section "Lossless samples" of ``docs/format/format.md``. ``blend`` fits the prediction;
``context`` corrects it, and makes contexts with this module. ``runs`` has what one decision codes
for several samples, ``fast_coder`` the fast mode. ``two_values`` codes planes of two values.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from mmpcodec.errors import CorruptStream
from mmpcodec.reference.entropy.binary import ONE, BitCoder
from mmpcodec.reference.entropy.cell_rates import CELL, CellRates
from mmpcodec.reference.entropy.logistic_mixing import LogisticMixing
from mmpcodec.reference.entropy.symbols import SymbolReader, SymbolWriter
from mmpcodec.reference.entropy.syntax import LOSSLESS_SYNTAX
from mmpcodec.reference.lossless import fast_coder
from mmpcodec.reference.lossless.blend import ONE_PREDICTOR, THREE_PREDICTORS, Blend
from mmpcodec.reference.lossless.context import (
    Context,
    Corrector,
    EarlierSamples,
    distance_class,
    signed_class,
)
from mmpcodec.reference.lossless.fast_coder import FastCoder
from mmpcodec.reference.lossless.hashes import key_and_line, summed
from mmpcodec.reference.lossless.pixels.blocks import Blocks
from mmpcodec.reference.lossless.pixels.layer import code_blocks
from mmpcodec.reference.lossless.plane import OWN, Plane, is_noisy
from mmpcodec.reference.lossless.prediction import FRACTION_BITS
from mmpcodec.reference.lossless.runs import Runs
from mmpcodec.reference.lossless.source_colours.colours import (
    NONE,
    SourceColours,
    SourcePlanes,
    can_have_colours,
    code_colours,
    colours_of,
    to_pixels,
)
from mmpcodec.reference.lossless.source_colours.corrections import chroma_of_pixels
from mmpcodec.reference.lossless.streams import joined, parted
from mmpcodec.reference.lossless.two_values.plane import (
    TwoValuesChain,
    TwoValuesCoder,
    begun_plane,
    check_values,
)
from mmpcodec.reference.lossless.values import code_values, map_pays, used_values

SECTION = "Lossless samples"
STRIP = 16
"""Progress counts squares of this height and width, in samples."""
NEIGHBOURS = (3, 6, 10, 22)
"""Neighbours that each table of earlier samples looks at."""
LINE_BITS = 15
"""Binary logarithm of the number of lines of a table."""

ZERO, NEGATIVE, BROKEN = 0, 1, 13
"""Decisions of the logistic mixing: not the prediction, below it, and whether a run is broken."""
NOISY_MODELS = ((0, 4, 5, 6, 8, 9, 10, 11), (0, 2, 5, 6, 7, 9, 10, 11))
"""The models in use in noisy planes if there are 8, without and with earlier planes."""
HASHED = ((0, 11, 14, 21), (0, 11, 14, 19, 21, 22))
"""Models whose contexts are hashed, without and with earlier planes."""
MODELS = {2: 8, 3: 24}
"""Number of models by lossless form."""
DISTANCES = 16
"""Classes of distances, rounded up."""
MODELLED_DIGITS = 2
"""Digits of a distance below the leading one that models predict in noisy planes."""


class PlaneCoder:
    """Encoder or decoder of the samples of one plane.

    Parameters
    ----------
    planes : list of Plane
        The earlier planes, then the plane to code.
    coder : BitCoder
    tools : LosslessTools
        As in ``encode_planes``.
    cells : CellRates
        Gets the rate of each sample.
    noisy : bool
        Whether the plane is noisy.
    blocks : Blocks or None
        Which samples are known; None if none is.
    """

    def __init__(
        self,
        planes: list[Plane],
        coder: BitCoder,
        tools,
        cells: CellRates,
        noisy: bool,
        blocks: Blocks | None = None,
    ):
        self.blocks = blocks
        self.plane = planes[-1]
        self.before = planes[-2:-4:-1]
        self.coder = coder
        self.cells = cells
        self.max_error = tools.max_error
        self.step = 2 * tools.max_error + 1
        self.bits = self.plane.most.bit_length()
        self.has_runs = tools.lossless_form == 2 or blocks is not None
        predictors = ONE_PREDICTOR if self.has_runs else THREE_PREDICTORS
        self.blend = Blend(self.plane, self.before, predictors)
        self.corrector = Corrector(self.plane, self.before)
        self.tables = {count: EarlierSamples() for count in NEIGHBOURS}
        self.noisy = noisy
        has_earlier = len(self.before) > 0
        self.models = tuple(range(MODELS[tools.lossless_form]))
        if noisy and tools.lossless_form == 2:
            self.models = NOISY_MODELS[has_earlier]
        hashed = [k for k, model in enumerate(self.models) if model in HASHED[has_earlier]]
        self.mixed = LogisticMixing(len(self.models), hashed)
        self.runs = Runs(self.plane, self.before)

    def code_row(self, row: int, given: np.ndarray | None) -> None:
        """Code the samples of a row; ``given`` are those to encode, or None to decode."""
        column = end = 0
        self.runs.begin_row()
        while column < self.plane.width:
            if column == end:
                end = self.blocks.end_of(row, column) if self.blocks else self.plane.width
                if self.blocks and self.blocks.at(row, column):
                    for known in range(column, end):
                        self.blend.pass_over(row, known)
                    column = end
                    continue
            run = self.runs.length(row, column, end) if self.has_runs else 0
            equal = self._code_run(row, column, run, given) if run else 0
            column += equal
            if equal == run > 0:
                continue
            self.code_sample(row, column, None if given is None else int(given[column]), run > 0)
            column += 1
            self.runs.after = column

    def _code_run(self, row: int, column: int, run: int, given: np.ndarray | None) -> int:
        """Code how many samples of a run are equal to the one before it, and return it."""
        value = int(self.plane.around(row, column, ((0, -1),))[0])
        wanted = place = None
        if given is not None:
            equal = abs(given[column : column + run].astype(int) - value) <= self.max_error
            wanted = int(not equal.all())
            place = int(equal.argmin())
        contexts, rows = self.runs.contexts(row, column, run), self.runs.rows(row, column, run)
        self.mixed.select([contexts[k] for k in self.models], rows)
        equal = run
        if self.mixed.code(self.coder, "residual", BROKEN, wanted):
            equal = self.coder.plain("residual", run.bit_length() - 1, place)
            self.runs.breaks += 1
        self.cells.add(row, column)
        for at in range(column, column + equal):
            self.plane.inner[row, at] = value
            self.blend.pass_over(row, at)
        return equal

    def code_sample(self, row: int, column: int, given: int | None, breaks: bool) -> None:
        """Code a sample.

        Parameters
        ----------
        row, column : int
        given : int or None
            The sample to encode; None decodes.
        breaks : bool
            Whether the sample breaks a run, so that it differs from the one left of it.
        """
        fitted = self.blend.fit(row, column)
        near = self.corrector.correct(row, column, fitted)
        neighbours = self.plane.around(row, column, OWN).tolist()
        others = [int(plane.inner[row, column]) for plane in self.before]
        for count, table in self.tables.items():
            table.find(*key_and_line(others, neighbours[:count], LINE_BITS))
        contexts = self._contexts(row, column, near, neighbours)
        if len(self.models) == MODELS[3]:
            contexts += self._further_contexts(row, column, near, neighbours)
        self.mixed.select([contexts[k] for k in self.models], self._rows(near))
        differs = breaks and near.predicted == neighbours[0]
        sample = self._code_residual(near.predicted, given, differs)
        self.cells.add(row, column)

        self.plane.inner[row, column] = sample
        for table in self.tables.values():
            table.learn(sample)
        self.corrector.learn(sample)
        self.blend.learn(sample)

    def _contexts(
        self, row: int, column: int, near: Context, neighbours: list[int]
    ) -> tuple[int, ...]:
        """Return the contexts of the first 16 models."""
        w, n, nw, ne, ww, nn = near.around
        www, nnn = neighbours[12:14]
        nne = neighbours[9]
        predicted, active = near.predicted, near.active
        coarse = min(7, active // 3)
        off = signed_class(near.median - predicted)
        sizes = [signed_class(residual) for residual in near.residuals]
        match_3, match_6, match_10, match_22 = (
            table.match(predicted) for table in self.tables.values()
        )

        def fine(value: int) -> int:
            return distance_class(value - predicted)

        def one(value: int) -> int:
            return 8 * fine(value) + coarse

        def two(first: int, second: int) -> int:
            return DISTANCES * fine(first) + fine(second)

        cubes = two(3 * (w - ww) + www, 3 * (n - nn) + nnn)
        if not self.before:
            return (
                summed((predicted,)),
                match_3,
                match_22,
                match_6,
                32 * off + active,
                two(w, n),
                two(ne, nw),
                match_10,
                cubes,
                8 * min(255, predicted >> max(0, self.bits - 8)) + coarse,
                one(n + ne - nne),
                summed((n, predicted, ne)),
                one(2 * w - ww),
                one(n + w - nw),
                summed((w, predicted, ww)),
                64 * (w >> max(0, self.bits - 6)) + (n >> max(0, self.bits - 6)),
            )
        (a, a_w, a_n), (b, b_w, b_n) = (
            *(plane.around(row, column, ((0, 0), *OWN[:2])).tolist() for plane in self.before),
            (0, 0, 0),
        )[:2]
        return (
            summed((predicted, a, b)),
            match_6,
            two(w + a - a_w, n + a - a_n),
            match_3,
            match_22,
            two(w + a - a_w, w + b - b_w),
            two(w, n),
            two(n + a - a_n, n + b - b_n),
            match_10,
            81 * sizes[0] + 9 * sizes[1] + sizes[2],
            32 * off + active,
            summed((n, predicted, ne, a)),
            one(2 * w - ww),
            cubes,
            summed((w, predicted, ww, a)),
            two(ne, nw),
        )

    def _further_contexts(
        self, row: int, column: int, near: Context, neighbours: list[int]
    ) -> tuple[int, ...]:
        """Return the contexts of models 17 to 24."""
        w, n = neighbours[:2]
        mended, predicted = near.mended, near.predicted

        def eighths(value: int) -> int:
            return distance_class(value - (predicted << FRACTION_BITS) >> FRACTION_BITS - 3)

        places = first, second, third = [eighths(fit) for fit in self.blend.fits]
        shared = [32 * place + own for place, own in zip(places, self.blend.spreads, strict=True)]
        beyond = near.earlier[0] if self.before else near.residuals[0]
        last = DISTANCES * eighths(mended + 64 * beyond) + eighths(mended + 64 * near.residuals[1])
        if not self.before:
            return (
                *shared,
                32 * (mended % 64 >> 2) + near.active,
                DISTANCES * first + third,
                summed((w, n, predicted)),
                DISTANCES * first + second,
                last,
            )
        a, a_w, a_n = self.before[0].around(row, column, ((0, 0), *OWN[:2])).tolist()
        b = int(self.before[1].inner[row, column]) if len(self.before) > 1 else 0
        return (
            *shared,
            summed((a - b, predicted - a)),
            DISTANCES * first + third,
            summed((predicted, a)),
            summed((w - a_w, predicted - a, n - a_n)),
            last,
        )

    def _rows(self, near: Context) -> tuple[int, int, int, int]:
        """Return the rows of the four sets of weights."""
        predicted = near.predicted
        off = signed_class(near.median - predicted)
        agreement = 0
        for table in reversed(self.tables.values()):
            agreement = 4 * agreement + table.agreement(predicted)
        if self.noisy:
            agreement = 9 * signed_class(near.residuals[0]) + signed_class(near.residuals[1])
        first, second = (*map(signed_class, near.earlier), 4, 4)[:2]
        coarse = predicted >> max(0, self.bits - 5)
        return (
            near.active,
            3 * off + min(2, (near.mended % 64 >> 3) // 3),
            agreement,
            9 * first + second if near.earlier else coarse,
        )

    def _code_residual(self, predicted: int, given: int | None, differs: bool) -> int:
        """Code a sample by its distance from the prediction, and return the decoded sample.

        The distance is known not to be 0 if ``differs``. *Encoder only*: it is rounded to the
        nearest step.
        """
        most, bound, step = self.plane.most, self.max_error, self.step
        residual = 0 if given is None else given - predicted
        steps = (abs(residual) + bound) // step
        bits = ((most + bound) // step).bit_length()

        def code(decision: int, bit: int) -> int:
            wanted = None if given is None else int(bit)
            return self.mixed.code(self.coder, "residual", decision, wanted)

        if not differs and not code(ZERO, steps != 0):
            return predicted
        if predicted in (0, most):
            negative = int(predicted == most)
        else:
            negative = code(NEGATIVE, residual < 0)
        length, own_length = 0, steps.bit_length() - 1
        while length < bits - 1 and code(length_decision(length, negative), length < own_length):
            length += 1
        size = 1
        plain = max(0, length - MODELLED_DIGITS if self.noisy else min(length - 3, bits - 8))
        for i in range(length - plain):
            left = length - 1 - i
            decision = high_decision(length, size) if i < 3 else low_decision(left)
            size = 2 * size + code(decision, steps >> left & 1)
        if plain:
            wanted = None if given is None else steps % (1 << plain)
            size = (size << plain) + self.coder.plain("residual", plain, wanted)
        value = predicted - step * size if negative else predicted + step * size
        if not -bound <= value <= most + bound:
            raise CorruptStream(
                SECTION, f"sample is {value}, allowed is {-bound} to {most + bound}"
            )
        return min(max(value, 0), most)


def length_decision(length: int, below: int) -> int:
    """Return the decision whether the number of steps is longer (length in the format)."""
    return 2 + 2 * length + below if length < 5 else 120 + 2 * (length - 5) + below


def high_decision(length: int, size: int) -> int:
    """Return the decision on one of the three highest digits (high in the format)."""
    return (11, 12)[length - 1] + size if length < 3 else 16 + 8 * (length - 3) + size


def low_decision(digit: int) -> int:
    """Return the decision on a lower digit (low in the format)."""
    return 16 + 8 * digit


def encode_planes(
    samples: np.ndarray,
    depth: int,
    tools,
    progress: Callable[[int, int], None],
    chain: TwoValuesChain | None = None,
    source: SourcePlanes | None = None,
) -> tuple[bytes, np.ndarray, dict[str, float], np.ndarray]:
    """Encode planes without loss, or with a bounded error.

    Parameters
    ----------
    samples : (C, H, W) unsigned integer array
        Samples of the C planes in coding order, below ``2**depth``.
    depth : int
        Bits of a sample, 1 to 16.
    tools : LosslessTools
    progress : callable
        Called with the number of 16x16 squares done and the number of all.
    chain : TwoValuesChain or None
        What the only plane, of two values, continues; None if it stands alone.
    source : SourcePlanes or None
        What the first three planes were made from; None if that is not known.

    Returns
    -------
    payload : bytes
    decoded : (C, H, W) uint16 array
        The samples that a decoder returns.
    bits : dict of str to float
        Ideal code length of each syntax element, in bits.
    cell_rates : (R, C) int64 array
        Rate of the samples of each cell in all planes; see ``CellRates``.
    """
    writers = [SymbolWriter(LOSSLESS_SYNTAX, coarse=True) for _ in samples]
    shape = samples.shape
    made = _code_planes(writers, samples, shape, depth, tools, progress, chain, source)
    decoded, rates = made
    return joined([writer.finish() for writer in writers]), decoded, _bits(writers), rates


def decode_planes(
    payload: bytes,
    shape: tuple[int, int, int],
    depth: int,
    tools,
    progress: Callable[[int, int], None],
    chain: TwoValuesChain | None = None,
) -> tuple[np.ndarray, dict[str, float], np.ndarray]:
    """Decode a payload of lossless samples.

    Parameters
    ----------
    payload : bytes
    shape : (int, int, int)
        Number of planes C, height H and width W.
    depth : int
        Bits of a sample, 1 to 16.
    tools, progress, chain
        As in ``encode_planes``.

    Returns
    -------
    samples : (C, H, W) uint16 array
    bits : dict of str to float
        Ideal code length of each syntax element, in bits.
    cell_rates : (R, C) int64 array
        Rate of the samples of each cell in all planes; see ``CellRates``.

    Raises
    ------
    TruncatedStream, CorruptStream
        If the payload breaks a rule of the format.
    """
    streams = parted(payload, shape[0])
    readers = [SymbolReader(stream, LOSSLESS_SYNTAX, coarse=True) for stream in streams]
    samples, rates = _code_planes(readers, None, shape, depth, tools, progress, chain)
    for reader in readers:
        reader.finish()
    return samples, _bits(readers), rates


def _code_planes(
    coders, given, shape, depth, tools, progress, chain, source=None
) -> tuple[np.ndarray, np.ndarray]:
    """Code planes; ``given`` are the samples to encode, or None to decode.

    Returns
    -------
    decoded : (C, H, W) uint16 array
    cell_rates : (R, C) int64 array
    """
    count, colours = len(coders), SourceColours()
    if can_have_colours(count, shape[1:], depth, tools.max_error):
        colours = code_colours(coders[0], None if given is None else colours_of(source))
    wanted: list[Any] = [None] * count if given is None else list(given)
    if source is not None:
        wanted[:3] = source.luma, *source.chroma
    values = [
        _values_of(coder, own, depth, tools) for coder, own in zip(coders, wanted, strict=True)
    ]
    for own in values:
        check_values(len(own), chain)
    # The numbers of the values to encode; None decodes.
    numbers: list[Any] = [
        None if own is None else np.searchsorted(among, own)
        for among, own in zip(values, wanted, strict=True)
    ]
    together = None if given is None or colours.kind != NONE else np.array(numbers)
    planes = [
        Plane(*colours.plane_shape(number, shape[1:]), len(own) - 1)
        for number, own in enumerate(values)
    ]
    two_values = count == 1 and tools.max_error == 0 and planes[0].most == 1
    pixels = None
    if not two_values and colours.kind == NONE:
        pixels = code_blocks(coders[0], planes, together, tools)
    blocks = pixels.blocks if pixels else None
    samples_coders: list[PlaneCoder | FastCoder | TwoValuesCoder | None] = []
    for number, coder in enumerate(coders):
        samples_coder: PlaneCoder | FastCoder | TwoValuesCoder | None = None
        if two_values:
            samples_coder = begun_plane(planes[0], coder, tools, numbers[0], chain)
        elif planes[number].most and not (blocks is not None and blocks.repeats.all()):
            cells = CellRates(shape[1:], coder.tally, colours.steps(number))
            before = [planes[other] for other in colours.before(number)]
            more = numbers[number], cells, blocks
            samples_coder = _samples_coder([*before, planes[number]], coder, tools, *more)
        samples_coders.append(samples_coder)
    reported = (count + (blocks is not None), *shape[1:])
    rates = np.zeros([-(-side // CELL) for side in shape[1:]], np.int64)
    if pixels:
        cells = CellRates(shape[1:], coders[0].tally)
        pixels.code(planes, together, cells, lambda row: report_row(progress, 0, row, reported))
        rates += cells.rates
    found = []
    for number, samples_coder in enumerate(samples_coders):
        # Without a coder of samples, no cell has a rate.
        if samples_coder:
            samples_coder.cells.begin()
        for row in range(planes[number].height):
            report_row(progress, number + reported[0] - count, row, reported)
            if samples_coder:
                own = numbers[number]
                _code_row(samples_coder, row, None if own is None else own[row])
        found.append(values[number][planes[number].inner])
        if samples_coder:
            rates += samples_coder.cells.rates
    report_row(progress, reported[0], 0, reported)
    if colours.kind != NONE:
        corrections = None if source is None else source.corrections
        chroma = chroma_of_pixels(coders[1:3], found[1:3], colours, shape[1:], corrections)
        found[:3] = to_pixels(found[0], chroma, colours.kind)
    return np.array(found, np.uint16), rates


def _values_of(coder, given: np.ndarray | None, depth: int, tools) -> np.ndarray:
    """Code the values of a plane; ``given`` are the samples to encode, or None to decode."""
    if tools.max_error:
        return np.arange(1 << depth)
    if given is None:
        return code_values(coder, depth, None, False)
    used = used_values(given, depth)
    return code_values(coder, depth, used, map_pays(used, given.size))


def _samples_coder(
    planes: list[Plane],
    coder,
    tools,
    numbers: np.ndarray | None,
    cells: CellRates,
    blocks: Blocks | None,
) -> PlaneCoder | FastCoder:
    """Return the coder of the samples of a plane of several values, that is no plane of two alone.

    Parameters
    ----------
    planes : list of Plane
        The earlier planes, then the plane to code.
    coder : SymbolReader or SymbolWriter
        It codes one bit of the plane here, if the coder of its samples needs one.
    tools : LosslessTools
    numbers : (H, W) int array or None
        The samples to encode; None decodes.
    cells : CellRates
    blocks : Blocks or None
        Which samples are known.
    """
    fast = tools.lossless_form == fast_coder.FORM
    wanted = None if fast or numbers is None else is_noisy(numbers)
    noisy = not fast and bool(coder.bit("map", ONE // 2, wanted))
    # The rate of values and of this bit belongs to no cell.
    cells.begin()
    if fast:
        return FastCoder(planes, coder, tools, cells, blocks)
    return PlaneCoder(planes, coder, tools, cells, noisy, blocks)


def report_row(
    progress: Callable[[int, int], None], number: int, row: int, shape: tuple[int, int, int]
) -> None:
    """Report the squares before a row of a plane, if squares begin there."""
    count, height, width = shape
    across, down = -(-width // STRIP), -(-height // STRIP)
    if row % STRIP == 0:
        progress((number * down + row // STRIP) * across, count * down * across)


def _code_row(
    coder: PlaneCoder | FastCoder | TwoValuesCoder, row: int, given: np.ndarray | None
) -> None:
    """Code a row; ``given`` are the samples to encode, or None to decode."""
    if isinstance(coder, TwoValuesCoder):
        coder.code_row(row, given)
        return
    coder.plane.begin_row(row)
    coder.blend.begin_row()
    coder.code_row(row, given)
    coder.plane.end_row(row)


def _bits(coders) -> dict[str, float]:
    """Return the ideal code lengths of all planes, in bits."""
    tallies = [coder.tally.bits() for coder in coders]
    return {syntax: sum(tally[syntax] for tally in tallies) for syntax in LOSSLESS_SYNTAX}
