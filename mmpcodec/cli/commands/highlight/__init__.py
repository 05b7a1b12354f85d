"""``mmp highlight``: find and draw bright regions of x-rays and other pictures.

``command`` has the options and the work on a picture, ``books`` that on pages and series of slices,
``results`` what is printed and written to tables.
"""

from mmpcodec.cli.commands.highlight.command import Offset, check_offset, highlight

__all__ = ["Offset", "check_offset", "highlight"]
