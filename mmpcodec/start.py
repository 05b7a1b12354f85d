"""The entry point of the program ``mmp``: handles signals before it imports the command line."""

from mmpcodec.cli.signals import end_at_once_on_signals


def main() -> None:
    """Run the command line on the arguments of this process."""
    end_at_once_on_signals()

    from mmpcodec.cli.app import main

    main()
