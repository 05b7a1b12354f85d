"""Options of an encoder: their names, types and defaults, for every function that takes them."""

from collections.abc import Callable, Sequence
from inspect import Parameter, signature
from typing import Any, TypedDict, TypeVar, get_args, get_type_hints

from mmpcodec.errors import ParameterError
from mmpcodec.presets import DEFAULT_EFFORT
from mmpcodec.tools import ToolOptions

AUTO = "auto"
RATE_MODELS = ("adaptive", "log2")
RATES = ("lam", "quality", "target_size", "target_bpp", "target_psnr", "target_ssimulacra2")
"""Options of the rate. At most one of them is given."""
DEFAULTS: dict[str, Any] = {
    "preset": AUTO,
    "effort": DEFAULT_EFFORT,
    "rate_model": RATE_MODELS[0],
    "backend": AUTO,
}
"""Values of options that are not given; that of the others is None."""


class ParamOptions(ToolOptions, total=False):
    """Options that decide about the tools of a file; see ``EncodeOptions``."""

    preset: str
    effort: int
    rate_model: str


class TileOptions(ParamOptions, total=False):
    """Options that decide about the bytes of a tile at one lambda; see ``EncodeOptions``."""

    quality: float | None


class CodecOptions(TileOptions, total=False):
    """Options that decide about the bytes of a picture in one tile; see ``EncodeOptions``."""

    target_size: int | None
    target_bpp: float | None
    target_psnr: float | None
    target_ssimulacra2: float | None


class RunOptions(TypedDict, total=False):
    """Options that say how a picture is cut, where it is coded and who follows that."""

    tile_size: int | None
    backend: str
    device: int | str | Sequence[int] | None
    threads: int | None
    progress: Callable[[int, int], bool] | None
    on_pass: Callable[[Any], Any] | None
    roi: Any


class EncodeOptions(CodecOptions, RunOptions, total=False):
    """Options of ``encode`` besides the picture, lambda, the depth and the metadata.

    None stands for the default of an option. At most one of lambda, ``quality`` and the targets may
    be given; the default is quality 85, lambda 32 with a maximal error, 0 for measurements
    and pictures of 1 bit.

    Attributes
    ----------
    quality : float
        0 to 100 (lossless): the score of SSIMULACRA2 to aim at, by a prediction.
    target_size : int
        Bytes: the file of the least error that is not larger, lossless if that fits.
    target_bpp : float
        Bits per pixel: as ``target_size``.
    target_psnr : float
        dB: the smallest file found whose PSNR is not lower. PSNR is that of the whole decoded
        picture without alpha, with the width of its range as peak.
    target_ssimulacra2 : float
        -100 to 100: the smallest file found whose SSIMULACRA2 is not lower; see ``Target``.
    preset : {"auto", "best", "photo", "text", "mixed", "lossless", "plain", "classic"}
        Set of tools. "auto" tries those that a classification of the samples recommends, "best"
        all; both skip presets on which a given tool has no effect. Only "photo" codes samples of
        more than 8 bits with loss.
    effort : int
        Effort of the search, 1 (fast) to 9.
    rate_model : {"adaptive", "log2"}
        See ``EncodeParams``.
    tune : {"psnr", "eye", "auto"}
        What predicted blocks aim at, see ``EncodeParams``. The default is "psnr" with a lambda, a
        maximal error or a PSNR, else "auto".
    palette : bool
        Whether tiles may have palettes, see ``EncodeParams``; the default is True with "auto" and
        "best".
    range : (int, int)
        See ``EncodeParams``.
    levels : bool
        Whether the file holds levels: renditions of half the size, a quarter and so on, down to 256
        samples on the longer side, for at most 35 % more bytes; the larger ones that do not fit are
        left out, see ``codec.tiles.renditions.encode_levels``. Not with a target of bytes.
    max_error : int or str
        Most that a decoded sample differs from its source: 0 to 32767 samples, or a text with the
        unit of the picture, such as "2HU".
    tile_size : int or None
        Height and width of tiles, which are coded independently, 64 to 2**24; 0 for one tile. None
        takes tiles of 512 to 768 for a picture of more than 2**20 pixels that looks like a
        photograph, else one tile.
    backend : {"auto", "cpu", "cuda", "reference"}
        Hardware to run on. Backends write equal bytes, but search for predicted blocks each in its
        own way. "auto" takes cuda where that codes all tools and is predicted to be faster. A named
        backend leaves out tools of presets that it lacks. Candidates of preset "auto" that it
        cannot code at all, and alpha, run on another backend.
    device : int, str or sequence of int
        CUDA devices to run on, which implies backend "cuda": a number, several numbers, "0,1" or
        "all". Several devices share pictures and tiles; a tile is coded on one device. None takes
        the current device of CuPy, and for a CuPy array the device that holds it. The devices
        never change a byte.
    threads : int
        Threads of the processor; None takes all processors. The number never changes a byte.
    progress : callable
        ``progress(done, total) -> bool`` gets the numbers of finished and of all 16x16 fragments,
        over all planes of all pictures. With several devices it is called from several threads, by
        one at a time. With a target, both count one picture and start again in each pass.
        Returning False cancels.
    on_pass : callable
        ``on_pass(Pass)`` is called after each lambda that is tried for a target.
    roi : (H, W) array of int or bool; of several pictures, a sequence of arrays and None
        By how many quarters of a doubling the quantisation step is finer at a pixel, -24 to 24; see
        ``codec.weighting.maps``. It leaves out sets of tools without predicted blocks.
    **tools
        The other options override the preset: ``prediction``, ``dictionary`` and ``lossless``
        choose the coding, the rest are fields of ``TreeTools``, ``BlockTools`` and
        ``LosslessTools``. A partition can also be given by its name or number.
    """

    levels: bool


Function = TypeVar("Function", bound=Callable[..., Any])


def names_of(options: type) -> list[str]:
    """Return the names of options, those of single tools last."""
    return sorted(options.__annotations__, key=lambda name: name in ToolOptions.__annotations__)


def written_out(function: Function) -> Function:
    """Give a function a signature in which its ``**options`` have names, for help and completion.

    Parameters
    ----------
    function : callable
        Its last parameter is ``**options: Unpack[...]`` of a class of this module.

    Examples
    --------
    >>> from inspect import signature
    >>> import mmpcodec
    >>> signature(mmpcodec.encode).parameters["effort"].default
    2
    """
    whole = signature(function)
    *own, loose = whole.parameters.values()
    (options,) = get_args(loose.annotation)
    kinds = get_type_hints(options)
    named = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=DEFAULTS.get(name), annotation=kinds[name])
        for name in names_of(options)
    ]
    function.__signature__ = whole.replace(parameters=[*own, *named])  # type: ignore[attr-defined]
    return function


def given_of(options: Any, kind: type | None = None) -> dict[str, Any]:
    """Return the options that are not None; check that a class of options has their names.

    Raises
    ------
    ParameterError
        If an option is unknown.
    """
    if kind is not None and (unknown := sorted(options.keys() - {"lam", *kind.__annotations__})):
        known = ", ".join(("lam", *names_of(kind)))
        raise ParameterError(f"unknown option {unknown[0]!r}: known are {known}")
    return {name: value for name, value in options.items() if value is not None}
