"""Frequencies of the modes: section Modes of the text."""


def factor(mode, L, H):
    """f of Modes."""
    f = 3 if mode <= 2 else 2
    for other in (L, H):
        if 3 <= mode <= 35 and 3 <= other <= 35:  # angles
            f += {1: 6, 2: 3}.get(abs(mode - other), 0)
    return f
