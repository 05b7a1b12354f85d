"""MMP image codec: a segmentation tree and dictionaries that learn while coding.

>>> import mmpcodec
>>> data = mmpcodec.encode(picture, lam=32)       # doctest: +SKIP
>>> picture = mmpcodec.decode(data)               # doctest: +SKIP
"""

from mmpcodec.codec.decoder import Inspection, decode, inspect
from mmpcodec.codec.encoder import Encoding, encode, encode_picture
from mmpcodec.errors import (
    BackendUnavailable,
    BadMagic,
    Cancelled,
    CorruptStream,
    FormatError,
    LimitExceeded,
    MmpError,
    ParameterError,
    PictureError,
    TruncatedStream,
    UnsupportedVersion,
)
from mmpcodec.params import PRESETS, DecodeLimits, EncodeParams, Partition, Tools

__version__ = "0.1.0"

__all__ = [
    "PRESETS",
    "BackendUnavailable",
    "BadMagic",
    "Cancelled",
    "CorruptStream",
    "DecodeLimits",
    "EncodeParams",
    "Encoding",
    "FormatError",
    "Inspection",
    "LimitExceeded",
    "MmpError",
    "ParameterError",
    "Partition",
    "PictureError",
    "Tools",
    "TruncatedStream",
    "UnsupportedVersion",
    "__version__",
    "decode",
    "encode",
    "encode_picture",
    "inspect",
]
