"""``mmp sweep``: ``command`` has the options, ``chosen`` the codecs.

``measuring`` measures a picture, here or on a worker, and ``text`` has the output.
"""

from mmpcodec.cli.commands.sweep.command import sweep

__all__ = ["sweep"]
