"""The zigzag order of ITU-T T.81."""

ZIGZAG = sorted(
    range(64),
    key=lambda k: (k // 8 + k % 8, k // 8 if (k // 8 + k % 8) % 2 else k % 8),
)
"""The number of the level at each place."""
