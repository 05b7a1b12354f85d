"""A report in Chromium: read off, sorted, flipped, zoomed, on a desk and on a phone."""

import json
import re
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest
from support.web.decoder import until, until_drawn
from support.web.pages import AXE_RULES, DESK, PHONE, middle

from mmpcodec import pictures
from mmpcodec.bench.codecs.ours import ours
from mmpcodec.bench.codecs.peers import peers
from mmpcodec.bench.curves import grouped
from mmpcodec.bench.metrics import metrics_of
from mmpcodec.bench.report import write_page
from mmpcodec.bench.results import Results, key_of
from mmpcodec.bench.sweep import Original, sweep

pytestmark = pytest.mark.browser


def waves(period):
    rows, columns = np.indices((96, 128))
    return (128 + 70 * np.sin(rows / period) + 50 * np.cos(columns / 5)).astype(np.uint8)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The page of two pictures."""
    pytest.importorskip("jinja2")
    pytest.importorskip("bjontegaard")
    results = Results(tmp_path_factory.mktemp("sweep"), create=True)
    codecs = [ours({"preset": "plain"}, [8, 32, 128, 512]), *peers("jpeg:quality=20/40/60/80/90")]
    for name, period in (("first.pgm", 9), ("second.pgm", 4)):
        list(sweep(Original(name, waves(period)), codecs, results))
    path = results.folder / "report.html"
    write_page(grouped(results.rows()), results, path, "jpeg")
    return path


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
    assert "no values" in page.locator("#chart").text_content()


@pytest.fixture(scope="module")
def eyes(report):
    """The page of the same results with Butteraugli, where less is better."""
    results = Results(report.parent)
    codecs = [ours({"preset": "plain"}, [8, 32, 128, 512]), *peers("jpeg:quality=20/40/60/80/90")]
    metrics = metrics_of("psnr,butteraugli")
    for name, period in (("first.pgm", 9), ("second.pgm", 4)):
        list(sweep(Original(name, waves(period)), codecs, results, metrics=metrics))
    path = results.folder / "eyes.html"
    write_page(grouped(results.rows()), results, path, "jpeg", "butteraugli", limits=(1, 9))
    return path


def test_deltas_and_axis_follow_the_metric(opened, eyes):
    page = opened(path=eyes, **DESK)

    def said():
        """The heading, the hint and the mean BD-rate of the deltas."""
        texts = (page.locator(f"#deltas-{name}").text_content() for name in ("title", "better"))
        return *texts, page.locator("#deltas .mean td:nth-child(3)").first.text_content()

    def ends():
        """Heights of the first and the last point of a curve, from the top."""
        points = page.locator("#chart polyline").first.get_attribute("points").split()
        return [float(points[place].split(",")[1]) for place in (0, -1)]

    heading, hint, rate = said()
    assert heading == "BD-rate and BD-Butteraugli from 1 to 9"
    assert hint == "negative BD-rate and negative BD-quality"
    assert ends()[0] > ends()[1]
    assert "Butteraugli" in page.locator("#caption-b").text_content()
    page.locator("#metric").select_option("psnr")
    assert said()[:2] == ("BD-rate and BD-PSNR", "negative BD-rate and positive BD-quality")
    assert said()[2] != rate
    assert ends()[0] > ends()[1]
    assert "Butteraugli" in page.locator("#results thead").text_content()


def colours_of_curves(page):
    """Computed colours of the page and of the curves, drawn last to first."""
    return page.evaluate("""() => [
        getComputedStyle(document.documentElement).backgroundColor,
        ...[...document.querySelectorAll("#drawing polyline")].map(e => getComputedStyle(e).stroke),
    ]""")


def test_light_and_dark(opened):
    light = ["rgb(255, 255, 255)", "rgb(34, 102, 221)", "rgb(212, 61, 0)"]
    dark = ["rgb(18, 23, 30)", "rgb(85, 102, 153)", "rgb(255, 92, 51)"]
    assert colours_of_curves(opened(**DESK, color_scheme="dark")) == dark
    page = opened(**DESK, color_scheme="light")
    assert colours_of_curves(page) == light
    page.emulate_media(color_scheme="dark")
    until(page, "document.documentElement.dataset.theme === 'dark'")
    assert colours_of_curves(page) == dark
    page.locator("#theme").select_option("light")
    assert colours_of_curves(page) == light
    page.reload()
    assert page.locator("#theme").input_value() == "light"
    assert colours_of_curves(page) == light
    page.locator("#theme").select_option("dark")
    page.emulate_media(color_scheme="light")
    assert colours_of_curves(page) == dark
    page.emulate_media(media="print")
    assert colours_of_curves(page) == light


def test_curves_have_markers(opened):
    page = opened(**DESK)
    shapes = page.evaluate("""() => [...document.querySelectorAll("#drawing .marker")].map(
        each => [each.getAttribute("d"), each.getAttribute("style")])""")
    assert [shapes.count(shape) for shape in (shapes[0], shapes[-1])] == [5, 4]
    assert len({path for path, _ in shapes}) == 2


def reading(page):
    """Lines of the box with the values of a point; none where the box is hidden."""
    return page.locator("#reading-text .box-text:visible").all_inner_texts()


def test_a_press_keeps_the_values(opened):
    page = opened(**DESK)
    box = page.locator("#drawing .marker").last.bounding_box()
    page.mouse.move(box["x"] + 1, box["y"] + 1)
    hovered = reading(page)
    assert hovered[0] == "mmp:preset=plain"
    page.mouse.move(5, 5)
    assert reading(page) == []
    page.mouse.click(box["x"] + 3, box["y"] + 3)
    page.mouse.move(5, 5)
    assert reading(page) == hovered
    assert page.locator("#legend b").first.inner_text().endswith(" dB")
    page.locator("#metric").select_option("ssim")
    assert reading(page) == hovered
    page.get_by_role("button", name="Close the values").click()
    assert reading(page) == []


def test_keys_move_along_the_curves(opened):
    page = opened(**DESK)
    page.locator("#theme").focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "chart"
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert page.evaluate(outline) == "solid"
    page.keyboard.press("ArrowRight")
    assert reading(page)[1].startswith("lambda 512: ")
    page.keyboard.press("ArrowRight")
    said = page.get_by_role("status").first
    assert said.inner_text().startswith("mmp:preset=plain, lambda 128: ")
    assert said.inner_text().endswith("; point 2 of 4")
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")
    assert reading(page)[1].startswith("lambda 8: ")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    assert reading(page)[0] == "jpeg"
    assert "jpeg, quality " in said.inner_text()
    page.keyboard.press("ArrowUp")
    assert reading(page)[0] == "mmp:preset=plain"
    page.keyboard.press("Escape")
    assert (reading(page), said.inner_text()) == ([], "")


def test_pressed_buttons_keep_the_focus(opened):
    page = opened(**DESK)
    for button in (page.locator("#legend button").first, page.locator("#results th button").nth(2)):
        button.focus()
        page.keyboard.press("Enter")
        assert button.evaluate("node => node === document.activeElement")
    assert page.locator("#drawing polyline").count() == 1
    assert page.locator("#results th").nth(2).get_attribute("aria-sort") == "ascending"


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


def versions(report, codec):
    """Original and decoded samples of a codec in the first view of the first picture."""
    results = Results(report.parent)
    (data,) = re.findall(r'id="data">(.*?)</script>', report.read_text())
    (key,) = (
        view["key"]
        for view in json.loads(data)["pictures"][0]["views"][0]
        if view["codec"] == codec
    )
    sha256 = next(row["picture"] for row in results.rows() if key_of(row) == key)
    paths = results.original(sha256), results.decoded(key)
    return [pictures.read(path).samples.astype(int) for path in paths]


@pytest.mark.parametrize("gain", [1, 8, 64])
def test_difference_is_amplified(opened, report, gain):
    page = opened(**DESK)
    assert page.locator("#gain").is_disabled()
    page.locator("#difference").click()
    page.locator("#gain").select_option(str(gain))
    page.locator("#side-b").select_option("original")
    page.locator("#zoom-one").click()
    assert shown(page) == "difference"
    original, ours = versions(report, "mmp:preset=plain")
    expected = np.clip(128 + gain * (ours - original), 0, 255)
    found = middle(page, 40)
    assert (found == found[..., :1]).all()
    windows = np.lib.stride_tricks.sliding_window_view(expected, (40, 40))
    assert (windows == found[..., 0]).all(axis=(2, 3)).sum() == 1
    error = np.abs(ours - original)
    assert page.locator("#caption-difference").inner_text() == (
        f"A \N{MINUS SIGN} B, {gain} times, around mid-gray: mean difference {error.mean():.3f}, "
        f"largest {error.max()} of 255"
    )


def test_difference_between_codecs(opened, report):
    page = opened("#by=difference", **DESK)
    (_, ours), (_, peer) = (versions(report, codec) for codec in ("mmp:preset=plain", "jpeg"))
    assert (
        f"largest {np.abs(ours - peer).max()} of 255"
        in page.locator("#caption-difference").inner_text()
    )
    page.locator("#side-a").select_option("jpeg")
    assert page.locator("#caption-difference").inner_text() == "A and B are equal"
    page.locator("#zoom-one").click()
    assert (middle(page, 40) == 128).all()


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Writes the page of an original and a decoded picture, as a sweep leaves them."""
    pytest.importorskip("jinja2")

    def write(original, decoded):
        results = Results(tmp_path_factory.mktemp("stored"), create=True)
        row = {"picture": "a" * 64, "name": "a.png", "width": 128, "height": 96, "codec": "jpeg"}
        row |= {"knob": "quality", "point": 50, "bytes": 900, "bpp": 0.6, "psnr": 40.0, "ssim": 1.0}
        row |= {"ms_ssim": None, "max_error": 1, "encode_seconds": 0.1, "decode_seconds": 0.1}
        row |= {"depth": original.depth, "white": original.white, "versions": {}, "settings": ""}
        row |= {"backend": "cpu", "machine": "a machine"}
        pictures.write(original, results.original(row["picture"]))
        pictures.write(decoded, results.decoded(key_of(row)))
        path = results.folder / "report.html"
        write_page(grouped([row]), results, path, "jpeg")
        return path

    return write


@pytest.mark.parametrize(("planes", "depth"), [(3, 8), (1, 12), (3, 16)])
def test_colours_and_deep_samples(opened, stored, planes, depth):
    random = np.random.default_rng(depth)
    kind, white, shape = np.uint16 if depth > 8 else np.uint8, (1 << depth) - 1, (96, 128, planes)
    # Samples that differ by a few levels, which an 8-bit copy of deep samples does not show.
    first = random.integers(9, white - 9, shape).astype(kind).squeeze()
    second = (first + random.integers(-9, 10, first.shape)).astype(kind)
    path = stored(*(pictures.Picture(each, depth) for each in (first, second)))
    page = opened("#b=original&by=flip&side=b", path=path, **DESK)
    page.locator("#zoom-one").click()
    low, high = (first.min(), first.max()) if depth > 8 else (0, white)
    expected = (first.reshape(shape).astype(float) - low) * 255 / (high - low)
    corner = np.s_[38:58, 54:74]  # 20x20 samples in the middle
    np.testing.assert_allclose(
        middle(page, 20), np.broadcast_to(expected[corner], (20, 20, 3)), atol=0.51
    )
    gain = 8 if depth == 8 else 256
    page.locator("#difference").click()
    page.locator("#gain").select_option(str(gain))
    error = second.astype(int).reshape(shape) - first.reshape(shape)
    expected = np.clip(128 + gain * error * (255 / white), 0, 255)
    np.testing.assert_allclose(
        middle(page, 20), np.broadcast_to(expected[corner], (20, 20, 3)), atol=0.51
    )
    assert (
        f"largest {np.abs(error).max()} of {white}"
        in page.locator("#caption-difference").inner_text()
    )


def state(page):
    """The names and values of the address."""
    return dict(parse_qsl(urlsplit(page.url).fragment))


def visible(page):
    """All that the page shows: choices, values, sides, view and zoom."""
    page.wait_for_timeout(400)
    controls = page.evaluate("""() =>
        [...document.querySelectorAll("select, input, [aria-pressed]")].map(
            e => [e.id, e.checked, e.value, e.getAttribute("aria-pressed")])""")
    return controls, colours_of_curves(page), reading(page), shown(page), zoom(page), pixels(page)


def test_the_address_keeps_the_state(opened):
    page = opened(**DESK)
    assert state(page) == {}
    page.locator("#picture").select_option(index=1)
    page.locator("#metric").select_option("ssim")
    page.locator("#legend button", has_text="jpeg").click()
    page.locator("#chart").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.locator("#view").select_option(index=1)
    page.locator("#side-b").select_option("original")
    page.locator("#flip").click()
    page.locator("#flip").click()
    page.locator("#divider").evaluate(
        "e => { e.value = 300; e.dispatchEvent(new Event('input')); }"
    )
    page.locator("#tree").check()
    page.locator("#zoom-in").click()
    page.locator("#canvas").press("ArrowRight")
    before = visible(page)
    known = state(page)
    assert known.pop("picture") == page.evaluate(
        "JSON.parse(document.getElementById('data').textContent).pictures[1].id"
    )
    position = {name: float(known.pop(name)) for name in ("zoom", "x", "y")}
    assert position["zoom"] == pytest.approx(zoom(page), abs=1e-3)
    assert (position["x"] > 64, position["y"]) == (True, 48)
    assert known == {
        "metric": "ssim",
        "hide": "jpeg",
        "curve": "mmp:preset=plain",
        "point": "128",
        "rate": "1",
        "b": "original",
        "by": "flip",
        "side": "b",
        "split": "300",
        "tree": "1",
    }
    page.reload()
    until_drawn(page)
    after = visible(page)
    assert after[:4] == before[:4]
    assert after[4] == pytest.approx(before[4], abs=1e-3)


def test_back_and_forward(opened):
    page = opened(**DESK)
    seen = [visible(page)]
    for step in (
        lambda: page.locator("#picture").select_option(index=1),
        lambda: page.locator("#metric").select_option("ssim"),
        lambda: page.locator("#legend button").first.click(),
        lambda: page.locator("#side-a").select_option("original"),
        lambda: page.locator("#theme").select_option("dark"),
        lambda: page.locator("#difference").click(),
        lambda: page.locator("#gain").select_option("16"),
    ):
        step()
        seen.append(visible(page))
    for expected in reversed(seen[:-1]):
        page.go_back()
        assert visible(page) == expected
    for expected in seen[1:]:
        page.go_forward()
        assert visible(page) == expected


def test_movements_are_no_steps(opened):
    page = opened(**DESK)
    length = page.evaluate("history.length")
    for _ in range(3):
        page.locator("#zoom-in").click()
    page.wait_for_timeout(400)
    assert "zoom" in state(page)
    assert page.evaluate("history.length") == length


def test_foreign_addresses_show_the_usual(opened):
    usual = visible(opened(**DESK))
    foreign = (
        "picture=x&metric=__proto__&hide=x&curve=jpeg&point=7&rate=99&theme=x&a=x&b=%22%3E&by=x"
    )
    page = opened(f"#{foreign}&split=x&gain=3&zoom=-1&x=NaN", **DESK)
    page.locator("#view").select_option(index=0)  # of two rates, 99 names the last
    assert visible(page) == usual


def pinch(page, begin, end):
    """Move two fingers, each from one to another place on the canvas, in five steps."""
    page.locator("#canvas").scroll_into_view_if_needed()
    box = page.locator("#canvas").bounding_box()
    devtools = page.context.new_cdp_session(page)

    def touch(kind, places):
        points = [
            {"x": box["x"] + x, "y": box["y"] + y, "id": number}
            for number, (x, y) in enumerate(places)
        ]
        devtools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", begin[:1])
    touch("touchStart", begin)
    for step in range(1, 6):
        touch("touchMove", begin + (np.array(end) - begin) * step / 5)
    touch("touchEnd", [])
    page.wait_for_timeout(100)


def test_fingers_zoom_and_move(opened):
    page = opened(**PHONE)
    fitted = zoom(page)
    assert (
        page.evaluate("getComputedStyle(document.getElementById('canvas')).touchAction") == "pan-y"
    )
    pinch(page, np.array([(150.0, 80.0), (190.0, 80.0)]), [(110.0, 80.0), (230.0, 80.0)])
    assert zoom(page) == pytest.approx(3 * fitted, rel=0.01)
    assert (
        page.evaluate("getComputedStyle(document.getElementById('canvas')).touchAction") == "none"
    )
    page.wait_for_timeout(400)
    before = state(page)
    pinch(page, np.array([(110.0, 80.0), (230.0, 80.0)]), [(90.0, 120.0), (210.0, 120.0)])
    page.wait_for_timeout(400)
    after = state(page)
    assert float(after["zoom"]) == pytest.approx(float(before["zoom"]), rel=0.01)
    moved = [float(after[name]) - float(before[name]) for name in "xy"]
    scale = float(after["zoom"])
    assert moved == pytest.approx([20 / scale, -40 / scale], abs=0.6)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("device", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("hash", ["", "#hide=jpeg&curve=mmp:preset%3Dplain&point=32&by=difference"])
def test_axe_finds_nothing(opened, device, theme, hash):
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe is not installed"
    )
    page = opened(hash, **device, color_scheme=theme)
    found = axe.Axe().run(page, options={"runOnly": AXE_RULES})
    assert found.response["violations"] == [], found.generate_report()


def test_on_a_phone(opened):
    page = opened(**PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.locator("#flip").tap()
    assert shown(page) == "a"
    page.locator("#canvas").tap()
    assert shown(page) == "b"
    page.locator("#legend button").first.tap()
    assert page.locator("#chart polyline").count() == 1
    marker = page.locator("#drawing .marker").last
    marker.scroll_into_view_if_needed()
    box = marker.bounding_box()
    page.touchscreen.tap(box["x"] + 2, box["y"] + 2)
    assert reading(page)[0] == "jpeg"
    page.locator("#results-title").tap()
    assert reading(page)[0] == "jpeg"
    assert page.locator("#reading").bounding_box()["width"] <= 358
    page.get_by_role("button", name="Close the values").tap()
    assert reading(page) == []
    for node in page.locator("select, .controls button").all():
        assert node.bounding_box()["height"] >= 32
