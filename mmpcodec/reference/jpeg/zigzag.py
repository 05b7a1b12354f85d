"""The order of levels in scans."""


def _place(k: int) -> tuple[int, int]:
    """Return the diagonal of a level, and its place on it; diagonals change their direction."""
    v, u = divmod(k, 8)
    return u + v, u if (u + v) % 2 == 0 else v


ZIGZAG = sorted(range(64), key=_place)
"""The place, by rows, of each level in the order of scans (ITU-T T.81, figure 5)."""
