"""Luma and chroma that red, green and blue were made from."""
