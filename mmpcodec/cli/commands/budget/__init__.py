"""``mmp budget``: ``command`` has the options and the choice, ``text`` the output.

``measuring`` encodes the pictures, here or on a cluster.
"""

from mmpcodec.cli.commands.budget.command import budget

__all__ = ["budget"]
