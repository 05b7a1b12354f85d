"""``mmp budget``: ``command`` has the options and the work, ``text`` the output."""

from mmpcodec.cli.commands.budget.command import budget

__all__ = ["budget"]
