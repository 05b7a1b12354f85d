"""Batches: folders as inputs, folders of outputs, outputs that exist, and what is said of them."""

import json
import os
from pathlib import Path

import pytest

import mmpcodec
from mmpcodec import ParameterError, pictures
from mmpcodec.cli.inputs.folders import ANY_FILE, PICTURE
from mmpcodec.cli.jobs import Existing, Job, inputs_of


@pytest.fixture
def tree(samples):
    """A folder of two pictures and an mmp file, one of them in a subfolder."""
    Path("in/deep").mkdir(parents=True)
    pictures.write(samples, "in/a.PNG")
    pictures.write(255 - samples, "in/deep/b.pgm")
    Path("in/deep/c.mmp").write_bytes(mmpcodec.encode(samples, 0, preset="plain"))
    Path("in/Thumbs.db").write_text("not a picture")
    return "in"


def below(folder):
    return sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*.*"))


def rows_of(result):
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.parametrize(
    ("command", "outputs"),
    [
        (["encode", "--preset", "plain"], ["a.mmp", "deep/b.mmp"]),
        (["decode"], ["deep/c.png"]),
        (["median", "-r", "1"], [f"{n}.median.png" for n in ("a.PNG", "deep/b.pgm", "deep/c.mmp")]),
        (["highlight"], [f"{n}.regions.png" for n in ("a.PNG", "deep/b.pgm", "deep/c.mmp")]),
        (["budget", "--total", "9kB", "-l", "32", "--preset", "plain"], ["a.mmp", "deep/b.mmp"]),
    ],
)
def test_folders_are_mirrored_in_a_new_folder(mmp, tree, command, outputs):
    result = mmp(*command, tree, "-O", "new/out")
    assert result.exit_code == 0
    assert below("new/out") == sorted(outputs)


@pytest.mark.parametrize(
    "command",
    [["encode", "--preset", "plain"], ["median", "-r", "1"], ["highlight"]],
)
def test_what_a_command_has_written_is_no_input_of_its_next_call(mmp, tree, command):
    assert mmp(*command, tree).exit_code == 0
    before = below(".")
    result = mmp(*command, tree, "--skip-existing", "--json")
    assert result.exit_code == 0
    assert all(row.get("skipped") or row["ignored"] for row in rows_of(result))
    assert below(".") == before


@pytest.mark.parametrize("command", ["encode", "decode", "median", "highlight", "info", "budget"])
def test_a_folder_without_inputs(mmp, command):
    Path("empty/deep").mkdir(parents=True)
    more = {"median": ["-r", "1"], "budget": ["--total", "9kB"]}.get(command, [])
    result = mmp(command, "empty", *more)
    what = "mmp file" if command in ("decode", "info") else "picture"
    assert result.exit_code == 1
    assert result.stderr == f"mmp: empty: holds no {what}, nor any other file\n"


def test_sweep_of_folders(mmp, tree):
    Path("in/bad.png").write_bytes(b"bad")
    arguments = ["--codec", "mmp:preset=plain", "--peers", "none", "-l", "32", "--out", "out"]
    result = mmp("sweep", tree, *arguments, "--json", "--quiet")
    assert result.exit_code == 3
    assert result.stderr.startswith("mmp: in/bad.png: is not a picture file")
    rows = [json.loads(line) for line in Path("out/results.jsonl").read_text().splitlines()]
    assert [row["name"] for row in rows] == ["a.PNG", "b.pgm"]


def test_info_of_folders(mmp, tree):
    result = mmp("info", tree, "--json")
    assert result.exit_code == 0  # pictures beside mmp files are no loss
    assert [(row["input"], row.get("ignored")) for row in rows_of(result)] == [
        ("in/deep/c.mmp", None),
        ("in/Thumbs.db", "system or hidden"),
        ("in/a.PNG", "PNG"),
        ("in/deep/b.pgm", "PGM"),
    ]


def test_folders_beside_files(mmp, tree, picture):
    result = mmp("encode", picture, tree, "-O", "out", "--preset", "plain")
    advice = "--append-suffix gives each its own"
    assert (result.exit_code, result.stderr.splitlines()) == (
        3,
        [
            f"mmp: a.png: its output out/a.mmp is also that of in/a.PNG; {advice}",
            f"mmp: in/a.PNG: its output out/a.mmp is also that of a.png; {advice}",
            "mmp: 1 file left out: 1 system or hidden",
            "mmp: 2 of 3 inputs failed",
        ],
    )
    assert below("out") == ["deep/b.mmp"]
    result = mmp("encode", picture, tree, "--preset", "plain", "--json")
    outputs = [row["output"] for row in rows_of(result) if "output" in row]
    assert outputs == ["a.mmp", "in/a.mmp", "in/deep/b.mmp"]


def test_a_file_that_comes_twice(mmp, tree):
    result = mmp("encode", tree, "in/deep/b.pgm", "--preset", "plain", "--json")
    assert result.exit_code == 0
    assert [row.get("skipped") for row in rows_of(result)][-2:] == ["comes twice", None]
    assert below("in") == ["Thumbs.db", "a.PNG", "a.mmp", "deep/b.mmp", "deep/b.pgm", "deep/c.mmp"]
    result = mmp("budget", tree, "./in/deep/b.pgm", "-O", "out", "--total", "9kB")
    assert (result.exit_code, result.stderr) == (
        2,
        "mmp: ./in/deep/b.pgm: comes twice, also as in/deep/b.pgm\n",
    )
    assert not Path("out").exists()


def test_links(mmp, tree):
    os.symlink("..", "in/deep/up")
    os.symlink("a.PNG", "in/link.png")
    os.symlink("gone.png", "in/lost.png")
    os.symlink("self.png", "in/self.png")
    result = mmp("encode", tree, "-O", "out", "--preset", "plain")
    assert below("out") == ["a.mmp", "deep/b.mmp", "link.mmp"]
    assert (result.exit_code, result.stderr.splitlines()) == (
        3,
        [
            "mmp: in/deep/up: skipped, is a link into in, which is searched anyway",
            "mmp: in/lost.png: No such file or directory",
            "mmp: in/self.png: Too many levels of symbolic links",
            "mmp: 1 file left out: 1 system or hidden",
            "mmp: 2 of 6 inputs failed, 1 skipped",
        ],
    )


def test_a_link_to_a_folder_elsewhere_is_not_followed(mmp, tree, samples):
    """A link to / would read all files of the machine."""
    Path("elsewhere").mkdir()
    pictures.write(samples, "elsewhere/other.png")
    os.symlink("../elsewhere", "in/link")
    os.symlink("deep", "in/same")
    result = mmp("encode", tree, "-O", "out", "--preset", "plain")
    assert below("out") == ["a.mmp", "deep/b.mmp"]
    assert (result.exit_code, result.stderr.splitlines()) == (
        3,
        [
            "mmp: in/same: skipped, is a link into in, which is searched anyway",
            "mmp: 2 files left out: 1 link to a folder elsewhere, which is an input only if it is "
            "named: in/link; 1 system or hidden",
            "mmp: 1 of 3 inputs skipped",
        ],
    )
    assert mmp("encode", "in/link", "-O", "out", "--preset", "plain").exit_code == 0
    assert below("out") == ["a.mmp", "deep/b.mmp", "other.mmp"]


def test_pipes_in_folders_are_not_read(mmp, tree):
    os.mkfifo("in/pipe.png")
    result = mmp("encode", tree, "-O", "out", "--preset", "plain")
    assert (result.exit_code, result.stderr.splitlines()[0]) == (
        3,
        "mmp: in/pipe.png: is no regular file",
    )


def test_unreadable_folders(mmp, tree, monkeypatch):
    scan = os.scandir

    def refuse(path):
        if str(path).endswith("deep"):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    result = mmp("encode", tree, "-O", "out", "--json")
    assert (result.exit_code, result.stderr.splitlines()) == (
        3,
        [
            "mmp: in/deep: Permission denied",
            "mmp: 1 file left out: 1 system or hidden",
            "mmp: 1 of 2 inputs failed",
        ],
    )
    assert rows_of(result)[1] == {
        "input": "in/deep",
        "output": None,
        "error": "in/deep: Permission denied",
    }
    result = mmp("encode", "in/deep")
    assert (result.exit_code, result.stderr) == (1, "mmp: in/deep: Permission denied\n")
    for command in (["pack", "--volume", "9MB"], ["budget", "--total", "9kB", "--dry-run"]):
        result = mmp(*command, tree)
        assert (result.exit_code, result.stderr) == (1, "mmp: in/deep: Permission denied\n")


def test_kinds():
    jobs = [PICTURE.holds(name) for name in ("a.PNG", "a.mmp", "a.txt", "png")]
    assert jobs == [True, True, False, False]
    assert not PICTURE.without(".mmp").holds("a.MMP")
    assert ANY_FILE.holds("a.txt")


def test_files_may_be_of_any_kind(folder):
    assert inputs_of(["a.txt", "-"], PICTURE) == [
        Job("a.txt", below="a.txt"),
        Job("-", below="-"),
    ]


@pytest.mark.parametrize(
    ("command", "suffix"),
    [("encode", ".mmp"), ("median", ".png.median.png"), ("highlight", ".png.regions.png")],
)
def test_skip_existing_and_update(mmp, samples, command, suffix):
    for name in "abc":
        pictures.write(samples, f"{name}.png")
        os.utime(f"{name}.png", (1000, 1000))
    Path(f"a{suffix}").write_bytes(b"older")
    os.utime(f"a{suffix}", (999, 999))
    Path(f"b{suffix}").write_bytes(b"as old")
    os.utime(f"b{suffix}", (1000, 1000))
    more = ["-r", "1"] if command == "median" else []

    def run(option):
        result = mmp(command, "a.png", "b.png", "c.png", *more, option, "--json")
        note = "mmp: pictures: "
        errors = [line for line in result.stderr.splitlines() if not line.startswith(note)]
        return result.exit_code, rows_of(result), errors

    code, rows, errors = run("--skip-existing")
    assert (code, len(rows)) == (0, 3)
    assert rows[0]["output"] == f"c{suffix}"
    assert rows[1:] == [
        {"input": f"{name}.png", "output": f"{name}{suffix}", "skipped": f"{name}{suffix} exists"}
        for name in "ab"
    ]
    assert errors == [
        f"mmp: a.png: skipped, a{suffix} exists",
        f"mmp: b.png: skipped, b{suffix} exists",
        "mmp: 2 of 3 inputs skipped",
    ]
    assert Path(f"a{suffix}").read_bytes() == b"older"
    code, rows, errors = run("--update")
    assert code == 0
    assert [row["output"] for row in rows if "skipped" not in row] == [f"a{suffix}"]
    assert errors == [
        f"mmp: b.png: skipped, b{suffix} is up to date",
        f"mmp: c.png: skipped, c{suffix} is up to date",
        "mmp: 2 of 3 inputs skipped",
    ]
    assert Path(f"a{suffix}").read_bytes() == Path(f"c{suffix}").read_bytes()
    assert Path(f"b{suffix}").read_bytes() == b"as old"


def test_decode_updates(mmp, encoded):
    assert mmp("decode", encoded, "--update").exit_code == 0
    written = Path("a.png").read_bytes()
    os.utime("a.png", (1000, 1000))
    Path("a.png").write_bytes(b"")
    os.utime("a.png", (1000, 1000))
    assert mmp("decode", encoded, "--update", "-q").exit_code == 0
    assert Path("a.png").read_bytes() == written


def test_quiet_names_no_skipped_inputs(mmp, picture):
    Path("a.mmp").write_bytes(b"mine")
    result = mmp("encode", picture, "--skip-existing", "--quiet", "--json")
    assert (result.exit_code, result.output) == (0, "")
    result = mmp("encode", picture, "--skip-existing")
    assert (result.exit_code, result.stderr) == (0, "mmp: a.png: skipped, a.mmp exists\n")


def test_nothing_is_encoded_in_groups_that_is_skipped(mmp, picture, samples, monkeypatch):
    """Files in groups are encoded when the first of them is asked for."""
    from mmpcodec.backends.cpu import CpuBackend

    monkeypatch.setattr(CpuBackend, "batches", True)
    pictures.write(samples, "b.png")
    Path("a.mmp").write_bytes(b"mine")
    assert mmp("encode", picture, "b.png", "--skip-existing", "--preset", "plain").exit_code == 0
    assert mmpcodec.inspect(Path("b.mmp").read_bytes()).header.width == 20


def test_an_interrupt_lists_what_has_failed(mmp, picture, monkeypatch):
    Path("bad.png").write_bytes(b"bad")

    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(mmpcodec, "encode_pictures", interrupt)
    result = mmp("encode", "bad.png", picture)
    assert result.exit_code == 130
    first, last = result.stderr.splitlines()
    assert first.startswith("mmp: bad.png: is not a picture file")
    assert last == "mmp: interrupted"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["encode", "a.png", "-f", "--update"], "--force and --update: give only one of them"),
        (
            ["decode", "a.mmp", "--skip-existing", "--update"],
            "--skip-existing and --update: give only one of them",
        ),
        (
            ["highlight", "a.png", "--update", "--csv", "r.csv"],
            "--update and --csv: give only one of them",
        ),
        (
            ["highlight", "a.png", "--skip-existing", "--sheet", "s.png"],
            "--skip-existing and --sheet: give only one of them",
        ),
        (
            ["encode", "-", "-o", "there.mmp", "--update"],
            "--update: stdin has no time of modification",
        ),
    ],
)
def test_contradictions(mmp, picture, arguments, message):
    Path("there.mmp").write_bytes(b"mine")
    result = mmp(*arguments)
    assert (result.exit_code, result.stderr) == (2, f"mmp: {message}\n")


def test_existing():
    assert Existing.of(False, False, False) is Existing.REFUSE
    assert Existing.of(True, False, False) is Existing.REPLACE
    with pytest.raises(ParameterError, match="--skip-existing and --update"):
        Existing.of(False, True, True)


def test_a_folder_is_made_only_for_a_file(mmp, picture):
    Path("bad.png").write_bytes(b"bad")
    assert mmp("encode", "bad.png", "-O", "out/deep").exit_code == 1
    assert not Path("out").exists()
    result = mmp("encode", picture, "-o", "out/a.mmp")
    assert (result.exit_code, result.stderr) == (1, "mmp: out: is no such folder\n")


def test_pack_makes_its_folder(mmp, tree):
    result = mmp("pack", tree, "--volume", "9MB", "--copy-to", "new/disc")
    assert result.exit_code == 0
    assert below("new/disc") == ["Thumbs.db", "a.PNG", "deep/b.pgm", "deep/c.mmp"]
