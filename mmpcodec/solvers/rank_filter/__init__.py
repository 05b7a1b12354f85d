"""Rank filters: each pixel becomes the value of a given rank in the window around it.

Pictures are (H, W) arrays of uint8, uint16, int16, float32 or float64 of any size. A window is a
rectangle of 1 to 255 rows and columns (``size``), or some of its cells (``footprint``). Its centre,
in row height // 2 and column width // 2 counted from 0, is the pixel. The minimum has the first
rank, the median the middle rank, the maximum the last rank. Results are exact and equal on all
backends.

*Ranks.* Ranks count from 0, the smallest value. The median of n values has the rank n // 2, the
upper one of the two in the middle if n is even. A percentile p of n values has the rank
floor(n p / 100), computed in float64, at most n - 1. Without mask and NaN, the results equal those
of ``scipy.ndimage.median_filter``, ``rank_filter`` and ``percentile_filter``. Exception: "reflect"
with windows many times wider than the picture follows NumPy's ``pad``.

*Borders.* The mode sets the values beyond the border, with SciPy's names: "reflect"
(d c b a | a b c d | d c b a), "mirror" (d c b | a b c d | c b a), "nearest"
(a a a | a b c d | d d d), "wrap" (b c d | a b c d | a b c), "constant" (the value ``cval``).

*Masked pixels.* Windows leave out pixels where the mask is 0, pixels that are NaN, and copies of
both beyond the border. ``cval`` is never left out. If some pixels are left out and n remain, the
median has the rank (n - 1) // 2, a rank r >= 0 becomes min(r, n - 1), and a negative rank r becomes
max(n + r, 0). If n is 0, the pixel keeps its value. All other pixels, masked ones included, receive
the value of the rank.

*Order of floats.* Floating-point numbers are ordered by value, with -0.0 before 0.0 and infinities
at the ends.

Sources: S. Perreault and P. Hebert, "Median filtering in constant time", IEEE Transactions on Image
Processing, 2007; J. Suomela, "Median filtering is equivalent to sorting", 2014; M. van Herk, "A
fast algorithm for local minimum and maximum filters on rectangular and octagonal kernels", 1992;
K. E. Batcher, "Sorting networks and their applications", 1968.
"""

from mmpcodec.solvers.rank_filter.filters import median_filter, percentile_filter, rank_filter

__all__ = ["median_filter", "percentile_filter", "rank_filter"]
