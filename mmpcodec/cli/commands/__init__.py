"""The commands of ``mmp``: one module, or one package, for each, named like the command.

A command is added by a module here and a page in ``docs``. The module defines a function of its own
name, whose docstring is the help text, or a typer application ``app`` with commands of its own.
"""
