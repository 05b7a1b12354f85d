"""Express regions in what a picture measures: values such as Hounsfield units, and millimetres."""

from dataclasses import dataclass

from mmpcodec.analysis.regions import Region
from mmpcodec.metadata import Metadata


@dataclass(frozen=True)
class Measures:
    """A region in the units of its picture; None where the picture does not say them.

    Parameters
    ----------
    unit : str or None
        Unit of the values, "HU" for Hounsfield units; empty if only their numbers are known.
    value_mean, value_deviation, value_min, value_max : float or None
        Of the pixels of the region.
    left_mm, top_mm, width_mm, height_mm : float or None
        Place and size of the region.
    """

    unit: str | None = None
    value_mean: float | None = None
    value_deviation: float | None = None
    value_min: float | None = None
    value_max: float | None = None
    left_mm: float | None = None
    top_mm: float | None = None
    width_mm: float | None = None
    height_mm: float | None = None


def measured(region: Region, metadata: Metadata) -> Measures:
    """Express a region by the calibration and the resolution of its picture.

    Examples
    --------
    >>> from mmpcodec.analysis.measures import measured
    >>> from mmpcodec.analysis.regions import Region
    >>> from mmpcodec.metadata import Calibration, Metadata
    >>> metadata = Metadata(text=(Calibration(1.0, -1024.0, "HU").text(),))
    >>> found = measured(Region(1, 10, 5, 3, 4, 870.0, 1064.0, 2.0, 1060.0, 1070.0), metadata)
    >>> found.value_mean, found.value_min, found.unit
    (40.0, 36.0, 'HU')
    """
    facts: dict[str, float] = {}
    calibration, resolution = metadata.calibration, metadata.resolution
    if calibration is not None:
        ends = calibration.value(region.least), calibration.value(region.most)
        facts |= {
            "value_mean": calibration.value(region.mean),
            "value_deviation": abs(calibration.slope) * region.deviation,
            "value_min": min(ends),
            "value_max": max(ends),
        }
    if resolution is not None and (pixel := resolution.millimetres()):
        across, down = pixel
        facts |= {
            "left_mm": region.left * across,
            "top_mm": region.top * down,
            "width_mm": region.width * across,
            "height_mm": region.height * down,
        }
    return Measures(unit=None if calibration is None else calibration.unit, **facts)
