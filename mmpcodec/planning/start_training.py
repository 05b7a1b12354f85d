"""Training of the states from which the models of predicted blocks start.

The first bits of each binary model are counted, tile by tile. The start of a model is the beta
distribution that makes these counts most likely: its mean, and the number of bits that the mean is
worth.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from mmpcodec import backends
from mmpcodec.backends.cpu import CpuBackend
from mmpcodec.codec.colour import split
from mmpcodec.codec.encoder import encode_picture
from mmpcodec.depth import BYTE
from mmpcodec.errors import ParameterError
from mmpcodec.format import layers
from mmpcodec.format.layouts import Layout
from mmpcodec.params import DEFAULT_EFFORT, EncodeParams
from mmpcodec.reference.blocks.models import (
    BlockModels,
    independent_step,
    start_class,
    start_states,
)
from mmpcodec.reference.blocks.partition import is_small
from mmpcodec.reference.entropy.binary import MOST_USES
from mmpcodec.runtime.progress import Progress, report_progress
from mmpcodec.samples import SamplesLike, check_picture, form_of
from mmpcodec.start import Start
from mmpcodec.tools import DRAFT

LAMBDAS = ((3, 5), (12, 20), (40, 58), (120, 172), (360, 518), (1000, 1800))
"""Lambdas of each class of steps."""
ALL_LAMBDAS = tuple(chain.from_iterable(LAMBDAS))
COUNTED = 160
"""First bits of a model that count: later ones depend little on the start."""
LEAST_SEEN = 16
"""Bits of a model in all pictures below which it keeps its start."""
MOST_WORTH = 4 * MOST_USES
ROUNDS = 300
"""Steps of the search for the most likely distribution."""
WORTH = 1000
"""Total of the frequencies of the modes of a size."""
TILE_SIZE = 256
"""Side of the parts of a picture whose first bits count."""
OWN_TILES = 2
OWN_BITS = 8
"""The start before the training counts as so many tiles, with so many bits of each model."""


@dataclass(frozen=True)
class Observed:
    """What a tile at one lambda shows.

    Parameters
    ----------
    bits : (M, 2) int array
        How often the first bits of each binary model were 0 and 1.
    modes : (9, 38) int array
        Frequencies of the modes after the last block.
    """

    bits: np.ndarray
    modes: np.ndarray


def gray_of(samples: Any, depth: int) -> np.ndarray:
    """Return the luma of a picture, in 8 bits."""
    layout = Layout.LUMA if form_of(samples).colours == 3 else Layout.APART
    gray = split(samples, depth, layout)[0].samples
    return np.ascontiguousarray(gray >> max(depth - BYTE, 0)).astype(np.uint8)


def observed(
    gray: np.ndarray, params: EncodeParams, tile_size: int, threads: int | None = 1
) -> list[Observed]:
    """Encode a gray picture of 8 bits and count the bits of its models, tile by tile."""
    backend = backends.get(CpuBackend.name)
    assert isinstance(backend, CpuBackend)
    found = encode_picture(
        gray, params, tile_size=tile_size, backend=CpuBackend.name, threads=threads
    )
    data, header = memoryview(found.data), found.header
    seen = []
    for tile, start, end in zip(
        header.tiles, header.tile_offsets, header.tile_offsets[1:], strict=False
    ):
        (layer,) = layers.read(data[start:end], start, header.of_levels).layers
        shape = tile.height, tile.width
        payload = bytes(layer.payload)
        seen.append(
            Observed(*backend.block_counts(payload, shape, layer.tools, params.start, COUNTED))
        )
    return seen


def plain_pairs() -> np.ndarray:
    """Return probability in 1/256 and number of bits of each binary model without training."""
    pairs = []
    for quantiser in (0, 1):
        for probability, uses, shape in BlockModels().binary(quantiser):
            more = [(0, full - own) for full, own in zip(shape, probability.shape, strict=True)]
            ones = np.pad(probability, more, constant_values=1 << 15).ravel() >> 8
            pairs.append(np.stack([ones, np.pad(uses, more).ravel()], axis=1))
    return np.concatenate(pairs)


def _first_pairs() -> int:
    """Return the number of binary models before the frequencies of the modes in a table."""
    return sum(int(np.prod(shape)) for _, _, shape in BlockModels().binary())


def pairs_in(table: np.ndarray) -> np.ndarray:
    """Return probability in 1/256 and number of bits of each binary model of a table."""
    first, modes = 2 * _first_pairs(), BlockModels().mode.frequency.size
    return np.concatenate([table[:first], table[first + modes :]]).reshape(-1, 2)


def _beyond(bits: np.ndarray) -> np.ndarray:
    """Return how many tiles have more than k bits: (COUNTED, ...) from counts (P, ...)."""
    most = np.arange(COUNTED).reshape(-1, *(1,) * (bits.ndim - 1))
    return sum(np.clip(each - most, 0, 1) for each in bits)


def most_likely(
    seen: Sequence[Observed], own: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the beta distributions, for 0 and 1, that make the counts of tiles most likely.

    Parameters
    ----------
    seen : sequence of Observed
    own : (M, 2) array or None
        Start whose expected bits count as ``OWN_TILES`` more tiles, as ``plain_pairs`` has it.

    Returns
    -------
    zeros, ones : (M,) float arrays
        Parameters of the distributions, found by Minka's fixed point. Its differences of digamma
        functions at whole numbers are sums of reciprocals.
    """
    bits = [each.bits.astype(float) for each in seen]
    if own is not None:
        share = (own[:, 0] + 0.5) / 256
        bits += [OWN_BITS * np.stack([1 - share, share], axis=1)] * OWN_TILES
    counts = np.array(bits)
    zeros, ones = _beyond(counts[..., 0]), _beyond(counts[..., 1])
    both, k = _beyond(counts.sum(axis=2)), np.arange(COUNTED)[:, None]
    sums = counts.sum(axis=0)
    share = (sums[:, 1] + 0.5) / (sums.sum(axis=1) + 1)
    a, b = 8 * (1 - share), 8 * share
    for _ in range(ROUNDS):
        below = np.maximum((both / (a + b + k)).sum(axis=0), 1e-9)
        factor_a = (zeros / (a + k)).sum(axis=0) / below
        factor_b = (ones / (b + k)).sum(axis=0) / below
        a, b = np.maximum(a * factor_a, 1e-3), np.maximum(b * factor_b, 1e-3)
        scale = np.minimum(1, MOST_WORTH / (a + b))
        a, b = a * scale, b * scale
    return a, b


def trained_pairs(
    seen: Sequence[Observed], rarely: np.ndarray, own: np.ndarray | None = None
) -> np.ndarray:
    """Return probability in 1/256 and number of bits of each binary model, a (M, 2) array.

    ``rarely`` are those of models with few bits; ``own`` is as in ``most_likely``.
    """
    a, b = most_likely(seen, own)
    # A model that counts for n bits moves by 1 / (n + 3/2), the mean by 1 / (a + b + 1).
    trained = np.stack(
        [
            np.clip(np.floor(256 * b / (a + b)), 0, 255),
            np.clip(np.round(a + b - 0.5), 0, MOST_USES),
        ],
        axis=1,
    )
    rare = np.sum([each.bits for each in seen], axis=(0, 2)) < LEAST_SEEN
    return np.where(rare[:, None], rarely, trained).astype(np.uint8)


def trained_table(
    seen: Sequence[Observed],
    rarely: np.ndarray,
    own: np.ndarray | None = None,
    *,
    worth: int = WORTH,
) -> np.ndarray:
    """Return the table of a class of steps.

    ``worth`` is the total of the frequencies of the modes of a size; the other arguments are those
    of ``trained_pairs``.
    """
    pairs = trained_pairs(seen, rarely, own)
    modes = np.array([each.modes for each in seen], float)
    shares = (modes / modes.sum(axis=2, keepdims=True)).mean(axis=0)
    frequencies = np.clip((worth * shares).round(), 1, 255).astype(np.uint8)
    first = _first_pairs()
    return np.concatenate([pairs[:first].ravel(), frequencies.ravel(), pairs[first:].ravel()])


def train_start(
    pictures: Iterable[SamplesLike],
    *,
    lams: Sequence[float] = ALL_LAMBDAS,
    tile_size: int = TILE_SIZE,
    effort: int = DEFAULT_EFFORT,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Start:
    """Train a start on pictures of one kind.

    The pictures are encoded with the built-in start. Models that occur rarely in them, and steps
    that no lambda has, keep their built-in states.

    Parameters
    ----------
    pictures : iterable of (H, W) or (H, W, C) arrays of uint8 or uint16
        Their luma counts, in 8 bits.
    lams : sequence of float
        Lambdas to train for, above 0. By default the start serves every lambda.
    tile_size : int
        Side of the parts whose beginnings count, 64 or more: best that of the tiles or of the
        small pictures that will be encoded.
    effort : int
        1 to 9, as in ``encode``.
    threads : int or None
        As in ``encode``.
    progress : callable or None
        ``progress(done, total) -> bool`` gets numbers of encodings; returning False cancels.

    Returns
    -------
    Start

    Raises
    ------
    ParameterError
        If there is no picture, or an argument is out of its range.
    Cancelled
        When the callback returned False.

    Examples
    --------
    >>> import numpy as np, mmpcodec
    >>> from mmpcodec.planning.start_training import train_start
    >>> picture = np.random.default_rng(0).integers(0, 255, (64, 64), np.uint8)
    >>> start = train_start([picture], lams=[30], tile_size=64)
    >>> data = mmpcodec.encode(picture, 30, preset="photo", version=2, start=start)
    >>> mmpcodec.decode(data, starts=[start]).shape
    (64, 64)
    """
    gray = [gray_of(*check_picture(picture, None)) for picture in pictures]
    if not gray or not lams:
        raise ParameterError(f"{'lams' if gray else 'pictures'}: there must be at least one")
    seen: dict[int, list[Observed]] = {}
    total = len(lams) * len(gray)
    for number, lam in enumerate(lams):
        params = EncodeParams.from_options(
            lam, preset="photo", effort=effort, version=DRAFT, trained_start=True
        )
        own = seen.setdefault(start_class(independent_step(params.coded_tools)), [])
        for place, one in enumerate(gray):
            report_progress(progress, number * len(gray) + place, total)
            own += observed(one, params, tile_size, threads)
    report_progress(progress, total, total)
    tables = start_states(is_small((tile_size, tile_size))).copy()
    for number, tiles in seen.items():
        before = pairs_in(tables[number])
        tables[number] = trained_table(tiles, before, before)
    return Start(tables.tobytes())
