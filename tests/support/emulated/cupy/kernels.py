"""Kernels, compiled by g++ with ``device.h`` and run on the processor."""

import ctypes
import hashlib
import itertools
import os
import platform
import re
import subprocess
import tempfile
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from . import memory
from .arrays import ndarray
from .cuda import SHARED_BYTES, CompileException, CUDADriverError

FOLDER = Path(__file__).parents[1]
FLAGS = (
    *["-std=c++20", "-O1", "-g", "-w", "-shared", "-fPIC", "-pthread", "-fno-strict-aliasing"],
    # Shared memory is thread-local: no guards of C++, and none that another library has.
    *["-fno-extern-tls-init", "-fno-gnu-unique", "-Wl,-Bsymbolic"],
    *(["-mtls-dialect=gnu2"] if platform.machine() == "x86_64" else []),
)
KERNEL = re.compile(r"__global__\s+void\s+(?:__launch_bounds__\([^)]*\)\s*)?(\w+)\s*\(")
NOT_FOUND = 500
DEFAULT_SHARED_BYTES = 48 << 10
ONE_KERNEL = threading.Lock()


class Launch(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("arguments", ctypes.c_void_p),
        ("argument_bytes", ctypes.c_void_p),
        *((name, ctypes.c_int64) for name in ("argument_count", "cooperative", "shared_bytes")),
        ("seed", ctypes.c_uint64),
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
    )


def _compiled(code: str, options: tuple[str, ...]) -> Path:
    """Return the library of a source; it stays in the folder for temporary files."""
    kept = [option for option in options if not option.startswith("-std=")]
    headers = (path.read_text() for path in sorted(FOLDER.glob("*.h")))
    parts = code, *kept, *FLAGS, *headers
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:20]
    folder = Path(tempfile.gettempdir()) / f"mmpcodec-emulated-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    library = folder / f"{digest}.so"
    if library.exists():
        return library
    with tempfile.TemporaryDirectory(dir=folder) as work:
        source, made = Path(work) / "kernel.cpp", Path(work) / "kernel.so"
        visible = "".join(f"EMULATED_KERNEL({name})\n" for name in KERNEL.findall(code))
        source.write_text(f"{code}\n{visible}")
        command = ["g++", *FLAGS, "-include", FOLDER / "device.h", *kept, source, "-o", made]
        ended = subprocess.run(command, capture_output=True, text=True)
        if ended.returncode:
            raise CompileException(ended.stderr)
        made.rename(library)
    return library


class RawModule:
    def __init__(self, *, code, options=(), enable_cooperative_groups=False):
        self.code = code
        self.options = options
        self.cooperative = enable_cooperative_groups
        self._library = None

    def compile(self):
        if self._library is None:
            self._library = ctypes.CDLL(str(_compiled(self.code, self.options)))

    def _find(self, name):
        self.compile()
        try:
            return getattr(self._library, name)
        except AttributeError as error:
            raise CUDADriverError(NOT_FOUND, f"named symbol not found: {name}") from error

    def get_function(self, name):
        return Function(name, self._find(f"emulated_launch_{name}"), self.cooperative)

    def get_global(self, name):
        return memory.MemoryPointer(None, ctypes.cast(self._find(name), ctypes.c_void_p).value)


class Function:
    def __init__(self, name, run, cooperative):
        self.name = name
        self.kernel = SimpleNamespace(ptr=0)
        self.max_dynamic_shared_size_bytes = DEFAULT_SHARED_BYTES
        self._run = run
        self._run.restype = None
        self._cooperative = cooperative
        self._seeds = itertools.count()

    def __call__(self, grid, block, arguments, *, shared_mem=0):
        most = self.max_dynamic_shared_size_bytes
        if not 0 <= shared_mem <= min(most, SHARED_BYTES):
            raise CUDADriverError(1, f"{self.name}: {shared_mem} bytes of shared memory, {most}")
        grid, block = (tuple(map(int, (*sizes, 1, 1)[:3])) for sizes in (grid, block))
        if min(grid) < 1 or min(block) < 1 or np.prod(block) > 1024:
            raise CUDADriverError(1, f"{self.name}: grid {grid}, block {block}")
        values = [np.frombuffer(_bytes_of(value), np.uint8).copy() for value in arguments]
        pointers = np.array([value.ctypes.data for value in values], np.uintp)
        sizes = np.array([value.size for value in values], np.int64)
        launch = Launch(
            self.name.encode(),
            pointers.ctypes.data,
            sizes.ctypes.data,
            len(values),
            self._cooperative,
            shared_mem,
            next(self._seeds),
            grid,
            block,
        )
        with ONE_KERNEL:
            self._run(ctypes.byref(launch))
            memory.check_guards()


def _bytes_of(value):
    """Return an argument as CuPy passes it."""
    if isinstance(value, ndarray):
        return np.uintp(value.data.ptr).tobytes()
    if isinstance(value, bool | int | float):
        return np.asarray(value).tobytes()
    if isinstance(value, np.generic):
        return value.tobytes()
    raise TypeError(f"unsupported argument of a kernel: {type(value)}")
