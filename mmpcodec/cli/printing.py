"""Printing what was found out: lines for people or JSON for machines."""

import json
import math
import sys
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

from mmpcodec.tools import TABLE, Tools


class Facts(Protocol):
    """What one job found out."""

    def as_dict(self) -> dict[str, Any]:
        """For machines: what JSON can hold."""

    def text(self, verbose: bool) -> str:
        """One or more lines for people."""


@dataclass(frozen=True)
class Printer:
    """Prints facts.

    Parameters
    ----------
    as_json : bool
        One JSON object a line.
    quiet : bool
        Print nothing.
    verbose : bool
        Print more.
    to_stderr : bool
        Standard output is taken by a picture.
    """

    as_json: bool = False
    quiet: bool = False
    verbose: bool = False
    to_stderr: bool = False

    @property
    def shows_progress(self) -> bool:
        """Whether somebody is there to watch."""
        return sys.stderr.isatty() and not self.quiet and not self.as_json

    def note(self, line: str) -> None:
        """Print a remark on the whole run, on standard error."""
        if not self.quiet:
            print(f"mmp: {line}", file=sys.stderr, flush=True)

    def show(self, facts: Facts) -> None:
        """Print the facts of one job."""
        if self.quiet:
            return
        text = json.dumps(facts.as_dict()) if self.as_json else facts.text(self.verbose)
        print(text, file=sys.stderr if self.to_stderr else sys.stdout, flush=True)


def tools_text(tools: Tools) -> str:
    """Return the normative tools that have an effect in a layer, in one line."""
    return ", ".join(
        f"{tool.title} {_value_text(getattr(tools, tool.name))}"
        for tool in TABLE.values()
        if tool.name not in tools.without_effect
    )


def _value_text(value: Any) -> str:
    if isinstance(value, Enum):
        return value.name.lower()
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)


def finite(number: float) -> float | None:
    """For JSON, which knows no infinities."""
    return number if math.isfinite(number) else None


def quality_text(psnr: float) -> str:
    """PSNR in dB as it is shown; infinite is lossless."""
    return f"PSNR {psnr:.2f} dB" if math.isfinite(psnr) else "lossless"


def counted(number: int, thing: str) -> str:
    """How many of them: "1 tile", "2 tiles"."""
    return f"{number} {thing}" + ("" if number == 1 else "s")
