"""Decoding of tiles on a CUDA device: predicted blocks, filters, colours and checksums."""
