"""What readers leave out: one warning for a picture, the keys, and the table of the guide."""

import io
import warnings
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from support.picture_files import COLOUR

from mmpcodec import PictureError, PictureWarning, pictures
from mmpcodec.pictures import registry
from mmpcodec.pictures.left_out import LEFT_OUT, leave_out, noted

GUIDE = Path(__file__).parents[4] / "docs" / "guide" / "pictures.md"


def inks():
    stream = io.BytesIO()
    Image.fromarray(COLOUR).convert("CMYK").save(stream, "JPEG")
    return stream.getvalue()


def noted_twice(key="cmyk"):
    with noted("x"):
        leave_out("x", "iptc")
        leave_out("x", (key, "iptc"), "3 lines\n of it")


def test_a_picture_has_one_warning_with_all_keys():
    with pytest.warns(PictureWarning) as said:
        noted_twice()
    assert [str(each.message) for each in said] == [
        "x: holds CMYK colours, which are converted to RGB (3 lines of it); "
        "has captions in IPTC, which are not read"
    ]
    assert said[0].message.left_out == ("cmyk", "iptc")
    assert said[0].message.name == "x"


def test_a_failed_read_says_nothing_of_what_was_left_out():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(KeyError, match="mud"):
            noted_twice("mud")  # a key needs a row


def test_strict_reading_refuses(tmp_path):
    path = tmp_path / "a.jpg"
    path.write_bytes(inks())
    for read in (pictures.read, pictures.opened):
        with pytest.raises(PictureError, match=r"a.jpg: holds CMYK colours.*; strict reading ref"):
            read(path, strict=True)
    with pytest.warns(PictureWarning) as said:
        pictures.read(inks())
    assert [each.message.left_out for each in said] == [("cmyk",)]
    data = pictures.to_bytes(COLOUR, "png")
    np.testing.assert_array_equal(pictures.read(data, strict=True).samples, COLOUR)


def test_the_guide_has_the_table():
    titles = {row.title for row in registry.FORMATS}
    assert all(set(row.formats) <= titles for row in LEFT_OUT.values())
    rows = [
        f"| `{key}` | {row.sentence} | {', '.join(row.formats)} |" for key, row in LEFT_OUT.items()
    ]
    assert "\n".join(["|---|---|---|", *rows, ""]) in GUIDE.read_text()
