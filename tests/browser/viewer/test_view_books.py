"""Books in the viewer: pages by key, slices by wheel, frames that play, values and millimetres."""

import io
from fractions import Fraction

import numpy as np
import pytest
from support.books import collection_of
from support.web.decoder import real_decoder, until, until_drawn
from support.web.pages import AXE_RULES, DESK, PHONE, middle

import mmpcodec
from mmpcodec.format.collection import Role
from mmpcodec.format.collection_writer import CollectionWriter
from mmpcodec.metadata import Calibration, Metadata, Resolution
from mmpcodec.web.books import book_of
from mmpcodec.web.pages import PageEntry, page

pytestmark = pytest.mark.browser

MILLIMETRE = 10**6
NAMES = ("Somebody", "1970-01-01")
"""What nobody may see."""


@pytest.fixture(scope="module")
def volume():
    """A series of 9 slices, 12 bits deep: each has its number at every column and row."""
    rows, columns = np.indices((60, 80))
    return np.stack([900 + 7 * rows + 3 * columns + 100 * number for number in range(9)]).astype(
        np.uint16
    )


@pytest.fixture
def ct(tmp_path, volume):
    """Slices of 0.5x1 mm, 2.5 mm apart, in Hounsfield units, with a name that must stay hidden."""
    metadata = Metadata(
        resolution=Resolution(Fraction(20), Fraction(10), "centimetre"),
        text=(
            ("PatientName", NAMES[0]),
            ("PatientBirthDate", NAMES[1]),
            Calibration(2.0, -1024.0, "HU", (700.0, 1500.0)).text(),
        ),
    )
    files = [
        mmpcodec.encode(each, 0, preset="lossless", depth=12, metadata=metadata) for each in volume
    ]
    places = [(k * 5 * MILLIMETRE // 2,) for k in range(9)]
    path = tmp_path / "ct.mmp"
    path.write_bytes(collection_of(files, Role.SLICE, places))
    return path


def plain(level, size=(48, 64)):
    return np.full(size, level, np.uint8)


def coded(samples, **options):
    return mmpcodec.encode(samples, 0, preset="lossless", **options)


@pytest.fixture
def book(tmp_path):
    """Twelve pages of levels 10, 20, ...; page 2 is in portrait, page 3 in colour."""
    pages = [plain(10 * number) for number in range(1, 13)]
    pages[1] = plain(20, (64, 40))
    pages[2] = np.stack([plain(30), plain(60), plain(90)], axis=2)
    path = tmp_path / "book.mmp"
    path.write_bytes(collection_of(map(coded, pages)))
    return path


@pytest.fixture
def animation(tmp_path):
    """Four frames of levels 40, 80, 120 and 160, shown for 0.2, 0.4, 0.2 and 0.4 s, twice."""
    files = [coded(plain(40 * number)) for number in (1, 2, 3, 4)]
    path = tmp_path / "a.mmp"
    durations = [(1 + number % 2, 5) for number in range(4)]
    path.write_bytes(collection_of(files, Role.FRAME, durations, loops=2))
    return path


def at(viewer, name):
    return viewer.locator(f"#{name}")


def level(viewer):
    """The red, green and blue in the middle of the canvas."""
    return middle(viewer, 2)[0, 0].tolist()


def settle(viewer):
    viewer.wait_for_timeout(150)
    until_drawn(viewer)


def point(viewer, column, row, size):
    """Point of the window over the middle of a sample of a picture that is fitted."""
    box = at(viewer, "canvas").bounding_box()
    scale = min(box["width"] / size[0], box["height"] / size[1])
    left = box["x"] + (box["width"] - scale * size[0]) / 2
    top = box["y"] + (box["height"] - scale * size[1]) / 2
    return left + scale * (column + 0.5), top + scale * (row + 0.5)


def test_pages_by_key_slider_number_and_list(viewing, served, book):
    viewer = viewing(served(book).address, **DESK)
    until(viewer, "!document.getElementById('book').hidden")
    settle(viewer)
    assert at(viewer, "page-role").text_content() == "Page"
    assert at(viewer, "page-count").text_content() == "of 12"
    assert level(viewer) == [10, 10, 10]
    at(viewer, "canvas").focus()
    for key, number in (
        ("PageDown", 2), ("PageDown", 3), ("End", 12), ("PageDown", 12), ("PageUp", 11),
        ("Home", 1), ("PageUp", 1),
    ):  # fmt: skip
        viewer.keyboard.press(key)
        settle(viewer)
        assert at(viewer, "page").input_value() == str(number)
        assert at(viewer, "page-slider").input_value() == str(number)
        assert level(viewer) == ([30, 60, 90] if number == 3 else [10 * number] * 3)
    viewer.keyboard.press("PageDown")
    assert at(viewer, "said").text_content() == "page 2 of 12"
    settle(viewer)
    facts = at(viewer, "captions").text_content()
    assert "book.mmp: page 2" in facts
    assert "40\u00d764 \u00b7 gray, 8 bits" in facts
    at(viewer, "page").fill("7")
    at(viewer, "page").press("Enter")
    settle(viewer)
    assert level(viewer) == [70] * 3
    at(viewer, "page").fill("99")
    at(viewer, "page").press("Enter")
    settle(viewer)
    assert (level(viewer), at(viewer, "page").input_value()) == ([120] * 3, "12")
    assert at(viewer, "page-next").is_disabled()
    at(viewer, "page-slider").focus()
    viewer.keyboard.press("ArrowLeft")
    settle(viewer)
    assert level(viewer) == [110] * 3
    viewer.locator("#strip button").nth(4).click()
    settle(viewer)
    assert level(viewer) == [50] * 3
    assert viewer.locator("#strip [aria-current=page]").get_attribute("aria-label") == "page 5"
    viewer.keyboard.press("ArrowRight")
    settle(viewer)
    assert level(viewer) == [60] * 3
    focused = "document.activeElement.getAttribute('aria-label')"
    assert viewer.evaluate(focused) == "page 6"


def test_small_drawings(viewing, served, tmp_path):
    stream = io.BytesIO()
    writer = CollectionWriter(stream)
    for number in (1, 2):
        writer.add(coded(plain(50 * number, (200, 300))))
        writer.add(coded(plain(50 * number + 9, (100, 150))), Role.LEVEL, (2 * number - 2,))
        writer.add(coded(plain(50 * number + 20, (10, 15))), Role.THUMBNAIL, (2 * number - 2,))
        break
    writer.add(coded(plain(100, (96, 64))))
    writer.close()
    (tmp_path / "book.mmp").write_bytes(stream.getvalue())
    viewer = viewing(served(tmp_path / "book.mmp").address, **DESK)
    drawn = """[...document.querySelectorAll("#strip canvas")].map(canvas => {
        const {data} = canvas.getContext("2d").getImageData(20, 20, 1, 1);
        return [canvas.width, canvas.height, data[0], data[3]];
    })"""
    until(viewer, f"({drawn}).every(each => each[3] === 255)")
    # Of the smallest rendition that is large enough; the page itself, if there is none.
    assert viewer.evaluate(drawn) == [[96, 64, 59, 255], [64, 96, 100, 255]]
    assert at(viewer, "page-count").text_content() == "of 2"


def test_values_of_slices_are_those_of_numpy(viewing, served, ct, volume):
    viewer = viewing(served(ct).address, **DESK)
    settle(viewer)
    at(viewer, "canvas").focus()
    for number in (0, 1, 2):
        for column, row in ((0, 0), (79, 59), (33, 21)):
            viewer.mouse.move(*point(viewer, column, row, (80, 60)))
            sample = int(volume[number, row, column])
            assert (
                at(viewer, "values")
                .text_content()
                .endswith(
                    f"column {column}, row {row} ({column / 2:g} mm, {row} mm) \u00b7 "
                    f"{sample} = {2 * sample - 1024} HU"
                )
            )
        viewer.keyboard.press("PageDown")
        settle(viewer)
    facts = at(viewer, "captions").text_content()
    assert "slice 4 of 9 \u00b7 at 7.5 mm" in facts
    assert "pixels of 0.5\u00d71 mm" in facts


def test_the_wheel_leafs_through_slices(viewing, served, ct):
    viewer = viewing(served(ct).address, **DESK)
    settle(viewer)
    zoom = at(viewer, "canvas").get_attribute("data-zoom")
    at(viewer, "canvas").hover()
    viewer.mouse.wheel(0, 100)
    settle(viewer)
    assert at(viewer, "page").input_value() == "3"
    viewer.mouse.wheel(0, -1000)
    settle(viewer)
    assert at(viewer, "page").input_value() == "1"
    assert at(viewer, "canvas").get_attribute("data-zoom") == zoom
    viewer.keyboard.down("Control")
    viewer.mouse.wheel(0, -250)
    viewer.keyboard.up("Control")
    settle(viewer)
    assert float(at(viewer, "canvas").get_attribute("data-zoom")) == pytest.approx(2 * float(zoom))


def test_windows_in_hounsfield_units(viewing, served, ct, volume):
    viewer = viewing(served(ct).address, **DESK)
    settle(viewer)
    value = 2 * volume[0, 30, 40] - 1024.0

    def shown(low, high):
        return pytest.approx([255 * np.clip((value - low) / (high - low), 0, 1)] * 3, abs=0.6)

    place = point(viewer, 40, 30, (80, 60))

    def drawn():
        return viewer.evaluate(
            """([x, y]) => {
                const canvas = document.getElementById("canvas");
                const box = canvas.getBoundingClientRect(), unit = canvas.width / box.width;
                const place = [(x - box.left) * unit, (y - box.top) * unit].map(Math.floor);
                return [...canvas.getContext("2d").getImageData(...place, 1, 1).data].slice(0, 3);
            }""",
            list(place),
        )

    assert drawn() == shown(700, 1500)  # the window of the file
    assert at(viewer, "preset").input_value() == "as in the file"
    assert at(viewer, "unit").text_content() == "HU"
    for name, low, high in (("lung", -1024, 150), ("bone", -500, 1300), ("brain", 0, 80),
                            ("abdomen", -160, 240)):  # fmt: skip
        at(viewer, "preset").select_option(name)
        settle(viewer)
        found = [float(at(viewer, each).input_value()) for each in ("low", "high")]
        assert found == [max(low, -1024), high]
        assert drawn() == shown(low, high)
    at(viewer, "low").fill("1000")
    at(viewer, "high").fill("1400")
    at(viewer, "high").press("Tab")
    settle(viewer)
    assert drawn() == shown(1000, 1400)
    assert at(viewer, "preset").input_value() == ""
    assert float(at(viewer, "window").input_value()) == 400
    assert float(at(viewer, "level").input_value()) == 1200
    at(viewer, "canvas").focus()
    viewer.keyboard.press("PageDown")
    settle(viewer)
    assert float(at(viewer, "low").input_value()) == 1000  # the window stays for all slices


def test_millimetres(viewing, served, ct):
    viewer = viewing(served(ct).address, **DESK)
    settle(viewer)
    at(viewer, "measure").click()
    for column, row in ((10, 10), (40, 30)):
        viewer.mouse.click(*point(viewer, column, row, (80, 60)))
    expected = f"{np.hypot(30 * 0.5, 20 * 1):.4g} mm"
    assert at(viewer, "said").text_content() == expected
    settle(viewer)
    assert at(viewer, "values").text_content().endswith(f"line of {expected}")
    at(viewer, "measure").click()
    settle(viewer)
    assert "line of" not in at(viewer, "values").text_content()
    bar = "Ruler.bar(0.5, 70).map(each => Number(each.toFixed(6)))"
    assert viewer.evaluate(bar) == [50, 100]


def test_frames_play_in_order_for_their_time(viewing, served, animation):
    viewer = viewing(served(animation).address, **DESK)
    settle(viewer)
    viewer.evaluate(
        """() => {
            window.seen = [];
            const note = () => {
                const place = document.getElementById("page").value;
                if (window.seen.at(-1)?.[0] !== place)
                    window.seen.push([place, performance.now()]);
                requestAnimationFrame(note);
            };
            note();
        }"""
    )
    at(viewer, "play").click()
    assert at(viewer, "play").text_content() == "Pause"
    until(viewer, "document.getElementById('play').textContent === 'Play'", 8)
    seen = viewer.evaluate("window.seen")
    assert [int(number) for number, _ in seen] == [1, 2, 3, 4, 1, 2, 3, 4]
    times = np.diff([moment for _, moment in seen])[1:]
    np.testing.assert_allclose(times, [400, 200, 400, 200, 400, 200], atol=120)
    settle(viewer)
    assert level(viewer) == [160] * 3
    at(viewer, "canvas").focus()
    viewer.keyboard.press("p")
    until(viewer, "document.getElementById('page').value === '2'")
    viewer.keyboard.press("p")
    assert at(viewer, "play").get_attribute("aria-pressed") == "false"
    viewer.wait_for_timeout(600)
    assert at(viewer, "page").input_value() == "2"


def test_a_broken_page_is_said_and_the_others_are_shown(viewing, served, book):
    data = bytearray(book.read_bytes())
    entries = book_of(memoryview(bytes(data)), "b").contents.entries
    data[entries[4].place + entries[4].size - 1] ^= 1
    data[entries[5].place + 9] ^= 1
    book.write_bytes(data[:-1])
    viewer = viewing(served(book).address, **DESK)
    settle(viewer)
    assert "the index of the file is damaged" in at(viewer, "book-fault").text_content().lower()
    at(viewer, "page").fill("5")
    at(viewer, "page").press("Enter")
    settle(viewer)
    assert "book.mmp: page 5: CorruptStream" in at(viewer, "problem").text_content()
    viewing.expected.append("500")
    at(viewer, "page-next").click()
    until(viewer, "document.getElementById('problem').textContent.includes('page 6')")
    at(viewer, "page-next").click()
    settle(viewer)
    assert level(viewer) == [70] * 3
    assert at(viewer, "problem").is_hidden()


def test_two_books_are_compared_page_by_page(viewing, served, book, tmp_path):
    other = tmp_path / "other.mmp"
    other.write_bytes(collection_of([coded(plain(200 - 10 * number)) for number in range(3)]))
    viewer = viewing(served(book, other).address, **DESK)
    at(viewer, "side").click()
    settle(viewer)
    at(viewer, "canvas").focus()
    viewer.keyboard.press("End")
    settle(viewer)
    shown = at(viewer, "canvas").get_attribute("data-shown")
    assert shown == "book.mmp: page 12|other.mmp: page 3"
    viewer.keyboard.press("n")
    settle(viewer)
    assert at(viewer, "side-a").input_value() == "other.mmp"


def facts_of_frame(number):
    """Facts whose layer is named by the number of the frame."""
    return {"layers": [], "regions": None, "problems": {"layers": f"frame {number} has none"}}


def test_a_page_holds_books_and_no_names(viewing, ct, animation, tmp_path, volume):
    entries = [
        PageEntry(
            path.name,
            path.stat().st_size,
            True,
            book=book_of(memoryview(path.read_bytes()), path.name),
            book_facts=facts,
        )
        for path, facts in ((ct, None), (animation, facts_of_frame))
    ]
    out = tmp_path / "books.html"
    text = "".join(page(entries, real_decoder(), "books", asks=False))
    out.write_text(text)
    viewer = viewing(out.as_uri(), **DESK)
    settle(viewer)
    at(viewer, "canvas").focus()
    viewer.keyboard.press("End")
    settle(viewer)
    viewer.mouse.move(*point(viewer, 5, 6, (80, 60)))
    sample = int(volume[8, 6, 5])
    assert f"{sample} = {2 * sample - 1024} HU" in at(viewer, "values").text_content()
    at(viewer, "layer").select_option("bits")
    until(viewer, "document.getElementById('legend').textContent.includes('without layers')")
    for name in NAMES:
        assert name not in text
        assert name not in viewer.content()
    viewer.keyboard.press("Tab")
    at(viewer, "side-a").select_option("a.mmp")
    settle(viewer)
    assert at(viewer, "play").is_visible()
    until(viewer, "document.getElementById('legend').textContent.includes('frame 0 has none')")


@pytest.mark.parametrize("device", [DESK, PHONE])
def test_books_are_accessible(viewing, served, ct, book, device):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    for path in (book, ct):
        viewer = viewing(served(path).address, **device)
        settle(viewer)
        at(viewer, "list").check()
        for theme in ("light", "dark"):
            at(viewer, "theme").select_option(theme)
            settle(viewer)
            options = {"runOnly": AXE_RULES}
            found = axe.Axe().run(viewer, options=options).response["violations"]
            assert [(each["id"], each["nodes"][0]["html"]) for each in found] == []
        wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert viewer.evaluate(wide) <= 0


def test_books_that_the_reader_opens(viewing, served, book, ct, animation, volume, tmp_path):
    empty = tmp_path / "empty.mmp"
    empty.write_bytes(collection_of([]))
    viewer = viewing(served(book).address, **DESK)
    settle(viewer)
    at(viewer, "open").set_input_files([ct])
    until(viewer, "document.getElementById('page-role').textContent === 'Slice'")
    settle(viewer)
    at(viewer, "canvas").focus()
    viewer.keyboard.press("End")
    settle(viewer)
    viewer.mouse.move(*point(viewer, 7, 9, (80, 60)))
    sample = int(volume[8, 9, 7])
    values = at(viewer, "values").text_content()
    assert values.endswith(f"(3.5 mm, 9 mm) \u00b7 {sample} = {2 * sample - 1024} HU")
    assert "slice 9 of 9 \u00b7 at 20 mm" in at(viewer, "captions").text_content()
    at(viewer, "open").set_input_files([animation])
    until(viewer, "document.getElementById('page-role').textContent === 'Frame'")
    assert at(viewer, "play").is_visible()
    at(viewer, "open").set_input_files([empty])
    until(viewer, "!document.getElementById('problem').hidden")
    assert at(viewer, "problem").text_content() == "empty.mmp: Error: the file holds no pictures"


def test_far_views_of_large_pictures_are_drawn_from_levels(viewing, served, tmp_path):
    """The levels differ from the picture here, so that it can be seen which one is drawn."""
    stream = io.BytesIO()
    writer = CollectionWriter(stream)
    writer.add(coded(plain(40, (4200, 4200)), tile_size=1024))
    for number, side in enumerate((2100, 525, 263)):
        writer.add(coded(plain(100 + 50 * number, (side, side))), Role.LEVEL, (0,))
    writer.close()
    path = tmp_path / "large.mmp"
    path.write_bytes(stream.getvalue())
    viewer = viewing(served(path).address, **DESK)
    settle(viewer)
    assert at(viewer, "book").is_hidden()
    facts = at(viewer, "captions").text_content()
    assert facts.startswith("large.mmp4200\u00d74200 \u00b7 gray, 8 bits \u00b7 25 tiles")
    zoom = float(at(viewer, "canvas").get_attribute("data-zoom"))
    assert level(viewer) == [100 if zoom > 525 / 4200 else 150] * 3
    assert "\u2026" in at(viewer, "values").text_content()  # samples are those of tiles
    fetched = {url.rsplit("/", 1)[1] for url in viewing.requests if "/files/0/" in url}
    assert fetched == {"0", "1", "3"} if zoom > 525 / 4200 else {"0", "2", "3"}
    at(viewer, "zoom-one").click()
    viewer.wait_for_timeout(300)
    settle(viewer)
    assert level(viewer) == [40] * 3
    assert at(viewer, "values").text_content().endswith("\u00b7 40")
