"""Palettes: text and flat areas of screens as numbers of colours. *Encoder only* but ``coding``."""
