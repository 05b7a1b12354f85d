"""Pictures of 1 bit on the command line: lossless unless loss is asked for, alone and in books."""

import json
from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image

import mmpcodec
from mmpcodec import pictures
from mmpcodec.pictures import Picture

BITS = np.random.default_rng(1).choice(2, (40, 53), p=[0.05, 0.95]).astype(np.uint8)
GRAY = (3 * np.arange(40)[:, None] + np.arange(53)).astype(np.uint8)
GRAY += np.random.default_rng(2).integers(0, 60, GRAY.shape, np.uint8)


def reported(result):
    """The only result that --json printed."""
    assert result.exit_code == 0, result.output
    (line,) = result.stdout.splitlines()
    return json.loads(line)


def write_fax(name):
    Image.fromarray(BITS.astype(bool)).save(name, compression="group4", tiffinfo={262: 0})


def write_png(name):
    Image.fromarray(BITS.astype(bool)).save(name)


@pytest.mark.parametrize("tile", [(), ("--tile", 64)], ids=["whole", "tiles"])
@pytest.mark.parametrize("preset", ["auto", "text"])
def test_lossless_by_default(mmp, preset, tile):
    writers = {
        "page.pbm": lambda name: pictures.write(Picture(BITS, 1), name),
        "page.png": write_png,
        "page.tif": write_fax,
        "page.npy": lambda name: np.save(name, BITS.astype(bool)),
    }
    for name, write in writers.items():
        write(name)
        facts = reported(mmp("encode", name, "--preset", preset, "--json", "-f", *tile))
        assert (facts["depth"], facts["lam"], facts["spared"]) == (1, 0, True), name
        samples = mmpcodec.decode(Path("page.mmp").read_bytes())
        np.testing.assert_array_equal(samples, BITS)
    said = mmp("encode", "page.pbm", "-f").stdout
    assert "lossless, as pictures of 1 bit are without --quality, --max-error or a target" in said


@pytest.mark.parametrize("format", ["tif", "pdf"])
def test_scans_go_to_mmp_and_back(mmp, format):
    if format == "pdf":
        pytest.importorskip("pikepdf")
        pytest.importorskip("pypdfium2")
    Path("scan.mmp").write_bytes(mmpcodec.encode(BITS, depth=1))
    assert mmp("decode", "scan.mmp", "-o", f"scan.{format}").exit_code == 0
    facts = reported(mmp("encode", f"scan.{format}", "-o", "again.mmp", "--json"))
    assert (facts["depth"], facts["lam"]) == (1, 0)
    np.testing.assert_array_equal(mmpcodec.decode(Path("again.mmp").read_bytes()), BITS)


@pytest.mark.parametrize("options", [("--target-size", 100), ("--max-error", 1)])
def test_loss_that_is_asked_for_is_said(mmp, options):
    write_png("page.png")
    result = mmp("encode", "page.png", *options)
    assert result.exit_code == 0, result.output
    assert (mmpcodec.decode(Path("page.mmp").read_bytes()) != BITS).any()
    assert "page.png: has 1 bit a sample and is coded with loss, so some black" in result.stderr


def test_a_quality_without_loss_is_not_called_lossy(mmp):
    write_png("page.png")
    result = mmp("encode", "page.png", "--quality", 90)
    samples = mmpcodec.decode(Path("page.mmp").read_bytes())
    assert ("coded with loss" in result.stderr) == (samples != BITS).any()


@pytest.mark.parametrize("joined", [False, True], ids=["a book", "together"])
def test_of_mixed_pages_those_of_1_bit_are_lossless(mmp, joined):
    if joined:
        write_fax("1.tif")
        pictures.write(GRAY, "2.png")
        result = mmp("encode", "1.tif", "2.png", "--together", "-o", "book.mmp", "--json")
    else:
        with tifffile.TiffWriter("book.tif") as stream:
            stream.write(BITS.astype(bool), photometric="minisblack")
            stream.write(GRAY, photometric="minisblack")
        result = mmp("encode", "book.tif", "--json")
    facts = reported(result)
    first, second = facts["pages"]
    assert (first["lam"], first["spared"], first["max_error"]) == (0, True, 0)
    assert second["lam"] > 0
    assert not second["spared"]
    pages = mmpcodec.open("book.mmp")
    assert [page.depth for page in pages] == [1, 8]
    np.testing.assert_array_equal(pages[0][:, :], BITS)
    assert (pages[1][:, :] != GRAY).any()


def test_a_page_with_levels_is_lossless_and_they_are_gray(mmp):
    page = np.ones((600, 530), np.uint8)
    page[101:303:7, 51:452] = 0
    pictures.write(Picture(page, 1), "page.pbm")
    facts = reported(mmp("encode", "page.pbm", "--levels", "--json"))
    assert (facts["lam"], facts["spared"]) == (0, True)
    (found,) = mmpcodec.open("page.mmp")
    np.testing.assert_array_equal(found[:, :], page)
    assert [(level.depth, level.shape) for level in found.renditions] == [(8, (300, 265))]
    whole = np.array(found.renditions[0][:, :])
    means = 255 * page.reshape(300, 2, 265, 2).mean(axis=(1, 3))
    np.testing.assert_allclose(whole, means, atol=255 / 10)  # rounded to 6 grays or more
