"""``mmp install-desktop``: what it installs works, and is removed without a trace."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from mmpcodec import pictures
from mmpcodec.cli import desktop
from mmpcodec.cli.commands import install_desktop
from mmpcodec.format.container import MAGIC

needs_file = pytest.mark.skipif(shutil.which("file") is None, reason="file is not installed")
needs_mime = pytest.mark.skipif(
    shutil.which(desktop.UPDATE) is None, reason="shared-mime-info is not installed"
)
BESIDE = [desktop.PACKAGE, desktop.THUMBNAILER, desktop.MAGIC]


@pytest.fixture
def home(folder, monkeypatch):
    """A home without folders of data."""
    home = folder / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    return home


@pytest.fixture
def data(home):
    return home / ".local" / "share"


def contents(folder):
    """Everything below a folder: the bytes of files, None for folders."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def test_what_is_installed(mmp, home, data):
    result = mmp("install-desktop")
    assert result.exit_code == 0
    written = [*(data / name for name in BESIDE), home / ".magic"]
    lines = result.stdout.splitlines()
    assert lines == [f"{path}: installed" for path in written]
    assert all(path.is_file() for path in written)
    again = contents(home)
    assert mmp("install-desktop").stdout == result.stdout.replace(": installed", ": unchanged")
    assert contents(home) == again


def test_xdg_data_home(mmp, home, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    assert mmp("install-desktop", "--quiet").output == ""
    assert (home / "data" / desktop.PACKAGE).is_file()
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    rows = [json.loads(line) for line in mmp("install-desktop", "--json").stdout.splitlines()]
    assert rows[0] == {
        "file": str(home / ".local/share" / desktop.PACKAGE),
        "state": "installed",
        "remark": "",
    }
    assert not Path("relative").exists()


def test_undo_leaves_no_trace(mmp, home):
    mmp("install-desktop")
    mmp("install-desktop")
    result = mmp("install-desktop", "--undo")
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == 4
    assert contents(home) == {}
    result = mmp("install-desktop", "--undo")
    assert (result.exit_code, result.stderr) == (0, "mmp: nothing is installed\n")


@pytest.mark.parametrize("old", [b"", b"0\tstring\tmine\tmine", b"# comment\n0\tbyte\t7\tseven\n"])
def test_undo_keeps_what_was_there(mmp, home, data, old):
    others = {"mime/packages/other.xml": OTHER, "thumbnailers/other.thumbnailer": b"[T]\n"}
    for name, text in others.items():
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_bytes(text)
    (home / ".magic").write_bytes(old)
    if shutil.which(desktop.UPDATE):
        subprocess.run([desktop.UPDATE, data / "mime"], check=True)
    before = contents(home)
    mmp("install-desktop")
    assert (home / ".magic").read_bytes().endswith(old)
    assert contents(home) != before
    result = mmp("install-desktop", "--undo")
    assert result.stdout.splitlines()[-1] == f"{home / '.magic'}: lines removed"
    assert contents(home) == before


OTHER = b"""<?xml version="1.0" encoding="UTF-8"?>
<mime-info xmlns="http://www.freedesktop.org/standards/shared-mime-info">
  <mime-type type="image/x-other"><comment>other</comment><glob pattern="*.other"/></mime-type>
</mime-info>
"""


def test_a_link_to_nothing_stays_one(mmp, home):
    link, target = home / ".magic", home / "patterns"
    link.symlink_to("patterns")
    assert mmp("install-desktop").exit_code == 0
    assert target.read_bytes().startswith(desktop.BEGIN)
    result = mmp("install-desktop", "--undo")
    assert f"{link}: removed" in result.stdout.splitlines()
    assert (link.is_symlink(), target.exists()) == (True, False)


@pytest.mark.parametrize(
    "record", ["[1]", "{", "[" * 200_000, '{"folders": 7, "magic": 1}', '{"folders": [3]}']
)
def test_a_damaged_record_is_as_good_as_none(mmp, home, data, record):
    path = data / desktop.RECORD
    path.parent.mkdir(parents=True)
    for command in (["install-desktop"], ["install-desktop", "--undo"]):
        path.write_text(record)
        assert mmp(*command).exit_code == 0
    assert not any((data / name).exists() for name in (*BESIDE, desktop.RECORD))
    assert (home / ".magic").read_bytes() == b""


def test_links_are_not_followed(mmp, home, data):
    """What a link leads to is somebody else's."""
    target = home / "precious"
    target.write_bytes(b"text")
    link = data / desktop.THUMBNAILER
    link.parent.mkdir(parents=True)
    link.symlink_to(target)
    result = mmp("install-desktop")
    assert result.exit_code == 0
    assert f"mmp: {link}: is a link and stays; remove it, then install again\n" in result.stderr
    assert (data / desktop.PACKAGE).is_file()
    result = mmp("install-desktop", "--undo")
    assert f"mmp: {link}: is not what was installed, and stays\n" in result.stderr
    assert (link.is_symlink(), target.read_bytes()) == (True, b"text")
    assert not (data / desktop.PACKAGE).exists()
    record = data / desktop.RECORD
    record.parent.mkdir()
    record.symlink_to(target)
    for undo in ((), ("--undo",)):
        result = mmp("install-desktop", *undo)
        assert (result.exit_code, target.read_bytes()) == (1, b"text")
        assert result.stderr == f"mmp: {record}: is no regular file; remove it\n"


def test_undo_removes_only_what_was_installed(mmp, home, data):
    mmp("install-desktop")
    others = [home / "empty", data / "empty", data / "mmpcodec" / "empty"]
    for folder in others:
        folder.mkdir()
    path = data / desktop.RECORD
    record = json.loads(path.read_text())
    record["folders"] += [str(folder) for folder in others]
    path.write_text(json.dumps(record))
    (data / desktop.THUMBNAILER).write_text("mine")
    result = mmp("install-desktop", "--undo")
    assert f"{data / desktop.THUMBNAILER}: is not what was installed, and stays" in result.stderr
    assert (data / desktop.THUMBNAILER).read_text() == "mine"
    assert all(folder.is_dir() for folder in others)
    assert not any((data / name).exists() for name in (desktop.PACKAGE, desktop.MAGIC))


def test_undo_knows_files_of_another_version(mmp, home, monkeypatch):
    monkeypatch.setattr(desktop, "thumbnailer", lambda: "[Thumbnailer Entry]\nan earlier one\n")
    mmp("install-desktop")
    monkeypatch.undo()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    assert mmp("install-desktop", "--undo").exit_code == 0
    assert contents(home) == {}


def test_what_others_have_added_since_stays(mmp, home, data):
    mmp("install-desktop")
    (data / "mime/packages/other.xml").write_bytes(OTHER)
    (home / ".magic").write_bytes((home / ".magic").read_bytes() + b"# mine\n")
    mmp("install-desktop", "--undo")
    assert (home / ".magic").read_bytes() == b"# mine\n"
    assert [path.name for path in (data / "mime/packages").iterdir()] == ["other.xml"]
    assert not (data / "thumbnailers").exists()


@pytest.mark.parametrize(
    ("prepare", "reason"),
    [
        (lambda home: (home / ".magic").mkdir(), "is a folder"),
        (lambda home: (home / ".magic").write_bytes(desktop.COMPILED[0] + b"..."), "is compiled"),
        (lambda home: (home / ".magic.mgc").write_bytes(b""), "file reads .magic.mgc instead"),
    ],
)
def test_patterns_that_cannot_be_extended(mmp, home, data, prepare, reason):
    prepare(home)
    before = contents(home)
    result = mmp("install-desktop")
    assert result.exit_code == 0
    magic = data / desktop.MAGIC
    assert f"mmp: {home / '.magic'}: {reason}; use file -m {magic}\n" in result.stderr
    assert magic.read_text() == desktop.PATTERN
    mmp("install-desktop", "--undo")
    assert contents(home) == before


@needs_file
def test_file_knows_the_pictures(mmp, home, encoded, colours):
    mmp("encode", "c.png", "--preset", "lossless", "-q")
    mmp("install-desktop")
    for arguments, shown in {
        ("a.mmp",): "mmp picture, version 3, gray, depth 8",
        ("c.mmp",): "mmp picture, version 3, RGB, depth 8",
        ("--mime-type", "a.mmp"): "image/x-mmp",
        ("--extension", "a.mmp"): "mmp",
        ("--mime-type", "c.png"): "image/png",
    }.items():
        result = subprocess.run(["file", "-b", *arguments], capture_output=True, text=True)
        assert (result.stdout.strip(), result.stderr) == (shown, "")


def test_the_magic_is_that_of_the_format():
    pattern = desktop.PATTERN.split("\t")[2]
    assert pattern.encode().decode("unicode_escape").encode("latin-1") == MAGIC
    info = ElementTree.fromstring(desktop.MIME_INFO)
    match = next(element for element in info.iter() if element.tag.endswith("match"))
    assert match.get("value").encode().decode("unicode_escape").encode("latin-1") == MAGIC


@needs_mime
def test_the_desktop_knows_the_pictures(mmp, home, data):
    mmp("install-desktop")
    assert "50:image/x-mmp:*.mmp" in (data / "mime/globs2").read_text()
    assert "image/x-mmp" in (data / "mime/types").read_text().split()
    assert b">0=\0\x08" + MAGIC in (data / "mime/magic").read_bytes()


def test_without_the_program_of_the_desktop(mmp, home, data, monkeypatch):
    which = shutil.which
    monkeypatch.setattr(
        shutil, "which", lambda name, **more: None if name == desktop.UPDATE else which(name)
    )
    result = mmp("install-desktop")
    assert result.exit_code == 0
    assert f"{data / 'mime'}: update-mime-database is not installed" in result.stderr


def test_the_thumbnailer_draws(mmp, home, data, encoded, monkeypatch):
    monkeypatch.setattr(desktop.shutil, "which", lambda name, **more: None)
    mmp("install-desktop")
    entry = ConfigParser(interpolation=None)
    entry.read(data / desktop.THUMBNAILER)
    found = entry["Thumbnailer Entry"]
    assert found["MimeType"] == "image/x-mmp;"
    assert os.access(found["TryExec"], os.X_OK)
    places = {"%i": "a.mmp", "%o": "small.png", "%s": "10"}
    words = [places.get(word, word) for word in shlex.split(found["Exec"])]
    assert words[:2] == [sys.executable, "-m"]
    site = str(Path(pictures.__file__).parents[2])
    subprocess.run(words, check=True, env={**os.environ, "PYTHONPATH": site})
    assert max(pictures.read("small.png").samples.shape) == 10


def test_the_entry_names_the_program_beside_python(monkeypatch):
    monkeypatch.setattr(desktop.shutil, "which", lambda name, path: "/opt/my 100%/mmp")
    lines = desktop.thumbnailer().splitlines()
    assert lines[1:3] == [
        "TryExec=/opt/my 100%/mmp",
        "Exec='/opt/my 100%%/mmp' thumbnail %i %o %s",
    ]


def test_other_systems(mmp, home, monkeypatch):
    monkeypatch.setattr(install_desktop.sys, "platform", "win32")
    result = mmp("install-desktop")
    assert (result.exit_code, result.stderr) == (
        1,
        "mmp: install-desktop: is for desktops that follow freedesktop.org\n",
    )


def test_a_folder_that_cannot_be_written(mmp, home, monkeypatch):
    (home / "file").write_text("")
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "file" / "data"))
    result = mmp("install-desktop")
    assert result.exit_code == 1
    assert result.stderr.startswith(f"mmp: {home / 'file'}")
    assert result.stderr.count("\n") == 1
