"""Codec "mmp" of zarr 3, from arrays to bytes. zarr finds it by its entry point.

>>> import zarr
>>> from mmpcodec.plugins.zarr import MmpCodec
>>> stack = zarr.create_array({}, shape=(5, 48, 64), chunks=(1, 48, 64), dtype="uint16",
...                           serializer=MmpCodec(), compressors=None)
>>> stack[2] = 4095
>>> int(stack[2].min()), int(stack[3].max())
(4095, 0)
"""

import asyncio
import math
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr.abc.codec import ArrayBytesCodec
from zarr.core.common import parse_named_configuration

from mmpcodec.errors import CorruptStream, ParameterError
from mmpcodec.plugins.chunks import (
    SECTION,
    WithOptions,
    check_type,
    core_shape,
    decode_chunk,
    encode_chunk,
    picture_shape,
)

if TYPE_CHECKING:
    from zarr.core.array_spec import ArraySpec
    from zarr.core.buffer import Buffer, NDBuffer

NAME = "mmp"


class MmpCodec(WithOptions, ArrayBytesCodec):
    """Codec that stores chunks as mmp files; lossless by default.

    A chunk (with sharding, an inner chunk) has one or several planes of shape (height, width) or
    (height, width, 1 to 4), of one of ``chunks.KINDS``. Floating-point numbers and numbers of 32
    bits are stored without loss only. The files need no further compression.

    The options are those of ``chunks.check_options``.

    Raises
    ------
    ParameterError
        If an option is unknown or out of range.
    """

    is_fixed_size = False

    @classmethod
    def from_dict(cls, data: Any) -> "MmpCodec":
        """Make the codec from its entry in the metadata of an array."""
        _, found = parse_named_configuration(data, NAME, require_configuration=False)
        options: Any = found or {}
        return cls(**options)

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of the codec in the metadata of an array."""
        return {"name": NAME, "configuration": dict(self._options)}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MmpCodec) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(tuple(sorted(self._options.items())))

    def evolve_from_array_spec(self, array_spec: "ArraySpec") -> "MmpCodec":
        """Check the dtype of the array and return the codec itself.

        Raises
        ------
        ParameterError
            If the dtype is not supported, or does not fit the options.
        """
        check_type(_native(array_spec.dtype), self._options)
        return self

    def validate(self, *, shape: tuple[int, ...], dtype: Any, chunk_grid: Any) -> None:
        """Check the shape of the chunks when an array is created.

        Raises
        ------
        ParameterError
            If the chunks do not form a regular grid, or a chunk has fewer than two axes or too many
            numbers.
        """
        chunk_shape = getattr(chunk_grid, "chunk_shape", None)
        if chunk_shape is None:
            kind = type(chunk_grid).__name__
            raise ParameterError(f"chunk grid is {kind}: must be regular")
        picture_shape(chunk_shape, _native(dtype))

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: "ArraySpec") -> int:
        """Raise NotImplementedError: the size is unknown before a chunk is encoded."""
        raise NotImplementedError

    async def _encode_single(self, chunk_data: "NDBuffer", chunk_spec: "ArraySpec") -> "Buffer":
        chunk = chunk_data.as_ndarray_like()
        native = chunk.dtype.newbyteorder("=")
        data = await asyncio.to_thread(
            encode_chunk, chunk.astype(native, copy=False), self._options
        )
        return chunk_spec.prototype.buffer.from_bytes(data)

    async def _decode_single(self, chunk_data: "Buffer", chunk_spec: "ArraySpec") -> "NDBuffer":
        shape, kind = chunk_spec.shape, _native(chunk_spec.dtype)
        most = math.prod(shape) * kind.itemsize
        numbers = await asyncio.to_thread(decode_chunk, chunk_data.as_numpy_array(), most)
        if numbers.shape != core_shape(shape) or numbers.dtype != kind:
            raise CorruptStream(
                SECTION,
                f"array of shape {numbers.shape} and type {numbers.dtype} in a chunk of shape "
                f"{shape} and type {kind}",
            )
        return chunk_spec.prototype.nd_buffer.from_numpy_array(numbers.reshape(shape))


def _native(kind: Any) -> np.dtype:
    """Return the dtype of NumPy for one of zarr, in the byte order of the machine."""
    return kind.to_native_dtype().newbyteorder("=")
