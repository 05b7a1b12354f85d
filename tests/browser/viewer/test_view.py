"""The viewer in Chromium: zoomed, compared, read off, on a desk and on a phone."""

import re

import numpy as np
import pytest
from support.tiled import damaged
from support.web.decoder import mmp_file, real_decoder, until, until_drawn
from support.web.pages import AXE_RULES, DESK, PHONE

import mmpcodec
from mmpcodec import pictures
from mmpcodec.web import server as web_server
from mmpcodec.web.facts import RegionSearch, facts_of
from mmpcodec.web.pages import PageEntry, page

pytestmark = pytest.mark.browser


@pytest.fixture
def waves():
    rows, columns = np.indices((96, 128))
    return (128 + 70 * np.sin(rows / 9) + 50 * np.cos(columns / 5)).astype(np.uint8)


@pytest.fixture
def folder(tmp_path, waves):
    """Pictures of 128x96 samples: a gray one, its negative, one in colour and a deep one."""
    mmp_file(tmp_path / "gray.mmp", waves, tile_size=64)
    mmp_file(tmp_path / "negative.mmp", 255 - waves)
    mmp_file(tmp_path / "deep.mmp", 4 * waves.astype(np.uint16) + 1000, tile_size=64, depth=12)
    pictures.write(np.stack([waves, waves // 2, 255 - waves], axis=2), tmp_path / "colour.png")
    return tmp_path


def settle(viewer):
    viewer.wait_for_timeout(300)  # a zoom by a button takes 140 ms
    until_drawn(viewer)


def zoom(viewer):
    return float(viewer.locator("#canvas").get_attribute("data-zoom"))


def shown(viewer):
    return viewer.locator("#canvas").get_attribute("data-shown").split("|")


def place_of(viewer, column, row, size=(128, 96)):
    """Point of the window over the middle of a sample of a picture that is fitted."""
    box = viewer.locator("#canvas").bounding_box()
    scale = min(box["width"] / size[0], box["height"] / size[1])
    left = box["x"] + (box["width"] - scale * size[0]) / 2
    top = box["y"] + (box["height"] - scale * size[1]) / 2
    return left + scale * (column + 0.5), top + scale * (row + 0.5)


def colour_at(viewer, x, y):
    """Red, green and blue of the canvas at a point of the window."""
    return viewer.evaluate(
        """([x, y]) => {
            const canvas = document.getElementById("canvas"), box = canvas.getBoundingClientRect();
            const unit = canvas.width / box.width, pen = canvas.getContext("2d");
            const place = [(x - box.left) * unit, (y - box.top) * unit].map(Math.floor);
            return [...pen.getImageData(...place, 1, 1).data].slice(0, 3);
        }""",
        [x, y],
    )


def values(viewer):
    return viewer.locator("#values").text_content()


def test_samples_are_drawn_and_read_off(viewing, served, folder, waves):
    viewer = viewing(served(folder / "gray.mmp").address, **DESK)
    assert viewer.title() == "gray.mmp"
    for column, row in ((0, 0), (127, 95), (64, 63), (63, 64)):
        place = place_of(viewer, column, row)
        viewer.mouse.move(*place)
        assert values(viewer).endswith(f"column {column}, row {row} · {waves[row, column]}")
        assert colour_at(viewer, *place) == [waves[row, column]] * 3
    facts = viewer.locator("#captions").text_content()
    assert "128\u00d796 · gray, 8 bits · 4 tiles of 64\u00d764" in facts
    assert not viewer.locator("#side-b").is_visible()


def test_a_png_is_decoded_by_the_browser(viewing, served, folder, waves):
    viewer = viewing(served(folder / "colour.png").address, **DESK)
    place = place_of(viewer, 20, 30)
    viewer.mouse.move(*place)
    sample = int(waves[30, 20])
    expected = [sample, sample // 2, 255 - sample]
    assert values(viewer).endswith(" ".join(map(str, expected)))
    assert colour_at(viewer, *place) == expected
    assert "RGB, 8 bits" in viewer.locator("#captions").text_content()


def test_window_and_level(viewing, served, folder, waves):
    deep = 4 * waves.astype(int) + 1000
    viewer = viewing(served(folder / "deep.mmp").address, **DESK)
    low, high = (float(viewer.locator(f"#{name}").input_value()) for name in ("low", "high"))
    assert [low, high] == [
        np.sort(deep.ravel())[int(np.ceil(p * deep.size)) - 1] for p in (0.005, 0.995)
    ]
    assert viewer.locator("#auto").get_attribute("aria-pressed") == "true"
    place = place_of(viewer, 40, 50)
    viewer.mouse.move(*place)
    assert values(viewer).endswith(f"· {deep[50, 40]}")

    def expected(low, high):
        return pytest.approx(
            [255 * np.clip((deep[50, 40] - low) / (high - low), 0, 1)] * 3, abs=0.51
        )

    assert colour_at(viewer, *place) == expected(low, high)
    viewer.locator("#full").click()
    settle(viewer)
    assert colour_at(viewer, *place) == expected(0, 4095)
    assert viewer.locator("#auto").get_attribute("aria-pressed") == "false"
    viewer.locator("#low").fill("1200")
    viewer.locator("#high").fill("1800")
    viewer.locator("#high").press("Tab")
    settle(viewer)
    assert colour_at(viewer, *place) == expected(1200, 1800)
    assert viewer.locator("#window").input_value() == "600"
    viewer.locator("#level").focus()
    viewer.keyboard.press("ArrowRight")
    settle(viewer)
    assert float(viewer.locator("#level").input_value()) == pytest.approx(1500, abs=1)
    viewer.locator("#auto").click()
    settle(viewer)
    assert colour_at(viewer, *place) == expected(low, high)


def test_zoom_and_move(viewing, served, folder):
    viewer = viewing(served(folder / "gray.mmp").address, **DESK)
    fitted = zoom(viewer)
    place = place_of(viewer, 30, 40)
    viewer.mouse.move(*place)
    before = values(viewer).split("column")[1]
    viewer.mouse.wheel(0, -250)
    settle(viewer)
    assert zoom(viewer) == pytest.approx(2 * fitted)
    assert values(viewer).split("column")[1] == before  # the point under the mouse stays
    viewer.mouse.down()
    viewer.mouse.move(place[0] + 50, place[1] + 20)
    viewer.mouse.up()
    assert values(viewer).split("column")[1] == before  # the picture moves with the mouse
    viewer.locator("#zoom-one").click()
    settle(viewer)
    assert zoom(viewer) == pytest.approx(1)
    viewer.locator("#zoom-in").click()
    settle(viewer)
    assert zoom(viewer) == pytest.approx(1.5)
    viewer.locator("#zoom-fit").click()
    settle(viewer)
    assert zoom(viewer) == fitted
    viewer.mouse.dblclick(*place)
    settle(viewer)
    assert zoom(viewer) == pytest.approx(2 * fitted)


def test_keys(viewing, served, folder, waves):
    names = ("gray.mmp", "negative.mmp", "colour.png")
    viewer = viewing(served(*(folder / name for name in names)).address, **DESK)
    viewer.locator("#canvas").focus()
    fitted = zoom(viewer)
    viewer.keyboard.press("+")
    settle(viewer)
    assert zoom(viewer) == pytest.approx(1.5 * fitted)
    viewer.keyboard.press("0")
    settle(viewer)
    assert zoom(viewer) == fitted
    viewer.keyboard.press(" ")
    settle(viewer)
    assert shown(viewer) == ["negative.mmp"]
    assert viewer.locator("#said").text_content() == "negative.mmp"
    viewer.keyboard.press("Enter")
    said = f"column 64, row 48 · {255 - waves[48, 64]}"
    assert viewer.locator("#said").text_content() == said
    viewer.keyboard.press("PageDown")
    settle(viewer)
    assert shown(viewer) == ["negative.mmp"]
    viewer.keyboard.press("PageUp")
    settle(viewer)
    assert shown(viewer) == ["gray.mmp"]
    viewer.keyboard.press("s")
    settle(viewer)
    assert shown(viewer) == ["gray.mmp", "negative.mmp"]
    viewer.keyboard.press("l")
    assert viewer.locator("#layer").input_value() == "edges"


def test_side_by_side_wipe_and_all(viewing, served, folder, waves):
    names = ("gray.mmp", "negative.mmp", "deep.mmp")
    viewer = viewing(served(*(folder / name for name in names)).address, **DESK)
    box = viewer.locator("#canvas").bounding_box()
    viewer.locator("#side").click()
    settle(viewer)
    quarter, middle = box["width"] / 4, box["y"] + box["height"] / 2 + 2
    left, right = (box["x"] + part * quarter + 2 for part in (1, 3))
    viewer.mouse.move(left, middle)
    both = values(viewer)
    viewer.mouse.move(right, middle)
    assert values(viewer) == both  # the same sample, of both pictures
    gray, negative = map(int, re.findall(r"mmp: (\d+)", both))
    assert gray + negative == 255
    assert colour_at(viewer, left, middle)[0] + colour_at(viewer, right, middle)[0] == 255
    viewer.locator("#wipe").click()
    settle(viewer)
    place = place_of(viewer, 40, 48)
    assert colour_at(viewer, *place)[0] == waves[48, 40]
    viewer.locator("#divider").fill("100")
    settle(viewer)
    assert colour_at(viewer, *place)[0] == 255 - waves[48, 40]
    viewer.locator("#all").click()
    settle(viewer)
    assert shown(viewer) == list(names)
    assert values(viewer).count("mmp: ") == 3
    viewer.locator("#side-a").select_option("deep.mmp")
    viewer.locator("#one").click()
    settle(viewer)
    assert shown(viewer) == ["deep.mmp"]


def test_alpha_shows_squares(viewing, served, tmp_path):
    samples = np.zeros((64, 64, 4), np.uint8)
    samples[:, :, 0] = 200
    samples[:, 32:, 3] = 255
    viewer = viewing(served(mmp_file(tmp_path / "a.mmp", samples)).address, **DESK)
    opaque, clear = (place_of(viewer, column, 30, (64, 64)) for column in (50, 10))
    assert colour_at(viewer, *opaque) == [200, 0, 0]
    red, green, blue = colour_at(viewer, *clear)
    assert (red, green, blue) in ((106, 112, 121), (124, 130, 139))
    viewer.mouse.move(*clear)
    assert values(viewer).endswith("200 0 0 0")


def test_what_cannot_be_opened_says_why(viewing, served, folder, waves):
    (folder / "bad.mmp").write_bytes(b"nothing" * 99)
    (folder / "holes.mmp").write_bytes(damaged((folder / "gray.mmp").read_bytes(), 2))
    names = ("gray.mmp", "bad.mmp", "holes.mmp")
    viewer = viewing(served(*(folder / name for name in names)).address, **DESK)
    viewer.locator("#side-a").select_option("bad.mmp")
    assert (
        viewer.get_by_role("alert")
        .text_content()
        .startswith("bad.mmp: BadMagic: Container at byte 0: magic is 6e")
    )
    viewer.locator("#side-a").select_option("holes.mmp")
    until(viewer, "document.getElementById('problem').textContent.includes('CorruptStream')")
    assert re.search(
        r"^holes\.mmp: CorruptStream: Layers at byte \d+: tile 2, 64x32 at \(0, 64\): ",
        viewer.get_by_role("alert").text_content(),
    )
    settle(viewer)
    assert viewer.locator("#progress").text_content() == ""
    assert colour_at(viewer, *place_of(viewer, 100, 90)) == [waves[90, 100]] * 3  # another tile
    viewer.locator("#side-a").select_option("gray.mmp")
    settle(viewer)
    assert viewer.get_by_role("alert").count() == 0


def test_all_tiles_but_the_damaged_ones_are_shown(viewing, served, tmp_path):
    samples = np.full((640, 640), 77, np.uint8)
    path = mmp_file(tmp_path / "a.mmp", samples, tile_size=64)
    data = path.read_bytes()
    offsets = mmpcodec.inspect(data).header.tile_offsets
    path.write_bytes(data[: offsets[40]] + bytes(offsets[60] - offsets[40]) + data[offsets[60] :])
    viewer = viewing(served(path).address, **DESK)
    assert viewer.get_by_role("alert").text_content().endswith("; 20 tiles cannot be decoded")
    for number, good in ((39, True), (40, False), (59, False), (60, True)):
        place = place_of(viewer, number % 10 * 64 + 9, number // 10 * 64 + 9, (640, 640))
        assert (colour_at(viewer, *place) == [77] * 3) == good


def test_a_grid_says_that_it_has_the_first_files_only(viewing, served, tmp_path):
    paths = [mmp_file(tmp_path / f"{k}.mmp", np.full((20, 20), k, np.uint8)) for k in range(10)]
    viewer = viewing(served(*paths).address, **DESK)
    viewer.locator("#all").click()
    settle(viewer)
    assert shown(viewer) == [f"{k}.mmp" for k in range(9)]
    assert viewer.locator("#progress").text_content() == "the first 9 of 10 files"


def test_a_file_that_vanishes_says_so(viewing, served, tmp_path):
    path = mmp_file(tmp_path / "a.mmp", np.full((20, 20), 9, np.uint8))
    other = mmp_file(tmp_path / "b.mmp", np.full((20, 20), 9, np.uint8))
    viewer = viewing(served(path, other).address, **DESK)
    other.unlink()
    viewing.expected.append("500")
    viewer.locator("#side-a").select_option("b.mmp")
    assert (
        viewer.get_by_role("alert")
        .text_content()
        .endswith("the server answered 500 Internal Server Error: b.mmp: No such file or directory")
    )


def test_an_empty_level_changes_nothing(viewing, served, tmp_path):
    samples = np.arange(4096, dtype=np.uint16).reshape(64, 64)
    path = mmp_file(tmp_path / "a.mmp", samples, depth=12)
    viewer = viewing(served(path).address, **DESK)
    before = viewer.locator("#high").input_value()
    viewer.locator("#high").fill("")
    viewer.locator("#high").press("Tab")
    until(viewer, "document.getElementById('high').value !== ''")
    assert viewer.locator("#high").input_value() == before
    assert viewer.locator("#auto").get_attribute("aria-pressed") == "true"


def test_pictures_of_different_sizes(viewing, served, tmp_path):
    large = mmp_file(tmp_path / "large.mmp", np.full((90, 120), 200, np.uint8))
    small = mmp_file(tmp_path / "small.mmp", np.full((30, 40), 50, np.uint8))
    viewer = viewing(served(large, small).address, **DESK)
    said = viewer.locator("#progress")
    assert said.text_content() == ""
    viewer.locator("#wipe").click()
    settle(viewer)
    assert said.text_content() == "sizes differ: all pictures begin at column 0, row 0"
    viewer.locator("#divider").fill("100")
    settle(viewer)
    assert colour_at(viewer, *place_of(viewer, 39, 29, (120, 90))) == [50] * 3
    assert colour_at(viewer, *place_of(viewer, 41, 31, (120, 90))) == [48, 54, 61]  # nothing


def embedded(path, files, facts=None):
    """A page in a file, which holds other files."""
    entries = [
        PageEntry(name, len(data), name.endswith(".mmp"), data=lambda data=data: data, facts=facts)
        for name, data in files
    ]
    path.write_text("".join(page(entries, real_decoder(), "a title", asks=False)))
    return path.as_uri()


def test_a_page_in_a_file_asks_nothing(viewing, folder, waves):
    files = [(name, (folder / name).read_bytes()) for name in ("gray.mmp", "colour.png")]
    viewer = viewing(embedded(folder / "page.html", files), **DESK)
    assert (viewer.title(), shown(viewer)) == ("a title", ["gray.mmp"])
    place = place_of(viewer, 64, 63)
    assert colour_at(viewer, *place) == [waves[63, 64]] * 3
    viewer.locator("#side").click()
    settle(viewer)
    assert shown(viewer) == ["gray.mmp", "colour.png"]
    viewer.locator("#layer").select_option("bits")
    legend = viewer.locator("#legend")
    assert "The page was made without layers and regions." in legend.text_content()
    asked = [url for url in viewing.requests if not url.startswith(("data:", "blob:"))]
    assert asked == [(folder / "page.html").as_uri()]


def test_files_can_be_given(viewing, served, folder, waves):
    viewer = viewing(served(folder / "gray.mmp").address, **DESK)
    viewer.locator("#open").set_input_files(folder / "negative.mmp")
    settle(viewer)
    assert shown(viewer) == ["negative.mmp"]
    assert colour_at(viewer, *place_of(viewer, 64, 63)) == [255 - waves[63, 64]] * 3
    assert viewer.locator("#side-b").is_visible()


@pytest.fixture
def coded(waves):
    """A file of predicted blocks, and its facts."""
    data = mmpcodec.encode(waves, preset="photo", lam=30)
    return data, facts_of(data, "coded.mmp")


def test_layers_and_regions(viewing, folder, coded):
    data, facts = coded
    files = [("coded.mmp", data)]
    viewer = viewing(embedded(folder / "page.html", files, lambda: facts), **DESK)

    def picture():
        settle(viewer)
        return viewer.evaluate("document.getElementById('canvas').toDataURL()")

    plain, seen = picture(), {}
    assert [layer["key"] for layer in facts["layers"]] == ["edges", "modes", "bits"]
    for layer in facts["layers"]:
        viewer.locator("#layer").select_option(layer["key"])
        seen[layer["key"]] = picture()
        legend = viewer.locator("#legend").text_content()
        assert legend == layer["meaning"] + "".join(name for name, _ in layer["colours"])
    assert len({plain, *seen.values()}) == 4
    viewer.locator("#layer").select_option("")
    viewer.locator("#regions").check()
    assert picture() != plain
    rows = viewer.locator("#region-table tbody tr")
    assert rows.count() == len(facts["regions"]["rows"]) > 0
    first = facts["regions"]["rows"][0]
    right = first["left"] + first["width"] - 1
    assert f"{first['left']} to {right}" in rows.first.text_content()
    viewer.get_by_role("button", name="Region 1").click()
    settle(viewer)
    middle = (first["left"] + first["width"] / 2, first["top"] + first["height"] / 2)
    viewer.keyboard.press("Enter")
    place = f"column {int(middle[0])}, row {int(middle[1])}"
    assert place in viewer.locator("#said").text_content()


def test_layers_are_asked_of_the_server(viewing, served, folder, monkeypatch):
    def stopped(data, name, search, wanted, progress):
        search = search if name == "colour.png" else RegionSearch(seconds=0)
        return facts_of(data, name, search, wanted, progress)

    monkeypatch.setattr(web_server, "facts_of", stopped)
    viewer = viewing(served(folder / "gray.mmp", folder / "colour.png").address, **DESK)
    assert not [url for url in viewing.requests if "/layers/" in url or "/regions/" in url]
    viewer.locator("#side").click()
    viewer.locator("#regions").check()
    said = "gray.mmp: the search for regions was stopped after 0 seconds"
    until(viewer, f"document.getElementById('region-note').textContent.startsWith('{said}')")
    assert not [url for url in viewing.requests if "/layers/" in url]
    viewer.locator("#side-a").select_option("colour.png")
    until(viewer, "document.querySelectorAll('#region-table tbody tr').length > 0")
    viewer.locator("#layer").select_option("modes")
    settle(viewer)
    assert "This file has no modes." in viewer.locator("#legend").text_content()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("device", [DESK, PHONE], ids=["desk", "phone"])
def test_axe_finds_nothing(viewing, folder, coded, device, theme):
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe is not installed"
    )
    data, facts = coded
    (folder / "coded.mmp").write_bytes(data)
    names = ("coded.mmp", "deep.mmp", "colour.png")
    files = [(name, (folder / name).read_bytes()) for name in names]
    address = embedded(folder / "page.html", files, lambda: facts)
    viewer = viewing(address, **device, color_scheme=theme)
    for way in ("one", "wipe", "all"):
        viewer.locator(f"#{way}").click()
        viewer.locator("#layer").select_option("modes")
        viewer.locator("#regions").check()
        viewer.locator("summary").click()
        settle(viewer)
        found = axe.Axe().run(viewer, options={"runOnly": AXE_RULES})
        assert found.response["violations"] == [], found.generate_report()


def test_on_a_phone(viewing, served, folder, waves):
    viewer = viewing(served(folder / "gray.mmp", folder / "deep.mmp").address, **PHONE)
    assert viewer.evaluate("document.documentElement.scrollWidth") == 390
    touch = "getComputedStyle(document.getElementById('canvas')).touchAction"
    assert viewer.evaluate(touch) == "pan-y"
    place = place_of(viewer, 64, 63)
    viewer.touchscreen.tap(*place)
    fitted = zoom(viewer)
    pinch(viewer, [(-20, 0), (20, 0)], [(-60, 0), (60, 0)])
    assert zoom(viewer) == pytest.approx(3 * fitted, rel=0.01)
    assert viewer.evaluate(touch) == "none"
    viewer.locator("#side").tap()
    settle(viewer)
    assert shown(viewer) == ["gray.mmp", "deep.mmp"]
    assert viewer.evaluate("document.documentElement.scrollWidth") == 390
    assert viewer.locator("#levels").is_visible()


def pinch(viewer, begin, end):
    """Move two fingers around the middle of the canvas, in pixels of the window."""
    box = viewer.locator("#canvas").bounding_box()
    middle = np.array([box["x"] + box["width"] / 2, box["y"] + box["height"] / 2])
    begin, end = (middle + np.array(each) for each in (begin, end))
    devtools = viewer.context.new_cdp_session(viewer)

    def touch(kind, places):
        points = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(places)]
        devtools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", begin[:1])
    touch("touchStart", begin)
    for step in range(1, 6):
        touch("touchMove", begin + (end - begin) * step / 5)
    touch("touchEnd", [])
    settle(viewer)
