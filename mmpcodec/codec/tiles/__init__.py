"""Tiles one after the other: pictures larger than memory, and the decoding of each tile."""
