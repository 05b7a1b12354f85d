"""Counts of the first bits of the models of predicted blocks, and the states that they make likely.

The first bits of each binary model are counted, tile by tile. The start of a model is the beta
distribution that makes these counts most likely: its mean, and the number of bits that the mean is
worth.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mmpcodec import backends
from mmpcodec.backends.cpu import CpuBackend
from mmpcodec.codec.encoder import encode_picture
from mmpcodec.format import layers
from mmpcodec.params import EncodeParams
from mmpcodec.reference.blocks.models import BlockModels
from mmpcodec.reference.entropy.binary import MOST_USES

LAMBDAS = ((3, 5), (12, 20), (40, 58), (120, 172), (360, 518), (1000, 1800))
"""Lambdas of each class of steps."""
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


@dataclass(frozen=True)
class Observed:
    """What a tile at one lambda shows.

    Parameters
    ----------
    bits : (M, 2) int array
        How often the first bits of each binary model were 0 and 1.
    modes : (9, 37) int array
        Frequencies of the modes after the last block.
    """

    bits: np.ndarray
    modes: np.ndarray


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
        seen.append(Observed(*backend.block_counts(payload, shape, layer.tools, COUNTED)))
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


def _beyond(bits: np.ndarray) -> np.ndarray:
    """Return how many tiles have more than k bits: (COUNTED, ...) from counts (P, ...)."""
    most = np.arange(COUNTED).reshape(-1, *(1,) * (bits.ndim - 1))
    return sum(np.clip(each - most, 0, 1) for each in bits)


def most_likely(seen: Sequence[Observed]) -> tuple[np.ndarray, np.ndarray]:
    """Return the beta distributions, for 0 and 1, that make the counts of tiles most likely.

    Parameters
    ----------
    seen : sequence of Observed

    Returns
    -------
    zeros, ones : (M,) float arrays
        Parameters of the distributions, found by Minka's fixed point. Its differences of digamma
        functions at whole numbers are sums of reciprocals.
    """
    bits = [each.bits.astype(float) for each in seen]
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


def trained_pairs(seen: Sequence[Observed], rarely: np.ndarray) -> np.ndarray:
    """Return probability in 1/256 and number of bits of each binary model, a (M, 2) array.

    Models with few bits get those of ``rarely``.
    """
    a, b = most_likely(seen)
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
    seen: Sequence[Observed], rarely: np.ndarray, *, worth: int = WORTH
) -> np.ndarray:
    """Return the table of a class of steps.

    ``worth`` is the total of the frequencies of the modes of a size; the other arguments are those
    of ``trained_pairs``.
    """
    pairs = trained_pairs(seen, rarely)
    modes = np.array([each.modes for each in seen], float)
    shares = (modes / modes.sum(axis=2, keepdims=True)).mean(axis=0)
    frequencies = np.clip((worth * shares).round(), 1, 255).astype(np.uint8)
    first = _first_pairs()
    return np.concatenate([pairs[:first].ravel(), frequencies.ravel(), pairs[first:].ravel()])
