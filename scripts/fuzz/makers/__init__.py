"""Makers of broken picture files, by format: a valid file whose fields are changed here and there.

A maker is a function ``make(choices)`` that returns the bytes of a file. It draws all that the file
holds from a ``Choices``, so a recipe, such as "png 1 1234", stands for a file. Checksums are
repaired after a change, so that readers look behind them.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from parts.choices import Choices

# Makers of mmp files use the model of the independent decoder.
sys.path.append(str(Path(__file__).parents[3] / "tests"))

FORMATS = (
    "tiff", "png", "jpeg", "gif", "webp", "avif", "jpeg2000", "jpegxl", "heic", "bmp", "netpbm",
    "npy", "dicom", "nifti", "pdf", "mmp", "book", "exif",
)  # fmt: skip
"""Formats that have a maker, the module of the same name."""
SEVERAL = ("book", "nifti", "pdf")
"""Those whose module is in the folder ``several``."""


def maker(format: str) -> Callable[[Choices], bytes]:
    """Return the maker of a format."""
    folder = "makers.several" if format in SEVERAL else "makers"
    return import_module(f"{folder}.{format}").make


def made(recipe: str) -> bytes:
    """Make the file of a recipe: "FORMAT SEED NUMBER"."""
    return maker(recipe.split()[0])(Choices(recipe))
