"""The command line ``mmp``: ``start`` runs it, ``app`` finds the commands, one module each.

Only this package prints and imports typer. ``app`` imports the module of a command when the command
is named or when help lists it. At the top the modules import nothing slower than typer, so that
``mmp --help`` starts at once; a command imports NumPy and the codec when it runs.

- ``jobs`` pairs inputs with outputs, ``run`` works through them, ``output`` reads and writes files,
- ``printing`` and ``progress`` show results, ``exits`` has exit codes, ``signals`` has handlers,
- ``options`` has the options that several commands share.
"""
