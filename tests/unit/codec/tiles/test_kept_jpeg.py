"""Files that keep a JPEG file: its bytes, the samples that Pillow gives, and what it says."""

import io
import random
import time

import numpy as np
import pytest
from PIL import Image
from support.files.jpeg_files import changed, files, made, photograph

import mmpcodec
from mmpcodec import pictures
from mmpcodec.codec.kept_jpeg import is_kept
from mmpcodec.codec.limits.seconds import seconds_to_decode
from mmpcodec.errors import (
    CorruptStream,
    FormatError,
    LimitExceeded,
    ParameterError,
    PictureError,
    PictureWarning,
    TruncatedStream,
    UnreadableJpeg,
)
from mmpcodec.format import container, layers
from mmpcodec.format.container import Header
from mmpcodec.format.jpeg import KeptJpeg
from mmpcodec.pictures import kept_jpeg
from mmpcodec.samples import Form

FILES = files()
ARITHMETIC = FILES["4:2:0"].replace(b"\xff\xc0", b"\xff\xc9", 1)
TWELVE_BITS = FILES["gray"].replace(b"\xff\xc0\x00\x0b\x08", b"\xff\xc1\x00\x0b\x0c", 1)


def with_metadata():
    exif = Image.Exif()
    exif[0x0112] = 6

    return made(photograph(), exif=exif.tobytes(), dpi=(300, 300), comment=b"a word")


def pillow(file):
    image = Image.open(io.BytesIO(file))
    return np.array(image.convert("RGB") if image.mode == "CMYK" else image)


@pytest.mark.filterwarnings("ignore::mmpcodec.PictureWarning")
@pytest.mark.parametrize("name", FILES)
def test_samples_are_those_of_pillow_and_the_file_comes_back(name):
    file = FILES[name]
    data = mmpcodec.encode_file(file, 0)
    assert len(data) < len(file)
    assert np.array_equal(mmpcodec.decode(data), pillow(file))
    assert mmpcodec.kept_file(data) == file
    header = mmpcodec.inspect(data).header
    assert header.form is (Form.GRAY if "gray" in name else Form.RGB)
    assert (header.depth, header.tile_size) == (8, 0)


@pytest.mark.parametrize("form", [1, 2, 3])
def test_the_reference_gives_the_same_file(form):
    file = made(photograph(24))
    data = kept_jpeg.encode(file, form).encoding.data
    assert mmpcodec.kept_file(data, backend="reference") == file
    samples = mmpcodec.decode(data, backend="reference")
    assert np.array_equal(samples, pillow(file))


def test_regions_and_scales():
    data = mmpcodec.encode_file(FILES["4:4:4"], 0)
    whole = pillow(FILES["4:4:4"])
    assert np.array_equal(mmpcodec.decode(data, region=(5, 9, 20, 30)), whole[9:39, 5:25])
    out = np.zeros_like(whole)
    mmpcodec.decode(data, out=out)
    assert np.array_equal(out, whole)
    of_samples = mmpcodec.encode(whole, 0)
    scaled = mmpcodec.decode_scaled(data, "1/4")
    assert np.array_equal(scaled.samples, mmpcodec.decode_scaled(of_samples, "1/4").samples)


def test_metadata_is_that_of_the_file_also_without_its_samples():
    file = with_metadata()
    want = pictures.from_bytes(file).metadata
    assert want.exif
    assert want.text == (("Comment", "a word"),)
    data = mmpcodec.encode_file(file, 0)
    assert container.read_header(memoryview(data)).metadata == mmpcodec.metadata.Metadata()
    assert mmpcodec.inspect(data).header.metadata == want
    assert mmpcodec.inspect(data, decode=True).header.metadata == want
    assert pictures.from_bytes(data).metadata == want


def test_metadata_of_the_header_counts_instead():
    file = with_metadata()
    own = mmpcodec.metadata.Metadata(text=(("Title", "of the page"),))
    data = kept_jpeg.encode(file, 1, metadata=own).encoding.data
    assert mmpcodec.inspect(data).header.metadata == own


def test_what_is_left_out_of_the_samples_is_said():
    data = mmpcodec.encode_file(FILES["four components"], 0)
    with pytest.warns(PictureWarning, match="CMYK colours, which are converted to RGB") as said:
        pictures.from_bytes(data, "a.mmp")
    assert [one.message.name for one in said] == ["a.mmp"]
    assert said[0].message.left_out == ("cmyk",)


def test_arithmetic_coding_is_kept_as_bytes():
    with pytest.warns(PictureWarning, match="are kept as bytes of any kind"):
        data = mmpcodec.encode_file(ARITHMETIC, 0)
    assert mmpcodec.kept_file(data) == ARITHMETIC
    assert len(data) < len(ARITHMETIC) + 64


@pytest.mark.filterwarnings("ignore:.*are kept as bytes of any kind")
@pytest.mark.parametrize(
    ("file", "remark"),
    [
        (TWELVE_BITS, "holds samples of 12 bits, which this program does not show"),
        (b"\xff\xd8\xff\xe0 no JPEG", "kept as bytes"),
    ],
)
def test_files_without_samples_are_kept(file, remark):
    with pytest.warns(PictureWarning, match=remark):
        data = mmpcodec.encode_file(file, 0)
    assert mmpcodec.kept_file(data) == file
    assert len(data) < len(file) + 64
    with pytest.raises(UnreadableJpeg, match="samples of this kept JPEG file cannot be read"):
        mmpcodec.decode(data)
    found = mmpcodec.inspect(data)
    assert found.layers[0].jpeg_bytes == len(file)


def test_a_file_without_a_frame_has_one_pixel():
    with pytest.warns(PictureWarning):
        data = mmpcodec.encode_file(b"\xff\xd8\xff\xe0 no JPEG", 0)
    header = mmpcodec.inspect(data).header
    assert (header.width, header.height) == (1, 1)


def test_a_picture_of_another_size_is_refused():
    kept = kept_jpeg.encode(FILES["gray"], 1).encoding
    stream = layers.read(memoryview(kept.data)[kept.header.size :], kept.header.size, kept.header)
    for width, height, form in ((116, 96, Form.GRAY), (117, 96, Form.RGB), (500, 400, Form.GRAY)):
        own = Header(width, height, form)
        tile = layers.write_jpeg(own, stream.jpeg, stream.samples_crc)
        data = container.write(container.with_sizes(own, (len(tile),)), [tile])
        assert mmpcodec.kept_file(data) == FILES["gray"]
        with pytest.raises(UnreadableJpeg):
            mmpcodec.decode(data)


def test_a_wrong_checksum_of_the_file_is_an_error():
    kept = kept_jpeg.encode(FILES["gray"], 1).encoding
    stream = layers.read(memoryview(kept.data)[kept.header.size :], kept.header.size, kept.header)
    tile = layers.write_jpeg(kept.header, stream.jpeg, stream.samples_crc ^ 1)
    data = container.write(container.with_sizes(kept.header, (len(tile),)), [tile])
    for read in (mmpcodec.decode, mmpcodec.kept_file):
        with pytest.raises(CorruptStream, match="the JPEG file has"):
            read(data)


def test_damaged_files_raise_errors_only():
    choices = random.Random(3)
    data = mmpcodec.encode_file(FILES["thumbnail"], 0)
    refused = 0
    for _ in range(200):
        damaged = changed(data, choices)
        for read in (mmpcodec.decode, mmpcodec.kept_file, mmpcodec.inspect):
            try:
                read(damaged)
            except (FormatError, ParameterError):
                refused += 1
    assert refused > 500
    with pytest.raises(TruncatedStream):
        mmpcodec.kept_file(data[:-1])
    with pytest.raises(CorruptStream, match="bytes follow"):
        mmpcodec.kept_file(data + b"\0")


def test_limits_hold_before_anything_is_decoded():
    data = mmpcodec.encode_file(FILES["4:4:4"], 0)
    for limits in (
        mmpcodec.DecodeLimits(max_memory=1 << 20),
        mmpcodec.DecodeLimits(max_seconds=1e-4),
    ):
        for read in (mmpcodec.decode, mmpcodec.kept_file):
            with pytest.raises(LimitExceeded):
                read(data, limits=limits)
    with pytest.raises(LimitExceeded):
        mmpcodec.decode(data, limits=mmpcodec.DecodeLimits(max_samples=1000))


def test_a_claim_of_many_bytes_takes_no_memory():
    kept = kept_jpeg.encode(FILES["gray"], 1).encoding
    stream = layers.read(memoryview(kept.data)[kept.header.size :], kept.header.size, kept.header)
    claimed = KeptJpeg(1, 1 << 31, stream.jpeg.payload)
    tile = layers.write_jpeg(kept.header, claimed, stream.samples_crc)
    data = container.write(container.with_sizes(kept.header, (len(tile),)), [tile])
    with pytest.raises(LimitExceeded, match="max_seconds"):
        mmpcodec.decode(data)
    with pytest.raises(CorruptStream, match=f"not {1 << 31}"):
        mmpcodec.kept_file(data, limits=mmpcodec.DecodeLimits(max_seconds=1e9))


def test_samples_are_coded_where_they_are_asked_for():
    file = FILES["4:2:0"]
    want = pillow(file)
    for options in (
        {"samples": True},
        {"tile_size": 64},
        {"levels": True},
        {"preset": "plain"},
    ):
        data = mmpcodec.encode_file(file, 0, **options)
        assert np.array_equal(mmpcodec.decode(data), want)
        with pytest.raises(ParameterError, match="keeps no JPEG file"):
            mmpcodec.kept_file(data)
    lossy = mmpcodec.encode_file(file, 30, verify=True)
    assert not np.array_equal(mmpcodec.decode(lossy), want)


@pytest.mark.parametrize(
    ("options", "form"),
    [
        ({"lossless": True}, 2),
        ({"quality": 100}, 2),
        ({"lam": 0, "effort": 1}, 1),
        ({"lam": 0, "effort": 9}, 3),
        ({"preset": "lossless"}, 2),
    ],
)
def test_efforts_are_forms(options, form):
    file = made(np.tile(photograph(256), (4, 4, 1)), quality=97)
    assert len(file) > 1 << 18  # a smaller one has the form that needs the fewest bytes
    data = mmpcodec.encode_file(file, **options)
    (layer,) = mmpcodec.inspect(data).layers
    assert layer.tools.lossless_form == form
    assert layer.name == "JPEG file"


def test_sources_of_encode_file(tmp_path):
    path = tmp_path / "a.jpg"
    path.write_bytes(FILES["gray"])
    want = mmpcodec.encode_file(FILES["gray"], 0)
    assert mmpcodec.encode_file(path, 0) == want
    assert mmpcodec.encode_file(io.BytesIO(FILES["gray"]), 0) == want
    assert mmpcodec.encode_file(memoryview(FILES["gray"]), 0) == want
    with pytest.raises(PictureError):
        mmpcodec.encode_file(tmp_path / "none.jpg", 0)
    with pytest.raises(ParameterError, match="unknown option 'lossles'"):
        mmpcodec.encode_file(path, lossles=True)


def test_other_files_are_encoded_as_their_samples():
    samples = np.arange(300, dtype=np.uint16).reshape(15, 20)
    file = pictures.to_bytes(pictures.Picture(samples, 9), "png")
    data = mmpcodec.encode_file(file, 0, verify=True)
    assert np.array_equal(mmpcodec.decode(data), samples)
    assert mmpcodec.inspect(data).header.depth == 9


def test_a_payload_that_differs_is_not_written(monkeypatch):
    from mmpcodec.backends import jpeg

    monkeypatch.setattr(jpeg, "decode", lambda kept, *rest, **how: FILES["gray"][:-1] + b"?")
    with pytest.raises(mmpcodec.MmpError, match="verification failed, nothing was written"):
        mmpcodec.encode_file(FILES["gray"], 0)
    assert mmpcodec.encode_file(FILES["gray"], 0, verify=False)


def test_pictures_know_the_file_that_they_were_read_from():
    picture = pictures.from_bytes(FILES["gray"])
    assert picture.jpeg == FILES["gray"]
    assert pictures.Picture(picture.samples.copy(), 8, source=picture.source).jpeg is None
    assert pictures.from_bytes(mmpcodec.encode_file(FILES["gray"], 0)).jpeg == FILES["gray"]


def test_a_kept_file_is_seen_by_one_byte():
    data = mmpcodec.encode_file(FILES["gray"], 0)
    view = memoryview(data)
    assert is_kept(view, container.read_header(view))
    other = memoryview(mmpcodec.encode(np.zeros((9, 9), np.uint8), 0))
    assert not is_kept(other, container.read_header(other))


def test_blank_pages_open_by_default_at_every_effort():
    page = made(np.full((3508, 2480, 3), 255, np.uint8), quality=95)
    for effort in (1, 2, 9):
        data = mmpcodec.encode_file(page, 0, effort=effort)
        assert len(data) < 1000
        assert mmpcodec.kept_file(data) == page


@pytest.mark.filterwarnings("ignore:.*are kept as bytes of any kind")
def test_the_estimate_of_seconds_covers_bytes_that_repeat():
    """A byte of the payload holds thousands of coded bytes, of 0.4 µs each."""
    file = b"\xff\xd8\xff" + bytes(1 << 18)
    kept = kept_jpeg.encode(file, 1).encoding
    assert len(kept.data) < 60
    start, end = kept.header.tile_offsets[:2]
    stream = layers.read(memoryview(kept.data)[start:end], start, kept.header)
    tiles = [(kept.header.tiles[0], stream)]
    assert seconds_to_decode(tiles, 8, 3, peek=False) > 0.4e-6 * len(file)


def test_many_scans_take_little_time():
    file = made(np.full((1200, 1600), 255, np.uint8), progressive=True)
    last = file.rindex(b"\xff\xda")
    many = file[:-2] + 1000 * file[last:-2] + file[-2:]
    started = time.process_time()
    data = mmpcodec.encode_file(many, 0)
    assert mmpcodec.kept_file(data) == many
    assert time.process_time() - started < 3
    assert len(data) < len(file)


@pytest.mark.filterwarnings("ignore:.*are kept as bytes of any kind")
def test_a_frame_of_far_more_pixels_than_bytes_is_kept_and_opens():
    file = FILES["4:2:0"]
    place = file.index(b"\xff\xc0") + 5
    for form in (1, 6):
        huge = (file[:place] + b"\xff\xff\xff\xff" + file[place + 4 :])[:700]
        data = mmpcodec.encode_file(huge, 0, effort=form)
        assert mmpcodec.kept_file(data) == huge
        with pytest.raises(UnreadableJpeg):
            mmpcodec.decode(data)


def test_a_backend_that_does_not_exist_is_refused():
    with pytest.raises(mmpcodec.ParameterError, match="nope"):
        mmpcodec.encode_file(FILES["gray"], 0, backend="nope")
