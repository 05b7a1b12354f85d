"""``mmpcodec.imread`` and ``imwrite``: every format, from and to paths, streams and bytes."""

import io
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from support.picture_files import COLOUR, DEEP, FILES, GRAY

import mmpcodec
from mmpcodec import DecodeLimits, ParameterError, PictureError, pictures
from mmpcodec.metadata import Metadata, Resolution
from mmpcodec.pictures import Picture

METADATA = Metadata(resolution=Resolution(Fraction(300), Fraction(300), "inch"))


@pytest.mark.parametrize("format", [*pictures.FORMATS, "mmp"])
def test_paths_streams_and_bytes_hold_the_same_file(format, tmp_path):
    samples = {"pbm": GRAY > 99, "ppm": COLOUR}.get(format, GRAY)
    path, stream = tmp_path / f"picture.{format}", io.BytesIO()
    options = {"lam": 0} if format == "mmp" else {}
    assert mmpcodec.imwrite(path, samples, **options) is None
    assert mmpcodec.imwrite(stream, samples, format, **options) is None
    data = mmpcodec.imwrite(None, samples, format, **options)
    assert data == stream.getvalue() == path.read_bytes()
    assert not [*tmp_path.glob(".*")]
    if format in ("jpg", "webp"):
        samples = pictures.from_bytes(data).samples
    stream.seek(0)
    sources = [path, str(path), stream, data, bytearray(data), memoryview(data)]
    with path.open("rb") as file:
        for source in (*sources, file):
            np.testing.assert_array_equal(mmpcodec.imread(source), samples)
            if hasattr(source, "seek"):
                source.seek(0)
            np.testing.assert_array_equal(pictures.read(source).samples, samples)


@pytest.mark.filterwarnings("ignore::mmpcodec.PictureWarning")
@pytest.mark.parametrize("kind", sorted(FILES))
def test_every_format_is_read(kind):
    np.testing.assert_array_equal(
        mmpcodec.imread(FILES[kind]), pictures.from_bytes(FILES[kind]).samples
    )


def test_the_suffix_names_the_format(tmp_path):
    mmpcodec.imwrite(tmp_path / "upper.PNG", GRAY)
    assert (tmp_path / "upper.PNG").read_bytes()[:4] == b"\x89PNG"
    mmpcodec.imwrite(tmp_path / "other.png", GRAY, "npy")
    assert (tmp_path / "other.png").read_bytes()[:6] == b"\x93NUMPY"
    mmpcodec.imwrite(str(tmp_path / "scan.mmp"), GRAY)
    assert (tmp_path / "scan.mmp").read_bytes() == mmpcodec.encode(GRAY)


def test_options_are_those_of_encode():
    options = {"quality": 70.0, "preset": "photo", "effort": 1, "templates": 2, "tile_size": 64}
    assert mmpcodec.imwrite(None, GRAY, "mmp", **options) == mmpcodec.encode(GRAY, **options)
    with pytest.raises(ParameterError, match="effort: is an option of format 'mmp', not of 'png'"):
        mmpcodec.imwrite(None, GRAY, "png", effort=3)
    for format in ("jpg", "webp"):
        data = mmpcodec.imwrite(None, GRAY, format, quality=30)
        assert (
            data == pictures.to_bytes(GRAY, format, quality=30) != pictures.to_bytes(GRAY, format)
        )
    says = "quality: is an option of format 'mmp', 'jpg' or 'webp', not of 'png'"
    with pytest.raises(ParameterError, match=says):
        mmpcodec.imwrite(None, GRAY, "png", quality=3)
    with pytest.raises(ParameterError, match="unknown option 'colour'"):
        mmpcodec.imwrite(None, GRAY, "mmp", colour=1)


@pytest.mark.parametrize("format", ["png", "mmp"])
def test_depth_and_metadata_are_kept_or_given(format):
    options = {"lam": 0} if format == "mmp" else {}
    twelve = Picture(DEEP >> 4, 12, METADATA)
    found = pictures.from_bytes(mmpcodec.imwrite(None, twelve, format, **options))
    assert found.depth == 12
    assert [round(one) for one in found.metadata.resolution.per_metre()] == [11811, 11811]
    np.testing.assert_array_equal(found.samples, twelve.samples)
    data = mmpcodec.imwrite(None, DEEP >> 4, format, depth=12, metadata=METADATA, **options)
    assert data == mmpcodec.imwrite(None, twelve, format, **options)
    other = Metadata(text=(("Title", "t"),))
    found = pictures.from_bytes(
        mmpcodec.imwrite(None, twelve, format, depth=14, metadata=other, **options)
    )
    assert (found.depth, found.metadata.text, found.metadata.resolution) == (14, other.text, None)


def test_limits_hold():
    with pytest.raises(PictureError, match="max_samples"):
        mmpcodec.imread(FILES["png"], limits=DecodeLimits(max_samples=9))


def test_other_sources_and_formats_are_named(tmp_path):
    with pytest.raises(ParameterError, match="source of type int: must be a path, bytes or a bin"):
        mmpcodec.imread(5)
    with pytest.raises(ParameterError, match="source of type StringIO: must be a path"):
        mmpcodec.imread(io.StringIO("text"))
    latin = tmp_path / "latin.txt"
    latin.write_bytes(b"\xff\xfe")
    with (
        latin.open(encoding="utf-8") as text,
        pytest.raises(ParameterError, match="source of type TextIOWrapper: must be a path"),
    ):
        mmpcodec.imread(text)
    says = "target of type {}: must be a path, a binary stream or None"
    for target in (GRAY, io.StringIO(), 5):
        with pytest.raises(ParameterError, match=says.format(type(target).__name__)):
            mmpcodec.imwrite(target, GRAY, "png")
    with pytest.raises(ParameterError, match=says.format("ndarray")):
        mmpcodec.imwrite(GRAY, "swapped.png")
    with pytest.raises(ParameterError, match="type NoneType: must be a path or a binary stream"):
        pictures.write(GRAY, None, "png")
    for target in (None, io.BytesIO()):
        with pytest.raises(ParameterError, match=r"format = None: .*need one of pbm, .*mmp"):
            mmpcodec.imwrite(target, GRAY)
    with pytest.raises(ParameterError, match=r"extension '.xyz' must be one of .*\.mmp"):
        mmpcodec.imwrite(tmp_path / "file.xyz", GRAY)
    with pytest.raises(ParameterError, match=r"format = 'xyz': must be one of pbm, .*mmp"):
        mmpcodec.imwrite(None, GRAY, "xyz")
    with pytest.raises(PictureError, match=r"missing/file\.png: No such file"):
        mmpcodec.imwrite(tmp_path / "missing" / "file.png", GRAY)


def test_a_failed_write_keeps_the_old_file(tmp_path):
    path = tmp_path / "picture.mmp"
    path.write_bytes(b"old")
    with pytest.raises(ParameterError):
        mmpcodec.imwrite(path, GRAY.astype(float))
    assert path.read_bytes() == b"old"
    assert [*Path(tmp_path).iterdir()] == [path]


@pytest.mark.parametrize("page", [True, 1.0, 1.5, "2"])
@pytest.mark.parametrize("format", ["tif", "png", "pgm", "webp"])
def test_a_page_that_is_no_integer_is_no_damage(tmp_path, format, page):
    path = tmp_path / f"a.{format}"
    pictures.write(np.full((9, 9), 7, np.uint8), path)
    for reads in (pictures.read, pictures.opened):
        with pytest.raises(ParameterError, match=f"page = {page!r}: must be an integer"):
            reads(path, page=page)
    assert pictures.read(path, page=np.int64(1)).samples.flat[0] == 7
