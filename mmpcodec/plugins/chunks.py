"""Chunks of arrays coded as pictures; numcodecs and zarr share this module."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import numpy as np

import mmpcodec
from mmpcodec.checks import check_int
from mmpcodec.codec.rate_control.targets import request_of
from mmpcodec.depth import BYTE, MAX_DEPTH, most, sample_type
from mmpcodec.errors import CorruptStream, ParameterError
from mmpcodec.format.container import Header
from mmpcodec.format.tiles import Area
from mmpcodec.limits import DecodeLimits
from mmpcodec.metadata import Metadata
from mmpcodec.opening.header import read_header
from mmpcodec.options import RATES, CodecOptions, given_of, written_out
from mmpcodec.quality import MAX_QUALITY
from mmpcodec.reference.trees.fragments import FRAGMENT_SIZE, fragments_in
from mmpcodec.runtime.arrays import as_array, module_of
from mmpcodec.samples import MAX_DIMENSION, Form
from mmpcodec.solvers.selection.keys import from_keys, to_keys

SECTION = "Container"
LOSSLESS = 0.0
KEYWORD = "mmpcodec array"
"""Keyword of the text that describes a chunk."""
NARROW = ("bool", "uint8", "uint16", "int8", "int16", "float16")
WIDE = ("uint32", "int32", "float32")
KINDS = tuple(map(np.dtype, (*NARROW, *WIDE)))
"""The dtypes of chunks. A number of a wide one takes two samples, its high and its low 16 bits."""
DEPTHS = {
    np.dtype(np.uint8): range(1, BYTE + 1),
    np.dtype(np.uint16): range(BYTE + 1, MAX_DEPTH + 1),
}
"""Depths that decode to each dtype; others have one depth."""
FIRST_NUMBER = {"uint16": 0, "int16": -32768}
"""Number that sample 0 stands for, of the dtypes of more than 8 bits that can be lossy."""
LEAST_NUMBER, MOST_NUMBER = -32768, 65535
MOST_SAMPLES = DecodeLimits().max_samples


@written_out
def check_options(
    lam: float | None = None, *, depth: int | None = None, **options: Unpack[CodecOptions]
) -> dict[str, Any]:
    """Check the options of a codec and return them as keywords of ``mmpcodec.encode``.

    The other options are those of ``EncodeOptions`` that decide about the bytes. ``range`` has
    the numbers that count as black and white, as those of the chunks are: from -32768 for
    int16. Chunks of 16 bits that are lossy need it, or a depth, because one chunk does not
    know what the others use.

    Parameters
    ----------
    lam : float or None
        As in ``mmpcodec.encode``. Without it, a quality, a target and a maximal error, it is 0,
        which is lossless.
    depth : int or None
        Bits of a sample: 1 to 8 for uint8, 9 to 16 for uint16. None means 8 or 16.

    Returns
    -------
    dict
        The options that are not None. NumPy numbers become Python numbers, which JSON can hold.

    Raises
    ------
    ParameterError
        If an option is unknown or out of range.
    """
    given = given_of({"lam": lam, **options}, CodecOptions)
    if not given.keys() & RATES and not given.get("max_error"):
        given = {"lam": LOSSLESS, **given}
    levels = given.pop("range", None)
    request_of(**given)
    if levels is not None:
        given["range"] = _checked_range(levels, LEAST_NUMBER, MOST_NUMBER)
    if depth is not None:
        given["depth"] = check_int("depth", depth, 1, MAX_DEPTH)
    return {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in given.items()
    }


class WithOptions:
    """A codec with the options of ``check_options``."""

    @written_out
    def __init__(
        self,
        lam: float | None = None,
        *,
        depth: int | None = None,
        **options: Unpack[CodecOptions],
    ):
        self._options = check_options(lam, depth=depth, **options)

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self._options.items())
        return f"{type(self).__name__}({given})"


def check_type(kind: Any, options: Mapping[str, Any]) -> np.dtype:
    """Check that a codec with these options can hold arrays of a dtype, and return the dtype.

    Raises
    ------
    ParameterError
        If the dtype is not supported or does not fit the depth, or if the options are lossy and the
        dtype can only be stored without loss.
    """
    kind = np.dtype(kind)
    if kind not in KINDS:
        raise ParameterError(
            f"chunk of type {kind}: supported are {', '.join(one.name for one in KINDS)}, in the "
            "machine's byte order; astype converts an array, another codec stores it"
        )
    depth = options.get("depth")
    if depth is not None:
        bits = DEPTHS.get(kind)
        if bits is None:
            raise ParameterError(f"depth = {depth}: must be None for chunks of {kind}")
        check_int("depth", depth, bits[0], bits[-1], f" for chunks of {kind}")
    if (kind.kind == "f" or _is_wide(kind)) and not _is_lossless(options):
        lossy = ", ".join(
            f"{name} = {options[name]}" for name in (*RATES, "max_error") if name in options
        )
        raise ParameterError(
            f"{lossy}: chunks of {kind} are stored without loss only; leave it out, or scale the "
            "numbers to uint16"
        )
    levels = options.get("range")
    if levels is not None and kind.name not in FIRST_NUMBER:
        raise ParameterError(f"range = {levels}: must be None for chunks of {kind}")
    if levels is not None:
        first = FIRST_NUMBER[kind.name]
        _checked_range(levels, first, first + MOST_NUMBER, f" for chunks of {kind}")
    elif kind.name in FIRST_NUMBER and depth is None and _scales(options):
        raise ParameterError(
            f"range: must be given for lossy chunks of {kind}, because all chunks share it; "
            "range = (0, 4095) suits numbers of 12 bits"
        )
    return kind


def _checked_range(levels: Any, low: int, high: int, note: str = "") -> tuple[int, int]:
    """Return two numbers, the lower one first, as a tuple of int."""
    numbers = list(levels) if isinstance(levels, Sequence | np.ndarray) else []
    found = [check_int("range", number, low, high, note) for number in numbers]
    if len(found) != 2 or found[0] >= found[1]:
        raise ParameterError(f"range = {levels!r}: must be two numbers, the lower one first")
    return found[0], found[1]


def _scales(options: Mapping[str, Any]) -> bool:
    """Return whether the loss depends on what counts as black and white."""
    sizes = {"target_size", "target_bpp", "max_error"}
    return not _is_lossless(options) and not any(options.get(name) for name in sizes)


def _is_wide(kind: np.dtype) -> bool:
    return kind.name in WIDE


def _is_lossless(options: Mapping[str, Any]) -> bool:
    if options.get("max_error"):
        return False
    if options.get("preset") == "lossless" or options.get("lossless"):
        return True
    return options.get("lam") == LOSSLESS or options.get("quality") == MAX_QUALITY


def core_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of a chunk without its leading axes of length 1; two axes always stay.

    Raises
    ------
    ParameterError
        If the chunk has fewer than two axes, or no number.
    """
    if len(shape) < 2 or math.prod(shape) == 0:
        raise ParameterError(
            f"chunk of shape {tuple(shape)}: must have at least two axes and one number"
        )
    core = tuple(shape)
    while len(core) > 2 and core[0] == 1:
        core = core[1:]
    return core


def picture_shape(shape: tuple[int, ...], kind: Any = np.uint8) -> tuple[int, ...]:
    """Return the shape of the picture that holds a chunk.

    The planes of the chunk are stacked. If it has three axes or more and the last one has a length
    of 1 to 4, a plane is (height, width, colours), else (height, width). Numbers of 32 bits are two
    samples, and their colours are stacked too.

    Raises
    ------
    ParameterError
        If the chunk has fewer than two axes, no number, or more than a decoder takes.

    Examples
    --------
    >>> from mmpcodec.plugins.chunks import picture_shape
    >>> picture_shape((1, 1, 64, 48)), picture_shape((1, 64, 48, 3)), picture_shape((5, 64, 48))
    ((64, 48), (64, 48, 3), (320, 48))
    >>> picture_shape((5, 64, 48), "float32"), picture_shape((64, 48, 3), "float32")
    ((320, 48, 2), (192, 48, 2))
    """
    height, width, *colours = found = _stacked(core_shape(shape), np.dtype(kind))
    samples = fragments_in((height, width)) * FRAGMENT_SIZE**2 * math.prod(colours)
    if samples > MOST_SAMPLES or max(height, width) > MAX_DIMENSION:
        raise ParameterError(
            f"chunk of shape {tuple(shape)}: has {height} rows of {width} pixels and {samples} "
            f"samples; allowed are {MAX_DIMENSION} rows and pixels, and {MOST_SAMPLES} samples"
        )
    return found


def _stacked(core: tuple[int, ...], kind: np.dtype) -> tuple[int, ...]:
    """Return the shape of the picture that stacks the planes of a chunk."""
    *above, width, colours = core if _has_colours(core) else (*core, 1)
    height = math.prod(above)
    if _is_wide(kind):
        return height * colours, width, 2
    return (height, width) if colours == 1 else (height, width, colours)


def _has_colours(core: tuple[int, ...]) -> bool:
    return len(core) > 2 and core[-1] <= len(Form)


def encode_chunk(chunk: Any, options: Mapping[str, Any]) -> bytes:
    """Encode a chunk as an mmp file.

    The samples of the file have the order of the numbers. A text of the file names the dtype and
    the shape of the chunk if they are not those of the samples. Of a chunk in Fortran order the
    transpose is coded, and the text says so.

    Parameters
    ----------
    chunk : array of one of ``KINDS``
        See ``picture_shape``.
    options : mapping
        From ``check_options``.

    Raises
    ------
    ParameterError
        If the shape or the dtype is not supported, or the dtype does not fit the options.
    MmpError
        Any error of ``mmpcodec.encode``.
    """
    chunk = as_array("chunk", chunk)
    kind = check_type(chunk.dtype, options)
    xp = module_of(chunk)
    numbers = chunk.reshape(core_shape(chunk.shape))
    turned = numbers.flags.f_contiguous and not numbers.flags.c_contiguous
    numbers = numbers.T if turned else numbers
    picture_shape(numbers.shape, kind)  # checks the size
    core, shape = numbers.shape, _stacked(numbers.shape, kind)
    if _is_wide(kind) and _has_colours(core):
        numbers = xp.moveaxis(numbers, -1, 0)
    samples = to_keys(xp.ascontiguousarray(numbers), merge_nans=False)
    if _is_wide(kind):
        samples = xp.stack([samples >> 16, samples & 0xFFFF], axis=-1).astype(np.uint16)
    described = kind not in DEPTHS or core != shape or turned
    text = ((KEYWORD, _description(kind, core, turned)),)
    given = {
        "depth": 1 if kind.kind == "b" else None,
        "metadata": Metadata(text=text) if described else None,
        **options,
    }
    if (levels := options.get("range")) is not None:
        given["range"] = tuple(number - FIRST_NUMBER[kind.name] for number in levels)
    elif options.get("depth", 0) > BYTE and not _is_lossless(options):
        given["range"] = 0, most(options["depth"])
    return mmpcodec.encode(samples.reshape(shape), **given)


def _description(kind: np.dtype, core: tuple[int, ...], turned: bool) -> str:
    return f"{kind.name} {'x'.join(map(str, core))}" + (" transposed" if turned else "")


def decode_chunk(data: Any, most: int | None = None, out: np.ndarray | None = None) -> np.ndarray:
    """Decode a chunk that ``encode_chunk`` encoded.

    Parameters
    ----------
    data : bytes-like
        An mmp file.
    most : int or None
        Bytes of the chunk, if its shape is known: a file of a larger picture is not decoded.
    out : array or None
        Where samples of its dtype may be decoded to, if it has as many in C order.

    Returns
    -------
    array in C order, or in Fortran order if the chunk was
        Of the dtype of the chunk, and of its shape without leading axes of length 1. If it is a
        view of ``out``, ``out`` is filled.

    Raises
    ------
    FormatError
        If the file is damaged, holds more than ``most`` bytes, or describes another array than it
        holds.
    """
    limits = _limits(data, most)
    header = read_header(memoryview(data).cast("B"))
    text = dict(header.metadata.text).get(KEYWORD)
    if text is None:
        return mmpcodec.decode(data, limits=limits, out=_place(header, out))
    samples = mmpcodec.decode(data, limits=limits)
    form = r"(\w+) ([1-9]\d{,8}(?:x[1-9]\d{,8}){1,15})( transposed)?"
    match = re.fullmatch(form, text, re.ASCII)
    kind = next((one for one in KINDS if match and one.name == match[1]), None)
    core = tuple(map(int, match[2].split("x"))) if match else ()
    if kind is None or not _holds(samples, kind, core):
        raise CorruptStream(
            SECTION,
            f"text {KEYWORD!r} is {text!r}, the picture is of shape {samples.shape} and type "
            f"{samples.dtype}",
        )
    numbers = _numbers_of(samples, kind, core)
    return numbers.T if match and match[3] else numbers


def _place(header: Header, out: np.ndarray | None) -> np.ndarray | None:
    """Return ``out`` in the shape of the picture, or None if it cannot hold the samples."""
    shape = header.shape_of(Area(0, 0, header.width, header.height))
    if (
        out is None
        or out.dtype != sample_type(header.depth)
        or out.size != math.prod(shape)
        or not (out.flags.c_contiguous and out.flags.writeable)
    ):
        return None
    return out.reshape(shape)


def _limits(data: Any, most: int | None) -> DecodeLimits:
    """Return the limits for a chunk of ``most`` bytes: a sample takes a byte or two.

    Raises
    ------
    CorruptStream
        If the file holds more samples.
    """
    limits = DecodeLimits()
    if most is None:
        return limits
    header = read_header(memoryview(data).cast("B"))
    samples = header.width * header.height * header.planes
    if samples * sample_type(header.depth)().itemsize > most:
        raise CorruptStream(
            SECTION,
            f"picture of {header.width}x{header.height} pixels and {header.planes} planes in a "
            f"chunk of {most} bytes",
        )
    return limits


def _holds(samples: np.ndarray, kind: np.dtype, core: tuple[int, ...]) -> bool:
    """Return whether samples are those of a chunk of this dtype and shape."""
    return samples.shape == _stacked(core, kind) and samples.itemsize == min(kind.itemsize, 2)


def _numbers_of(samples: np.ndarray, kind: np.dtype, core: tuple[int, ...]) -> np.ndarray:
    """Return the numbers of a chunk whose picture has these samples."""
    if kind.kind == "b":
        return samples.astype(bool).reshape(core)
    if not _is_wide(kind):
        return from_keys(samples, kind).reshape(core)
    high, low = np.moveaxis(samples.astype(np.uint32), -1, 0)
    numbers = from_keys(high << 16 | low, kind)
    if not _has_colours(core):
        return numbers.reshape(core)
    planes = numbers.reshape(core[-1], *core[:-1])
    return np.ascontiguousarray(np.moveaxis(planes, 0, -1))
