"""``python -m mmpcodec.cli`` is ``mmp``."""

from mmpcodec.cli import main

main()
