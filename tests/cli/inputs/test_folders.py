"""Folders as inputs: what is in them is known by content, and what is left out is named."""

import json
import os
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import mmpcodec
from mmpcodec import pictures
from mmpcodec.cli.inputs.folders import ANY_FILE, EMPTY, MMP_FILE, OWN, PICTURE, SYSTEM, UNKNOWN

APPLE_DOUBLE = b"\0\5\x16\7\0\2\0\0Mac OS X"
TAKEN = ["a.png", "b.jfif", "c.jpe", "d.jpf", "noext", "deep/e.bin"]


@pytest.fixture
def mixed(samples):
    """A folder of six pictures with usual and other names, and of files that are none."""
    kinds = {"b.jfif": "JPEG", "c.jpe": "JPEG", "d.jpf": "JPEG2000"}
    Path("in/deep").mkdir(parents=True)
    for name in TAKEN:
        Image.fromarray(samples).save(f"in/{name}", kinds.get(name, "PNG"))
    for name in (".DS_Store", "Thumbs.db", "desktop.ini", "deep/DICOMDIR"):
        Path("in", name).write_bytes(b"DICM")
    Path("in/._a.png").write_bytes(APPLE_DOUBLE)
    for name in (".thumbnails", "__MACOSX"):
        Path("in", name).mkdir()
        pictures.write(samples, f"in/{name}/f.png")
    Path("in/deep/c.mmp").write_bytes(mmpcodec.encode(samples, 0, preset="plain"))
    return "in"


def rows_of(result):
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.parametrize(
    "command",
    [
        ["encode", "--preset", "plain"],
        ["median", "-r", "1"],
        ["highlight"],
        ["budget", "--total", "90kB", "-l", "32", "--preset", "plain"],
    ],
)
def test_pictures_are_known_by_content(mmp, mixed, command):
    result = mmp(*command, mixed, "-O", "out", "--json")
    assert result.exit_code == 0
    written = {path.name.partition(".")[0] for path in Path("out").rglob("*.*")}
    assert written - {"c"} == {"a", "b", "d", "noext", "e"}  # c.jpe, and for some c.mmp
    assert "c" in written
    assert "7 system or hidden" in result.stderr


def test_files_of_no_known_format_are_named_and_change_the_exit_code(mmp, mixed):
    Path("in/notes.txt").write_text("not a picture")
    Path("in/deep/blob").write_bytes(bytes(range(200)))
    Path("in/nothing").touch()
    os.mkfifo("in/pipe")
    result = mmp("encode", mixed, "-O", "out", "--preset", "plain", "--json")
    assert result.exit_code == 3
    assert result.stderr == (
        "mmp: 11 files left out: 1 empty: in/nothing; 1 no regular file: in/pipe; "
        "2 of no known format: in/deep/blob, in/notes.txt; 7 system or hidden\n"
    )
    reasons = {row["input"]: row["ignored"] for row in rows_of(result) if "ignored" in row}
    assert reasons["in/notes.txt"] == "of no known format"
    assert reasons["in/.thumbnails"] == "system or hidden"
    assert len(reasons) == 11
    quiet = mmp("encode", mixed, "-O", "more", "--preset", "plain", "--quiet")
    assert quiet.stderr == result.stderr  # what fails is printed with --quiet, too


def test_many_names_are_cut(mmp, mixed):
    for number in range(12):
        Path(f"in/{number:02}.txt").write_text("text")
    result = mmp("encode", mixed, "-O", "out", "--preset", "plain")
    assert "12 of no known format: in/00.txt, " in result.stderr
    assert "in/09.txt and 2 more; 7 system" in result.stderr


def test_decode_takes_mmp_files_by_content(mmp, mixed, samples):
    Path("in/other").write_bytes(mmpcodec.encode(samples, 0, preset="plain"))
    result = mmp("decode", mixed, "-O", "out", "--format", "pgm", "--json")
    assert result.exit_code == 0
    assert sorted(row["output"] for row in rows_of(result) if "output" in row) == [
        "out/deep/c.pgm",
        "out/other.pgm",
    ]
    assert "2 JPEG; 1 JPEG 2000; 3 PNG; 7 system or hidden" in result.stderr


def test_a_suffix_that_promises_a_picture_fails_by_name(mmp, mixed):
    Path("in/bad.png").write_bytes(b"text")
    result = mmp("encode", mixed, "-O", "out", "--preset", "plain")
    assert result.exit_code == 3
    assert result.stderr.startswith("mmp: in/bad.png: is not a picture file")


def test_a_link_to_a_file_counts_by_its_content(mmp, mixed):
    Path("secret").write_text("text")
    os.symlink("../secret", "in/link.png")
    result = mmp("encode", mixed, "-O", "out", "--preset", "plain")
    assert result.exit_code == 3
    assert "1 of no known format: in/link.png" in result.stderr


def test_compare_tells_what_it_leaves_out(mmp, mixed):
    assert mmp("median", "-r", "1", "in/a.png", "-O", "out").exit_code == 0
    os.rename("out/a.png.median.png", "out/a.png")
    Path("out/notes.txt").write_text("text")
    result = mmp("compare", "out", "in")
    assert result.exit_code == 3
    assert "1 of no known format: out/notes.txt; 7 system or hidden" in result.stderr


def test_commands_that_need_all_inputs_tell_what_they_leave_out(mmp, mixed):
    Path("in/notes.txt").write_text("text")
    result = mmp("budget", mixed, "-O", "out", "--total", "90kB", "-l", "32", "--preset", "plain")
    assert result.exit_code == 3
    assert "8 files left out: 1 of no known format: in/notes.txt; 7 system or hidden" in (
        result.stderr
    )
    assert Path("out/noext.mmp").exists()


def test_zarr_stores_are_whole(mmp, samples):
    """The files of a store are no files of no known format."""
    zarr = pytest.importorskip("zarr")
    Path("in").mkdir()
    pictures.write(samples, "in/a.png")
    zarr.save("in/b.zarr", np.asarray(samples))
    result = mmp("median", "in", "-r", "1", "-O", "out")
    assert (result.exit_code, result.stderr) == (
        3,
        "mmp: 1 file left out: 1 zarr store: in/b.zarr\n",
    )


def test_a_folder_without_output_folder_says_where_files_go(mmp, mixed):
    result = mmp("encode", mixed, "--preset", "plain")
    assert result.stderr.splitlines()[0] == (
        "mmp: in: 6 pictures, each becomes an mmp file beside it; -O DIR writes them elsewhere"
    )


def test_names_of_urls_decide():
    reasons = {
        name: PICTURE.without(".mmp").at_url(name)
        for name in (
            "a.PNG",
            "b.jfif",
            "deep/.DS_Store",
            ".git/x.png",
            "a.mmp",
            "noext",
            "x.zarr/0",
        )
    }
    assert reasons.pop("noext").what == "of no known suffix"
    assert reasons.pop("x.zarr/0").what == "in a zarr store"
    assert reasons == {
        "a.PNG": None,
        "b.jfif": None,
        "deep/.DS_Store": SYSTEM,
        ".git/x.png": SYSTEM,
        "a.mmp": OWN,
    }
    assert MMP_FILE.at_url("a.png").counts is False


def test_reasons(folder):
    Path("a.mmp").write_bytes(b"any")
    Path("empty").touch()
    Path("text").write_text("text")
    buffer = BytesIO()
    Image.new("L", (3, 3)).save(buffer, "GIF")
    Path("gif").write_bytes(buffer.getvalue())
    reasons = [PICTURE.of_file(name) for name in ("a.mmp", "empty", "text", "gif", "missing")]
    assert reasons == [None, EMPTY, UNKNOWN, None, None]
    assert PICTURE.without(".mmp").of_file("a.mmp") is OWN
    assert MMP_FILE.of_file("gif") == ("GIF", False)
    assert ANY_FILE.of_file(".hidden") is None


@pytest.mark.parametrize("command", ["encode", "budget"])
def test_inputs_of_one_name(mmp, samples, command):
    for name in ("IMG_1.png", "IMG_1.pgm", "IMG_2.png"):
        pictures.write(samples, name)
    names = sorted(map(str, Path().glob("IMG*")))
    more = ["--total", "90kB", "-l", "32"] if command == "budget" else ["-q"]
    result = mmp(command, *names, "--preset", "plain", *more)
    message = (
        "mmp: IMG_1.pgm: its output IMG_1.mmp is also that of IMG_1.png; "
        "--append-suffix gives each its own"
    )
    assert result.stderr.splitlines()[0] == message
    assert Path("IMG_2.mmp").exists() is (command == "encode")
    assert result.exit_code == (3 if command == "encode" else 1)
    assert not Path("IMG_1.mmp").exists()
    result = mmp(command, *names, "--preset", "plain", *more, "--append-suffix", "-O", "out")
    assert result.exit_code == 0
    assert sorted(map(str, Path("out").iterdir())) == [f"out/{name}.mmp" for name in names]


def test_decoded_files_of_one_name(mmp, samples):
    data = mmpcodec.encode(samples, 0, preset="plain")
    for name in ("a.mmp", "a.other", "b.mmp"):
        Path(name).write_bytes(data)
    result = mmp("decode", "a.mmp", "a.other", "b.mmp")
    assert result.exit_code == 3
    assert "a.other: its output a.png is also that of a.mmp" in result.stderr
    assert Path("b.png").exists()
    assert not Path("a.png").exists()
    assert mmp("decode", "a.mmp", "a.other", "--append-suffix").exit_code == 0
    assert Path("a.other.png").exists()


def test_an_output_that_is_an_input_stops_no_other(mmp, samples):
    for name in ("a.png", "b.png"):
        pictures.write(samples, name)
    os.symlink("b.png", "a.mmp")
    result = mmp("encode", "a.png", "b.png", "--preset", "plain", "-f")
    assert (result.exit_code, result.stderr.splitlines()[0]) == (
        3,
        "mmp: a.mmp: is an input, and would be overwritten",
    )
    assert Path("b.mmp").exists()


@pytest.mark.parametrize("output", [["-o", "out.mmp"], ["-O", "out"]])
def test_a_named_output_is_not_said_to_lie_beside_the_input(mmp, samples, output):
    Path("in").mkdir()
    pictures.write(samples, "in/a.png")
    assert mmp("encode", "in", "--preset", "plain", *output).stderr == ""
