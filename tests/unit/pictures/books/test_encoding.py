"""Books are written as collections: in order, few pages at once, and behind what was written."""

import gc
import io
import time
import weakref
from functools import partial

import numpy as np
import pytest

import mmpcodec
from mmpcodec.errors import Cancelled, PictureError, PictureWarning
from mmpcodec.format.collection import Role
from mmpcodec.metadata import Metadata
from mmpcodec.opening.contents import contents_of
from mmpcodec.picture import Picture
from mmpcodec.pictures.books import encoding
from mmpcodec.pictures.books.book import Book
from mmpcodec.pictures.books.encoding import CodedPage, DamagedPages, write_book
from mmpcodec.pictures.books.joined import joined, selected
from mmpcodec.pictures.books.opening import opened_book
from mmpcodec.pictures.books.resuming import NOTHING, begun_in
from mmpcodec.pictures.left_out import leave_out

XMP = b"<x:xmpmeta>" + 100 * b"x" + b"</x:xmpmeta>"
NO_LIMITS = mmpcodec.DecodeLimits()


def sample(number):
    return np.full((8, 8 + number), 10 * number, np.uint8)


def read(number):
    metadata = Metadata(xmp=XMP + bytes([65 + number // 2]))
    return Picture(sample(number), 8, metadata)


def book_of(count, **facts):
    return Book("a.tif", count, facts.pop("read", read), **facts)


def coded(pages, progress):
    return [
        CodedPage(
            mmpcodec.encode(
                page.picture.samples, 0, preset="plain", metadata=page.picture.metadata
            ),
            page.name,
        )
        for page in pages
    ]


def collect(numbers, number, page):
    numbers.append(number)


def written(book, **how):
    stream = io.BytesIO()
    write_book(book, stream, coded, **how)
    return stream.getvalue()


def test_roles_facts_and_loops_go_with_the_pages():
    facts = [(n + 1, 30) for n in range(3)]
    book = book_of(3, role=Role.FRAME, facts=facts, loops=7)
    with opened_book(written(book)) as found:
        assert (found.count, found.role, found.loops) == (3, Role.FRAME, 7)
        assert list(found.facts) == facts
        for number, picture in enumerate(found):
            np.testing.assert_array_equal(picture.samples, sample(number))
            assert picture.metadata.xmp == read(number).metadata.xmp


@pytest.mark.parametrize("how", [{"at_once": 4}, {"together": 3}, {"at_once": 2, "together": 2}])
def test_threads_and_groups_do_not_change_the_bytes(how):
    def uneven(pages, progress):
        time.sleep(0.02 * (pages[0].number % 3 == 0))
        return coded(pages, progress)

    stream, found = io.BytesIO(), []
    book = book_of(7)
    write_book(book, stream, uneven, on_page=lambda n, page: found.append((n, page.found)), **how)
    assert stream.getvalue() == written(book)
    assert found == [(n, f"a.tif: page {n + 1}") for n in range(7)]


def test_a_group_has_a_limit_of_samples(monkeypatch):
    monkeypatch.setattr(encoding, "MOST_SAMPLES", 8 * 20)
    groups = []

    def counted(pages, progress):
        groups.append([page.number for page in pages])
        return coded(pages, progress)

    write_book(book_of(6), io.BytesIO(), counted, together=3)
    assert groups == [[0, 1], [2], [3], [4], [5]]


@pytest.mark.parametrize("at_once", [1, 3])
def test_few_pages_are_in_memory(at_once):
    alive, most = weakref.WeakSet(), []

    def reading(number):
        gc.collect()
        most.append(len(alive))
        picture = read(number)
        alive.add(picture)
        return picture

    write_book(book_of(20, read=reading), io.BytesIO(), coded, at_once=at_once)
    assert max(most) <= at_once + 1
    assert len(alive) <= 1


def test_every_cut_goes_on_to_the_same_bytes():
    book = book_of(4)
    whole = written(book)
    ends = [entry.place + entry.size for entry in contents_of(memoryview(whole)).pictures]
    for cut in range(len(whole) + 1):
        begun = begun_in(memoryview(whole[:cut]))
        assert begun.pages == max(sum(end <= cut for end in ends) - 1, 0)
        stream = io.BytesIO(whole[: begun.place])
        stream.seek(begun.place)
        numbers: list[int] = []
        write_book(book, stream, coded, begun=begun, on_page=partial(collect, numbers))
        assert numbers == list(range(begun.pages, 4))
        assert stream.getvalue() == whole


def test_a_torn_end_is_done_again():
    whole = written(book_of(4))
    third = contents_of(memoryview(whole)).pictures[2]
    torn = whole[: third.place] + bytes(third.size) + bytes(50)
    assert begun_in(memoryview(torn)).pages == 2
    assert begun_in(memoryview(b"")) == NOTHING
    assert begun_in(memoryview(b"no collection")) == NOTHING


def test_pages_behind_damage_are_done_again():
    """Whole records follow the damaged one, but a page lacks between them."""
    whole = written(book_of(6))
    ends = [entry.place + entry.size for entry in contents_of(memoryview(whole)).pictures]
    damaged = bytearray(whole[: ends[4]])
    damaged[ends[2] + 2] ^= 255  # in the head of the fourth record
    assert begun_in(memoryview(damaged)).pages <= 2


def test_progress_counts_pages_and_stops():
    calls = []

    def progress(done, total):
        calls.append(done / total)
        return len(calls) < 3

    with pytest.raises(Cancelled):
        write_book(book_of(50), io.BytesIO(), coded, progress=progress)
    assert calls == [1 / 50, 2 / 50, 3 / 50]


def test_an_error_of_a_coder_stops_the_others():
    started = []

    def failing(pages, progress):
        started.append(pages[0].number)
        if pages[0].number == 2:
            raise PictureError("a.tif: page 3: no")
        return coded(pages, progress)

    with pytest.raises(PictureError, match="page 3: no"):
        write_book(book_of(50), io.BytesIO(), failing, at_once=2)
    time.sleep(0.1)
    assert len(started) < 10


def test_all_damaged_pages_are_named():
    def damaged(number):
        if number in (1, 3, 4):
            raise PictureError(f"a.tif: page {number + 1}: is damaged")
        return read(number)

    with pytest.raises(DamagedPages) as error:
        written(book_of(6, read=damaged))
    assert error.value.numbers == (2, 4, 5)
    assert str(error.value) == (
        "a.tif: 3 of 6 pictures cannot be read: 2, 4 and 5; a.tif: page 2: is damaged; "
        "a.tif: page 4: is damaged; a.tif: page 5: is damaged"
    )


def test_equal_remarks_are_told_once():
    def remarked(number):
        if number != 2:
            leave_out(f"a.tif: page {number + 1}", "comments")
        return read(number)

    with pytest.warns(PictureWarning) as warned:
        written(book_of(5, read=remarked))
    (only,) = warned
    assert str(only.message).startswith("a.tif: pages 1, 2, 4 and 5: has comments")
    assert (only.message.name, only.message.left_out) == ("a.tif", ("comments",))


def test_some_pages_keep_their_numbers_and_facts():
    facts = [(n,) for n in range(5)]
    book = selected(book_of(5, role=Role.SLICE, facts=facts), [3, 0])
    assert (book.count, book.role, list(book.facts)) == (2, Role.SLICE, [(3,), (0,)])
    assert [book.name_of(n) for n in range(2)] == ["a.tif: slice 4", "a.tif: slice 1"]
    np.testing.assert_array_equal(book.read(0).samples, sample(3))


def test_joined_books_are_opened_one_at_a_time():
    opened = []

    def opener(first, count, measured):
        def open_it():
            opened.append(first)
            return book_of(
                count,
                read=lambda number: read(first + number),
                measured=measured,
                close=lambda: opened.remove(first),
            )

        return open_it

    book = joined("all", [opener(0, 2, False), opener(2, 1, True), opener(3, 2, False)], NO_LIMITS)
    assert (book.count, book.loops, opened) == (5, 0, [])
    assert [book.measured_at(n) for n in range(5)] == [False, False, True, False, False]
    for number in (0, 1, 2, 4, 3, 0):
        np.testing.assert_array_equal(book.read(number).samples, sample(number))
        assert len(opened) == 1
    book.close()
    assert opened == []


def test_joined_frames_keep_durations_and_say_what_differs():
    def frames(loops):
        return lambda: book_of(1, role=Role.FRAME, facts=[(1, 25)], loops=loops)

    book = joined("all", [frames(2), frames(2)], NO_LIMITS)
    assert (book.role, book.loops, book.facts) == (Role.FRAME, 2, [(1, 25), (1, 25)])
    with pytest.warns(PictureWarning, match="different loops; kept is 0"):
        assert joined("all", [frames(2), frames(0)], NO_LIMITS).loops == 0


def test_joined_books_have_the_limit_of_one():
    limits = mmpcodec.DecodeLimits(max_pictures=3)
    with pytest.raises(PictureError, match="holds 4 pictures, allowed is 1 to 3"):
        joined("all", [lambda: book_of(2), lambda: book_of(2)], limits)
