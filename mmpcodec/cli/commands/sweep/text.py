"""The output of ``mmp sweep``: measurements as they are made, and their number."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from mmpcodec.cli.exits import ExitCode, show_error
from mmpcodec.cli.printing import Printer, counted, kind_text


class Measured(NamedTuple):
    """One measurement."""

    row: dict[str, Any]

    @property
    def failed(self) -> bool:
        """Whether the codec failed."""
        return "error" in self.row

    def as_dict(self) -> dict[str, Any]:
        return self.row

    def text(self, verbose: bool) -> str:
        row = self.row
        line = f"{row['name']}: {kind_text(row['form'], row['depth'])}"
        line += f"{row['codec']}, {row['knob']} {row['point']:g}: "
        if self.failed:
            return f"{line}failed: {row['error']}"
        from mmpcodec.bench.metrics import METRICS

        quality = "lossless" if row["max_error"] == 0 else "no value"
        for key in METRICS:
            if row.get(key) is not None and row["max_error"]:
                quality = f"{METRICS[key].title} {METRICS[key].text(row[key])}"
                break
        return (
            f"{line}{row['bytes']} bytes, {row['bpp']:.3f} bpp, {quality}, "
            f"{row['encode_seconds']:.3f} s, {row['decode_seconds']:.3f} s"
        )


class Swept(NamedTuple):
    """One picture that was measured.

    Parameters
    ----------
    input : str
    output : None
    width, height : int
    settings : tuple of str
        Settings of each codec, as lines of text.
    expected : int
        Number of operating points of all codecs.
    rows : tuple of Measured
        Measurements that are not reported yet.
    """

    input: str
    output: None
    width: int
    height: int
    settings: tuple[str, ...]
    expected: int
    rows: tuple[Measured, ...]

    def as_dict(self) -> dict[str, Any]:
        return {**self._asdict(), "rows": [each.row for each in self.rows]}

    def text(self, verbose: bool) -> str:
        return "\n".join(each.text(verbose) for each in self.rows)


class Report:
    """Prints measurements and counts them."""

    def __init__(self, printer: Printer):
        self._printer = printer
        self._reported: set[tuple[str, ...]] = set()
        self._expected = self._measured = self._failed = 0

    def tell(self, settings: Sequence[str], found: Measured | None) -> None:
        """Print the settings of codecs, if they are new, and a measurement."""
        if tuple(settings) not in self._reported:
            self._reported.add(tuple(settings))
            for line in settings:
                self._printer.note(line)
        if found is None:
            return
        self._printer.show(found)
        if self._printer.quiet and found.failed:
            show_error(found.text(verbose=False))
        self._measured += 1
        self._failed += found.failed

    def add(self, swept: Swept) -> None:
        """Count a picture, and print what is not reported of it."""
        self._expected += swept.expected
        for found in (None, *swept.rows):
            self.tell(swept.settings, found)

    def end(self, out: str, code: ExitCode) -> ExitCode:
        """Print the numbers of measurements, and return the exit code of the command.

        Parameters
        ----------
        out : str
            Folder of results.
        code : ExitCode
            Says whether all pictures could be measured.
        """
        self._printer.note(
            f"{out}: {counted(self._measured, 'result')} measured, {self._failed} failed; "
            f"{self._expected - self._measured} were there or are being measured by other processes"
        )
        if self._measured and self._failed == self._measured:
            return ExitCode.FAILED
        return ExitCode.PARTLY_FAILED if self._failed and code is ExitCode.DONE else code
