"""``python -m mmpcodec.cli`` runs ``mmp``."""

from mmpcodec.start import main

main()
