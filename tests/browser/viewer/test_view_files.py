"""The viewer shows what Python decodes: all forms, depths and codings, from a file and a server."""

import re
from dataclasses import dataclass, field

import numpy as np
import pytest
from support.web.decoder import real_decoder, until, until_drawn
from support.web.pages import DESK, PHONE

import mmpcodec
from mmpcodec.metadata import Metadata
from mmpcodec.web.pages import PageEntry, page

pytestmark = pytest.mark.browser

SHARP_PHONE = {**PHONE, "device_scale_factor": 3}

HEIGHT, WIDTH = 96, 130
PLACES = ((0, 0), (129, 95), (64, 64), (63, 64), (100, 20))
"""Columns and rows: corners, both sides of a border of tiles, and one between."""


def waves(planes=1, depth=8):
    """Smooth samples of several planes, with a flat part that predicted blocks like."""
    rows, columns = np.indices((HEIGHT, WIDTH))
    most = 2**depth - 1
    made = [
        (0.5 + 0.28 * np.sin(rows / (7 + 3 * plane)) + 0.2 * np.cos(columns / (5 + plane))) * most
        for plane in range(planes)
    ]
    samples = np.stack(made, axis=2).astype(np.uint8 if depth <= 8 else np.uint16)
    samples[40:60, 10:50] = most // 3
    return samples[:, :, 0] if planes == 1 else samples


def few_colours():
    """Samples of a picture of text: four colours in rectangles."""
    rows, columns = np.indices((HEIGHT, WIDTH))
    colours = np.array([[255, 255, 255], [200, 30, 30], [0, 0, 0], [20, 90, 200]], np.uint8)
    return colours[(rows // 9 + columns // 7 * 3) % 4]


@dataclass
class Case:
    """Samples of a file, and how they are coded."""

    samples: np.ndarray
    lam: float = 0
    options: dict = field(default_factory=dict)

    def file(self):
        return mmpcodec.encode(self.samples, self.lam, **self.options)


def exact(samples, **options):
    return Case(samples, 0, {"preset": "lossless", **options})


CASES = {
    "gray, trees": Case(waves(), 30, {"preset": "text"}),
    "gray, blocks": Case(waves(), 30, {"preset": "photo"}),
    "gray, mixed": Case(waves(), 30, {"preset": "mixed"}),
    "gray, exact": exact(waves()),
    "gray, 1 bit": exact(waves(1, 1), depth=1),
    "gray, 12 bits": exact(waves(1, 12), depth=12, tile_size=64),
    "gray, 16 bits": exact(waves(1, 16)),
    "gray, 12 bits, blocks": Case(waves(1, 12), 40, {"preset": "photo", "depth": 12}),
    "gray with alpha": exact(waves(2)),
    "RGB, exact, tiles": exact(waves(3), tile_size=64),
    "RGB, blocks": Case(waves(3), 30, {"preset": "photo"}),
    "RGB, blocks, tiles": Case(waves(3), 30, {"preset": "photo", "tile_size": 64}),
    "RGB, palette": Case(few_colours(), 40, {"preset": "photo", "palette": True}),
    "RGBA, exact": exact(waves(4)),
    "RGBA, 16 bits": exact(waves(4, 16), tile_size=64),
    "RGBA, blocks": Case(waves(4), 30, {"preset": "photo"}),
}


@pytest.fixture
def written(tmp_path):
    """Writes a page that holds files, as ``mmp page`` does, and gives its address."""

    def write(files):
        entries = [
            PageEntry(name, len(data), name.endswith(".mmp"), data=lambda data=data: data)
            for name, data in files.items()
        ]
        path = tmp_path / "page.html"
        path.write_text("".join(page(entries, real_decoder(), "a page", asks=False)))
        return path.as_uri()

    return write


def place_of(viewer, column, row, size=(WIDTH, HEIGHT)):
    """Point of the window over the middle of a sample of a picture that is fitted."""
    box = viewer.locator("#canvas").bounding_box()
    scale = min(box["width"] / size[0], box["height"] / size[1])
    left = box["x"] + (box["width"] - scale * size[0]) / 2
    top = box["y"] + (box["height"] - scale * size[1]) / 2
    return left + scale * (column + 0.5), top + scale * (row + 0.5)


def samples_said(viewer):
    """Column, row, and the samples of each picture that the page says."""
    text = viewer.locator("#values").text_content()
    column, row, rest = re.search(r"column (\d+), row (\d+) · (.*)", text).groups()
    found = [re.sub(r"^.*: ", "", part) for part in rest.split(" · ")]
    return int(column), int(row), [[int(each) for each in part.split()] for part in found]


def check_samples(viewer, *decoded):
    """Point at several places, and compare the samples with those that Python decodes."""
    for column, row in PLACES:
        viewer.mouse.move(*place_of(viewer, column, row))
        expected = [np.atleast_1d(samples[row, column]).tolist() for samples in decoded]
        assert samples_said(viewer) == (column, row, expected)


@pytest.mark.parametrize("name", CASES)
def test_a_page_from_a_disk_shows_the_samples_of_python(viewing, written, name):
    data = CASES[name].file()
    viewer = viewing(written({"a.mmp": data}), **DESK)
    decoded = mmpcodec.decode(data)
    check_samples(viewer, decoded)
    header = mmpcodec.inspect(data).header
    said = viewer.locator("#captions").text_content()
    assert f"{WIDTH}\u00d7{HEIGHT} · {name.split(',')[0].replace('RGBA', 'RGB with alpha')}" in said
    assert f", {header.depth} bit" in said
    asked = [url for url in viewing.requests if not url.startswith(("data:", "blob:"))]
    assert len(asked) == 1  # the page
    assert asked[0].startswith("file:")


def test_the_served_page_shows_the_samples_of_python(viewing, served, tmp_path):
    files = {name: CASES[name].file() for name in list(CASES)[6:9]}
    paths = []
    for number, data in enumerate(files.values()):
        paths.append(tmp_path / f"{number}.mmp")
        paths[-1].write_bytes(data)
    viewer = viewing(served(*paths).address, **DESK)
    for number, data in enumerate(files.values()):
        viewer.locator("#side-a").select_option(f"{number}.mmp")
        until(viewer, f"document.getElementById('canvas').dataset.shown === '{number}.mmp'")
        until_drawn(viewer)
        check_samples(viewer, mmpcodec.decode(data))


def test_a_scan_with_a_white_of_its_own(viewing, written):
    """As DICOM files are read: 12 bits in a file of 16, whose white is 4095."""
    samples = waves(1, 12)
    data = mmpcodec.encode(samples, 0, preset="lossless", depth=16, metadata=Metadata(white=4095))
    viewer = viewing(written({"scan.mmp": data}), **DESK)
    check_samples(viewer, samples)
    levels = [float(viewer.locator(f"#{name}").input_value()) for name in ("low", "high")]
    assert levels == [0, 4095]  # the file names its white, and a sample reaches half of it
    viewer.locator("#low").fill("1000")
    viewer.locator("#high").fill("3000")
    viewer.locator("#high").press("Tab")
    viewer.wait_for_timeout(200)
    assert viewer.locator("#window").input_value() == "2000"
    assert viewer.locator("#level").input_value() == "2000"
    x, y = place_of(viewer, 100, 20)
    shade = viewer.evaluate(
        """([x, y]) => {
            const canvas = document.getElementById("canvas"), box = canvas.getBoundingClientRect();
            const unit = canvas.width / box.width, pen = canvas.getContext("2d");
            const place = [(x - box.left) * unit, (y - box.top) * unit].map(Math.floor);
            return pen.getImageData(...place, 1, 1).data[0];
        }""",
        [x, y],
    )
    expected = 255 * np.clip((int(samples[20, 100]) - 1000) / 2000, 0, 1)
    assert shade == pytest.approx(expected, abs=0.51)


def test_two_codings_side_by_side_and_wiped(viewing, written):
    cases = [CASES["RGB, exact, tiles"], CASES["RGB, blocks"]]
    files = dict(zip(("exact.mmp", "blocks.mmp"), (case.file() for case in cases), strict=True))
    decoded = [mmpcodec.decode(data) for data in files.values()]
    assert not np.array_equal(*decoded)
    viewer = viewing(written(files), **DESK)
    viewer.locator("#wipe").click()
    until_drawn(viewer)
    check_samples(viewer, *decoded)
    viewer.locator("#side").click()
    until_drawn(viewer)
    box = viewer.locator("#canvas").bounding_box()
    for part in (0.2, 0.3, 0.7, 0.8):
        viewer.mouse.move(box["x"] + part * box["width"], box["y"] + box["height"] / 2)
        column, row, said = samples_said(viewer)
        assert said == [samples[row, column].tolist() for samples in decoded]


def test_a_phone_reads_samples_by_touch(viewing, written):
    data = CASES["gray, 12 bits"].file()
    decoded = mmpcodec.decode(data)
    viewer = viewing(written({"scan.mmp": data}), **SHARP_PHONE)
    assert viewer.evaluate("document.documentElement.scrollWidth") == 390
    for column, row in PLACES:
        viewer.wait_for_timeout(500)  # two taps at once zoom
        viewer.touchscreen.tap(*place_of(viewer, column, row))
        at, below, [said] = samples_said(viewer)
        assert "middle" not in viewer.locator("#values").text_content()
        assert abs(at - column) <= 1
        assert abs(below - row) <= 1
        assert said == [decoded[below, at]]
