"""What ``encode`` takes as an array and ``decode`` as bytes, whoever made it."""

import array
import ctypes
import sys

import numpy as np
import pytest
from support.strategies import natural

import mmpcodec
from mmpcodec import ParameterError

GRAY = natural(np.random.default_rng(0), 20, 28)
DEEP = GRAY.astype(np.uint16) * 16
FILE = mmpcodec.encode(GRAY, 0)

CPU, CUDA, MANAGED, METAL = 1, 2, 13, 8


class WithArray:
    """Only ``__array__``, as many table and tensor libraries have it."""

    def __init__(self, samples):
        self.samples = samples

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.samples, dtype)


class WithDlpack:
    """Only DLPack, lying where it says."""

    def __init__(self, samples, device=CPU):
        self.samples = samples
        self.device = device

    def __dlpack__(self, **options):
        return self.samples.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.device, 0


class WithBoth(WithDlpack):
    """DLPack, and an ``__array__`` that would copy from the device."""

    def __array__(self, dtype=None, copy=None):
        raise AssertionError("copied to the host unasked")


class OnDevice:
    """As PyTorch and Numba show what lies on a CUDA device."""

    def __init__(self):
        self.__cuda_array_interface__ = {
            "shape": (4, 4),
            "typestr": "|u1",
            "data": (0, False),
            "version": 3,
        }


def with_pixels(samples):
    """The samples as nested arrays of C."""
    height, width = samples.shape
    return (ctypes.c_uint8 * width * height).from_buffer_copy(samples.tobytes())


@pytest.mark.parametrize(
    "made",
    [
        WithArray,
        WithDlpack,
        WithBoth,
        lambda samples: WithBoth(samples, MANAGED),
        with_pixels,
        memoryview,
        lambda samples: memoryview(samples.tobytes()).cast("B", samples.shape),
        lambda samples: memoryview(bytearray(samples)).cast("B", samples.shape),
        lambda samples: memoryview(array.array("B", samples.tobytes())).cast("B", samples.shape),
        np.asfortranarray,
        lambda samples: np.repeat(samples, 2, axis=1)[:, ::2],
        lambda samples: samples.view(type("Subclass", (np.ndarray,), {})),
    ],
)
def test_arrays_of_any_maker_are_encoded(made):
    assert mmpcodec.encode(made(GRAY), 0) == FILE


@pytest.mark.parametrize("made", [WithArray, WithDlpack, memoryview])
def test_deep_arrays_of_any_maker_are_encoded(made):
    assert mmpcodec.encode(made(DEEP), 0, depth=12) == mmpcodec.encode(DEEP, 0, depth=12)


def test_arrays_that_may_not_be_written_are_encoded():
    fixed = GRAY.copy()
    fixed.flags.writeable = False
    assert mmpcodec.encode(fixed, 0) == FILE


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (b"some bytes", r"picture of shape \(\) and type .S10: supported are"),
        (array.array("B", b"1234"), r"picture of shape \(4,\) and type uint8: supported are"),
        (GRAY.astype(">u4"), "type uint32: supported are"),
        (object(), "type object: supported are"),
        ([[1, 2], [3]], "picture: .*inhomogeneous"),
        (np.ma.masked_array(GRAY, GRAY > 9), "picture: masked arrays are not supported"),
        (WithDlpack(GRAY.astype(">u2")), "picture: .*byte"),
        (WithBoth(GRAY, METAL), "lies on a device of DLPack type 8.*copy it to the host"),
    ],
)
def test_others_are_refused(given, says):
    with pytest.raises(ParameterError, match=says):
        mmpcodec.encode(given)


@pytest.mark.parametrize("given", [OnDevice(), WithBoth(GRAY, CUDA)])
def test_what_lies_on_a_device_is_not_copied_behind_the_callers_back(given, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(
        ParameterError,
        match=r"lies on a CUDA device, which needs CuPy.*pip install '\.\[cuda13\]'.*cupy\.asnumpy",
    ):
        mmpcodec.encode(given)


@pytest.mark.gpu
def test_device_arrays_are_encoded_where_they_lie():
    import cupy

    class Interface:
        """Only ``__cuda_array_interface__``."""

        def __init__(self, samples):
            self.samples = samples
            self.__cuda_array_interface__ = samples.__cuda_array_interface__

    class Dlpack:
        """Only DLPack."""

        def __init__(self, samples):
            self.samples = samples
            self.__dlpack__ = samples.__dlpack__
            self.__dlpack_device__ = samples.__dlpack_device__

    samples = cupy.asarray(GRAY)
    expected = mmpcodec.encode(GRAY, 20, preset="plain")
    for made in (samples, Interface(samples), Dlpack(samples)):
        assert mmpcodec.encode(made, 20, preset="plain") == expected
        with pytest.raises(ParameterError, match=r"lies on a CUDA device.*cupy\.asnumpy"):
            mmpcodec.encode(made, backend="cpu")


@pytest.mark.gpu
def test_pytorchs_tensors_are_encoded_where_they_lie():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    samples = torch.from_numpy(GRAY).cuda()
    assert mmpcodec.encode(samples, 20, preset="plain") == mmpcodec.encode(GRAY, 20, preset="plain")


@pytest.mark.parametrize(
    "made",
    [
        bytes,
        bytearray,
        memoryview,
        lambda data: memoryview(data + b"..")[: len(data)],
        lambda data: array.array("B", data),
        lambda data: np.frombuffer(data, np.uint8),
        lambda data: np.frombuffer(data, np.int8),
        lambda data: np.frombuffer(data, np.uint8)[:, None],
        lambda data: (ctypes.c_char * len(data)).from_buffer_copy(data),
    ],
)
def test_any_buffer_of_one_piece_is_decoded(made):
    given = made(FILE)
    assert np.array_equal(mmpcodec.decode(given), GRAY)
    assert mmpcodec.inspect(given).header.width == 28


@pytest.mark.parametrize(
    "given",
    ["text", None, 7, [1, 2], np.frombuffer(FILE[:8], np.uint8)[::2]],
    ids=repr,
)
def test_what_is_no_buffer_of_one_piece_is_refused(given):
    with pytest.raises(ParameterError, match="must be bytes or a contiguous buffer"):
        mmpcodec.decode(given)
