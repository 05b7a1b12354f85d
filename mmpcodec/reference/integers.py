"""Integer arithmetic of the fitted weights, as the format means it."""


def truncated(dividend: int, divisor: int) -> int:
    """Quotient by a positive number, rounded to zero."""
    return dividend // divisor if dividend >= 0 else -(-dividend // divisor)


def limited(value: int, most: int) -> int:
    """The nearest number from -most to most."""
    return min(max(value, -most), most)
