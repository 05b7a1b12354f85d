"""What is said of a picture besides its samples."""

from fractions import Fraction

import pytest

from mmpcodec import ParameterError
from mmpcodec.metadata import KINDS, Calibration, Colours, Metadata, Resolution

FULL = Metadata(
    icc=b"profile",
    exif=b"II*\0",
    xmp=b"<x/>",
    resolution=Resolution(Fraction(300), Fraction(150)),
    text=(("Title", "a"),),
    white=1000,
    colours=Colours(9, 16),
    dicom=(b"attributes",),
)


def test_kinds_are_those_that_are_there():
    assert FULL.kinds() == KINDS
    assert KINDS == ("icc", "exif", "xmp", "resolution", "text", "colours", "dicom")
    assert Metadata(white=9).kinds() == ()
    assert Metadata(xmp=b"x", icc=b"y").kinds() == ("icc", "xmp")


def test_without_leaves_the_others():
    assert FULL.without("exif", "text").kinds() == ("icc", "xmp", "resolution", "colours", "dicom")
    assert FULL.without("exif").icc == b"profile"
    assert FULL.without("all") == Metadata(white=1000)
    assert FULL.without() == FULL
    with pytest.raises(ParameterError, match=r"metadata 'gps': must be one of all, icc, exif, xmp"):
        FULL.without("icc", "gps")


def test_per_metre_is_exact():
    assert FULL.resolution.per_metre() == (Fraction(1500000, 127), Fraction(750000, 127))
    assert Resolution(Fraction(3), Fraction(4), "centimetre").per_metre() == (300, 400)
    assert Resolution(Fraction(3), Fraction(4), "none").per_metre() is None


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"icc": "text"}, "icc of type str: must be bytes"),
        ({"exif": None}, "exif of type NoneType: must be bytes"),
        ({"xmp": bytearray()}, "xmp of type bytearray: must be bytes"),
        ({"resolution": 300}, "resolution = 300: must be Resolution or None"),
        ({"text": [("a", "b")]}, "text = .*: must be a tuple of"),
        ({"text": (("a", "b", "c"),)}, "text = .*: must be a tuple of"),
        ({"text": (("a", b"b"),)}, "text = .*: must be a tuple of"),
        ({"text": (("a", "b"), ("c", "\udc80"))}, r"text = \('c', '.udc80'\): must have no surrog"),
        ({"text": (("\ud800", "a"),)}, "must have no surrogates"),
        ({"white": 0}, "white = 0: must be from 1 to 65535, or None"),
        ({"white": 65536}, "white = 65536: must be"),
        ({"white": True}, "white = True: must be"),
    ],
)
def test_other_values_are_refused(values, says):
    with pytest.raises(ParameterError, match=says):
        Metadata(**values)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ((300, Fraction(1)), "resolution x = 300: must be a Fraction above 0"),
        ((Fraction(1), Fraction(0)), r"resolution y = Fraction\(0, 1\): must be a Fraction"),
        ((Fraction(1), Fraction(1), "mile"), "unit = 'mile': must be one of none, inch, centi"),
    ],
)
def test_other_resolutions_are_refused(values, says):
    with pytest.raises(ParameterError, match=says):
        Resolution(*values)


def test_calibration_goes_through_a_text():
    for calibration in (
        Calibration(),
        Calibration(0.1, -1024.0, "HU", (-160.5, 239.5)),
        Calibration(-1.0, 1e300, "café"),
        Calibration(padding=(0, 0)),
        Calibration(2.0, -1024.0, "HU", (-160.5, 239.5), (65500, 65535)),
    ):
        metadata = Metadata(text=(("Title", "t"), calibration.text()))
        assert metadata.calibration == calibration
    assert Metadata(text=(("Title", "{}"),)).calibration is None


@pytest.mark.parametrize(
    "text",
    [
        "", "none", "[]", "1", "{}", '{"slope": 1}', '{"slope": 0, "intercept": 1}',
        '{"slope": NaN, "intercept": 1}', '{"slope": 1e999, "intercept": 0}', "[" * 100000,
        '{"slope": 1, "intercept": 0, "window": [2, 1]}',
        '{"slope": 1, "intercept": 0, "window": 5}',
        '{"slope": ' + "9" * 400 + ', "intercept": 0}',
        '{"slope": 1, "intercept": 0, "padding": [2, 1]}',
        '{"slope": 1, "intercept": 0, "padding": [0, 65536]}',
        '{"slope": 1, "intercept": 0, "padding": 5}',
    ],
)  # fmt: skip
def test_other_texts_are_no_calibration(text):
    assert Metadata(text=(("Calibration", text),)).calibration is None


@pytest.mark.parametrize(
    "arguments",
    [
        {"slope": 0.0},
        {"slope": 1e301},
        {"intercept": float("inf")},
        {"intercept": float("nan")},
        {"window": (1.0, 1.0)},
    ],
)
def test_calibration_must_have_numbers(arguments):
    with pytest.raises(
        ParameterError, match="must have numbers of at most 1e\\+300, a slope other"
    ):
        Calibration(**arguments)


@pytest.mark.parametrize(("depth", "kept"), [(9, True), (8, False)])
def test_a_range_stays_only_where_both_levels_exist(depth, kept):
    metadata = Metadata(range=(10, 300), white=255)
    assert metadata.at_depth(depth) == Metadata(range=(10, 300) if kept else None, white=255)
