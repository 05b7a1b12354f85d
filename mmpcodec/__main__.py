"""``python -m mmpcodec`` runs ``mmp``."""

from mmpcodec.cli.start import main

main()
