"""The option ``--device``: the devices of a command, and jobs that have a device each."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from queue import SimpleQueue
from typing import Any

from mmpcodec.cli.jobs import Job
from mmpcodec.cli.printing import Facts
from mmpcodec.cli.work import JobProgress, Work


def implied(backend: str, device: str | None) -> str:
    """Return the backend that --backend and --device name together.

    Raises
    ------
    ParameterError
        If the backend runs on the processor and a device is given.
    """
    from mmpcodec import backends

    return backend if device is None else backends.for_device(backend, device)


def numbers_of(backend: str, device: str | None) -> tuple[int, ...]:
    """Return the numbers of the devices that --device names; none if it is not given.

    Raises
    ------
    ParameterError
        If there is no such device.
    BackendUnavailable
        If the backend cannot run here.
    """
    from mmpcodec import backends

    return () if device is None else backends.numbers_of(device, backends.get(backend))


def on_first(backend: str, numbers: Sequence[int]) -> AbstractContextManager[Any]:
    """Make the first device the current one while the context lasts; without devices nothing."""
    from mmpcodec import backends

    return backends.get(backend).on(numbers[0]) if numbers else nullcontext()


class OnDevices:
    """Does jobs in several threads, each job on a device.

    Parameters
    ----------
    work : callable
        Work that runs on the current device.
    backend : str
    numbers : sequence of int
        Devices, at least one.
    at_once : int
        Number of threads. Several jobs share a device if there are more threads than devices.
    """

    def __init__(self, work: Work, backend: str, numbers: Sequence[int], at_once: int):
        self._work, self._backend = work, backend
        self._free: SimpleQueue[int] = SimpleQueue()
        for place in range(at_once):
            self._free.put(numbers[place % len(numbers)])

    def __call__(self, job: Job, progress: JobProgress) -> Facts:
        number = self._free.get()
        try:
            with on_first(self._backend, (number,)):
                return self._work(job, progress)
        finally:
            self._free.put(number)


def on_devices(
    work: Work, backend: str, numbers: Sequence[int], at_once: int = 1
) -> tuple[Work, int]:
    """Return work whose jobs have a device each, and the number of threads that do it.

    Without devices the work runs as it is, in ``at_once`` threads.
    """
    if not numbers:
        return work, at_once
    at_once = max(at_once, len(numbers))
    return OnDevices(work, backend, numbers, at_once), at_once
