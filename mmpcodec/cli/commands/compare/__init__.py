"""``mmp compare``: ``command`` has the options, ``measuring`` compares two pictures.

``folders`` pairs the pictures of two folders, and computes means.
"""

from mmpcodec.cli.commands.compare.command import compare

__all__ = ["compare"]
