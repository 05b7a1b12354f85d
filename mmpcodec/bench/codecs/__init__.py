"""Codecs with one interface: mmpcodec, other libraries, and programs."""
