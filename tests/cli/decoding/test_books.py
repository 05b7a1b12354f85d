"""``mmp decode`` of files of several pictures."""

import io
import json
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image
from support.books import collection, noisy, pages_of_tiff

import mmpcodec
from mmpcodec import pictures
from mmpcodec.cli.decoding import by_tiles
from mmpcodec.format.collection import Role
from mmpcodec.format.collection_writer import CollectionWriter
from mmpcodec.metadata import Resolution
from mmpcodec.pictures import Picture

PAGES = [
    noisy((20, 30), 8, 1, resolution=Resolution(Fraction(200), Fraction(200))),
    noisy((25, 17), 1, 2),
    noisy((12, 13, 3), 12, 3),
    noisy((11, 13), 8, 4),
]
FRAMES = [Picture(noisy((10, 12), 8, seed).samples >> 3, 8) for seed in range(3)]


@pytest.fixture
def book():
    Path("book.mmp").write_bytes(collection(PAGES))
    return "book.mmp"


@pytest.fixture
def animation():
    data = collection(FRAMES, Role.FRAME, [(1, 10), (1, 4), (1, 3)], loops=2)
    Path("anim.mmp").write_bytes(data)
    return "anim.mmp"


def broken(data, wanted):
    """Return a collection with damage in the samples of one page."""
    coded = mmpcodec.encode(wanted.samples, 0, depth=wanted.depth)
    end = data.index(coded) + len(coded)
    return data[: end - 9] + bytes(9) + data[end:]


@pytest.mark.parametrize("threads", [1, 3])
def test_a_tiff_has_all_pages_in_order(mmp, book, threads):
    result = mmp("decode", book, "-o", "book.tif", "--threads", threads)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("book.mmp -> book.tif: 4 pages, 30x20, ")
    for page, wanted in zip(pages_of_tiff("book.tif"), PAGES, strict=True):
        np.testing.assert_array_equal(page, wanted.samples)


def test_pages_are_chosen_by_ranges(mmp, book):
    assert mmp("decode", book, "-o", "some.tif", "--pages", "3-,1").exit_code == 0
    with tifffile.TiffFile("some.tif") as file:
        shapes = [page.shape for page in file.pages]
    assert shapes == [(12, 13, 3), (11, 13), (20, 30)]


@pytest.mark.parametrize("option", ["--page", "--pages"])
def test_one_page_is_a_picture_of_any_format(mmp, book, option):
    assert mmp("decode", book, "-o", "a.png", option, 3).exit_code == 0
    found = pictures.read("a.png")
    np.testing.assert_array_equal(found.samples, PAGES[2].samples)
    assert found.depth == 12


def test_a_folder_gets_a_file_of_each_page(mmp, book, files):
    result = mmp("decode", book, "-O", "pages", "--json")
    assert result.exit_code == 0
    assert sorted(path.name for path in Path("pages").iterdir()) == [
        f"book-{number:03d}.png" for number in range(1, 5)
    ]
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(row["page"], row["output"]) for row in rows] == [
        (number, f"pages/book-{number:03d}.png") for number in range(1, 5)
    ]
    assert 0 < sum(row["input_bytes"] for row in rows) < Path(book).stat().st_size
    for number, wanted in enumerate(PAGES, 1):
        found = pictures.read(f"pages/book-{number:03d}.png")
        np.testing.assert_array_equal(found.samples, wanted.samples)


def test_books_and_pictures_in_a_folder_get_files_of_their_own(mmp, book, encoded):
    Path("in/below").mkdir(parents=True)
    Path(book).rename("in/below/book.mmp")
    Path(encoded).rename("in/a.mmp")
    assert mmp("decode", "in", "-O", "out", "--format", "tif", "--pages", "1").exit_code == 0
    found = sorted(str(path.relative_to("out")) for path in Path("out").rglob("*.tif"))
    assert found == ["a.tif", "below/book-001.tif"]


def test_one_page_of_each_file_keeps_its_name(mmp, book):
    assert mmp("decode", book, "-O", "out", "--page", 2).exit_code == 0
    np.testing.assert_array_equal(pictures.read("out/book.png").samples, PAGES[1].samples)


def test_existing_pages_are_kept_or_skipped(mmp, book):
    assert mmp("decode", book, "-O", "out").exit_code == 0
    Path("out/book-002.png").unlink()
    result = mmp("decode", book, "-O", "out")
    assert result.exit_code == 3
    assert "out/book-001.png: exists" in result.stderr
    assert Path("out/book-002.png").exists()
    Path("out/book-002.png").unlink()
    assert mmp("decode", book, "-O", "out", "--skip-existing").exit_code == 0
    assert Path("out/book-002.png").exists()


@pytest.mark.parametrize("arguments", [[], ["-o", "a.png"], ["-o", "a.jpg"], ["-o", "a.gif"]])
def test_a_format_of_one_picture_is_refused_with_the_next_step(mmp, book, arguments, files):
    result = mmp("decode", book, *arguments)
    assert result.exit_code == 1
    for text in (
        "book.mmp: has 4 pages",
        "--page N",
        "-O DIR",
        ".tif, .pdf, .dcm, .npy, .nii, .nii.gz, .zarr",
    ):
        assert text in result.stderr
    assert files() == ["book.mmp"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--page", 5], 1, "mmp: book.mmp: has no page 5; must be 1 to 4"),
        (["--page", 0], 2, "--page"),
        (["--pages", "2-5"], 1, "has no page 5; must be 1 to 4"),
        (["--pages", "5-2"], 2, "must rise"),
        (["--pages", "x"], 2, "must be a number from 1"),
        (["--pages", "2,2"], 1, "page 2 comes twice"),
        (["--page", 1, "--pages", "2"], 2, "--pages and --page: give only one"),
    ],
)
def test_pages_that_are_not_there(mmp, book, arguments, code, message, files):
    result = mmp("decode", book, "-o", "a.tif", *arguments)
    assert result.exit_code == code
    assert message in result.stderr
    assert files() == ["book.mmp"]


def test_pages_of_a_file_of_one(mmp, encoded, samples):
    assert mmp("decode", encoded, "-o", "b.png", "--page", 1).exit_code == 0
    np.testing.assert_array_equal(pictures.read("b.png").samples, samples)
    assert mmp("decode", encoded, "-o", "c.png", "--page", 2).exit_code == 1
    assert mmp("decode", encoded, "-o", "c.png", "--pages", "1-2").exit_code == 1


@pytest.mark.parametrize("name", ["a.pdf", "a.gif", "a.nii.gz", "a.zarr", "a.npy"])
def test_a_file_of_one_picture_goes_into_any_format(mmp, encoded, name):
    pytest.importorskip({"a.pdf": "pikepdf", "a.nii.gz": "nibabel"}.get(name, "numpy"))
    assert mmp("decode", encoded, "-o", name).exit_code == 0
    assert Path(name).exists()


def test_frames_keep_durations_and_loops(mmp, animation):
    result = mmp("decode", animation, "-o", "a.gif")
    assert (result.exit_code, result.stderr) == (
        0,
        "mmp: anim.mmp: gif cannot hold all of: durations (frame 3)\n",
    )
    with Image.open("a.gif") as image:
        assert (image.n_frames, image.info["loop"]) == (3, 1)
        durations = []
        for number, wanted in enumerate(FRAMES):
            image.seek(number)
            np.testing.assert_array_equal(np.array(image.convert("L")), wanted.samples)
            durations.append(image.info["duration"])
    assert durations == [100, 250, 330]


def test_frames_are_a_png_by_default(mmp, animation):
    assert mmp("decode", animation).exit_code == 0
    with Image.open("anim.png") as image:
        assert image.n_frames == 3


def test_a_file_on_standard_output(mmp, book):
    result = mmp("decode", "-", "--format", "tif", "-o", "-", input=Path(book).read_bytes())
    assert result.exit_code == 0
    with tifffile.TiffFile(io.BytesIO(result.stdout_bytes)) as file:
        assert len(file.pages) == 4
    assert f"{len(result.stdout_bytes)} bytes" in result.stderr


def test_a_region_of_each_page(mmp, book):
    assert mmp("decode", book, "-o", "a.npy", "--region", "2,3,7,5").exit_code == 1
    assert mmp("decode", book, "-o", "a.tif", "--region", "2,3,7,5").exit_code == 0
    for page, wanted in zip(pages_of_tiff("a.tif"), PAGES, strict=True):
        np.testing.assert_array_equal(page, wanted.samples[3:8, 2:9])
    result = mmp("decode", book, "-o", "b.tif", "--region", "2,3,20,5")
    assert result.exit_code != 0
    assert "page 2" in result.stderr


def test_json_lists_the_pages(mmp, animation):
    facts = json.loads(mmp("decode", animation, "-o", "a.npy", "--json").stdout)
    assert [row["page"] for row in facts["pages"]] == [1, 2, 3]
    assert [row["duration"] for row in facts["pages"]] == [0.1, 0.25, pytest.approx(1 / 3)]
    assert facts["pages"][0] | {"duration": 0} == {
        "page": 1, "role": "frame", "width": 12, "height": 10, "form": "gray", "depth": 8,
        "bad_tiles": 0, "header_faults": 0, "duration": 0,
    }  # fmt: skip


def test_a_broken_page_fails_and_is_named(mmp, book, files):
    Path(book).write_bytes(broken(Path(book).read_bytes(), PAGES[3]))
    result = mmp("decode", book, "-o", "a.tif")
    assert result.exit_code == 1
    assert re.search(r"book.mmp: Layers at byte \d+: page 4: ", result.stderr)
    assert "--allow-partial" in result.stderr
    assert files() == ["book.mmp"]


def test_a_broken_page_is_black_where_allowed(mmp, book):
    Path(book).write_bytes(broken(Path(book).read_bytes(), PAGES[3]))
    result = mmp("decode", book, "-o", "a.tif", "--allow-partial", "--json")
    assert result.exit_code == 3
    assert "book.mmp: page 4: is black: " in result.stderr
    rows = json.loads(result.stdout)["pages"]
    assert ["error" in row for row in rows] == [False, False, False, True]
    *good, bad = pages_of_tiff("a.tif")
    for page, wanted in zip(good, PAGES[:3], strict=True):
        np.testing.assert_array_equal(page, wanted.samples)
    assert bad.shape == (11, 13)
    assert not bad.any()


def test_a_broken_page_of_a_folder_has_no_file(mmp, book):
    Path(book).write_bytes(broken(Path(book).read_bytes(), PAGES[3]))
    result = mmp("decode", book, "-O", "out", "--allow-partial")
    assert result.exit_code == 3
    assert "book.mmp: page 4: " in result.stderr
    assert sorted(path.name for path in Path("out").iterdir()) == [
        "book-001.png", "book-002.png", "book-003.png",
    ]  # fmt: skip


def test_only_broken_pages_are_an_error(mmp, files):
    data = collection([PAGES[0], PAGES[3]])
    Path("book.mmp").write_bytes(broken(data, PAGES[3]))
    result = mmp("decode", "book.mmp", "-o", "a.tif", "--allow-partial", "--pages", "2")
    assert result.exit_code == 1
    assert files() == ["book.mmp"]


def test_limits_hold_for_the_number_of_pictures(mmp):
    Path("empty.mmp").write_bytes(collection([]))
    result = mmp("decode", "empty.mmp", "-o", "a.tif")
    assert result.exit_code == 1
    assert "holds no pictures" in result.stderr


def test_levels_are_no_pages(mmp):
    stream = io.BytesIO()
    writer = CollectionWriter(stream)
    writer.add(mmpcodec.encode(PAGES[0].samples, 0), Role.PAGE)
    writer.add(mmpcodec.encode(PAGES[0].samples[::2, ::2].copy(), 0), Role.LEVEL, (0,))
    writer.close()
    Path("a.mmp").write_bytes(stream.getvalue())
    assert mmp("decode", "a.mmp", "-O", "out").exit_code == 0
    assert [path.name for path in Path("out").iterdir()] == ["a.png"]
    np.testing.assert_array_equal(pictures.read("out/a.png").samples, PAGES[0].samples)


@pytest.mark.parametrize("name", ["a.zarr", "a.tif"])
@pytest.mark.parametrize("region", [None, (5, 3, 40, 30)])
def test_a_large_page_is_decoded_by_tiles(mmp, monkeypatch, name, region):
    if name == "a.zarr":
        pytest.importorskip("zarr")
    monkeypatch.setattr(by_tiles, "MOST_IN_MEMORY", 500)
    wanted = noisy((70, 130, 3), 8, 7, resolution=PAGES[0].metadata.resolution)
    coded = mmpcodec.encode(
        wanted.samples, 0, preset="lossless", tile_size=64, metadata=wanted.metadata
    )
    stream = io.BytesIO()
    writer = CollectionWriter(stream)
    for data in (mmpcodec.encode(PAGES[1].samples, 0, depth=1), coded):
        writer.add(data)
    writer.close()
    Path("book.mmp").write_bytes(stream.getvalue())
    options = () if region is None else ("--region", ",".join(map(str, region)))
    result = mmp("decode", "book.mmp", "-o", name, "--page", 2, *options)
    assert result.exit_code == 0, result.stderr
    found = pictures.read(name)
    x, y, width, height = region or (0, 0, 130, 70)
    np.testing.assert_array_equal(found.samples, wanted.samples[y : y + height, x : x + width])
    if name == "a.tif":
        with tifffile.TiffFile(name) as file:
            assert file.pages[0].tile == (64, 64)
            assert file.pages[0].tags["XResolution"].value == (200, 1)


@pytest.mark.parametrize("target", [["-o", "a.tif"], ["-O", "out"]])
def test_a_damaged_index_is_an_error_that_names_the_way_out(mmp, book, files, target):
    data = Path(book).read_bytes()
    Path(book).write_bytes(data[:-20] + bytes(8) + data[-12:])
    result = mmp("decode", book, *target)
    assert result.exit_code == 1
    (line,) = result.stderr.splitlines()
    assert line.startswith("mmp: book.mmp: Collections at byte")
    assert line.endswith("--allow-partial decodes what is left")
    assert files() == ["book.mmp"]


def test_pages_are_found_without_an_index(mmp, book):
    data = Path(book).read_bytes()
    Path(book).write_bytes(data[:-20] + bytes(8) + data[-12:])
    result = mmp("decode", book, "-o", "a.tif", "--allow-partial", "--json")
    assert result.exit_code == 3
    facts = json.loads(result.stdout)
    assert (facts["header_faults"], facts["bad_tiles"], len(facts["pages"])) == (1, 0, 4)
    for page, wanted in zip(pages_of_tiff("a.tif"), PAGES, strict=True):
        np.testing.assert_array_equal(page, wanted.samples)


LOCALLY = [[], ["-j", "3"], ["--cluster", "local", "--workers", "1"]]


@pytest.mark.parametrize("where", [*LOCALLY, ["--scale", "1/2"]])
def test_a_damaged_index_is_said_once_for_all_pages(mmp, book, where):
    if "--cluster" in where:
        pytest.importorskip("distributed")
    data = broken(Path(book).read_bytes(), PAGES[1])
    Path(book).write_bytes(data[:-20] + bytes(8) + data[-12:])
    result = mmp("decode", book, "-O", "out", "--allow-partial", "--json", *where)
    assert result.exit_code == 3
    lines = [line for line in result.stderr.splitlines() if "Collections" in line]
    assert len(lines) == 1
    assert lines[0].startswith("mmp: book.mmp: Collections at byte")
    assert lines[0].endswith("later pages may be missing")
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    good = [row for row in rows if "page" in row and "error" not in row]
    assert sorted(row["page"] for row in good) == [1, 3, 4]
    assert {row["header_faults"] for row in good} == {0}


@pytest.mark.parametrize("target", ["a.png", "a.zarr"])
def test_a_page_of_a_file_with_a_damaged_index_is_decoded(mmp, book, target):
    data = Path(book).read_bytes()
    Path(book).write_bytes(data[:-20] + bytes(8) + data[-12:])
    result = mmp("decode", book, "-o", target, "--page", 2, "--allow-partial", "--json")
    assert result.exit_code == 3
    (line,) = (line for line in result.stderr.splitlines() if "Collections" in line)
    assert line.endswith("later pages may be missing")
    assert json.loads(result.stdout)["header_faults"] == 1
    np.testing.assert_array_equal(pictures.read(target).samples, PAGES[1].samples)


@pytest.mark.parametrize("where", LOCALLY)
def test_each_damaged_page_is_named(mmp, book, where):
    if "--cluster" in where:
        pytest.importorskip("distributed")
    Path(book).write_bytes(broken(broken(Path(book).read_bytes(), PAGES[1]), PAGES[2]))
    result = mmp("decode", book, "-O", "out", *where)
    assert result.exit_code == 3
    for page in (2, 3):
        (line,) = (line for line in result.stderr.splitlines() if f"page {page}: " in line)
        assert line.startswith("mmp: book.mmp: ")
        assert "--allow-partial decodes what is left" in line
    assert "2 of 4 inputs failed" in result.stderr


def test_a_cut_file_gives_the_pages_before_the_end(mmp, book):
    Path(book).write_bytes(Path(book).read_bytes()[:-120])
    result = mmp("decode", book, "-o", "a.tif", "--allow-partial")
    assert result.exit_code == 3
    assert "page 4: is black" in result.stderr
    with tifffile.TiffFile("a.tif") as file:
        np.testing.assert_array_equal(file.pages[2].asarray(), PAGES[2].samples)


def test_what_a_stopped_writer_left_is_said(run, mmp, book):
    page = mmpcodec.encode(PAGES[0].samples, 0)
    with mmpcodec.append_to(book) as writer:
        writer.add(page)
    Path(book).write_bytes(Path(book).read_bytes()[:-5])
    code, _, errors = run("decode", book, "-o", "a.tif")
    assert code == 0
    assert errors.startswith("mmp: book.mmp: ")
    assert "bytes behind its index are of pictures whose writer was stopped" in errors
    with tifffile.TiffFile("a.tif") as file:
        assert len(file.pages) == 4
    assert mmp("decode", book, "--allow-partial", "-o", "b.tif").exit_code == 3
    with tifffile.TiffFile("b.tif") as file:
        np.testing.assert_array_equal(file.pages[4].asarray(), PAGES[0].samples)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_manifest_notes_each_page(mmp, book, jobs):
    command = ("decode", book, "-O", "out", "--manifest", "run.jsonl", "-j", jobs)
    assert mmp(*command).exit_code == 0
    rows = [json.loads(line) for line in Path("run.jsonl").read_text().splitlines()]
    assert sum(row["event"] == "done" for row in rows) == 4
    Path("out/book-003.png").unlink()
    assert mmp(*command).exit_code == 0
    assert len(list(Path("out").iterdir())) == 4


def test_what_frames_among_pages_lose_is_said(mmp, animation):
    data = collection(PAGES[:1])
    Path("page.mmp").write_bytes(data)
    mmp("encode", "page.mmp", animation, "--together", "-o", "both.mmp", "--lossless")
    result = mmp("decode", "both.mmp", "-o", "a.tif")
    assert result.stderr == (
        "mmp: both.mmp: tif cannot hold all of: loops, durations (frames 2-4)\n"
    )
    assert "a.tif: 4 pages, 30x20" in result.stdout


def test_a_damaged_index_is_said_once(mmp, book):
    data = Path(book).read_bytes()
    Path(book).write_bytes(data[:-20] + bytes(8) + data[-12:])
    for arguments, file in (
        (["-O", "out"], "book.mmp"),
        (["-O", "some", "--pages", "2-3"], "book.mmp"),
        (["--page", "3", "-o", "a.png"], "book.mmp"),
        (["-o", "a.tif"], "book.mmp"),
    ):
        result = mmp("decode", book, "--allow-partial", *arguments)
        assert result.exit_code == 3
        (line,) = result.stderr.splitlines()
        assert line.startswith(f"mmp: {file}: Collections at byte")
        assert line.endswith("; later pages may be missing")
    assert len(list(Path("out").iterdir())) == 4


def test_pages_behind_bytes_that_were_put_in_are_decoded(mmp, book):
    """The index at the end is whole, and names places that have moved."""
    data = Path(book).read_bytes()
    coded = mmpcodec.encode(PAGES[1].samples, 0, depth=1)
    place = data.index(coded) + len(coded) // 2
    Path(book).write_bytes(data[:place] + b"\r" * 3 + data[place:])
    result = mmp("decode", book, "-o", "a.tif", "--allow-partial")
    assert result.exit_code == 3
    assert "book.mmp: Collections: 2 pictures are not where the index says" in result.stderr
    assert "page 2: is black" in result.stderr
    with tifffile.TiffFile("a.tif") as file:
        for number in (0, 2, 3):
            np.testing.assert_array_equal(file.pages[number].asarray(), PAGES[number].samples)
    result = mmp("decode", book, "--page", "3", "-o", "c.png")
    assert result.exit_code == 1
    assert result.stderr.endswith("; --allow-partial decodes what is left\n")


def test_a_damaged_index_at_a_fraction_of_the_size(mmp, book):
    data = Path(book).read_bytes()
    Path(book).write_bytes(data[:-20] + bytes(8) + data[-12:])
    result = mmp("decode", book, "-o", "a.tif", "--allow-partial", "--scale", "1/2")
    assert result.exit_code == 3
    (line,) = result.stderr.splitlines()
    assert line.endswith("; later pages may be missing")
    with tifffile.TiffFile("a.tif") as file:
        assert [page.shape[:2] for page in file.pages] == [(10, 15), (13, 9), (6, 7), (6, 7)]


def test_the_index_is_read_once_for_all_pages_and_anew_for_another_file(mmp, book, monkeypatch):
    from mmpcodec.format import collection as format

    read, sizes = format.read_index, []
    monkeypatch.setattr(format, "read_index", lambda *given: sizes.append(given[1]) or read(*given))
    assert mmp("decode", book, "-O", "out").exit_code == 0
    assert len(sizes) == 1
    Path(book).write_bytes(collection(PAGES[:2]))
    assert mmp("decode", book, "-O", "new").exit_code == 0
    assert len(sizes) == 2
    assert sorted(path.name for path in Path("new").iterdir()) == ["book-001.png", "book-002.png"]
