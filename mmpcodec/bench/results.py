"""Results of a sweep in a folder: one JSON line for each result, and the pictures.

::

    results.jsonl            one line for each result; the last line of an operating point counts
    claims                   locks of running measurements; always empty
    pictures/SHA.png         originals
    coded/KEY.mmp            files of mmpcodec, and those of peers that browsers decode: .jpg, ...
    decoded/KEY.png          decoded pictures
    decoded/KEY.tree.png     edges of leaves or blocks: 1 first row, 2 first column, 3 both

Several processes may write to one folder. Each line is one write to a file opened for appending. A
torn last line, left by a killed process or a full disk, is ignored, and its point is measured
again.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

from mmpcodec import pictures
from mmpcodec.bench.rows import Row, row_of
from mmpcodec.errors import MmpError
from mmpcodec.picture import Picture
from mmpcodec.runtime.files import lock, written_whole

FILE = "results.jsonl"
_CLAIMS = 1 << 40  # number of lockable byte offsets in the file of claims; no byte is written
_APPENDING = 1 << 40  # offset of the byte that a process locks while it appends a line


def key_of(row: Row) -> str:
    """Return the key of a result, 16 hexadecimal digits.

    The key is a hash of picture, codec, operating point and versions.
    """
    parts = [row["picture"], row["codec"], float(row["point"]), row["versions"]]
    text = json.dumps(parts, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Results:
    """The results in a folder.

    Parameters
    ----------
    folder : path
    create : bool
        Whether to create a folder that does not exist.

    Raises
    ------
    MmpError
        When the folder holds no results and ``create`` is False, or a file of the folder is a link:
        a folder of somebody else could lead to other files, here and in the methods.
    """

    def __init__(self, folder: str | os.PathLike[str], *, create: bool = False):
        self.folder = Path(folder)
        self.path = self._own(FILE)
        self.done: dict[str, Row] = {}
        self._read_to = self._lines = 0
        if create:
            for name in ("pictures", "coded", "decoded"):
                (self.folder / name).mkdir(parents=True, exist_ok=True)
            self.path.touch()
        elif not self.path.is_file():
            raise MmpError(f"{self.folder}: holds no results of a sweep (no {FILE})")

    def _own(self, *names: str) -> Path:
        path = self.folder.joinpath(*names)
        if path.is_symlink():
            raise MmpError(f"{path}: is a link; results hold the files themselves")
        return path

    def refresh(self) -> None:
        """Read the results that were added since the last call into ``done``.

        ``done`` maps the key of each result to its last row.

        Raises
        ------
        MmpError
            If a line is no result.
        """
        self.done.update((key_of(row), row) for row in self._new_rows())

    def rows(self) -> list[Row]:
        """Return all results; of equal picture, codec and operating point only the last.

        Raises
        ------
        MmpError
            When there is no result, or a line is none.
        """
        self._read_to = self._lines = 0
        last = {(row["picture"], row["codec"], row["point"]): row for row in self._new_rows()}
        if not last:
            raise MmpError(f"{self.path}: holds no results")
        return list(last.values())

    def _new_rows(self) -> Iterator[Row]:
        """Yield the rows of the complete lines after the last line that was read."""
        with open(self.path, "rb") as stream:
            stream.seek(self._read_to)
            for line in stream:
                if not line.endswith(b"\n"):
                    return  # still being written, or torn
                row = row_of(line, f"{self.path}: line {self._lines + 1}")
                self._read_to += len(line)
                self._lines += 1
                if row is not None:
                    yield row

    def append(self, row: Row) -> None:
        """Append a result; other processes may append to the same file."""
        line = json.dumps(row, allow_nan=False).encode() + b"\n"
        with open(self.path, "a+b", buffering=0) as stream:
            lock(stream, _APPENDING)
            size = stream.seek(0, os.SEEK_END)
            if size:
                stream.seek(size - 1)
                line = line if stream.read(1) == b"\n" else b"\n" + line
            if stream.write(line) != len(line):
                raise OSError(f"{self.path}: the disk took only a part of a line")

    @contextlib.contextmanager
    def claim(self, key: str) -> Iterator[bool]:
        """Claim a measurement; yields False if another process has claimed it.

        The operating system releases the lock when the process ends.
        """
        with open(self._own("claims"), "ab") as stream:
            yield lock(stream, int(key, 16) % _CLAIMS, wait=False)

    def original(self, sha256: str) -> Path:
        """Return the path of an original picture."""
        return self._own("pictures", f"{sha256}.png")

    def decoded(self, key: str) -> Path:
        """Return the path of the decoded picture of a result."""
        return self._own("decoded", f"{key}.png")

    def coded(self, row: Row) -> Path | None:
        """Return the path of the file of a result, or None if its sweep did not keep it."""
        if row.get("suffix") is None:
            return None
        path = self._own("coded", f"{key_of(row)}{row['suffix']}")
        return path if path.is_file() else None

    def keep_coded(self, key: str, suffix: str, data: bytes) -> None:
        """Keep the file of a result, whole or not at all."""
        with written_whole(self._own("coded", f"{key}{suffix}")) as stream:
            stream.write(data)

    def tree(self, key: str) -> Path:
        """Return the path of the edges of leaves or blocks of a result; it may not exist."""
        return self._own("decoded", f"{key}.tree.png")


def save_png(path: Path, picture: Picture) -> None:
    """Write a picture as a PNG file, whole or not at all."""
    data = pictures.to_bytes(picture, "png")
    with written_whole(path) as target:
        target.write(data)
