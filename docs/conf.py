"""Configuration of Sphinx: the pages of docs and an API reference from the docstrings.

`make docs` builds from the installed package, which alone has the compiled module.
"""

import importlib
import pkgutil

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import nested_parse_with_titles

import mmpcodec

project = "mmpcodec"
version = release = mmpcodec.__version__
copyright = "the authors of mmpcodec"

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
html_theme = "alabaster"
html_theme_options = {
    "description": "An image codec around MMP, with exact solvers as picture tools",
    "fixed_sidebar": True,
    "page_width": "72rem",
}

myst_heading_anchors = 4

ALIASES = (
    *("Candidates", "Coefficients", "CrossComponentCoefficients", "Layer", "Norms"),
    *("Range", "Rotation", "Row", "Tap"),
)
"""Aliases of types, which autodoc takes for classes."""
autodoc_default_options = {
    "members": True,
    "member-order": "bysource",
    "exclude-members": ", ".join(ALIASES),
}
autodoc_typehints = "none"  # the docstrings name types and shapes
numpydoc_show_class_members = False  # autodoc lists them

suppress_warnings = ["misc.highlighting_failure"]  # files of the solvers may hold NaN, JSON may not


class Modules(SphinxDirective):
    """``.. modules:: PACKAGE`` documents a package, and each of its modules under a heading."""

    required_arguments = 1

    def run(self):
        package = importlib.import_module(self.arguments[0])
        lines = [f".. automodule:: {package.__name__}", ""]
        for module in pkgutil.iter_modules(package.__path__):
            if not module.ispkg:
                full = f"{package.__name__}.{module.name}"
                lines += [module.name, "~" * len(module.name), "", f".. automodule:: {full}", ""]
        node = nodes.section()
        nested_parse_with_titles(self.state, StringList(lines, self.arguments[0]), node)
        return node.children


def setup(app: Sphinx) -> None:
    app.add_directive("modules", Modules)
