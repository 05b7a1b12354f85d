"""``mmp median``, and the median filter as an option of other commands."""

import io
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy import ndimage
from support.books import write_book

import mmpcodec
from mmpcodec import backends, pictures
from mmpcodec.analysis.denoise import denoise
from mmpcodec.format.collection import Role
from mmpcodec.metadata import Metadata, Resolution

DEEP_COLOURS = b"P6 2 1 65535\n" + bytes(12)


@pytest.fixture
def specked(folder):
    """A picture with specks."""
    samples = np.full((40, 50), 60, np.uint8)
    samples[10:30, 15:35] = 180
    samples[np.random.default_rng(2).random(samples.shape) < 0.05] = 255
    pictures.write(samples, "in.png")
    return samples


def read(name):
    return pictures.from_bytes(Path(name).read_bytes(), name)


def test_filters_and_tells(mmp, specked):
    result = mmp("median", "in.png", "-r", 2)
    assert result.exit_code == 0, result.stderr
    assert "in.png -> in.png.median.png: 50x40, radius 2, " in result.stdout
    np.testing.assert_array_equal(read("in.png.median.png").samples, denoise(specked, 2))


def test_json(mmp, specked):
    result = mmp("median", "in.png", "-r", 1, "-o", "out.tif", "--json", "--backend", "reference")
    facts = json.loads(result.stdout)
    assert facts.pop("seconds") >= 0
    assert facts.pop("left_out") == []
    assert facts == {
        "input": "in.png",
        "output": "out.tif",
        "width": 50,
        "height": 40,
        "channels": 1,
        "white": 255,
        "radius": 1,
        "slices": 0,
        "format": "tif",
        "backend": "reference",
    }
    np.testing.assert_array_equal(read("out.tif").samples, denoise(specked, 1))


def test_backends_agree(mmp, specked):
    for backend in ("cpu", "reference", "auto"):
        result = mmp("median", "in.png", "-r3", "-o", f"{backend}.pgm", "--backend", backend)
        assert result.exit_code == 0, result.stderr
    written = {Path(f"{backend}.pgm").read_bytes() for backend in ("cpu", "reference", "auto")}
    assert len(written) == 1


@pytest.mark.parametrize("target", ["out.png", "out.tif", "out.TIFF", "out.pgm"])
@pytest.mark.parametrize("source", ["deep.png", "deep.tif", "deep.pgm"])
def test_deep_gray_stays_deep(mmp, source, target):
    deep = np.random.default_rng(3).integers(0, 65536, (9, 11), np.uint16)
    Image.fromarray(deep).save(source, "PPM" if source.endswith("pgm") else None)
    result = mmp("median", source, "-r", 1, "-o", target)
    assert result.exit_code == 0, result.stderr
    written = read(target)
    np.testing.assert_array_equal(written.samples, denoise(deep, 1))
    assert written.samples.dtype == np.uint16


def test_white_of_pgm_files_is_kept(mmp):
    for white in (100, 1000):
        wide = white > 255
        samples = np.full((4, 5), white, ">u2" if wide else "u1")
        Path("a.pgm").write_bytes(f"P5 5 4 {white}\n".encode() + samples.tobytes())
        assert mmp("median", "a.pgm", "-r", 1, "-o", "b.pgm", "-f").exit_code == 0
        assert read("b.pgm").white == white
        assert (read("b.pgm").samples == white).all()


@pytest.mark.parametrize("source", ["c.png", "c.ppm", "c.bmp", "c.tif"])
@pytest.mark.parametrize("target", ["out.png", "out.ppm", "out.tif"])
def test_colours(mmp, source, target):
    colours = np.random.default_rng(4).integers(0, 256, (8, 9, 3), np.uint8)
    Image.fromarray(colours).save(source)
    result = mmp("median", source, "-r", 1, "-o", target)
    assert result.exit_code == 0, result.stderr
    np.testing.assert_array_equal(read(target).samples, denoise(colours, 1))


def test_deep_colours_stay_deep(mmp):
    colours = np.random.default_rng(5).integers(0, 65536, (8, 9, 3), np.uint16)
    resolution = Resolution(Fraction(3000), Fraction(3000), "metre")
    metadata = Metadata(icc=b"profile", resolution=resolution, white=60000)
    pictures.write(pictures.Picture(colours, 16, metadata), "c.png")
    for name in ("out.png", "out.tif", "out.ppm"):
        result = mmp("median", "c.png", "-r", 1, "-o", name)
        assert result.exit_code == 0, result.stderr
        np.testing.assert_array_equal(read(name).samples, denoise(colours, 1))
    assert read("out.png").metadata == Metadata(icc=b"profile", resolution=resolution)
    assert "c.png: ppm cannot hold all of: icc, resolution\n" in result.stderr


def test_many_files_and_bad_ones(mmp, specked):
    Path("out").mkdir()
    Path("bad.png").write_bytes(b"nothing")
    Path("deep.ppm").write_bytes(DEEP_COLOURS)
    Path("b.mmp").write_bytes(mmpcodec.encode(specked, 0))
    result = mmp("median", "in.png", "bad.png", "deep.ppm", "b.mmp", "-r1", "-O", "out", "-j", 2)
    assert result.exit_code == 3
    assert "bad.png: is not a picture file" in result.stderr
    assert "1 of 4 inputs failed" in result.stderr
    assert sorted(p.name for p in Path("out").iterdir()) == [
        "b.mmp.median.png",
        "deep.ppm.median.png",
        "in.png.median.png",
    ]


def test_pipe(mmp, specked):
    data = Path("in.png").read_bytes()
    result = mmp("median", "-", "-r", 1, "--json", input=data)
    assert result.exit_code == 0
    with Image.open(io.BytesIO(result.stdout_bytes)) as image:
        np.testing.assert_array_equal(np.array(image), denoise(specked, 1))
    assert json.loads(result.stderr)["output"] == "-"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["in.png"], 2, "Missing option '--radius'"),
        (["in.png", "-r", "0"], 2, "radius = 0: must be from 1 to 127"),
        (["in.png", "-r", "128"], 2, "radius = 128: must be from 1 to 127"),
        (["in.png", "-r", "wide"], 2, "Invalid value for '--radius'"),
        (["in.png", "-r1", "--backend", "gpu"], 2, "backend = 'gpu': must be one of auto, cpu"),
        (["in.png", "-r1", "-o", "a.gif"], 2, "a.gif: extension '.gif' must be one of .pbm, .pgm"),
        (
            ["in.png", "-r1", "-o", "a.ppm"],
            1,
            "format = 'ppm' for gray: must be one of pgm",
        ),
        (["none.png", "-r1"], 1, "none.png: No such file"),
        (["in.png", "-r1", "-O", "in.png/no"], 1, "in.png: is not a folder"),
        (["in.png", "-r1", "-o", "in.png"], 2, "in.png: is an input"),
        (["-", "-r1", "-O", "."], 2, "stdin has no name to use with -O"),
    ],
)
def test_wrong_use(mmp, specked, arguments, code, message):
    result = mmp("median", *arguments)
    assert message in " ".join(result.stderr.split())
    assert result.exit_code == code


def test_nothing_is_overwritten_unasked(mmp, specked):
    Path("in.png.median.png").write_bytes(b"mine")
    assert mmp("median", "in.png", "-r", 1).exit_code == 1
    assert Path("in.png.median.png").read_bytes() == b"mine"
    assert mmp("median", "in.png", "-r", 1, "-f").exit_code == 0


@pytest.mark.skipif(backends.status()["cuda"] is None, reason="there is a device")
def test_without_a_device(mmp, specked):
    result = mmp("median", "in.png", "-r", 1, "--backend", "cuda")
    assert result.exit_code == 4
    assert "backend cuda cannot run here: " in result.stderr


def test_encode_filters_first(mmp, specked):
    result = mmp("encode", "in.png", "--denoise", 1, "-l", 0, "-o", "a.mmp", "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["psnr"] is None
    decoded = mmpcodec.decode(Path("a.mmp").read_bytes())
    np.testing.assert_array_equal(decoded, denoise(specked, 1))
    assert mmp("encode", "in.png", "--denoise", 0, "-o", "b.mmp").exit_code == 2


def test_highlight_filters_first_and_draws_on_the_picture(mmp, specked):
    plain = json.loads(mmp("highlight", "in.png", "--offset", "100", "--json").stdout)
    result = mmp("highlight", "in.png", "--offset", "200", "--json", "-f", "--denoise", 2)
    assert json.loads(result.stdout)["regions"] == []
    with Image.open("in.png.regions.png") as drawn:
        np.testing.assert_array_equal(np.array(drawn)[..., 0], specked)
    result = mmp("highlight", "in.png", "--offset", "100", "--json", "-f", "--denoise", 2)
    region = json.loads(result.stdout)["regions"][0]
    assert [region[name] for name in ("left", "top", "right", "bottom")] == [15, 10, 34, 29]
    assert plain["regions"][0]["mean"] > 180
    result = mmp("highlight", "in.png", "--denoise", 128)
    assert result.exit_code == 2
    assert "denoise = 128: must be from 1 to 127" in result.stderr


@pytest.fixture
def volume(folder):
    """A series of 6 slices of noise, 12 bits deep."""
    found = np.random.default_rng(3).integers(0, 4096, (6, 20, 30)).astype(np.uint16)
    write_book("ct.mmp", found, Role.SLICE, [(k,) for k in range(6)], depth=12)
    return found


@pytest.mark.parametrize(("radius", "slices"), [(1, 1), (2, 1), (1, 3), (3, 0)])
def test_medians_over_slices(mmp, volume, radius, slices):
    result = mmp("median", "ct.mmp", "-r", radius, "--slices", slices, "--json")
    assert result.exit_code == 0, result.stderr
    size = (2 * slices + 1, 2 * radius + 1, 2 * radius + 1)
    expected = ndimage.median_filter(volume, size, mode="reflect")
    pages = json.loads(result.stdout)["pages"]
    assert [page["slices"] for page in pages] == [slices] * 6
    for number, (page, each) in enumerate(zip(pages, expected, strict=True), 1):
        assert page["input"] == f"ct.mmp: slice {number}"
        assert page["output"] == f"ct.mmp-00{number}.median.png"
        found = read(page["output"])
        assert found.depth == 12
        np.testing.assert_array_equal(found.samples, each)


def test_pages_of_several_sizes_and_colours(mmp, folder):
    rng = np.random.default_rng(5)
    shapes = ((12, 15), (9, 8, 3), (9, 8, 4))
    pages = [rng.integers(0, 256, shape).astype(np.uint8) for shape in shapes]
    write_book("book.mmp", pages)
    result = mmp("median", "book.mmp", "-r1", "-o", "out.tif")
    assert result.exit_code == 0, result.stderr
    assert "book.mmp: page 1 -> out-001.tif: 15x12, radius 1, " in result.stdout
    for number, page in enumerate(pages, 1):
        flat = page[..., :3] if page.ndim == 3 else page
        np.testing.assert_array_equal(read(f"out-00{number}.tif").samples, denoise(flat, 1))
    result = mmp("median", "book.mmp", "-r1", "--slices", 1, "-o", "more.tif")
    assert (result.exit_code, "book.mmp: page 2: size is 8x9" in result.stderr) == (1, True)
    again = mmp("median", "book.mmp", "-r1", "-o", "out.tif")
    assert (again.exit_code, "out-001.tif: exists" in again.stderr) == (1, True)


def test_one_page_and_wrong_use(mmp, volume):
    result = mmp("median", "ct.mmp", "-r1", "--page", 4, "-o", "one.png")
    assert result.exit_code == 0, result.stderr
    np.testing.assert_array_equal(read("one.png").samples, denoise(volume[3], 1))
    for options, said in (
        (("--page", 7), "page = 7: must be 1 to 6"),
        (("--page", 1, "--slices", 1), "--slices 1: ct.mmp is filtered as one picture"),
        (("-o", "-"), "holds 6 pictures, which become several files"),
    ):
        result = mmp("median", "ct.mmp", "-r1", *options)
        assert (result.exit_code, said in result.stderr) == (1, True), result.stderr
    result = mmp("median", "ct.mmp", "-r9", "--slices", 9)
    said = (
        "slices = 9: the window of radius 9 has 6859 samples, allowed with slices is at most 3375"
    )
    assert (result.exit_code, said in result.stderr) == (2, True)
