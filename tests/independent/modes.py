"""Frequencies of the modes: sections Modes and Derived modes of the text."""


def factor(mode, L, H):
    """f of Modes."""
    f = 2
    for other in (L, H):
        if 3 <= mode <= 35 and 3 <= other <= 35:  # angles
            f += {1: 6, 2: 3}.get(abs(mode - other), 0)
    return f


def derived_weights(picture, decoded, y, x, h, w):
    """The weight of each mode, in 1/8."""
    T = run(decoded[y - 1, x : x + h + w]) if y > 0 else 0
    Z = run(decoded[y : y + h + w, x - 1]) if x > 0 else 0
    places = []
    if T:
        places += [(y - 2, x + k) for k in range(-2 if Z else 1, T - 1)]
    if Z:
        places += [(y + k, x - 2) for k in range(-1 if T else 1, Z - 1)]
    E = [0] * 37  # two beyond each end
    for i, j in places:
        S = picture[i - 1 : i + 2, j - 1 : j + 2].tolist()
        X = sum(k * (S[r][2] - S[r][0]) for r, k in enumerate((1, 2, 1)))
        Y = sum(k * (S[2][r] - S[0][r]) for r, k in enumerate((1, 2, 1)))
        small, large = sorted((abs(X), abs(Y)))
        turn = sum(64 * small >= k * large for k in (2, 7, 14, 22, 30, 38, 47, 58))
        if (X < 0) != (Y < 0):
            turn = -turn
        E[2 + (24 + turn if abs(X) >= abs(Y) else 8 - turn)] += small + large
    V = [10] * 38
    for t in range(33):
        nearby = sum(k * e for k, e in zip((1, 2, 3, 2, 1), E[t : t + 5], strict=True))
        V[3 + t] = 2 + 32 * nearby // (3 * (sum(E) or 1))
    return V


def run(decoded):
    """The number of decoded samples before the first that is not."""
    line = [*decoded.tolist(), False]
    return line.index(False)
