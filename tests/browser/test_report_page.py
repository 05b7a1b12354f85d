"""A report in Chromium: read off, sorted, flipped, zoomed, on a desk and on a phone."""

import os
import shutil

import numpy as np
import pytest

from mmpcodec.bench.codecs.ours import ours
from mmpcodec.bench.codecs.peers import peers
from mmpcodec.bench.curves import grouped
from mmpcodec.bench.report import write_page
from mmpcodec.bench.results import Results
from mmpcodec.bench.sweep import Original, sweep

pytestmark = pytest.mark.browser

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
DESK = {"viewport": {"width": 1100, "height": 900}}
PHONE = {
    "viewport": {"width": 390, "height": 844},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
}


def waves(period):
    rows, columns = np.indices((96, 128))
    return (128 + 70 * np.sin(rows / period) + 50 * np.cos(columns / 5)).astype(np.uint8)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The page of two pictures."""
    pytest.importorskip("jinja2")
    pytest.importorskip("bjontegaard")
    results = Results(tmp_path_factory.mktemp("sweep"), create=True)
    codecs = [ours({}, [8, 32, 128, 512]), *peers("jpeg:quality=20/40/60/80/90")]
    for name, period in (("first.pgm", 9), ("second.pgm", 4)):
        list(sweep(Original(name, waves(period)), codecs, results))
    path = results.folder / "report.html"
    write_page(grouped(results.rows()), results, path, "jpeg")
    return path


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no chromium")
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with playwright.sync_playwright() as running:
        started = running.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield started
        started.close()


@pytest.fixture
def opened(browser, report):
    """Opens the page; at the end, nothing may have gone wrong in it or come from elsewhere."""
    contexts, problems, requests = [], [], []

    def open_page(**device):
        context = browser.new_context(**device)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda said: problems.append(said.text) if said.type == "error" else 0)
        page.on("request", lambda request: requests.append(request.url))
        page.goto(report.as_uri())
        page.wait_for_function("document.getElementById('canvas').dataset.shown")
        page.wait_for_timeout(200)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert problems == []
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []


def pixels(page):
    """What the canvas shows, as text to compare."""
    return page.evaluate("document.getElementById('canvas').toDataURL()")


def shown(page):
    return page.locator("#canvas").get_attribute("data-shown")


def zoom(page):
    return float(page.locator("#canvas").get_attribute("data-zoom"))


def test_curves_are_read_off(opened):
    page = opened(**DESK)
    assert page.locator("#metric").input_value() == "psnr"
    assert page.locator("#chart polyline").count() == 2
    box = page.locator("#chart svg").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    values = page.locator("#legend b").all_inner_texts()
    assert any(value.endswith(" dB") for value in values)
    tip = page.locator("#chart .box-text").all_text_contents()
    assert tip[0] in ("jpeg", "mmp:preset=plain")
    assert "bytes" in tip[1]
    page.locator("#legend button", has_text="jpeg").click()
    assert page.locator("#chart polyline").count() == 1
    page.locator("#metric").select_option("ssim")
    assert "SSIM" in page.locator("#chart svg").text_content()
    page.locator("#metric").select_option("ms_ssim")  # 96x128 is too small
    assert "no values" in page.locator("#chart svg").text_content()


def test_tables_sort(opened):
    page = opened(**DESK)

    def rates():
        texts = page.locator("#deltas tbody tr td:nth-child(3)").all_text_contents()
        return [float(text) for text in texts]

    assert len(rates()) == 3
    page.locator("#deltas th button", has_text="BD-rate").click()
    assert rates() == sorted(rates())
    page.locator("#deltas th button", has_text="BD-rate").click()
    assert rates() == sorted(rates(), reverse=True)
    assert page.locator("#results tbody tr").count() == 9
    page.locator("#results th button", has_text="bytes").click()
    sizes = page.locator("#results tbody tr td:nth-child(3)").all_text_contents()
    assert [int(text) for text in sizes] == sorted(int(text) for text in sizes)


def test_pictures_are_wiped_and_flipped(opened):
    page = opened(**DESK)
    assert shown(page) == "both"
    half = pixels(page)
    page.locator("#divider").fill("1000")
    only_a = pixels(page)
    assert only_a != half
    page.locator("#flip").click()
    assert (shown(page), pixels(page)) == ("a", only_a)
    page.locator("#canvas").click()
    assert shown(page) == "b"
    assert pixels(page) != only_a
    page.keyboard.press("Space")
    assert shown(page) == "a"
    assert "bytes" in page.locator("#caption-b").inner_text()
    assert "%" in page.locator("#caption-b").inner_text()


def test_the_canvas_has_the_samples(opened):
    page = opened(**DESK)
    page.locator("#side-a").select_option("original")
    page.locator("#flip").click()
    page.locator("#zoom-one").click()
    read = """() => {
        const canvas = document.getElementById("canvas");
        const x = Math.floor(canvas.width / 2), y = Math.floor(canvas.height / 2);
        return [...canvas.getContext("2d").getImageData(x - 20, y - 20, 40, 40).data];
    }"""
    red = np.array(page.evaluate(read)).reshape(40, 40, 4)[..., 0]
    original = waves(9)
    windows = np.lib.stride_tricks.sliding_window_view(original, (40, 40))
    assert (windows == red).all(axis=(2, 3)).any()


def test_tree_and_zoom(opened):
    page = opened(**DESK)
    plain, fitted = pixels(page), zoom(page)
    page.locator("#tree").check()
    page.wait_for_timeout(200)
    assert pixels(page) != plain
    page.locator("#zoom-in").click()
    assert zoom(page) == pytest.approx(1.5 * fitted)
    page.locator("#canvas").hover()
    page.mouse.wheel(0, -250)
    page.wait_for_timeout(100)
    assert zoom(page) == pytest.approx(3 * fitted)
    before = pixels(page)
    page.mouse.down()
    box = page.locator("#canvas").bounding_box()
    page.mouse.move(box["x"] + 60, box["y"] + 60)
    page.mouse.up()
    assert pixels(page) != before
    page.locator("#zoom-fit").click()
    page.locator("#tree").uncheck()
    assert (pixels(page), zoom(page)) == (plain, fitted)


def test_other_pictures_and_rates(opened):
    page = opened(**DESK)
    first, caption = pixels(page), page.locator("#caption-a").inner_text()
    page.locator("#view").select_option(index=1)
    page.wait_for_timeout(200)
    assert page.locator("#caption-a").inner_text() != caption
    page.locator("#picture").select_option(index=1)
    page.wait_for_timeout(200)
    assert page.locator("#results-picture").inner_text() == "second.pgm"
    assert pixels(page) != first


def test_on_a_phone(opened):
    page = opened(**PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.locator("#flip").tap()
    assert shown(page) == "a"
    page.locator("#canvas").tap()
    assert shown(page) == "b"
    page.locator("#legend button").first.tap()
    assert page.locator("#chart polyline").count() == 1
    for node in page.locator("select, .controls button").all():
        assert node.bounding_box()["height"] >= 32
