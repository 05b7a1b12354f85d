"""``mmp pack``."""

import json
import os
import shutil
import stat
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from mmpcodec import backends
from mmpcodec.errors import FileError
from mmpcodec.planning import media

SIZES = {"a": 5, "b": 4, "c": 4, "d": 3, "e": 2, "f": 2}


@pytest.fixture
def some(folder):
    """Names of six files of some sizes."""
    for name, size in SIZES.items():
        Path(name).write_bytes(name.encode() * size)
    return list(SIZES)


def pack(mmp, *arguments, sector=1):
    result = mmp("pack", *arguments, "--sector", sector, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def names(found):
    return [[one["name"] for one in volume["files"]] for volume in found["volumes"]]


def test_fullest_volume(mmp, some, files):
    before = files()
    found = pack(mmp, *some, "--volume", 19)
    volume = found["volumes"][0]
    assert (volume["bytes"], volume["used"], volume["left"]) == (18, 18, 1)
    found = pack(mmp, *some, "--volume", "0.001kB")
    assert names(found) == [[]]
    assert len(found["left_out"]) == 0
    assert [one["name"] for one in found["too_large"]] == list("abcdef")
    assert files() == before


def test_what_json_holds(mmp, some):
    found = pack(mmp, *some, "--volume", 4)
    assert found.keys() == {"sector", "volumes", "left_out", "too_large"}
    volume = found["volumes"][0]
    assert volume.keys() == {
        "number", "capacity", "bytes", "used", "left", "value", "proven", "backend", "folder",
        "files",
    }  # fmt: skip
    assert (volume["number"], volume["capacity"], volume["proven"]) == (1, 4, True)
    assert (volume["value"], volume["folder"]) == (None, None)
    assert volume["files"] == [{"file": "b", "name": "b", "bytes": 4, "value": None}]
    assert [one["file"] for one in found["too_large"]] == ["a"]
    assert [one["file"] for one in found["left_out"]] == ["c", "d", "e", "f"]


def test_what_people_read(mmp, some):
    result = mmp("pack", *some, "--volume", 4, "--sector", 1)
    assert result.stdout.splitlines() == [
        "volume 1: 1 file, 4 of 4 bytes, 0 left",
        "  b: 4 bytes",
        "left out: 4",
        "  c: 4 bytes",
        "  d: 3 bytes",
        "  e: 2 bytes",
        "  f: 2 bytes",
        "too large for any volume: 1",
        "  a: 5 bytes",
    ]
    Path("v.csv").write_text("".join(f"{name},1.5\n" for name in some) + "other,1\n")
    result = mmp("pack", *some, "--volume", 4, "--sector", 1, "--value", "v.csv")
    assert result.stdout.startswith("volume 1: 2 files, 4 of 4 bytes, 0 left, value 3\n  e: 2 byt")
    assert result.stderr == "mmp: v.csv: 1 of the names match no input, such as 'other'\n"
    assert mmp("pack", *some, "--volume", 4, "--quiet").stdout == ""


def test_a_file_takes_whole_sectors(mmp, folder):
    Path("a").write_bytes(bytes(2049))
    Path("b").write_bytes(bytes(2048))
    found = pack(mmp, "a", "b", "--volume", 6143, sector=2048)
    assert names(found) == [["a"]]
    assert (found["volumes"][0]["used"], found["volumes"][0]["bytes"]) == (4096, 2049)
    result = mmp("pack", "a", "b", "--volume", "6KiB", "--json")
    assert json.loads(result.stdout)["volumes"][0]["left"] == 0


def test_the_most_value(mmp, folder):
    for name, size in {"a": 6, "b": 5, "c": 5}.items():
        Path(name).write_bytes(bytes(size))
    Path("v.csv").write_text("name,value\na,0.7\nb,0.5\nc,0.5\n")
    found = pack(mmp, "a", "b", "c", "--volume", 10, "--value", "v.csv")
    assert names(found) == [["b", "c"]]
    assert found["volumes"][0]["value"] == 1.0
    assert found["left_out"] == [{"file": "a", "name": "a", "bytes": 6, "value": 0.7}]


def test_several_volumes(mmp, some):
    found = pack(mmp, *some, "--volume", 10, "--volume", 9)
    assert found["volumes"][0]["used"] == 10
    assert 0 < found["volumes"][1]["used"] <= 9
    assert [volume["number"] for volume in found["volumes"]] == [1, 2]
    placed = [name for volume in names(found) for name in volume]
    assert len(placed) == len(set(placed))
    assert pack(mmp, *some, "--volume", 10, "--volumes", 2)["left_out"] == []


def test_as_many_volumes_as_it_takes(mmp, some):
    found = pack(mmp, *some, "--volume", 6, "--volumes", "all")
    assert found["left_out"] == []
    assert sorted(name for volume in names(found) for name in volume) == some
    result = mmp("pack", *some, "--volume", 4, "--volumes", "all", "--sector", 1)
    assert result.exit_code == 3
    assert result.stdout.endswith("too large for any volume: 1\n  a: 5 bytes\n")


def test_copies(mmp, some):
    os.mkdir("disc")
    os.utime("b", (1, 1))
    found = pack(mmp, *some, "--volume", 4, "--copy-to", "disc")
    assert found["volumes"][0]["folder"] == "disc"
    assert os.listdir("disc") == ["b"]
    assert Path("disc/b").read_bytes() == b"bbbb"
    assert Path("disc/b").stat().st_mtime == 1
    result = mmp("pack", *some, "--volume", 4, "--sector", 1, "--copy-to", "disc")
    assert (result.exit_code, result.stderr) == (1, "mmp: disc/b: exists; -f overwrites it\n")
    Path("disc/b").write_text("old")
    pack(mmp, *some, "--volume", 4, "--copy-to", "disc", "-f")
    assert Path("disc/b").read_bytes() == b"bbbb"


@pytest.mark.skipif(sys.platform == "win32", reason="rights are those of POSIX")
def test_copies_have_no_wider_rights(mmp, some, monkeypatch):
    os.mkdir("disc")
    seen = []
    copied = shutil.copyfileobj

    def spied(source, target, *rest):
        seen.append(stat.S_IMODE(os.fstat(target.fileno()).st_mode))
        copied(source, target, *rest)

    monkeypatch.setattr(shutil, "_USE_CP_SENDFILE", False, raising=False)
    monkeypatch.setattr(shutil, "copyfileobj", spied)
    for of_source, of_old, of_copy in ((0o644, None, 0o644), (0o644, 0o600, 0o600)):
        os.chmod("b", of_source)
        if of_old is not None:
            os.chmod("disc/b", of_old)
        pack(mmp, *some, "--volume", 4, "--copy-to", "disc", "-f")
        assert stat.S_IMODE(os.stat("disc/b").st_mode) == of_copy
    assert set(seen) == {0o600}


def test_copies_on_several_volumes(mmp, some):
    os.mkdir("discs")
    found = pack(mmp, *some, "--volume", 10, "--volumes", 2, "--copy-to", "discs")
    assert sorted(os.listdir("discs")) == ["1", "2"]
    for volume in found["volumes"]:
        assert volume["folder"] == f"discs/{volume['number']}"
        contents = {path.name: path.read_bytes() for path in Path(volume["folder"]).iterdir()}
        assert contents == {one["name"]: Path(one["file"]).read_bytes() for one in volume["files"]}
        assert sum(map(len, contents.values())) == volume["bytes"] <= 10


def test_nothing_is_copied_where_one_copy_exists(mmp, some):
    os.makedirs("discs/2")
    for name in some:
        Path("discs/2", name).write_text("old")
    result = mmp("pack", *some, "--volume", 10, "--volumes", 2, "--sector", 1, "--copy-to", "discs")
    assert result.exit_code == 1
    assert os.listdir("discs") == ["2"]


def test_copies_that_cannot_be(mmp, some, monkeypatch):
    arguments = ["pack", *some, "--volume", 4, "--sector", 1]
    result = mmp(*arguments, "--copy-to", "a/none")
    assert (result.exit_code, result.stderr) == (1, "mmp: a: is not a folder\n")
    result = mmp(*arguments, "--copy-to", "a")
    assert (result.exit_code, result.stderr) == (1, "mmp: a: is not a folder\n")
    result = mmp(*arguments, "--copy-to", ".", "-f")
    assert (result.exit_code, result.stderr) == (
        2,
        "mmp: ./b: is an input, and would be overwritten\n",
    )
    os.mkdir("disc")
    os.mkdir("disc/b")
    result = mmp(*arguments, "--copy-to", "disc", "-f")
    assert (result.exit_code, result.stderr) == (1, "mmp: disc/b: is a folder\n")
    os.rmdir("disc/b")
    usage = shutil.disk_usage(".")._replace(free=3)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    result = mmp(*arguments, "--copy-to", "disc")
    assert result.stderr == "mmp: disc: has 3 bytes free, the copies need 4\n"
    assert os.listdir("disc") == []


def test_a_file_that_grew_is_not_copied(some):
    os.mkdir("disc")
    with pytest.raises(FileError, match="b: has no longer 3 bytes"):
        media.copy([(media.Entry("b", "b", 3), "disc/b")], False)
    assert os.listdir("disc") == []


def refusing(path):
    """An ``open`` that may not read a file, whoever asks."""

    def refuse(name, *more):
        if name == path:
            raise PermissionError(13, "Permission denied", name)
        return open(name, *more)

    return refuse


def test_nothing_is_copied_where_one_copy_could_not_be(mmp, some, monkeypatch):
    arguments = ["pack", *some, "--volume", 10, "--volumes", 2, "--sector", 1]
    arguments += ["--copy-to", "disc", "--list", "l.txt"]
    os.mkdir("disc")

    def check(says):
        result = mmp(*arguments)
        assert (result.exit_code, result.stderr) == (1, f"mmp: {says}\n")
        assert not list(Path(".").glob("l.*"))
        assert [path.name for path in Path("disc").rglob("*")] in ([], ["2"])

    with monkeypatch.context() as patch:
        patch.setattr(media, "open", refusing("a"), raising=False)
        check("a: Permission denied")
    Path("disc/2").write_text("in the way")
    check("disc/2: is not a folder")
    os.unlink("disc/2")
    os.mkdir("disc/2")
    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda path, mode: path != "disc/2")
        check("disc/2: is not writable")
    # What goes wrong later leaves nothing either.
    with monkeypatch.context() as patch:
        patch.setattr(os.path, "getsize", lambda path, real=os.path.getsize: real(path) // 4)
        result = mmp(*arguments)
        assert "has no longer" in result.stderr
    assert [path.name for path in Path("disc").rglob("*")] == ["2"]
    assert not list(Path(".").glob("l.*"))


def test_folders_on_a_volume_that_cannot_be_made(mmp, folder):
    os.makedirs("in/sub")
    Path("in/sub/b").write_bytes(b"1")
    os.mkdir("disc")
    Path("disc/sub").write_text("in the way")
    result = mmp("pack", "in", "--volume", 10, "--sector", 1, "--copy-to", "disc", "-f")
    assert (result.exit_code, result.stderr) == (1, "mmp: disc/sub: is not a folder\n")
    Path("sub").write_text("a file")
    result = mmp("pack", "in", "sub", "--volume", 10, "--sector", 1)
    assert (result.exit_code, result.stderr) == (
        2,
        "mmp: sub and in/sub/b: sub would be a file and a folder on a volume\n",
    )


def test_errors_of_copies_name_the_file_that_they_are_about(some, monkeypatch):
    with pytest.raises(FileError, match=r"^none: No such file or directory$"):
        media.copy([(media.Entry("none", "none", 3), "none.copy")], False)
    Path("file").write_text("in the way")
    with pytest.raises(FileError, match=r"^file: File exists$"):
        media.copy([(media.Entry("b", "b", 4), "file/sub/b")], False)
    full = OSError(28, "No space left on device", "b", None, "void")
    monkeypatch.setattr(shutil, "copyfile", Mock(side_effect=full))
    with pytest.raises(FileError, match=r"^b -> void/b: No space left on device$"):
        media.copy([(media.Entry("b", "b", 4), "void/b")], False)
    assert not os.path.exists("void")


@pytest.mark.parametrize("name", ["disc", "disc/b", "disc/../disc/b", "disc/sub"])
def test_lists_and_copies_do_not_write_the_same(mmp, folder, name):
    os.makedirs("in/sub")
    Path("in/b").write_bytes(b"1")
    Path("in/sub/c").write_bytes(b"1")
    os.mkdir("disc")
    result = mmp("pack", "in", "--volume", 9, "--sector", 1, "--copy-to", "disc", "--list", name)
    assert result.exit_code == 2
    assert result.stderr == f"mmp: --list and --copy-to: both would write {name}\n"
    assert os.listdir("disc") == []


def test_lists_of_names_with_line_breaks(mmp, folder):
    os.mkdir("disc")
    Path("a\nb").write_bytes(b"1")
    result = mmp("pack", "a\nb", "--volume", 9, "--list", "l", "--copy-to", "disc", "--sector", 1)
    assert result.exit_code == 2
    assert result.stderr == (
        "mmp: --list: 'a\\nb' has a line break, and a list has one path a line\n"
    )
    assert (os.listdir("disc"), os.path.exists("l")) == ([], False)
    assert mmp("pack", "a\nb", "--volume", 9, "--copy-to", "disc", "--sector", 1).exit_code == 0


def test_links_to_folders(mmp, folder):
    os.makedirs("in/deep")
    os.mkdir("other")
    Path("in/deep/x").write_bytes(b"12")
    Path("other/y").write_bytes(b"345")
    os.symlink("../other", "in/link")
    os.symlink("..", "in/deep/up")
    os.symlink("../in", "other/back")
    os.symlink("deep", "in/same")
    result = mmp("pack", "in", "--volume", 10, "--sector", 1, "--json")
    assert result.exit_code == 3
    assert "link to a folder elsewhere, which is an input only if it is named: in/link" in (
        result.stderr
    )
    assert "in/same: skipped, is a link into in, which is searched anyway" in result.stderr
    assert names(json.loads(result.stdout.splitlines()[0])) == [["deep/x"]]
    os.unlink("other/back")
    assert names(pack(mmp, "in/link", "--volume", 10)) == [["y"]]


def test_names_on_the_volume_are_inputs(mmp, folder):
    os.makedirs("in/sub")
    Path("in/sub/b.bin").write_bytes(b"1")
    Path("v.csv").write_text("sub/b.bin,2\n")
    result = mmp("pack", "in", "--volume", 9, "--sector", 1, "--value", "v.csv")
    assert (result.exit_code, result.stderr) == (0, "")
    result = mmp("pack", "in", "--volume", 9, "--value", "-", input="sub/b.bin,2\nc,1\n")
    assert result.stderr == "mmp: stdin: 1 of the names match no input, such as 'c'\n"


def test_values_whose_sum_is_too_large(mmp, some):
    Path("v.csv").write_text("".join(f"{name},900000000000.000001\n" for name in some[:2]))
    assert mmp("pack", "a", "b", "--volume", 9, "--value", "v.csv").exit_code == 0
    Path("v.csv").write_text("".join(f"{k},999999999999.{k:06}\n" for k in range(1, 4)))
    for k in range(1, 4):
        Path(f"{k}").write_bytes(b"1")
    result = mmp("pack", 1, 2, 3, "--volume", 9, "--value", "v.csv")
    assert (result.exit_code, result.stderr) == (
        2,
        "mmp: v.csv: values add up to 2999999999997.000006: must be at most 2305843009213.693951; "
        "with fewer decimals they may be larger\n",
    )


def test_folders_keep_their_tree(mmp, folder):
    os.makedirs("in/deep")
    Path("in/x").write_bytes(b"12")
    Path("in/deep/x").write_bytes(b"345")
    os.mkdir("disc")
    found = pack(mmp, "in", "--volume", 10, "--copy-to", "disc")
    assert names(found) == [["deep/x", "x"]]
    assert Path("disc/deep/x").read_bytes() == b"345"
    assert Path("disc/x").read_bytes() == b"12"
    Path("v.csv").write_text("deep/x,2\nin/x,1\n")
    found = pack(mmp, "in", "--volume", 10, "--value", "v.csv")
    assert found["volumes"][0]["value"] == 3


def test_lists(mmp, some, files):
    result = mmp("pack", *some, "--volume", 4, "--sector", 1, "--list", "l.txt")
    assert result.exit_code == 0
    assert Path("l.txt").read_text() == "b\n"
    result = mmp("pack", *some, "--volume", 4, "--sector", 1, "--list", "l.txt")
    assert (result.exit_code, result.stderr) == (1, "mmp: l.txt: exists; -f overwrites it\n")
    result = mmp("pack", *some, "--volume", 4, "--sector", 1, "--list", "-")
    assert (result.stdout, result.stderr[:9]) == ("b\n", "volume 1:")
    pack(mmp, *some, "--volume", 10, "--volumes", 2, "--list", "m.txt")
    lines = Path("m.1.txt").read_text().split() + Path("m.2.txt").read_text().split()
    assert sorted(lines) == some
    assert "m.txt" not in files()
    result = mmp("pack", *some, "--volume", 10, "--volumes", 2, "--sector", 1, "--list", "-")
    assert (result.exit_code, result.stderr) == (2, "mmp: --list -: is one output for 2 volumes\n")
    result = mmp("pack", *some, "--volume", 10, "--list", "a", "-f")
    assert (result.exit_code, result.stderr) == (
        2,
        "mmp: a: is an input, and would be overwritten\n",
    )


def test_empty_files_and_names_of_any_bytes(run, folder):
    odd = os.fsdecode(b"\xff.bin")
    Path(odd).write_bytes(b"1")
    Path("empty").write_bytes(b"")
    code, _, errors = run("pack", odd, "empty", "--volume", 1, "--sector", 1, "--list", "l")
    assert (code, errors) == (0, "")
    assert Path("l").read_bytes() == b"\xff.bin\nempty\n"


def test_without_time_values_still_fit(mmp, folder):
    for k in range(60):
        Path(f"{k}").write_bytes(bytes(100 + 7 * k % 97))
    Path("v.csv").write_text("".join(f"{k},{100 + 13 * k % 89}\n" for k in range(60)))
    found = pack(mmp, *range(60), "--volume", 3001, "--value", "v.csv", "--seconds", 0)
    assert found["volumes"][0]["used"] <= 3001


@pytest.mark.skipif(backends.status()["cuda"] is None, reason="a CUDA device is there")
def test_absent_backend(mmp, some):
    assert mmp("pack", *some, "--volume", 4, "--backend", "cuda").exit_code == 4


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["a", "--volume", "4.7"], 0, ""),
        (["a", "--volume", "4.7G"], 2, "volume = '4.7G': must be bytes, or a number with"),
        (["a", "--volume", "0"], 2, "volume = '0': must be from 1 to"),
        (["a", "--volume", "-1"], 2, "volume = '-1': must be bytes"),
        (
            ["a", "--volume", "9", "--volumes", "0"],
            2,
            "volumes = '0': must be an integer from 1 to 10000, or",
        ),
        (
            ["a", "--volume", "9", "--volumes", "x"],
            2,
            "volumes = 'x': must be an integer from 1 to 10000",
        ),
        (["a", "--volume", "9", "--volumes", "9" * 5000], 2, "volumes = '9"),
        (
            ["a", "--volume", "9", "--volume", "8", "--volumes", "2"],
            2,
            "volumes = '2': needs a single",
        ),
        (["a", "a", "--volume", "9"], 2, "a: comes twice, also as a"),
        (["a", "./a", "--volume", "9"], 2, "./a: comes twice, also as a"),
        (["a", "sub/a", "--volume", "9"], 2, "a and sub/a: both would be a on a volume"),
        (["-", "--volume", "9"], 2, "stdin: is no file that could be packed"),
        (["none", "--volume", "9"], 1, "none: No such file or directory"),
        (["void", "--volume", "9"], 1, "void: holds no file"),
        (["pipe", "--volume", "9"], 1, "pipe: is no regular file"),
        (["a", "b", "--volume", "9", "--value", "v.csv"], 2, "v.csv: has no value for 'b'"),
        (["a", "b", "--volume", "9", "--value", "w.csv"], 2, "w.csv:2: value = '-1': must be a"),
        (["a", "--volume", "9", "--value", "none.csv"], 1, "none.csv: No such file or directory"),
        (["a", "--volume", "9", "--backend", "gpu"], 2, "backend = 'gpu'"),
    ],
)
def test_wrong_use(mmp, some, arguments, code, says):
    os.mkdir("void")
    os.mkdir("sub")
    Path("sub/a").write_text("other")
    Path("v.csv").write_text("a,1\n")
    Path("w.csv").write_text("a,1\nb,-1\n")
    os.mkfifo("pipe")
    result = mmp("pack", *arguments)
    assert result.exit_code == code
    assert result.stderr.startswith(f"mmp: {says}" if says else "")
    assert result.stderr.count("\n") == bool(says)


def test_a_time_limit_without_values_is_said_to_have_no_effect(mmp, some):
    Path("v.csv").write_text("".join(f"{name},1\n" for name in some))
    for more, said in (
        ([], "mmp: --seconds: has no effect without --value\n"),
        (
            ["--value", "v.csv"],
            "",
        ),
    ):
        result = mmp("pack", *some, "--volume", 10, "--seconds", 5, *more)
        assert (result.exit_code, result.stderr) == (0, said)
