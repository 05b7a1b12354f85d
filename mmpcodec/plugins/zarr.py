"""Codec "mmp" of zarr 3, from arrays to bytes; found by its entry point.

>>> import zarr
>>> from mmpcodec.plugins.zarr import MmpCodec
>>> stack = zarr.create_array({}, shape=(5, 48, 64), chunks=(1, 48, 64), dtype="uint16",
...                           serializer=MmpCodec(), compressors=None)
>>> stack[2] = 4095
>>> int(stack[2].min()), int(stack[3].max())
(4095, 0)
"""

import asyncio
from typing import TYPE_CHECKING, Any

from zarr.abc.codec import ArrayBytesCodec
from zarr.core.common import parse_named_configuration

from mmpcodec.errors import ParameterError
from mmpcodec.plugins.chunks import (
    check_options,
    check_type,
    decode_chunk,
    encode_chunk,
    picture_shape,
)

if TYPE_CHECKING:
    from zarr.core.array_spec import ArraySpec
    from zarr.core.buffer import Buffer, NDBuffer

NAME = "mmp"


class MmpCodec(ArrayBytesCodec):
    """Chunks of uint8 and uint16 as mmp files, without loss unless loss is asked for.

    A chunk, with sharding an inner one, is one picture, (height, width) or (height, width, 2 to
    4), and may have axes of length 1 before it. What is coded needs no other compressor.

    Parameters
    ----------
    lam : float or None
        Lagrange multiplier in squared error per bit; 0, lossless, where neither it nor a quality
        or target is given.
    **options
        ``quality``, ``target_size``, ``target_bpp``, ``target_psnr``, ``depth``, ``preset``,
        ``effort``, ``rate_model`` and tools, as of ``mmpcodec.encode``.

    Raises
    ------
    ParameterError
        For an option that is unknown or out of its range.
    """

    is_fixed_size = False

    def __init__(self, lam: float | None = None, **options: Any):
        self._options = check_options(lam, **options)

    @classmethod
    def from_dict(cls, data: Any) -> "MmpCodec":
        """The codec that the metadata of an array name."""
        _, found = parse_named_configuration(data, NAME, require_configuration=False)
        options: Any = found or {}
        return cls(**options)

    def to_dict(self) -> dict[str, Any]:
        """How the metadata of an array name it."""
        return {"name": NAME, "configuration": dict(self._options)}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MmpCodec) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(tuple(sorted(self._options.items())))

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self._options.items())
        return f"{type(self).__name__}({given})"

    def evolve_from_array_spec(self, array_spec: "ArraySpec") -> "MmpCodec":
        """The codec itself, once the type of the array is checked.

        Raises
        ------
        ParameterError
        """
        kind = array_spec.dtype.to_native_dtype()
        check_type(kind.newbyteorder("="), self._options.get("depth"))
        return self

    def validate(self, *, shape: tuple[int, ...], dtype: Any, chunk_grid: Any) -> None:
        """Check the type and the chunks of an array when it is made.

        Raises
        ------
        ParameterError
            When the codec cannot hold them.
        """
        chunk_shape = getattr(chunk_grid, "chunk_shape", None)
        if chunk_shape is None:
            kind = type(chunk_grid).__name__
            raise ParameterError(f"chunks by {kind}: must be a regular grid")
        picture_shape(chunk_shape)

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: "ArraySpec") -> int:
        """Not known before a chunk is encoded."""
        raise NotImplementedError

    async def _encode_single(self, chunk_data: "NDBuffer", chunk_spec: "ArraySpec") -> "Buffer":
        chunk = chunk_data.as_ndarray_like()
        native = chunk.dtype.newbyteorder("=")
        data = await asyncio.to_thread(
            encode_chunk, chunk.astype(native, copy=False), self._options
        )
        return chunk_spec.prototype.buffer.from_bytes(data)

    async def _decode_single(self, chunk_data: "Buffer", chunk_spec: "ArraySpec") -> "NDBuffer":
        kind = chunk_spec.dtype.to_native_dtype()
        samples = await asyncio.to_thread(
            decode_chunk, chunk_data.as_numpy_array(), chunk_spec.shape, kind
        )
        return chunk_spec.prototype.nd_buffer.from_numpy_array(samples)
