"""Connections to Dask clusters: those of this machine, and those that run elsewhere."""

import asyncio
import contextlib
import json
import logging
import os
import signal
import warnings
from collections.abc import Iterator
from importlib import import_module
from multiprocessing import resource_tracker
from typing import Any

from mmpcodec.cli.signals import held
from mmpcodec.errors import MissingExtra, MmpError, ParameterError, install
from mmpcodec.runtime.machine import processors

LOCAL, CUDA = "local", "cuda"
_SCHEMES = ("tcp://", "tls://", "ucx://", "ws://", "wss://")
CONNECT_SECONDS = 10
_CLOSE_SECONDS = 1
_FOR_ITS_OWNER: dict[str, Any] = {"security": True, "dashboard_address": "127.0.0.1:0"}
"""Options of clusters of this machine. Whoever speaks with a scheduler or worker can run code in
it, so they ask for a certificate (TLS), which this process makes and keeps in memory. By default,
Dask's HTTP server listens on all interfaces."""


def check_name(where: str) -> None:
    """Check the value of ``--cluster``.

    Raises
    ------
    ParameterError
        If it names no cluster.
    """
    if where not in (LOCAL, CUDA) and not where.startswith(_SCHEMES) and not _is_file(where):
        raise ParameterError(
            f"--cluster {where}: must be local, cuda, the address of a scheduler such as "
            "tcp://host:8786, or a scheduler's file that ends in .json"
        )


@contextlib.contextmanager
def connected(where: str, workers: int | None = None, device: str | None = None) -> Iterator[Any]:
    """Connect to a cluster while the context lasts; one of this machine is started and stopped.

    Parameters
    ----------
    where : str
        "local" starts a process for each processor, "cuda" one for each CUDA device of this
        machine. Other values are a scheduler's address or file.
    workers : int or None
        Number of processes of "local" and "cuda".
    device : str or None
        Devices of "cuda", "all" or their numbers. None takes all.

    Yields
    ------
    distributed.Client

    Raises
    ------
    ParameterError
        If ``where`` names no cluster, ``workers`` is given for one that runs already, or there are
        no such devices.
    MissingExtra
        If a package is not installed.
    MmpError
        If the cluster cannot be reached.
    """
    check_name(where)
    if workers is not None and where not in (LOCAL, CUDA):
        raise ParameterError(f"--workers {workers}: the workers of {where} run already")
    distributed = _library("distributed")
    with contextlib.ExitStack() as stack:
        stack.enter_context(_without_warnings())
        if where in (LOCAL, CUDA):
            resource_tracker.ensure_running()  # its start would let SIGINT through to the workers
            with held():
                cluster = _cluster_of_machine(where, workers, device)
                stack.callback(_end, cluster)
            given: dict[str, Any] = {"address": cluster}
        else:
            given = {"address": _reachable(where)}
        try:
            with held():
                client = distributed.Client(**given, timeout=CONNECT_SECONDS, set_as_default=False)
        except OSError as error:
            raise _unreachable(where, error) from error
        stack.callback(_leave, client)
        yield client


def _reachable(where: str) -> str:
    """Return the address of a scheduler that answers.

    A client of Dask that cannot connect is noisy when it ends, so none is made before.

    Raises
    ------
    MmpError
        If none answers.
    """
    from distributed import Security
    from distributed.core import connect

    async def ask(address: str) -> None:
        known = Security().get_connection_args("client")  # of Dask's configuration
        comm = await connect(address, timeout=CONNECT_SECONDS, **known)
        await comm.close()

    try:
        address: Any = where
        if _is_file(where):
            with open(where, encoding="utf-8") as stream:
                found = json.load(stream)
            address = found.get("address") if isinstance(found, dict) else None
        if not isinstance(address, str):
            raise ValueError("it is no scheduler's file, which has an address")
        asyncio.run(ask(address))
        return address
    except Exception as error:  # what Dask raises depends on the protocol
        raise _unreachable(where, error) from error


def _unreachable(where: str, error: Exception) -> MmpError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    said = " ".join(reason.split()) or type(error).__name__
    return MmpError(f"--cluster {where}: cannot be reached: {said}")


def _leave(client: Any) -> None:
    with contextlib.suppress(Exception):  # the scheduler may be gone, and the work has its outcome
        client.close(timeout=_CLOSE_SECONDS)


def _end(cluster: Any) -> None:
    """End a cluster of this machine; workers that still work are killed after ``_CLOSE_SECONDS``.

    Dask would wait longer than somebody who pressed Ctrl-C.
    """
    workers = list(cluster.workers.values())

    async def end() -> None:
        ends = [asyncio.ensure_future(worker.close()) for worker in workers]
        await asyncio.wait(ends, timeout=_CLOSE_SECONDS)
        for worker in workers:
            if worker.pid is not None:
                os.kill(worker.pid, signal.SIGKILL)
        await asyncio.wait(ends)

    with contextlib.suppress(Exception):
        cluster.sync(end, callback_timeout=2 * _CLOSE_SECONDS)
        cluster.close(timeout=_CLOSE_SECONDS)


def _cluster_of_machine(where: str, workers: int | None, device: str | None) -> Any:
    _library("cryptography")  # makes the certificates
    if where == CUDA:
        return _cluster_of_devices(workers, device)
    return _library("distributed").LocalCluster(
        n_workers=workers or processors(),
        threads_per_worker=1,
        silence_logs=logging.CRITICAL,
        **_FOR_ITS_OWNER,
    )


def _cluster_of_devices(workers: int | None, device: str | None) -> Any:
    """Start a process for each device; it sees its own device alone, as device 0."""
    from mmpcodec.backends.devices import checked

    dask_cuda = _library("dask_cuda")
    if device is None:
        return dask_cuda.LocalCUDACluster(n_workers=workers, **_FOR_ITS_OWNER)
    # The names of the devices, which CUDA_VISIBLE_DEVICES may have chosen and ordered.
    visible = _library("dask_cuda.utils").cuda_visible_devices(0).split(",")
    names = [visible[number] for number in checked(device, len(visible), "CUDA")]
    if workers is not None and workers > len(names):
        raise ParameterError(f"--workers {workers}: must be from 1 to {len(names)}, the devices")
    return dask_cuda.LocalCUDACluster(
        CUDA_VISIBLE_DEVICES=names, n_workers=workers, **_FOR_ITS_OWNER
    )


def _is_file(where: str) -> bool:
    return where.endswith(".json")


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        advice = "pip install dask-cuda" if name.startswith("dask_cuda") else install("cluster")
        raise MissingExtra(f"--cluster: needs {name}; {advice}") from error


@contextlib.contextmanager
def _without_warnings() -> Iterator[None]:
    """Silence what Dask says about ports, lost connections and its own shutdown."""
    handlers = logging.getLogger("distributed").handlers
    with warnings.catch_warnings(), contextlib.ExitStack() as stack:
        warnings.filterwarnings("ignore", module="distributed")
        for handler in handlers:  # Dask sets the levels of its loggers one by one
            stack.callback(handler.setLevel, handler.level)
            handler.setLevel(logging.CRITICAL + 1)
        yield
