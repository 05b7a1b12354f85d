"""Books: the pictures of files of any format are read one at a time."""

import errno
import io
from functools import partial

import numpy as np
import pytest
from PIL import Image, features

import mmpcodec
from mmpcodec.cli.decoding.pages import Decoding, book_of, several_of
from mmpcodec.errors import PictureError
from mmpcodec.format.collection import Role
from mmpcodec.format.collection_writer import CollectionWriter
from mmpcodec.pictures import registry
from mmpcodec.pictures.books.joined import joined, selected
from mmpcodec.pictures.books.opening import opened_book
from mmpcodec.pictures.limits import damage_reported
from mmpcodec.pictures.mmp.stack import MmpStack

PICTURES = [np.full((5, 7), 40 * number, np.uint8) for number in range(1, 4)]


def collection(role: Role, facts: list[tuple[int, ...]], loops: int = 0) -> bytes:
    stream = io.BytesIO()
    writer = CollectionWriter(stream, loops=loops)
    for picture, own in zip(PICTURES, facts, strict=True):
        writer.add(mmpcodec.encode(picture, 0), role, own)
    writer.close()
    return stream.getvalue()


@pytest.mark.parametrize("by_path", [False, True])
def test_a_book_gives_each_picture_and_its_facts(tmp_path, by_path):
    facts = [(1, 10), (2, 10), (1, 2)]
    data = collection(Role.FRAME, facts, loops=3)
    path = tmp_path / "anim.mmp"
    path.write_bytes(data)
    with opened_book(path if by_path else data) as book:
        assert (len(book), book.role, book.loops) == (3, Role.FRAME, 3)
        assert [book.facts_of(number) for number in range(3)] == facts
        for found, wanted in zip(book, PICTURES, strict=True):
            np.testing.assert_array_equal(found.samples, wanted)
        np.testing.assert_array_equal(book.read(1).samples, PICTURES[1])


def test_pictures_of_several_roles_keep_them():
    stream = io.BytesIO()
    writer = CollectionWriter(stream)
    kinds = [(Role.PAGE, ()), (Role.FRAME, (1, 2)), (Role.SLICE, (-3,))]
    for picture, (role, facts) in zip(PICTURES, kinds, strict=True):
        writer.add(mmpcodec.encode(picture, 0), role, facts)
    writer.close()
    with opened_book(stream.getvalue()) as book:
        found = [(book.role_of(number), book.facts_of(number)) for number in range(3)]
        assert (book.role, found) == (Role.PAGE, kinds)
    with opened_book(collection(Role.SLICE, [(1,)] * 3)) as book:
        assert (book.role, book.role_of(2)) == (Role.SLICE, Role.SLICE)


def test_pictures_of_several_roles_are_pages_together_wherever_they_are_read(tmp_path):
    stream = io.BytesIO()
    writer = CollectionWriter(stream)
    kinds = [(Role.SLICE, (-3,)), (Role.FRAME, (1, 2)), (Role.SLICE, (4,))]
    for picture, (role, facts) in zip(PICTURES, kinds, strict=True):
        writer.add(mmpcodec.encode(picture, 0), role, facts)
    writer.close()
    path = tmp_path / "a.mmp"
    path.write_bytes(stream.getvalue())
    for numbers, together in [((0, 1, 2), Role.PAGE), ((0, 2), Role.SLICE), ((1,), Role.FRAME)]:
        with selected(opened_book(path), numbers) as book:
            assert book.role == together
            assert [book.role_of(place) for place in range(len(book))] == [
                kinds[number][0] for number in numbers
            ]
            assert [book.facts_of(place) for place in range(len(book))] == [
                kinds[number][1] for number in numbers
            ]
    assert opened_book(path).role == Role.PAGE
    openers = [partial(opened_book, path)] * 2
    assert joined("both", openers, mmpcodec.DecodeLimits()).role == Role.PAGE
    assert (mmpcodec.open(path).role, MmpStack(path).role) == ("page", "page")
    assert (mmpcodec.open(path)[::2].role, mmpcodec.open(path)[3:].role) == ("slice", "page")
    several = several_of(path.read_bytes(), "a.mmp", limits=mmpcodec.DecodeLimits())
    assert book_of(several, "a.mmp", Decoding(), None)[0].role == Role.PAGE


def test_a_file_of_one_picture_is_a_book_of_one(tmp_path):
    path = tmp_path / "a.png"
    mmpcodec.imwrite(path, PICTURES[0])
    for source in (path, path.read_bytes()):
        with opened_book(source) as book:
            assert (len(book), book.role, book.measured) == (1, Role.PAGE, False)
            np.testing.assert_array_equal(book.read(0).samples, PICTURES[0])


def test_a_damaged_page_is_named_and_the_others_open():
    data = bytearray(collection(Role.PAGE, [()] * 3))
    page = mmpcodec.encode(PICTURES[1], 0)
    data[data.index(page) + len(page) - 4] ^= 255
    with opened_book(bytes(data)) as book:
        np.testing.assert_array_equal(book.read(2).samples, PICTURES[2])
        with pytest.raises(PictureError, match="page 2"):
            book.read(1)


def test_the_number_of_pictures_is_limited():
    limits = mmpcodec.DecodeLimits(max_pictures=2)
    with pytest.raises(PictureError, match="max_pictures"):
        opened_book(collection(Role.PAGE, [()] * 3), limits=limits)


avif = pytest.mark.skipif(not features.check("avif"), reason="this Pillow reads no AVIF")


@pytest.mark.parametrize(
    "format", ["PNG", "GIF", "WEBP", pytest.param("AVIF", marks=avif), "TIFF", "JPEG", "PPM"]
)
def test_a_file_that_goes_away_while_it_is_opened_is_not_called_damaged(
    tmp_path, monkeypatch, format
):
    path, look = tmp_path / "a", registry.format_at
    Image.fromarray(PICTURES[0]).save(path, format)

    def looked(head):
        path.unlink()
        return look(head)

    monkeypatch.setattr(registry, "format_at", looked)
    with pytest.raises(PictureError) as caught, opened_book(path) as book:
        book.read(0)
    assert isinstance(caught.value, FileNotFoundError)
    assert str(caught.value) == f"{path}: No such file or directory"


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (PermissionError(errno.EACCES, "Permission denied", "b"), "a: Permission denied"),
        (OSError(errno.EIO, "Input/output error"), "a: Input/output error"),
        (OSError("cannot decode"), "a: is damaged or truncated: cannot decode"),
        (OSError(errno.EINVAL, "Bad"), f"a: is damaged or truncated: [Errno {errno.EINVAL}] Bad"),
    ],
)
def test_what_the_system_refuses_is_told_from_damage(error, text):
    with pytest.raises(PictureError) as caught, damage_reported("a"):
        raise error
    assert str(caught.value) == text
    assert isinstance(caught.value, OSError) == ("damaged" not in text)


def test_a_file_without_pictures_and_one_without_its_index_say_so():
    data = collection(Role.PAGE, [()] * 3)
    empty = io.BytesIO()
    CollectionWriter(empty).close()
    with pytest.raises(PictureError, match=r"x: holds no pictures$"):
        opened_book(empty.getvalue(), "x")
    with pytest.raises(PictureError, match=r"x: Collections at .*; mmp decode --allow-partial "):
        opened_book(data[:-3], "x")
