"""Classification of a layer before it is coded: which sets of tools are worth a trial.

*Encoder only*. Preset "auto" codes a layer with the sets that a few features of its samples
recommend, instead of all. Features and scores are integers, so that every machine tries the same
sets. Decision 20 says how the weights were fitted, and what the classification costs.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mmpcodec.depth import BYTE
from mmpcodec.params import EncodeParams
from mmpcodec.quality import LAMBDA_FRACTION_BITS, STEP_SQUARED
from mmpcodec.tools import BlockTools, Tools

SIDE = 4
"""Side, in samples, of the blocks that are classified."""

MOST_SAMPLES = 1 << 20
"""Of larger layers the classification takes strips of rows, evenly spaced, with about this many
samples."""

STRIP = 64
"""Number of rows in a strip."""

SCORE_BITS = 20
"""Scores are in 2**-20; they estimate logarithms of ratios of rate-distortion costs."""

NEARLY_LOSSLESS = 1
"""Below this lambda, in squared errors of one level of the samples, lossless samples are tried."""

FLAT = 500
"""Share of constant blocks, in per mille, from which trees are tried for lossless files, and
lossless samples for deep ones."""


@dataclass(frozen=True)
class Features:
    """Features of a layer, in per mille.

    Parameters
    ----------
    constant : int
        Share of blocks whose samples are all equal.
    repeated : int
        Share of the other blocks that equal an earlier block.
    extreme : int
        In blocks whose range exceeds the quantisation step: share of samples within an eighth of
        the range from the least or the largest sample. Text and line art have many of them.
    strong : int
        Share of these blocks whose range exceeds four steps.
    equal : int
        Share of samples that equal the sample before in their row.
    common : int
        Share of samples that have one of the eight most frequent levels.
    """

    constant: int
    repeated: int
    extreme: int
    strong: int
    equal: int
    common: int


def tried(
    layers: Sequence[np.ndarray], depth: int, lam: float, candidates: Sequence[EncodeParams]
) -> list[set[int]]:
    """Return, for each layer, the numbers of the candidates that are worth a trial.

    Where the first layer is only predicted, so are the others: trees gain little on the chroma of
    a photograph.

    Parameters
    ----------
    layers : sequence of (H, W) uint8 or uint16 arrays
        The gray layer, or the colour layers of a picture.
    depth : int
        Bits per sample.
    lam : float
        Lambda of the picture, in squared errors of 8-bit samples per bit.
    candidates : sequence of EncodeParams
        One set of tools each.
    """
    kinds = {kind_of(candidate.tools): number for number, candidate in enumerate(candidates)}
    lambda_fixed = candidates[0].lambda_fixed
    lossless = kinds.get("lossless")
    if lam == 0 and lossless is not None:
        # Lossless samples were smaller than trees on every screen, page and drawing.
        return [{lossless} for _ in layers]
    found: list[set[int]] = []
    for samples in layers:
        if found and not found[0] & {kinds.get("text"), kinds.get("mixed")}:
            found.append(found[0])
            continue
        features = features_of(samples, depth, lambda_fixed)
        wanted = kinds_for(features, depth, lam, lambda_fixed)
        found.append({kinds[kind] for kind in wanted & kinds.keys()} or set(kinds.values()))
    return found


def kind_of(tools: Tools) -> str:
    """Return the preset whose coding a set of tools has: photo, text, mixed or lossless."""
    if tools.lossless:
        return "lossless"
    if isinstance(tools, BlockTools):
        return "mixed" if tools.trees else "photo"
    return "text"


def kinds_for(features: Features, depth: int, lam: float, lambda_fixed: int) -> set[str]:
    """Return the kinds of candidates that features recommend."""
    near_lossless = lam * 4 ** (depth - BYTE) < NEARLY_LOSSLESS
    if depth > BYTE or lam == 0:
        lossy = {"photo"} if depth > BYTE else set()
        flat = features.constant >= FLAT
        trees = {"text"} if depth == BYTE and flat else set()
        lossless = near_lossless or flat
        return lossy | trees | ({"lossless"} if lossless else set())
    wanted = {"lossless"} if near_lossless else set()
    not_photo, mixed = not_photo_score(features, lambda_fixed), mixed_score(features)
    if not_photo < _score(0.06):
        wanted.add("photo")
    if not_photo >= _score(0.04):
        wanted.add("mixed")
        if mixed < _score(0.03):
            wanted.add("lossless")
        if mixed < _score(-0.03):
            wanted.add("text")
    return wanted


def _score(value: float) -> int:
    return round(value * (1 << SCORE_BITS))


def not_photo_score(features: Features, lambda_fixed: int) -> int:
    """Estimate log(cost of photo / cost of mixed or text), in 2**-20."""
    extreme = features.extreme
    return (
        -230892
        + 330 * extreme
        - 145 * (extreme * extreme // 1000)
        + 66 * features.strong
        - 40 * features.constant
        + 78 * features.common
        + 4827 * lambda_fixed.bit_length()
    )


def mixed_score(features: Features) -> int:
    """Estimate log(cost of text / cost of mixed), in 2**-20.

    Text costs less than mixed only where nearly all repeats. Lossless samples suit more.
    """
    return (
        140407
        - 53 * features.constant
        - 82 * features.repeated
        - 91 * features.common
        - 102 * features.extreme
        - 11 * features.strong
        + 116 * features.equal
    )


def features_of(samples: np.ndarray, depth: int, lambda_fixed: int) -> Features:
    """Return the features of a layer at a lambda, in 2**-16 squared error per bit."""
    height, width = samples.shape
    samples = samples[strips_of(height, width, MOST_SAMPLES)]
    step = math.isqrt(lambda_fixed * STEP_SQUARED >> LAMBDA_FRACTION_BITS) << depth - BYTE >> 4
    height, width = (length // SIDE * SIDE for length in samples.shape)
    grid = samples[:height, :width].reshape(height // SIDE, SIDE, width // SIDE, SIDE)
    blocks = grid.swapaxes(1, 2).reshape(-1, SIDE * SIDE)
    least, most = blocks.min(axis=1), blocks.max(axis=1)
    reach = most - least
    varied = blocks[reach > 0]
    active = reach > step
    seen = blocks[active].astype(np.int32)
    low, high = (side[active].astype(np.int32)[:, None] for side in (least, most))
    nearest = np.minimum(seen - low, high - seen)
    counts = np.bincount(samples.ravel())
    return Features(
        constant=_share(len(blocks) - len(varied), len(blocks)),
        repeated=_share(len(varied) - _distinct(varied), len(varied), of_none=1000),
        extreme=_share(int(np.count_nonzero(8 * nearest < high - low)), seen.size),
        strong=_share(int(np.count_nonzero(reach[active] > 4 * step)), len(seen)),
        equal=_share(
            int(np.count_nonzero(samples[:, 1:] == samples[:, :-1])),
            samples[:, 1:].size,
            of_none=1000,
        ),
        common=_share(int(np.sort(counts)[-8:].sum()), samples.size),
    )


def strips_of(height: int, width: int, samples: int) -> np.ndarray:
    """Return the rows of strips of a layer, evenly spaced, with about ``samples`` samples at most.

    A layer that has no more strips has all of its rows.
    """
    strips, taken = height // STRIP, max(1, samples // (STRIP * width))
    if strips <= taken:
        return np.arange(height)
    first = np.arange(taken) * strips // taken * STRIP
    return (first[:, None] + np.arange(STRIP)).reshape(-1)


def _distinct(blocks: np.ndarray) -> int:
    """Return the number of different rows, by a hash of each."""
    mixed = np.zeros(len(blocks), np.uint64)
    for column in np.ascontiguousarray(blocks).view(np.uint64).T:
        mixed = (mixed ^ column) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    mixed.sort()
    return 1 + int(np.count_nonzero(mixed[1:] != mixed[:-1])) if len(mixed) else 0


def _share(part: int, whole: int, of_none: int = 0) -> int:
    return part * 1000 // whole if whole else of_none
