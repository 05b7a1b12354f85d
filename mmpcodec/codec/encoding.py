"""The result of encoding a picture: the file, its layers, and the passes of a target."""

from dataclasses import dataclass

from mmpcodec.depth import BYTE
from mmpcodec.format.container import Header
from mmpcodec.format.layers import Layer
from mmpcodec.reference.filters.cross_component import NO_CROSS_COMPONENT
from mmpcodec.reference.filters.post import OFF
from mmpcodec.samples import Samples
from mmpcodec.tools import Tools
from mmpcodec.trace import Trace


@dataclass(frozen=True)
class LayerCoding:
    """A layer or a palette of a file, with statistics of its coding.

    Parameters
    ----------
    name : str
        Planes that the layer holds: "gray", "luma", "alpha", ...; or "palette".
    tools : Tools
    payload_bytes : int
    coefficients : tuple of tuple of int
        Coefficients of the post filter, by class.
    cross_component_coefficients : tuple of tuple of int
        Coefficients of the cross-component filter, by earlier plane.
    trace : Trace or None
        None if only the header was read.
    tile : int
        Number of the tile, from 0.
    backend : str
        Name of the backend that coded the layer; empty if only the header was read.
    depth : int
        Bits per sample of the layer, or bits of a number of the palette.
    entries : int
        Colours of the palette; 0 for a layer.
    transparent : bool
        Whether pixels can show the layers below the palette.
    """

    name: str
    tools: Tools
    payload_bytes: int
    coefficients: tuple[tuple[int, ...], ...] = OFF
    cross_component_coefficients: tuple[tuple[int, ...], ...] = NO_CROSS_COMPONENT
    trace: Trace | None = None
    tile: int = 0
    backend: str = ""
    depth: int = BYTE
    entries: int = 0
    transparent: bool = False

    @classmethod
    def of(
        cls, layer: Layer, depth: int, trace: Trace | None = None, backend: str = "", tile: int = 0
    ) -> "LayerCoding":
        """Describe a layer of a tile."""
        return cls(
            layer.name,
            layer.tools,
            len(layer.payload),
            layer.coefficients,
            layer.cross_component_coefficients,
            trace,
            tile,
            backend,
            depth,
        )


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


@dataclass(frozen=True)
class Encoding:
    """A file, and the samples that it decodes to.

    Parameters
    ----------
    data : bytes
        The whole file.
    samples : (H, W) or (H, W, C) array of uint8 or uint16
        The samples that a decoder returns.
    header : Header
    layers : tuple of LayerCoding
        Layers of all tiles, in the order of the file.
    lam : float
        Lambda of the file.
    passes : tuple of Pass
        Lambdas that were tried for a target, in order; empty without a target.
    ssimulacra2 : float or None
        Score of the file, if that is the target.
    """

    data: bytes
    samples: Samples
    header: Header
    layers: tuple[LayerCoding, ...]
    lam: float
    passes: tuple[Pass, ...] = ()
    ssimulacra2: float | None = None

    @property
    def backend(self) -> str:
        """Name of the backend that coded the first layer."""
        return self.layers[0].backend

    @property
    def trace(self) -> Trace:
        """Trace of the first layer. A gray picture without tiles has one layer."""
        trace = self.layers[0].trace
        assert trace is not None
        return trace
