"""Section Border filter of docs/format/format.md."""

W = (
    *((29, 23, 18, 14, 11, 8, 6, 4), (27, 18, 11, 6, 3, 1, 0, 0), (26, 13, 5, 1, 0, 0, 0, 0)),
    *((22, 6, 0, 0, 0, 0, 0, 0), (18, 0, 0, 0, 0, 0, 0, 0), (10, 0, 0, 0, 0, 0, 0, 0)),
)


def border_filter(samples, fixed, T, t, d):
    """Filter the levels of a picture (height, width, channels); ``fixed`` are its fixed pixels."""
    if T == 0:
        return
    if samples.shape[2] in (2, 4):
        fixed = fixed | (samples[:, :, -1] == 0)
    filter_rows(samples, fixed, T, t, d)
    filter_rows(samples.swapaxes(0, 1), fixed.T, T, t, d)


def filter_rows(samples, fixed, T, t, d):
    height, width, channels = samples.shape
    for r in range(height):
        for column in range(t, width, t):
            before = [max(column - 1 - k, 0) for k in range(8)]
            behind = [min(column + k, width - 1) for k in range(8)]
            if fixed[r, before + behind].any():
                continue
            P, Q = (samples[r, each].astype(int).tolist() for each in (before, behind))
            C = channel_corrections(P, Q, channels, T, d)
            for channel, own in enumerate(C):
                for k in range(8):
                    x = P[k][channel] + ((256 + own[k]) >> 9)
                    samples[r, before[k], channel] = min(max(x, 0), 2**d - 1)
                    if column + k < width:
                        x = Q[k][channel] + ((256 - own[k]) >> 9)
                        samples[r, column + k, channel] = min(max(x, 0), 2**d - 1)


def channel_corrections(P, Q, channels, T, d):
    """The corrections of the channels from the pixels before and behind a border."""
    if channels < 3:
        return [corrections([4 * x[0] for x in P], [4 * x[0] for x in Q], T, d)]
    planes = (1, 2, 1), (2, 0, -2), (-1, 2, -1)
    c = []
    for plane in planes:
        p, q = (values(each, plane) for each in (P, Q))
        c.append(corrections(p, q, T, d))
    red, green, blue = [], [], []
    for luma, orange, chroma_green in zip(*c, strict=True):
        red.append(luma - chroma_green + orange)
        green.append(luma + chroma_green)
        blue.append(luma - chroma_green - orange)
    return red, green, blue


def values(pixels, plane):
    return [sum(n * x for n, x in zip(plane, own[:3], strict=True)) for own in pixels]


def corrections(p, q, T, d):
    a = 0
    for v in (p, q):
        a += sum(abs(v[k] - 2 * v[k + 1] + v[k + 2]) for k in range(3))
    number = sum(a > ((n * T * 2**d) >> 18) for n in (5, 16, 40, 128, 384))
    s = 2 * (q[0] - p[0])
    A, B = p[0] - p[2], q[2] - q[0]
    slope = max(0, min(s, A, B)) + min(0, max(s, A, B))
    m = (3 * T * 2**d) >> 12
    return [w * min(max(s - slope, -m), m) for w in W[number]]
