"""Check the rules of the layers: who may import whom, who may print, names and lengths of files.

    python scripts/check/layers.py [ROOT]

Prints one line for each broken rule and exits with 1 if there is any.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

COMMAND_LINE = {"typer", "rich", "click"}
VAGUE_NAMES = {"util", "utils", "helper", "helpers", "common", "misc"}
SOURCE_SUFFIXES = {".py", ".cpp", ".h", ".cu"}
MAX_LINES = 600
# A path of one machine; behind a name or a dot it is a part of an address or of a relative path.
MACHINE_PATH = re.compile(r"(?<![\w.~-])/(?:work|farm|home|root|Users)/")


def tracked_files(root: Path) -> list[PurePosixPath]:
    """The files that git tracks and that are there, relative to the root."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True, text=True
    ).stdout
    paths = [PurePosixPath(name) for name in listed.split("\0") if name]
    return [path for path in paths if (root / path).is_file()]


def imports(tree: ast.AST, path: PurePosixPath) -> Iterator[tuple[int, str]]:
    """Line and dotted name of everything that a module imports, wherever it does so."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            package = path.parent.parts
            above = package[: len(package) - node.level + 1] if node.level else ()
            for alias in node.names:
                yield node.lineno, ".".join([*above, *filter(None, [node.module]), alias.name])


def prints(tree: ast.AST) -> Iterator[int]:
    """Lines that call print."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "print":
            yield node.lineno


def check_library_module(path: PurePosixPath, text: str) -> Iterator[str]:
    """Rules for a Python file of the library outside the command line."""
    tree = ast.parse(text)
    is_stage = path.parts[1] == "reference"
    for line, name in imports(tree, path):
        parts = name.split(".")
        if parts[0] in COMMAND_LINE:
            yield f"{path}:{line}: imports {name}; only mmpcodec/cli may"
        if is_stage and parts[:2] == ["mmpcodec", "backends"]:
            yield f"{path}:{line}: imports {name}; a stage of the codec may not"
    for line in prints(tree):
        yield f"{path}:{line}: calls print; only mmpcodec/cli may"


def check_file(path: PurePosixPath, text: str) -> Iterator[str]:
    """Rules for every text file."""
    vague = VAGUE_NAMES.intersection([*path.parent.parts, path.stem])
    if vague:
        yield f"{path}: the name {min(vague)!r} does not say what is inside"
    lines = text.splitlines()
    if path.suffix in SOURCE_SUFFIXES and len(lines) > MAX_LINES:
        yield f"{path}: has {len(lines)} lines, more than {MAX_LINES}"
    for number, line in enumerate(lines, start=1):
        if found := MACHINE_PATH.search(line):
            yield f"{path}:{number}: names a path of one machine, {found.group()}"


def problems(root: Path) -> Iterator[str]:
    """One line for each broken rule below the root of a git checkout."""
    for path in tracked_files(root):
        data = (root / path).read_bytes()
        if b"\0" in data:
            continue
        try:
            text = data.decode()
        except UnicodeDecodeError:
            continue
        yield from check_file(path, text)
        in_library = path.parts[0] == "mmpcodec" and path.parts[1] != "cli"
        if in_library and path.suffix == ".py":
            yield from check_library_module(path, text)


def main() -> int:
    found = list(problems(Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
    print("\n".join(found) or "layers: all rules hold")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
