"""The result of encoding a picture: the file, its layers, and the passes of a target."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from mmpcodec.codec.distortion import largest_error
from mmpcodec.codec.levels import Levels
from mmpcodec.codec.tile_coding import LayerCoding
from mmpcodec.format.container import Header
from mmpcodec.samples import Samples
from mmpcodec.trace import Totals, Trace


def _no_samples() -> Samples:
    return np.zeros((0, 0), np.uint8)


@dataclass(frozen=True)
class Pass:
    """One lambda that the search for a target tried.

    Parameters
    ----------
    lam : float
        0 is lossless.
    effort : int
        Effort of the encoder, 1 to 9.
    bytes : int
        Size of the file of the least rate-distortion cost at this lambda.
    psnr : float
        dB; infinite for a lossless file.
    picture : int
        Number of the picture in its batch, from 0.
    ssimulacra2 : float or None
        Score, 100 for a lossless file; None if the target is not a score.
    """

    lam: float
    effort: int
    bytes: int
    psnr: float
    picture: int = 0
    ssimulacra2: float | None = None


class Statistics(NamedTuple):
    """What was measured while tiles were coded.

    Parameters
    ----------
    distortion : float
        Squared error; see ``distortion.distortion``. Of tiles that are coded one after the other,
        it is that before the border filter, which needs all of them.
    max_error : int
        Largest difference of a sample.
    totals : Totals
        Sums over the traces of all layers.
    backend : str
        Name of the backend that coded the first layer.
    """

    distortion: float
    max_error: int
    totals: Totals
    backend: str

    @classmethod
    def of(
        cls,
        levels: Levels,
        pairs: Iterable[tuple[Samples, Samples]],
        layers: Sequence[LayerCoding],
    ) -> "Statistics":
        """Compare pairs of source and decoded samples, whose layers these are."""
        errors = [(levels.distortion(*pair), largest_error(*pair)) for pair in pairs]
        return cls(
            sum(distortion for distortion, _ in errors),
            max(largest for _, largest in errors),
            Totals(layer.trace for layer in layers if layer.trace is not None),
            layers[0].backend,
        )

    @classmethod
    def sum(cls, several: Sequence["Statistics"]) -> "Statistics":
        """Return the statistics of a picture from those of groups of its tiles, in their order."""
        return cls(
            sum(one.distortion for one in several),
            max(one.max_error for one in several),
            Totals.sum(one.totals for one in several),
            several[0].backend,
        )


@dataclass(frozen=True, eq=False)
class Encoding:
    """The file of a picture, and statistics of its coding.

    A file that was written tile by tile has neither bytes nor samples nor layers here, because they
    need not fit into memory.

    Parameters
    ----------
    header : Header
    lam : float
        Lambda of the file.
    data : bytes
        The whole file.
    samples : (H, W) or (H, W, C) array of uint8 or uint16
        The samples that a decoder returns.
    layers : tuple of LayerCoding
        Layers of all tiles, in the order of the file.
    passes : tuple of Pass
        Lambdas that were tried for a target, in order; empty without a target.
    ssimulacra2 : float or None
        Score of the file, if that is the target.
    seconds : float
        Time that coding took; of pictures that were coded together, an equal share.
    source : array
        The samples that were encoded.
    measured : Statistics or None
        Statistics of the tiles; None if they follow from the samples.
    """

    header: Header
    lam: float
    data: bytes = b""
    samples: Samples = field(default_factory=_no_samples)
    layers: tuple[LayerCoding, ...] = ()
    passes: tuple[Pass, ...] = ()
    ssimulacra2: float | None = None
    seconds: float = 0.0
    source: Samples = field(default_factory=_no_samples)
    measured: Statistics | None = None

    @cached_property
    def statistics(self) -> Statistics:
        """Squared error, largest error, sums over the traces, and backend."""
        pairs = [(self.source, self.samples)]
        return self.measured or Statistics.of(Levels.of(self.header), pairs, self.layers)

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self.header.file_bytes

    @property
    def jpeg_bytes(self) -> int:
        """Size of the JPEG file that is kept; 0 if samples are coded."""
        return self.layers[0].jpeg_bytes if self.layers else 0

    @property
    def distortion(self) -> float:
        """Squared error of the picture; see ``distortion.distortion``."""
        return self.statistics.distortion

    @property
    def max_error(self) -> int:
        """Largest difference of a sample."""
        return self.statistics.max_error

    @property
    def totals(self) -> Totals:
        """Sums over the traces of all layers."""
        return self.statistics.totals

    @property
    def backend(self) -> str:
        """Name of the backend that coded the first layer."""
        return self.layers[0].backend if self.layers else self.statistics.backend

    @property
    def trace(self) -> Trace:
        """Trace of the first layer; a gray picture without tiles has one layer.

        Raises
        ------
        ValueError
            If the file was written tile by tile.
        """
        if not self.layers or self.layers[0].trace is None:
            raise ValueError("trace: a file that was written tile by tile has totals only")
        return self.layers[0].trace
