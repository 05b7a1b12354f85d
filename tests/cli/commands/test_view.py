"""``mmp view`` and ``mmp page``, with a stand-in for the decoder of browsers."""

import base64
import contextlib
import http.client
import json
import os
import re
import signal
import sys
import threading
import time
import urllib.request
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from support.books import collection_of, write_book
from support.web.range_server import RangeServer

import mmpcodec
from mmpcodec import pictures
from mmpcodec.metadata import Metadata
from mmpcodec.opening.contents import contents_of
from mmpcodec.web import facts, parts

PATCHED = """
from mmpcodec.web import parts
parts.check_decoder = lambda command: None
parts.decoder_script = lambda: "const decoder = {};"
"""


@pytest.fixture
def decoder(monkeypatch):
    """A decoder that is there, and does nothing."""
    monkeypatch.setattr(parts, "check_decoder", lambda command: None)
    monkeypatch.setattr(parts, "decoder_script", lambda: "const decoder = {};")


@pytest.fixture
def missing(monkeypatch, tmp_path):
    monkeypatch.setattr(parts, "FOLDER", tmp_path)


def contents(page, name):
    """Content of a block of data of a page."""
    return re.search(f'<script type="[a-z/]+" id="{name}">(.*?)</script>', page, re.DOTALL)[1]


def test_a_page_holds_its_files(mmp, decoder, encoded, picture):
    result = mmp("page", encoded, picture, "-o", "page.html")
    page = Path("page.html").read_text()
    size = Path("page.html").stat().st_size
    assert result.output == f"page.html: 2 files, {size / 1e6:.2f} MB\n"
    for number, name in enumerate((encoded, picture)):
        data = base64.b64decode(contents(page, f"file-{number}"))
        assert data == Path(name).read_bytes()
    facts = [json.loads(contents(page, f"facts-{number}")) for number in (0, 1)]
    assert [layer["key"] for layer in facts[0]["layers"]] == ["edges", "bits"]
    assert facts[1]["layers"] == []
    assert [each["regions"]["offset"] for each in facts] == [127.5, 127.5]
    assert "<title>a.mmp and 1 more</title>" in page
    assert "connect-src 'none'" in page


def test_a_page_holds_the_pictures_of_a_book(mmp, decoder, encoded, samples):
    write_book("book.mmp", [samples, samples // 2])
    write_book("one.mmp", [samples])
    result = mmp("page", "book.mmp", "one.mmp", "-o", "page.html")
    assert result.exit_code == 0, result.stderr
    assert "left out" not in result.stderr
    page = Path("page.html").read_text()
    for number, expected in enumerate((samples, samples // 2)):
        data = base64.b64decode(contents(page, f"file-0-{number}"))
        np.testing.assert_array_equal(mmpcodec.decode(data), expected)
    assert len(json.loads(contents(page, "book-0"))["pages"]) == 2
    for name, level in (("0-0", 127.5), ("0-1", 127.5), ("1-0", 127.5)):
        facts = json.loads(contents(page, f"facts-{name}"))
        assert facts["regions"]["offset"] == level
        assert [layer["key"] for layer in facts["layers"]] == ["bits"]
    rows = [json.loads(contents(page, f"facts-0-{number}"))["regions"]["rows"] for number in (0, 1)]
    assert rows[0] != rows[1]
    assert 'id="facts-0"' not in page
    assert 'id="file-0"' not in page
    mmp("page", "book.mmp", "-o", "plain.html", "--no-layers")
    assert "facts-0" not in Path("plain.html").read_text()


def test_a_damaged_page_of_a_book_has_a_reason_in_place_of_layers(mmp, decoder, samples):
    data = bytearray(collection_of([mmpcodec.encode(samples, 0)] * 2))
    entry = contents_of(memoryview(bytes(data))).entries[1]
    data[entry.place + 4] ^= 255
    Path("book.mmp").write_bytes(data)
    assert mmp("page", "book.mmp", "-o", "page.html").exit_code == 0
    page = Path("page.html").read_text()
    problems = json.loads(contents(page, "facts-0-1"))["problems"]
    assert set(problems) == {"layers", "regions"}
    assert problems["layers"].startswith("book.mmp: page 2")
    assert json.loads(contents(page, "facts-0-0"))["problems"] == {}


def test_a_page_holds_no_attributes_of_patients(mmp, decoder, samples):
    metadata = Metadata(dicom=(b"Somebody",), text=(("Title", "kept"),))
    data = mmpcodec.encode(samples, 0, metadata=metadata)
    Path("one.mmp").write_bytes(data)
    Path("book.mmp").write_bytes(collection_of([data, data]))
    assert data.count(b"Somebody") == 1
    result = mmp("page", "one.mmp", "book.mmp", "-o", "page.html")
    assert "one.mmp: its attributes of DICOM are left out" in result.stderr
    page = Path("page.html").read_text()
    for name in ("file-0", "file-1-0", "file-1-1"):
        held = base64.b64decode(contents(page, name))
        assert b"Somebody" not in held
        np.testing.assert_array_equal(mmpcodec.decode(held), samples)
    assert b"kept" in base64.b64decode(contents(page, "file-0"))


def test_damaged_books_in_pages(mmp, decoder, samples):
    data = collection_of([mmpcodec.encode(samples, 0)] * 2)
    Path("cut.mmp").write_bytes(data[:-1])
    result = mmp("page", "cut.mmp", "-o", "page.html")
    assert result.exit_code == 0, result.stderr
    assert "its pictures were found by their records" in result.stderr
    Path("empty.mmp").write_bytes(collection_of([]))
    result = mmp("page", "empty.mmp", "-o", "empty.html")
    assert (result.exit_code, "empty.mmp: holds no pictures" in result.stderr) == (1, True)
    assert not Path("empty.html").exists()


def test_an_address_with_a_query(mmp, decoder, encoded):
    pytest.importorskip("aiohttp", reason="needs aiohttp")
    with RangeServer({"a.mmp?key=1": Path(encoded).read_bytes()}).running() as server:
        result = mmp("page", server.url("a.mmp?key=1"), "-o", "page.html", "--no-layers")
    assert result.exit_code == 0, result.stderr
    page = Path("page.html").read_text()
    assert "<title>a.mmp</title>" in page
    assert base64.b64decode(contents(page, "file-0")) == Path(encoded).read_bytes()


def test_a_file_without_a_valid_header_is_refused(mmp, decoder, encoded):
    Path("bad.mmp").write_text("hello")
    Path("cut.mmp").write_bytes(Path(encoded).read_bytes()[:20])
    for name, message in (("bad.mmp", "is not an mmp file; Container"), ("cut.mmp", "Container")):
        result = mmp("page", encoded, name, "-o", "page.html")
        assert result.exit_code == 1
        assert result.stderr.startswith(f"mmp: {name}: {message}")
        assert not Path("page.html").exists()


def test_a_file_that_browsers_cannot_hold_in_a_page_is_refused(mmp, decoder, encoded):
    most = 400_000_000
    assert 4 * most // 3 + 4 <= 2**29 - 24  # characters of Base64
    with open("large.mmp", "wb") as stream:
        stream.truncate(most + 1)
    result = mmp("page", encoded, "large.mmp", "-o", "page.html", "--no-layers")
    assert result.exit_code == 2
    assert "large.mmp: has 400000001 bytes, a page holds files of at most 400000000;" in (
        result.stderr
    )
    assert not Path("page.html").exists()


def test_options_of_a_page(mmp, decoder, encoded):
    options = ("--title", "Scans & more", "--no-layers", "--json")
    result = mmp("page", encoded, "-o", "p.htm", *options)
    page = Path("p.htm").read_text()
    facts = {"output": "p.htm", "files": 1, "bytes": len(page.encode())}
    assert json.loads(result.stdout) == facts
    assert "<title>Scans &amp; more</title>" in page
    assert "facts-0" not in page
    assert mmp("page", encoded, "-o", "p.htm", "-q", "-f", "-k", 0).output == ""
    assert json.loads(contents(Path("p.htm").read_text(), "facts-0"))["regions"] is None
    result = mmp("page", encoded, "-o", "-", "--offset", "100")
    assert json.loads(contents(result.stdout, "facts-0"))["regions"]["offset"] == 100
    assert result.stderr.startswith("stdout: 1 file, ")


def test_a_folder_gives_what_browsers_show(mmp, decoder, encoded, folder):
    (folder / "scans" / "old").mkdir(parents=True)
    samples = np.zeros((9, 9), np.uint8)
    for name in ("a.png", "b.pgm", "old/c.webp"):
        pictures.write(samples, folder / "scans" / name)
    mmp("page", "scans", encoded, "-o", "page.html")
    listed = json.loads(contents(Path("page.html").read_text(), "files"))
    assert [entry["name"] for entry in listed] == ["a.png", "old/c.webp", "a.mmp"]
    assert [entry["isMmp"] for entry in listed] == [False, False, True]


@pytest.mark.parametrize("given", [["scans"], ["scans/a.mmp", "scans/b", "scans/c.bin"]])
def test_the_first_bytes_tell_an_mmp_file(mmp, decoder, encoded, picture, folder, given):
    (folder / "scans").mkdir()
    for name, source in {"a.mmp": picture, "b": encoded, "c.bin": picture}.items():
        (folder / "scans" / name).write_bytes(Path(source).read_bytes())
    result = mmp("page", *given, "-o", "page.html")
    assert result.exit_code == 0, result.stderr
    page = Path("page.html").read_text()
    found = {each["name"]: each["isMmp"] for each in json.loads(contents(page, "files"))}
    assert list(found.values()) == [False, True, False]
    facts = [json.loads(contents(page, f"facts-{number}")) for number in range(3)]
    assert [bool(each["layers"]) for each in facts] == [False, True, False]
    assert [each["problems"] for each in facts] == [{}] * 3


@pytest.mark.parametrize("command", ["page", "view"])
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["none.mmp"], 1, "none.mmp: No such file or directory"),
        (["-"], 2, "-: standard input cannot be shown; give files or folders"),
        (["a.pgm"], 2, "a.pgm: is PGM; pages show mmp, PNG, JPEG and WebP"),
        (["a.mmp", "./a.mmp"], 2, "./a.mmp: comes twice, also as a.mmp"),
        (["empty"], 1, "empty: holds no picture that a browser shows"),
        (["a.mmp", "--offset", "x"], 2, "offset = 'x': must be a part of white"),
        (["a.mmp", "--regions", "-1"], 2, "-1 is not in the range"),
    ],
)
def test_wrong_inputs(mmp, decoder, encoded, samples, files, command, arguments, code, message):
    Path("empty").mkdir()
    pictures.write(samples, "a.pgm")
    target = ["-o", "page.html"] if command == "page" else ["--no-open"]
    result = mmp(command, *arguments, *target)
    assert (result.exit_code, "page.html" in files()) == (code, False)
    assert message in result.stderr


@pytest.mark.parametrize(
    ("target", "code", "message"),
    [
        ("page.txt", 2, "-o: page.txt must end in .html or .htm, or be -"),
        ("there.html", 1, "there.html: exists; -f overwrites it"),
        ("no/page.html", 1, "no: is no such folder"),
    ],
)
def test_wrong_targets(mmp, decoder, encoded, target, code, message):
    Path("there.html").write_text("there")
    result = mmp("page", encoded, "-o", target)
    assert (result.exit_code, result.stderr) == (code, f"mmp: {message}\n")
    assert Path("there.html").read_text() == "there"


@pytest.mark.parametrize("arguments", [["page", "-o", "page.html"], ["view", "--no-open"]])
def test_without_the_decoder(mmp, missing, encoded, files, arguments):
    result = mmp(*arguments, encoded)
    assert result.exit_code == 1
    assert result.stderr == (
        f"mmp: {arguments[0]}: needs the decoder for browsers, decoder.js, which was not built; in "
        "a checkout of mmpcodec, make web builds it\n"
    )
    assert files() == ["a.mmp"]


@pytest.mark.parametrize(
    ("number", "code", "said"),
    [(signal.SIGINT, 0, b""), (signal.SIGTERM, 143, b"mmp: terminated\n")],
)
def test_a_view_lasts_until_it_is_ended(process, encoded, number, code, said):
    child = process("view", encoded, "--no-open", before=PATCHED)
    address = child.stdout.readline().decode().strip()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{32}/", address)
    with urllib.request.urlopen(address, timeout=30) as answer:
        assert b"a.mmp" in answer.read()
    with urllib.request.urlopen(f"{address}files/0", timeout=30) as answer:
        assert answer.read() == Path(encoded).read_bytes()
    child.send_signal(number)
    out, errors = child.communicate(timeout=60)
    assert (child.returncode, out, errors) == (code, b"", said)


@pytest.fixture
def browser(tmp_path, monkeypatch):
    """A browser that records its arguments and the page that it opens, and goes on until its end.

    Gives the file of its record.
    """
    record, program = tmp_path / "opened.json", tmp_path / "browser"
    program.write_text(
        f"""#!{sys.executable}
import json, os, stat, sys, time, urllib.parse, urllib.request
address = sys.argv[1]
path = urllib.request.url2pathname(urllib.parse.urlsplit(address).path)
modes = [stat.S_IMODE(os.stat(each).st_mode) for each in (path, os.path.dirname(path))]
found = {{"address": address, "path": path, "modes": modes, "text": open(path).read()}}
found["process"] = os.getpid()
with open({str(record)!r} + "~", "w") as stream:
    json.dump(found, stream)
os.replace({str(record)!r} + "~", {str(record)!r})
time.sleep(60)
"""
    )
    program.chmod(0o700)
    monkeypatch.setenv("BROWSER", f"{program} %s &")
    return record


def arguments_of_all():
    """Arguments of all processes."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # the process has ended
            yield path.read_bytes()


@pytest.mark.skipif(not os.path.exists("/proc/self/cmdline"), reason="needs the folder /proc")
def test_a_view_opens_the_browser_without_telling_others_the_secret(process, encoded, browser):
    """All users of a machine see the arguments of its processes."""
    child = process("view", encoded, before=PATCHED)
    said = child.stdout.readline().decode()
    address = re.fullmatch(r"1 file at (http://127\.0\.0\.1:\d+/[\w-]{32}/); Ctrl-C ends\n", said)[
        1
    ]
    end = time.monotonic() + 30
    while not browser.exists():
        assert time.monotonic() < end, "the browser was not started"
        time.sleep(0.02)
    opened = json.loads(browser.read_text())
    token = address.split("/")[3]
    arguments = list(arguments_of_all())
    os.kill(opened["process"], signal.SIGTERM)
    assert any(opened["address"].encode() in each for each in arguments)
    assert not any(token.encode() in each for each in arguments)
    assert opened["address"].startswith("file:///")
    assert opened["modes"] == [0o600, 0o700]
    assert f'content="0;url={address}"' in opened["text"]
    child.send_signal(signal.SIGINT)
    assert child.wait(60) == 0
    assert not Path(opened["path"]).parent.exists()


def test_a_view_without_a_browser_prints_the_address(process, encoded):
    opens = PATCHED + "import webbrowser; webbrowser.open = lambda url: False\n"
    child = process("view", encoded, before=opens)
    assert re.fullmatch(rb"http://127\.0\.0\.1:\d+/[\w-]{32}/\n", child.stdout.readline())
    child.send_signal(signal.SIGINT)
    assert child.wait(60) == 0


@pytest.fixture
def slow(files):
    """Files whose layers and regions take long: noise in lossless samples, and a checkerboard."""
    for kind, data in slow_files().items():
        Path(f"{kind}.mmp").write_bytes(data)
    return {"layers": "layers.mmp", "regions": "regions.mmp"}


@cache
def slow_files():
    noise = np.random.default_rng(1).integers(0, 256, (400, 400, 3)).astype(np.uint8)
    board = np.indices((1500, 1500)).sum(axis=0).astype(np.uint8) % 2 * 255
    return {
        "layers": mmpcodec.encode(noise, lam=0, preset="lossless"),
        "regions": mmpcodec.encode(board, lam=0, preset="plain"),
    }


@pytest.mark.parametrize(("kind", "wait"), [("layers", 0.1), ("layers", 0.6), ("regions", 0.3)])
def test_a_view_ends_while_facts_are_computed(process, slow, kind, wait):
    child = process("view", slow[kind], "--no-open", before=PATCHED)
    address = child.stdout.readline().decode().strip()

    def ask():
        port = int(address.split(":")[2].split("/")[0])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        with (
            contextlib.closing(connection),
            contextlib.suppress(OSError, http.client.HTTPException),
        ):
            connection.request("GET", f"/{address.split('/')[3]}/{kind}/0")
            connection.getresponse().read()  # unless the server has ended

    thread = threading.Thread(target=ask)
    thread.start()
    time.sleep(wait)
    child.send_signal(signal.SIGINT)
    out, errors = child.communicate(timeout=60)
    assert (child.returncode, out, errors) == (0, b"", b"")
    thread.join()


def test_a_page_says_that_a_search_was_stopped(mmp, decoder, slow, monkeypatch):
    usual = facts.RegionSearch
    monkeypatch.setattr(facts, "RegionSearch", lambda most, offset: usual(most, offset, 0.05))
    result = mmp("page", slow["regions"], "-o", "page.html")
    assert result.exit_code == 0, result.stderr
    found = json.loads(contents(Path("page.html").read_text(), "facts-0"))
    assert [layer["key"] for layer in found["layers"]] == ["edges", "bits"]
    assert (found["regions"], list(found["problems"])) == (None, ["regions"])
    assert "stopped after 0.05 seconds" in found["problems"]["regions"]


def test_a_page_holds_no_target_of_a_link_that_it_does_not_show(mmp, decoder, encoded):
    Path("secret").write_text("secret of somebody")
    Path("b.png").symlink_to("secret")
    result = mmp("page", encoded, "b.png", "-o", "page.html")
    assert result.exit_code == 1
    assert result.stderr == (
        "mmp: b.png: is a link to a file that is neither mmp nor PNG, JPEG or WebP\n"
    )
    assert not Path("page.html").exists()


def test_a_port_that_is_taken(mmp, decoder, encoded, process):
    child = process("view", encoded, "--no-open", before=PATCHED)
    port = child.stdout.readline().decode().split(":")[2].split("/")[0]
    before = threading.active_count()
    result = mmp("view", encoded, "--no-open", "--port", port)
    assert (result.exit_code, threading.active_count()) == (1, before)
    assert f"127.0.0.1, port {port}: Address already in use" in result.stderr
