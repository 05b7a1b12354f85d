"""Plugins for other libraries: Pillow, imageio, numcodecs and zarr."""
