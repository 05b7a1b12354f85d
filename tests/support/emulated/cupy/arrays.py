"""Arrays of the emulated device. As with CuPy, they become NumPy arrays only by ``get``."""

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from . import memory


class ndarray(NDArrayOperatorsMixin):
    """An array of NumPy in the memory of the emulated device."""

    __array_priority__ = 100

    def __init__(self, shape, dtype=float, memptr=None):
        dtype = np.dtype(dtype)
        shape = tuple(shape) if np.iterable(shape) else (int(shape),)
        size = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
        pointer = memory.allocate(size) if memptr is None else memptr
        self._host = memory.bytes_at(pointer, size).view(dtype).reshape(shape)

    @classmethod
    def _of(cls, host):
        array = cls.__new__(cls)
        array._host = host
        return array

    @property
    def data(self):
        owner = self._host
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        return memory.MemoryPointer(owner, self._host.ctypes.data)

    @property
    def device(self):
        from .cuda import Device

        return Device(0)

    @property
    def __cuda_array_interface__(self):
        return self._host.__array_interface__

    @property
    def T(self):
        return self.transpose()

    def __array__(self, *args, **options):
        raise TypeError("Implicit conversion to a NumPy array is not allowed; use get()")

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        if "out" in options:
            options["out"] = tuple(map(to_host, options["out"]))
        return to_device(getattr(ufunc, method)(*map(to_host, inputs), **options), *inputs)

    def __array_function__(self, function, types, args, options):
        return call(function, args, options)

    def get(self, stream=None):
        return self._host.copy()

    def set(self, values, stream=None):
        if not isinstance(values, np.ndarray) or values.dtype != self.dtype:
            raise TypeError(f"set() takes a NumPy array of {self.dtype}")
        if values.shape != self.shape:
            raise ValueError(f"set() takes an array of shape {self.shape}, not {values.shape}")
        self._host[...] = values

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(self._host, name)
        if not callable(found):
            return found
        return lambda *args, **options: call(found, args, options, self)

    def __getitem__(self, place):
        return to_device(self._host[to_host(place)], self)

    def __setitem__(self, place, values):
        self._host[to_host(place)] = to_host(values)

    def __len__(self):
        return len(self._host)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __int__(self):
        return int(self._host)

    __index__ = __int__

    def __float__(self):
        return float(self._host)

    def __bool__(self):
        return bool(self._host)


def to_host(value):
    """Replace arrays of the device, also in tuples and lists, by what they hold."""
    if isinstance(value, ndarray):
        return value._host
    if isinstance(value, tuple | list):
        return type(value)(map(to_host, value))
    return value


def to_device(value, *sources):
    """Make an array of the device of a result; views of a source stay views."""
    if isinstance(value, tuple):
        return tuple(to_device(each, *sources) for each in value)
    if not isinstance(value, np.ndarray | np.generic):
        return value
    value = np.asanyarray(value)
    for source in sources:
        if isinstance(source, ndarray) and np.may_share_memory(value, source._host):
            return ndarray._of(value)
    array = ndarray(value.shape, value.dtype)
    array._host[...] = value
    return array


def call(function, args, options, *more):
    """Call a function of NumPy with arrays of the device."""
    found = function(*map(to_host, args), **{name: to_host(v) for name, v in options.items()})
    return to_device(found, *more, *args, *options.values())
