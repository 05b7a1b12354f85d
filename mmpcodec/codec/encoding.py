"""What encoding a picture gives: the file, its layers and the passes of a target."""

from dataclasses import dataclass

import numpy as np

from mmpcodec.format.container import Header
from mmpcodec.reference.postfilter import OFF
from mmpcodec.tools import Tools
from mmpcodec.trace import Trace


@dataclass(frozen=True)
class LayerCoding:
    """A layer of a file, and what coding it left behind.

    Parameters
    ----------
    name : str
        What it holds.
    tools : Tools
    payload_bytes : int
    coefficients : Coefficients
        Of the post filter.
    trace : Trace or None
        None where only the header was read.
    tile : int
        Number of its tile.
    backend : str
        What coded it; empty where nothing did.
    """

    name: str
    tools: Tools
    payload_bytes: int
    coefficients: tuple[tuple[int, ...], ...] = OFF
    trace: Trace | None = None
    tile: int = 0
    backend: str = ""


@dataclass(frozen=True)
class Pass:
    """One lambda that the search tried.

    Parameters
    ----------
    lam : float
        0 is lossless.
    effort : int
    bytes : int
        Of the file that costs least there.
    psnr : float
        In dB, infinite where nothing is lost.
    picture : int
        Number of the picture in its batch, from 0.
    """

    lam: float
    effort: int
    bytes: int
    psnr: float
    picture: int = 0


@dataclass(frozen=True)
class Encoding:
    """A file and what it decodes to.

    Parameters
    ----------
    data : bytes
        The whole file.
    samples : (H, W) or (H, W, C) array of uint8 or uint16
        What a decoder will show.
    header : Header
    layers : tuple of LayerCoding
        Of all tiles, in the order of the file.
    lam : float
        Lambda of the file.
    passes : tuple of Pass
        What was tried for a target; empty without one.
    """

    data: bytes
    samples: np.ndarray
    header: Header
    layers: tuple[LayerCoding, ...]
    lam: float
    passes: tuple[Pass, ...] = ()

    @property
    def backend(self) -> str:
        """Name of the backend that coded the first layer."""
        return self.layers[0].backend

    @property
    def trace(self) -> Trace:
        """Of the first layer: of gray pictures without tiles the only one."""
        trace = self.layers[0].trace
        assert trace is not None
        return trace
