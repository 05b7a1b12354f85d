"""Integer arithmetic that several sections of the text share."""


def limited(value, least, most):
    return min(most, max(least, value))


def trunc(numerator, denominator):
    """The quotient rounded to zero; the denominator is positive."""
    quotient = abs(numerator) // denominator
    return quotient if numerator >= 0 else -quotient


def padded(size, multiple):
    return -(-size // multiple) * multiple
