"""The options of a peer: its operating points and its other settings, checked as they are read."""

from collections.abc import Mapping, Sequence
from typing import Any

from mmpcodec.bench.codecs.base import operating_points, spelled
from mmpcodec.errors import ParameterError

Ladder = tuple[float, ...]

_RANGES: dict[str, dict[str, Any]] = {
    "quality": {"low": 1, "high": 100, "whole": True},
    "qp": {"low": 1, "high": 51, "whole": True},
    "ratio": {"low": 1, "high": 10000},
    "psnr": {"low": 10, "high": 150},
    "distance": {"low": 0.05, "high": 25},
    "speed": {"low": 0, "high": 10, "whole": True},
    "effort": {"low": 1, "high": 10, "whole": True},
    "method": {"low": 0, "high": 6, "whole": True},
}
"""Limits of the knobs, of AVIF's speed, of JPEG XL's effort and of WebP's method."""


class Settings:
    """The options of a peer that are not yet read.

    Parameters
    ----------
    name : str
        Name of the peer.
    options : mapping of str to str
    known : sequence of str
        Names of all its options.

    Raises
    ------
    ParameterError
        For an option that is not known.
    """

    def __init__(self, name: str, options: Mapping[str, str], known: Sequence[str]):
        unknown = sorted(set(options) - set(known))
        if unknown:
            raise ParameterError(
                f"{name}: unknown option {unknown[0]!r}; known are {', '.join(sorted(known))}"
            )
        self.name = name
        self._options = dict(options)

    def ladder(self, knob: str, default: Ladder) -> Ladder:
        """Read operating points, and remove them."""
        given = self._options.pop(knob, None)
        if given is None:
            return default
        return operating_points(f"{self.name} {knob}", given, **_RANGES[knob])

    def spelled(self) -> str:
        """Return the codec string of the options that are left: all but operating points."""
        return spelled(self.name, self._options)

    def option(self, option: str) -> str | None:
        """Read an option as it was given; None if it was not."""
        return self._options.get(option)

    def level(self, option: str, default: int) -> int:
        """Read an integer."""
        text = self._options.get(option, str(default))
        (value,) = operating_points(f"{self.name} {option}", text, ",", **_RANGES[option])
        return int(value)

    def choice(self, option: str, allowed: Sequence[str], default: str) -> str:
        """Read one of several words."""
        value = self._options.get(option, default)
        if value not in allowed:
            raise ParameterError(
                f"{self.name}: {option} = {value!r}: must be one of {', '.join(allowed)}"
            )
        return value
