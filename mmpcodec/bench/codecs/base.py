"""Codecs in one shape, made from strings such as ``mmp:preset=classic,lambda=16/32``.

A string is a name and options. The option that is named like the codec's knob gives the operating
points, separated by ``/``, in place of its own ladder. Leaves other people's codecs to ``peers``.
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
    """A codec with all settings but its operating point: what makes one curve.

    Parameters
    ----------
    name : str
        The codec string without operating points, the same for the same settings.
    knob : str
        What the operating points are, such as "lambda" or "quality".
    ladder : tuple of float
        Operating points to measure.
    settings : str
        The settings, said to a reader of the results.
    versions : mapping of str to str
        Of everything that decides the bytes: other versions make other results.
    encode : callable
        ``encode(samples, point)`` gives the bytes of a whole file of an (H, W) uint8 array.
    decode : callable
        ``decode(data)`` gives the samples back.
    backend : str
        What it runs on.
    edges : callable or None
        ``edges(data)`` gives the first rows and columns of leaves or blocks, where the codec has
        them.
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
    """The codec string of a name and options, which are sorted."""
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
    """Operating points from a list, sorted, each once.

    Parameters
    ----------
    text : str
        What they belong to, for messages.
    given : str
    separator : str
    low, high : float
        Smallest and largest that is allowed.
    whole : bool
        Whether they must be integers.

    Raises
    ------
    ParameterError
        When one is not such a number, or there is none.
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
    """Processor and number of its cores that this process may use."""
    model = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    cores = processors()
    return f"{models[0] if models else model}, {cores} core{'' if cores == 1 else 's'}"
