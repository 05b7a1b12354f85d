"""Backends with devices that are none: the processor does the work of each."""

import threading
from contextlib import contextmanager

from mmpcodec.backends.cpu import CpuBackend
from mmpcodec.backends.cuda.backend import CudaBackend

CURRENT = threading.local()


class FakeDevice(CpuBackend):
    """The processor, with what a CUDA device lacks."""

    name = "cuda"
    decodes = False
    missing = CudaBackend.missing
    lacks = CudaBackend.lacks


class FakeDevices(CpuBackend):
    """Three devices; ``calls`` notes the device and the number of planes of each call."""

    name = "cuda"
    batches = True
    reads_device_arrays = True
    releases_gil = False
    missing = CudaBackend.missing
    count = 3
    calls: list[tuple[int, int]]

    def lacks(self, tools, depth=8):
        return None if tools.lossless else CudaBackend.lacks(self, tools, depth)

    def device_count(self):
        return self.count

    def current_device(self):
        return getattr(CURRENT, "number", 0)

    @contextmanager
    def on(self, number):
        before, CURRENT.number = self.current_device(), number
        try:
            yield
        finally:
            CURRENT.number = before

    def encode_batch(self, tasks, **options):
        self.calls.append((self.current_device(), len(tasks)))
        return super().encode_batch(tasks, **options)


def put_in_place_of_cuda(monkeypatch):
    """Let ``backends.get("cuda")`` return devices that are none; returns their class."""
    from dataclasses import replace

    from mmpcodec import backends

    made = type("Fake", (FakeDevices,), {"calls": []})
    monkeypatch.setitem(backends.ROWS, "cuda", replace(backends.ROWS["cuda"], make=made))
    return made
