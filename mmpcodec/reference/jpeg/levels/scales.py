"""Logarithmic scales of the sizes of levels.

Source: section "Levels of a stripe", "Scales", of ``docs/format/format.md``.
"""

from mmpcodec.reference.integers import limited

MOST_SCALED = 1023
"""Larger sizes count as this one."""


def logarithm(size: int) -> int:
    """Return 64 for each doubling of 1 + size, linear between doublings."""
    number = 1 + min(size, MOST_SCALED)
    doublings = number.bit_length() - 1
    return 64 * doublings + (64 * number >> doublings) - 64


def coarse(size: int) -> int:
    """Return a step from 0 to 31, of which a doubling of the size has four."""
    size = min(size, MOST_SCALED)
    digits = size.bit_length()
    return min(31, size if size < 4 else 4 * digits - 8 + (size >> digits - 3) % 4)


def sign_of(value: int) -> int:
    """Return 0, 1 or 2 for zero, a negative and a positive number."""
    return 2 if value > 0 else int(value < 0)


def near(value: int, most: int) -> int:
    """Return a number limited to -most to most, plus ``most``."""
    return limited(value, -most, most) + most
