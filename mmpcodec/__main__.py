"""``python -m mmpcodec`` runs ``mmp``."""

from mmpcodec.start import main

main()
