"""A connection to a cluster that is made when it is first needed."""

import contextlib
from typing import Any

from mmpcodec.cli.cluster.clients import connected
from mmpcodec.cli.cluster.places import Cluster
from mmpcodec.cli.printing import Printer, counted


class Connection:
    """Connects to a cluster when its client is first asked for, until the context ends.

    Parameters
    ----------
    cluster : Cluster
    printer : Printer
        Gets a remark on the workers.
    """

    def __init__(self, cluster: Cluster, printer: Printer):
        self._cluster, self._printer = cluster, printer
        self._stack = contextlib.ExitStack()
        self._client: Any = None

    def client(self) -> Any:
        """Return the client.

        Raises
        ------
        MmpError
            As ``clients.connected``.
        """
        if self._client is None:
            where, workers, _, device = self._cluster
            self._client = self._stack.enter_context(connected(where, workers, device))
            threads = self._client.nthreads().values()
            self._printer.note(
                f"cluster: {counted(len(threads), 'worker')}, {counted(sum(threads), 'thread')}; "
                f"dashboard {self._client.dashboard_link}; tiles are the tasks"
            )
        return self._client

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
