"""``python -m mmpcodec.cli`` is ``mmp``."""

from mmpcodec.start import main

main()
