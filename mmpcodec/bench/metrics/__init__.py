"""Metrics of a decoded picture: one in each module, and ``table`` with all of them.

``maps`` has those that also say where in the picture they see errors.

The caller gives the level of white, because the type of the array does not determine it. It is
scaled to the range that a metric is defined for, without rounding: 8 and 16 bits of the same
picture have equal values. ICC profiles are not applied: all pictures are taken as sRGB.

PSNR, SSIM and MS-SSIM of colour are means over red, green and blue, PSNR from the mean of their
squared errors. PSNR-HVS-M and XPSNR are those of luma, with the weights of ITU-R BT.601.
SSIMULACRA2, which is in ``mmpcodec.metrics``, and Butteraugli take gray as equal red, green and
blue.
"""

from mmpcodec.bench.metrics.maps import MAPS, MetricMap, maps_of
from mmpcodec.bench.metrics.table import (
    DEFAULT,
    METRICS,
    NAMES,
    Metric,
    Quality,
    check_libraries,
    measure,
    metric_of,
    metrics_of,
)

__all__ = [
    "DEFAULT",
    "MAPS",
    "METRICS",
    "NAMES",
    "Metric",
    "MetricMap",
    "Quality",
    "check_libraries",
    "maps_of",
    "measure",
    "metric_of",
    "metrics_of",
]
