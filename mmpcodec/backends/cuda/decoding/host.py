"""Planes whose symbols threads of the host read, while the device reads those of the others.

A thread of the host reads a plane in a fraction of the time of a thread of the device, so that the
host takes the longest payloads.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mmpcodec.backends.cuda.decoding.state import ARRAYS, DevicePlane

DEVICE_TIME, HOST_TIME = 13, 1
"""Time that a thread takes for a byte of a payload, as a ratio."""
WRITTEN = "leaves", "fragments", "coefficients", "order", "changes"
"""Arrays of a plane in the order in which native code writes them."""


def longest_for_host(sizes: Sequence[int], threads: int, readers: int) -> np.ndarray:
    """Choose the planes that the host reads, so that host and device end at about the same time.

    Parameters
    ----------
    sizes : sequence of int
        Bytes of the payload of each plane.
    threads : int
        Threads of the host.
    readers : int
        Planes that the device reads at once.

    Returns
    -------
    (N,) array of int
        Indices of planes, those of the longest payloads first.
    """
    longest = np.argsort(sizes, kind="stable")[::-1]
    taken = np.concatenate([[0], np.cumsum(np.asarray(sizes, np.int64)[longest])])
    largest = np.append(np.asarray(sizes, np.int64)[longest], 0)
    on_device = DEVICE_TIME * np.maximum(largest, (taken[-1] - taken) / readers)
    on_host = HOST_TIME * np.maximum(taken / threads, largest[0] * (taken > 0))
    return longest[: int(np.argmin(np.maximum(on_device, on_host)))]


class HostLeaves:
    """The leaves of planes that the host reads.

    Parameters
    ----------
    planes : sequence of DevicePlane
    threads : int
    """

    def __init__(self, planes: Sequence[DevicePlane], threads: int):
        from mmpcodec import _cpu

        self.planes = planes
        tasks = [(plane.layer.payload, *plane.shape, plane.tools) for plane in planes]
        self.leaves = _cpu.LeavesOfPlanes(tasks, threads)
        self.good = self.leaves.good.astype(bool)

    def upload(self, pinned: Callable[[int], tuple[np.ndarray, Callable[[], Any]]]) -> None:
        """Copy the arrays to the device, and set their addresses.

        Parameters
        ----------
        pinned : callable
            Returns an array of this number of bytes on the host, and a function that copies it to
            the device and returns the copy, which it does not wait for.
        """
        sizes = self.leaves.sizes.astype(np.int64)
        array, copy = pinned(int(sizes.sum()))
        self.leaves.write(array)
        starts = copy().data.ptr + np.cumsum(sizes.reshape(-1)) - sizes.reshape(-1)
        for plane, own in zip(self.planes, starts.reshape(sizes.shape), strict=True):
            plane.arrays |= dict(zip(WRITTEN, map(int, own), strict=True))
            plane.arrays |= {name: 0 for name in ARRAYS if name not in WRITTEN}
