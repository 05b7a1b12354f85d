"""The table of maps of metrics: where in a picture a metric sees errors."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from mmpcodec.bench.metrics.butteraugli import BUTTERAUGLI_SIDE, error_map
from mmpcodec.bench.metrics.ssim import SSIM_SIDE, dissimilarity_map
from mmpcodec.bench.metrics.table import ALL, METRICS, Metric
from mmpcodec.errors import ParameterError
from mmpcodec.metrics.ssimulacra2 import SSIMULACRA2_SIDE, loss_map


@dataclass(frozen=True)
class MetricMap:
    """A map of a metric.

    Parameters
    ----------
    metric : Metric
    meaning : str
        What a value of the map is, in words.
    side : int
        Smallest side of a picture that has a map, in samples.
    function : callable
        ``function(original, decoded, white=white)`` returns the value of each pixel, (H, W) floats:
        0 without an error, and more where the metric sees more. None below ``side``.
    """

    metric: Metric
    meaning: str
    side: int
    function: Callable[..., np.ndarray | None]


_TABLE = (
    MetricMap(
        METRICS["ssim"],
        "1 minus the similarity of the window around a pixel",
        SSIM_SIDE,
        dissimilarity_map,
    ),
    MetricMap(
        METRICS["ssimulacra2"],
        "points that a picture would lose if it was as bad everywhere",
        SSIMULACRA2_SIDE,
        loss_map,
    ),
    MetricMap(
        METRICS["butteraugli"],
        "visible error; 1 is just visible",
        BUTTERAUGLI_SIDE,
        error_map,
    ),
)

MAPS: Mapping[str, MetricMap] = {each.metric.key: each for each in _TABLE}
"""All maps by the keys of their metrics."""


def maps_of(text: str | None) -> tuple[MetricMap, ...]:
    """Return the maps of names of metrics with commas between them, or ``all``; none for None.

    They are in the order of the table.

    Raises
    ------
    ParameterError
        If a name is not one of a metric with a map.
    """
    if text is None:
        return ()
    if text.strip() == ALL:
        return _TABLE
    names = {name.strip() for name in text.split(",")}
    if not names <= MAPS.keys():
        raise ParameterError(f"--maps {text}: must be {ALL}, or some of {','.join(MAPS)}")
    return tuple(each for key, each in MAPS.items() if key in names)
