"""The interface of codecs, and codec strings such as ``mmp:preset=classic,lambda=16/32``.

A codec string is a name with options. The option that is named like the codec's knob gives the
operating points, separated by ``/``, in place of the default ladder.
"""

import functools
import math
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from mmpcodec.depth import BYTE
from mmpcodec.errors import ParameterError
from mmpcodec.runtime.machine import processors
from mmpcodec.samples import Form

OURS = "mmp"
CHROMA = "chroma"
"""Option of the codecs that code RGB at 4:4:4 and at 4:2:0."""
LAMBDAS = (8.0, 16.0, 32.0, 64.0, 128.0, 256.0)


_SWITCH = {"on": True, "true": True, "off": False, "false": False}


@dataclass(frozen=True)
class SampleKind:
    """The samples that a codec gets and returns.

    Parameters
    ----------
    form : Form
    depth : int
        Bits per sample, 1 to 16.
    """

    form: Form = Form.GRAY
    depth: int = BYTE

    @property
    def colour(self) -> bool:
        """Whether a pixel has red, green and blue."""
        return self.form.colours == 3

    @property
    def alpha(self) -> bool:
        """Whether a pixel has alpha."""
        return self.form.has_alpha

    @property
    def planes(self) -> str:
        """The form in words: "RGB with alpha"."""
        return self.form.title


GRAY, RGB = SampleKind(), SampleKind(Form.RGB)
"""8-bit gray, and 8-bit RGB."""


@dataclass(frozen=True)
class Codec:
    """A codec with all settings except the operating point; it yields one curve.

    It codes samples of one ``SampleKind``.

    Parameters
    ----------
    name : str
        The codec string without operating points; equal settings give equal strings.
    knob : str
        Name of the quantity that an operating point sets, such as "lambda" or "quality".
    ladder : tuple of float
        Operating points to measure.
    settings : str
        Description of the settings for reports.
    versions : mapping of str to str
        Versions of all software that determines the bytes. Results of different versions have
        different keys.
    encode : callable
        ``encode(samples, point)`` returns the bytes of a file for an (H, W) or (H, W, C) array of
        uint8 or uint16.
    decode : callable
        ``decode(data)`` returns the samples.
    backend : str
        Hardware that the codec runs on.
    edges : callable or None
        ``edges(data)`` returns two bool arrays, of the samples in the first row and in the first
        column of a leaf or block of the first layer, or None. None if the codec has neither leaves
        nor blocks.
    suffix : str or None
        Suffix of the files, if a page can decode them to the samples that ``decode`` returns: that
        of mmp, or of a format that all browsers know. A sweep keeps such files.
    """

    name: str
    knob: str
    ladder: tuple[float, ...]
    settings: str
    versions: Mapping[str, str]
    encode: Callable[[np.ndarray, float], bytes]
    decode: Callable[[bytes], np.ndarray]
    backend: str = "cpu"
    edges: Callable[[bytes], tuple[np.ndarray, np.ndarray] | None] | None = field(
        default=None, compare=False
    )
    suffix: str | None = None


def refusing(codec: Codec, reason: str) -> Codec:
    """Return a codec of one operating point that raises a ParameterError: its name and a reason."""

    def encode(samples: np.ndarray, point: float) -> bytes:
        raise ParameterError(f"{codec.name}: {reason}")

    return replace(codec, ladder=codec.ladder[:1], settings=reason, encode=encode)


def parse(text: str) -> tuple[str, dict[str, str]]:
    """Return the name and options of a codec string.

    Raises
    ------
    ParameterError
        When an option has no value or is given twice.
    """
    name, _, rest = text.strip().partition(":")
    options: dict[str, str] = {}
    for part in filter(None, rest.split(",")):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not (key and equals and value):
            raise ParameterError(f"codec {text!r}: option {part!r} must be name=value")
        if key in options:
            raise ParameterError(f"codec {text!r}: option {key} is given twice")
        options[key] = value
    return name, options


def spelled(name: str, options: Mapping[str, Any]) -> str:
    """Return the codec string of a name and options, sorted by option."""
    rest = ",".join(f"{key}={options[key]}" for key in sorted(options))
    return f"{name}:{rest}" if rest else name


def operating_points(
    text: str,
    given: str,
    separator: str = "/",
    *,
    low: float = 0.0,
    high: float = math.inf,
    whole: bool = False,
) -> tuple[float, ...]:
    """Parse a list of operating points; the result is sorted and has no duplicates.

    Parameters
    ----------
    text : str
        Name of the option, for errors.
    given : str
        Numbers with separators.
    separator : str
    low, high : float
        Smallest and largest allowed number.
    whole : bool
        Whether the numbers must be integers.

    Raises
    ------
    ParameterError
        When a number is missing, out of range or not finite.
    """
    values = []
    for part in given.split(separator):
        try:
            value = float(part)
        except ValueError:
            value = math.nan
        if not (low <= value <= high and math.isfinite(value)) or (whole and value % 1):
            kind = "an integer" if whole else "a finite number"
            upper = "" if math.isinf(high) else f" to {high:g}"
            raise ParameterError(
                f"{text} = {given!r}: {part.strip()!r} must be {kind} from {low:g}{upper}"
            )
        values.append(value)
    return tuple(sorted(set(values)))


@functools.cache
def machine() -> str:
    """Return the processor model and the number of cores that this process may use."""
    model = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    cores = processors()
    return f"{models[0] if models else model}, {cores} core{'' if cores == 1 else 's'}"
