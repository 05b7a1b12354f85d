"""NIfTI volumes: slices with their positions, levels, calibration, and what is refused."""

import errno
import gzip
import io
import json
import struct
from dataclasses import replace

import numpy as np
import pytest

from mmpcodec import DecodeLimits, PictureWarning, pictures
from mmpcodec.errors import MissingExtra, PictureError
from mmpcodec.format.collection import Role
from mmpcodec.pictures.book_files.writing import write_book
from mmpcodec.pictures.books.opening import opened_book
from mmpcodec.pictures.nifti import unpacked
from mmpcodec.pictures.nifti.stored_form import StoredForm

nibabel = pytest.importorskip("nibabel")

RNG = np.random.default_rng(6)
SHAPE = (7, 5, 4)  # columns, rows, slices
AFFINE = np.array([[0.5, 0, 0, -9], [0, 0.25, 0, 7], [0, 0, 1.5, -30], [0, 0, 0, 1]])


def nifti_of(array, affine=AFFINE, *, kind=nibabel.Nifti1Image, scale=None, **fields):
    image = kind(array, affine)
    image.header.set_xyzt_units("mm", "sec")
    for name, value in fields.items():
        image.header[name] = value
    data = bytearray(image.to_bytes())
    if scale is not None:  # nibabel would divide the samples
        order = image.header.endianness
        place, letter = (112, "f") if kind is nibabel.Nifti1Image else (176, "d")
        struct.pack_into(f"{order}2{letter}", data, place, *scale)
    return bytes(data)


def values_of(picture):
    """What the samples mean, by the calibration."""
    calibration = picture.metadata.calibration
    samples = picture.samples.astype(np.float64)
    return samples if calibration is None else calibration.value(samples)


def facts_of(picture):
    return json.loads(dict(picture.metadata.text)["NIfTI"])


VOLUME = RNG.permutation(np.linspace(-1000, 2999, 140, dtype=int)).reshape(SHAPE)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("by_path", [False, True])
@pytest.mark.parametrize("kind", [nibabel.Nifti1Image, nibabel.Nifti2Image])
def test_slices_have_positions_and_values(tmp_path, kind, by_path, packed):
    array = VOLUME.astype(np.int16)
    data = nifti_of(array, kind=kind)
    data = gzip.compress(data) if packed else data
    path = tmp_path / ("a.nii.gz" if packed else "a.nii")
    path.write_bytes(data)
    with opened_book(path if by_path else data) as book:
        assert (len(book), book.role, book.measured) == (4, Role.SLICE, True)
        assert book.facts == [(-30_000_000 + 1_500_000 * number,) for number in range(4)]
        for number in (3, 0, 1, 2):
            found = book.read(number)
            # A row runs along the first axis, as numpy's transpose has it.
            np.testing.assert_array_equal(values_of(found), array[:, :, number].T)
            assert (found.depth, found.samples.dtype) == (12, np.uint16)
            same = pictures.read(path, page=number + 1)
            np.testing.assert_array_equal(same.samples, found.samples)
            assert same.metadata == found.metadata
        resolution = found.metadata.resolution
        assert (resolution.x, resolution.y, resolution.unit) == (2000, 4000, "metre")
        facts = facts_of(found)
        assert facts["affine"] == AFFINE[:3].tolist()
        assert (facts["type"], facts["shift"], facts["shape"]) == ("int16", -1000, [7, 5, 4])
        assert facts["space"] == "aligned"


@pytest.mark.parametrize(
    ("array", "depth", "shift"),
    [
        (RNG.integers(0, 256, SHAPE).astype(np.uint8), 8, 0),
        (RNG.integers(0, 9, SHAPE).astype(np.uint16), 16, 0),
        (RNG.integers(0, 9, SHAPE).astype(">u2"), 16, 0),
        (np.linspace(0, 300, 140).reshape(SHAPE).astype(np.int16), 9, 0),
        (np.linspace(0, 300, 140).reshape(SHAPE).astype(">i2"), 9, 0),
        (np.linspace(-100, 100, 140).reshape(SHAPE).astype(np.int8), 8, -100),
        (np.linspace(-32768, 32767, 140).reshape(SHAPE).astype(np.int16), 16, -32768),
        (np.linspace(0, 65535, 140).reshape(SHAPE).astype(np.int32), 16, 0),
        (70000 + np.arange(140).reshape(SHAPE).astype(np.uint32), 8, 70000),
        (2**40 + np.arange(140).reshape(SHAPE).astype(np.int64), 8, 2**40),
        (2**63 + np.arange(140).reshape(SHAPE).astype(np.uint64), 8, 2**63),
        (np.rint(np.linspace(-1024, 3071, 140)).reshape(SHAPE).astype(np.float32), 12, -1024),
        (np.arange(140).reshape(SHAPE).astype(np.float64), 8, 0),
        (np.zeros(SHAPE, np.int16), 1, 0),
    ],
)
def test_levels_that_fit_16_bits_are_kept_exactly(array, depth, shift):
    order = ">" if array.dtype.byteorder == ">" else "<"
    image = nibabel.Nifti1Image(array, AFFINE, dtype=array.dtype)
    header = image.header.as_byteswapped(order)
    data = (
        header.binaryblock + bytes(4) + array.astype(array.dtype.newbyteorder(order)).tobytes("F")
    )
    data = data[:108] + struct.pack(f"{order}f", 352) + data[112:]
    with opened_book(data) as book:
        for number, found in enumerate(book):
            stored = found.samples.astype(object) + shift
            np.testing.assert_array_equal(stored, array[:, :, number].T)
            assert (found.depth, facts_of(found)["shift"]) == (depth, shift)
            calibration = found.metadata.calibration
            assert (calibration is None) == (shift == 0)
            if shift:
                assert (calibration.slope, calibration.intercept) == (1, shift)


@pytest.mark.parametrize("scale", [(0.1, 0.0), (2.0, -1024.0), (-0.25, 3.5)])
@pytest.mark.parametrize("kind", ["u1", "i2", "f4"])
def test_scaled_samples_mean_what_nibabel_says(kind, scale):
    array = RNG.integers(-90 if kind != "u1" else 0, 90, SHAPE).astype(kind)
    data = nifti_of(array, scale=scale)
    wanted = nibabel.Nifti1Image.from_bytes(data).get_fdata()
    with opened_book(data) as book:
        for number, found in enumerate(book):
            np.testing.assert_allclose(values_of(found), wanted[:, :, number].T, rtol=0, atol=2e-14)
            assert facts_of(found)["slope"] == pytest.approx(scale[0])


def test_a_slope_of_0_scales_nothing():
    array = RNG.integers(0, 90, SHAPE).astype(np.uint8)
    assert opened_book(nifti_of(array, scale=(0.0, 5.0))).read(0).metadata.calibration is None


def test_a_window_and_a_description_are_kept():
    array = RNG.integers(0, 90, SHAPE).astype(np.uint8)
    found = opened_book(nifti_of(array, cal_min=5, cal_max=60, descrip=b"a text")).read(0)
    assert found.metadata.calibration.window == (5, 60)
    assert ("Description", "a text") in found.metadata.text


def test_colours():
    array = RNG.integers(0, 256, (*SHAPE, 3)).astype(np.uint8)
    kind = np.dtype([(name, "u1") for name in "RGB"])
    data = nifti_of(array.view(kind)[..., 0])
    with opened_book(data) as book:
        for number, found in enumerate(book):
            np.testing.assert_array_equal(found.samples, array[:, :, number].swapaxes(0, 1))
            assert found.metadata.calibration is None


@pytest.mark.parametrize(
    ("affine", "facts"),
    [
        (np.diag([1, 1, 2.5, 1]), [0, 2_500_000, 5_000_000, 7_500_000]),
        # The third axis points down; positions rise with the number of a slice.
        (np.diag([1, 1, -2, 1]), [0, 2_000_000, 4_000_000, 6_000_000]),
        # Slices along x: columns are y, rows are z.
        (
            np.array([[0, 0, 3, 5], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1.0]]),
            [5_000_000, 8_000_000, 11_000_000, 14_000_000],
        ),
        # Sheared: the planes are 1 mm apart, whatever the length of the axis.
        (
            np.array([[1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]]),
            [0, 1_000_000, 2_000_000, 3_000_000],
        ),
        # Spacings are rounded to 32 bits in the file, and are even all the same.
        (np.diag([1, 1, 123.4, 1]), [0, 123_400_000, 246_800_000, 370_200_000]),
    ],
)
def test_positions_are_those_along_the_normal(affine, facts):
    book = opened_book(nifti_of(np.zeros(SHAPE, np.uint8), affine))
    assert [place for (place,) in book.facts] == facts


@pytest.mark.parametrize(("unit", "scale"), [("meter", 1000), ("micron", 0.001)])
def test_units_of_length(unit, scale):
    image = nibabel.Nifti1Image(np.zeros(SHAPE, np.uint8), np.diag([2, 4, 8, 1]))
    image.header.set_xyzt_units(unit, "sec")
    book = opened_book(image.to_bytes())
    assert book.facts[1] == (round(8_000_000 * scale),)
    assert float(book.read(0).metadata.resolution.x) == pytest.approx(500 / scale)


def test_volumes_follow_one_another():
    array = RNG.integers(0, 256, (7, 5, 3, 2)).astype(np.uint8)
    with pytest.warns(PictureWarning, match="x: holds 2 volumes of 3 slices, which are read one"):
        book = opened_book(nifti_of(array, np.eye(4)), "x")
    assert [place for (place,) in book.facts] == [0, 1_000_000, 2_000_000] * 2
    wanted = [array[:, :, number, time].T for time in range(2) for number in range(3)]
    np.testing.assert_array_equal([page.samples for page in book], wanted)


def test_volumes_of_one_slice_are_frames():
    array = RNG.integers(0, 256, (7, 5, 1, 3)).astype(np.uint8)
    image = nibabel.Nifti1Image(array, np.eye(4))
    image.header.set_xyzt_units("mm", "msec")
    image.header["pixdim"][4] = 40
    book = opened_book(image.to_bytes())
    assert (book.role, book.facts) == (Role.FRAME, [(1, 25)] * 3)
    np.testing.assert_array_equal(book.read(2).samples, array[:, :, 0, 2].T)


def test_one_slice_is_a_page():
    array = RNG.integers(0, 256, (7, 5)).astype(np.uint8)
    book = opened_book(nifti_of(array))
    assert (len(book), book.role, book.facts_of(0)) == (1, Role.PAGE, ())
    np.testing.assert_array_equal(book.read(0).samples, array.T)
    np.testing.assert_array_equal(pictures.from_bytes(nifti_of(array)).samples, array.T)


def changed(array, place, value):
    array = array.copy()
    array[place] = value
    return array


@pytest.mark.parametrize(
    ("array", "says"),
    [
        (
            changed(np.zeros(SHAPE, np.float32), (2, 3, 1), 0.5),
            r"no integers, as 0\.5 at voxel \(2, 3\) of slice 2; .*set_data_dtype\('int16'\)",
        ),
        (changed(np.zeros(SHAPE), (0, 0, 0), np.nan), r"no integers, as nan at voxel \(0, 0\)"),
        (changed(np.zeros(SHAPE), (0, 0, 0), np.inf), "no integers, as inf"),
        (
            changed(np.zeros(SHAPE, np.int32), (0, 0, 3), -65536),
            "from -65536 to 0; supported are 65536 levels.*nibabel scales",
        ),
        (np.zeros(SHAPE, np.complex64), "type complex64; supported are real"),
        (np.zeros((*SHAPE, 2, 3), np.uint8), r"5 axes of \(7, 5, 4, 2, 3\) voxels"),
    ],
)
def test_what_is_not_supported_is_refused_with_the_next_step(array, says):
    with pytest.raises(PictureError, match=f"^x: holds .*{says}"):
        opened_book(nifti_of(array), "x")


def test_pairs_of_files_are_refused():
    data = nifti_of(np.zeros(SHAPE, np.uint8))
    with pytest.raises(PictureError, match=r"^x: is the header of a pair of files; nibabel.save"):
        opened_book(data[:344] + b"ni1\0" + data[348:], "x")


@pytest.mark.parametrize("packed", [False, True])
def test_a_cut_volume_gives_the_slices_before(packed):
    array = VOLUME.astype(np.int16)
    data = nifti_of(array)
    data = gzip.compress(data, 0) if packed else data
    with opened_book(data[:-90], "a.nii") as book:
        np.testing.assert_array_equal(values_of(book.read(1)), array[:, :, 1].T)
        with pytest.raises(PictureError, match=r"^a\.nii: slice 4: is damaged or truncated: "):
            book.read(3)
        np.testing.assert_array_equal(values_of(book.read(0)), array[:, :, 0].T)
    with pytest.raises(PictureError, match=r"^a\.nii: is damaged or truncated"):
        opened_book(data[:380], "a.nii")


def test_damaged_headers_are_refused():
    data = nifti_of(np.zeros(SHAPE, np.uint8))
    for place, field, says in (
        (108, struct.pack("<f", 3.0), "begin at byte 3"),
        (108, struct.pack("<f", float("nan")), "begin at byte nan"),
        (42, struct.pack("<h", -4), "axes of"),
        (40, struct.pack("<h", 0), "axes of"),
        (70, struct.pack("<h", 77), "77"),
    ):
        broken = data[:place] + field + data[place + len(field) :]
        with pytest.raises(PictureError, match=f"^x: is damaged.*{says}"):
            opened_book(broken, "x")


def test_limits_hold_for_each_slice():
    data = nifti_of(np.zeros(SHAPE, np.uint8))
    with pytest.raises(PictureError, match="x: is 7x5: 35 samples, the limit is 34"):
        opened_book(data, "x", limits=DecodeLimits(max_samples=34))
    with pytest.raises(PictureError, match="x: holds 4 pictures, allowed is 1 to 3"):
        opened_book(data, "x", limits=DecodeLimits(max_pictures=3))


def test_extensions_and_other_fields_are_said():
    image = nibabel.Nifti1Image(np.zeros(SHAPE, np.uint8), AFFINE)
    image.header.extensions.append(nibabel.nifti1.Nifti1Extension("comment", b"words"))
    image.header["intent_code"] = 3
    with pytest.warns(
        PictureWarning, match=r"extensions .*; has fields .* \(intent_code\)"
    ) as said:
        opened_book(image.to_bytes(), "x").read(0)
    assert said[0].message.left_out == ("header extensions", "other fields")


def test_reading_in_order_unpacks_once(monkeypatch):
    array = VOLUME.astype(np.uint16)
    data = gzip.compress(nifti_of(array))
    rewound = []
    rewind = gzip._GzipReader._rewind
    monkeypatch.setattr(gzip._GzipReader, "_rewind", lambda self: (rewound.append(1), rewind(self)))
    with opened_book(data) as book:
        before = len(rewound)
        for number, found in enumerate(book):
            np.testing.assert_array_equal(found.samples, array[:, :, number].T)
        assert len(rewound) <= before + 1


def test_other_files_in_gzip_are_no_volumes():
    with pytest.raises(PictureError, match="x: is not a picture file of a known format"):
        pictures.from_bytes(gzip.compress(b"words" * 99), "x")


def test_a_missing_package_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "nibabel", None)
    with pytest.raises(MissingExtra, match=r"x: NIfTI needs nibabel; .*\[nifti\]"):
        opened_book(nifti_of(np.zeros(SHAPE, np.uint8)), "x")


def test_a_bytes_stream_is_read_like_a_file():
    array = VOLUME.astype(np.int16)
    found = pictures.read(io.BytesIO(nifti_of(array)), page=2)
    np.testing.assert_array_equal(values_of(found), array[:, :, 1].T)


@pytest.mark.parametrize(
    ("array", "scale"),
    [
        (VOLUME.astype(np.int16), (2.0, -1024.0)),
        (VOLUME.astype(np.float32), None),
        (VOLUME.astype(np.int32) + 10**6, (0.1, 3.0)),
        (RNG.integers(0, 256, (7, 5, 3, 2)).astype(np.uint8), None),
        (RNG.integers(-9, 9, (7, 5, 1, 3)).astype(np.int8), None),
        (RNG.integers(0, 9, (7, 5)).astype(np.uint16), None),
        (2**63 + np.arange(140).reshape(SHAPE).astype(np.uint64), None),
    ],
)
@pytest.mark.filterwarnings("ignore:.*volumes of")
def test_a_volume_is_written_as_it_was(array, scale):
    source = nibabel.Nifti1Image(array, AFFINE, dtype=array.dtype)
    data = nifti_of(array, scale=scale, descrip=b"a text") if array.itemsize < 8 else None
    if data is None:
        source.header.set_xyzt_units("mm", "sec")
        data = source.to_bytes()
    wanted = nibabel.Nifti1Image.from_bytes(data)
    stream = io.BytesIO()
    with opened_book(data) as book:
        assert write_book(book, stream, "nii") == {}
    found = nibabel.Nifti1Image.from_bytes(stream.getvalue())
    assert found.header.get_data_dtype() == wanted.header.get_data_dtype()
    assert found.shape == wanted.shape
    np.testing.assert_array_equal(found.dataobj.get_unscaled(), wanted.dataobj.get_unscaled())
    np.testing.assert_array_equal(found.affine, wanted.affine)
    assert found.dataobj.slope == wanted.dataobj.slope
    assert found.dataobj.inter == wanted.dataobj.inter
    for field in ("xyzt_units", "descrip", "sform_code"):
        assert found.header[field] == wanted.header[field]
    assert found.header.get_zooms() == wanted.header.get_zooms()


def test_a_part_of_a_volume_is_another_volume():
    with opened_book(nifti_of(VOLUME.astype(np.int16))) as book:
        part = replace(book, count=2, facts=book.facts[:2])
        stream = io.BytesIO()
        lost = write_book(part, stream, "nii")
    assert lost == {"depth": [0, 1], "text": [0, 1]}
    found = nibabel.Nifti1Image.from_bytes(stream.getvalue())
    np.testing.assert_array_equal(found.get_fdata(), VOLUME[:, :, :2])


@pytest.mark.parametrize(
    "change",
    [
        {"shape": [7]}, {"shape": [0, 5, 4]}, {"shape": "x"}, {"type": "object"}, {"shift": None},
        {"zooms": [1, 2]}, {"shift": 1 << 80},
        {"units": ["feet", "sec"]}, {"affine": [[1, 2], [3, 4]]},
        {"affine": [[float("nan")] * 4] * 3}, {"space": "moon"}, {"slope": float("inf")},
    ],
)  # fmt: skip
def test_damaged_texts_of_volumes_are_no_forms(change):
    form = StoredForm(
        (7, 5, 4), "int16", (1.0, 2.0, 0.5), -1000, ("mm", "sec"), 2.0, 1.0, None, "scanner"
    )
    keyword, said = form.text()
    assert (keyword, StoredForm.of_text(said)) == ("NIfTI", form)
    assert StoredForm.of_text(json.dumps(json.loads(said) | change)) is None
    assert StoredForm.of_text(said[:-1]) is None


def test_samples_that_do_not_fit_are_the_nearest():
    form = StoredForm((7, 5), "int8", (1.0, 1.0), -100)
    assert form.stored(np.array([0, 100, 255], np.uint8)).tolist() == [-100, 0, 127]


@pytest.mark.parametrize("most", [1 << 26, 100])
@pytest.mark.parametrize("kind", [np.int16, np.uint8, np.float32])
def test_a_packed_file_is_unpacked_once_in_any_order(monkeypatch, kind, most):
    monkeypatch.setattr(unpacked, "MOST_IN_MEMORY", most)
    monkeypatch.setattr(unpacked, "_STEP", 64)
    array = (np.tile(VOLUME, (1, 1, 9)) % 200 - (100 if kind == np.int16 else 0)).astype(kind)
    data = nifti_of(array)
    read = []
    own = gzip.GzipFile.read

    def counted(stream, size=-1):
        found = own(stream, size)
        read.append(len(found))
        return found

    monkeypatch.setattr(gzip.GzipFile, "read", counted)
    with opened_book(gzip.compress(data), "a.nii.gz") as book:
        if kind == np.uint8:
            book.read(0)
            assert sum(read) < len(data)  # no further than needed
        for number in (3, 0, 2, 2, 1, 35, 3):
            np.testing.assert_array_equal(values_of(book.read(number)), array[..., number].T)
    assert sum(read) == len(data)


def test_a_disk_without_room_is_no_damage(monkeypatch):
    class Full(io.BytesIO):
        def __init__(self, most):
            super().__init__()

        def write(self, data):
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(unpacked.tempfile, "SpooledTemporaryFile", Full)
    with pytest.raises(PictureError) as caught:
        opened_book(gzip.compress(nifti_of(VOLUME.astype(np.int16))), "a.nii.gz")
    assert str(caught.value) == "a.nii.gz: No space left on device"
