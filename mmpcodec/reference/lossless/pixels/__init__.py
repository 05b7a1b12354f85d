"""Repeating pixels: whole pixels of a layer, coded by colours seen before."""
