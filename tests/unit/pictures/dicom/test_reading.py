"""DICOM files."""

import io
import struct
import sys
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from support.picture_files import COLOUR, DEEP, GRAY, dicom_of, file_of

import mmpcodec
from mmpcodec import MissingExtra, PictureError, PictureWarning, pictures
from mmpcodec.metadata import Calibration, Metadata, Resolution
from mmpcodec.pictures.registry import format_at


def test_dicom_of_every_kind():
    deep = (DEEP >> 4).astype(np.uint16)
    plain = pictures.from_bytes(dicom_of(deep, 12))
    np.testing.assert_array_equal(plain.samples, deep)
    assert (plain.depth, plain.white, plain.metadata) == (12, 4095, Metadata())
    inverted = pictures.from_bytes(dicom_of(deep, 12, "MONOCHROME1"))
    np.testing.assert_array_equal(inverted.samples, 4095 - deep)
    signed = pictures.from_bytes(dicom_of(deep.astype(np.int16) - 2048, 12))
    np.testing.assert_array_equal(signed.samples, deep)
    colour = pictures.from_bytes(dicom_of(COLOUR, 8, "RGB"))
    np.testing.assert_array_equal(colour.samples, COLOUR)


STORED = (np.arange(6 * 9).reshape(6, 9) * 70 - 2000).astype(np.int16)
RESCALED = {"RescaleSlope": "2", "RescaleIntercept": "-1024"}


@pytest.mark.parametrize("kind", ["MONOCHROME1", "MONOCHROME2"])
@pytest.mark.parametrize("masked", [False, True], ids=["sign extended", "sign in bit 11"])
def test_values_come_back_from_samples(kind, masked):
    stored = STORED & 0xFFF if masked else STORED
    found = pictures.from_bytes(dicom_of(stored, 12, kind, **RESCALED, RescaleType="HU"))
    calibration = found.metadata.calibration
    assert calibration.unit == "HU"
    values = [[calibration.value(sample) for sample in row] for row in found.samples.tolist()]
    np.testing.assert_array_equal(values, 2.0 * STORED - 1024)
    order = 1 if kind == "MONOCHROME2" else -1
    assert (np.diff(found.samples.ravel().astype(int)) * order > 0).all()


@pytest.mark.parametrize(
    ("elements", "calibration"),
    [
        ({}, None),
        ({"Modality": "CT"}, None),
        (RESCALED, Calibration(2.0, -1024.0)),
        ({**RESCALED, "Modality": "CT"}, Calibration(2.0, -1024.0, "HU")),
        ({**RESCALED, "RescaleType": "US"}, Calibration(2.0, -1024.0)),
        ({"RescaleSlope": "0.5"}, Calibration(0.5)),
        ({"WindowCenter": "40", "WindowWidth": "400"}, Calibration(window=(-160.0, 239.0))),
        (
            {"WindowCenter": ["40", "9"], "WindowWidth": ["400", "9"], "VOILUTFunction": "SIGMOID"},
            Calibration(window=(-160.0, 240.0)),
        ),
        ({"WindowCenter": "40", "WindowWidth": "1"}, None),
        ({"WindowCenter": "40"}, None),
    ],
)
@pytest.mark.filterwarnings("ignore::mmpcodec.PictureWarning")
def test_rescaling_and_windows_are_read(elements, calibration):
    found = pictures.from_bytes(dicom_of(DEEP >> 4, 12, **elements)).metadata
    assert found.calibration == calibration
    assert len(found.text) == (calibration is not None)


@pytest.mark.parametrize(
    ("elements", "resolution"),
    [
        ({"PixelSpacing": ["0.5", "0.25"]}, (Fraction(4000), Fraction(2000))),
        ({"ImagerPixelSpacing": ["0.2", "0.2"]}, (Fraction(5000), Fraction(5000))),
        ({"PixelSpacing": ["0.143", "0.143"]}, (Fraction(10**6, 143), Fraction(10**6, 143))),
        (
            {"PixelSpacing": ["1", "1"], "ImagerPixelSpacing": ["2", "2"]},
            (Fraction(1000), Fraction(1000)),
        ),
        ({"PixelSpacing": ["0", "1"]}, None),
        ({"PixelSpacing": ["1e-7", "1"]}, None),
        ({"PixelSpacing": "1"}, None),
        ({"PixelSpacing": "1", "ImagerPixelSpacing": ["2", "2"]}, (Fraction(500), Fraction(500))),
    ],
)
@pytest.mark.filterwarnings("ignore::mmpcodec.PictureWarning")
def test_spacing_becomes_the_resolution(elements, resolution):
    for samples, kind in ((GRAY, "MONOCHROME2"), (COLOUR, "RGB")):
        found = pictures.from_bytes(dicom_of(samples, 8, kind, **elements)).metadata.resolution
        assert found == (None if resolution is None else Resolution(*resolution, "metre"))


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (bytes(128) + b"DICM" + bytes(9), "is damaged or truncated"),
        (dicom_of(GRAY, 8, "PALETTE COLOR"), "is damaged or truncated: lacks its palette"),
        (
            dicom_of(GRAY, 8, "PALETTE COLOR", SegmentedRedPaletteColorLookupTableData=b"00"),
            "is DICOM with a segmented palette, which is not supported",
        ),
        (dicom_of(GRAY, 8, "HSV"), "is DICOM of HSV with 8 bits in 8, 1 planes; supported are"),
        (dicom_of(COLOUR.astype(np.int8), 8, "RGB"), "is DICOM of signed RGB with 8 bits"),
        (dicom_of(DEEP.astype(np.uint32), 32), "is DICOM of MONOCHROME2 with 32 bits in 32"),
        (
            dicom_of(GRAY, 8, NumberOfFrames=2),
            "holds 2 frames; --page N, or page=N in Python, reads one",
        ),
        (dicom_of(GRAY, 8) + b"1.2.840.10008.1.2.1.99", "is a deflated DICOM file"),
        (
            dicom_of(DEEP, 12, HighBit=15),
            "holds 12 bits up to bit 15; supported are samples whose lowest bit is bit 0$",
        ),
    ],
)
def test_dicom_refuses(data, says):
    with pytest.raises(PictureError, match=rf"^x: {says}"):
        pictures.from_bytes(data, "x")


def encapsulated(frame, syntax, samples=GRAY, rest=(), tables=None, bits=8, frames=None, **more):
    """A file with a compressed frame, and the rest of the fragments; ``tables`` are elements."""
    from pydicom import dcmread
    from pydicom.encaps import encapsulate

    file = dcmread(io.BytesIO(dicom_of(samples, bits, **more)))
    file.file_meta.TransferSyntaxUID = syntax
    frames = frames or [frame, *rest]
    file.PixelData = encapsulate(frames, has_bot=not rest)
    file["PixelData"].VR = "OB"
    file["PixelData"].is_undefined_length = True
    for name, value in (tables or {}).items():
        setattr(file, name, value)
    stream = io.BytesIO()
    file.save_as(stream, enforce_file_format=True)
    return stream.getvalue()


JPEG, JPEG_2000, RLE = "1.2.840.10008.1.2.4.50", "1.2.840.10008.1.2.4.90", "1.2.840.10008.1.2.5"


def rle_frame(*segments):
    starts = [64 + sum(map(len, segments[:number])) for number in range(len(segments))]
    header = struct.pack("<16I", len(segments), *starts, *[0] * (15 - len(segments)))
    return header + b"".join(segments)


def rle_segment(samples):
    """PackBits data of literal runs of one row each."""
    return b"".join(bytes([len(row) - 1]) + bytes(row) for row in samples)


def test_compressed_frames():
    lossless = file_of(GRAY, "JPEG2000", no_jp2=True, irreversible=False)
    found = pictures.from_bytes(encapsulated(lossless, JPEG_2000)).samples
    np.testing.assert_array_equal(found, GRAY)
    jpeg = file_of(GRAY, "JPEG", quality=100)
    found = pictures.from_bytes(encapsulated(jpeg, JPEG)).samples
    assert np.abs(found.astype(int) - GRAY).max() <= 3
    rle = rle_frame(rle_segment(GRAY))
    np.testing.assert_array_equal(pictures.from_bytes(encapsulated(rle, RLE)).samples, GRAY)


def test_compressions_without_a_decoder_are_named(monkeypatch):
    with pytest.raises(PictureError, match=r"^x: is compressed by MPEG2 Main .*, which is not su"):
        pictures.from_bytes(encapsulated(bytes(8), "1.2.840.10008.1.2.4.100"), "x")
    monkeypatch.setitem(sys.modules, "imagecodecs", None)
    lossless = file_of(GRAY, "JPEG").replace(b"\xff\xc0", b"\xff\xc3", 1)
    data = encapsulated(lossless, "1.2.840.10008.1.2.4.70")
    says = r"^x: DICOM of JPEG Lossless, .* needs imagecodecs; in a checkout .*\[formats\]"
    with pytest.raises(MissingExtra, match=says):
        pictures.from_bytes(data, "x")


@pytest.mark.parametrize("syntax", [50, 51, 70, 80, 91])
def test_the_header_of_a_frame_tells_its_kind(syntax):
    smooth = np.add.outer(np.arange(40), np.arange(40)).astype(np.uint8)
    for format, options in (("JPEG", {"quality": 98}), ("JPEG2000", {"irreversible": False})):
        data = encapsulated(
            file_of(smooth, format, **options), f"1.2.840.10008.1.2.4.{syntax}", smooth
        )
        found = pictures.from_bytes(data).samples
        assert np.abs(found.astype(int) - smooth).max() <= 3


def test_kinds_of_jpeg_that_no_decoder_knows_are_not_supported():
    jpeg = bytearray(file_of(GRAY, "JPEG"))
    jpeg[jpeg.index(b"\xff\xc0") + 1] = 0xC9  # arithmetic coding
    with pytest.raises(PictureError, match="x: is compressed by JPEG of 8 bits and frame 0xc9, w"):
        pictures.from_bytes(encapsulated(bytes(jpeg), JPEG), "x")


LARGE = np.zeros((3000, 3000), np.uint8)


@pytest.mark.parametrize(
    ("frame", "syntax", "says"),
    [
        (file_of(LARGE, "JPEG"), JPEG, "frame of 3000x3000 in a picture of 9x6"),
        (file_of(LARGE, "JPEG2000", no_jp2=True), JPEG_2000, "frame of 3000x3000 in a picture"),
        (file_of(LARGE, "JPEG2000"), JPEG_2000, "frame of 3000x3000 in a picture of 9x6"),
        (b"GIF89a", JPEG, "its frame is neither JPEG nor JPEG 2000"),
        (file_of(LARGE, "JPEG2000", no_jp2=True), JPEG, "frame of 3000x3000 in a picture of 9x6"),
        (
            file_of(GRAY, "JPEG2000", no_jp2=True).replace(b"\xff\x64", b"\xff\x70", 1),
            JPEG_2000,
            "JPEG 2000 has the marker 0xff70",
        ),
        (rle_frame(b"\x81\0" * 70000), RLE, "RLE segment of more than 54 bytes"),
        (rle_frame(rle_segment(GRAY), b"\x81\0" * 70000), RLE, "RLE segment of more than 54"),
    ],
)
def test_frames_larger_than_the_picture_are_refused(frame, syntax, says):
    data = encapsulated(frame, syntax)
    tracemalloc.start()
    with pytest.raises(PictureError, match=rf"^x: is damaged or truncated: {says}"):
        pictures.from_bytes(data, "x")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000 + 8 * len(data)


def test_only_the_checked_frame_is_decoded():
    """A table of offsets that names another frame is left out."""
    small, large = (
        file_of(each, "JPEG2000", no_jp2=True, irreversible=False) for each in (GRAY, LARGE)
    )
    tables = {
        "ExtendedOffsetTable": struct.pack("<Q", 8 + len(small) + len(small) % 2),
        "ExtendedOffsetTableLengths": struct.pack("<Q", len(large)),
    }
    data = encapsulated(small, JPEG_2000, rest=[large], tables=tables)
    np.testing.assert_array_equal(pictures.from_bytes(data, "x").samples, GRAY)


def bare(data):
    """The data set of a file, without its preamble, magic and meta information."""
    from pydicom import dcmread

    file = dcmread(io.BytesIO(data))
    stream = io.BytesIO()
    file.save_as(stream, implicit_vr=False, little_endian=True)
    whole = stream.getvalue()
    return whole[whole.index(b"\x08\0\x16\0UI") :]


STORAGE = {"SOPClassUID": "1.2.840.10008.5.1.4.1.1.7", "SOPInstanceUID": "1.2.3"}


def test_dicom_whose_preamble_is_tiff_is_dicom():
    data = b"II*\0" + struct.pack("<I", 132) + dicom_of(DEEP >> 4, 12)[8:]
    found = pictures.from_bytes(data)
    assert found.depth == 12
    np.testing.assert_array_equal(found.samples, DEEP >> 4)


def test_dicom_without_preamble_is_known_by_its_elements():
    data = dicom_of(DEEP >> 4, 12, **STORAGE)
    for start in (data[132:], bare(data)):
        np.testing.assert_array_equal(pictures.from_bytes(start).samples, DEEP >> 4)
    random = np.random.default_rng(5)
    for group in (b"\x08\0", b"\2\0", b"\0\x08", b"\x08\0\x05\0CS", b"\x08\0\0\0\4\0\0\0"):
        for noise in random.bytes(64000).splitlines():
            assert format_at(group + noise) is None
        assert format_at(group + bytes(600)) is None


@pytest.mark.filterwarnings("ignore::mmpcodec.PictureWarning")
def test_attributes_that_are_wrong_cost_only_themselves():
    """The samples are what they are without the attribute, and the rest of the facts, too."""
    plain = pictures.from_bytes(dicom_of(DEEP >> 4, 12)).samples
    both = {**RESCALED, "WindowCenter": "40", "WindowWidth": "400"}
    scaled = Calibration(2.0, -1024.0, window=(-160.0, 239.0))
    for wrong, calibration in (
        ({"RescaleSlope": "0"}, None),
        ({"RescaleSlope": "1e308"}, None),
        ({"RescaleIntercept": "1e999"}, None),
        ({"WindowWidth": "-1"}, Calibration(2.0, -1024.0)),
        ({"WindowCenter": "1e400"}, Calibration(2.0, -1024.0)),
        ({"PixelSpacing": ["0", "1"]}, scaled),
    ):
        found = pictures.from_bytes(dicom_of(DEEP >> 4, 12, **{**both, **wrong}))
        np.testing.assert_array_equal(found.samples, plain)
        assert (found.metadata.calibration, found.metadata.resolution) == (calibration, None)
    for text in (b"abc ", b"nan ", b"1\\2 "):
        data = dicom_of(DEEP >> 4, 12, RescaleSlope="9999", RescaleIntercept="-7")
        found = pictures.from_bytes(data.replace(b"9999", text))
        np.testing.assert_array_equal(found.samples, plain)
        assert found.metadata.calibration is None


@pytest.mark.parametrize(
    ("stored", "kind", "elements", "padding"),
    [
        (DEEP >> 4, "MONOCHROME2", {"PixelPaddingValue": 0}, (0, 0)),
        (DEEP >> 4, "MONOCHROME1", {"PixelPaddingValue": 0}, (4095, 4095)),
        (STORED, "MONOCHROME2", {"PixelPaddingValue": -2000}, (48, 48)),
        (
            DEEP >> 4, "MONOCHROME2",
            {"PixelPaddingValue": 4000, "PixelPaddingRangeLimit": 3990}, (3990, 4000),
        ),
    ],
)  # fmt: skip
def test_padding_is_known(stored, kind, elements, padding):
    found = pictures.from_bytes(dicom_of(stored, 12, kind, **elements)).metadata
    assert found.calibration.padding == padding


def groups(**sequences):
    """A functional group: for each sequence an item of the elements."""
    from pydicom.dataset import Dataset

    found = Dataset()
    for sequence, elements in sequences.items():
        item = Dataset()
        for name, value in elements.items():
            setattr(item, name, value)
        setattr(found, sequence, [item])
    return found


def of_values(slope, intercept, **more):
    values = {"RescaleSlope": slope, "RescaleIntercept": intercept, "RescaleType": "HU"}
    return groups(PixelValueTransformationSequence=values, **more)


SHARED = of_values(
    "2",
    "-1024",
    PixelMeasuresSequence={"PixelSpacing": ["0.5", "0.25"]},
    FrameVOILUTSequence={"WindowCenter": "40", "WindowWidth": "400"},
)


def test_functional_groups_are_read():
    found = pictures.from_bytes(
        dicom_of(DEEP >> 4, 12, NumberOfFrames=1, SharedFunctionalGroupsSequence=[SHARED])
    ).metadata
    assert found.calibration == Calibration(2.0, -1024.0, "HU", (-160.0, 239.0))
    assert found.resolution == Resolution(Fraction(4000), Fraction(2000), "metre")


def test_spacings_of_many_digits_can_be_encoded():
    for said in ("0.72314049586777", "0.0000003141593", "123456789.12345"):
        found = pictures.from_bytes(dicom_of(GRAY, 8, PixelSpacing=[said, said]))
        assert found.metadata.resolution.x == pytest.approx(Fraction(1000) / Fraction(said))
        coded = mmpcodec.imwrite(None, found, "mmp", lam=0)
        assert pictures.from_bytes(coded).metadata.resolution == found.metadata.resolution


def test_each_frame_has_its_own_groups():
    """A group of the frame comes before a shared one."""
    frames = np.stack([DEEP >> 4, DEEP >> 5, DEEP >> 6])
    own = [of_values("1", "0"), groups(), of_values("3", "-5")]
    data = dicom_of(
        frames[0], 12, samples_as=frames, NumberOfFrames=3,
        SharedFunctionalGroupsSequence=[SHARED], PerFrameFunctionalGroupsSequence=own,
    )  # fmt: skip
    for page, (slope, intercept) in enumerate(((1, 0), (2, -1024), (3, -5)), 1):
        found = pictures.from_bytes(data, page=page)
        np.testing.assert_array_equal(found.samples, frames[page - 1])
        assert found.metadata.calibration == Calibration(slope, intercept, "HU", (-160.0, 239.0))
    with pytest.raises(PictureError, match="x: holds 3 frames; --page N, or page=N"):
        pictures.from_bytes(data, "x")
    with pytest.raises(PictureError, match="x: page = 4: must be 1 to 3"):
        pictures.from_bytes(data, "x", page=4)


def test_frames_are_read_by_number():
    colours = [np.roll(EVEN, number, axis=0) for number in range(3)]
    data = dicom_of(EVEN, 8, "YBR_FULL", samples_as=np.stack(colours), NumberOfFrames=3)
    for page in (1, 2, 3):
        found = pictures.from_bytes(data, page=page).samples
        np.testing.assert_array_equal(found, jfif_inverse(colours[page - 1]))
    grays = [np.roll(GRAY, number, axis=0) for number in range(3)]
    packed = [rle_frame(rle_segment(each)) for each in grays]
    lossless = [file_of(each, "JPEG2000", no_jp2=True, irreversible=False) for each in grays]
    for frames, syntax in ((packed, RLE), (lossless, JPEG_2000)):
        data = encapsulated(None, syntax, frames=frames, NumberOfFrames=3)
        for page in (1, 2, 3):
            found = pictures.from_bytes(data, page=page).samples
            np.testing.assert_array_equal(found, grays[page - 1])


def test_frames_of_one_bit_may_begin_within_a_byte():
    frames = np.random.default_rng(1).integers(0, 2, (3, 6, 9), np.uint8)
    packed = np.packbits(frames, bitorder="little")  # 162 bits
    stored = np.append(packed, np.zeros(len(packed) % 2, np.uint8))
    options = {"samples_as": stored, "BitsAllocated": 1}
    data = dicom_of(frames[0], 1, NumberOfFrames=3, **options)
    for page in (1, 2, 3):
        found = pictures.from_bytes(data, page=page)
        np.testing.assert_array_equal(found.samples, frames[page - 1])
        assert found.depth == 1
    with pytest.raises(PictureError, match="frame 4 ends behind the samples"):
        pictures.from_bytes(dicom_of(frames[0], 1, NumberOfFrames=4, **options), page=4)


TYPED = groups(CTImageFrameTypeSequence={"VolumetricProperties": "VOLUME"})


@pytest.mark.parametrize(
    ("elements", "key", "says"),
    [
        ({"RescaleSlope": "0"}, "damaged attributes", r"\(RescaleSlope = 0\)"),
        ({"WindowCenter": "40"}, "damaged attributes", r"\(WindowCenter = 40\)"),
        ({"PixelSpacing": ["0", "1"]}, "damaged attributes", r"\(PixelSpacing = \[0, 1\]\)"),
        (
            {"SharedFunctionalGroupsSequence": [TYPED]},
            "functional groups",
            r"\(CTImageFrameTypeSequence\)",
        ),
        ({"VOILUTSequence": [TYPED]}, "lookup tables", r"\(VOILUTSequence\)"),
        ({"OverlayRows": 9}, "overlays", "has overlays, which are not read"),
    ],
)
def test_what_is_left_out_is_said_once(elements, key, says):
    if "OverlayRows" in elements:
        from pydicom.dataelem import DataElement

        elements = {"private": DataElement(0x60000010, "US", 9)}
    data = dicom_of(DEEP >> 4, 12, **elements)
    with pytest.warns(PictureWarning, match=rf"^x: .*{says}$") as reported:
        found = pictures.from_bytes(data, "x")
    assert [each.message.left_out for each in reported] == [(key,)]
    np.testing.assert_array_equal(found.samples, DEEP >> 4)
    with pytest.raises(PictureError, match=rf"^x: .*{says}; strict reading refuses"):
        pictures.from_bytes(data, "x", strict=True)


def jfif_inverse(ybr):
    y, blue, red = np.moveaxis(ybr.astype(float), 2, 0) - np.array([0, 128, 128])[:, None, None]
    planes = y + 1.402 * red, y - 0.344136 * blue - 0.714136 * red, y + 1.772 * blue
    return np.clip(np.floor(np.dstack(planes) + 0.5), 0, 255)


EVEN = np.dstack([GRAY, GRAY // 3 + 90, 200 - GRAY // 2])[:, :8].copy()


def test_colour_differences_become_rgb():
    full = pictures.from_bytes(dicom_of(EVEN, 8, "YBR_FULL")).samples
    np.testing.assert_array_equal(full, jfif_inverse(EVEN))
    planar = np.ascontiguousarray(np.moveaxis(EVEN, 2, 0)).reshape(EVEN.shape)
    found = pictures.from_bytes(dicom_of(planar, 8, "YBR_FULL", PlanarConfiguration=1)).samples
    np.testing.assert_array_equal(found, full)
    # Two pixels share their colour differences: Y Y Cb Cr.
    halved = EVEN.copy()
    halved[:, 1::2, 1:] = halved[:, ::2, 1:]
    stored = np.dstack([EVEN[:, ::2, 0], EVEN[:, 1::2, 0], EVEN[:, ::2, 1], EVEN[:, ::2, 2]])
    data = dicom_of(EVEN, 8, "YBR_FULL_422", samples_as=stored)
    np.testing.assert_array_equal(pictures.from_bytes(data).samples, jfif_inverse(halved))
    data = dicom_of(EVEN, 8, "YBR_PARTIAL_422", samples_as=stored)
    wide = (halved.astype(float) - [16, 128, 128]) * [255 / 219, 255 / 224, 255 / 224]
    expected = jfif_inverse(wide + np.array([0, 128, 128]))
    assert np.abs(pictures.from_bytes(data).samples - expected).max() <= 1


def test_deep_rgb_is_read():
    deep = np.dstack([DEEP, DEEP // 3, 65535 - DEEP])
    found = pictures.from_bytes(dicom_of(deep, 16, "RGB"))
    np.testing.assert_array_equal(found.samples, deep)
    assert found.depth == 16


@pytest.mark.parametrize("bits", [8, 16])
def test_palettes_give_their_colours(bits):
    entries = np.random.default_rng(3).integers(0, 256, (3, 200))
    elements = {}
    for colour, table in zip(("Red", "Green", "Blue"), entries, strict=True):
        name = f"{colour}PaletteColorLookupTable"
        elements[f"{name}Descriptor"] = [200, 10, bits]
        packed = table.astype(np.uint8) if bits == 8 else (table * 257).astype(np.uint16)
        elements[f"{name}Data"] = packed.tobytes()
    found = pictures.from_bytes(dicom_of(GRAY, 8, "PALETTE COLOR", **elements))
    expected = entries.T[np.clip(GRAY.astype(int) - 10, 0, 199)]
    np.testing.assert_array_equal(found.samples, expected)
    assert found.depth == 8


@pytest.mark.filterwarnings("ignore:The .0028,0004. 'Photometric Interpretation' value is 'RGB'")
def test_jpeg_and_rle_colours_are_read():
    smooth = np.add.outer(np.arange(64), np.arange(64)).astype(np.uint8)
    colours = np.dstack([smooth, smooth // 2, 255 - smooth])
    jpeg = file_of(colours, "JPEG", quality=98, subsampling=0)
    for kind in ("YBR_FULL_422", "YBR_FULL", "RGB"):
        found = pictures.from_bytes(encapsulated(jpeg, JPEG, colours, kind=kind)).samples
        assert np.abs(found.astype(int) - colours).max() < 8
    lossless = file_of(colours, "JPEG2000", no_jp2=True, irreversible=False, mct=1)
    for frame in (lossless, file_of(colours, "JPEG2000", irreversible=False, mct=1)):
        data = encapsulated(frame, JPEG_2000, colours, kind="YBR_RCT")
        np.testing.assert_array_equal(pictures.from_bytes(data).samples, colours)
    rle = rle_frame(*(rle_segment(EVEN[..., plane]) for plane in range(3)))
    found = pictures.from_bytes(encapsulated(rle, RLE, EVEN, kind="YBR_FULL")).samples
    np.testing.assert_array_equal(found, jfif_inverse(EVEN))


def test_imagecodecs_decodes_what_pillow_cannot():
    codecs = pytest.importorskip("imagecodecs")
    extended, lossless, ls = (f"1.2.840.10008.1.2.4.{each}" for each in (51, 70, 80))
    deep = np.kron(DEEP >> 4, np.ones((4, 4), np.uint16))
    lossy = codecs.jpeg8_encode(deep, level=98, bitspersample=12)
    found = pictures.from_bytes(encapsulated(lossy, extended, deep, bits=12))
    assert (np.abs(found.samples.astype(int) - deep).max() < 100, found.depth) == (True, 12)
    assert pictures.from_bytes(encapsulated(lossy, JPEG, deep, bits=12)).depth == 12
    exact = codecs.jpeg8_encode(COLOUR, lossless=True)
    found = pictures.from_bytes(encapsulated(exact, lossless, COLOUR, kind="RGB")).samples
    np.testing.assert_array_equal(found, COLOUR)
    found = pictures.from_bytes(encapsulated(codecs.jpegls_encode(DEEP), ls, DEEP, bits=16))
    np.testing.assert_array_equal(found.samples, DEEP)
    signed = STORED.astype(np.int16)
    frame = codecs.jpegls_encode(signed.view(np.uint16))
    found = pictures.from_bytes(encapsulated(frame, ls, signed, bits=16))
    np.testing.assert_array_equal(found.samples, signed.astype(int) + 32768)
    colours = np.dstack([DEEP, DEEP // 3, 65535 - DEEP])
    frame = codecs.jpeg2k_encode(colours, level=0, reversible=True, codecformat="j2k")
    found = pictures.from_bytes(encapsulated(frame, JPEG_2000, colours, bits=16, kind="YBR_RCT"))
    np.testing.assert_array_equal(found.samples, colours)


EXAMPLES = {
    "CT_small.dcm": (128, 128, 16),
    "MR_small.dcm": (64, 64, 16),
    "MR_small_RLE.dcm": (64, 64, 16),
    "SC_ybr_full_422_uncompressed.dcm": (100, 100, 3, 8),
    "SC_rgb_rle_16bit.dcm": (100, 100, 3, 16),
    "examples_palette.dcm": (350, 800, 3, 8),
    "badVR.dcm": "is DICOM of MONOCHROME2 with 32 bits in 32",
    "SC_rgb_rle_32bit.dcm": "is DICOM of RGB with 32 bits in 32",
    "rtplan.dcm": "is a DICOM file without a picture, RT Plan Storage",
    "ExplVR_LitEndNoMeta.dcm": "is a DICOM file without a picture, RT Ion Plan Storage",
    "MR_truncated.dcm": "is damaged or truncated: frame 1 ends behind",
    "image_dfl.dcm": "is a deflated DICOM file",
    "README.txt": "is not a picture file",
}


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.filterwarnings("ignore")
def test_examples_of_pydicom(example):
    from pydicom.data import get_testdata_file

    path, expected = get_testdata_file(example, download=False), EXAMPLES[example]
    if path is None:
        pytest.skip("not in this pydicom")
    if isinstance(expected, str):
        with pytest.raises(PictureError, match=expected):
            pictures.read(path)
        return
    found = pictures.read(path)
    assert (*found.samples.shape, found.depth) == expected
