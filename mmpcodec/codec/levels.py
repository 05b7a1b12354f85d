"""Which levels of its depth a picture uses, and the levels that its layers code.

Lambda, quality, PSNR and SSIMULACRA2 of a picture of more than 8 bits refer to its *range*: the
levels that count as black and white. A CT of 16 bits uses a few hundredths of them. Decision 54 has
the rule and the measurements.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mmpcodec.checks import check_range
from mmpcodec.codec.distortion import distortion, white_in_bytes
from mmpcodec.codec.weighting.areas import areas_in
from mmpcodec.depth import BYTE, most, sample_type
from mmpcodec.format.container import Header
from mmpcodec.metadata import Calibration, Metadata
from mmpcodec.params import EncodeParams
from mmpcodec.picture import Picture
from mmpcodec.samples import Samples, form_of
from mmpcodec.tools import BlockTools

TAIL = 1000
"""The darkest and the brightest 1/1000 of the samples do not count, as hot pixels should not."""
LITTLE = 10
"""A picture that uses less than 1/10 of its levels is worth a remark."""
SCORE_BITS = 16
"""Bits of samples that are stretched from a range to all levels."""


@dataclass(frozen=True)
class Levels:
    """The levels of a picture.

    Parameters
    ----------
    depth : int
        Bits of a sample.
    range : (int, int)
        Samples that count as black and white.
    bits : int
        Bits of a coded level.
    first : int
        Sample that the coded level 0 stands for.

    Examples
    --------
    >>> import numpy as np
    >>> from mmpcodec.codec.levels import Levels
    >>> levels = Levels(16, (30000, 31023), 10, 30000)
    >>> levels.coded(np.array([[30001, 30900]], np.uint16)).tolist(), levels.scale
    ([[1, 900]], 1.0)
    """

    depth: int
    range: tuple[int, int]
    bits: int
    first: int = 0

    @classmethod
    def of(cls, header: Header) -> "Levels":
        """Return the levels of a file."""
        levels = header.metadata.range if header.depth > BYTE else None
        return cls(
            header.depth, levels or (0, most(header.depth)), header.level_depth, header.first
        )

    @classmethod
    def of_picture(cls, picture: Picture) -> "Levels":
        """Return the levels of a picture that is not coded."""
        found = range_of(picture.samples, picture.depth, picture.metadata)
        return cls(picture.depth, found, picture.depth)

    @property
    def whole(self) -> bool:
        """Whether the range is that of the depth."""
        return self.range == (0, most(self.depth))

    @property
    def stored_range(self) -> tuple[int, int] | None:
        """Range for the metadata of a file: None for all levels of the depth."""
        return None if self.whole else self.range

    @property
    def little(self) -> bool:
        """Whether the picture uses so few of its levels that a remark is due."""
        return LITTLE * (self.range[1] - self.range[0]) < most(self.depth)

    @property
    def scale(self) -> float:
        """Part of the coded levels that the range takes; above 1 if samples lie outside of it."""
        return (self.range[1] - self.range[0]) / most(self.bits)

    def coded(self, samples: Samples) -> Samples:
        """Return the coded levels of samples, in host or device memory."""
        if self.bits == self.depth:
            return samples
        return (samples - samples.dtype.type(self.first)).astype(sample_type(self.bits))

    def samples(self, coded: Samples) -> Samples:
        """Return the samples of coded levels."""
        if self.bits == self.depth:
            return coded
        return coded.astype(sample_type(self.depth)) + sample_type(self.depth)(self.first)

    def shown(self, samples: np.ndarray) -> tuple[np.ndarray, int]:
        """Return samples between black and white as levels of a depth, and the depth.

        Samples beyond the range become black or white. A range of 2^n levels keeps its steps;
        others are stretched to 16 bits.
        """
        if self.whole:
            return samples, self.depth
        low, high = self.range
        found = samples.clip(low, high).astype(np.int64) - low
        bits = (high - low).bit_length()
        if high - low == most(bits):
            return found.astype(sample_type(bits)), bits
        stretched = found * most(SCORE_BITS) // (high - low)
        return stretched.astype(np.uint16), SCORE_BITS

    def above_black(self, coded: np.ndarray) -> np.ndarray:
        """Return by how much coded levels are above black, from 0 to white less black.

        Whole ranges keep their samples, also those above a level of white.
        """
        if self.whole and self.bits == self.depth:
            return coded
        low, high = self.range
        return self.samples(coded).clip(low, high) - self.samples(coded).dtype.type(low)

    def shown_colours(self, samples: np.ndarray) -> tuple[np.ndarray, int]:
        """Return ``shown`` of samples, without alpha if the range is not that of the depth."""
        form = form_of(samples)
        if self.whole or not form.has_alpha:
            return self.shown(samples)
        return self.shown(samples[..., 0] if form.colours == 1 else samples[..., : form.colours])

    def at_levels(self, params: EncodeParams) -> EncodeParams:
        """Return parameters with the lambda of coded levels.

        A lambda below ``EncodeParams.finest`` becomes lossless where the parameters have a
        lossless set of tools, because predicted blocks have no finer steps.
        """
        if self.scale == 1 or not scales(params):
            return params
        lam, finest = params.lam * self.scale**2, params.finest
        if lam >= finest or params.lam < finest:
            return replace(params, lam=lam)
        lossless = any(not isinstance(one.tools, BlockTools) for one in params.each_alone())
        return params.at(0) if lossless else replace(params, lam=finest)

    def distortion(self, source: np.ndarray, decoded: np.ndarray) -> float:
        """Return ``distortion`` of samples or of coded levels, for ``psnr_of`` with the depth.

        The range counts as all levels of the depth.
        """
        found = distortion(source, decoded, self.bits)
        if self.scale == 1 and self.bits == self.depth:
            return found
        white = white_in_bytes(self.depth) / white_in_bytes(self.bits)
        return found * (white / self.scale) ** 2


def scales(params: EncodeParams) -> bool:
    """Return whether the lambda of parameters decides about the error of the samples."""
    return params.lam > 0 and any(not one.tools.lossless for one in params.each_alone())


def is_lossy(params: EncodeParams) -> bool:
    """Return whether samples can differ from their source."""
    tools = [one.tools for one in params.each_alone()]
    return params.lam > 0 and not all(each.without_loss for each in tools)


def range_of(samples: np.ndarray, depth: int, metadata: Metadata) -> tuple[int, int]:
    """Return the levels that count as black and white in a whole picture; see ``used_range``."""
    parts = areas_in(*samples.shape[:2]) if depth > BYTE else []
    return used_range(depth, metadata, [samples[part] for part in parts])


def used_range(depth: int, metadata: Metadata, areas: Sequence[np.ndarray]) -> tuple[int, int]:
    """Return the levels that count as black and white in a picture.

    Parameters
    ----------
    depth : int
        Bits of a sample.
    metadata : Metadata
    areas : sequence of (H, W) or (H, W, C) arrays
        Areas of the picture of which a pixel is seen.

    Returns
    -------
    (int, int)
        The range of the metadata; else the window of the calibration, if it holds more than a
        thousandth of the samples; else the least power of two
        of levels that holds the samples but the darkest and the brightest thousandth, padding
        values left out. Up to 8 bits, all levels.

    Raises
    ------
    ParameterError
        If the range of the metadata is beyond the depth.
    """
    whole = 0, most(depth)
    if depth <= BYTE:
        return whole
    if metadata.range is not None:
        return check_range(metadata.range, depth)
    calibration = metadata.calibration
    counts = _counts(depth, areas, calibration)
    window = None if calibration is None else window_of(calibration, depth)
    if window is not None and TAIL * counts[window[0] : window[1] + 1].sum() > counts.sum():
        return window
    return _occupied(depth, counts) or whole


def window_of(calibration: Calibration, depth: int) -> tuple[int, int] | None:
    """Return the samples that a window shows black and white; None without samples between."""
    if calibration.window is None:
        return None
    ends = sorted(calibration.sample(value) for value in calibration.window)
    low, high = (round(min(max(end, 0), most(depth))) for end in ends)
    return (low, high) if low < high else None


def _counts(depth: int, areas: Sequence[np.ndarray], calibration: Calibration | None) -> np.ndarray:
    """Return how many samples of areas have each level, without padding and what alpha hides."""
    counts = np.zeros(1 << depth, np.int64)
    for area in areas:
        form = form_of(area)
        seen = area[area[..., form.colours] > 0] if form.has_alpha else area
        colours = seen[..., : form.colours] if form.has_alpha else seen
        counts += np.bincount(colours.ravel(), minlength=len(counts))
    if calibration is not None and calibration.padding is not None:
        counts[calibration.padding[0] : calibration.padding[1] + 1] = 0
    return counts


def _occupied(depth: int, counts: np.ndarray) -> tuple[int, int] | None:
    """Return the least power of two of levels that hold most samples; None without samples."""
    total = np.cumsum(counts)
    if not total[-1]:
        return None
    cut = int(total[-1]) // TAIL
    low = int(np.searchsorted(total, cut, "right"))
    high = int(np.searchsorted(total, total[-1] - cut, "left"))
    bits = max((high - low).bit_length(), 1)
    width = most(bits)
    low = 0 if high <= width else min(low, most(depth) - width)
    return low, low + width


def may_have_fewer(shape: Sequence[int], depth: int) -> bool:
    """Return whether coded levels may have fewer bits than samples of a shape and depth.

    They have at least 8, so that a lossy layer has no fewer than its samples. Alpha has all levels,
    so a picture with alpha keeps its samples.
    """
    return depth > BYTE and tuple(shape[2:]) in ((), (1,), (3,))


def coded_levels(parts: Iterable[Samples], depth: int) -> tuple[int, int]:
    """Return bits and first sample of the levels that hold all samples of a picture.

    Parameters
    ----------
    parts : iterable of arrays
        Parts that cover a picture which ``may_have_fewer`` levels.
    depth : int
        Bits per sample.
    """
    ends = [(int(part.min()), int(part.max())) for part in parts]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    bits = max((high - low).bit_length(), BYTE)
    return (bits, min(low, (1 << depth) - (1 << bits))) if bits < depth else (depth, 0)
