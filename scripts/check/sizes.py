"""Rules of sizes: lines of a file, lines of a function, files of a folder."""

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

import lizard
from checkout import Checkout

SOURCES = {".py", ".cpp", ".h", ".cu", ".cuh", ".js", ".sh"}
LIZARD_SUFFIX = {".cpp": ".cpp", ".h": ".h", ".cu": ".cpp", ".cuh": ".h", ".js": ".js"}
"""Suffix under which lizard reads a file; lizard knows CUDA's syntax, but not its suffixes."""


def check_files(checkout: Checkout, most: int) -> Iterator[str]:
    """Check that a source file has at most ``most`` lines."""
    for path, text in checkout.texts.items():
        count = len(text.splitlines())
        if path.suffix in SOURCES and count > most:
            yield f"{path}: has {count} lines, more than {most}"


def check_functions(checkout: Checkout, most: int) -> Iterator[str]:
    """Check that a function has at most ``most`` lines, without its decorators."""
    for path, text in checkout.texts.items():
        if path.suffix not in SOURCES or len(text.splitlines()) <= most:
            continue
        for line, name, count in functions(path, text):
            if count > most:
                yield f"{path}:{line}: {name} has {count} lines, more than {most}"


def functions(path: PurePosixPath, text: str) -> Iterator[tuple[int, str, int]]:
    """Yield first line, name and number of lines of each function of a file."""
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert node.end_lineno is not None
                yield node.lineno, node.name, node.end_lineno - node.lineno + 1
    elif path.suffix in LIZARD_SUFFIX:
        known = str(path.with_suffix(LIZARD_SUFFIX[path.suffix]))
        for found in lizard.analyze_file.analyze_source_code(known, text).function_list:
            yield found.start_line, found.name, found.end_line - found.start_line + 1


def check_folders(checkout: Checkout, most: int, excepted: Sequence[str]) -> Iterator[str]:
    """Check that a folder has at most ``most`` file names; ``a.h`` and ``a.cpp`` count as one."""
    stems = defaultdict(set)
    for path in checkout.files:
        stems[path.parent].add(path.stem)
    for folder, names in sorted(stems.items()):
        if len(names) > most and not any(folder.is_relative_to(other) for other in excepted):
            yield f"{folder}: has {len(names)} file names, more than {most}"
