"""Picture files of every format: what comes back, what is lost, what is refused and how."""

import contextlib
import io
import subprocess
import sys
import warnings
import zlib
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image
from support.picture_files import COLOUR, DEEP, EXIF, FILES, GRAY, file_of

from mmpcodec import (
    Cancelled,
    DecodeLimits,
    MissingExtra,
    ParameterError,
    PictureError,
    PictureWarning,
    pictures,
)
from mmpcodec.depth import sample_type
from mmpcodec.metadata import Metadata, Resolution
from mmpcodec.pictures import Picture, registry
from mmpcodec.pictures.png import compression
from mmpcodec.pictures.png.chunks import parted

pytestmark = pytest.mark.filterwarnings("ignore::mmpcodec.PictureWarning")

METADATA = Metadata(
    icc=b"profile" * 9,
    exif=EXIF,
    xmp=b"<x:xmpmeta/>",
    resolution=Resolution(Fraction(11811), Fraction(5906), "metre"),
    text=(("Title", "t"), ("Description", "café €"), ("Software", "s")),
)
HOLDS = {"pgm": (1,), "ppm": (3,), "pam": (1, 2, 3, 4)} | dict.fromkeys(
    ("png", "tif", "npy"), (1, 2, 3, 4)
)


class OneWay(io.RawIOBase):
    """A stream that can only be written, as a pipe."""

    def __init__(self):
        self.data = b""

    def writable(self):
        return True

    def write(self, data):
        self.data += bytes(data)
        return len(data)


def same(found, picture, *, metadata):
    np.testing.assert_array_equal(found.samples, picture.samples)
    assert (found.depth, found.samples.dtype) == (picture.depth, picture.samples.dtype)
    assert found.metadata == metadata


@pytest.mark.parametrize("depth", range(1, 17))
@pytest.mark.parametrize("planes", [1, 2, 3, 4])
@pytest.mark.parametrize("format", pictures.FORMATS)
def test_every_depth_and_colour_comes_back(format, planes, depth):
    rng = np.random.default_rng(17 * depth + planes)
    samples = rng.integers(0, 1 << depth, (5, 7, planes)).astype(sample_type(depth))
    picture = Picture(samples[..., 0] if planes == 1 else samples, depth)
    row = registry.written()[format]
    if row.as_colour and planes < 3:
        return
    if planes not in HOLDS.get(format, row.planes):
        with pytest.raises(ParameterError, match=f"format = '{format}' for .*: must be one of "):
            pictures.to_bytes(picture, format)
        return
    if depth > row.most_depth:
        with pytest.raises(ParameterError, match=f"format = '{format}' for {depth} bits per sampl"):
            pictures.to_bytes(picture, format)
        return
    found = pictures.from_bytes(pictures.to_bytes(picture, format))
    if row.quality is not None:
        assert (found.samples.shape, found.depth) == (picture.samples.shape, 8)
        assert pictures.lost(picture, format) == (() if depth == 8 else ("depth",))
        return
    if format == "npy" and depth not in (1, 8, 16):
        assert pictures.lost(picture, format) == ("depth",)
        np.testing.assert_array_equal(found.samples, picture.samples)
        assert found.depth == 8 * picture.samples.itemsize
        return
    assert pictures.lost(picture, format) == ()
    same(found, picture, metadata=Metadata())


@given(st.data())
def test_any_samples_come_back(data):
    depth, planes = data.draw(st.integers(1, 16)), data.draw(st.integers(1, 4))
    shape = (data.draw(st.integers(1, 9)), data.draw(st.integers(1, 19)), planes)
    values = st.integers(0, (1 << depth) - 1)
    samples = data.draw(arrays(sample_type(depth), shape[: 2 + (planes > 1)], elements=values))
    picture = Picture(samples, depth)
    for format in ("pam", "png", "tif"):
        same(pictures.from_bytes(pictures.to_bytes(picture, format)), picture, metadata=Metadata())


@pytest.mark.parametrize("planes", [1, 3])
@pytest.mark.parametrize("depth", [1, 8, 12])
def test_png_and_tiff_hold_metadata(planes, depth):
    samples = np.full((4, 5, planes), 1, sample_type(depth))
    picture = Picture(samples[..., 0] if planes == 1 else samples, depth, METADATA)
    for format in ("png", "tif"):
        assert pictures.lost(picture, format) == ()
        found = pictures.from_bytes(pictures.to_bytes(picture, format))
        kept = METADATA
        if format == "tif":  # which counts by the centimetre
            per = Resolution(Fraction(11811, 100), Fraction(5906, 100), "centimetre")
            kept = Metadata(kept.icc, kept.exif, kept.xmp, per, kept.text)
        same(found, picture, metadata=kept)


WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=20)


@given(
    st.binary(max_size=40),
    st.text(st.characters(codec="utf-8"), max_size=40).map(str.encode),
    st.lists(st.tuples(WORDS, WORDS), max_size=3),
    st.fractions(min_value=Fraction(1, 10**9), max_value=10**9),
    st.sampled_from(["none", "inch", "centimetre", "metre"]),
    st.sampled_from(["png", "tif"]),
)
def test_what_is_not_lost_comes_back(icc, xmp, text, number, unit, format):
    resolution = Resolution(number, number, unit)
    picture = Picture(GRAY, 8, Metadata(icc, b"", xmp.rstrip(b"\0"), resolution, tuple(text)))
    lost = pictures.lost(picture, format)
    found = pictures.from_bytes(pictures.to_bytes(picture, format)).metadata
    for kind in ("icc", "xmp"):
        assert kind not in lost
        assert getattr(found, kind) == getattr(picture.metadata, kind)
    if "resolution" not in lost:
        ratio = found.resolution.x / found.resolution.y
        exact, near = resolution.per_metre(), found.resolution.per_metre()
        assert exact == near or abs(near[0] / exact[0] - 1) <= Fraction(1, 2000)
        assert (ratio, found.resolution.unit == "none") == (1, unit == "none")
    if "text" not in lost:
        assert sorted(found.text) == sorted(picture.metadata.text)


def test_lost_names_what_a_format_cannot_hold():
    picture = Picture(DEEP >> 6, 10, Metadata(METADATA.icc, white=1000))
    assert pictures.lost(picture, "png") == pictures.lost(picture, "tif") == ("white",)
    assert pictures.lost(picture, "npy") == ("depth", "white", "icc")
    assert pictures.lost(picture, "pgm") == ("white", "icc")  # some samples are brighter
    darker = Picture(np.minimum(DEEP >> 6, 1000), 10, Metadata(white=1000))
    assert pictures.lost(darker, "pgm") == ()
    same(
        pictures.from_bytes(pictures.to_bytes(darker, "pgm")), darker, metadata=Metadata(white=1000)
    )
    assert pictures.lost(Picture(GRAY, 8, METADATA), "pgm") == METADATA.kinds()
    wide = Picture(DEEP >> 8, 10, Metadata(white=255))  # maxval 255 would say 8 bits
    assert pictures.lost(Picture(wide.samples, 10, wide.metadata), "pgm") == ("white",)
    assert pictures.from_bytes(pictures.to_bytes(wide, "pgm")).depth == 10
    square = Metadata(resolution=Resolution(Fraction(1), Fraction(1), "none"))
    assert pictures.lost(Picture(GRAY, 8, square), "tif") == ("resolution",)
    odd = Metadata(exif=b"nothing", text=(("Comment", "c"),))
    assert pictures.lost(Picture(GRAY, 8, odd), "tif") == ("exif", "text")
    twice = Metadata(text=(("Title", "a"), ("Title", "b")))
    assert pictures.lost(Picture(GRAY, 8, twice), "tif") == ("text",)
    assert pictures.lost(Picture(GRAY, 8, twice), "png") == ()
    per_inch = Metadata(resolution=Resolution(Fraction(300), Fraction(300)))
    assert pictures.lost(Picture(GRAY, 8, per_inch), "png") == ()  # but for rounding
    per_inch = Metadata(resolution=Resolution(Fraction(1), Fraction(1)))  # 39 a metre
    assert pictures.lost(Picture(GRAY, 8, per_inch), "png") == ("resolution",)
    assert pictures.lost(GRAY, "npy") == ()


def test_orientation_is_kept_and_never_applied():
    asked = Image.Exif()
    asked.load(EXIF)
    assert asked[274] == 6  # to be turned to the right
    for format in ("png", "tif"):
        data = pictures.to_bytes(Picture(GRAY, 8, Metadata(exif=EXIF)), format)
        found = pictures.from_bytes(data)
        np.testing.assert_array_equal(found.samples, GRAY)
        assert found.metadata.exif == EXIF
    jpeg = pictures.from_bytes(FILES["jpeg"])
    assert (jpeg.samples.shape, jpeg.metadata.exif) == (COLOUR.shape, EXIF)


def test_an_array_has_all_bits_of_its_type():
    for samples, depth in ((GRAY, 8), (DEEP, 16)):
        same(
            pictures.from_bytes(pictures.to_bytes(samples, "png")),
            Picture(samples, depth),
            metadata=Metadata(),
        )


@pytest.mark.parametrize(
    ("samples", "depth", "says"),
    [
        (GRAY, 9, "depth 9: must not be empty"),
        (DEEP, 8, "depth 8: must not be empty"),
        (GRAY, 0, "depth = 0: must be from 1 to 16"),
        (DEEP, 17, "depth = 17: must be from 1 to 16"),
        (GRAY, True, "depth = True: must be an integer from 1 to 16"),
        (GRAY, 4, "depth = 4: the picture has a sample of 2.., allowed is 0 to 15"),
        (GRAY.astype(int), 8, "type int64 with depth 8"),
        (GRAY.ravel(), 8, r"shape \(54,\)"),
        (GRAY[..., None], 8, r"shape \(6, 9, 1\)"),
        (GRAY[:0], 8, "must not be empty"),
        ([[1]], 8, "no array with depth 8"),
    ],
)
def test_other_arrays_are_no_pictures(samples, depth, says):
    with pytest.raises(ParameterError, match=says):
        Picture(samples, depth)


def test_arrays_of_bool_and_of_one_plane_are_pictures():
    mask = Picture.of(GRAY[..., None] > 99)
    assert (mask.depth, mask.samples.dtype) == (1, np.uint8)
    np.testing.assert_array_equal(mask.samples, GRAY > 99)
    found = pictures.from_bytes(pictures.to_bytes(GRAY > 99, "png"))
    assert found.depth == 1
    np.testing.assert_array_equal(found.samples, GRAY > 99)


def test_white_must_be_a_level():
    assert Picture(GRAY >> 1, 8, Metadata(white=200)).white == 200
    with pytest.raises(ParameterError, match="white = 256: must be from 1 to 255 with depth 8"):
        Picture(GRAY, 8, Metadata(white=256))


def test_alpha_can_be_left_out():
    both = np.dstack([GRAY, 255 - GRAY])
    np.testing.assert_array_equal(Picture(both, 8).without_alpha().samples, GRAY)
    four = np.dstack([COLOUR, GRAY])
    np.testing.assert_array_equal(Picture(four, 8).without_alpha().samples, COLOUR)
    for samples in (GRAY, COLOUR):
        picture = Picture(samples, 8)
        assert picture.without_alpha() is picture


def test_other_depths_keep_the_samples():
    deep = Picture(np.full((4, 6), 1000, np.uint16), 16, Metadata(white=4000))
    twelve = deep.at_depth(12)
    assert (twelve.depth, twelve.white, twelve.samples.dtype) == (12, 4000, np.uint16)
    ten = deep.at_depth(10)
    assert (ten.depth, ten.white) == (10, 1023)
    np.testing.assert_array_equal(ten.samples, deep.samples)
    with pytest.raises(ParameterError, match="depth = 9: the picture has a sample of 1000"):
        deep.at_depth(9)


@pytest.mark.parametrize("data", [b"GIF88a", b"Python", b"\0", bytes(200)])
def test_refuses_other_files(data):
    with pytest.raises(PictureError, match=r"^x: is not a picture file .* supported are PBM, PGM"):
        pictures.from_bytes(data, "x")


def test_refuses_empty_file():
    with pytest.raises(PictureError, match=r"^x: is empty$"):
        pictures.from_bytes(b"", "x")


@pytest.mark.parametrize("kind", FILES)
def test_cut_files_are_refused_or_whole(kind):
    data = FILES[kind]
    whole = pictures.from_bytes(data)
    refusals = []
    step = max(1, len(data) // 150)
    for length in [*range(1, len(data), step), len(data) - 1]:
        try:
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always", PictureWarning)
                found = pictures.from_bytes(data[:length], "x")
        except PictureError as refusal:
            refusals.append(str(refusal))
            continue
        if not any("end" in each.message.left_out for each in said):
            # only end marks and metadata may be missing
            np.testing.assert_array_equal(found.samples, whole.samples)
    assert len(refusals) > 15
    assert all(reason.startswith("x: ") and "\n" not in reason for reason in refusals)


@pytest.mark.parametrize("kind", FILES)
def test_damage_gives_pictures_or_picture_errors(kind):
    rng = np.random.default_rng(sorted(FILES).index(kind))
    limits = DecodeLimits(1 << 20, 1 << 11)
    for number in range(150):
        data = bytearray(FILES[kind])
        end = len(data) if number % 2 else min(len(data), 200)
        for place in rng.integers(0, end, rng.integers(1, 4)):
            data[place] = rng.choice([0, 1, 127, 255, rng.integers(256)])
        with contextlib.suppress(PictureError):
            found = pictures.from_bytes(bytes(data), "x", limits=limits)
            assert found.samples.size <= 4 << 20


@pytest.mark.parametrize("kind", FILES)
def test_limits_hold_for_every_format(kind):
    height, width = pictures.from_bytes(FILES[kind]).samples.shape[:2]
    assert pictures.from_bytes(FILES[kind], limits=DecodeLimits(1024, 16)) is not None
    for limits in (DecodeLimits(max_samples=16), DecodeLimits(max_dimension=4)):
        with pytest.raises(PictureError, match=rf"^x: .*{width}x{height}: .* the limit is"):
            pictures.from_bytes(FILES[kind], "x", limits=limits)


@pytest.mark.parametrize(
    ("package", "data", "says"),
    [
        ("pydicom", FILES["dicom"], r"x: DICOM needs pydicom; .* pip install '.\[dicom\]'"),
        ("tifffile", FILES["tiff"], "x: TIFF needs tifffile; pip install tifffile"),
        ("imagecodecs", FILES.get("jpeg 2000 deep"), "x: JPEG 2000 of deep colours needs imagecod"),
        ("imagecodecs", FILES.get("avif deep"), "x: AVIF of more than 8 bits needs imagecodecs"),
        ("imagecodecs", FILES.get("jpeg xl"), r"x: JPEG XL needs imagecodecs; .*'.\[formats\]'"),
        ("pillow_heif", FILES.get("heic"), r"x: HEIC needs pillow_heif; .*'.\[formats\]'"),
        ("PIL.AvifImagePlugin", FILES.get("avif"), "x: AVIF needs a Pillow that reads it; pip in"),
    ],
)
def test_what_is_not_installed_is_named(package, data, says, monkeypatch):
    if data is None:
        pytest.skip("the package that makes the file is not installed")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=says):
        pictures.from_bytes(data, "x")


@pytest.mark.parametrize("format", ["pgm", "ppm", "pam", "png", "tif", "npy"])
def test_8_bits_need_no_imagecodecs(format, monkeypatch):
    monkeypatch.setitem(sys.modules, "imagecodecs", None)
    samples = COLOUR if format == "ppm" else GRAY
    found = pictures.from_bytes(pictures.to_bytes(samples, format))
    np.testing.assert_array_equal(found.samples, samples)


def test_libraries_are_imported_where_they_are_needed():
    code = (
        "import sys; from mmpcodec import pictures; "
        "pictures.from_bytes(b'P5 1 1 255 x'); "
        "print({'tifffile', 'imagecodecs', 'pydicom', 'skimage'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, check=True)
    assert done.stdout.strip() == b"set()"


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(PictureError, match=r"no\.pgm: No such file or directory$"):
        pictures.read(tmp_path / "no.pgm")
    with pytest.raises(PictureError, match=r"Is a directory$"):
        pictures.read(tmp_path)


@pytest.mark.parametrize("extension", ["pgm", "pam", "png", "tif", "tiff", "PNG", "npy"])
def test_write_to_a_path_reads_back(extension, tmp_path):
    path = tmp_path / f"picture.{extension}"
    pictures.write(GRAY, path)
    np.testing.assert_array_equal(pictures.read(path).samples, GRAY)


@pytest.mark.parametrize("format", ["pgm", "pam", "png", "tif", "npy"])
def test_write_to_a_stream_that_cannot_seek(format):
    stream = OneWay()
    pictures.write(GRAY, stream, format)
    assert stream.data == pictures.to_bytes(GRAY, format)


def test_unknown_formats():
    with pytest.raises(ParameterError, match=r"a\.gif: extension '\.gif' must be one of \.pbm"):
        pictures.format_of("a.gif")
    with pytest.raises(
        ParameterError, match="format = 'gif': must be one of pbm, pgm, ppm, pnm, pam, png"
    ):
        pictures.to_bytes(GRAY, "gif")
    with pytest.raises(ParameterError, match="format = 'gif'"):
        pictures.lost(GRAY, "gif")
    with pytest.raises(ParameterError, match="format = 'None'"):
        pictures.write(GRAY, io.BytesIO())


def test_write_failure_names_the_file(tmp_path):
    with pytest.raises(PictureError, match=r"no/picture\.png: No such file or directory$"):
        pictures.write(GRAY, tmp_path / "no" / "picture.png")


@pytest.mark.parametrize("depth", [1, 8, 16])
def test_levels_of_png_change_bytes_and_no_samples(tmp_path, depth):
    rows, columns = np.indices((64, 64))
    colours = np.stack([rows * columns, rows ^ columns, rows + columns], axis=2) % (1 << depth)
    samples = colours[..., 0] if depth == 1 else colours
    picture = pictures.Picture(samples.astype(np.uint16 if depth == 16 else np.uint8), depth)
    sizes = {}
    for level in (0, 1, 6, 9):
        target = tmp_path / f"{level}.png"
        pictures.write(picture, target, png_level=level)
        sizes[level] = target.stat().st_size
        assert (pictures.read(target).samples == picture.samples).all()
    assert sizes[0] > picture.samples.size * depth // 8 > sizes[1] > sizes[9]
    assert len(pictures.to_bytes(picture, "png")) == sizes[1]


@pytest.mark.parametrize(("depth", "planes"), [(1, 1), (4, 1), (8, 1), (8, 3), (16, 1), (16, 4)])
def test_png_is_compressed_in_strips_side_by_side(monkeypatch, depth, planes):
    rows, columns, colours = np.indices((70, 33, planes))
    samples = ((rows * 7 ^ columns * 5) + colours) % (1 << depth)
    samples = samples.astype(np.uint16 if depth == 16 else np.uint8)
    picture = pictures.Picture(samples if planes > 1 else samples[..., 0], depth)
    whole = pictures.to_bytes(picture, "png")
    monkeypatch.setattr(compression, "STRIP", picture.samples[:12].nbytes)
    calls = []
    threaded = pictures.to_bytes(picture, "png", threads=3, progress=lambda *now: calls.append(now))
    assert calls == [(min(12 * (strip + 1), 70), 70) for strip in range(6)]
    assert threaded == pictures.to_bytes(picture, "png", threads=1)
    contents = [
        b"".join(body for kind, body in parted(data, "picture") if kind == b"IDAT")
        for data in (whole, threaded)
    ]
    assert zlib.decompress(contents[0]) == zlib.decompress(contents[1])
    assert len(contents[0]) < len(contents[1]) < len(contents[0]) + 300
    assert (pictures.from_bytes(threaded).samples == picture.samples).all()
    with pytest.raises(Cancelled):
        pictures.to_bytes(picture, "png", progress=lambda done, total: False)


def test_only_png_takes_a_level():
    with pytest.raises(ParameterError, match="png_level = 3: only 'png' takes one, not 'pgm'"):
        pictures.to_bytes(GRAY, "pgm", png_level=3)
    for level in (-1, 10):
        with pytest.raises(ParameterError, match=f"png_level = {level}: must be from 0 to 9"):
            pictures.to_bytes(GRAY, "png", png_level=level)


def test_only_formats_with_loss_take_a_quality(tmp_path):
    with pytest.raises(ParameterError, match="quality = 80: only jpg and webp take one, not 'png'"):
        pictures.to_bytes(GRAY, "png", quality=80)
    for quality in (0, 101):
        with pytest.raises(ParameterError, match=f"quality = {quality}: must be from 1 to 100"):
            pictures.to_bytes(GRAY, "jpg", quality=quality)
    for name in ("a.jpg", "b.webp"):
        sizes = []
        for quality in (10, None, 99):
            pictures.write(COLOUR, tmp_path / name, quality=quality)
            sizes.append((tmp_path / name).stat().st_size)
        assert sizes == sorted(set(sizes))


@pytest.mark.parametrize(
    ("samples", "format", "says"),
    [
        (
            np.dstack([DEEP] * 3),
            "jpg",
            "16 bits per sample, more than 8: must be one of ppm, pnm, pam",
        ),
        (np.zeros((1, 65501), np.uint8), "jpg", "65501x1 pixels, more than 65500 in a row or col"),
        (np.zeros((16384, 1), np.uint8), "webp", "1x16384 pixels, more than 16383 in a row or col"),
        (np.dstack([GRAY] * 4), "jpg", "RGB with alpha: must be one of pam, png, tif, webp, npy"),
    ],
)
def test_what_a_format_cannot_hold_is_refused(samples, format, says):
    with pytest.raises(ParameterError, match=f"^format = '{format}' for {says}"):
        pictures.to_bytes(samples, format)


def test_only_our_limits_count(monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 10)
    for format in ("PNG", "BMP", "TIFF"):
        found = pictures.from_bytes(file_of(GRAY, format), limits=DecodeLimits(GRAY.size))
        np.testing.assert_array_equal(found.samples, GRAY)
