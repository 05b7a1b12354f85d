"""Whole pictures: from samples to the bytes of a file and back.

``encoder`` and ``decoder`` hold the public functions, ``tile_choice`` encodes tiles: ``layers``
codes each layer with each set of tools and keeps the cheapest, ``palettes`` chooses what a palette
draws over them. ``colour`` turns colours into planes, ``tiles`` holds tiles and pictures larger
than memory, ``rate_control`` predicts the lambda of a quality and searches the one that keeps a
target. ``backends`` code single planes; ``format`` holds the syntax of files.
"""
