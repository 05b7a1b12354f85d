"""Pillow's door, with the real Pillow, imageio and scikit-image."""

import io
import re
from fractions import Fraction

import numpy as np
import pytest
from PIL import Image, ImageFile, UnidentifiedImageError
from support.pairs import every_pair
from support.planes import text
from support.strategies import natural
from support.tiled import SHAPES, damaged, large, samples_of, tiled, tiles_decoded

import mmpcodec
from mmpcodec import DecodeLimits
from mmpcodec.codec import regions
from mmpcodec.metadata import Metadata, Resolution
from mmpcodec.opening.contents import contents_of
from mmpcodec.plugins.pillow import MmpImageFile

GRAY = natural(np.random.default_rng(0), 40, 52)
BITS = GRAY >> 7
DEEP = GRAY.astype(np.uint16) * 257
TWELVE = GRAY.astype(np.uint16) * 16
RGB = np.dstack([GRAY, GRAY // 2, 255 - GRAY])
EXIF = b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"  # turned by 90 degrees
METADATA = Metadata(
    icc=b"a profile",
    exif=EXIF,
    xmp=b"<x:xmpmeta xmlns:x='adobe:ns:meta/'/>",
    resolution=Resolution(Fraction(11811), Fraction(5906), "metre"),
    text=(("Title", "A picture"), ("Title", "a second time")),
)


def opened(data):
    return Image.open(io.BytesIO(data))


def saved(image, **options):
    stream = io.BytesIO()
    image.save(stream, "MMP", **options)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("samples", "depth", "mode"),
    [
        (BITS, 1, "1"),
        (GRAY, 8, "L"),
        (np.dstack([GRAY, 255 - GRAY]), 8, "LA"),
        (RGB, 8, "RGB"),
        (np.dstack([RGB, GRAY]), 8, "RGBA"),
        (TWELVE, 12, "I;16"),
        (DEEP, 16, "I;16"),
    ],
)
def test_each_mode_comes_back_and_goes_again(samples, depth, mode):
    data = mmpcodec.encode(samples, 0, depth=depth)
    with opened(data) as image:
        assert (image.format, image.mode, image.size) == ("MMP", mode, (52, 40))
        assert image.get_format_mimetype() == "image/x-mmp"
        assert image.info == {"depth": depth}
        assert image.width, image.height == (52, 40)
        assert np.array_equal(np.asarray(image), samples)
        assert saved(image, lam=0) == data
    assert np.array_equal(
        mmpcodec.decode(saved(Image.fromarray(np.asarray(image)), lam=0)), samples
    )


@pytest.mark.parametrize("depth", [2, 4, 7])
def test_few_bits_are_shown_with_white_at_255(depth):
    most = (1 << depth) - 1
    samples = np.arange(most + 1, dtype=np.uint8)[None]
    colours = np.dstack([samples, samples[:, ::-1], samples])
    expected = np.round(samples / most * 255)
    shown = np.asarray(opened(mmpcodec.encode(samples, 0, depth=depth)))
    assert shown.tolist() == expected.tolist()
    shown = np.asarray(opened(mmpcodec.encode(colours, 0, depth=depth)))
    assert shown[..., 1].tolist() == expected[:, ::-1].tolist()


def test_a_level_of_white_is_shown_as_white_and_alpha_is_not_changed():
    samples = np.uint8([[[0, 255], [100, 128], [200, 0], [201, 1]]])
    image = opened(mmpcodec.encode(samples, 0, metadata=Metadata(white=200)))
    assert np.asarray(image).tolist() == [[[0, 255], [128, 128], [255, 0], [255, 1]]]
    assert image.info["white"] == 200
    for depth in (12, 16):
        deep = mmpcodec.encode(TWELVE, 0, depth=depth, metadata=Metadata(white=4000))
        assert np.array_equal(np.asarray(opened(deep)), TWELVE)
        assert saved(opened(deep), lam=0) == deep


def test_levels_above_the_depth_that_was_opened_are_saved_with_16_bits():
    image = opened(mmpcodec.encode(TWELVE, 0, depth=12))
    brighter = Image.fromarray(np.asarray(image) * 16)
    brighter.info = image.info
    found = mmpcodec.inspect(saved(brighter, lam=0), decode=True)
    assert found.header.depth == 16
    assert np.array_equal(found.samples, TWELVE * 16)


def test_black_and_white_is_saved_without_loss_by_default(tmp_path):
    path = tmp_path / "page.mmp"
    Image.fromarray(BITS.astype(bool)).save(path, preset="text")
    assert path.read_bytes() == mmpcodec.encode(BITS, 0, depth=1, preset="text")
    with Image.open(path) as image:
        assert image.mode == "1"
        assert np.array_equal(np.asarray(image), BITS)


@pytest.mark.parametrize("form", ["I;16B", "I;16L"])
def test_deep_gray_is_saved_in_any_byte_order(form):
    image = Image.frombytes(
        form, (52, 40), DEEP.astype(">u2" if form[-1] == "B" else "<u2").tobytes()
    )
    assert np.array_equal(mmpcodec.decode(saved(image, lam=0)), DEEP)


def test_metadata_are_what_pillow_calls_them_and_stay():
    data = mmpcodec.encode(GRAY, 0, metadata=METADATA)
    image = opened(data)
    assert image.info["icc_profile"] == METADATA.icc
    assert image.info["exif"] == b"Exif\0\0" + EXIF
    assert image.info["xmp"] == METADATA.xmp
    assert image.info["dpi"] == pytest.approx((299.9994, 150.0124))
    assert image.info["text"] == METADATA.text
    assert image.getexif()[0x0112] == 6
    assert np.array_equal(np.asarray(image), GRAY)  # not turned

    kept = mmpcodec.inspect(saved(image, lam=0)).header.metadata
    assert kept.without("resolution") == METADATA.without("resolution")
    assert kept.resolution.per_metre() == METADATA.resolution.per_metre()
    gone = dict.fromkeys(("icc_profile", "exif", "xmp", "dpi", "text"))
    assert mmpcodec.inspect(saved(image, lam=0, **gone)).header.metadata == Metadata()


def test_metadata_can_be_given():
    exif = Image.Exif()
    exif[0x0112] = 3
    data = saved(
        Image.fromarray(GRAY),
        lam=0,
        exif=exif,
        icc_profile=b"other",
        xmp="<x/>",
        dpi=(72, 72.5),
        text=[("Software", "a test")],
    )
    found = mmpcodec.inspect(data).header.metadata
    assert opened(data).getexif()[0x0112] == 3
    assert (found.icc, found.xmp, found.text) == (b"other", b"<x/>", (("Software", "a test"),))
    assert found.resolution == Resolution(Fraction(72), Fraction(145, 2), "inch")
    assert not found.exif.startswith(b"Exif")


def test_metadata_of_another_format_are_kept(tmp_path):
    Image.fromarray(RGB).save(tmp_path / "a.jpg", exif=b"Exif\0\0" + EXIF, dpi=(96, 96))
    with Image.open(tmp_path / "a.jpg") as image:
        found = mmpcodec.inspect(saved(image, preset="plain")).header.metadata
    assert found.exif == EXIF
    assert found.resolution == Resolution(Fraction(96), Fraction(96))
    image = Image.fromarray(GRAY)
    image.info = {"text": "a PNG keyword", "xmp": "another", "depth": "a third"}
    assert mmpcodec.inspect(saved(image, lam=0)).header.metadata == Metadata()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"lam": 20, "preset": "plain"},
        {"quality": 60, "preset": "photo", "effort": 2},
        {"target_size": 900, "preset": "text"},
        {"target_psnr": 30, "preset": "plain"},
        {"target_ssimulacra2": 70, "preset": "plain"},
        {"lam": 9, "preset": "plain", "tile_size": 64, "backend": "cpu", "threads": 1},
    ],
)
def test_options_reach_the_codec(options):
    samples = natural(np.random.default_rng(1), 70, 72)
    assert saved(Image.fromarray(samples), **options) == mmpcodec.encode(samples, **options)


@pytest.mark.parametrize(
    "foreign",
    [
        {"optimize": True, "progressive": True, "subsampling": "4:4:4", "quality": "keep"},
        {"compress_level": 9, "pnginfo": None, "bits": 4},
        {"compression": "tiff_lzw", "save_all": False},
        {"exact": True, "method": 6},  # of WebP
        {"tile_size": (128, 128), "irreversible": True},  # of JPEG 2000
    ],
)
def test_options_of_other_formats_are_ignored(foreign):
    image = Image.fromarray(GRAY)
    assert saved(image, lam=9, preset="plain", **foreign) == mmpcodec.encode(
        GRAY, 9, preset="plain"
    )


def test_lossless_is_lambda_0_as_other_formats_mean_it():
    image = Image.fromarray(GRAY)
    assert saved(image, lossless=True, quality=80, method=6) == mmpcodec.encode(GRAY, 0)
    assert saved(image, lossless=False, quality=80) == mmpcodec.encode(GRAY, quality=80)


def test_verify_compares_checksums_without_decoding(monkeypatch, tmp_path):
    data = mmpcodec.encode(natural(np.random.default_rng(2), 64, 128), 0, tile_size=64)
    path = tmp_path / "a.mmp"
    path.write_bytes(data)
    monkeypatch.setattr(mmpcodec.backends, "get", None)
    image = Image.open(path)
    image.verify()
    assert image.fp is None
    with pytest.raises(ValueError, match="the image is closed; open it again"):
        image.load()
    with pytest.raises(RuntimeError, match="verify must be called directly after open"):
        image.verify()
    header = mmpcodec.inspect(data).header
    for place in (*header.tile_offsets[:2], len(data) - 1):
        damaged = bytearray(data)
        damaged[place] ^= 1
        with pytest.raises(OSError, match=r"checksum|CRC|trailer differs"):
            opened(damaged).verify()
    with pytest.raises(OSError, match=r"file has \d+ of \d+ bytes"):
        opened(data[:-5]).verify()


def test_verify_comes_before_the_samples():
    image = opened(DATA)
    image.load()
    with pytest.raises(RuntimeError, match="verify must be called directly after open"):
        image.verify()


def test_files_are_found_by_extension(tmp_path):
    path = tmp_path / "a.mmp"
    Image.fromarray(RGB).save(path, lam=0)
    assert path.read_bytes() == mmpcodec.encode(RGB, 0)
    with Image.open(path) as image:
        assert image.format == "MMP"
        assert np.array_equal(np.asarray(image), RGB)


def test_only_the_header_is_read_before_the_samples_are_asked_for(monkeypatch):
    text = tuple((f"Key {number}", "x" * 1000) for number in range(200))
    data = mmpcodec.encode(RGB, 0, metadata=Metadata(text=text))
    asked = []
    monkeypatch.setattr(mmpcodec, "inspect", lambda *given, **options: asked.append(given))
    image = opened(data + bytes(1 << 20))
    assert image.info["text"] == text
    assert image.fp.tell() < 2 * len(data)
    assert asked == []


@pytest.mark.parametrize("transparency", [None, b"\0\x80\xff"])
def test_palettes_are_saved_as_what_they_show(transparency):
    image = Image.fromarray((GRAY % 3).astype(np.uint8)).convert("P")
    image.putpalette([255, 0, 0, 0, 255, 0, 9, 8, 7])
    if transparency:
        image.info["transparency"] = transparency
    colours = np.uint8([[255, 0, 0, 0], [0, 255, 0, 128], [9, 8, 7, 255]])[GRAY % 3]
    found = mmpcodec.decode(saved(image, lam=0))
    assert np.array_equal(found, colours if transparency else colours[..., :3])


def test_a_transparent_level_is_saved_as_alpha():
    image = Image.fromarray(np.uint8([[7, 8]]))
    image.info["transparency"] = 7
    assert mmpcodec.decode(saved(image, lam=0)).tolist() == [[[7, 0], [8, 255]]]


@pytest.mark.parametrize("mode", ["CMYK", "F", "I", "HSV", "YCbCr", "LAB"])
def test_other_modes_are_refused(mode, tmp_path):
    advice = {"I": "astype", "F": "astype", "LAB": "profileToProfile"}.get(mode, "convert..RGB")
    says = f"cannot write mode {mode} as MMP: supported are 1, L.*{advice}"
    with pytest.raises(OSError, match=says):
        Image.new(mode, (8, 8)).save(tmp_path / "a.mmp")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"lam": -1}, "lam = -1"),
        ({"append_images": [Image.new("L", (8, 8))], "save_all": True, "lam": -1}, "lam = -1"),
        ({"templates": 9}, "templates = 9"),
        ({"lam": 3, "quality": 5}, "lam and quality: give only one"),
        ({"dpi": (float("nan"), 1)}, "dpi = "),
        ({"dpi": 300}, "dpi = 300: must be two finite numbers above 0"),
        ({"dpi": (-1, 300)}, r"dpi = \(-1, 300\): must be two finite numbers above 0"),
        ({"dpi": "high"}, "dpi = 'high': must be two"),
        ({"exif": 5}, "exif of type int: must be bytes"),
    ],
)
def test_bad_options_are_named(options, says):
    with pytest.raises((mmpcodec.ParameterError), match=says):
        saved(Image.fromarray(GRAY), **options)


@pytest.mark.parametrize("depth", [9, 16])
@pytest.mark.parametrize(
    ("planes", "kind"), [(2, "gray with alpha"), (3, "RGB"), (4, "RGB with alpha")]
)
def test_deep_colour_has_no_mode_and_says_what_to_do(planes, kind, depth):
    samples = np.ones((3, 4, planes), np.uint16)
    with pytest.raises(
        UnidentifiedImageError,
        match=f"{kind} with {depth} bits.*no mode for more than 8.*mmpcodec.decode",
    ):
        opened(mmpcodec.encode(samples, 0, depth=depth))


DATA = mmpcodec.encode(RGB, 0)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (DATA[:8], "version"),
        (DATA[:20], "Container"),
        (DATA[:8] + b"\xee" + DATA[9:], "version is 238, allowed is 3"),
        (DATA[:12] + b"\xff" + DATA[13:], "Container"),
    ],
)
def test_a_damaged_header_is_reported(data, says):
    with pytest.raises(UnidentifiedImageError, match=says):
        opened(data)


def test_other_files_are_left_to_others():
    for data in (b"", b"\x89MMP", b"GIF89a?", DATA[1:]):
        with pytest.raises(UnidentifiedImageError, match="cannot identify image file"):
            opened(data)
    with pytest.raises(SyntaxError, match="not an mmp file"):
        MmpImageFile(io.BytesIO(b"P5 1 1 255 0"))


def test_damaged_samples_are_an_error_unless_truncated_files_are_asked_for(monkeypatch):
    samples = natural(np.random.default_rng(2), 64, 128)
    data = mmpcodec.encode(samples, 0, tile_size=64)
    data = data[: mmpcodec.inspect(data).header.tile_offsets[-1] - 5]  # without its trailer
    image = opened(data)
    with pytest.raises(OSError, match=r"file has \d+ of \d+ bytes"):
        image.load()
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)
    shown = np.asarray(opened(data))
    assert np.array_equal(shown[:, :64], samples[:, :64])
    assert not shown[:, 64:].any()


def test_limits_are_pillows_and_ours(monkeypatch):
    monkeypatch.setattr(MmpImageFile, "limits", DecodeLimits(max_samples=1000))
    image = opened(DATA)
    with pytest.raises(Image.DecompressionBombError, match="the limit is 1000; max_samples"):
        image.load()
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    with pytest.raises(Image.DecompressionBombError, match=re.escape("2080 pixels")):
        opened(DATA)


def test_scikit_image_reads_and_writes(tmp_path):
    from skimage import io as skimage_io

    path = tmp_path / "a.mmp"
    skimage_io.imsave(path, RGB, check_contrast=False)
    assert path.read_bytes() == mmpcodec.encode(RGB)
    assert np.array_equal(skimage_io.imread(path), mmpcodec.decode(path.read_bytes()))


@pytest.fixture
def decoded(monkeypatch):
    """Numbers of the tiles that boxes decode, in their order."""
    return tiles_decoded(monkeypatch)


BOXES = [
    (0, 0, 64, 64),
    (60, 60, 70, 70),
    (-5, -7, 9, 8),
    (190, 120, 230, 140),
    (5, 5, 5, 9),
    (500, 500, 503, 505),
    (-9, 3, -2, 30),
    (-10, -10, 300, 300),
    (0.6, 1.4, 9.5, 10.5),
]


FORMS = [(1, 1), (1, 3), (1, 8), (1, 12), (1, 16), (2, 8), (3, 1), (3, 8), (4, 6), (4, 8)]


@every_pair(shape=SHAPES, form=FORMS, white=[None, 1])
def test_a_box_has_the_pixels_of_the_loaded_image(shape, form, white):
    planes, depth = form
    samples = samples_of(shape, planes, depth)
    data = tiled(samples, depth, metadata=Metadata(white=white, xmp=b"<x/>"))
    loaded = opened(data)
    loaded.load()
    for box in BOXES:
        image = opened(data)
        found, expected = image.crop(box), loaded.crop(box)
        assert (found.mode, found.size) == (expected.mode, expected.size)
        assert found.tobytes() == expected.tobytes()
        assert found.info == expected.info
        assert type(found) is type(expected) is Image.Image
        if box in BOXES[1::6]:
            assert image.tobytes() == loaded.tobytes()  # the image can still be loaded


WIDE = samples_of((130, 200), 3, 8)


def test_a_box_decodes_the_tiles_that_it_touches(decoded, tmp_path):
    path = tmp_path / "tiled.mmp"
    path.write_bytes(tiled(WIDE))
    with Image.open(path) as image:
        for _ in range(2):
            found = image.crop((130, 60, 135, 70))
            assert decoded == [2, 6]
        assert image.tile
        assert np.array_equal(np.asarray(found), WIDE[60:70, 130:135])
        assert np.array_equal(np.asarray(image.crop()), WIDE)
        assert not image.tile


def test_a_box_that_touches_all_tiles_loads_the_image(decoded):
    image = opened(tiled(WIDE))
    image.crop((1, 1, 199, 129))
    assert (image.tile, decoded) == ([], [])
    image = opened(mmpcodec.encode(WIDE, 0, preset="lossless"))  # one tile
    image.crop((1, 1, 2, 2))
    assert (image.tile, decoded) == ([], [])


def test_boxes_that_cost_as_much_as_loading_load_the_image(decoded, monkeypatch):
    monkeypatch.setattr(regions, "CACHE_BYTES", 0)
    image = opened(tiled(WIDE))
    for _ in range(20):
        image.crop((0, 0, 9, 9))
    assert decoded == [0] * 12
    assert not image.tile
    decoded.clear()
    for limits in ({"max_samples": 64 * 64 * 3}, {"max_memory": 20_000_000}):
        monkeypatch.setattr(MmpImageFile, "limits", DecodeLimits(**limits))
        image = opened(tiled(WIDE))
        for _ in range(20):  # the whole is beyond the limits
            image.crop((0, 0, 9, 9))
        assert decoded == [0] * 20
        decoded.clear()


def test_a_box_beyond_the_limits_or_damaged(monkeypatch):
    data = damaged(tiled(WIDE), 6)
    image = opened(data)
    assert np.array_equal(np.asarray(image.crop((0, 0, 200, 64))), WIDE[:64])
    for _ in range(2):
        with pytest.raises(OSError, match=r"tile 6, 64x64 at \(128, 64\)"):
            image.crop((128, 64, 129, 65))
    with pytest.raises(OSError, match="tile 6"):
        image.load()
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)
    assert not np.asarray(opened(data).crop((128, 64, 192, 128))).any()
    monkeypatch.setattr(MmpImageFile, "limits", DecodeLimits(max_samples=64 * 64 * 3))
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", False)
    image = opened(data)
    image.crop((0, 0, 64, 64))
    with pytest.raises(Image.DecompressionBombError, match="the limit is 12288; max_samples"):
        image.crop((0, 0, 65, 64))


def test_boxes_of_a_damaged_file_go_on(decoded, monkeypatch):
    monkeypatch.setattr(regions, "CACHE_BYTES", 0)
    image = opened(damaged(tiled(WIDE), 6))
    for _ in range(15):  # more than the tiles of the file
        assert np.array_equal(np.asarray(image.crop((0, 0, 9, 9))), WIDE[:9, :9])
    assert decoded == [0] * 15
    with pytest.raises(OSError, match="tile 6"):
        image.crop((1, 1, 199, 129))
    with pytest.raises(OSError, match="tile 6"):
        image.load()


def test_wrong_boxes_are_pillows(decoded):
    image = opened(tiled(WIDE))
    with pytest.raises(ValueError, match="'right' is less than 'left'"):
        image.crop((0.4, 0, 0.3, 9))
    with pytest.raises(ValueError, match="'lower' is less than 'upper'"):
        image.crop((0, 9, 9, 0))
    with pytest.raises(Image.DecompressionBombError):
        image.crop((0, 0, 1 << 20, 1 << 20))
    image.close()
    with pytest.raises(ValueError, match="closed"):
        image.crop((0, 0, 9, 9))


def test_a_box_of_a_picture_larger_than_the_limits(monkeypatch):
    data, tile = large()
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", None)
    image = opened(data)
    assert np.array_equal(np.asarray(image.crop((19990, 12345, 20000, 12400))), tile[345:400, 990:])
    with pytest.raises(Image.DecompressionBombError, match="max_samples"):
        image.load()


def test_pages_continue_others_if_that_is_asked_for():
    pages = [text(60, 80 + number) for number in range(5)]
    images = [Image.fromarray(page) for page in pages]
    more = {"save_all": True, "append_images": images[1:]}
    data, plain = saved(images[0], chain_pages=3, **more), saved(images[0], **more)
    continued = [entry.continues for entry in contents_of(memoryview(data)).entries]
    assert continued == [None, 0, 1, None, 3]
    assert all(entry.continues is None for entry in contents_of(memoryview(plain)).entries)
    assert len(data) < len(plain)
    with opened(data) as found:
        for number, page in enumerate(pages):
            found.seek(number)
            np.testing.assert_array_equal(np.asarray(found), page)
    with pytest.raises(ValueError, match="chain_pages = 0"):
        saved(images[0], chain_pages=0, **more)
