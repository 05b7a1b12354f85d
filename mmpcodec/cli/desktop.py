"""Files that tell a desktop and the program ``file`` about mmp pictures, and their removal.

The folders that an installation makes are recorded, so that its removal leaves none of them.
"""

import contextlib
import errno
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from mmpcodec.runtime.files import printable, written_whole

MIME_TYPE = "image/x-mmp"
PACKAGE = "mime/packages/mmpcodec.xml"
THUMBNAILER = "thumbnailers/mmpcodec.thumbnailer"
MAGIC = "mmpcodec/magic"
RECORD = "mmpcodec/installed.json"
"""Files in the folder of data; the magic is there for ``file -m`` too."""

MIME_INFO = rf"""<?xml version="1.0" encoding="UTF-8"?>
<mime-info xmlns="http://www.freedesktop.org/standards/shared-mime-info">
  <mime-type type="{MIME_TYPE}">
    <comment>mmp picture</comment>
    <generic-icon name="image-x-generic"/>
    <magic priority="60">
      <match type="string" offset="0" value="\x89MMP\r\n\x1a\n"/>
    </magic>
    <glob pattern="*.mmp"/>
  </mime-type>
</mime-info>
"""

PATTERN = rf"""0	string	\x89MMP\r\n\x1a\n	mmp picture
!:mime	{MIME_TYPE}
!:ext	mmp
>8	ubyte	x	\b, version %u
>9	ubyte	0	\b, gray
>9	ubyte	1	\b, gray with alpha
>9	ubyte	2	\b, RGB
>9	ubyte	3	\b, RGB with alpha
>10	ubyte	x	\b, depth %u
"""
"""Lines for ``file``: the first fields of the header, each of one byte."""

BEGIN = b"# mmpcodec: begin; `mmp install-desktop --undo` removes these lines.\n"
END = b"# mmpcodec: end\n"
COMPILED = (b"\x1c\x04\x1e\xf1", b"\xf1\x1e\x04\x1c")
"""First bytes of a file of patterns that ``file`` has compiled."""

UPDATE = "update-mime-database"
GENERATED = (
    *("XMLnamespaces", "aliases", "generic-icons", "globs", "globs2", "icons", "magic"),
    *("mime.cache", "subclasses", "treemagic", "types", "version"),
)
"""Files that ``update-mime-database`` writes into the folder ``mime``."""


class Change(NamedTuple):
    """What happened to a file: installed, unchanged, removed; or a remark, if ``state`` is ""."""

    file: str
    state: str
    remark: str = ""

    def as_dict(self) -> dict[str, Any]:
        return self._asdict()

    def text(self, verbose: bool) -> str:
        return f"{printable(self.file)}: {self.state or self.remark}"


class Desktop:
    """The files of one user.

    Parameters
    ----------
    data : path
        Folder of data, by default ``XDG_DATA_HOME`` or ``~/.local/share``.
    home : path
        Folder of ``.magic``, by default that of the user.
    """

    def __init__(self, data: Path | None = None, home: Path | None = None):
        self.home = home or Path.home()
        given = os.environ.get("XDG_DATA_HOME", "")
        self.data = data or (
            Path(given) if os.path.isabs(given) else self.home / ".local" / "share"
        )
        self._made: list[str] = []

    def install(self) -> Iterator[Change]:
        """Install all files, and yield what happened to each.

        Raises
        ------
        OSError
            If a file cannot be written.
        """
        record = self._record()
        self._made = record["folders"]
        try:
            for name, data in own_files().items():
                path = self.data / name
                if path.is_symlink():
                    yield Change(
                        str(path), "", "is a link and stays; remove it, then install again"
                    )
                    continue
                yield self._write(path, data)
                record["files"][name] = _sha256(data)
            magic = self.home / ".magic"
            if reason := self._blocked():
                advice = f"{reason}; use file -m {self.data / MAGIC}"
                yield Change(str(magic), "", advice)
            else:
                record["magic"] |= not magic.exists()
                yield self._write(magic, with_block(read(magic)))
            yield from self._update()
        except BaseException:
            with contextlib.suppress(OSError):
                self._keep(record)
            raise
        self._keep(record)

    def undo(self) -> Iterator[Change]:
        """Remove what ``install`` has made, and yield what happened to each file.

        Raises
        ------
        OSError
            If a file cannot be removed.
        """
        record = self._record()
        found = False
        for name, data in own_files().items():
            path = self.data / name
            if not path.exists():
                continue
            known = {_sha256(data), record["files"].get(name)}
            if path.is_symlink() or _sha256(path.read_bytes()) not in known:
                yield Change(str(path), "", "is not what was installed, and stays")
                continue
            path.unlink()
            found = True
            yield Change(str(path), "removed")
        magic = self.home / ".magic"
        old = b"" if self._blocked() else read(magic)
        if (rest := without_block(old)) != old:
            if rest or not record["magic"]:
                self._write(magic, rest)
            else:
                magic.resolve().unlink()  # a link stays, as it was there before
            yield Change(str(magic), "removed" if not magic.exists() else "lines removed")
        if found:
            yield from self._update()
        (self.data / RECORD).unlink(missing_ok=True)
        mime = self.data / "mime"
        if str(mime) in record["folders"] and not any((mime / "packages").glob("*")):
            for name in GENERATED:
                (mime / name).unlink(missing_ok=True)
        for folder in sorted(map(Path, record["folders"]), key=lambda path: -len(path.parts)):
            if folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir()):
                folder.rmdir()

    def _record(self) -> dict[str, Any]:
        """Return what an installation has made: folders, SHA-256 of files, and whether ``.magic``.

        Folders that no installation makes are left out.

        Raises
        ------
        OSError
            If the record is a link, which would lead to a file of somebody else, or no file.
        """
        path = self.data / RECORD
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise OSError(errno.EINVAL, "is no regular file; remove it", str(path))
        found: Any = None
        with contextlib.suppress(FileNotFoundError, NotADirectoryError, ValueError, RecursionError):
            found = json.loads(path.read_text())
        found = found if isinstance(found, dict) else {}
        folders, files = found.get("folders"), found.get("files")
        return {
            "folders": [each for each in _texts(folders) if self._may_make(Path(each))],
            "magic": found.get("magic") is True,
            "files": files if isinstance(files, dict) else {},
        }

    def _may_make(self, folder: Path) -> bool:
        """Return whether installing, or ``update-mime-database``, may make a folder."""
        above = {each for name in (RECORD, *own_files()) for each in (self.data / name).parents}
        return folder in above or folder.parent == self.data / "mime"

    def _keep(self, record: dict[str, Any]) -> None:
        self._write(self.data / RECORD, (json.dumps(record, indent=1) + "\n").encode())

    def _write(self, path: Path, data: bytes) -> Change:
        """Write a file, if it has other bytes, and make its folders."""
        if path.exists() and path.read_bytes() == data:
            return Change(str(path), "unchanged")
        missing = [folder for folder in path.parents if not folder.exists()]
        path.parent.mkdir(parents=True, exist_ok=True)
        self._made += [str(folder) for folder in missing]
        with written_whole(path) as stream:
            stream.write(data)
        return Change(str(path), "installed")

    def _blocked(self) -> str | None:
        """Say why ``file`` would not read patterns in ``.magic``, or return None."""
        magic = self.home / ".magic"
        if (self.home / ".magic.mgc").exists():
            return "file reads .magic.mgc instead"
        if magic.is_dir():
            return "is a folder"
        if magic.exists() and magic.read_bytes()[:4] in COMPILED:
            return "is compiled"
        return None

    def _update(self) -> Iterator[Change]:
        """Tell the desktop about changes; yield a remark if that fails."""
        mime = self.data / "mime"
        if not mime.is_dir():
            return
        if shutil.which(UPDATE) is None:
            yield Change(str(mime), "", f"{UPDATE} is not installed, which tells the desktop")
            return
        before = set(mime.iterdir())
        found = subprocess.run([UPDATE, str(mime)], capture_output=True, text=True)
        self._made += [str(path) for path in set(mime.iterdir()) - before if path.is_dir()]
        if found.returncode:
            reason = found.stderr.strip() or f"exit code {found.returncode}"
            yield Change(str(mime), "", f"{UPDATE}: {reason}")


def own_files() -> dict[str, bytes]:
    """Return the files in the folder of data that belong to this package alone, by name."""
    texts = {PACKAGE: MIME_INFO, THUMBNAILER: thumbnailer(), MAGIC: PATTERN}
    return {name: text.encode() for name, text in texts.items()}


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _texts(value: Any) -> list[str]:
    """Return the texts of a list; none of another value."""
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def read(path: Path) -> bytes:
    """Return the bytes of a file; none if it is missing."""
    return path.read_bytes() if path.exists() else b""


def with_block(patterns: bytes) -> bytes:
    """Return patterns for ``file`` with those of this package."""
    block = BEGIN + PATTERN.encode() + END
    return patterns if block in patterns else block + without_block(patterns)


def without_block(patterns: bytes) -> bytes:
    """Return patterns for ``file`` without those of this package."""
    before, begin, rest = patterns.partition(BEGIN)
    _, end, after = rest.partition(END)
    return before + after if begin and end else patterns


def thumbnailer() -> str:
    """Return the entry of a thumbnailer that calls this installation of ``mmp``."""
    script = shutil.which("mmp", path=os.path.dirname(sys.executable))
    program = [script] if script else [sys.executable, "-m", "mmpcodec"]
    words = " ".join(shlex.quote(word.replace("%", "%%")) for word in program)
    lines = {
        "TryExec": program[0],
        "Exec": f"{words} thumbnail %i %o %s",
        "MimeType": f"{MIME_TYPE};",
    }
    escaped = {key: value.replace("\\", "\\\\") for key, value in lines.items()}
    text = "".join(f"{key}={value}\n" for key, value in escaped.items())
    return f"[Thumbnailer Entry]\n{text}"
