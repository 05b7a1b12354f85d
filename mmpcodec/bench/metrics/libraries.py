"""Packages that metrics need, imported when a metric is measured."""

from importlib import import_module
from typing import Any

from mmpcodec.errors import MissingExtra, install


def library(module: str) -> Any:
    """Import a module of scikit-image or SciPy.

    Raises
    ------
    MissingExtra
        If it is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = "scikit-image" if module.startswith("skimage") else "SciPy"
        raise MissingExtra(f"metrics of pictures need {package}; {install('measure')}") from error
