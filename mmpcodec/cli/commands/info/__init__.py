"""``mmp info``: ``command`` has the options and the work, ``text`` the output.

``books`` describes files of several pictures.
"""

from mmpcodec.cli.commands.info.command import info

__all__ = ["info"]
