"""A connection to a cluster that is made when it is first needed, for tiles that are tasks."""

import contextlib
import time
from typing import Any

from mmpcodec.cli.cluster.clients import connected
from mmpcodec.cli.cluster.places import Cluster
from mmpcodec.cli.cluster.workers import RunFacts, described, tell
from mmpcodec.cli.printing import Printer


class Connection:
    """Connects to a cluster when its client is first asked for, until the context ends.

    Parameters
    ----------
    cluster : Cluster
    printer : Printer
        Gets facts about the cluster, and at the end about the run.
    jobs : int
        Number of jobs of the run.
    """

    def __init__(self, cluster: Cluster, printer: Printer, jobs: int):
        self._cluster, self._printer, self._jobs = cluster, printer, jobs
        self._found: list[tuple[int, int, int]] = []
        self._started = time.monotonic()
        self._stack = contextlib.ExitStack()
        self._client: Any = None

    def client(self, tasks: str = "tiles") -> Any:
        """Return the client; ``tasks`` are what the tasks are, for messages.

        Raises
        ------
        MmpError
            As ``clients.connected``.
        """
        if self._client is None:
            where, workers, batch, device = self._cluster
            self._client = self._stack.enter_context(connected(where, workers, device))
            tell(described(self._client), self._printer)
            unused = "" if batch is None else f"; --batch {batch} has no effect"
            self._printer.note(f"{tasks} are the tasks{unused}")
        return self._client

    def seen(self, result: Any) -> None:
        """Count a result of encoding or decoding, of a picture or a book."""
        pixels = getattr(result, "pixels", None) or result.width * result.height
        self._found.append((pixels, result.input_bytes, result.output_bytes))

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        if self._client is not None and error is None:
            pixels, read, written = (
                sum(each) for each in zip((0, 0, 0), *self._found, strict=True)
            )
            failed = self._jobs - len(self._found)
            seconds = time.monotonic() - self._started
            tell(RunFacts(self._jobs, failed, pixels / 1e6, read, written, seconds), self._printer)
        self._stack.close()
