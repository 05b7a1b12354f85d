"""Pages of the viewer: nothing from elsewhere, a policy by hashes, files as they are."""

import base64
import hashlib
import json
import re

import pytest

from mmpcodec.errors import MissingExtra
from mmpcodec.web import parts
from mmpcodec.web.pages import PageEntry, page, redirect, title_of

DECODER = "const decoder = {};"
HOSTILE = '</script><script>alert("1")</script>&<b>.mmp'


def entries():
    data = bytes(range(256))
    return [
        PageEntry(
            "a.mmp", 256, True, data=lambda: data, facts=lambda: {"layers": [], "name": HOSTILE}
        ),
        PageEntry(HOSTILE, 7, False, address="files/1", facts_addresses={"layers": "layers/1"}),
    ]


@pytest.fixture
def text():
    return "".join(page(entries(), DECODER, HOSTILE, asks=False))


def scripts(text, kind=None):
    """Contents of the scripts of a page, of one type."""
    opening = "<script>" if kind is None else f'<script type="{kind}" id="[a-z0-9-]+">'
    return re.findall(f"{opening}(.*?)</script>", text, re.DOTALL)


def test_only_its_own_scripts_run(text):
    found = scripts(text)
    assert len(found) == 2
    rules = dict(
        rule.split(" ", 1)
        for rule in re.search('Security-Policy" content="(.*?)"', text)[1].split("; ")
    )
    hashes = [base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in found]
    named = [f"'sha256-{each}'" for each in hashes]
    assert rules["script-src"].split() == [*named, "'wasm-unsafe-eval'"]
    style = re.search("<style>(.*?)</style>", text, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert rules["style-src"] == f"'sha256-{digest}'"
    assert rules["default-src"] == rules["connect-src"] == "'none'"
    assert re.search(r"\son\w+=|style=", re.sub("<script.*?</script>", "", text)) is None


def test_nothing_comes_from_elsewhere(text):
    without = re.sub('<script type="text/plain".*?</script>', "", text)
    assert re.findall(r"""(?:src|href)=["'](?!data:,)""", without) == []
    addresses = re.findall(r"[a-z]+://[^\s\"'`]+", without)
    assert addresses == []
    assert "@import" not in without
    assert "url(" not in re.search("<style>(.*?)</style>", text, re.DOTALL)[1]


def test_a_served_page_asks_its_server_only():
    text = "".join(page(entries(), DECODER, "a", asks=True))
    assert "connect-src 'self';" in text


def test_files_and_names_are_as_they_were(text):
    listed, facts = map(json.loads, scripts(text, "application/json"))
    assert [entry["name"] for entry in listed] == ["a.mmp", HOSTILE]
    assert [entry["isMmp"] for entry in listed] == [True, False]
    assert listed[1]["address"] == "files/1"
    assert facts == {"layers": [], "name": HOSTILE}
    (data,) = scripts(text, "text/plain")
    assert base64.b64decode(data) == bytes(range(256))
    assert "<title>&lt;/script&gt;" in text


def test_a_page_is_the_files_and_little_more():
    sizes = []
    for count in (0, 300_000):
        entry = PageEntry("a.mmp", count, True, data=lambda count=count: bytes(count))
        sizes.append(len("".join(page([entry], DECODER, "a", asks=False))))
    assert sizes[0] < 120_000
    assert sizes[1] - sizes[0] == pytest.approx(400_000, abs=10)


def test_files_are_read_one_at_a_time():
    read = []

    def data(number):
        read.append(number)
        return b"x"

    given = [
        PageEntry("a.mmp", 1, True, data=lambda number=number: data(number)) for number in (0, 1)
    ]
    for piece in page(given, DECODER, "a", asks=False):
        if 'id="file-0"' in piece:
            assert read == [0]
    assert read == [0, 1]


def test_a_title_that_is_no_text():
    assert "<title>a\\udcff\\x1b</title>" in "".join(page([], "", "a\udcff\x1b", asks=False))


def test_titles():
    assert title_of(["a"]) == "a"
    assert title_of(["a", "b", "c"]) == "a and 2 more"


def test_without_the_decoder(monkeypatch, tmp_path):
    monkeypatch.setattr(parts, "FOLDER", tmp_path)
    with pytest.raises(MissingExtra, match=r"^view: needs .* decoder\.js, .* make web builds it$"):
        parts.check_decoder("view")


def test_the_decoder_is_the_built_script(monkeypatch, tmp_path):
    monkeypatch.setattr(parts, "FOLDER", tmp_path)
    (tmp_path / parts.DECODER).write_text(DECODER)
    assert parts.decoder_script() == DECODER


def test_a_page_that_leads_to_another():
    text = redirect("http://127.0.0.1:7/a&b/")
    assert '<meta http-equiv="refresh" content="0;url=http://127.0.0.1:7/a&amp;b/">' in text
    assert '<a href="http://127.0.0.1:7/a&amp;b/">' in text
    assert '<meta name="referrer" content="no-referrer">' in text
