"""Codec "mmp" of numcodecs, for zarr 2 and kerchunk. numcodecs finds it by its entry point.

>>> import numcodecs
>>> import numpy as np
>>> codec = numcodecs.get_codec({"id": "mmp"})
>>> chunk = np.arange(12, dtype=np.uint16).reshape(1, 3, 4)
>>> codec.decode(codec.encode(chunk)).tolist() == chunk[0].tolist()
True
"""

from typing import Any

import numpy as np
from numcodecs.abc import Codec
from numcodecs.compat import ensure_ndarray_like, ndarray_copy
from numcodecs.registry import register_codec

from mmpcodec.plugins.chunks import WithOptions, core_shape, decode_chunk, encode_chunk
from mmpcodec.runtime.arrays import as_array


class Mmp(WithOptions, Codec):
    """Codec that stores chunks as mmp files; lossless by default.

    A chunk has one or several planes of shape (height, width) or (height, width, 1 to 4), of one of
    ``chunks.KINDS``. Floating-point numbers and numbers of 32 bits are stored without loss only.

    The options are those of ``chunks.check_options``.

    Raises
    ------
    ParameterError
        If an option is unknown or out of range.
    """

    codec_id = "mmp"

    def encode(self, buf: Any) -> bytes:
        """Encode a chunk as an mmp file.

        Raises
        ------
        ParameterError
            If the shape or the dtype of the chunk is not supported.
        MmpError
            Any error of ``mmpcodec.encode``.
        """
        chunk = as_array("chunk", buf)
        core = chunk.reshape(core_shape(chunk.shape))
        return encode_chunk(core, self._options)

    def decode(self, buf: Any, out: Any = None) -> Any:
        """Decode an mmp file.

        A chunk that was in Fortran order has this order again, so that its bytes in memory are
        those that any other codec of numcodecs returns.

        Returns
        -------
        array
            The chunk without leading axes of length 1; ``out``, filled with it, if that is not
            None.

        Raises
        ------
        FormatError
            If the bytes are not a valid file, or one of more numbers than ``out`` holds.
        """
        if out is None:
            return decode_chunk(buf)
        place = np.asarray(ensure_ndarray_like(out))
        chunk = decode_chunk(buf, place.nbytes, place)
        return out if np.shares_memory(chunk, place) else ndarray_copy(chunk, out)

    def get_config(self) -> dict[str, Any]:
        """Return the configuration for JSON: the identifier of the codec and the given options."""
        return {"id": self.codec_id, **self._options}


register_codec(Mmp)
