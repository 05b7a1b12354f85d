"""Files of several pictures that are written, as peer libraries read them."""

import io
import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import tifffile
from PIL import Image, ImageCms, ImageOps
from support.books import book, noisy

from mmpcodec import pictures as formats
from mmpcodec.errors import ParameterError, PictureError
from mmpcodec.format.collection import Role
from mmpcodec.metadata import Calibration, Metadata, Resolution
from mmpcodec.pictures import Picture
from mmpcodec.pictures.book_files import multipage_tiff, pdf
from mmpcodec.pictures.book_files.writing import Options, write_book
from mmpcodec.pictures.books.opening import opened_book
from mmpcodec.pictures.exif import parsed, structure, with_orientation
from mmpcodec.pictures.png import chunks

DPI = Resolution(Fraction(300), Fraction(150), "inch")
PAGES = [
    noisy((40, 50), 8, 1, resolution=DPI, text=(("Title", "first"),), icc=b""),
    noisy((31, 45), 1, 2),
    noisy((30, 33, 3), 12, 3),
    noisy((20, 21, 4), 8, 4),
    noisy((20, 22, 2), 16, 5),
    noisy((10, 11), 4, 6),
]


def written(found, format, **options):
    stream = io.BytesIO()
    lost = write_book(found, stream, format, Options(**options))
    return stream.getvalue(), lost


def frames(shape, depth, durations, seed=0, role=Role.FRAME, loops=0):
    pictures = [noisy(shape, depth, seed + number) for number in range(len(durations))]
    return pictures, book(pictures, role, durations, loops)


@pytest.mark.parametrize("classic", [True, False])
def test_pages_of_a_tiff_keep_samples_depth_resolution_and_texts(monkeypatch, classic):
    if not classic:
        monkeypatch.setattr(multipage_tiff, "MOST_CLASSIC", 0)
    data, lost = written(book(PAGES), "tif")
    assert data[2] == (42 if classic else 43)
    with tifffile.TiffFile(io.BytesIO(data)) as file:
        assert len(file.pages) == len(PAGES)
        for page, wanted in zip(file.pages, PAGES, strict=True):
            bilevel = wanted.depth == 1
            assert page.compression == (4 if bilevel else 8)
            assert (page.photometric == 0) == bilevel
            if not bilevel:
                np.testing.assert_array_equal(page.asarray(), wanted.samples)
            bits = {1: 1, 4: 8, 12: 16}.get(wanted.depth, wanted.depth)
            assert page.bitspersample == bits
        first, third = file.pages[0].tags, file.pages[2].tags
        assert (first["XResolution"].value, first["YResolution"].value) == ((300, 1), (150, 1))
        assert first["ResolutionUnit"].value == 2
        assert third[50717].value == (4095,) * 3
    with Image.open(io.BytesIO(data)) as shown:
        shown.seek(1)
        assert shown.mode == "1"
        np.testing.assert_array_equal(np.array(shown), PAGES[1].samples)
    assert lost == {}


def test_a_page_of_a_tiff_has_the_profile_and_exif_of_its_own(files_of_profiles):
    first, second = files_of_profiles
    data, lost = written(book([first, second]), "tif")
    with tifffile.TiffFile(io.BytesIO(data)) as file:
        profiles = [page.tags[34675].value for page in file.pages]
        assert profiles == [one.metadata.icc for one in (first, second)]
        assert [page.tags["Orientation"].value for page in file.pages] == [6, 3]
    assert lost == {}


@pytest.fixture
def files_of_profiles():
    profiles = [
        ImageCms.ImageCmsProfile(ImageCms.createProfile(name)).tobytes() for name in ("sRGB", "XYZ")
    ]
    return [
        noisy(
            (8, 9, 3), 8, turn, icc=profiles[0] + b"\0" * 4 * turn, exif=with_orientation(b"", turn)
        )
        for turn in (6, 3)
    ]


def samples_in_pdf(image):
    """Decode the samples of an image by qpdf, which knows the PNG filters of Flate."""
    bits, width, height = (int(image[key]) for key in ("/BitsPerComponent", "/Width", "/Height"))
    planes = 3 if "RGB" in str(image.ColorSpace) else 1
    data = np.frombuffer(image.read_bytes(), np.uint8)
    if bits == 16:
        samples = data.view(">u2").astype(np.uint16)
    elif bits == 8:
        samples = data
    else:
        rows = np.unpackbits(data.reshape(height, -1), axis=1)
        rows = rows[:, : width * bits].reshape(height, width, bits)
        return rows @ (1 << np.arange(bits)[::-1])
    return samples.reshape((height, width, planes)[: 2 + (planes > 1)])


def test_pages_of_a_pdf_keep_samples_of_all_forms():
    pikepdf = pytest.importorskip("pikepdf")
    data, lost = written(book(PAGES), "pdf")
    found = list(pdf_pages_of(pikepdf, data))
    assert lost == {"text": [0], "depth": [2]}
    for (_, colours, alpha, fax), wanted in zip(found, PAGES, strict=True):
        samples = wanted.samples
        if wanted.depth == 12:
            samples = (samples << 4) | (samples >> 8)
        if wanted.planes in (2, 4):
            np.testing.assert_array_equal(alpha, samples[..., -1])
            samples = samples[..., 0] if wanted.planes == 2 else samples[..., :3]
        assert fax == (wanted.depth == 1)
        np.testing.assert_array_equal(colours, samples)
    assert found[0][0] == pytest.approx([0, 0, 50 / 300 * 72, 40 / 150 * 72])
    assert found[1][0] == pytest.approx([0, 0, 45 * 0.75, 31 * 0.75])


def pdf_pages_of(pikepdf, data):
    with pikepdf.open(io.BytesIO(data)) as file:
        for page in file.pages:
            image = page.Resources.XObject.Im0
            fax = image.Filter == "/CCITTFaxDecode"
            if fax:
                shown = pikepdf.PdfImage(image).as_pil_image()
                colours = np.array(shown.convert("1")).astype(np.uint8)
            else:
                colours = samples_in_pdf(image)
            mask = image.get("/SMask")
            alpha = None if mask is None else samples_in_pdf(mask)
            yield [float(side) for side in page.MediaBox], colours, alpha, fax


def test_a_pdf_of_many_images_goes_to_temporary_files(monkeypatch):
    pikepdf = pytest.importorskip("pikepdf")
    monkeypatch.setattr(pdf, "MOST_HELD", 1000)
    data, _ = written(book([*PAGES, *PAGES]), "pdf")
    found = list(pdf_pages_of(pikepdf, data))
    np.testing.assert_array_equal(found[6][1], PAGES[0].samples)
    assert len(found) == 12


@pytest.mark.parametrize("turn", range(1, 9))
def test_a_page_of_a_pdf_is_turned_as_exif_says(turn):
    pytest.importorskip("pikepdf")
    pdfium = pytest.importorskip("pypdfium2")
    samples = np.zeros((24, 36), np.uint8)
    samples[:8, :12], samples[16:, 24:], samples[:8, 24:] = 255, 128, 64
    exif = with_orientation(b"", turn)
    resolution = Resolution(Fraction(72), Fraction(72))
    one = Picture(samples, 8, Metadata(exif=exif, resolution=resolution))
    data, lost = written(book([one]), "pdf")
    image = Image.fromarray(samples)
    image.getexif()[274] = turn
    wanted = np.array(ImageOps.exif_transpose(image))
    shown = np.array(pdfium.PdfDocument(data)[0].render().to_pil().convert("L"))
    np.testing.assert_array_equal(shown, wanted)
    assert lost == {"exif": [0]}


def test_frames_of_a_png_are_exact_and_keep_fractions_of_seconds():
    pictures, found = frames((9, 8, 4), 8, [(1, 3), (2, 7), (1, 100)], loops=5)
    data, lost = written(found, "png")
    assert lost == {}
    with Image.open(io.BytesIO(data)) as image:
        assert (image.n_frames, image.info["loop"]) == (3, 5)
        for number, wanted in enumerate(pictures):
            image.seek(number)
            np.testing.assert_array_equal(np.array(image.convert("RGBA")), wanted.samples)
    controls = [data[place + 4 :][20:24] for place in places(data, b"fcTL")]
    fractions = [Fraction(*np.frombuffer(one, ">u2").tolist()) for one in controls]
    assert fractions == [Fraction(1, 3), Fraction(2, 7), Fraction(1, 100)]


def places(data, kind):
    found = data.find(kind)
    while found >= 0:
        yield found
        found = data.find(kind, found + 4)


def test_a_duration_that_no_png_holds_is_the_nearest_and_said():
    _, found = frames((4, 4), 8, [(1, 65537), (90_000, 1), (1, 2)])
    data, lost = written(found, "png")
    assert lost == {"durations": [0, 1]}
    controls = [data[place + 4 :][20:24] for place in places(data, b"fcTL")]
    fractions = [np.frombuffer(one, ">u2").tolist() for one in controls]
    assert fractions == [[1, 65535], [65535, 1], [1, 2]]


def test_frames_of_16_bits_of_a_png_are_exact():
    pictures, found = frames((9, 8, 3), 16, [(1, 2), (1, 2)])
    data, _ = written(found, "png")
    parts = chunks.parted(data, "anim")
    head = [part for part in parts if part[0] == b"IHDR"]
    later = [(b"IDAT", part[4:]) for kind, part in parts if kind == b"fdAT"]
    alone = chunks.joined([*head, *later, (b"IEND", b"")])
    np.testing.assert_array_equal(formats.from_bytes(alone).samples, pictures[1].samples)


def test_frames_of_a_gif_of_few_colours_are_exact():
    rng = np.random.default_rng(1)
    colours = rng.integers(0, 256, (200, 3)).astype(np.uint8)
    pictures = [Picture(colours[rng.integers(0, 200, (30, 40))], 8) for _ in range(3)]
    data, lost = written(book(pictures, Role.FRAME, [(1, 10), (1, 50), (3, 2)], loops=4), "gif")
    assert lost == {}
    with Image.open(io.BytesIO(data)) as image:
        assert (image.n_frames, image.info["loop"]) == (3, 3)  # repeats after the first time
        for number, (wanted, shown) in enumerate(zip(pictures, (100, 20, 1500), strict=True)):
            image.seek(number)
            np.testing.assert_array_equal(np.array(image.convert("RGB")), wanted.samples)
            assert image.info["duration"] == shown


def test_what_a_gif_loses_is_said_by_frame():
    many = noisy((40, 40, 3), 8, 1)
    deep = Picture(noisy((40, 40), 10, 2).samples & 0x3F8, 10)
    half = Picture(np.full((40, 40, 2), 100, np.uint8), 8)
    found = book([many, deep, half], Role.FRAME, [(1, 10), (1, 10), (1, 30)])
    data, lost = written(found, "gif")
    assert lost == {
        "colours": [0],
        "depth": [1],
        "durations": [2],
        "alpha levels": [2],
        "colours of transparent pixels": [2],
    }
    with Image.open(io.BytesIO(data)) as image:
        image.seek(1)
        np.testing.assert_array_equal(np.array(image.convert("L")), deep.samples >> 2)


def test_gif_says_the_depth_and_metadata_that_it_lacks():
    one = Picture(np.array([[0, 3], [1, 2]], np.uint8), 2, Metadata(icc=bytes(200), exif=b"II*"))
    other = Picture(np.array([[0, 255], [1, 2]], np.uint8), 8)
    data, lost = written(book([one, other], Role.FRAME, [(1, 10)] * 2), "gif")
    assert lost == {"icc": [0], "exif": [0], "depth": [0]}
    with Image.open(io.BytesIO(data)) as image:
        assert np.array(image.convert("L")).tolist() == [[0, 255], [85, 170]]


@pytest.mark.parametrize("format", ["tif", "pdf", "npy", "dcm", "nii", "gif", "png", "webp"])
def test_loops_that_a_format_lacks_are_said_once(format):
    for package in {"pdf": ["pikepdf"], "dcm": ["pydicom"], "nii": ["nibabel"]}.get(format, []):
        pytest.importorskip(package)
    found = book([noisy((8, 9), 8, seed) for seed in (1, 2)], Role.FRAME, [(1, 10)] * 2, loops=3)
    _, lost = written(found, format)
    assert lost.get("loops") == (None if format in ("gif", "png", "webp") else [0, 1])


@pytest.mark.parametrize(("format", "most"), [("gif", 65536), ("webp", 65535), ("png", 2**31 - 1)])
def test_loops_beyond_those_of_a_format_are_said(format, most):
    pages = [noisy((8, 9), 8, seed) for seed in (1, 2)]
    for loops in (most, most + 1):
        found = book(pages, Role.FRAME, [(1, 10)] * 2, loops=loops)
        assert ("loops" in written(found, format)[1]) == (loops > most)


def test_a_transparent_pixel_of_a_gif_stays_transparent_and_others_exact():
    samples = np.zeros((4, 64, 4), np.uint8)
    samples[..., 0] = np.arange(256).reshape(4, 64)
    samples[..., 3] = 255
    samples[0, 0] = 0
    first = Picture(np.full((4, 64, 4), 255, np.uint8), 8)
    data, lost = written(book([first, Picture(samples, 8)], Role.FRAME, [(1, 10), (1, 10)]), "gif")
    assert lost == {}
    with Image.open(io.BytesIO(data)) as image:
        image.seek(1)
        found = np.array(image.convert("RGBA"))
    assert found[0, 0, 3] == 0
    np.testing.assert_array_equal(found.reshape(-1, 4)[1:], samples.reshape(-1, 4)[1:])


def test_frames_of_a_lossless_webp_are_exact():
    pictures, _ = frames((16, 17, 4), 8, [(0, 1)] * 3)
    for one in pictures:
        one.samples[..., 3] |= 1
    found = book(pictures, Role.FRAME, [(1, 10), (1, 3), (1, 4)], loops=2)
    data, lost = written(found, "webp", quality=100)
    assert lost == {"durations": [1]}
    with Image.open(io.BytesIO(data)) as image:
        assert (image.n_frames, image.info["loop"]) == (3, 2)
        shown = []
        for number, wanted in enumerate(pictures):
            image.seek(number)
            np.testing.assert_array_equal(np.array(image.convert("RGBA")), wanted.samples)
            shown.append(image.info["duration"])
    assert shown == [100, 333, 250]


def test_colours_of_transparent_pixels_of_a_webp_are_lost_and_said():
    clear = Picture(np.full((8, 8, 4), (9, 8, 7, 0), np.uint8), 8)
    found = book([noisy((8, 8, 3), 8), clear], Role.FRAME, [(1, 10), (1, 10)])
    _, lost = written(found, "webp", quality=100)
    assert lost == {"colours of transparent pixels": [1]}


def test_equal_frames_of_a_webp_are_joined_and_said():
    one = noisy((8, 8, 3), 8)
    found = book([one, one, noisy((8, 8, 3), 8, 1)], Role.FRAME, [(1, 10)] * 3)
    data, lost = written(found, "webp", quality=100)
    assert lost == {"frames that equal the one before": [1]}
    with Image.open(io.BytesIO(data)) as image:
        assert image.n_frames == 2


@pytest.mark.parametrize(
    ("shape", "depth"), [((7, 9), 1), ((7, 9), 8), ((7, 9, 3), 12), ((7, 9, 2), 16)]
)
def test_an_npy_stack_has_all_samples(shape, depth):
    pictures = [noisy(shape, depth, seed) for seed in range(3)]
    data, _ = written(book(pictures), "npy")
    found = np.load(io.BytesIO(data), allow_pickle=False)
    assert found.dtype == (bool if depth == 1 else pictures[0].samples.dtype)
    np.testing.assert_array_equal(found, np.stack([one.samples for one in pictures]))


@pytest.mark.parametrize("format", ["nii", "nii.gz"])
def test_a_volume_of_nifti_has_values_and_spacing(tmp_path, format):
    nibabel = pytest.importorskip("nibabel")
    measured = Calibration(0.5, -1024.0, window=(-100.0, 300.0)).text()
    resolution = Resolution(Fraction(2000), Fraction(1000), "metre")
    pictures = [
        noisy((7, 9), 16, seed, resolution=resolution, text=(measured,)) for seed in range(4)
    ]
    slices = book(pictures, Role.SLICE, [(place * 1_250_000,) for place in range(4)])
    data, lost = written(slices, format)
    assert lost == {}
    path = tmp_path / f"a.{format}"
    path.write_bytes(data)
    image = nibabel.load(path)
    stack = np.stack([one.samples for one in pictures])
    assert image.shape == (9, 7, 4)
    np.testing.assert_array_equal(np.asarray(image.dataobj.get_unscaled()), stack.T)
    np.testing.assert_array_equal(image.get_fdata(), stack.T * 0.5 - 1024)
    assert image.header.get_zooms() == (0.5, 1.0, 1.25)
    assert image.header.get_xyzt_units()[0] == "mm"
    assert (image.header["cal_min"], image.header["cal_max"]) == (-100, 300)


def test_colours_and_frames_of_nifti(tmp_path):
    nibabel = pytest.importorskip("nibabel")
    pictures, found = frames((5, 6, 3), 8, [(1, 4)] * 2)
    path = tmp_path / "a.nii"
    path.write_bytes(written(found, "nii")[0])
    image = nibabel.load(path)
    assert (image.shape, image.header.get_zooms()[3]) == ((6, 5, 1, 2), 0.25)
    voxels = np.asarray(image.dataobj)
    for plane, channel in enumerate("RGB"):
        np.testing.assert_array_equal(
            voxels[channel][:, :, 0, 1], pictures[1].samples[..., plane].T
        )


@pytest.mark.parametrize(("shape", "depth"), [((4, 4, 3), 9), ((4, 4, 2), 8)])
def test_forms_that_nifti_lacks_are_refused(shape, depth):
    pytest.importorskip("nibabel")
    with pytest.raises(PictureError, match="a nii file holds gray of 1 to 16 bits"):
        written(book([noisy(shape, depth)] * 2), "nii")


def test_what_nifti_loses_is_said():
    pytest.importorskip("nibabel")
    first = Calibration(0.1, 0.0, "HU", padding=(0, 0)).text()
    second = Calibration(2.0, 0.0).text()
    pictures = [
        noisy((4, 4), 12, text=(first,)),
        noisy((4, 4), 12, text=(second, ("Title", "x"))),
    ]
    found = book(pictures, Role.SLICE, [(0,), (-1,)])
    assert written(found, "nii")[1] == {
        "depth": [0, 1],
        "digits of the calibration": [0],
        "unit": [0],
        "padding": [0],
        "positions": [0, 1],
        "text": [1],
        "calibration": [1],
    }


@pytest.mark.parametrize("planes", [1, 3])
def test_a_zarr_stack_has_all_samples_and_steps(tmp_path, planes):
    zarr = pytest.importorskip("zarr")
    shape = (7, 9, 3) if planes == 3 else (7, 9)
    pictures = [noisy(shape, 12, seed, resolution=DPI) for seed in range(3)]
    slices = book(pictures, Role.SLICE, [(0,), (2_500_000,), (5_000_000,)])
    assert write_book(slices, str(tmp_path / "a.zarr"), "zarr") == {}
    group = zarr.open(tmp_path / "a.zarr")
    stack = np.stack([one.samples for one in pictures])
    np.testing.assert_array_equal(group["0"][:], np.moveaxis(stack, 3, 0) if planes == 3 else stack)
    image = group.attrs["ome"]["multiscales"][0]
    assert [axis["name"] for axis in image["axes"]] == ["c", "z", "y", "x"][planes == 1 :]
    scale = image["datasets"][0]["coordinateTransformations"][0]["scale"]
    assert scale[-3:] == pytest.approx([2500, 25400 / 150, 25400 / 300])
    json.dumps(group.attrs.asdict())


def test_uneven_positions_of_a_zarr_stack_are_said(tmp_path):
    pytest.importorskip("zarr")
    pictures = [noisy((4, 4), 8, seed) for seed in range(3)]
    found = book(pictures, Role.SLICE, [(0,), (1_000_000,), (5_000_000,)])
    assert write_book(found, str(tmp_path / "a.zarr"), "zarr") == {"positions": [0, 1, 2]}


@pytest.mark.parametrize("format", ["npy", "png", "zarr", "gif", "webp"])
def test_the_first_picture_of_another_size_is_named(tmp_path, format):
    pictures = [noisy((8, 8), 8), noisy((8, 8), 8), noisy((8, 9), 8)]
    found = book(pictures, Role.FRAME, [(1, 10)] * 3)
    target = str(tmp_path / "a.zarr") if format == "zarr" else io.BytesIO()
    with pytest.raises(PictureError, match=r"book: frame 3: is 9x8.*frame 1 is 8x8"):
        write_book(found, target, format)


@pytest.mark.parametrize("format", ["gif", "png", "webp", "jpg"])
def test_pages_are_no_frames(format):
    known = format != "jpg"
    error = PictureError if known else ParameterError
    with pytest.raises(error, match="--page N" if known else "must be one of"):
        write_book(book(PAGES), io.BytesIO(), format)


def test_a_stream_that_is_only_written_gets_the_file():
    class Pipe(io.RawIOBase):
        def __init__(self):
            self.parts = []

        def writable(self):
            return True

        def write(self, data):
            self.parts.append(bytes(data))
            return len(data)

    pipe = Pipe()
    write_book(book(PAGES[:2]), pipe, "tif")
    found = formats.from_bytes(b"".join(pipe.parts), page=2)
    np.testing.assert_array_equal(found.samples, PAGES[1].samples)


def test_pictures_are_read_one_after_the_other():
    held = []

    def read(number):
        held.append(number)
        return PAGES[0]

    found = replace(book([PAGES[0]] * 3), read=read)
    written(found, "npy")
    assert held == [0, 1, 2]


@pytest.mark.parametrize(
    ("format", "planes", "depth"),
    [
        ("tif", 1, 1),
        ("tif", 1, 12),
        ("tif", 4, 8),
        ("pdf", 1, 1),
        ("pdf", 3, 8),
        ("pdf", 1, 16),
        ("gif", 1, 8),
        ("png", 4, 16),
        ("png", 1, 4),
        ("webp", 3, 8),
        ("npy", 3, 16),
    ],
)
def test_what_is_written_is_read_as_a_book(tmp_path, format, planes, depth):
    if format == "pdf":
        pytest.importorskip("pikepdf")
        pytest.importorskip("pypdfium2")
    shape = (23, 31, planes)[: 2 + (planes > 1)]
    animated = format in ("gif", "png", "webp")
    pictures = [noisy(shape, depth, seed, resolution=DPI) for seed in range(3)]
    role, facts = (Role.FRAME, [(1, 10), (1, 50), (3, 2)]) if animated else (Role.PAGE, [])
    path = tmp_path / f"a.{format}"
    path.write_bytes(written(book(pictures, role, facts, loops=3), format, quality=100)[0])
    with opened_book(path) as found:
        assert (found.count, found.role) == (3, role)
        if animated:
            assert found.loops == 3
            assert [Fraction(*found.facts_of(n)) for n in range(3)] == [
                Fraction(*one) for one in facts
            ]
        for one, wanted in zip(found, pictures, strict=True):
            np.testing.assert_array_equal(one.samples, wanted.samples)
            assert one.depth == wanted.depth
            if format in ("tif", "pdf"):
                sides = one.metadata.resolution.millimetres()
                assert sides == pytest.approx(DPI.millimetres(), rel=1e-3)


def test_pages_of_a_tiff_keep_whole_exif(tmp_path, monkeypatch):
    image = Image.new("RGB", (9, 8))
    camera = image.getexif()
    camera[271] = "Maker"
    camera.get_ifd(0x8769)[0x829A] = 0.5
    camera.get_ifd(0x8825)[2] = (1.0, 2.0, 3.0)
    data = structure(*parsed(camera.tobytes().removeprefix(b"Exif\0\0")))
    plain, own = noisy((8, 9, 3), 8, 1), noisy((8, 9, 3), 8, 2, exif=data)
    pages = [own, plain, own, plain]
    found, lost = written(book(pages), "tif")
    assert lost == {}
    with tifffile.TiffFile(io.BytesIO(found)) as file:
        assert ["ExifTag" in page.tags for page in file.pages] == [True, False, True, False]
        np.testing.assert_array_equal(file.pages[2].asarray(), own.samples)
    with Image.open(io.BytesIO(found)) as shown:
        for number, wanted in enumerate(pages):
            shown.seek(number)
            np.testing.assert_array_equal(np.array(shown), wanted.samples)
            ifd = shown.getexif().get_ifd(0x8769)
            assert dict(ifd) == ({} if number % 2 else {0x829A: 0.5})
    path = tmp_path / "a.tif"
    path.write_bytes(found)
    with opened_book(path) as read:
        assert [one.metadata.exif == data for one in read] == [True, False, True, False]
    monkeypatch.setattr(multipage_tiff, "MOST_CLASSIC", 0)
    assert written(book(pages), "tif")[1] == {"exif": [0, 2]}
    assert written(book([plain, own]), "tif")[1] == {"exif": [1]}  # in another byte order


@pytest.mark.parametrize(
    ("shape", "depth"),
    [
        ((24, 36), 1),
        ((23, 35), 1),
        ((24, 36), 2),
        ((24, 36), 12),
        ((24, 36, 3), 16),
        ((24, 36, 4), 8),
    ],
)
def test_pages_of_a_pdf_are_shown_as_they_are(shape, depth):
    pytest.importorskip("pikepdf")
    pdfium = pytest.importorskip("pypdfium2")
    one = noisy(shape, depth, 1, resolution=Resolution(Fraction(72), Fraction(72)))
    data, _ = written(book([one]), "pdf")
    shown = np.array(pdfium.PdfDocument(data)[0].render().to_pil().convert("RGB"))
    wanted = one.samples / ((1 << depth) - 1) * 255
    wanted = np.dstack([wanted] * 3) if wanted.ndim == 2 else wanted
    if one.planes == 4:  # on white paper
        alpha = wanted[..., 3:] / 255
        wanted = wanted[..., :3] * alpha + 255 * (1 - alpha)
    np.testing.assert_allclose(shown, wanted, atol=1)


MIXED = [noisy((7, 9), 8, seed) for seed in range(4)]


@pytest.mark.parametrize("format", ["tif", "pdf", "npy", "nii", "zarr", "dcm"])
def test_facts_of_pages_of_several_roles_are_lost_and_said(tmp_path, format):
    """A page has none, and a frame that is shown for no time has no duration to lose."""
    roles = [Role.PAGE, Role.FRAME, Role.FRAME, Role.SLICE]
    facts = [(), (1, 10), (0, 10), (5,)]
    found = replace(book(MIXED, facts=facts, loops=3), roles=roles)
    lost = write_book(found, str(tmp_path / "a") if format == "zarr" else io.BytesIO(), format)
    assert lost == {"durations": [1], "positions": [3], "loops": [0, 1, 2, 3]}


def test_a_dicom_file_does_not_say_when_the_last_frame_ends():
    pytest.importorskip("pydicom")

    def durations(*given):
        data, lost = written(frames((7, 9), 8, given)[1], "dcm")
        with opened_book(data, "x") as found:
            return [Fraction(*each) for each in found.facts], lost

    times = (1, 10), (1, 5), (1, 4)
    assert durations(*times) == ([Fraction(1, 10), Fraction(1, 5), Fraction(1, 5)], {
        "durations": [2]
    })  # fmt: skip
    even = (1, 10), (1, 5), (1, 5)
    assert durations(*even) == ([Fraction(*each) for each in even], {})


def test_a_form_that_a_format_lacks_is_refused_with_formats_of_several_pictures():
    found = book([noisy((7, 9, 4), 8, seed) for seed in range(2)], Role.FRAME, [(1, 10)] * 2)
    with pytest.raises(ParameterError, match="RGB with alpha: must be one of tif, pdf, gif, png"):
        write_book(found, io.BytesIO(), "dcm")
