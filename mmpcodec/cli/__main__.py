"""``python -m mmpcodec.cli`` runs ``mmp``."""

from mmpcodec.cli.start import main

main()
