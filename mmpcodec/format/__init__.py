"""Syntax of files: reading and writing the header, metadata, tiles, layers and their tools."""
