"""The command line ``mmp``: ``app`` finds the commands, ``commands`` has one module a command.

Only this package prints and imports typer. At the top its modules import nothing slower than
typer, so that ``mmp --help`` starts at once; a command imports NumPy and the codec when it runs.

- ``jobs`` pairs inputs with outputs, ``run`` works through them, ``output`` reads and writes files,
- ``printing`` and ``progress`` show results, ``exits`` has exit codes, ``signals`` has handlers,
- ``options`` has the options that several commands share.
"""
