"""Files of pictures that continue one another, and damaged ones."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from books import with_entry, with_index, written

import mmpcodec
from mmpcodec.format.collection import MOST_CHAINED, Contents, Role
from mmpcodec.opening.contents import read_contents

SIZES = (26, 40), (21, 61), (30, 33), (12, 40)
"""Height and width of the pages."""


def glyphs(height: int, width: int, seed: int) -> np.ndarray:
    """Return a page on which three glyphs come again and again."""
    shapes = np.random.default_rng(3).random((3, 6, 5)) < 0.5
    order = np.random.default_rng(seed)
    page = np.zeros((height, width), bool)
    for row in range(2, height - 6, 8):
        for column in range(2, width - 5, 7):
            page[row : row + 6, column : column + 5] = shapes[order.integers(3)]
    return page


@cache
def chained(effort: int) -> bytes:
    """Return a book of a chain, with a page of one value and one in colour between."""
    pages = [glyphs(*size, seed) for seed, size in enumerate(SIZES)]
    pages[1:1] = [np.ones((9, 9), bool), np.full((4, 5, 3), 7, np.uint8)]
    return mmpcodec.encode(pages, effort=effort, backend="cpu", chain_pages=8)


def slices() -> bytes:
    """Return slices of two chains, whose samples have 8 bits."""
    masks = [255 - 200 * glyphs(18, 30, seed).astype(np.uint8) for seed in range(5)]
    return mmpcodec.encode(
        masks, 0, effort=2, backend="cpu", positions=[0, 1, 2, 3, 4], chain_pages=3
    )


def chains() -> Iterator[tuple[str, bytes]]:
    """Yield names and bytes of collections with chains."""
    for effort in (1, 2, 6):
        yield f"collection-chained-effort-{effort}", chained(effort)
    yield "collection-chained-slices", slices()


def damaged_chains() -> Iterator[tuple[str, bytes, int | None]]:
    """Yield names and bytes of chains with one error, and the page that has it."""
    for name, data, page in _damaged():
        yield f"bad-collection-chain-{name}", data, page


def _damaged() -> Iterator[tuple[str, bytes, int | None]]:
    book = chained(2)
    entries = read_contents(memoryview(book)).entries
    assert [entry.continues for entry in entries] == [None, None, None, 0, 3, 4]
    yield "back-0", with_entry(book, 3, continues=3), None
    yield "back-beyond", with_entry(book, 3, continues=-1), None
    yield "onto-level", with_index(book, _onto_level), None
    yield "pictures-65", with_index(book, _longer), None
    yield "not-said", with_entry(book, 4, continues=None), 5
    yield "not-true", with_entry(book, 4, continues=0), 5
    yield "begins-anew", with_entry(book, 1, continues=0), 2
    yield "onto-colour", with_entry(book, 3, continues=2), 4
    yield "of-colour", with_entry(book, 2, continues=0), 3
    yield "other-tools", _with_form(3), 2
    yield "with-error", _with_form(2, 1), 2


def _onto_level(contents: Contents) -> Contents:
    """Let a page continue a level."""
    level, page = contents.entries[2:4]
    contents.entries[2:4] = replace(level, role=Role.LEVEL, facts=(0,)), replace(page, continues=2)
    return contents


def _longer(contents: Contents) -> Contents:
    """Let a chain have one picture more than it may."""
    last = contents.entries[-1]
    length = 1 + len(contents.chain_of(last))
    for _ in range(MOST_CHAINED + 1 - length):
        place = last.place + last.size
        last = replace(last, place=place, size=0, continues=len(contents.entries) - 1)
        contents.entries.append(last)
    return contents


def _with_form(form: int, max_error: int = 0) -> bytes:
    """Return a chain whose second page has another lossless form, or a maximal error."""
    pages = [glyphs(20, 30, seed).astype(np.uint8) for seed in range(2)]
    how: dict[str, Any] = {"effort": 1, "backend": "cpu", "preset": "lossless"}
    loss: dict[str, Any] = {"max_error": max_error} if max_error else {"lam": 0}
    files = (
        mmpcodec.encode(pages[0], lam=0, lossless_form=2, **how),
        mmpcodec.encode(pages[1], lossless_form=form, **loss, **how),
    )
    book = written(*[(file, Role.PAGE, ()) for file in files])
    return with_entry(book, 1, continues=0)
