"""Frequencies of the modes: section Modes of the text."""


def factor(mode, neighbours):
    """f of Modes; ``neighbours`` are the modes L, H and those at the far ends."""
    f = 4 if mode <= 2 else 2
    for other in neighbours:
        if 3 <= mode <= 35 and 3 <= other <= 35:  # angles
            f += {0: 6, 1: 6, 2: 3}.get(abs(mode - other), 0)
    return f
