"""Levels in Pillow: draft, thumbnails, and saving with them."""

import io

import numpy as np
import pytest
from PIL import Image

import mmpcodec
import mmpcodec.plugins.pillow
from mmpcodec.format.collection import Role
from mmpcodec.format.collection_writer import CollectionWriter

HOW = {"effort": 1, "preset": "lossless"}


@pytest.fixture
def marked(tmp_path):
    """Two pages of 0 and 200; the first has levels of 20 and 40, the second one of 120."""
    path = tmp_path / "marked.mmp"
    with open(path, "wb") as stream:
        writer = CollectionWriter(stream)
        for page, factors in ((0, (2, 4)), (200, (2,))):
            number = len(writer)
            whole = np.full((601, 800, 3), page, np.uint8)
            writer.add(mmpcodec.encode(whole, 0, tile_size=128, **HOW))
            for factor in factors:
                level = np.full((-(-601 // factor), 800 // factor, 3), 10 * factor, np.uint8)
                level += np.uint8(page // 2)
                writer.add(mmpcodec.encode(level, 0, **HOW), Role.LEVEL, (number,))
        writer.close()
    return path


def test_draft_takes_the_smallest_level_that_is_not_smaller(marked):
    for size, expected, value in (
        ((200, 150), (200, 151), 40),
        ((201, 150), (400, 301), 20),
        ((401, 10), (800, 601), 0),
        ((1, 1), (200, 151), 40),
    ):
        with Image.open(marked) as image:
            found = image.draft("RGB", size)
            factor = 800 // expected[0]
            box = (0, 0, 800 / factor, 601 / factor)
            assert found == (None if factor == 1 else ("RGB", box))
            assert image.size == expected
            assert image.getpixel((5, 5)) == (value,) * 3
            assert np.asarray(image).shape == (*expected[::-1], 3)


def test_thumbnails_use_levels_of_each_page(marked):
    with Image.open(marked) as image:
        image.thumbnail((75, 75))  # Pillow asks for twice as many pixels
        assert (image.size, image.getpixel((3, 3))) == ((75, 56), (40,) * 3)
        image.seek(1)
        assert image.size == (800, 601)
        image.thumbnail((100, 100))
        assert (image.size, image.getpixel((3, 3))) == ((100, 75), (120,) * 3)
        image.seek(0)
        assert (image.size, image.getpixel((3, 3))) == ((800, 601), (0,) * 3)
        assert image.draft(None, (200, 150)) is None  # it is loaded
    with Image.open(marked) as image:
        image.draft(None, (200, 150))
        assert image.crop((1, 2, 5, 6)).getpixel((0, 0)) == (40,) * 3


def test_files_without_levels_have_no_draft(tmp_path):
    path = tmp_path / "a.mmp"
    path.write_bytes(mmpcodec.encode(np.zeros((600, 600), np.uint8)))
    with Image.open(path) as image:
        assert image.draft("L", (10, 10)) is None
        assert image.size == (600, 600)


def test_saving_with_levels(tmp_path):
    shades = np.random.default_rng(5).normal(128, 30, (600, 520)).clip(0, 255)
    gray = Image.fromarray(shades.astype(np.uint8))
    bilevel = Image.new("1", gray.size)
    path = tmp_path / "a.mmp"
    profile = bytes(range(100))
    gray.save(path, levels=True, save_all=True, append_images=[bilevel], icc_profile=profile)
    gray_page, bilevel_page = mmpcodec.open(path)
    assert [each.shape for each in gray_page.renditions] == [(300, 260)]
    assert [(each.shape, each.depth) for each in bilevel_page.renditions] == [((300, 260), 8)]
    assert all(each.metadata.icc == profile for each in (gray_page, *bilevel_page.renditions))
    with Image.open(path) as image:
        image.seek(1)
        assert image.mode == "1"
        assert image.draft(None, (260, 300))[0] == image.mode == "L"
        alone = io.BytesIO()
        image.save(alone, "mmp", levels=True)


def test_a_list_of_pictures_has_levels(tmp_path):
    arrays = [np.full((600, 520), 90, np.uint8), np.full((20, 30), 7, np.uint8)]
    path = tmp_path / "a.mmp"
    path.write_bytes(mmpcodec.encode(arrays, levels=True, durations=0.5))
    first, second = mmpcodec.open(path)
    assert (first.role, first.duration, len(first.renditions)) == ("frame", 0.5, 1)
    assert (second.role, second.renditions) == ("frame", ())
