"""Print the results of commands, as text or as JSON."""

import contextlib
import json
import math
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from mmpcodec.cli.exits import to_stderr
from mmpcodec.errors import PictureWarning
from mmpcodec.runtime.files import STANDARD, printable

if TYPE_CHECKING:
    from mmpcodec.metadata import Calibration
    from mmpcodec.params import EncodeParams
    from mmpcodec.tools import Tools


class Facts(Protocol):
    """The result of one job."""

    def as_dict(self) -> dict[str, Any]:
        """Return the result as JSON can hold it."""

    def text(self, verbose: bool) -> str:
        """Return the result as one or more lines of text."""


class Printer(NamedTuple):
    """Prints the results of jobs.

    Parameters
    ----------
    as_json : bool
        Print one JSON object per line.
    quiet : bool
        Print nothing.
    verbose : bool
        Print the longer text.
    to_stderr : bool
        Print to standard error, because an output file goes to standard output.
    """

    as_json: bool = False
    quiet: bool = False
    verbose: bool = False
    to_stderr: bool = False

    @property
    def shows_progress(self) -> bool:
        """Whether progress bars appear: on a terminal, without --quiet and --json."""
        seen = sys.stderr is not None and sys.stderr.isatty()
        return seen and not self.quiet and not self.as_json

    def note(self, line: str) -> None:
        """Print a remark on standard error."""
        if not self.quiet:
            to_stderr(f"mmp: {printable(line)}")

    def show(self, facts: Facts, left_out: "Remarks | None" = None) -> None:
        """Print the result of one job; in JSON with what was left out of its pictures."""
        if self.quiet:
            return
        if self.as_json:
            text = json.dumps({**facts.as_dict(), **({} if left_out is None else left_out(facts))})
        else:
            text = "\n".join(map(printable, facts.text(self.verbose).split("\n")))
        if self.to_stderr:
            to_stderr(text)
        else:
            print(text, flush=True)


class Remarks:
    """What was left out of picture files, by their names in messages."""

    def __init__(self) -> None:
        self._keys: dict[str, tuple[str, ...]] = {}

    def add(self, name: str, keys: Sequence[str]) -> None:
        """Add the keys of a picture."""
        name = printable(name)
        self._keys[name] = tuple(dict.fromkeys((*self._keys.get(name, ()), *keys)))

    def of(self, *names: str | None) -> list[str]:
        """Return the keys of some pictures; ``-`` is standard input."""
        shown = ("stdin" if name == STANDARD else printable(name or "") for name in names)
        return list(dict.fromkeys(key for name in shown for key in self._keys.get(name, ())))

    def __call__(self, facts: Any) -> dict[str, list[str]]:
        """Return what JSON says of the pictures of a result; nothing if those are mmp files."""
        if getattr(facts, "of_mmp", False):
            return {}
        page = getattr(facts, "page", None)
        name = getattr(facts, "said_of", facts.input)
        name = name if page is None else f"{name}: page {page}"
        return {"left_out": self.of(name, getattr(facts, "partner", None))}


@contextlib.contextmanager
def remarks_noted(note: Callable[[str], None]) -> Iterator[Remarks]:
    """Pass what the library says about pictures to ``note``, while the context lasts.

    A remark is passed once, even if a picture is read several times.
    """
    others = warnings.showwarning
    left_out, said = Remarks(), set[str]()

    def show(message: Warning | str, category: type[Warning], *rest: Any, **named: Any) -> None:
        if not isinstance(message, PictureWarning):
            others(message, category, *rest, **named)
            return
        left_out.add(message.name, message.left_out)
        if str(message) not in said:
            said.add(str(message))
            note(str(message))

    warnings.showwarning = show
    try:
        yield left_out
    finally:
        warnings.showwarning = others


def tools_text(tools: "Tools") -> str:
    """Return the coding of a layer and its tools in one line, then those of trees among blocks."""
    from mmpcodec.tools import TABLES, BlockTools

    table = TABLES[tools.coding].values()
    found = [f"{tool.title} {_value_text(getattr(tools, tool.name))}" for tool in table]
    if isinstance(tools, BlockTools) and tools.trees:
        found.append(tools_text(tools.trees))
    return ", ".join([tools.coding, *found])


def rate_text(params: "EncodeParams") -> str:
    """Return the lambda of parameters, or the quality from which it follows, and the aim."""
    rate = f"lambda {params.lam:g}"
    if params.quality is not None:
        rate = f"quality {params.quality:g}, usual lambda {params.lam:.4g}"
    return f"{rate}, tune {params.tune}"


def _value_text(value: Any) -> str:
    if isinstance(value, Enum):
        return value.name.lower()
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)


def finite(number: float) -> float | None:
    """Return a number for JSON, which has no infinities: None for these."""
    return number if math.isfinite(number) else None


def quality_text(psnr: float, ssimulacra2: float | None = None) -> str:
    """Return the PSNR in dB, and a score if there is one, as text; "lossless" if infinite."""
    if math.isinf(psnr):
        return "lossless"
    score = "" if ssimulacra2 is None else f", SSIMULACRA2 {ssimulacra2:.2f}"
    return f"PSNR {psnr:.2f} dB{score}"


def error_text(error: int, calibration: "Calibration | None") -> str:
    """Return an error in samples, and in the unit of a calibration: "3 (1.5 HU)"."""
    if calibration is None or (abs(calibration.slope) == 1 and not calibration.unit):
        return str(error)
    return f"{error} ({abs(calibration.slope) * error:g} {calibration.unit}".rstrip() + ")"


def counted(number: int, thing: str) -> str:
    """Return a number with its noun: "1 tile", "2 tiles"."""
    return f"{number} {thing}" + ("" if number == 1 else "s")


def kind_text(form: str, depth: int) -> str:
    """Return the form and depth of samples, and a comma; an empty string for 8-bit gray."""
    plain = (form, depth) == ("gray", 8)
    return "" if plain else f"{form} of {counted(depth, 'bit')}, "
