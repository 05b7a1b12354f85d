"""Decoding of mmp files to picture files, for ``mmp decode``."""
