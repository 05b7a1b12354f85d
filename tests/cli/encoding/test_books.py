"""``mmp encode`` of files of several pictures: one file, some pages, a file for each, together."""

import io
import json
import os
import re
import signal
import sys
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image

import mmpcodec
from mmpcodec import pictures
from mmpcodec.format.collection import Role
from mmpcodec.opening.contents import contents_of


def pages_of(count, height=24, width=40):
    """Gray pages that differ."""
    rows, columns = np.indices((height, width))
    return [((3 * rows + (number + 1) * columns) % 200).astype(np.uint8) for number in range(count)]


def write_tiff(name, pages, **facts):
    with tifffile.TiffWriter(name) as stream:
        for page in pages:
            stream.write(page, photometric="minisblack", metadata=None, **facts)


@pytest.fixture
def book(folder):
    """The name of a TIFF of five pages."""
    write_tiff("book.tif", pages_of(5))
    return "book.tif"


def damaged(name, *numbers):
    """Write an mmp file of five pages, of which some are damaged."""
    stream = io.BytesIO()
    writer = mmpcodec.format.collection_writer.CollectionWriter(stream)
    for page in pages_of(5):
        writer.add(mmpcodec.encode(page, 0, preset="plain"))
    writer.close()
    data = bytearray(stream.getvalue())
    for number in numbers:
        entry = writer.contents.pictures[number - 1]
        data[entry.place + entry.size - 5] ^= 255
    Path(name).write_bytes(data)


def assert_pages(name, wanted):
    found = mmpcodec.open(name)
    assert len(found) == len(wanted)
    for page, samples in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(page[...], samples)


def test_a_book_becomes_one_file(mmp, book):
    result = mmp("encode", book, "--lossless", "--preset", "plain")
    assert result.exit_code == 0
    assert result.stdout.startswith("book.tif -> book.mmp: 5 pages, 40x24, ")
    assert ", lossless, " in result.stdout
    assert result.stderr == ""
    assert_pages("book.mmp", pages_of(5))


@pytest.mark.parametrize("jobs", [1, 3])
def test_each_page_is_as_it_is_alone_with_any_number_of_threads(mmp, book, jobs):
    options = ("--quality", 60, "--effort", 1)
    mmp("encode", book, "-o", "all.mmp", *options, "-j", jobs)
    contents = contents_of(memoryview(Path("all.mmp").read_bytes()))
    for number, entry in enumerate(contents.pictures, 1):
        mmp("encode", book, "--page", number, "-o", f"{number}.mmp", *options)
        alone = Path(f"{number}.mmp").read_bytes()
        whole = Path("all.mmp").read_bytes()
        assert whole[entry.place : entry.place + entry.size] == alone


def test_json_has_a_row_for_each_page(mmp, book):
    result = mmp("encode", book, "-l", 9, "--preset", "plain", "--json", "--verify")
    facts = json.loads(result.stdout)
    assert (facts["input"], facts["output"], facts["pictures"]) == (book, "book.mmp", 5)
    assert (facts["role"], facts["resumed"], facts["verified"]) == ("page", 0, True)
    assert facts["output_bytes"] == os.path.getsize("book.mmp")
    assert facts["input_bytes"] == os.path.getsize(book)
    assert facts["sizes"] == [[40, 24]]
    rows = facts["pages"]
    assert [row["page"] for row in rows] == [1, 2, 3, 4, 5]
    assert all(row["lam"] == 9 and row["psnr"] > 30 and row["verified"] for row in rows)


def test_verbose_tells_each_page(mmp, book):
    lines = mmp("encode", book, "--lossless", "--preset", "plain", "-v").stdout.splitlines()
    assert lines[1].startswith("  page 1: 40x24, ")
    assert len(lines) == 11


def test_roles_durations_and_loops_are_kept(mmp):
    frames = [Image.fromarray(page) for page in pages_of(3)]
    frames[0].save("a.gif", save_all=True, append_images=frames[1:], duration=[50, 70, 90], loop=2)
    result = mmp("encode", "a.gif", "--lossless")
    assert result.stdout.startswith("a.gif -> a.mmp: 3 frames, ")
    contents = contents_of(memoryview(Path("a.mmp").read_bytes()))
    assert [entry.role for entry in contents.pictures] == [Role.FRAME] * 3
    seconds = [float(page.duration) for page in mmpcodec.open("a.mmp")]
    assert seconds == [0.05, 0.07, 0.09]
    assert contents.loops == pictures.books.opening.opened_book("a.gif").loops


def test_standard_streams(mmp, book):
    data = Path(book).read_bytes()
    result = mmp("encode", "-", "--lossless", "--preset", "plain", input=data)
    assert result.exit_code == 0
    assert result.stderr.startswith("stdin -> stdout: 5 pages, ")
    Path("out.mmp").write_bytes(result.stdout_bytes)
    mmp("encode", book, "--lossless", "--preset", "plain")
    assert result.stdout_bytes == Path("book.mmp").read_bytes()


def test_pages(mmp, book):
    result = mmp("encode", book, "--pages", "4-,2", "--lossless", "--preset", "plain")
    assert result.stdout.startswith("book.tif -> book.mmp: 3 pages, ")
    pages = pages_of(5)
    assert_pages("book.mmp", [pages[3], pages[4], pages[1]])


def test_one_page_is_a_plain_file(mmp, book):
    for option, name in (("--page", "a.mmp"), ("--pages", "b.mmp")):
        assert mmp("encode", book, option, 3, "-o", name).exit_code == 0
    data = Path("b.mmp").read_bytes()
    assert data == Path("a.mmp").read_bytes()
    assert mmpcodec.inspect(data).header.height == 24


def test_a_file_of_one_page_is_as_before(mmp):
    page = pages_of(1)[0]
    write_tiff("one.tif", [page])
    pictures.write(page, "one.png")
    mmp("encode", "one.tif", "--preset", "plain", "-l", 5, "-o", "a.mmp", "--strip", "all")
    mmp("encode", "one.png", "--preset", "plain", "-l", 5, "-o", "b.mmp")
    assert Path("a.mmp").read_bytes() == Path("b.mmp").read_bytes()
    assert Path("a.mmp").read_bytes() == mmpcodec.encode(page, 5, preset="plain")


def test_pages_hold_for_each_input(mmp, book):
    write_tiff("b.tif", pages_of(3))
    assert mmp("encode", book, "b.tif", "--pages", "2-3", "--preset", "plain").exit_code == 0
    for name in ("book.mmp", "b.mmp"):
        assert len(mmpcodec.open(name)) == 2


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("9", "book.tif: has no page 9; must be 1 to 5"),
        ("2,2", "book.tif: --pages 2,2: page 2 comes twice"),
    ],
)
def test_pages_that_the_file_lacks(mmp, book, files, text, fault):
    result = mmp("encode", book, "--pages", text)
    assert (result.exit_code, result.stderr) == (1, f"mmp: {fault}\n")
    assert files() == [book]


@pytest.mark.parametrize("text", ["7-3", "0", "", "a", "1,,2"])
def test_text_that_names_no_pages(mmp, book, files, text):
    result = mmp("encode", book, "--pages", text)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"mmp: --pages {text!r}: ")
    assert files() == [book]


def test_page_beyond_the_last(mmp, book):
    result = mmp("encode", book, "--page", 9)
    assert result.exit_code == 1
    assert "page = 9: must be 1 to 5" in result.stderr


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (["--page", 1, "--pages", 1], "--pages and --page: give only one of them"),
        (["--split", "--page", 1], "--split and --page: give only one of them"),
        (
            ["--split", "-o", "x.mmp"],
            "--split: writes a file for each page, -o x.mmp names one",
        ),
        (["--together"], "--together: needs -o OUT, the name of the only output"),
        (["--together", "-O", "x"], "--together: needs -o OUT, the name of the only output"),
        (
            ["--together", "--split", "-o", "x.mmp"],
            "--split and --together: give only one of them",
        ),
        (
            ["--together", "-o", "x.mmp", "--manifest", "m"],
            "--manifest m: notes files one by one; --together goes on without it",
        ),
    ],
)
def test_options_that_contradict_each_other(mmp, book, files, options, fault):
    result = mmp("encode", book, *options)
    assert (result.exit_code, result.stderr) == (2, f"mmp: {fault}\n")
    assert files() == [book]


def test_standard_input_has_no_pages_apart(mmp, book):
    for option in (["--split", "-O", "x"], ["--together", "-o", "x.mmp"]):
        result = mmp("encode", "-", *option, input=Path(book).read_bytes())
        assert result.exit_code == 2
        assert "stdin can be read only once" in result.stderr


def test_split(mmp, files):
    write_tiff("book.tif", pages_of(11))
    pictures.write(pages_of(1)[0], "one.png")
    result = mmp("encode", "book.tif", "one.png", "--split", "--lossless", "--preset", "plain")
    assert result.exit_code == 0
    assert result.stdout.startswith("book.tif: page 1 -> book-001.mmp: 40x24, ")
    assert files() == [
        *(f"book-{n:03}.mmp" for n in range(1, 12)),
        *("book.tif", "one.mmp", "one.png"),
    ]
    for number, page in enumerate(pages_of(11), 1):
        np.testing.assert_array_equal(mmpcodec.imread(f"book-{number:03}.mmp"), page)


def test_split_keeps_the_numbers_of_chosen_pages(mmp, book, files):
    result = mmp("encode", book, "--split", "--pages", "2,4-", "-O", "o", "--json")
    assert result.exit_code == 0
    assert sorted(os.listdir("o")) == ["book-002.mmp", "book-004.mmp", "book-005.mmp"]
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(row["input"], row["page"]) for row in rows] == [(book, n) for n in (2, 4, 5)]
    again = mmp("encode", book, "--split", "-O", "o", "--skip-existing")
    assert again.exit_code == 0
    assert "book.tif: page 2: skipped, o/book-002.mmp exists" in again.stderr
    assert len(os.listdir("o")) == 5


def test_split_names_a_damaged_page(mmp, files):
    damaged("bad.mmp", 3)
    result = mmp("encode", "bad.mmp", "--split", "-O", "o", "--preset", "plain")
    assert result.exit_code == 3
    assert re.search(r"mmp: bad.mmp: \w+ at byte \d+: page 3: ", result.stderr)
    assert sorted(os.listdir("o")) == [f"bad-00{n}.mmp" for n in (1, 2, 4, 5)]


def test_together_in_the_order_of_the_command_line(mmp, book):
    pages = pages_of(12)
    os.mkdir("scans")
    for number in (10, 2, 1):
        pictures.write(pages[number], f"scans/page{number}.png")
    pictures.write(pages[11], "last.png")
    options = ("--together", "-o", "all.mmp", "--lossless", "--preset", "plain")
    result = mmp("encode", "last.png", "scans", book, *options)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("last.png and 4 more -> all.mmp: 9 pages, ")
    assert_pages("all.mmp", [pages[11], pages[1], pages[2], pages[10], *pages_of(5)])


def test_together_names_what_a_folder_holds_besides(mmp):
    os.mkdir("scans")
    pictures.write(pages_of(1)[0], "scans/a.png")
    Path("scans/notes.txt").write_text("none")
    result = mmp("encode", "scans", "--together", "-o", "all.mmp", "--preset", "plain")
    assert result.exit_code == 3
    assert "1 file left out: 1 of no known format: scans/notes.txt" in result.stderr


def test_together_takes_a_file_once_and_needs_all(mmp, book):
    twice = mmp("encode", book, book, "--together", "-o", "all.mmp")
    assert (twice.exit_code, twice.stderr) == (2, "mmp: book.tif: comes twice\n")
    lost = mmp("encode", book, "no.tif", "--together", "-o", "all.mmp")
    assert (lost.exit_code, lost.stderr) == (1, "mmp: no.tif: No such file or directory\n")
    assert not os.path.exists("all.mmp")


def test_together_keeps_the_role_of_each_picture(run, book):
    frames = [Image.fromarray(page) for page in pages_of(2)]
    frames[0].save("a.gif", save_all=True, append_images=frames[1:], duration=50)
    options = ("--together", "-o", "all.mmp", "--preset", "plain")
    code, _, errors = run("encode", book, "a.gif", *options)
    assert (code, errors) == (0, "")
    pages = mmpcodec.open("all.mmp")
    assert [page.role for page in pages] == [*["page"] * (len(pages) - 2), "frame", "frame"]
    assert [page.duration for page in pages[-2:]] == [Fraction(1, 20)] * 2
    code, _, errors = run("encode", "all.mmp", "-o", "again.mmp", "--preset", "plain")
    assert (code, errors) == (0, "")
    again = mmpcodec.open("again.mmp")
    assert [page.role for page in again] == [page.role for page in pages]


def test_together_an_output_is_no_input(mmp, book):
    mmp("encode", book, "-o", "a.mmp", "--preset", "plain")
    result = mmp("encode", book, "a.mmp", "--together", "-o", "a.mmp", "-f")
    assert result.exit_code == 2
    assert "a.mmp: is an input, and would be overwritten" in result.stderr


@pytest.mark.parametrize(
    ("numbers", "advice"),
    [((3,), "--pages 1-2,4-5 leaves it out"), ((2, 3, 5), "--pages 1,4 leaves them out")],
)
@pytest.mark.parametrize(
    "where", [["-j", "1"], ["-j", "3"], ["--cluster", "local", "--workers", "1"]]
)
def test_damaged_pages_are_all_named_and_nothing_is_written(mmp, files, numbers, advice, where):
    if "--cluster" in where:
        pytest.importorskip("distributed")
    damaged("bad.mmp", *numbers)
    result = mmp("encode", "bad.mmp", "-o", "x.mmp", "--preset", "plain", *where)
    assert result.exit_code == 1
    (line,) = (line for line in result.stderr.splitlines() if "at byte" in line)
    assert line.endswith(f"; {advice}")
    for number in numbers:
        assert re.search(rf"bad.mmp: \w+ at byte \d+: page {number}: ", result.stderr)
    assert files() == ["bad.mmp"]
    option = advice.split()[1]
    assert mmp("encode", "bad.mmp", "--pages", option, "-o", "x.mmp").exit_code == 0
    assert len(mmpcodec.open("x.mmp")) == 5 - len(numbers)


def test_one_damaged_book_does_not_stop_the_others(mmp, book):
    damaged("bad.mmp", 3)
    result = mmp("encode", "bad.mmp", book, "-O", "o", "--preset", "plain")
    assert result.exit_code == 3
    assert os.listdir("o") == ["book.mmp"]


def test_equal_remarks_are_said_once_with_the_pages(run):
    with tifffile.TiffWriter("a.tif") as stream:
        for number, page in enumerate(pages_of(5)):
            tags = [] if number == 3 else [(40000, "s", 0, "private", False)]
            stream.write(page, photometric="minisblack", metadata=None, extratags=tags)
    code, out, errors = run("encode", "a.tif", "--preset", "plain", "--json")
    assert (code, errors) == (
        0,
        "mmp: a.tif: pages 1 to 3 and 5: has tags that are not read (tags 40000)\n",
    )
    assert json.loads(out)["left_out"] == ["other tags"]
    code, out, errors = run("encode", "a.tif", "--pages", "4-5", "--preset", "plain", "-f")
    assert errors == "mmp: a.tif: page 5: has tags that are not read (tags 40000)\n"


def test_strict_refuses_a_page(mmp):
    pages = pages_of(2)
    with tifffile.TiffWriter("a.tif") as stream:
        for number, page in enumerate(pages):
            tags = [(40000, "s", 0, "private", False)] if number else []
            stream.write(page, photometric="minisblack", metadata=None, extratags=tags)
    result = mmp("encode", "a.tif", "--preset", "plain", "--strict")
    assert result.exit_code == 1
    assert "mmp: a.tif: page 2: has " in result.stderr
    assert "strict reading refuses this" in result.stderr


def test_metadata_of_each_page_are_kept(mmp):
    pages = pages_of(3)
    with tifffile.TiffWriter("a.tif") as stream:
        for number, page in enumerate(pages):
            stream.write(
                page, photometric="minisblack", metadata=None, resolution=(100 + number, 100)
            )
    mmp("encode", "a.tif", "--preset", "plain", "--lossless")
    found = [page.metadata.resolution for page in mmpcodec.open("a.mmp")]
    wanted = [pictures.read("a.tif", page=number).metadata.resolution for number in (1, 2, 3)]
    assert found == wanted
    assert len(set(found)) == 3
    mmp("encode", "a.tif", "--preset", "plain", "--strip", "resolution", "-o", "b.mmp")
    assert {page.metadata.resolution for page in mmpcodec.open("b.mmp")} == {None}


def test_measurements_are_lossless_and_others_are_not(mmp):
    noise = np.random.default_rng(1).integers(0, 200, (2, 24, 40)).astype(np.uint8)
    np.save("a.npy", noise[0])
    pictures.write(noise[1], "b.png")
    mmp("encode", "a.npy", "b.png", "--together", "-o", "all.mmp")
    measured, other = mmpcodec.open("all.mmp")
    np.testing.assert_array_equal(measured[...], noise[0])
    assert (other[...] != noise[1]).any()


def test_a_target_holds_for_each_page(mmp, book):
    result = mmp("encode", book, "--target-psnr", 40, "--effort", 1, "--json")
    rows = json.loads(result.stdout)["pages"]
    # Pages without any error have no PSNR.
    assert all((row["psnr"] is None or row["psnr"] >= 40) and row["passes"] for row in rows)


def test_options_of_pictures_hold_for_each_page(mmp):
    noise = np.random.default_rng(2).integers(0, 4096, (3, 24, 80))
    deep = list(noise.astype(np.uint16))
    write_tiff("deep.tif", deep)
    mmp("encode", "deep.tif", "--depth", 12, "--tile", 64, "--max-error", 2, "--effort", 1)
    for page, wanted in zip(mmpcodec.open("deep.mmp"), deep, strict=True):
        assert page.depth == 12
        assert 0 < np.abs(page[...].astype(int) - wanted).max() <= 2
        assert len(page.header.tile_bytes) == 2


def test_an_error_of_a_page_names_it(mmp):
    first, second = pages_of(2)
    write_tiff("a.tif", [first // 2, second])
    result = mmp("encode", "a.tif", "--depth", 7, "--preset", "plain")
    assert result.exit_code == 1
    assert result.stderr.startswith("mmp: a.tif: page 2: depth = 7: ")


def test_regions_hold_for_each_page_if_they_are_rectangles(mmp, book):
    assert mmp("encode", book, "--roi", "4,4,16,16", "--quality", 30).exit_code == 0
    pictures.write(pages_of(1)[0], "mask.png")
    result = mmp("encode", book, "--roi", "mask.png", "--quality", 30, "-o", "b.mmp")
    assert result.exit_code == 1
    assert "--roi mask.png: has the regions of one picture, book.tif has 5; take" in result.stderr


def test_verification_is_of_each_page(mmp, book, files, monkeypatch):
    monkeypatch.setattr(mmpcodec, "decode", lambda data, **_: np.zeros((24, 40), np.uint8))
    result = mmp("encode", book, "--verify", "--preset", "plain")
    assert result.exit_code == 1
    assert "book.tif: page 1: verification failed, nothing was written: " in result.stderr
    assert files() == [book]


@pytest.fixture
def slow_book(folder):
    """The name of a TIFF whose pages take some tenths of a second each."""
    noise = np.random.default_rng(3).integers(0, 256, (12, 160, 200)).astype(np.uint8)
    write_tiff("slow.tif", list(noise))
    return "slow.tif"


SLOW = ("--effort", 3, "--quality", 90)


def wait_for_pages(child, bytes_at_least):
    """Wait until a run has written some pages to its partial file."""
    end = time.monotonic() + 50
    while time.monotonic() < end:
        parts = [name for name in os.listdir() if name.endswith(".part")]
        if parts and os.path.getsize(parts[0]) > bytes_at_least:
            return
        assert child.poll() is None
        time.sleep(0.02)
    raise AssertionError("no page was written")


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_that_was_killed_goes_on_with_the_same_bytes(process, run, slow_book, files, jobs):
    code, _, errors = run("encode", slow_book, *SLOW, "-o", "whole.mmp")
    assert (code, errors) == (0, "")
    whole = Path("whole.mmp").read_bytes()
    child = process("encode", slow_book, *SLOW, "-o", "a.mmp", "-j", jobs)
    wait_for_pages(child, len(whole) // 3)
    child.kill()
    child.wait(60)
    assert not os.path.exists("a.mmp")
    code, out, errors = run("encode", slow_book, *SLOW, "-o", "a.mmp", "--json")
    facts = json.loads(out)
    assert code == 0
    assert 2 <= facts["resumed"] < 12
    assert len(facts["pages"]) == 12 - facts["resumed"]
    assert errors == (
        f"mmp: slow.tif: goes on behind page {facts['resumed']} of 12, where an earlier run was "
        "ended\n"
    )
    assert Path("a.mmp").read_bytes() == whole
    assert files() == ["a.mmp", "slow.tif", "whole.mmp"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_was_interrupted_says_what_stays(process, run, slow_book, number):
    child = process("encode", slow_book, *SLOW, "-o", "a.mmp")
    wait_for_pages(child, 60000)
    child.send_signal(number)
    _, errors = child.communicate(timeout=60)
    assert b" of 12 pages stay in " in errors
    assert b"; the same command goes on behind them\n" in errors
    code, _, errors = run("encode", slow_book, *SLOW, "-o", "a.mmp")
    assert code == 0
    assert "goes on behind page" in errors


@pytest.mark.parametrize("change", ["options", "input"])
def test_another_input_or_other_options_begin_anew(process, run, slow_book, change):
    child = process("encode", slow_book, *SLOW, "-o", "a.mmp")
    wait_for_pages(child, 60000)
    child.kill()
    child.wait(60)
    options = ("--effort", 1) if change == "options" else SLOW
    if change == "input":
        os.utime(slow_book, (1, 1))
    code, _, errors = run("encode", slow_book, *options, "-o", "a.mmp")
    assert (code, errors) == (0, "")


def test_damage_in_the_partial_file_is_found(process, run, slow_book):
    run("encode", slow_book, *SLOW, "-o", "whole.mmp")
    child = process("encode", slow_book, *SLOW, "-o", "a.mmp")
    wait_for_pages(child, 60000)
    child.kill()
    child.wait(60)
    (part,) = [name for name in os.listdir() if name.endswith(".part")]
    with open(part, "ab") as stream:
        stream.write(bytes(1000))  # as after a power cut
    assert run("encode", slow_book, *SLOW, "-o", "a.mmp")[0] == 0
    assert Path("a.mmp").read_bytes() == Path("whole.mmp").read_bytes()


def test_two_runs_do_not_write_the_same_file(process, run, slow_book):
    child = process("encode", slow_book, *SLOW, "-o", "a.mmp")
    wait_for_pages(child, 10000)
    child.send_signal(signal.SIGSTOP)
    code, _, errors = run("encode", slow_book, *SLOW, "-o", "a.mmp")
    assert (code, errors) == (1, "mmp: a.mmp: another run writes it\n")
    child.send_signal(signal.SIGCONT)
    child.communicate(timeout=120)
    assert child.returncode == 0


SHOW_MEMORY = (
    "import atexit, sys; atexit.register(lambda: print([line.split()[1] for line in "
    "open('/proc/self/status') if line.startswith('VmHWM')][0], file=sys.stderr)); "
)


def most_memory(process, *arguments):
    """The largest resident memory of a run, in MB."""
    child = process(*arguments, before=SHOW_MEMORY)
    _, errors = child.communicate(timeout=600)
    assert child.returncode == 0
    return int(errors.splitlines()[-1]) / 1024


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_does_not_grow_with_the_pages_on_many_threads(process, monkeypatch):
    monkeypatch.setenv("MALLOC_ARENA_MAX", "128")  # as on 16 processors
    noise = np.random.default_rng(1).normal(0, 3, (2048, 2048))
    rows, columns = np.indices(noise.shape)
    pages = [
        128 + 60 * np.sin((columns + 7 * page) / 9) * np.cos(rows / 13) + np.roll(noise, page)
        for page in range(6)
    ]
    write_tiff("many.tif", [page.clip(0, 255).astype(np.uint8) for page in pages])
    options = ("--effort", 1, "-j", 2, "--threads", 16, "-f", "-o", "many.mmp")
    two = most_memory(process, "encode", "many.tif", "--pages", "1-2", *options)
    six = most_memory(process, "encode", "many.tif", *options)
    assert six < two + 80
    assert six < 350
