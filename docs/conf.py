"""Configuration of Sphinx: the pages of docs and an API reference from the docstrings.

`make docs` builds from the installed package, which alone has the compiled module.
"""

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

autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints = "none"  # the docstrings name types and shapes
numpydoc_show_class_members = False  # autodoc lists them

suppress_warnings = ["misc.highlighting_failure"]  # files of the solvers may hold NaN, JSON may not
