"""The text files of a git checkout, and their Python files as syntax trees."""

import ast
import subprocess
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath


@dataclass
class Checkout:
    """The tracked files below a root.

    Parameters
    ----------
    root : Path
        Top folder of a git checkout.

    Attributes
    ----------
    files : list of PurePosixPath
        Tracked files that exist, relative to the root.
    texts : dict of PurePosixPath to str
        Contents of all files; empty if a file is binary.
    """

    root: Path
    files: list[PurePosixPath] = field(init=False)
    texts: dict[PurePosixPath, str] = field(init=False)

    def __post_init__(self):
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=self.root, check=True, capture_output=True, text=True
        ).stdout
        paths = [PurePosixPath(name) for name in listed.split("\0") if name]
        self.files = [path for path in paths if (self.root / path).is_file()]
        self.texts = {}
        for path in self.files:
            data = (self.root / path).read_bytes()
            try:
                self.texts[path] = data.decode() if b"\0" not in data else ""
            except UnicodeDecodeError:
                self.texts[path] = ""

    def below(self, *folder: str) -> list[PurePosixPath]:
        """Return the files below a folder, which is given as parts of its path."""
        return [path for path in self.files if path.parts[: len(folder)] == folder]

    def python(self, *folder: str) -> dict[PurePosixPath, ast.Module]:
        """Return the syntax trees of the Python files below a folder."""
        return {
            path: parsed(self.texts[path]) for path in self.below(*folder) if path.suffix == ".py"
        }


@cache
def parsed(text: str) -> ast.Module:
    """Return the syntax tree of a Python file."""
    return ast.parse(text)
