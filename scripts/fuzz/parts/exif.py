"""EXIF structures with cyclic, deep, many and long directories."""

import struct

from parts.choices import Choices
from parts.directories import ASCII, LONG, RATIONAL, SHORT, UNDEFINED, Entry, Structure

_POINTERS = (34665, 34853, 40965, 330)


def structure(choices: Choices) -> bytes:
    """Make an EXIF structure."""
    order = choices.choice("<>")
    tiff = Structure(choices, order)
    below = [tiff.directory(_entries(choices, tiff, [])) for _ in range(choices.randint(0, 3))]
    entries = _entries(choices, tiff, below)
    if choices.once_in(4) and choices.odd():
        entries *= choices.choice((2, 100))
    targets: tuple[int | str, ...] = (0, 0, "self", *below)
    return tiff.finished(tiff.directory(entries, choices.choice(targets)))


def _entries(choices: Choices, tiff: Structure, below: list[int]) -> list[Entry]:
    order = tiff.order
    found = [
        tiff.numbers(274, SHORT, choices.randint(1, 8)),
        tiff.text(271, b"Camera maker"),
        tiff.text(306, b"2026:11:23 10:20:30"),
        Entry(282, RATIONAL, 1, struct.pack(f"{order}II", choices.number(72), choices.number(1))),
        Entry(37500, UNDEFINED, 40, choices.content(40)),
        Entry(33432, ASCII, 6, b"owner\0"),
    ]
    found = choices.sample(found, choices.randint(0, len(found)))
    for pointer in _POINTERS:
        if choices.once_in(3):
            value = tiff.pointer(choices.choice(below)) if below else tiff.exact(0)
            target = "self" if choices.odd() else value
            found += [Entry(pointer, LONG, 1, target)] * (
                choices.choice((2, 50, 1000)) if choices.once_in(4) and choices.odd() else 1
            )
    return found
