"""Integer arithmetic of the least-squares weights.

Source: ``trunc`` and ``limit`` in section "Conventions" of ``docs/format/format.md``.
"""


def truncated(dividend: int, divisor: int) -> int:
    """Return the quotient by a positive divisor, rounded towards zero."""
    return dividend // divisor if dividend >= 0 else -(-dividend // divisor)


def limited(value: int, low: int, high: int) -> int:
    """Return the value, clipped to low to high."""
    return min(max(value, low), high)
