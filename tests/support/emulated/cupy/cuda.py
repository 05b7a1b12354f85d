"""Device, streams and events; all work is done at once, so there is nothing to wait for."""

import ctypes
import threading
import time
from types import SimpleNamespace

from . import memory
from .memory import MemoryPool, using_allocator  # noqa: F401

PROCESSORS = 2
BLOCKS_A_PROCESSOR = 2
SHARED_BYTES = 232448
ATTRIBUTES = {
    "MultiProcessorCount": PROCESSORS,
    "MaxSharedMemoryPerBlockOptin": SHARED_BYTES,
    "L2CacheSize": 1 << 20,
}


class CUDARuntimeError(RuntimeError):
    pass


class CUDADriverError(RuntimeError):
    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class CompileException(Exception):
    pass


class Device:
    def __init__(self, device=None):
        self.id = 0 if device is None else int(device)
        if self.id:
            raise CUDARuntimeError("the emulated device is device 0")
        self.attributes = ATTRIBUTES
        self.compute_capability = "90"

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def __int__(self):
        return self.id

    def __eq__(self, other):
        return isinstance(other, Device)

    def __hash__(self):
        return 0

    @property
    def mem_info(self):
        return memory.TOTAL - memory.default_pool.used_bytes(), memory.TOTAL

    def use(self):
        pass

    def synchronize(self):
        pass


class Event:
    done = True

    def __init__(self, *args, **options):
        self.time = time.perf_counter()

    def record(self, stream=None):
        self.time = time.perf_counter()

    def synchronize(self):
        pass


def get_elapsed_time(start, end):
    return 1000 * (end.time - start.time)


_local = threading.local()


class Stream:
    ptr = 0

    def __init__(self, null=False, non_blocking=False, **options):
        self._before = []

    def __enter__(self):
        self._before.append(get_current_stream())
        _local.stream = self
        return self

    def __exit__(self, *error):
        _local.stream = self._before.pop()

    def use(self):
        _local.stream = self
        return self

    def record(self, event=None):
        return event or Event()

    def wait_event(self, event):
        pass

    def synchronize(self):
        pass


Stream.null = Stream()


def get_current_stream():
    return getattr(_local, "stream", Stream.null)


def alloc_pinned_memory(size):
    return (ctypes.c_uint8 * size)()


runtime = SimpleNamespace(
    CUDARuntimeError=CUDARuntimeError,
    getDeviceCount=lambda: 1,
    getDeviceProperties=lambda device: {
        "name": b"emulated device",
        "multiProcessorCount": PROCESSORS,
    },
    driverGetVersion=lambda: 13000,
    runtimeGetVersion=lambda: 13000,
)
driver = SimpleNamespace(
    CUDADriverError=CUDADriverError,
    occupancyMaxActiveBlocksPerMultiprocessor=lambda kernel, threads, shared: BLOCKS_A_PROCESSOR,
)
compiler = SimpleNamespace(CompileException=CompileException)
