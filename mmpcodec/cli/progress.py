"""Progress bars on standard error."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple

from mmpcodec.runtime.files import printable


class Bar(NamedTuple):
    """The progress bar of one file.

    Parameters
    ----------
    advance : callable
        ``advance(done, total)`` sets the progress, in fragments.
    say : callable
        ``say(text)`` shows a text beside the name of the file.
    """

    advance: Callable[[int, int], None] = lambda done, total: None
    say: Callable[[str], None] = lambda text: None


class ProgressBars:
    """A context manager that shows a bar for each file being processed.

    Parameters
    ----------
    shown : bool
        Whether bars are drawn at all.
    """

    def __init__(self, shown: bool):
        self._bars = None
        if shown:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            self._bars = Progress(
                TextColumn("{task.fields[name]}", markup=False),
                BarColumn(),
                TextColumn("{task.percentage:>3.0f} %"),
                TimeRemainingColumn(),
                console=Console(stderr=True, soft_wrap=True),
                transient=True,
                # otherwise rich sends it to standard error
                redirect_stdout=sys.stdout is not None and sys.stdout.isatty(),
            )

    def __enter__(self) -> "ProgressBars":
        if self._bars is not None:
            self._bars.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._bars is not None:
            self._bars.stop()

    @contextlib.contextmanager
    def follow(self, name: str) -> Iterator[Bar]:
        """Show a bar for a file while the context lasts."""
        if self._bars is None:
            yield Bar()
            return
        bars, name = self._bars, printable(name)
        task = bars.add_task("", name=name, total=None)
        try:
            yield Bar(
                lambda done, total: bars.update(task, completed=done, total=total),
                lambda text: bars.update(task, name=f"{name}, {text}"),
            )
        finally:
            bars.remove_task(task)
