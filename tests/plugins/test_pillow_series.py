"""Files of several pictures in Pillow: frames and pages are sought and saved."""

from fractions import Fraction

import numpy as np
import pytest
from PIL import Image, ImageSequence, UnidentifiedImageError
from support.books import collection

import mmpcodec
from mmpcodec.plugins import pillow as _registered  # noqa: F401

FRAMES = [
    np.random.default_rng(seed).integers(0, 256, (20, 24, 3)).astype(np.uint8) for seed in range(3)
]
TIMES = (100, 40, 1000)


def series(path, **options):
    first, *others = map(Image.fromarray, FRAMES)
    first.save(path, lam=0, save_all=True, append_images=others, **options)
    return path


def test_frames_are_saved_and_sought(tmp_path):
    path = series(tmp_path / "a.mmp", duration=list(TIMES), loop=3)
    assert [one.duration for one in mmpcodec.open(path)] == [Fraction(time, 1000) for time in TIMES]
    with Image.open(path) as image:
        assert (image.n_frames, image.is_animated, image.tell()) == (3, True, 0)
        for number in (2, 0, 1, 1):
            image.seek(number)
            assert image.tell() == number
            assert image.info["duration"] == TIMES[number]
            assert image.info["loop"] == 3
            np.testing.assert_array_equal(np.array(image), FRAMES[number])
        for number in (3, -1):
            with pytest.raises(EOFError):
                image.seek(number)
        assert image.tell() == 1
        np.testing.assert_array_equal(np.array(image), FRAMES[1])


def test_frames_are_iterated_and_saved_again(tmp_path):
    path = series(tmp_path / "a.mmp", duration=50)
    with Image.open(path) as image:
        found = [np.array(frame) for frame in ImageSequence.Iterator(image)]
        image.save(tmp_path / "b.png", save_all=True)
        image.save(tmp_path / "c.mmp", save_all=True, lam=0)
    np.testing.assert_array_equal(np.stack(found), np.stack(FRAMES))
    with Image.open(tmp_path / "b.png") as image:
        assert (image.n_frames, image.info["duration"]) == (3, 50)
    assert (tmp_path / "c.mmp").read_bytes() == path.read_bytes()


def test_pages_have_no_duration_and_any_size_and_mode(tmp_path):
    pages = [Image.new("L", (9, 7), 5), Image.new("RGB", (4, 5), "red"), Image.new("1", (3, 3), 1)]
    pages[0].save(tmp_path / "a.mmp", save_all=True, append_images=pages[1:], lam=0)
    assert [one.role for one in mmpcodec.open(tmp_path / "a.mmp")] == ["page"] * 3
    with Image.open(tmp_path / "a.mmp") as image:
        assert "duration" not in image.info
        for number, wanted in enumerate(pages):
            image.seek(number)
            assert (image.mode, image.size) == (wanted.mode, wanted.size)
            np.testing.assert_array_equal(np.array(image), np.array(wanted))


def test_a_gif_becomes_frames_that_are_shown_as_often(tmp_path):
    frames = [Image.new("P", (8, 8), number) for number in range(3)]
    for frame in frames:
        frame.putpalette(range(30))
    options = {"save_all": True, "append_images": frames[1:], "duration": 70}
    for loop, shown in ((None, 1), (0, 0), (2, 3)):
        given = options if loop is None else {**options, "loop": loop}
        frames[0].save(tmp_path / "a.gif", **given)
        with Image.open(tmp_path / "a.gif") as image:
            image.save(tmp_path / "a.mmp", save_all=True, lam=0)
        with Image.open(tmp_path / "a.mmp") as image:
            assert (image.n_frames, image.info["loop"], image.info["duration"]) == (3, shown, 70)


def test_one_image_that_is_saved_with_all_is_a_file_of_one(tmp_path):
    image = Image.fromarray(FRAMES[0])
    image.save(tmp_path / "a.mmp", save_all=True, lam=0)
    assert (tmp_path / "a.mmp").read_bytes() == mmpcodec.encode(FRAMES[0], 0)
    with Image.open(tmp_path / "a.mmp") as found:
        assert (found.n_frames, found.is_animated, found.tell()) == (1, False, 0)
        found.seek(0)
        with pytest.raises(EOFError):
            found.seek(1)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"duration": [1, 2]}, "duration: has 2 numbers for 3 images"),
        ({"duration": "long"}, "duration = 'long'"),
        ({"duration": -5}, r"durations\[0\]"),
        ({"duration": 5, "loop": -1}, "loop = -1"),
    ],
)
def test_bad_durations_are_named(tmp_path, options, says):
    with pytest.raises(mmpcodec.ParameterError, match=says):
        series(tmp_path / "a.mmp", **options)


def test_shared_metadata_and_crops_of_later_pages(tmp_path):
    path = series(tmp_path / "a.mmp", xmp=b"<x>" + b"a" * 200, tile_size=0)
    with Image.open(path) as image:
        image.seek(2)
        assert len(image.info["xmp"]) == 203
        part = image.crop((3, 4, 10, 12))
    np.testing.assert_array_equal(np.array(part), FRAMES[2][4:12, 3:10])


def test_a_damaged_page_raises_and_others_open(tmp_path):
    path = series(tmp_path / "a.mmp")
    data = path.read_bytes()
    coded = mmpcodec.encode(FRAMES[1], 0)
    place = data.index(coded) + len(coded) - 9
    path.write_bytes(data[:place] + bytes(9) + data[place + 9 :])
    with Image.open(path) as image:
        image.seek(1)
        with pytest.raises(OSError, match=r"\w"):
            image.load()
        image.seek(2)
        np.testing.assert_array_equal(np.array(image), FRAMES[2])
    with Image.open(path) as image, pytest.raises(OSError, match=r"\w"):
        image.verify()


def test_verify_takes_the_limits_of_the_plugin(tmp_path, monkeypatch):
    path = series(tmp_path / "a.mmp", xmp=b"<x>" + b"a" * 200)
    with Image.open(path) as image:
        monkeypatch.setattr(type(image), "limits", mmpcodec.DecodeLimits(max_memory=100))
        with pytest.raises(OSError, match="max_memory"):
            image.verify()


def test_a_closed_image_cannot_seek(tmp_path):
    image = Image.open(series(tmp_path / "a.mmp"))
    image.close()
    with pytest.raises(ValueError, match="closed"):
        image.seek(1)


def test_a_collection_of_nothing_is_no_image(tmp_path):
    (tmp_path / "a.mmp").write_bytes(collection([]))
    with pytest.raises(UnidentifiedImageError):
        Image.open(tmp_path / "a.mmp")


@pytest.mark.parametrize("cut", [3, 40, 1000])
def test_a_cut_collection_is_an_error(tmp_path, cut):
    path = series(tmp_path / "a.mmp")
    path.write_bytes(path.read_bytes()[:-cut])
    with pytest.raises(OSError, match=r"\w"), Image.open(path) as image:
        image.load()
