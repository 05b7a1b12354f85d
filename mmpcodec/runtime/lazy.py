"""Names of a package that load when they are first used (PEP 562).

``mmp --help`` waits for neither NumPy nor the codec.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def names(
    package: str, homes: Mapping[str, Sequence[str]], modules: Sequence[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make the functions ``__getattr__`` and ``__dir__`` of a package.

    Parameters
    ----------
    package : str
        Name of the package.
    homes : mapping of str to sequence of str
        Names that each module defines.
    modules : sequence of str
        Modules of the package that its name reaches without an import of their own.

    Returns
    -------
    getter, lister : callable
        The getter raises AttributeError for a name that no module defines.

    Examples
    --------
    >>> from mmpcodec.runtime.lazy import names
    >>> getter, lister = names("mmpcodec", {"mmpcodec.errors": ["MmpError"]})
    >>> getter("MmpError").__module__
    'mmpcodec.errors'
    """
    home_of = {name: home for home, defined in homes.items() for name in defined}

    def getter(name: str) -> Any:
        if name in modules:
            return import_module(f"{package}.{name}")
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(home_of[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    def lister() -> list[str]:
        loaded = vars(sys.modules[package])
        return sorted({*loaded, *loaded["__all__"], *modules})

    return getter, lister
