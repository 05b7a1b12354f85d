"""The page that shows pictures: one HTML text with all its scripts.

The policy of the page lets a browser run the scripts of the page only, by their hashes, and ask
nothing but the server that sent it; a page in a file asks nothing at all.
"""

import base64
import hashlib
import html
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from string import Template
from typing import Any

from mmpcodec.errors import FormatError
from mmpcodec.runtime.files import printable
from mmpcodec.web import parts
from mmpcodec.web.books import ShownBook

SHARED_SCRIPTS = ("stage.js", "stored.js", "tree.js")
SCRIPTS = (
    *("picture.js", "turning.js", "measures.js", "opened.js", "levels.js", "tiles.js", "layers.js"),
    *("regions.js", "compare.js", "files.js", "books/book.js", "books/strip.js", "books/bar.js"),
    *("books/renditions.js", "keys.js", "window.js", "main.js"),
)
MOST_BYTES = 400_000_000
"""Bytes of a file that is in a page. In Base64 it is one text, and Chromium holds none of more than
2^29 - 24 characters: V8, ``String::kMaxLength``."""


@dataclass(frozen=True)
class PageEntry:
    """A file of a page.

    Parameters
    ----------
    name : str
        As it is shown.
    size : int
        Bytes.
    is_mmp : bool
        Whether it is an mmp file; the browser decodes others.
    address : str or None
        Where a server has the file, from the page's address.
    facts_addresses : dict of str to str or None
        Where it has what ``facts.facts_of`` returns, by kind.
    book_address : str or None
        Where it has the list of pictures of a collection. Their files and facts are at the
        addresses of the file, followed by a slash and a number.
    book : ShownBook or None
        A collection whose pictures are to be in the page.
    data, facts : callable or None
        Return the file and all its facts, if they are to be in the page. They are called when their
        part of the page is written.
    book_facts : callable or None
        Does the same for the facts of a picture of the collection, by the number of its entry.
    """

    name: str
    size: int
    is_mmp: bool
    address: str | None = None
    facts_addresses: dict[str, str] | None = None
    book_address: str | None = None
    book: ShownBook | None = None
    data: Callable[[], bytes] | None = None
    facts: Callable[[], dict[str, Any]] | None = None
    book_facts: Callable[[int], dict[str, Any]] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return what the scripts of the page know of the file."""
        return {
            "name": self.name,
            "bytes": self.size,
            "isMmp": self.is_mmp,
            "address": self.address,
            "factsAddresses": self.facts_addresses,
            "bookAddress": self.book_address,
            "isBook": self.book_address is not None or self.book is not None,
        }


def page(entries: Sequence[PageEntry], decoder: str, title: str, *, asks: bool) -> Iterator[str]:
    """Yield the text of the page, in pieces, one file at a time.

    Parameters
    ----------
    entries : sequence of PageEntry
    decoder : str
        Script that defines ``decoder``, as ``parts.decoder_script`` returns it.
    title : str
    asks : bool
        Whether the page may ask its server.
    """
    scripts = [parts.shared(name) for name in SHARED_SCRIPTS] + list(map(parts.viewer, SCRIPTS))
    script = "\n".join(['"use strict";', decoder, *scripts])
    theme = f'"use strict";\n{parts.shared("theme.js")}'
    style = parts.shared("base.css") + parts.viewer("viewer.css")
    template = Template(parts.viewer("page.html")).substitute(
        policy=policy([theme, script], style, asks=asks),
        title=html.escape(printable(title)),
        style=style,
        theme=theme,
        script=script,
        data=SPLIT,
    )
    before, after = template.split(SPLIT)
    yield before
    yield _json("files", [entry.as_dict() for entry in entries])
    for number, entry in enumerate(entries):
        if entry.book is not None:
            yield _json(f"book-{number}", entry.book.as_dict())
            for picture in range(len(entry.book.contents.entries)):
                yield from _picture(entry.book, picture, f"file-{number}-{picture}")
            if entry.book_facts is not None:
                for picture in entry.book.contents.numbers_of(None):
                    yield _json(f"facts-{number}-{picture}", entry.book_facts(picture))
        elif entry.data is not None:
            yield _data(f"file-{number}", entry.data())
        if entry.facts is not None:
            yield _json(f"facts-{number}", entry.facts())
    yield after


SPLIT = "<!-- files -->"
"""Place of the files in the page."""


def policy(scripts: Sequence[str], style: str, *, asks: bool) -> str:
    """Return the Content-Security-Policy of a page with these scripts and this style."""
    hashes = " ".join(_hash(script) for script in scripts)
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {hashes} 'wasm-unsafe-eval'",
            f"style-src {_hash(style)}",
            "img-src data: blob:",
            "worker-src blob:",
            "connect-src 'self'" if asks else "connect-src 'none'",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _json(name: str, value: Any) -> str:
    text = json.dumps(value).replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}">{text}</script>\n'


def _picture(book: ShownBook, picture: int, name: str) -> Iterator[str]:
    """Yield the file of a picture of a collection, or why there is none."""
    try:
        yield _data(name, bytes(book.file(picture)[:]))
    except FormatError as error:
        yield _json(f"{name}-problem", str(error))


def _data(name: str, data: bytes) -> str:
    text = base64.b64encode(data).decode()
    return f'<script type="text/plain" id="{name}">{text}</script>\n'


def redirect(address: str) -> str:
    """Return a page that leads a browser to an address."""
    shown = html.escape(address)
    return (
        '<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
        f'<meta http-equiv="refresh" content="0;url={shown}"><title>mmp</title>'
        f'<p><a href="{shown}">Pictures</a></p>\n'
    )


def title_of(names: Sequence[str]) -> str:
    """Return the title of a page of these files."""
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
