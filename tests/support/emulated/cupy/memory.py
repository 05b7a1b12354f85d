"""Memory of the emulated device: host memory between guard bytes, filled with garbage at first."""

import contextlib
import ctypes
import weakref

import numpy as np

GUARD = 256
"""Guard bytes before and after each piece of memory."""
ALIGNMENT = 256
TOTAL = 1 << 30
"""Bytes of the device."""
ROUNDING = 512
"""Each piece takes a multiple of this number of bytes, as with CuPy."""
GARBAGE = 0xA7


class OutOfMemoryError(MemoryError):
    """A pool's limit, or the device's memory, does not suffice."""


_pieces: list[tuple[weakref.ref, int, int]] = []
"""All pieces in use: what owns the bytes, where the piece begins in them, and its size."""


def check_guards() -> None:
    """Raise an error if a kernel wrote beside a piece of memory."""
    for piece in list(_pieces):
        owner = piece[0]()
        if owner is None:
            _pieces.remove(piece)
        else:
            _check(owner, *piece[1:])


def _check(owner: np.ndarray, start: int, size: int) -> None:
    for name, guard in (
        ("before", owner[start - GUARD : start]),
        ("after", owner[start + size : start + size + GUARD]),
    ):
        if (guard != GARBAGE).any():
            places = np.flatnonzero(guard != GARBAGE)
            raise AssertionError(
                f"a kernel wrote {name} a piece of memory of {size} bytes, bytes "
                f"{places[0]} to {places[-1]} of the {GUARD} guard bytes"
            )


class MemoryPointer:
    """An address in a piece of memory."""

    def __init__(self, owner, ptr: int):
        self.owner = owner
        self.ptr = ptr

    def __add__(self, offset: int) -> "MemoryPointer":
        return MemoryPointer(self.owner, self.ptr + int(offset))

    def memset_async(self, value: int, size: int, stream=None) -> None:
        bytes_at(self, size)[...] = value

    def copy_from_host_async(self, address: int, size: int, stream=None) -> None:
        bytes_at(self, size)[...] = (ctypes.c_uint8 * size).from_address(address)


def bytes_at(pointer: MemoryPointer, size: int) -> np.ndarray:
    """View some bytes at an address; the view keeps the memory, unless a library owns it."""
    if pointer.owner is None:
        return np.frombuffer((ctypes.c_uint8 * size).from_address(pointer.ptr), np.uint8)
    start = pointer.ptr - pointer.owner.ctypes.data
    return pointer.owner[start : start + size]


class MemoryPool:
    """Counts what is in use."""

    def __init__(self, allocator=None):
        self._used = 0
        self._limit = 0

    def malloc(self, size: int) -> MemoryPointer:
        rounded = -(-size // ROUNDING) * ROUNDING
        if self._used + rounded > (self._limit or TOTAL):
            raise OutOfMemoryError(f"{size} bytes, {self._used} in use, limit {self._limit}")
        owner = np.full(size + 2 * GUARD + ALIGNMENT, GARBAGE, np.uint8)
        start = GUARD + -(owner.ctypes.data + GUARD) % ALIGNMENT
        self._used += rounded
        weakref.finalize(owner, self._free, rounded)
        _pieces.append((weakref.ref(owner), start, size))
        return MemoryPointer(owner, owner.ctypes.data + start)

    def _free(self, size: int) -> None:
        self._used -= size

    def used_bytes(self) -> int:
        return self._used

    def free_bytes(self) -> int:
        return 0

    def total_bytes(self) -> int:
        return self._used

    def get_limit(self) -> int:
        return self._limit

    def set_limit(self, size: int = 0) -> None:
        self._limit = size

    def free_all_blocks(self) -> None:
        pass


default_pool = MemoryPool()
_allocators = [default_pool.malloc]


def allocate(size: int) -> MemoryPointer:
    return _allocators[-1](size)


@contextlib.contextmanager
def using_allocator(allocator):
    _allocators.append(allocator)
    try:
        yield
    finally:
        _allocators.pop()
