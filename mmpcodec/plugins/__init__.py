"""Plugins for other libraries: Pillow, numcodecs and zarr."""
