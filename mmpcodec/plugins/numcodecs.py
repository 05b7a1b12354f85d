"""Codec "mmp" of numcodecs, for zarr 2 and kerchunk; found by its entry point.

>>> import numcodecs
>>> import numpy as np
>>> codec = numcodecs.get_codec({"id": "mmp"})
>>> chunk = np.arange(12, dtype=np.uint16).reshape(1, 3, 4)
>>> codec.decode(codec.encode(chunk)).tolist() == chunk[0].tolist()
True
"""

from typing import Any

from numcodecs.abc import Codec
from numcodecs.compat import ndarray_copy
from numcodecs.registry import register_codec

import mmpcodec
from mmpcodec.plugins.chunks import check_options, encode_chunk, picture_shape
from mmpcodec.runtime.arrays import as_array


class Mmp(Codec):
    """Chunks of uint8 and uint16 as mmp files, without loss unless loss is asked for.

    A chunk is one picture, (height, width) or (height, width, 2 to 4), and may have axes of length
    1 before it.

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

    codec_id = "mmp"

    def __init__(self, lam: float | None = None, **options: Any):
        self._options = check_options(lam, **options)

    def encode(self, buf: Any) -> bytes:
        """The mmp file of a chunk.

        Raises
        ------
        MmpError
            What ``mmpcodec.encode`` raises, and ``ParameterError`` for a chunk that is not one
            picture.
        """
        chunk = as_array("chunk", buf)
        picture = chunk.reshape(picture_shape(chunk.shape))
        # Codecs keep what lies in memory: who stores chunks in Fortran order reads them in it.
        return encode_chunk(picture.T if picture.flags.fnc else picture, self._options)

    def decode(self, buf: Any, out: Any = None) -> Any:
        """The samples of a chunk: (H, W) or (H, W, C), or ``out``, which they are copied to.

        Raises
        ------
        FormatError
            When the bytes are not a good file.
        """
        return ndarray_copy(mmpcodec.decode(buf), out)

    def get_config(self) -> dict[str, Any]:
        """The options that were given, with the identifier of the codec."""
        return {"id": self.codec_id, **self._options}

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self._options.items())
        return f"{type(self).__name__}({given})"


register_codec(Mmp)
