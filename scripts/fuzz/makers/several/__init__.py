"""Makers of files that hold several pictures."""
