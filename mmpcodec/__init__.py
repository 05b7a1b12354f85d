"""Image codec around MMP: segmentation trees over dictionaries that learn while coding.

>>> import mmpcodec
>>> data = mmpcodec.encode(picture, lam=32)       # doctest: +SKIP
>>> picture = mmpcodec.decode(data)               # doctest: +SKIP
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mmpcodec.codec.decoder import Inspection, decode, inspect
    from mmpcodec.codec.encoder import encode, encode_batch, encode_picture, encode_pictures
    from mmpcodec.codec.encoding import Encoding, Pass
    from mmpcodec.codec.rate_control.targets import Target
    from mmpcodec.errors import (
        BackendUnavailable,
        BadMagic,
        Cancelled,
        CorruptStream,
        FormatError,
        Infeasible,
        KernelError,
        LimitExceeded,
        MissingExtra,
        MmpError,
        ParameterError,
        PictureError,
        TruncatedStream,
        UnsupportedVersion,
    )
    from mmpcodec.params import DecodeLimits, EncodeParams
    from mmpcodec.tools import PRESETS, Partition, Tools

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
    "Infeasible",
    "Inspection",
    "KernelError",
    "LimitExceeded",
    "MissingExtra",
    "MmpError",
    "ParameterError",
    "Partition",
    "Pass",
    "PictureError",
    "Target",
    "Tools",
    "TruncatedStream",
    "UnsupportedVersion",
    "__version__",
    "decode",
    "encode",
    "encode_batch",
    "encode_picture",
    "encode_pictures",
    "inspect",
]

# Names load when first used (PEP 562), so that `mmp --help` waits for neither NumPy nor the codec.
_HOMES = {
    "mmpcodec.codec.decoder": ("Inspection", "decode", "inspect"),
    "mmpcodec.codec.encoder": (
        "encode",
        "encode_batch",
        "encode_picture",
        "encode_pictures",
    ),
    "mmpcodec.codec.encoding": ("Encoding", "Pass"),
    "mmpcodec.codec.rate_control.targets": ("Target",),
    "mmpcodec.errors": (
        "BackendUnavailable",
        "BadMagic",
        "Cancelled",
        "CorruptStream",
        "FormatError",
        "Infeasible",
        "KernelError",
        "LimitExceeded",
        "MissingExtra",
        "MmpError",
        "ParameterError",
        "PictureError",
        "TruncatedStream",
        "UnsupportedVersion",
    ),
    "mmpcodec.params": ("DecodeLimits", "EncodeParams"),
    "mmpcodec.tools": ("PRESETS", "Partition", "Tools"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
