"""Doors into other libraries: Pillow, numcodecs and zarr."""
