"""Codecs with one interface: mmpcodec, other libraries and external programs."""
