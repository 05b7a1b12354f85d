"""Animations: frames as viewers show them, how long and how often they are shown."""

import io
import itertools
import struct
import zlib
from fractions import Fraction

import numpy as np
import pytest
from PIL import Image, features

from mmpcodec import DecodeLimits, PictureWarning, pictures
from mmpcodec.errors import PictureError
from mmpcodec.format.collection import Role
from mmpcodec.pictures.books.canvas import Afterwards, Canvas, DrawnFrame, shows_through
from mmpcodec.pictures.books.opening import opened_book

COLOUR = np.array(
    [[[40 * x, 50 * y, 255 - 20 * (x + y)] for x in range(6)] for y in range(5)], np.uint8
)
MOVED = [np.roll(COLOUR, step, axis=1) for step in range(4)]
avif = pytest.mark.skipif(not features.check("avif"), reason="this Pillow reads no AVIF")


def animation(format, frames=MOVED, **options):
    stream = io.BytesIO()
    first, *others = map(Image.fromarray, frames)
    first.save(stream, format, save_all=True, append_images=others, **options)
    return stream.getvalue()


DURATIONS = [100, 70, 250, 40]


@pytest.mark.parametrize("by_path", [False, True])
@pytest.mark.parametrize(
    ("format", "options", "loops"),
    [
        ("GIF", {}, 1),
        ("GIF", {"loop": 0}, 0),
        ("GIF", {"loop": 3}, 4),
        ("PNG", {"loop": 0}, 0),
        ("PNG", {"loop": 3}, 3),
        ("WEBP", {"loop": 0, "lossless": True}, 0),
        ("WEBP", {"loop": 3, "lossless": True}, 3),
        pytest.param("AVIF", {"quality": 100, "subsampling": "4:4:4"}, 0, marks=avif),
    ],
)
def test_frames_durations_and_loops(tmp_path, format, options, loops, by_path):
    data = animation(format, duration=DURATIONS, **options)
    path = tmp_path / "a"
    path.write_bytes(data)
    with opened_book(path if by_path else data) as book:
        assert (len(book), book.role, book.loops) == (4, Role.FRAME, loops)
        seconds = [Fraction(*book.facts_of(number)) for number in range(4)]
        assert seconds == [Fraction(each, 1000) for each in DURATIONS]
        near = 12 if format == "AVIF" else 0
        for number in (0, 1, 2, 3, 1, 0, 3):  # in order, back, and on again
            found = book.read(number)
            assert np.abs(found.samples.astype(int) - MOVED[number]).max() <= near
            same = pictures.from_bytes(data, page=number + 1)
            np.testing.assert_array_equal(found.samples, same.samples)
            assert (found.depth, found.metadata) == (same.depth, same.metadata)


def test_a_still_picture_is_no_animation():
    for format in ("GIF", "PNG", "WEBP"):
        stream = io.BytesIO()
        Image.fromarray(COLOUR).save(stream, format)
        with opened_book(stream.getvalue()) as book:
            assert (len(book), book.role, book.facts_of(0)) == (1, Role.PAGE, ())
            assert book.read(0).samples.shape == COLOUR.shape


@avif
def test_an_avif_sequence_may_be_shown_once():
    data = bytearray(animation("AVIF", duration=DURATIONS))
    edits = data.index(b"elst") + 4
    assert data[edits + 3] == 1
    data[edits + 3] = 0
    assert opened_book(bytes(data)).loops == 1
    data[edits + 3] = 1
    track = data.index(b"tkhd") + 4
    data[track + 28 : track + 36] = struct.pack(">Q", 3 * sum(DURATIONS))
    assert opened_book(bytes(data)).loops == 3
    times = data.index(b"stts") + 4
    data[times + 4 : times + 8] = struct.pack(">I", 2)
    with pytest.raises(PictureError, match=r"x: is damaged.*durations of 2 of 4 frames"):
        opened_book(bytes(data), "x")


@avif
def test_a_deep_avif_sequence_keeps_its_bits():
    codec = pytest.importorskip("imagecodecs")
    frames = np.arange(3 * 16 * 16 * 3, dtype=np.uint16).reshape(3, 16, 16, 3) % 1000
    data = codec.avif_encode(frames, level=100, bitspersample=10)
    stored = codec.avif_decode(data)
    with opened_book(data) as book:
        assert [book.read(number).depth for number in range(3)] == [10] * 3
        np.testing.assert_array_equal([page.samples for page in book], stored)
    limits = DecodeLimits(max_samples=2000)
    with pytest.raises(PictureError, match="x: holds 3 frames of 10 bits, which are decoded toget"):
        opened_book(data, "x", limits=limits)


# --- composition, stated a second time: pixel by pixel, in fractions ---


def over(front, back, most):
    """Blend a pixel with alpha over another one."""
    a, b = Fraction(int(front[-1]), most), Fraction(int(back[-1]), most)
    total = a + (1 - a) * b
    if total == 0 or a == 0:
        return list(map(int, back))
    mixed = [(int(f) * a + int(k) * b * (1 - a)) / total for f, k in zip(front, back, strict=True)]
    return [int(each + Fraction(1, 2)) for each in (*mixed[:-1], total * most)]


def composed(size, most, frames):
    """What is shown: frames are (left, top, samples with alpha, afterwards, whether over)."""
    width, height = size
    planes = frames[0][2].shape[2]
    canvas = [[[0] * planes for _ in range(width)] for _ in range(height)]
    shown = []
    for left, top, samples, afterwards, blends in frames:
        before = [[list(pixel) for pixel in row] for row in canvas]
        inside = [
            (y, x)
            for y, x in np.ndindex(*samples.shape[:2])
            if y + top < height and x + left < width
        ]
        for y, x in inside:
            pixel = samples[y, x]
            below = canvas[y + top][x + left]
            canvas[y + top][x + left] = (
                over(pixel, below, most) if blends else list(map(int, pixel))
            )
        shown.append(np.array(canvas))
        for y, x in inside:
            if afterwards == 1:
                canvas[y + top][x + left] = [0] * planes
            elif afterwards == 2:
                canvas[y + top][x + left] = before[y + top][x + left]
    return shown


def chunk(kind, contents):
    return (
        struct.pack(">I", len(contents)) + kind + contents
        + struct.pack(">I", zlib.crc32(kind + contents))
    )  # fmt: skip


def packed(samples, depth):
    """Samples as PNG stores them without filters."""
    flat = samples.reshape(len(samples), -1)
    rows = flat.astype(">u2").view(np.uint8) if depth == 16 else flat.astype(np.uint8)
    return zlib.compress(b"".join(b"\0" + row.tobytes() for row in rows))


def apng(size, depth, kind, frames, *, still=None, between=(), loops=0, stated=None):
    """An animated PNG; frames as ``composed`` takes them, with durations."""
    numbers = itertools.count()
    parts = [
        chunk(b"IHDR", struct.pack(">IIBBBBB", *size, depth, kind, 0, 0, 0)),
        chunk(b"acTL", struct.pack(">II", len(frames) if stated is None else stated, loops)),
        *(chunk(*each) for each in between),
    ]
    if still is not None:
        parts.append(chunk(b"IDAT", packed(still, depth)))
    for number, (left, top, samples, afterwards, blends, shown, second) in enumerate(frames):
        height, width = samples.shape[:2]
        place = width, height, left, top, shown, second, afterwards, blends
        parts.append(chunk(b"fcTL", struct.pack(">5I2H2B", next(numbers), *place)))
        data = packed(samples, depth)
        halves = (data[:9], data[9:])
        if number == 0 and still is None:
            parts += [chunk(b"IDAT", each) for each in halves]
        else:
            parts += [chunk(b"fdAT", struct.pack(">I", next(numbers)) + each) for each in halves]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts) + chunk(b"IEND", b"")


def drawn_frames(seed, size, planes, most, count=9):
    """Frames of random places, operations and samples, of which the first is whole."""
    rng = np.random.default_rng(seed)
    width, height = size
    for number in range(count):
        left, top = (0, 0) if number == 0 else (rng.integers(0, side) for side in size)
        across, down = width - left, height - top
        if number:
            across, down = rng.integers(1, across + 1), rng.integers(1, down + 1)
        samples = rng.integers(0, most + 1, (down, across, planes))
        if planes in (2, 4):
            alpha = rng.choice([0, 1, most // 3, most - 1, most], (down, across))
            samples[..., -1] = alpha
        yield int(left), int(top), samples, int(rng.integers(0, 3)), bool(rng.integers(0, 2))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("kind", "planes"), [(6, 4), (4, 2)])
@pytest.mark.parametrize("depth", [8, 16])
def test_frames_of_png_are_composed_exactly(depth, kind, planes, seed):
    size, most = (7, 5), (1 << depth) - 1
    frames = list(drawn_frames(seed, size, planes, most))
    data = apng(size, depth, kind, [(*frame, 1, 10) for frame in frames])
    shown = composed(size, most, frames)
    with opened_book(data) as book:
        for found, wanted in zip(book, shown, strict=True):
            assert found.depth == depth
            np.testing.assert_array_equal(found.samples, wanted)
        for number in (5, 2, 3, 8, 0):
            np.testing.assert_array_equal(book.read(number).samples, shown[number])


def test_frames_of_png_without_alpha_are_opaque_where_something_was_drawn():
    size = (6, 4)
    rng = np.random.default_rng(3)
    whole, part = (rng.integers(0, 65536, (*each, 3)) for each in ((4, 6), (2, 3)))
    frames = [(0, 0, whole, 0, False, 1, 0), (2, 1, part, 0, True, 3, 25)]
    with opened_book(apng(size, 16, 2, frames)) as book:
        assert book.facts == [(1, 100), (3, 25)]
        wanted = whole.copy()
        wanted[1:3, 2:5] = part
        assert book.read(1).samples.dtype == np.uint16
        np.testing.assert_array_equal(book.read(1).samples, wanted)
        np.testing.assert_array_equal(book.read(0).samples, whole)
    cleared = [(*frames[0][:3], 1, *frames[0][4:]), frames[1]]
    with opened_book(apng(size, 16, 2, cleared)) as book:
        assert book.read(0).samples.shape == (4, 6, 4)
        wanted = np.zeros((4, 6, 4), int)
        wanted[1:3, 2:5] = np.dstack([part, np.full((2, 3), 65535)])
        np.testing.assert_array_equal(book.read(1).samples, wanted)
    again = [cleared[0], frames[0]]  # covers what was cleared
    assert opened_book(apng(size, 16, 2, again)).read(1).samples.shape == (4, 6, 3)


def test_frames_of_png_keep_the_depth_that_is_stated():
    frames = [(0, 0, np.arange(24).reshape(4, 6) * 40 << 4, 0, False, 1, 10)] * 2
    data = apng((6, 4), 16, 0, frames, between=[(b"sBIT", b"\x0c")])
    found = opened_book(data).read(1)
    assert found.depth == 12
    np.testing.assert_array_equal(found.samples, np.arange(24).reshape(4, 6) * 40)


def test_palettes_of_animated_png():
    colours = bytes([0, 0, 0, 9, 8, 7, 200, 100, 50])
    first, second = np.array([[0, 1, 2]]), np.array([[2]])
    frames = [(0, 0, first, 0, False, 1, 10), (1, 0, second, 0, True, 1, 10)]
    data = apng((3, 1), 8, 3, frames, between=[(b"PLTE", colours), (b"tRNS", b"\0\xff\x80")])
    with opened_book(data) as book:
        assert book.read(0).samples.tolist() == [
            [[0, 0, 0, 0], [9, 8, 7, 255], [200, 100, 50, 128]]
        ]
        blended = over([200, 100, 50, 128], [9, 8, 7, 255], 255)
        assert book.read(1).samples[0, 1].tolist() == blended


def test_the_still_picture_of_an_animation_is_told_apart():
    still = np.full((4, 6), 99)
    frames = [(0, 0, np.full((4, 6), level), 0, False, 1, 10) for level in (1, 2)]
    data = apng((6, 4), 8, 0, frames, still=still)
    with pytest.warns(PictureWarning, match="x: has a picture for viewers without anim") as said:
        book = opened_book(data, "x")
    assert said[0].message.left_out == ("still picture",)
    assert [page.samples[0, 0] for page in book] == [1, 2]
    with pytest.warns(PictureWarning, match="still|without animations"):
        assert pictures.from_bytes(data, page=1).samples[0, 0] == 1


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda frames: [(5, 0, *frames[0][2:]), *frames[1:]], r"frame 1 has 6x4 pixels at \(5, 0"),
        (lambda frames: [frames[0], (*frames[1][:3], 3, *frames[1][4:])], "operations 3 and 0"),
    ],
)
def test_damaged_frames_of_png_are_refused(change, says):
    frames = [(0, 0, np.full((4, 6), level), 0, False, 1, 10) for level in (1, 2)]
    with pytest.raises(PictureError, match=f"^x: is damaged.*{says}"):
        opened_book(apng((6, 4), 8, 0, change(frames)), "x")


def test_frames_of_png_out_of_order_are_refused():
    frames = [(0, 0, np.full((4, 6), level), 0, False, 1, 10) for level in (1, 2)]
    data = apng((6, 4), 8, 0, frames)
    place = data.rindex(b"fcTL")
    wrong = b"fcTL" + struct.pack(">I", 7) + data[place + 8 : place + 30]
    broken = data[:place] + wrong + struct.pack(">I", zlib.crc32(wrong)) + data[place + 34 :]
    with pytest.raises(PictureError, match=r"^x: is damaged.*sequence number 7, not 1"):
        opened_book(broken, "x")
    with pytest.warns(PictureWarning, match="acTL names 3 frames, the file has 2"):
        assert len(opened_book(apng((6, 4), 8, 0, frames, stated=3))) == 2


def test_a_damaged_frame_is_named_and_those_before_it_open():
    frames = [(0, 0, np.full((4, 6), level), 0, False, 1, 10) for level in (1, 2, 3)]
    data = apng((6, 4), 8, 0, frames)
    bad = packed(np.full((4, 6), 2), 8)
    halves = [bad[:9], bad[9:]]
    contents = b"fdAT" + struct.pack(">I", 3) + halves[1]
    wrong = contents[:-4] + b"\0\0\0\0"
    broken = data.replace(
        contents + struct.pack(">I", zlib.crc32(contents)),
        wrong + struct.pack(">I", zlib.crc32(wrong)),
    )
    assert broken != data
    with opened_book(broken, "a.png") as book:
        assert book.read(0).samples[0, 0] == 1
        for _ in range(2):
            with pytest.raises(PictureError, match=r"^a\.png: frame 2: is damaged"):
                book.read(1)
        assert book.read(0).samples[0, 0] == 1


# --- GIF ---


def codes(indexes):
    """Indexes below 128 as GIF stores them, in codes of 8 bits that never grow."""
    flat = [int(each) for each in indexes.flat]
    stream = b"".join(
        bytes([128, *flat[start : start + 100]]) for start in range(0, len(flat), 100)
    )
    stream += bytes([129])
    blocks = [stream[start : start + 255] for start in range(0, len(stream), 255)]
    return bytes([7]) + b"".join(bytes([len(block)]) + block for block in blocks) + b"\0"


def gif(size, colours, frames, *, extensions=b"", end=b";"):
    """Frames: left, top, indexes, disposal, transparent index, duration, colours of its own."""
    table = lambda each: np.resize(np.asarray(each, np.uint8), (128, 3)).tobytes()  # noqa: E731
    parts = [b"GIF89a", struct.pack("<2H3B", *size, 0x80 | 6, 0, 0), table(colours), extensions]
    for left, top, indexes, disposal, transparent, duration, own in frames:
        flags = disposal << 2 | (transparent is not None)
        parts.append(b"!\xf9\4" + struct.pack("<BHBB", flags, duration, transparent or 0, 0))
        height, width = indexes.shape
        parts.append(
            struct.pack("<B4HB", 0x2C, left, top, width, height, 0 if own is None else 0x80 | 6)
        )
        parts += [b"" if own is None else table(own), codes(indexes)]
    return b"".join(parts) + end


PALETTE = np.random.default_rng(9).integers(0, 256, (128, 3), np.uint8)


@pytest.mark.parametrize("seed", range(6))
def test_frames_of_gif_are_composed_as_browsers_show_them(seed):
    rng = np.random.default_rng(seed)
    size, frames, with_alpha = (9, 6), [], []
    for left, top, samples, _, _ in drawn_frames(seed, size, 1, 127):
        indexes, disposal = samples[..., 0], int(rng.integers(0, 4))
        transparent = int(indexes[0, 0]) if rng.integers(0, 2) else None
        own = PALETTE[::-1] if rng.integers(0, 2) else None
        frames.append((left, top, indexes, disposal, transparent, 5, own))
        colours = (PALETTE if own is None else own)[indexes]
        alpha = np.where(indexes == transparent, 0, 255)
        with_alpha.append((left, top, np.dstack([colours, alpha]), max(disposal - 1, 0), True))
    shown = composed(size, 255, with_alpha)
    with opened_book(gif(size, PALETTE, frames)) as book:
        assert book.facts == [(5, 100)] * 9
        for found, wanted in zip(book, shown, strict=True):
            planes = found.samples.shape[2]
            np.testing.assert_array_equal(found.samples, wanted[..., :planes])
            assert planes == 4 or (wanted[..., 3] == 255).all()
    assert len({page.samples.shape for page in book}) == 1


def test_parts_of_frames_outside_of_a_gif_are_not_shown():
    indexes = np.full((4, 5), 3)
    frames = [(0, 0, indexes, 1, None, 9, None), (3, 2, indexes + 1, 1, None, 9, None)]
    book = opened_book(gif((5, 4), PALETTE, frames))
    found = book.read(1).samples
    assert found.shape == (4, 5, 3)
    np.testing.assert_array_equal(found[2:, 3:], np.broadcast_to(PALETTE[4], (2, 2, 3)))
    np.testing.assert_array_equal(found[:2], np.broadcast_to(PALETTE[3], (2, 5, 3)))


def test_a_transparent_index_that_no_pixel_has_gives_no_alpha():
    frames = [(0, 0, np.full((4, 5), level), 1, 9, 9, None) for level in (3, 4)]
    assert opened_book(gif((5, 4), PALETTE, frames)).read(1).samples.shape == (4, 5, 3)
    frames[0][2][2, 2] = 9
    book = opened_book(gif((5, 4), PALETTE, frames))
    assert book.read(0).samples[2, 1:4, 3].tolist() == [255, 0, 255]


def test_comments_and_gray_of_gif():
    grays = np.repeat(np.arange(0, 256, 2, dtype=np.uint8)[:, None], 3, axis=1)
    frames = [(0, 0, np.full((4, 5), level), 1, None, 9, None) for level in (3, 4)]
    comment = b"!\xfe\5hello\0"
    loop = b"!\xff\x0bNETSCAPE2.0\3\1\x02\0\0"
    data = gif((5, 4), grays, frames, extensions=comment + loop, end=b"\0;")
    book = opened_book(data)
    assert book.loops == 3
    assert [page.samples.tolist() for page in book] == [[[6] * 5] * 4, [[8] * 5] * 4]
    assert book.read(0).metadata.text == (("Comment", "hello"),)


def test_large_frames_of_gif_are_refused():
    frames = [(0, 0, np.full((4, 5), 3), 1, None, 9, None)] * 2
    data = bytearray(gif((5, 4), PALETTE, frames))
    place = data.rindex(struct.pack("<B4H", 0x2C, 0, 0, 5, 4))
    data[place + 5 : place + 9] = struct.pack("<2H", 65535, 65535)
    with pytest.raises(PictureError, match=r"^x: is 65535x65535: .* samples, the limit is"):
        opened_book(bytes(data), "x")


@pytest.mark.parametrize(
    ("end", "says"),
    [(b"", "lacks the end"), (b"w;", "block of kind 77"), (b"!\xfe\x09hell", "inside of an ext")],
)
def test_what_may_be_missing_of_a_gif_is_said(end, says):
    frames = [(0, 0, np.full((4, 5), level), 1, None, 9, None) for level in (3, 4)]
    with pytest.warns(PictureWarning, match=f"x: .* may be missing .*{says}") as said:
        book = opened_book(gif((5, 4), PALETTE, frames, end=end), "x")
    assert said[0].message.left_out == ("missing pages",)
    assert [page.samples[0, 0].tolist() for page in book] == PALETTE[[3, 4]].tolist()


def test_a_truncated_gif_gives_the_frames_before():
    frames = [(0, 0, np.full((40, 50), level), 1, None, 9, None) for level in (3, 4)]
    data = gif((50, 40), PALETTE, frames)
    with pytest.warns(PictureWarning, match="lacks the end"):
        book = opened_book(data[:-300], "x")
    with book:
        assert book.read(0).samples[0, 0].tolist() == PALETTE[3].tolist()
        with pytest.raises(PictureError, match=r"^x: frame 2: is damaged"):
            book.read(1)


def test_reading_in_order_decodes_each_frame_once():
    decoded = []

    def decode(number):
        decoded.append(number)
        return np.full((2, 2), number, np.uint8)

    canvas = Canvas((2, 2), 8, [DrawnFrame(0, 0, 2, 2, Afterwards.STAYS)] * 5, decode)
    for number in (0, 0, 1, 2, 4):
        assert canvas.frame(number).tolist() == [[number] * 2] * 2
    assert decoded == [0, 1, 2, 3, 4]
    assert canvas.frame(1)[0, 0] == 1
    assert decoded[5:] == [0, 1]


@pytest.mark.parametrize(("restored", "through"), [(0, True), (1, False)])
def test_a_first_frame_that_is_restored_leaves_nothing(restored, through):
    """There is nothing before it; a later one leaves what was there."""
    afterwards = [Afterwards.STAYS] * 3
    afterwards[restored] = Afterwards.RESTORED
    sizes = (4, 2, 2)
    frames = [
        DrawnFrame(0, 0, size, size, each) for size, each in zip(sizes, afterwards, strict=True)
    ]
    assert shows_through(4, 4, frames, lambda _: True) == through
