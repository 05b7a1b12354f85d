"""Encode picture files for ``mmp encode``: whole pictures in ``sources``, tiles in ``by_tiles``."""
