"""Image codec around MMP: segmentation trees over dictionaries that learn while coding.

>>> import mmpcodec
>>> data = mmpcodec.encode(picture, lam=32)       # doctest: +SKIP
>>> picture = mmpcodec.decode(data)               # doctest: +SKIP
"""

from typing import TYPE_CHECKING

from mmpcodec.runtime import lazy

if TYPE_CHECKING:
    from mmpcodec import metadata as metadata
    from mmpcodec import params as params
    from mmpcodec import pictures as pictures
    from mmpcodec import solvers as solvers
    from mmpcodec.codec.decoder import Inspection, decode, inspect
    from mmpcodec.codec.encoder import encode, encode_batch, encode_picture, encode_pictures
    from mmpcodec.codec.encoding import Encoding, Pass
    from mmpcodec.codec.rate_control.targets import Target
    from mmpcodec.codec.regions import decode_scaled
    from mmpcodec.codec.series.decoding import decode_batch
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
        NoSuchPage,
        ParameterError,
        PictureError,
        PictureWarning,
        TruncatedStream,
        UnreadableJpeg,
        UnsupportedVersion,
    )
    from mmpcodec.limits import DecodeLimits
    from mmpcodec.opening.appending import append_to
    from mmpcodec.options import EncodeOptions
    from mmpcodec.params import EncodeParams
    from mmpcodec.pictures.encoding import encode_file
    from mmpcodec.pictures.kept_jpeg import kept_file
    from mmpcodec.pictures.mmp.series import Pictures, SeriesPicture
    from mmpcodec.pictures.mmp.series import open as open
    from mmpcodec.pictures.samples import imread
    from mmpcodec.pictures.writing import imwrite
    from mmpcodec.presets import PRESETS
    from mmpcodec.tools import BlockTools, LosslessTools, Partition, Tools, TreeTools

__version__ = "0.1.0"

__all__ = [
    "PRESETS",
    "BackendUnavailable",
    "BadMagic",
    "BlockTools",
    "Cancelled",
    "CorruptStream",
    "DecodeLimits",
    "EncodeOptions",
    "EncodeParams",
    "Encoding",
    "FormatError",
    "Infeasible",
    "Inspection",
    "KernelError",
    "LimitExceeded",
    "LosslessTools",
    "MissingExtra",
    "MmpError",
    "NoSuchPage",
    "ParameterError",
    "Partition",
    "Pass",
    "PictureError",
    "PictureWarning",
    "Pictures",
    "SeriesPicture",
    "Target",
    "Tools",
    "TreeTools",
    "TruncatedStream",
    "UnreadableJpeg",
    "UnsupportedVersion",
    "__version__",
    "append_to",
    "decode",
    "decode_batch",
    "decode_scaled",
    "encode",
    "encode_batch",
    "encode_file",
    "encode_picture",
    "encode_pictures",
    "imread",
    "imwrite",
    "inspect",
    "kept_file",
    "open",
]

__getattr__, __dir__ = lazy.names(
    __name__,
    {
        "mmpcodec.codec.decoder": ("Inspection", "decode", "inspect"),
        "mmpcodec.codec.encoder": (
            "encode",
            "encode_batch",
            "encode_picture",
            "encode_pictures",
        ),
        "mmpcodec.codec.encoding": ("Encoding", "Pass"),
        "mmpcodec.codec.rate_control.targets": ("Target",),
        "mmpcodec.codec.regions": ("decode_scaled",),
        "mmpcodec.codec.series.decoding": ("decode_batch",),
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
            "NoSuchPage",
            "ParameterError",
            "PictureError",
            "PictureWarning",
            "TruncatedStream",
            "UnreadableJpeg",
            "UnsupportedVersion",
        ),
        "mmpcodec.limits": ("DecodeLimits",),
        "mmpcodec.opening.appending": ("append_to",),
        "mmpcodec.options": ("EncodeOptions",),
        "mmpcodec.params": ("EncodeParams",),
        "mmpcodec.pictures.encoding": ("encode_file",),
        "mmpcodec.pictures.kept_jpeg": ("kept_file",),
        "mmpcodec.pictures.mmp.series": ("Pictures", "SeriesPicture", "open"),
        "mmpcodec.pictures.samples": ("imread",),
        "mmpcodec.pictures.writing": ("imwrite",),
        "mmpcodec.presets": ("PRESETS",),
        "mmpcodec.tools": ("BlockTools", "LosslessTools", "Partition", "Tools", "TreeTools"),
    },
    modules=("metadata", "params", "pictures", "solvers"),
)
