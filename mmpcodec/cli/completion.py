"""Values that the shell offers for options and arguments: words, lists of words, files."""

import os
from collections.abc import Callable, Iterable, Sequence

Complete = Callable[[str], list[str]]
"""Takes the beginning of a word and returns the words that it may become."""

SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-")
"""Characters that no shell changes in a word that is not quoted."""


def words(values: Iterable[str] | Callable[[], Iterable[str]]) -> Complete:
    """Offer some words; a callable returns them when they are asked for."""

    def complete(incomplete: str) -> list[str]:
        known = values() if callable(values) else values
        return [word for word in known if word.startswith(incomplete)]

    return complete


def lists(values: Callable[[], Iterable[str]]) -> Complete:
    """Offer lists of words, with commas between them, one word more at a time."""

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        given = before.split(",")
        left = [word for word in values() if word.startswith(last) and word not in given]
        return [before + comma + word for word in left]

    return complete


def files(suffixes: Sequence[str]) -> Complete:
    """Offer files whose names have one of the suffixes, and folders.

    Nothing is offered, and the shell then completes file names itself, if a name needs quotes or
    if a single folder is left, to which a shell would add a blank.
    """
    endings = tuple(suffixes)

    def complete(incomplete: str) -> list[str]:
        folder, start = os.path.split(incomplete)
        try:
            entries = sorted(os.scandir(folder or os.curdir), key=lambda entry: entry.name)
        except OSError:
            return []
        found = []
        for entry in entries:
            hidden = entry.name.startswith(".") and not start.startswith(".")
            if hidden or not entry.name.startswith(start):
                continue
            path = os.path.join(folder, entry.name)
            if entry.is_dir():
                found.append(os.path.join(path, ""))
            elif entry.name.lower().endswith(endings):
                found.append(path)
        if not all(SAFE.issuperset(path) for path in found):
            return []
        return [] if len(found) == 1 and found[0].endswith(os.sep) else found

    return complete
