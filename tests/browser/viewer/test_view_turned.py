"""Turned pictures in Chromium: files of all formats lie on each other, upright. Exact alpha."""

import io
import re
import struct

import numpy as np
import pytest
from PIL import Image
from support.web.decoder import mmp_file, until
from support.web.pages import DESK, PHONE

from mmpcodec.analysis.turning import turned
from mmpcodec.metadata import Metadata

pytestmark = pytest.mark.browser

HEIGHT, WIDTH = 70, 150


def exif(turn):
    entry = struct.pack("<HHIHH", 274, 3, 1, turn, 0)
    return b"II*\0" + struct.pack("<IH", 8, 1) + entry + bytes(4)


def samples_of(planes=3):
    """Samples that differ from place to place."""
    rows, columns = np.indices((HEIGHT, WIDTH))
    return np.stack([rows, columns, 255 - rows, rows + columns], axis=2).astype(np.uint8)[
        ..., :planes
    ]


def place_of(viewer, column, row, size):
    """Point of the window over the middle of a sample of a picture that is fitted into its pane."""
    box = viewer.locator("#canvas").bounding_box()
    high, wide = size
    scale = min(box["width"] / wide, box["height"] / high)
    left = box["x"] + (box["width"] - scale * wide) / 2
    top = box["y"] + (box["height"] - scale * high) / 2
    return left + scale * (column + 0.5), top + scale * (row + 0.5)


def written(folder, name, samples, turn):
    """Write a picture whose EXIF names an orientation, and return its path."""
    path = folder / name
    if name.endswith(".mmp"):
        return mmp_file(path, samples, tile_size=64, metadata=Metadata(exif=exif(turn)))
    more = {"lossless": True} if name.endswith(".webp") else {"quality": 100, "subsampling": 0}
    Image.fromarray(samples).save(path, exif=b"Exif\0\0" + exif(turn), **more)
    return path


@pytest.mark.parametrize(
    ("turn", "other"),
    [*((turn, "a.png") for turn in range(1, 9)), (6, "a.jpg"), (8, "a.jpg"), (6, "a.webp")],
)
def test_a_picture_and_its_mmp_file_are_turned_equally(viewing, served, tmp_path, turn, other):
    samples = samples_of()
    paths = [written(tmp_path, name, samples, turn) for name in (other, "a.mmp")]
    viewer = viewing(served(*paths).address, **DESK)
    viewer.locator("#wipe").click()
    until(viewer, "document.getElementById('canvas').dataset.waiting === '0'")
    expected = turned(samples, turn)
    high, wide = expected.shape[:2]
    captions = viewer.locator("#captions").text_content()
    assert captions.count(f"{wide}\u00d7{high}") == 2
    assert captions.count(f"turned upright (orientation {turn})") == (0 if turn == 1 else 2)
    assert viewer.locator("#progress").text_content() == ""
    for column, row in ((0, 0), (wide - 1, 0), (0, high - 1), (wide - 1, high - 1), (30, 65)):
        viewer.mouse.move(*place_of(viewer, column, row, (high, wide)))
        text = viewer.locator("#values").text_content()
        assert f"column {column}, row {row} " in text
        by_browser, by_decoder = (
            [int(each) for each in re.search(rf"{name}: ([\d ]+)", text)[1].split()]
            for name in (other, "a.mmp")
        )
        assert by_decoder == expected[row, column].tolist()
        assert by_browser == pytest.approx(by_decoder, abs=8 if other == "a.jpg" else 0)


@pytest.mark.parametrize("turn", [1, 6, 7])
def test_regions_and_layers_are_turned_too(viewing, served, tmp_path, turn):
    samples = np.zeros((HEIGHT, WIDTH), np.uint8)
    samples[5:15, 100:140] = 250
    data = {"lam": 60, "preset": "plain", "metadata": Metadata(exif=exif(turn))}
    path = mmp_file(tmp_path / "a.mmp", samples, **data)
    viewer = viewing(served(path).address, **DESK)
    viewer.locator("#regions").check()
    until(viewer, "document.querySelectorAll('#region-table tbody tr').length === 1")
    rows, columns = np.nonzero(turned(samples, turn))
    cells = viewer.locator("#region-table tbody").text_content()
    assert f"{columns.min()} to {columns.max()}{rows.min()} to {rows.max()}" in cells
    viewer.locator("#layer").select_option("edges")
    until(viewer, "document.getElementById('legend').textContent.startsWith('Outlines')")
    viewer.locator("#layer").select_option("bits")
    until(viewer, "document.getElementById('legend').textContent.startsWith('Bits')")


@pytest.mark.parametrize("name", ["a.png", "a.webp"])
@pytest.mark.parametrize("device", [DESK, PHONE], ids=["desk", "phone"])
def test_samples_under_alpha_are_exact(viewing, served, tmp_path, name, device):
    """A canvas that multiplies by alpha makes 200 100 50 3 to 170 85 85 3."""
    samples = np.full((40, 50, 4), (200, 100, 50, 3), np.uint8)
    samples[20:, :, 3] = 128
    samples[:, 25:] = (1, 2, 3, 0)
    stream = io.BytesIO()
    more = {"lossless": True, "exact": True} if name == "a.webp" else {}
    Image.fromarray(samples).save(stream, name[2:].upper(), **more)
    (tmp_path / name).write_bytes(stream.getvalue())
    viewer = viewing(served(tmp_path / name).address, **device)
    for column, row in ((3, 3), (3, 30), (40, 3)):
        viewer.mouse.move(*place_of(viewer, column, row, (40, 50)))
        said = viewer.locator("#values").text_content()
        assert said.endswith(f"· {' '.join(map(str, samples[row, column]))}")
    assert "rounded" not in viewer.locator("#captions").text_content()


def test_large_pictures_with_alpha_are_read_in_parts(viewing, served, tmp_path):
    rows, columns = np.indices((2100, 4200))
    samples = np.stack([rows, columns, rows + columns, columns // 20], axis=2).astype(np.uint8)
    Image.fromarray(samples).save(tmp_path / "a.png")
    viewer = viewing(served(tmp_path / "a.png").address, **DESK)
    for column, row in ((2047, 2047), (2048, 2048), (4190, 5), (100, 2090), (4100, 2049)):
        viewer.mouse.move(*place_of(viewer, column, row, (2100, 4200)))
        text = viewer.locator("#values").text_content()
        x, y, said = re.search(r"column (\d+), row (\d+) · ([\d ]+)$", text).groups()
        expected = samples[int(y), int(x)]
        assert [int(each) for each in said.split()] == expected.tolist()
