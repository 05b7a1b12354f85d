"""Kept JPEG files: small files of each kind, and mmp files of them with an error."""

import io
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import mutate
import numpy as np
from cases import shipped
from independent.file import File, Jpeg, Layer, built, crc_of, parsed
from independent.jpeg.kept import parts_of, rebuilt
from PIL import Image

from mmpcodec.backends import jpeg as jpegs
from mmpcodec.format import container, layers
from mmpcodec.format.container import Header
from mmpcodec.format.jpeg import KeptJpeg, most_level_bytes
from mmpcodec.pictures import kept_jpeg
from mmpcodec.reference.jpeg.bytes_coder import decode_bytes, encode_bytes
from mmpcodec.reference.jpeg.codec import encode_file
from mmpcodec.reference.jpeg.description import (
    Description,
    NumberReader,
    Numbers,
    read_description,
)
from mmpcodec.samples import Form

MOST = 1 << 22
"""Levels that every file may have."""
FORMS = (1, 2, 3)


def photograph(height: int, width: int) -> np.ndarray:
    """Return a picture in colour."""
    camera, brick = (
        shipped(f"{name}.pgm")[60 : 60 + height, 208 : 208 + width] for name in ("camera", "brick")
    )
    return np.dstack([camera, camera // 2 + brick // 2, 255 - brick])


def made(samples: np.ndarray, mode: str | None = None, **options: Any) -> bytes:
    """Return the JPEG file of a picture, with the options of Pillow."""
    file = io.BytesIO()
    picture = Image.fromarray(samples)
    (picture.convert(mode) if mode else picture).save(file, "JPEG", **options)
    return file.getvalue()


def with_thumbnail() -> bytes:
    """Return a file with restart intervals and a smaller JPEG file in its EXIF data."""
    exif = Image.Exif()
    exif[0x010F] = "maker"
    thumbnail = made(photograph(9, 12), quality=50)
    exif_bytes = exif.tobytes()[:-4] + bytes(4) + thumbnail
    return made(photograph(38, 45), exif=exif_bytes, restart_marker_blocks=2, subsampling=2)


def with_parts(file: bytes, **parts: Any) -> bytes:
    """Return a file of equal levels whose scans are coded in another way."""
    found = jpegs.encode(file, 1, 2 * MOST)
    description, rest = parts_of(found.payload, len(file))
    for _, _, details in description.scans:
        for name, value in parts.items():
            setattr(details, name, value)
    return bytes(rebuilt(description, rest, 1, MOST))


def progressive() -> bytes:
    """Return a progressive file."""
    return made(photograph(33, 40), progressive=True, quality=80)


def kept_files() -> Iterator[tuple[str, Callable[[], bytes], int]]:
    """Yield names, makers and forms of JPEG files; each form codes the files of four kinds."""
    gray = partial(made, photograph(30, 37)[:, :, 0], quality=92)
    coarse = partial(made, photograph(30, 37)[:, :, 0], quality=50)
    not_jpeg = b"\xff\xd8\xff" + bytes(range(0, 240, 3)) + b"neither a frame nor a scan"
    for form in FORMS:
        yield f"jpeg-{form}-thumbnail", with_thumbnail, form
        yield f"jpeg-{form}-progressive", progressive, form
        yield f"jpeg-{form}-gray", gray, form
        yield f"jpeg-{form}-not-a-jpeg", lambda: not_jpeg, form
    extremes = np.random.default_rng(5).integers(0, 2, (16, 16, 3), np.uint8) * 255
    for name, form, make in (
        ("one-pixel", 1, partial(made, photograph(1, 1))),
        ("four-components", 1, partial(made, photograph(24, 24), "CMYK")),
        ("four-components", 3, partial(made, photograph(24, 24), "CMYK")),
        ("large-levels", 2, partial(made, extremes, quality=100, subsampling=0)),
        ("large-levels", 3, partial(made, extremes, quality=100, subsampling=0)),
        ("cut", 2, lambda: progressive()[:-150]),
        ("two-pictures", 3, lambda: gray() + bytes(range(50)) + progressive() + b"\xff\xd8\xff"),
        ("padding", 2, lambda: with_parts(with_thumbnail(), padding=2, bits=[1, 0, 0, 1, 0] * 9)),
        ("zeros", 1, lambda: with_parts(coarse(), zeros={2: 1, 5: 2})),
        ("runs", 1, lambda: with_parts(progressive(), longest_run=3, begins={5, 6}, padding=1)),
    ):
        yield f"jpeg-{form}-{name}", make, form


def encoded(file: bytes, form: int) -> bytes:
    """Return the mmp file of a JPEG file in this form, even if a lower one is smaller."""
    header = kept_jpeg.header_of(file)
    most = most_level_bytes(header.width, header.height)
    return _with_payload(header, file, form, encode_file(file, form, most))


def _with_payload(header: Header, file: bytes, form: int, payload: bytes) -> bytes:
    """Return the mmp file of a JPEG file with this payload."""
    kept = KeptJpeg(form, len(file), payload)
    tile = layers.write_jpeg(header, kept, int.from_bytes(crc_of(file), "big"))
    return container.write(container.with_sizes(header, (len(tile),)), [tile])


def damaged_jpegs(streams: Callable[[str], bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield names and bytes of kept JPEG files with one error."""
    gray, colour = streams("jpeg-1-gray"), streams("jpeg-1-thumbnail")
    for name, data, changes in (
        ("tile-size", gray, {"tile_size": 4096}),
        ("depth-7", gray, {"depth": 7}),
        ("depth-16", colour, {"depth": 16}),
        ("level-bits", gray, {"depth": 32, "levels": (8, 0)}),
        ("gray-alpha", gray, {"form": 1}),
        ("alpha", colour, {"form": 3}),
    ):
        yield f"bad-jpeg-{name}", built(replace(parsed(data), **changes))
    yield "bad-jpeg-layout-1", mutate.with_number(colour, "layout", 1)
    size = jpeg_of(gray).size
    for field, values in (
        ("lossless form", (0, 4, 2)),
        ("file bytes", (0, (1 << 31) + 1, size - 1, size + 1)),
    ):
        for value in values:
            title = {size - 1: "too-few", size + 1: "too-many"}.get(value, value)
            yield (
                f"bad-jpeg-{field.replace(' ', '-')}-{title}",
                mutate.with_number(gray, field, value),
            )
    yield "bad-jpeg-samples-crc", _with_tile(gray, samples_crc=b"\1\2\3\4")
    for count in (0, 1, 30, len(jpeg_of(gray).payload) - 1):
        yield f"bad-jpeg-cut-{'last' if count > 30 else count}", mutate.cut(gray, count)
    yield "bad-jpeg-longer", mutate.repaired(gray + b"\0")
    second = streams("gray-alpha-photo")
    layer = Layer(4, (), b"", b"\1\1")
    yield "bad-jpeg-as-second-layer", built(_with_last_layer(parsed(second), layer))
    yield "bad-jpeg-levels", _with_too_many_levels()
    for name, change in (
        ("rows", _more_rows),
        ("no-rows", _no_rows),
        ("many-stripes", _many_stripes),
        ("many-pictures", _many_pictures),
        ("many-scans", _many_scans),
        ("start", _other_start),
        ("place", _other_place),
        ("picture", _other_picture),
        ("padding-3", _padding_3),
        ("stored", _stored),
    ):
        yield f"bad-jpeg-{name}", _with_description(gray, change)


def jpeg_of(data: bytes) -> Jpeg:
    """Return the fields of the kept JPEG file."""
    found = parsed(data).tiles[0].jpeg
    assert found is not None
    return found


def _with_tile(data: bytes, **changes: Any) -> bytes:
    file = parsed(data)
    return built(replace(file, tiles=(replace(file.tiles[0], **changes),)))


def _with_last_layer(file: File, layer: Layer) -> File:
    tile = file.tiles[0]
    return replace(file, tiles=(replace(tile, layers=(*tile.layers[:-1], layer)),))


def _with_too_many_levels() -> bytes:
    """Return the file of a flat picture of 2^22 + 2^15 levels under a header of one pixel."""
    file = made(np.full((2064, 2048), 90, np.uint8), quality=50, optimize=True)
    found = jpegs.encode(file, 1, 1 << 40)
    return _with_payload(Header(1, 1, Form.GRAY), file, 1, found.payload)


def _with_description(data: bytes, change: Callable[[Description], None]) -> bytes:
    """Return a file with another description."""
    own = jpeg_of(data)
    reader = NumberReader(own.payload)
    count, size = (reader.number(len(own.payload) * 8, "bytes") for _ in range(2))
    place = reader.position + size
    coded = decode_bytes(own.payload[reader.position : place], count)
    description, end = read_description(coded, own.size, 1 << 16)
    change(description)
    coded = description.to_bytes() + coded[end:]
    payload = encode_bytes(coded)
    numbers = Numbers()
    numbers.add(len(coded), len(payload))
    payload = bytes(numbers.bytes) + payload + own.payload[place:]
    return _with_tile(data, jpeg=Jpeg(own.form, own.size, payload))


def _more_rows(description: Description) -> None:
    start, ((rows, size),) = description.pictures[0]
    description.pictures[0] = start, [(rows + 1, size)]


def _no_rows(description: Description) -> None:
    start, ((_, size),) = description.pictures[0]
    description.pictures[0] = start, [(0, size)]


def _many_stripes(description: Description) -> None:
    start, stripes = description.pictures[0]
    description.pictures[0] = start, [*stripes, *[(1, 0)] * 40]


def _many_pictures(description: Description) -> None:
    description.pictures += [(start, []) for start in range(700, 740)]


def _many_scans(description: Description) -> None:
    description.scans *= 120


def _other_start(description: Description) -> None:
    _, stripes = description.pictures[0]
    description.pictures[0] = 700, stripes


def _other_place(description: Description) -> None:
    picture, place, details = description.scans[0]
    description.scans[0] = picture, place - 1, details


def _other_picture(description: Description) -> None:
    _, place, details = description.scans[0]
    description.scans[0] = 1, place, details


def _padding_3(description: Description) -> None:
    description.scans[0][2].padding = 3


def _stored(description: Description) -> None:
    description.stored = [(1 << 10, 0)]
