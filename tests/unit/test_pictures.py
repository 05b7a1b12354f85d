"""Picture files: what is read, what is refused and in which words, and what is written."""

import io
import struct

import numpy as np
import pytest
from PIL import Image, TiffImagePlugin

from mmpcodec import DecodeLimits, ParameterError, PictureError, pictures

SAMPLES = (np.arange(6 * 9).reshape(6, 9) * 5 % 256).astype(np.uint8)


def file_bytes(samples, format, mode=None, **options):
    stream = io.BytesIO()
    image = Image.fromarray(samples)
    image.convert(mode or image.mode).save(stream, format, **options)
    return stream.getvalue()


class OneWay(io.RawIOBase):
    """A stream that can only be written, as a pipe."""

    def __init__(self):
        self.data = b""

    def writable(self):
        return True

    def write(self, data):
        self.data += bytes(data)
        return len(data)


@pytest.mark.parametrize("format", ["PPM", "PNG", "TIFF", "BMP"])
def test_reads_every_gray_format(format, tmp_path):
    path = tmp_path / "picture"  # the content says what it is, not the name
    path.write_bytes(file_bytes(SAMPLES, format))
    samples = pictures.read(path)
    assert samples.dtype == np.uint8
    np.testing.assert_array_equal(samples, SAMPLES)


def test_reads_plain_pgm_with_comment():
    samples = pictures.from_bytes(b"P2 # gray\n3 2\n255\n0 1 2\n253 254 255\n")
    np.testing.assert_array_equal(samples, [[0, 1, 2], [253, 254, 255]])


@pytest.mark.parametrize("compression", ["tiff_lzw", "tiff_deflate", "packbits"])
def test_reads_compressed_tiff(compression):
    data = file_bytes(SAMPLES, "TIFF", compression=compression)
    np.testing.assert_array_equal(pictures.from_bytes(data), SAMPLES)


REFUSED = {
    "1-bit pixels": file_bytes(SAMPLES > 99, "PNG"),
    "palette colours": file_bytes(SAMPLES, "PNG", mode="P"),
    "RGB colours": file_bytes(np.dstack([SAMPLES] * 3), "PNG"),
    "RGB colours with alpha": file_bytes(np.dstack([SAMPLES] * 4), "TIFF"),
    "gray with alpha": file_bytes(np.dstack([SAMPLES] * 2), "PNG"),
    "gray with a transparent level": file_bytes(SAMPLES, "PNG", transparency=3),
    "gray of more than 8 bits": file_bytes(SAMPLES.astype(np.uint16), "PNG"),
    "floating-point gray": file_bytes(SAMPLES.astype(np.float32), "TIFF"),
    "2 pictures": file_bytes(
        SAMPLES, "TIFF", save_all=True, append_images=[Image.fromarray(255 - SAMPLES)]
    ),
}


@pytest.mark.parametrize("content", REFUSED)
def test_refuses_what_is_not_8_bit_gray(content):
    with pytest.raises(PictureError) as refusal:
        pictures.from_bytes(REFUSED[content], "scan.png")
    assert str(refusal.value).startswith(f"scan.png: holds {content}; support")


def test_refuses_16_bit_pgm():
    with pytest.raises(PictureError, match="holds gray of more than 8 bits"):
        pictures.from_bytes(b"P5 2 2 65535\n" + bytes(8))


@pytest.mark.parametrize("data", [b"\xff\xd8\xff\xe0 JPEG", b"\x89MMP\r\n\x1a\n", b"Python", b"\0"])
def test_refuses_other_files(data):
    with pytest.raises(PictureError, match=r"^x: is not a picture file .* PGM, PNG, TIFF and BMP$"):
        pictures.from_bytes(data, "x")


def test_refuses_empty_file():
    with pytest.raises(PictureError, match=r"^x: is empty$"):
        pictures.from_bytes(b"", "x")


@pytest.mark.parametrize("format", ["PPM", "PNG", "TIFF", "BMP"])
@pytest.mark.filterwarnings("ignore")  # Pillow warns of some damage before it raises
def test_truncated_files_are_refused_or_whole(format):
    data = file_bytes(SAMPLES, format)
    refusals = []
    for length in range(1, len(data)):
        try:
            samples = pictures.from_bytes(data[:length], "x")
        except PictureError as refusal:
            refusals.append(str(refusal))
        else:  # only the end marks may be missing
            np.testing.assert_array_equal(samples, SAMPLES)
    assert len(refusals) > len(data) // 2
    assert all(reason.startswith("x: ") and "\n" not in reason for reason in refusals)


@pytest.mark.parametrize(
    "data",
    [
        b"P5 0 4 255\n",
        b"P5 4 4 0\n" + bytes(16),
        b"P2 2 2 255\n1 2 x 4",
        b"P2 2 2 255\n1 2 3 300",
        b"BM" + bytes(60),
        b"II*\0" + bytes(8),
        b"\x89PNG\r\n\x1a\n" + bytes(40),
    ],
)
def test_refuses_damaged_headers(data):
    with pytest.raises(PictureError, match=r"^x: is damaged or truncated: "):
        pictures.from_bytes(data, "x")


def test_limits_come_before_the_samples():
    header = b"P5 30000 30000 255\n"
    with pytest.raises(PictureError, match="is 30000x30000, limits are 32768 pixels a side and"):
        pictures.from_bytes(header, "x")
    with pytest.raises(PictureError, match="is 9x6, limits are 8 pixels a side"):
        pictures.from_bytes(file_bytes(SAMPLES, "PNG"), limits=DecodeLimits(max_dimension=8))
    with pytest.raises(PictureError, match="53 in all"):
        pictures.from_bytes(file_bytes(SAMPLES, "PNG"), limits=DecodeLimits(max_pixels=53))


@pytest.mark.parametrize("format", ["PPM", "PNG", "BMP"])
def test_only_our_limits_count(format, monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 10)
    samples = pictures.from_bytes(
        file_bytes(SAMPLES, format), limits=DecodeLimits(max_pixels=SAMPLES.size)
    )
    np.testing.assert_array_equal(samples, SAMPLES)


def test_pillow_limit_of_tiff_is_one_clear_error(monkeypatch):
    def refuse(self):  # as later versions of Pillow do above their own limit
        raise Image.DecompressionBombError("exceeds limit of\n20 pixels")

    monkeypatch.setattr(TiffImagePlugin.TiffImageFile, "load_prepare", refuse)
    with pytest.raises(PictureError, match=r"^x: is .*: exceeds limit of 20 pixels$"):
        pictures.from_bytes(file_bytes(SAMPLES, "TIFF"), "x")


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(PictureError, match=r"no\.pgm: No such file or directory$"):
        pictures.read(tmp_path / "no.pgm")
    with pytest.raises(PictureError, match=r"Is a directory$"):
        pictures.read(tmp_path)


@pytest.mark.parametrize("extension", ["pgm", "png", "tif", "tiff", "PNG"])
def test_write_to_a_path_reads_back(extension, tmp_path):
    path = tmp_path / f"picture.{extension}"
    pictures.write(SAMPLES, path)
    np.testing.assert_array_equal(pictures.read(path), SAMPLES)


def test_written_files_are_what_their_format_says():
    magic = {format: pictures.to_bytes(SAMPLES, format)[:4] for format in pictures.FORMATS}
    assert magic == {"pgm": b"P5\n9", "png": b"\x89PNG", "tif": b"II*\0", "npy": b"\x93NUM"}


@pytest.mark.parametrize("format", pictures.FORMATS)
def test_write_to_a_stream_that_cannot_seek(format):
    stream = OneWay()
    pictures.write(SAMPLES, stream, format)
    assert stream.data == pictures.to_bytes(SAMPLES, format)


def test_npy_reads_back():
    stream = io.BytesIO(pictures.to_bytes(SAMPLES[:, ::2], "npy"))
    np.testing.assert_array_equal(np.load(stream), SAMPLES[:, ::2])


def test_write_colour(tmp_path):
    colour = np.dstack([SAMPLES, SAMPLES // 2, 255 - SAMPLES])
    pictures.write(colour, tmp_path / "drawing.png")
    with Image.open(tmp_path / "drawing.png") as image:
        np.testing.assert_array_equal(np.asarray(image), colour)
    with pytest.raises(ParameterError, match="and type uint8 for pgm: must not"):
        pictures.to_bytes(colour, "pgm")


@pytest.mark.parametrize(
    "samples", [SAMPLES.astype(np.int32), SAMPLES.ravel(), np.zeros((0, 3), np.uint8)]
)
def test_write_refuses_other_arrays(samples):
    with pytest.raises(ParameterError, match=r"shape .* and type .* for png: must not be empty"):
        pictures.to_bytes(samples, "png")


def test_unknown_formats():
    with pytest.raises(ParameterError, match=r"a\.jpg: extension '\.jpg' must be one of \.pgm"):
        pictures.format_of("a.jpg")
    with pytest.raises(ParameterError, match="format = 'jpg': must be one of pgm, png, tif, npy"):
        pictures.to_bytes(SAMPLES, "jpg")
    with pytest.raises(ParameterError, match="format = 'None'"):
        pictures.write(SAMPLES, io.BytesIO())


def test_write_failure_names_the_file(tmp_path):
    with pytest.raises(PictureError, match=r"no/picture\.png: No such file or directory$"):
        pictures.write(SAMPLES, tmp_path / "no" / "picture.png")


def test_damage_in_png_is_found():
    data = bytearray(file_bytes(SAMPLES, "PNG"))
    place = data.index(b"IDAT") + 6
    data[place] ^= 0x55
    assert struct.unpack(">I", data[16:20]) == (9,)
    with pytest.raises(PictureError, match=r"^x: is damaged or truncated: "):
        pictures.from_bytes(bytes(data), "x")
