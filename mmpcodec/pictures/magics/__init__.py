"""Recognise files that do not begin with the magic of their format."""
