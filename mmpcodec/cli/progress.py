"""Progress bars on standard error."""

import contextlib
import sys
from collections.abc import Callable, Iterator


class ProgressBars:
    """A bar for each file at work, while this is entered.

    Parameters
    ----------
    shown : bool
        False draws nothing.
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
                redirect_stdout=sys.stdout.isatty(),  # else it would go to standard error
            )

    def __enter__(self) -> "ProgressBars":
        if self._bars is not None:
            self._bars.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._bars is not None:
            self._bars.stop()

    @contextlib.contextmanager
    def follow(self, name: str) -> Iterator[Callable[[int, int], None]]:
        """Show a bar for a file; the callable that it gives takes fragments done and in all."""
        if self._bars is None:
            yield lambda done, total: None
            return
        bars = self._bars
        task = bars.add_task("", name=name, total=None)
        try:
            yield lambda done, total: bars.update(task, completed=done, total=total)
        finally:
            bars.remove_task(task)
