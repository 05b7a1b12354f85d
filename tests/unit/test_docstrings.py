"""The docstrings of the API reference are numpydoc and agree with the signatures."""

import inspect
import pkgutil
import re
from importlib import import_module
from pathlib import Path

import pytest
from numpydoc.validate import validate

import mmpcodec
from mmpcodec import errors

CHECKS = {
    "GL03": "double blank lines",
    "GL05": "tabs",
    "GL06": "unknown section",
    "GL07": "order of sections",
    "GL08": "no docstring",
    "GL10": "directive without two colons",
    "SS02": "summary begins in lower case",
    "SS03": "summary without period",
    "SS06": "summary of several lines",
    "PR02": "parameter that the signature lacks",
    "PR03": "order of parameters",
    "PR05": "type with a period",
    "PR10": "no space before the colon",
    "RT05": "returned value without period",
}
PAGES = sorted((Path(__file__).parents[2] / "docs/api").glob("*.rst"))
TEXT = "".join(page.read_text() for page in PAGES)
PACKAGES = re.findall(r" modules:: (\S+)", TEXT)
MODULES = sorted(
    {
        *(*PACKAGES, *re.findall(r"automodule:: (\S+)", TEXT)),
        *(
            f"{package}.{module.name}"
            for package in PACKAGES
            for module in pkgutil.iter_modules(import_module(package).__path__)
        ),
    }
)
"""What `docs/conf.py` makes of the pages."""


def public_names(module):
    """Names of the public functions, classes and methods that a page shows of a module."""
    shown = getattr(module, "__all__", None)
    for name, value in inspect.getmembers(module):
        is_own = getattr(value, "__module__", None) == module.__name__
        if not (name in shown if shown is not None else is_own and not name.startswith("_")):
            continue
        if inspect.isroutine(value) or inspect.isclass(value):
            yield name
        if inspect.isclass(value):
            for member, inner in vars(value).items():
                if not member.startswith("_") and (inspect.isroutine(inner) or is_property(inner)):
                    yield f"{name}.{member}"


def is_property(value):
    return isinstance(value, (property, classmethod, staticmethod))


@pytest.mark.parametrize("name", MODULES)
def test_docstrings_are_numpydoc(name):
    module = import_module(name)
    found = [
        f"{public}: {code} ({CHECKS[code]}) {problem}"
        for public in public_names(module)
        for code, problem in validate(f"{name}.{public}")["errors"]
        if code in CHECKS
    ]
    assert not found, "\n".join(found)


def test_the_page_of_the_package_shows_all_its_names():
    page = next(page for page in PAGES if page.stem == "mmpcodec").read_text()
    shown = {name for name in mmpcodec.__all__ if re.search(rf":: {name}$", page, re.MULTILINE)}
    assert set(mmpcodec.__all__) - shown - set(vars(errors)) == {"__version__"}


def test_the_reference_has_a_page_for_each_package_that_others_import():
    listed = set(
        re.findall(r"^api/(\w+)$", (PAGES[0].parents[1] / "index.md").read_text(), re.MULTILINE)
    )
    packages = {"analysis", "bench", "dask", "pictures", "planning", "plugins", "reference"}
    packages |= {"solvers"}
    assert listed == {"mmpcodec", *packages}
    for name in packages:
        page = next(page for page in PAGES if page.stem == name)
        assert re.search(rf"modules?:: mmpcodec\.{name}\b", page.read_text())
