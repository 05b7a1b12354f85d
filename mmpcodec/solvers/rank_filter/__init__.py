"""Rank filters: each pixel becomes the value of a given rank among those in a window around it.

Pictures are (H, W) arrays of uint8, uint16 or float32, of any size. A window has an odd height and
an odd width of 1 to 255; its centre lies on the pixel. The median is the rank in the middle, the
minimum the first, the maximum the last. Results are exact, and the same on every backend.

*Ranks.* Ranks count from 0, the least value. A percentile p of n values has rank floor(n p / 100),
computed in float64, and at most n - 1. Without a mask and NaN the results are those of
``scipy.ndimage.median_filter``, ``rank_filter`` and ``percentile_filter``, but for "reflect" with
windows many times wider than the picture, which follow NumPy's ``pad``.

*Borders.* What a window sees outside of the picture, in SciPy's terms: "reflect" (d c b a | a b c d
| d c b a), "mirror" (d c b | a b c d | c b a), "nearest" (a a a | a b c d | d d d), "wrap"
(b c d | a b c d | a b c), "constant" (the value ``cval``).

*Pixels that do not count.* A mask's zeros, and NaN, enter no window; their copies beyond the
border do not either, while ``cval`` counts everywhere. A window's rank is then that among its n
pixels that count: the lower of the two middle ones for the median of an even n; for a rank r, r but
at most n - 1, and for a negative one, which counts from the greatest, n + r but at least 0. Where
no pixel of a window counts, the pixel keeps its value, which may be NaN. All other pixels, also
those that do not count, receive the rank of their window.

*Order of floats.* As numbers, with -0.0 before 0.0, infinities at the ends.

Sources: S. Perreault and P. Hebert, "Median filtering in constant time", IEEE Transactions on Image
Processing, 2007; J. Suomela, "Median filtering is equivalent to sorting", 2014.
"""

from mmpcodec.solvers.rank_filter.filters import median_filter, percentile_filter, rank_filter

__all__ = ["median_filter", "percentile_filter", "rank_filter"]
