"""The interface of codecs, and codec strings such as ``mmp:preset=classic,lambda=16/32``.

A codec string is a name with options. The option with the name of the knob of the codec gives the
operating points, separated by ``/``, in place of the default ladder.
"""

import functools
import math
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mmpcodec.errors import ParameterError
from mmpcodec.runtime.machine import processors

OURS = "mmp"
LAMBDAS = (8.0, 16.0, 32.0, 64.0, 128.0, 256.0)

Edges = Callable[[bytes], tuple[np.ndarray, np.ndarray]]

_SWITCH = {"on": True, "true": True, "off": False, "false": False}


@dataclass(frozen=True)
class Codec:
    """A codec with all settings but its operating point; it yields one curve.

    Parameters
    ----------
    name : str
        The codec string without operating points, the same for the same settings.
    knob : str
        Name of the quantity that an operating point sets, such as "lambda" or "quality".
    ladder : tuple of float
        Operating points to measure.
    settings : str
        The settings, in words, for reports.
    versions : mapping of str to str
        Versions of all software that decides the bytes. Results of other versions are separate.
    encode : callable
        ``encode(samples, point)`` returns the bytes of a file for an (H, W) uint8 array.
    decode : callable
        ``decode(data)`` returns the samples.
    backend : str
        Hardware that it runs on.
    edges : callable or None
        ``edges(data)`` returns where the first rows and columns of leaves or blocks lie; None if
        the codec has none.
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


def parse(text: str) -> tuple[str, dict[str, str]]:
    """Name and options of a codec string.

    Raises
    ------
    ParameterError
        When an option has no value, or is given twice.
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
    """The codec string of a name and options, sorted by option."""
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
        Least and largest allowed number.
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
    """Processor model and number of cores that this process may use."""
    model = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    cores = processors()
    return f"{models[0] if models else model}, {cores} core{'' if cores == 1 else 's'}"
