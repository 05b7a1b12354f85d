"""Regions in values and millimetres."""

from fractions import Fraction

import pytest

from mmpcodec.analysis.measures import Measures, measured
from mmpcodec.analysis.regions import Region
from mmpcodec.metadata import Calibration, Metadata, Resolution

REGION = Region(1, 10, 20, 30, 40, 0.0, 1064.0, 5.0, 1000.0, 1100.0)


def test_a_falling_slope_turns_least_and_most():
    text = (Calibration(-2.0, 100.0, "OD").text(),)
    found = measured(REGION, Metadata(text=text))
    assert found == Measures("OD", -2028.0, 10.0, -2100.0, -1900.0)


def test_millimetres_follow_the_resolution_of_each_side():
    resolution = Resolution(Fraction(4000), Fraction(2000), "metre")
    found = measured(REGION, Metadata(resolution=resolution))
    assert found == Measures(left_mm=2.5, top_mm=10.0, width_mm=7.5, height_mm=20.0)
    inches = Resolution(Fraction(254), Fraction(254), "inch")
    assert measured(REGION, Metadata(resolution=inches)).width_mm == pytest.approx(3.0)
    ratio = Resolution(Fraction(4), Fraction(3), "none")
    assert measured(REGION, Metadata(resolution=ratio)) == Measures()
