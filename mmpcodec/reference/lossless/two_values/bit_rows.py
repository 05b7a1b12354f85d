"""The pixels of a plane of two values, a number of binary digits for each row.

Source: section "Two values" of ``docs/format/format.md``.
"""

FACTORS = (
    *(0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93),
    *(0xA0761D6478BD642F, 0xE7037ED1A0B428DB, 0x8EBC6AF09C88C6E3, 0x589965CC75374CC3),
    *(0x1D8E4E27C47D124F, 0xEB44ACCAB455D165, 0x2545F4914F6CDD1D, 0xBF58476D1CE4E5B9),
)
"""Factors of the hashes of pixels (F in the format)."""
HASH_BITS = 64
"""Binary digits of a hash."""
FEWEST_LINE_BITS, MOST_LINE_BITS = 6, 17
"""Limits of the binary logarithm of the lines of a model."""


def line_bits_of(height: int, width: int) -> int:
    """Return the binary logarithm of the lines of a model of a plane."""
    digits = (height * width).bit_length()
    return min(max(digits - 5, FEWEST_LINE_BITS), MOST_LINE_BITS)


class BitRows:
    """Pixels of a plane of two values, and above it those of the planes that it continues.

    Pixels beyond the planes are 0.

    Parameters
    ----------
    height, width : int
        Size of the first plane in pixels.

    Attributes
    ----------
    width : int
        That of the last plane.
    line_bits : int
        Binary logarithm of the lines of a model (l in the format).
    rows : list of int
        Pixels of each row: binary digit i is the pixel of column i.
    """

    def __init__(self, height: int, width: int):
        self.width = width
        self.line_bits = line_bits_of(height, width)
        self.rows = [0] * height

    def add(self, height: int, width: int) -> None:
        """Add a plane below."""
        self.width = width
        self.rows += [0] * height

    def bits(self, row: int, column: int, count: int) -> int:
        """Return pixels of a row from a column on, the first one as the lowest binary digit."""
        if not 0 <= row < len(self.rows):
            return 0
        digits = self.rows[row] >> column if column >= 0 else self.rows[row] << -column
        return digits & ones(count)

    def fill(self, row: int, column: int, count: int, value: int) -> None:
        """Set pixels of the plane, which are 0 so far."""
        self.rows[row] |= ones(count) * value << column


def ones(count: int) -> int:
    """Return the number whose lowest ``count`` binary digits are 1."""
    return (1 << count) - 1
