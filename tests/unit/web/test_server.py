"""The server of ``mmp view``: ranges, only the named files, the token, the name of the host."""

import http.client
import json
import os
import threading
import time
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.books import collection_of
from support.web.asking import ask, ask_whole
from support.web.range_server import RangeServer

import mmpcodec
from mmpcodec import pictures
from mmpcodec.errors import Cancelled, FileError
from mmpcodec.web import server as web_server
from mmpcodec.web.facts import RegionSearch
from mmpcodec.web.server import PIECE, PageServer, ServedFile, range_of

CONTENT = bytes(range(256)) * 40


@pytest.fixture
def server(tmp_path):
    """Serves a file of 10240 bytes, and a file of random bytes that is not a picture."""
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "a.mmp").write_bytes(CONTENT)
    samples = np.zeros((40, 50), np.uint8)
    samples[10:20, 5:25] = 200
    pictures.write(samples, tmp_path / "b.png")
    (tmp_path / "c.mmp").write_bytes(mmpcodec.encode(samples, preset="plain"))
    files = [ServedFile(str(tmp_path / name), name) for name in ("a.mmp", "b.png", "c.mmp")]
    with PageServer(files, search=RegionSearch(2, "0.25"), decoder="const decoder = {};") as found:
        threading.Thread(target=found.serve_forever, daemon=True).start()
        yield found
        found.shutdown()


@pytest.fixture
def serving():
    """Serves files until the end of the test, and gives the server."""
    servers = []

    def serve(*files):
        servers.append(PageServer(files, decoder="const decoder = {};"))
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        return servers[-1]

    yield serve
    for each in servers:
        each.shutdown()
        each.server_close()


def test_the_page_names_files_by_number(server):
    status, headers, body = ask(server, "")
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    text = body.decode()
    assert all(
        name in text for name in ("a.mmp", "b.png", '"files/0"', '"layers/1"', '"regions/2"')
    )
    assert str(server.files[0].source) not in text
    assert headers["Cache-Control"] == "no-store"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "Access-Control-Allow-Origin" not in headers


def test_it_listens_on_this_machine_only(server):
    assert server.server_address[0] == "127.0.0.1"
    assert server.address.startswith("http://127.0.0.1:")
    assert len(server.token) >= 32


@pytest.mark.parametrize(
    ("asked", "start", "stop"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=100-199", 100, 200),
        ("bytes=10000-", 10000, 10240),
        ("bytes=-7", 10233, 10240),
        ("bytes=-99999", 0, 10240),
        ("bytes=10000-99999", 10000, 10240),
    ],
)
def test_ranges(server, asked, start, stop):
    status, headers, body = ask(server, "files/0", Range=asked)
    assert (status, body) == (206, CONTENT[start:stop])
    assert headers["Content-Range"] == f"bytes {start}-{stop - 1}/10240"
    assert headers["Content-Length"] == str(stop - start)


@pytest.mark.parametrize(
    "asked", ["bytes=10240-", "bytes=9-8", "bytes=-0", "bytes=-", "items=0-1", "bytes=0-1,4-5", "x"]
)
def test_ranges_outside_of_the_file(server, asked):
    status, headers, _ = ask(server, "files/0", Range=asked)
    assert (status, headers["Content-Range"]) == (416, "bytes */10240")


def test_whole_files_and_heads(server):
    status, headers, body = ask(server, "files/0")
    assert (status, body, headers["Accept-Ranges"]) == (200, CONTENT, "bytes")
    status, headers, body = ask(server, "files/0", "HEAD")
    assert (status, body, headers["Content-Length"]) == (200, b"", "10240")


def test_an_address_without_its_last_slash_leads_to_the_page(server):
    status, headers, _ = ask_whole(server, f"/{server.token}")
    assert (status, headers["Location"]) == (308, f"/{server.token}/")


def test_a_file_that_changes_has_another_tag(tmp_path, server):
    tag = ask(server, "files/0")[1]["ETag"]
    assert ask(server, "files/0", Range="bytes=0-9")[1]["ETag"] == tag
    assert ask(server, "files/1")[1]["ETag"] != tag
    os.utime(tmp_path / "a.mmp", ns=(1, 1))
    assert ask(server, "files/0", Range="bytes=0-9")[1]["ETag"] != tag


def test_a_file_of_several_pieces(tmp_path, server):
    data = np.random.default_rng(1).bytes(2 * PIECE + 5)
    with server.files[0].opened():
        pass
    (tmp_path / "a.mmp").write_bytes(data)
    assert ask(server, "files/0")[2] == data
    part = ask(server, "files/0", Range=f"bytes=7-{PIECE + 9}")[2]
    assert part == data[7 : PIECE + 10]


def test_a_url_whose_server_ignores_ranges(serving):
    pytest.importorskip("aiohttp", reason="needs aiohttp")
    with RangeServer({"a.mmp": CONTENT}, ranges=False).running() as other:
        own = serving(ServedFile(other.url("a.mmp"), "a.mmp"))
        other.sent.clear()
        status, headers, body = ask(own, "files/0", Range="bytes=1000-1999")
    assert (status, body) == (200, CONTENT)
    assert "Content-Range" not in headers
    assert other.sent[-1:] == [len(CONTENT)]


def test_a_url_whose_server_sends_ranges(serving):
    pytest.importorskip("aiohttp", reason="needs aiohttp")
    with RangeServer({"a.mmp": CONTENT}).running() as other:
        own = serving(ServedFile(other.url("a.mmp"), "a.mmp"))
        status, _, body = ask(own, "files/0", Range="bytes=1000-1999")
    assert (status, body) == (206, CONTENT[1000:2000])
    assert other.sent[-1:] == [1000]


@pytest.mark.parametrize(
    "path",
    [
        *("files/3", "files/-1", "files/", "files/00000000001", "files/a.mmp", "files/0/"),
        *("files/../secret.txt", "../secret.txt", "secret.txt", "files/%2e%2e/secret.txt", "a.mmp"),
        *("layers/9", "regions", "facts/0", "files/%D9%A1"),
    ],
)
def test_nothing_but_the_named_files(server, path):
    status, _, body = ask(server, path)
    assert status == 404
    assert b"secret" not in body


def test_wrong_tokens(server):
    wrong = server.token[:-1] + ("A" if server.token[-1] != "A" else "B")
    for path in ("/", "/files/0", f"/{wrong}/", f"/{wrong}/files/0", "/%00/"):
        status, _, body = ask_whole(server, path)
        assert (status, body) == (404, b"there is no such page"), path


def test_other_names_of_the_host_and_methods(server):
    port = server.server_address[1]
    for host in ("example.org", f"example.org:{port}", "127.0.0.1", f"127.0.0.2:{port}"):
        assert ask(server, "", Host=host)[0] == 404, host
    assert ask(server, "", Host=f"localhost:{port}")[0] == 200
    assert ask(server, "files/0", "POST")[0] == 501
    assert ask(server, "files/0", "PUT")[0] == 501


def test_facts(server):
    assert json.loads(ask(server, "layers/1")[2]) == {"layers": [], "problems": {}}
    status, headers, body = ask(server, "regions/1")
    assert (status, headers["Content-Type"]) == (200, "application/json")
    found = json.loads(body)
    assert list(found) == ["problems", "regions"]
    assert found["regions"]["offset"] == 64
    (region,) = found["regions"]["rows"]
    places = [region[name] for name in ("left", "top", "width", "height", "mean")]
    assert places == [5, 10, 20, 10, 200]
    coded = json.loads(ask(server, "layers/2")[2])
    assert [layer["key"] for layer in coded["layers"]] == ["edges", "bits"]
    assert json.loads(ask(server, "layers/0")[2])["problems"]["layers"]


def test_facts_of_a_file_that_changes_are_computed_again(server, tmp_path, monkeypatch):
    first = ask(server, "regions/1")[2]
    monkeypatch.setattr(web_server, "facts_of", None)
    assert ask(server, "regions/1")[2] == first
    monkeypatch.undo()
    pictures.write(np.full((40, 50), 255, np.uint8), tmp_path / "b.png")
    (region,) = json.loads(ask(server, "regions/1")[2])["regions"]["rows"]
    assert (region["width"], region["height"], region["mean"]) == (50, 40, 255)


def test_no_file_waits_for_the_facts_of_another(server, monkeypatch):
    """Regions of one file are searched while layers of it and of another one are asked for."""
    searching, end, computed = threading.Event(), threading.Event(), web_server.facts_of

    def slow(data, name, search, wanted, progress):
        if name == "b.png" and "regions" in wanted:
            searching.set()
            assert end.wait(20)
        return computed(data, name, search, wanted, progress)

    monkeypatch.setattr(web_server, "facts_of", slow)
    answers = []
    thread = threading.Thread(target=lambda: answers.append(ask(server, "regions/1")[0]))
    thread.start()
    assert searching.wait(20)
    assert json.loads(ask(server, "layers/2")[2])["layers"]
    assert json.loads(ask(server, "regions/2")[2])["regions"]
    assert ask(server, "layers/1")[0] == 200
    assert answers == []
    end.set()
    thread.join(20)
    assert answers == [200]


def test_the_end_waits_for_facts_and_cancels_them(serving, tmp_path, monkeypatch):
    (tmp_path / "a.mmp").write_bytes(CONTENT)
    own = serving(ServedFile(str(tmp_path / "a.mmp"), "a.mmp"))
    begun, ended = threading.Event(), threading.Event()

    def endless(data, name, search, wanted, progress):
        begun.set()
        while progress(0, 1):
            time.sleep(0.01)
        time.sleep(0.3)
        ended.set()
        raise Cancelled("stopped")

    monkeypatch.setattr(web_server, "facts_of", endless)
    answers = []
    thread = threading.Thread(target=lambda: answers.append(ask(own, "layers/0")))
    thread.start()
    assert begun.wait(20)
    own.shutdown()
    own.server_close()
    assert ended.is_set()
    thread.join(20)
    assert [(status, text) for status, _, text in answers] == [(500, b"stopped")]
    with pytest.raises(Cancelled):
        own.facts("layers", 0)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_a_pipe_in_the_place_of_a_file_is_refused(server, tmp_path):
    (tmp_path / "a.mmp").unlink()
    os.mkfifo(tmp_path / "a.mmp")
    for path in ("files/0", "layers/0", "regions/0"):
        status, _, body = ask(server, path)
        assert (status, body) == (500, b"a.mmp: is no regular file")
    with pytest.raises(FileError, match=r"a\.mmp: is no regular file"):
        PageServer([ServedFile(str(tmp_path / "a.mmp"), "a.mmp")], decoder="")


def test_links_are_served_if_they_lead_to_what_pages_show(serving, tmp_path):
    """The target of a link is known by its first bytes, not by the name of the link."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "secret.txt").write_text("secret of somebody")
    (tmp_path / "home" / "empty").touch()
    (tmp_path / "links").mkdir()
    contents = {"b.png": pictures.to_bytes(np.zeros((4, 5), np.uint8), "png")}
    contents["c.mmp"] = mmpcodec.encode(np.zeros((4, 5), np.uint8), preset="plain")
    contents["d.webp"] = pictures.to_bytes(np.zeros((4, 5, 3), np.uint8), "webp")
    contents["e.jpg"] = pictures.to_bytes(np.zeros((4, 5, 3), np.uint8), "jpg")
    for name, data in contents.items():
        (tmp_path / "home" / name).write_bytes(data)
        (tmp_path / "links" / name).symlink_to(tmp_path / "home" / name)
    bad = {"x.mmp": "secret.txt", "y.png": "secret.txt", "z.mmp": "empty"}
    for name, target in bad.items():
        (tmp_path / "links" / name).symlink_to(tmp_path / "home" / target)
    (tmp_path / "home" / "v.mmp").write_text("secret of somebody")
    (tmp_path / "links" / "folder").symlink_to(tmp_path / "home")
    names = [*contents, *bad, "folder/v.mmp"]
    own = serving(*(ServedFile(str(tmp_path / "links" / name), name) for name in names))
    for number, name in enumerate(names):
        status, _, body = ask(own, f"files/{number}")
        if name in contents:
            assert (status, body) == (200, contents[name])
        else:
            assert status == 500
            said = "is a link to a file that is neither mmp nor PNG, JPEG or WebP"
            assert body.decode() == f"{name}: {said}"
            assert ask(own, f"regions/{number}")[::2] == (500, body)


def test_a_file_that_is_gone(server, tmp_path):
    (tmp_path / "a.mmp").unlink()
    status, _, body = ask(server, "files/0")
    assert (status, body) == (500, b"a.mmp: No such file or directory")
    assert ask(server, "files/1")[0] == 200


def test_a_file_that_became_shorter_ends_the_connection(server, tmp_path, monkeypatch):
    class Shorter(bytes):
        def __len__(self):
            return 2 * super().__len__()

    monkeypatch.setattr(ServedFile, "opened", lambda self: nullcontext(Shorter(CONTENT)))
    with pytest.raises(http.client.IncompleteRead):
        ask(server, "files/0")


def test_a_missing_file_is_no_server(tmp_path):
    with pytest.raises(FileNotFoundError):
        PageServer([ServedFile(str(tmp_path / "none.mmp"), "none.mmp")], decoder="")


@given(st.integers(0, 300), st.integers(0, 300), st.integers(0, 250))
def test_a_range_is_a_part_of_the_file(first, last, size):
    data = bytes(range(size))
    span = range_of(f"bytes={first}-{last}", size)
    expected = data[first : last + 1] if first <= last else b""
    assert (b"" if span is None else data[slice(*span)]) == expected
    tail = range_of(f"bytes=-{first}", size)
    assert (b"" if tail is None else data[slice(*tail)]) == (data[-first:] if first else b"")


@pytest.fixture
def book(tmp_path):
    """A collection of a gray picture and one in colour, and their files."""
    files = [
        mmpcodec.encode(np.full(shape, 90, np.uint8), 0, preset="lossless")
        for shape in ((9, 7), (8, 12, 3))
    ]
    (tmp_path / "book.mmp").write_bytes(collection_of(files))
    return ServedFile(str(tmp_path / "book.mmp"), "book.mmp"), files


def test_pictures_of_a_book(serving, book):
    file, files = book
    server = serving(file)
    assert '"isBook": true' in ask(server, "")[2].decode()
    status, headers, body = ask(server, "book/0")
    assert (status, headers["Content-Type"]) == (200, "application/json")
    assert [each["width"] for each in json.loads(body)["pages"]] == [7, 12]
    for number, data in enumerate(files):
        status, headers, body = ask(server, f"files/0/{number}")
        assert (status, body) == (200, data)
        status, headers, part = ask(server, f"files/0/{number}", Range="bytes=3-20")
        assert (status, part) == (206, data[3:21])
        assert headers["Content-Range"] == f"bytes 3-20/{len(data)}"
        found = json.loads(ask(server, f"regions/0/{number}")[2])
        assert found["problems"] == {}
    assert ask(server, "files/0")[2] == Path(file.source).read_bytes()


@pytest.mark.parametrize(
    "path", ["files/0/0/0", "book/0/0", "book/1", "book", "files/0/x", "files/0/-1", "books/0"]
)
def test_there_are_no_other_addresses(serving, book, path):
    assert ask(serving(book[0]), path)[0] == 404


def test_no_such_picture(serving, book, tmp_path):
    (tmp_path / "one.mmp").write_bytes(book[1][0])
    server = serving(book[0], ServedFile(str(tmp_path / "one.mmp"), "one.mmp"))
    status, _, body = ask(server, "files/0/2")
    assert (status, body.decode()) == (500, "book.mmp: has no picture 3")
    assert ask(server, "book/1")[0] == 404
    assert ask(server, "files/1/0")[2].decode() == "one.mmp: has no picture 1"


def test_a_changed_book_is_read_again(serving, book):
    file, files = book
    server = serving(file)
    assert len(json.loads(ask(server, "book/0")[2])["pages"]) == 2
    with open(file.source, "wb") as stream:
        stream.write(collection_of(files[:1]))
    assert len(json.loads(ask(server, "book/0")[2])["pages"]) == 1
    with open(file.source, "wb") as stream:
        stream.write(files[0])
    assert ask(server, "book/0")[0] == 404


def test_facts_are_forgotten(serving, book, monkeypatch):
    monkeypatch.setattr(web_server, "MOST_FACTS", 2)
    server = serving(book[0])
    for address in ("layers/0/0", "layers/0/1", "regions/0/0", "layers/0/0"):
        assert ask(server, address)[0] == 200
    assert len(server._facts) == 2
