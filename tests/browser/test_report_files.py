"""Files in the page of a report: decoded there by the real decoder, or by the browser."""

import base64
import re

import numpy as np
import pytest
from support.web.decoder import real_decoder, until, until_drawn
from support.web.pages import DESK, middle

import mmpcodec
from mmpcodec import pictures
from mmpcodec.bench.codecs.ours import ours
from mmpcodec.bench.codecs.peers import peers
from mmpcodec.bench.curves import grouped
from mmpcodec.bench.report import write_page
from mmpcodec.bench.results import Results, key_of
from mmpcodec.bench.sweep import Original, sweep
from mmpcodec.metadata import Metadata

pytestmark = pytest.mark.browser

HEIGHT, WIDTH = 96, 128
PLACES = [(16, 16), (64, 48), (111, 79)]
"""Columns and rows around which samples are compared."""
OURS = "mmp:preset=photo"


def waves(planes, depth):
    """Waves of an own period in each plane, (H, W) or (H, W, planes)."""
    rows, columns = np.indices((HEIGHT, WIDTH))
    each = [
        0.5 + 0.25 * np.sin(rows / (5 + 2 * plane)) + 0.2 * np.cos(columns / (9 - plane))
        for plane in range(planes)
    ]
    levels = np.rint(np.dstack(each) * ((1 << depth) - 1))
    return levels.astype(np.uint16 if depth > 8 else np.uint8).squeeze()


HOLD = """
const post = Worker.prototype.postMessage, held = [];
Worker.prototype.postMessage = function (...all) {
    held.push(() => post.apply(this, all));
};
window.release = () => held.splice(0).forEach(each => each());
window.held = held;
window.ended = 0;
const end = Worker.prototype.terminate;
Worker.prototype.terminate = function () { window.ended++; end.call(this); };
"""
"""Workers get their tasks when the test says so, and count when they are ended."""


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """Writes the page of a picture by mmpcodec and peers, with the real decoder or without."""
    pytest.importorskip("jinja2")
    pytest.importorskip("bjontegaard")

    def write(samples, depth=8, *, white=None, codecs="", decoder=True):
        original = Original("a.png", samples, depth, white)
        own = ours({"preset": "photo"}, [32], original.kind)
        results = Results(tmp_path_factory.mktemp("swept"), create=True)
        others = peers(codecs, original.kind) if codecs else []
        list(sweep(original, [own, *others], results))
        path = results.folder / "report.html"
        script = real_decoder() if decoder else None
        write_page(grouped(results.rows()), results, path, own.name, decoder=script)
        return path

    return write


@pytest.fixture(scope="module")
def report(swept):
    """The page of a gray picture, with one peer."""
    return swept(waves(1, 8), codecs="jpeg:quality=30")


def rows_of(path):
    """The results of a page by their codecs."""
    return {row["codec"]: row for row in Results(path.parent).rows()}


def decoded(path, codec):
    """What Python decodes the file of a codec to."""
    results = Results(path.parent)
    return pictures.read(results.decoded(key_of(rows_of(path)[codec])))


def said(page):
    return page.locator("#decoding").inner_text()


@pytest.mark.parametrize(
    ("planes", "depth", "white"),
    [
        (1, 8, None),
        (3, 8, None),
        (1, 8, 200),
        (1, 5, None),
        (1, 12, None),
        (3, 16, None),
        (1, 16, 40000),
        (2, 8, None),
        (4, 16, None),
    ],
)
def test_what_is_shown_is_what_python_decodes(opened, swept, planes, depth, white):
    path = swept(waves(planes, depth), depth, white=white)
    (row,) = rows_of(path).values()
    found = pictures.Picture(decoded(path, row["codec"]).samples, depth, Metadata(white=white))
    assert (found.samples == mmpcodec.decode(Results(path.parent).coded(row).read_bytes())).all()
    original = pictures.Picture(waves(planes, depth), depth, Metadata(white=white)).without_alpha()
    low, high = 0, found.white
    if depth > 8:
        low, high = int(original.samples.min()), int(original.samples.max())
    for side, picture in (("a", found.without_alpha()), ("original", original)):
        samples = picture.samples.reshape(HEIGHT, WIDTH, -1).astype(float)
        expected = np.clip((samples - low) * 255 / (high - low), 0, 255)
        expected = np.broadcast_to(expected, (HEIGHT, WIDTH, 3))
        for x, y in PLACES:
            a = "&a=original" if side == "original" else ""
            page = opened(f"#by=flip&zoom=1&x={x}&y={y}{a}", path=path, **DESK)
            np.testing.assert_allclose(
                middle(page, 16), expected[y - 8 : y + 8, x - 8 : x + 8], atol=0.51
            )


@pytest.mark.parametrize(("planes", "depth"), [(1, 8), (3, 8), (1, 12), (3, 16)])
def test_each_sample_counts_in_the_difference(opened, swept, planes, depth):
    path = swept(waves(planes, depth), depth)
    (codec,) = rows_of(path)
    page = opened("#b=original&by=difference&gain=1", path=path, **DESK)
    error = np.abs(decoded(path, codec).samples.astype(int) - waves(planes, depth))
    assert error.any()
    assert page.locator("#caption-difference").inner_text() == (
        f"A \N{MINUS SIGN} B, 1 times, around mid-gray: mean difference {error.mean():.3f}, "
        f"largest {error.max()} of {(1 << depth) - 1}"
    )


@pytest.mark.parametrize(
    ("codec", "planes", "largest"),
    [
        ("jpeg:quality=30", 1, 0),
        ("jpeg:quality=30,chroma=444", 3, 0),
        ("jpeg:quality=30,chroma=420", 3, 0),
        ("webp:quality=30", 1, 1),  # whose red, green and blue are not equal
        ("webp:quality=30", 3, 0),
        ("avif:tune=psnr,quality=30,speed=9", 1, 0),
        ("avif:tune=psnr,quality=30,speed=9,chroma=444", 3, 0),
        ("avif:tune=psnr,quality=30,speed=9,chroma=420", 3, 0),
    ],
)
def test_the_browser_decodes_files_of_peers(opened, swept, codec, planes, largest):
    path = swept(waves(planes, 8), codecs=codec)
    (peer,) = set(rows_of(path)) - {OURS}
    page = opened("#b=original&by=flip&side=a&zoom=1&x=64&y=48", path=path, **DESK)
    page.locator("#side-a").select_option(peer)
    until_drawn(page)
    expected = decoded(path, peer).samples.reshape(HEIGHT, WIDTH, -1)[40:56, 56:72].astype(int)
    assert np.abs(middle(page, 16) - expected).max() <= largest


def broken(path, codec, change):
    """Write the page again, with a changed file of a codec."""
    key, page = key_of(rows_of(path)[codec]), path.read_text()
    found = re.search(f'(id="image-{key}" data-kind="[^>]+>)([^<]+)<', page)
    data = bytearray(base64.b64decode(found[2]))
    text = base64.b64encode(change(data)).decode()
    other = path.with_name(f"broken-{len(text)}.html")
    other.write_text(page.replace(found[0], f"{found[1]}{text}<"))
    return other


def flipped(data):
    data[len(data) // 2] ^= 255
    return data


@pytest.mark.parametrize(
    ("codec", "change", "expected"),
    [
        (OURS, flipped, "stream CRC is"),
        (OURS, lambda data: data[:-9], "file has"),
        (OURS, lambda data: data + b"x", "1 bytes follow the last tile"),
        (OURS, lambda data: b"", "file is empty"),
        (OURS, lambda data: mmpcodec.encode(np.zeros((9, 7), np.uint8), 0),
         "its file is 7x9, not 128x96"),
        ("jpeg", lambda data: data[:20], "this browser cannot decode its image/jpeg"),
    ],
)  # fmt: skip
def test_a_broken_file_says_so_and_the_rest_works(opened, report, codec, change, expected):
    page = opened("#by=flip", path=broken(report, codec, change), **DESK)
    page.locator("#side-a").select_option(codec)
    page.locator("#side-b").select_option("original")
    until_drawn(page)
    assert said(page).startswith(f"{codec} cannot be shown: ")
    assert expected in said(page)
    page.locator("#difference").click()
    assert said(page).startswith(f"{codec} cannot be shown: ")
    assert page.locator("#caption-difference").inner_text() == ""
    page.locator("#flip").click()
    until_drawn(page)
    page.locator("#canvas").click()
    until_drawn(page)
    other = {OURS: "jpeg", "jpeg": OURS}[codec]
    page.locator("#side-a").select_option(other)
    page.locator("#zoom-one").click()
    until_drawn(page)
    assert said(page) == ""
    assert np.ptp(middle(page, 16)) > 0
    assert page.locator("#results tbody tr").count() == 2
    assert page.locator("#tree").is_enabled()


def test_the_page_says_that_it_decodes(browser, report):
    context = browser.new_context(**DESK)
    page = context.new_page()
    page.add_init_script(HOLD)
    page.goto(report.as_uri() + "#by=flip")
    until(page, "held.length > 0")
    assert said(page) == f"Decoding {OURS} …"
    assert page.locator("#canvas").get_attribute("data-waiting") == "1"
    assert page.evaluate("held.length") == 1  # nothing that is not looked at
    page.evaluate("release()")
    until_drawn(page)
    assert said(page) == ""
    assert page.evaluate("held.length") == 0
    context.close()


def test_leaving_a_picture_ends_its_decoding(browser, tmp_path):
    pytest.importorskip("jinja2")
    results = Results(tmp_path, create=True)
    for number, samples in enumerate((waves(1, 8), waves(1, 8)[::-1])):
        list(sweep(Original(f"{number}.png", samples), [ours({"preset": "photo"}, [32])], results))
    path = tmp_path / "report.html"
    write_page(grouped(results.rows()), results, path, OURS, decoder=real_decoder())
    context = browser.new_context(**DESK)
    page = context.new_page()
    page.add_init_script(HOLD)
    page.goto(path.as_uri() + "#by=flip&side=a")
    until(page, "held.length === 1")
    page.locator("#picture").select_option(index=1)
    until(page, "held.length === 2")
    assert page.evaluate("ended") == 1
    page.evaluate("release()")
    until_drawn(page)
    assert said(page) == ""
    page.locator("#picture").select_option(index=0)
    until(page, "held.length === 1")
    page.evaluate("release()")
    until_drawn(page)
    assert said(page) == ""
    context.close()


def test_without_the_decoder_pngs_are_shown(opened, swept):
    path = swept(waves(3, 8), decoder=False)
    page = opened("#by=flip&zoom=1&x=64&y=48", path=path, **DESK)
    (codec,) = rows_of(path)
    np.testing.assert_array_equal(middle(page, 16), decoded(path, codec).samples[40:56, 56:72])
    assert page.locator("#notes").inner_text().startswith("Of mmp, it shows PNGs of what")
    assert "make web builds it" in page.locator("#notes").inner_text()


def test_the_policy_forbids_requests(browser, report):
    """A script in the page cannot ask anything, neither of a server nor of a disk."""
    context = browser.new_context(**DESK)
    page = context.new_page()
    page.goto(report.as_uri())
    until_drawn(page)
    asked = """async () => {
        const refused = [], image = new Image();
        const hear = event => refused.push(event.effectiveDirective);
        document.addEventListener("securitypolicyviolation", hear);
        const loaded = new Promise(done => { image.onload = image.onerror = e => done(e.type); });
        image.src = "http://127.0.0.1:9/x.png";
        await fetch("http://127.0.0.1:9/x").catch(() => null);
        await loaded;
        return refused.sort();
    }"""
    assert page.evaluate(asked) == ["connect-src", "img-src"]
    context.close()
