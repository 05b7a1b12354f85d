"""Codecs in one shape: ours, those of other libraries, and programs."""
