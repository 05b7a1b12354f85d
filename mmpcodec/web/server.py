"""The server of ``mmp view``: one page and some files, for browsers of this machine only.

It listens on 127.0.0.1. Each address begins with a secret token, so other programs, and the pages
of other sites, cannot guess it; and it answers only to its own name, so that no site can lead a
browser here under another name. Files have numbers. No address names a path.

All users of a machine can read the arguments of its programs. So a browser gets the address from a
page in a file that only its user can read.
"""

import contextlib
import errno
import hashlib
import json
import os
import re
import secrets
import stat
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from mmpcodec.errors import FileError, FormatError, MmpError, PictureError
from mmpcodec.format.collection import Contents
from mmpcodec.format.container import MAGIC
from mmpcodec.opening.contents import is_collection
from mmpcodec.pictures import registry
from mmpcodec.runtime import stores
from mmpcodec.runtime.files import FileBytes, LazyBytes
from mmpcodec.runtime.progress import report_progress
from mmpcodec.web import parts
from mmpcodec.web.books import ShownBook, book_of
from mmpcodec.web.facts import KINDS, RegionSearch, facts_of
from mmpcodec.web.pages import PageEntry, page, title_of
from mmpcodec.web.tiles import LISTED, TILE_ADDRESSES, TileServer, WrongAddress

HOST = "127.0.0.1"
PIECE = 1 << 20
"""Most bytes that are read and sent at once."""
SHOWN = (MAGIC, b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff")
"""First bytes of the files that pages show, but WebP."""
MOST_FACTS = 256
"""Layers and regions that are kept."""
HEAD = 12
"""Bytes by which these files are known."""
HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_RANGE = re.compile(r"bytes=(\d*)-(\d*)", re.ASCII)


class ServedFile(NamedTuple):
    """A file that the server gives.

    Parameters
    ----------
    source : str
        Path or URL.
    name : str
        As the page shows it.
    """

    source: str
    name: str

    @contextlib.contextmanager
    def opened(self) -> Iterator[LazyBytes]:
        """Open the file, and close it at the end.

        Raises
        ------
        OSError, MmpError
            If it cannot be opened, is no file, or is a link to a file that pages do not show.
        """
        with self._opened() as data:
            is_local = not stores.is_url(self.source)
            if is_local and os.path.realpath(self.source) != os.path.abspath(self.source):
                self._check_shown(bytes(data[:HEAD]))
            yield data

    def entry(self, number: int) -> PageEntry:
        """Return the entry of the file in a page, in which it has this number.

        Raises
        ------
        OSError, MmpError
            If it cannot be opened or is no file.
        """
        with self._opened() as data:
            is_mmp = registry.is_mmp(bytes(data[: registry.MAGIC_END]), self.name)
            return PageEntry(
                self.name,
                len(data),
                is_mmp,
                f"files/{number}",
                {kind: f"{kind}/{number}" for kind in KINDS},
                f"book/{number}" if is_collection(data) else None,
            )

    @contextlib.contextmanager
    def _opened(self) -> Iterator[LazyBytes]:
        if stores.is_url(self.source):
            yield stores.UrlBytes(self.source)
            return
        # Without waiting for a writer, if a pipe has taken the place of the file.
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        with open(os.open(self.source, flags), "rb") as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise FileError.because(errno.EINVAL, self.name, "is no regular file")
            data = FileBytes(stream)
        with data:
            yield data

    def _check_shown(self, head: bytes) -> None:
        """Raise FileError if a link leads to a file that pages do not show, by its first bytes."""
        if not head.startswith(SHOWN) and not (head[:4] == b"RIFF" and head[8:12] == b"WEBP"):
            reason = "is a link to a file that is neither mmp nor PNG, JPEG or WebP"
            raise FileError.because(errno.EACCES, self.name, reason)

    def read(self) -> bytes:
        """Return all bytes of the file.

        Raises
        ------
        MmpError
            If it cannot be read; see ``opened``.
        """
        try:
            with self.opened() as data:
                return bytes(data[:])
        except MmpError:
            raise
        except OSError as error:
            raise FileError.from_os(self.name, error) from error


class _Facts:
    """Facts of a kind of a file: their lock, the state of the file, and the facts as JSON."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.tag = ""
        self.text = b""


class _Contents:
    """What a collection holds: the lock, the state of the file, contents, and their faults."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.tag = ""
        self.found: tuple[Contents, tuple[str, ...], dict[int, bytes]] | None = None


class PageServer(ThreadingHTTPServer):
    """Serves a page of files until ``shutdown``.

    Parameters
    ----------
    files : sequence of ServedFile
    port : int
        0 takes a free one.
    search : RegionSearch or None
        How bright regions are searched.
    decoder : str or None
        Script of the decoder; None takes that of the package.
    tiled : bool
        Whether it has tiles, too; see ``tiles.TileServer``.

    Raises
    ------
    OSError
        If the port cannot be used.
    MmpError, OSError
        If a file cannot be opened.

    Attributes
    ----------
    address : str
        Address of the page.
    """

    daemon_threads = True
    allow_reuse_address = True

    def __init__(
        self,
        files: Sequence[ServedFile],
        port: int = 0,
        search: RegionSearch | None = None,
        decoder: str | None = None,
        *,
        tiled: bool = False,
    ):
        self.files = files
        self.tiles = TileServer(files) if tiled else None
        self._search = search
        self._ending = threading.Event()
        self._facts: dict[tuple[str, int, int | None], _Facts] = {}
        self._lock = threading.Lock()
        self._books = [_Contents() for _ in files]
        entries = [file.entry(number) for number, file in enumerate(files)]
        script = parts.decoder_script() if decoder is None else decoder
        title = title_of([file.name for file in files])
        self.page = "".join(page(entries, script, title, asks=True)).encode()
        super().__init__((HOST, port), _Handler)
        self.token = secrets.token_urlsafe(24)
        self.address = f"http://{HOST}:{self.server_address[1]}/{self.token}/"

    def facts(self, kind: str, number: int, picture: int | None = None) -> bytes:
        """Return layers or regions as JSON; they are computed again if the file has changed.

        ``picture`` is the number of a picture of a collection.

        Raises
        ------
        Cancelled
            If the server ends.
        """
        file, facts = self.files[number], self._facts_at((kind, number, picture))
        with facts.lock, file.opened() as data:
            tag = _tag(data)
            if facts.tag != tag:
                report_progress(self._goes_on, 0, 1)
                one, name = data, file.name
                if picture is not None:
                    one, name = self.picture(number, picture, data), f"{name}: entry {picture + 1}"
                found = facts_of(one, name, self._search, {kind}, self._goes_on)
                facts.tag, facts.text = tag, json.dumps(found).encode()
            return facts.text

    def _facts_at(self, key: tuple[str, int, int | None]) -> _Facts:
        """Return the facts of a key; those that were asked for first are forgotten."""
        with self._lock:
            facts = self._facts.setdefault(key, _Facts())
            for old in list(self._facts)[: len(self._facts) - MOST_FACTS]:
                if not self._facts[old].lock.locked():
                    del self._facts[old]
            return facts

    def book(self, number: int, data: LazyBytes) -> ShownBook | None:
        """Return the book that a file is; None if it is no collection.

        Raises
        ------
        MmpError
            If no picture can be found in it.
        """
        known = self._books[number]
        with known.lock:
            tag = _tag(data)
            if known.tag != tag or known.found is None:
                found = book_of(data, self.files[number].name)
                known.tag, known.found = tag, None if found is None else found[1:]
            return None if known.found is None else ShownBook(data, *known.found)

    def picture(self, number: int, picture: int, data: LazyBytes) -> LazyBytes:
        """Return the file of a picture of a collection.

        Raises
        ------
        PictureError
            If the file has no such picture, or it is damaged.
        """
        name = self.files[number].name
        book = self.book(number, data)
        if book is None or picture >= len(book.contents.entries):
            raise PictureError(f"{name}: has no picture {picture + 1}")
        try:
            return book.file(picture)
        except FormatError as error:
            raise PictureError(f"{name}: {error}") from error

    def _goes_on(self, done: int, total: int) -> bool:
        return not self._ending.is_set()

    def server_close(self) -> None:
        """Close the server, and wait for the facts that are being computed.

        Python must not end while a thread is in the compiled decoder.
        """
        self._ending.set()
        with self._lock:
            running = list(self._facts.values())
        for facts in running:
            with facts.lock:
                pass
        if self.tiles is not None:
            self.tiles.close()
        super().server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of browsers that have closed a connection."""


def _tag(data: LazyBytes) -> str:
    """Return the ETag of a file, by which the decoder sees that it was changed."""
    state = data.state() if isinstance(data, FileBytes) else getattr(data, "state", "")
    return f'"{hashlib.sha256(str(state).encode()).hexdigest()[:32]}"'


class _Handler(BaseHTTPRequestHandler):
    """Answers one connection."""

    protocol_version = "HTTP/1.1"
    server_version = "mmp"
    sys_version = ""
    timeout = 60
    server: PageServer

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing: addresses hold the token."""

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def _answer(self) -> None:
        server = self.server
        names = (f"{HOST}:{server.server_address[1]}", f"localhost:{server.server_address[1]}")
        path = self.path.partition("?")[0]
        given, _, rest = path.removeprefix("/").partition("/")
        mine = secrets.compare_digest(given.encode(), server.token.encode())
        if self.headers.get("Host") not in names or not mine:
            return self._text(HTTPStatus.NOT_FOUND, "there is no such page")
        if path.strip("/") == given and not path.endswith("/"):  # files are named from the page
            return self._text(
                HTTPStatus.PERMANENT_REDIRECT,
                "the page has a / at its end",
                {"Location": f"{path}/"},
            )
        if rest == "":
            return self._send(HTTPStatus.OK, "text/html; charset=utf-8", server.page)
        if server.tiles is not None and rest.partition("/")[0] in TILE_ADDRESSES:
            return self._tile(server.tiles, rest)
        kind, *numbers = rest.split("/")
        answers = {"files": self._file, "book": self._book}
        answers |= {facts: partial(self._facts, facts) for facts in KINDS}
        known = 1 <= len(numbers) <= (1 if kind == "book" else 2) and all(
            each.isascii() and each.isdecimal() and len(each) < 10 for each in numbers
        )
        if kind not in answers or not known or int(numbers[0]) >= len(server.files):
            return self._text(HTTPStatus.NOT_FOUND, "there is no such file")
        return self._tried(answers[kind], *map(int, numbers))

    def _tried(self, answer: Callable[..., None], number: int, *picture: int) -> None:
        """Answer, or say why that cannot be done."""
        name = self.server.files[number].name
        try:
            answer(number, *picture)
        except MmpError as error:
            self._text(HTTPStatus.INTERNAL_SERVER_ERROR, str(error))
        except ConnectionError:
            self.close_connection = True  # the browser does not wait for it any more
        except OSError as error:
            self._text(HTTPStatus.INTERNAL_SERVER_ERROR, str(PictureError.from_os(name, error)))

    def _facts(self, kind: str, number: int, picture: int | None = None) -> None:
        found = self.server.facts(kind, number, picture)
        self._send(HTTPStatus.OK, "application/json", found)

    def _book(self, number: int) -> None:
        """Send the list of the pictures of a collection."""
        with self.server.files[number].opened() as data:
            book = self.server.book(number, data)
        if book is None:
            return self._text(HTTPStatus.NOT_FOUND, "the file is no collection")
        self._send(HTTPStatus.OK, "application/json", json.dumps(book.as_dict()).encode())

    def _file(self, number: int, picture: int | None = None) -> None:
        """Send a file, or the range of it that the browser asks for.

        A file whose own server ignores ranges is sent whole, so that it is fetched only once.
        ``picture`` is the number of a picture of a collection, whose own file is sent.
        """
        with self.server.files[number].opened() as whole:
            data = whole if picture is None else self.server.picture(number, picture, whole)
            size = len(data)
            asked = self.headers.get("Range")
            span = None if asked is None else range_of(asked, size)
            if asked is not None and span is None:
                extra = {"Content-Range": f"bytes */{size}"}
                status = HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE
                return self._text(status, f"{asked}: the file has {size} bytes", extra)
            start, stop = span or (0, size)
            first = data[start : min(start + PIECE, stop)]  # an error can still be reported
            if isinstance(data, stores.UrlBytes) and data.is_whole:
                span, start, stop, first = None, 0, size, data[:PIECE]
            extra = {"Accept-Ranges": "bytes", "ETag": _tag(whole)}
            if span is not None:
                extra["Content-Range"] = f"bytes {start}-{stop - 1}/{size}"
            status = HTTPStatus.OK if span is None else HTTPStatus.PARTIAL_CONTENT
            self._head(status, "application/octet-stream", stop - start, extra)
            self._pieces(data, start, stop, first)

    def _tile(self, tiles: TileServer, rest: str) -> None:
        """Answer an address of tiles; pages of other sites may ask for it, if they know the token.

        A browser keeps what it got for a while, and then asks whether the file has changed.
        """
        extra = {"Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin"}
        base = f"http://{self.headers['Host']}/{self.server.token}/"
        linked = "application/ld+json" in self.headers.get("Accept", "")
        try:
            tag = ""
            if rest != LISTED:
                with tiles.file_of(rest)[0].opened() as data:
                    tag = _tag(data)
                extra |= {"ETag": tag, "Cache-Control": "private, max-age=60", "Vary": "Accept"}
                if self.headers.get("If-None-Match") == tag:
                    return self._head(HTTPStatus.NOT_MODIFIED, "text/plain", 0, extra)
            found = tiles.answer(rest, base, tag, linked=linked)
            if found.location is not None:
                extra["Location"] = found.location
            status = HTTPStatus.OK if found.location is None else HTTPStatus.SEE_OTHER
            self._send(status, found.kind, found.body, extra)
        except WrongAddress as error:
            self._text(error.status, str(error), extra | {"Cache-Control": "no-store"})
        except ConnectionError:
            self.close_connection = True
        except (MmpError, OSError) as error:
            status = HTTPStatus.INTERNAL_SERVER_ERROR
            self._text(status, str(error), extra | {"Cache-Control": "no-store"})

    def _pieces(self, data: LazyBytes, start: int, stop: int, first: memoryview) -> None:
        """Send bytes whose headers are sent: an error can only close the connection now."""
        if self.command == "HEAD":
            return
        try:
            for place in range(start, stop, PIECE):
                piece = first if place == start else data[place : min(place + PIECE, stop)]
                self.wfile.write(piece)
                if len(piece) < min(PIECE, stop - place):  # the file has become shorter
                    self.close_connection = True
                    return
        except (MmpError, OSError):
            self.close_connection = True

    def _text(self, status: HTTPStatus, text: str, extra: dict[str, str] | None = None) -> None:
        self._send(status, "text/plain; charset=utf-8", text.encode(errors="replace"), extra)

    def _send(
        self, status: HTTPStatus, kind: str, body: bytes, extra: dict[str, str] | None = None
    ) -> None:
        self._head(status, kind, len(body), extra or {})
        if self.command != "HEAD":
            self.wfile.write(body)

    def _head(self, status: HTTPStatus, kind: str, size: int, extra: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, **HEADERS, **extra}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(size))
        self.end_headers()


def range_of(text: str, size: int) -> tuple[int, int] | None:
    """Return start and end of the bytes that a Range header asks for; None if there are none.

    One range is understood, as in ``bytes=0-99``, ``bytes=100-`` and ``bytes=-100``. Source: RFC
    9110, section 14.1.2.

    Examples
    --------
    >>> from mmpcodec.web.server import range_of
    >>> range_of("bytes=100-", 250), range_of("bytes=-100", 250), range_of("bytes=250-", 250)
    ((100, 250), (150, 250), None)
    """
    found = _RANGE.fullmatch(text.strip())
    if found is None or found.groups() == ("", ""):
        return None
    first, last = found.groups()
    if len(first) > 18 or len(last) > 18:
        return None
    if first == "":
        start, stop = max(0, size - int(last)), size
    else:
        start, stop = int(first), min(size, int(last) + 1 if last else size)
    return (start, stop) if start < stop else None
