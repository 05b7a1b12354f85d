"""Files that no encoder makes: valid files with a very large step, and files with an error."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from mutate import (
    crc_of,
    cut,
    number,
    numbered,
    places,
    repaired,
    with_layout,
    with_number,
    with_switch,
)
from palettes import with_number_beyond

import mmpcodec
from mmpcodec import FormatError, backends
from mmpcodec.codec.tiles.decoding import filtered
from mmpcodec.format import container, layers
from mmpcodec.tools import BlockTools

Streams = Callable[[str], bytes]
"""Returns the file of a case."""


def unsearched(streams: Streams) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yield names and makers of valid files whose large step the encoder never chooses."""
    for name, other, step in (
        ("step-of-templates", "photo-templates", 65535),
        ("step-of-depth-16", "saturated-16-photo", 3000),
    ):
        yield name, partial(_with_step, streams(other), step)


def _with_step(data: bytes, step: int) -> bytes:
    """Return a gray file of one tile with another step, and with the checksum of its samples."""
    header = container.read_header(memoryview(data))
    (tile,) = header.tiles
    stream = layers.read(memoryview(data)[header.tile_offsets[0] :], 0, header)
    (layer,) = stream.layers
    assert isinstance(layer.tools, BlockTools)
    layer = replace(layer, tools=replace(layer.tools, step=step))
    reference = backends.get("reference")
    coded = reference.decode(
        bytes(layer.payload), (tile.height, tile.width), layer.tools, depth=header.depth
    )
    samples = filtered(reference, coded.samples, (), layer, header.depth)
    crc = layers.samples_crc(samples)
    made = layers.write(header, stream.layout, [layer], crc)
    return container.write(replace(header, tile_bytes=(len(made),)), [made])


def damaged(streams: Streams) -> Iterator[tuple[str, bytes]]:
    """Yield names and bytes of files with one error."""
    for each in (
        damaged_header,
        damaged_metadata,
        damaged_layers,
        damaged_filters,
        damaged_payload,
        damaged_lossless_samples,
        damaged_palettes,
        damaged_levels,
    ):
        for name, data in each(streams):
            yield f"bad-{name}", data


def with_byte(data: bytes, place: int, value: int) -> bytes:
    """Return a file with another byte."""
    return repaired(data[:place] + bytes([value]) + data[place + 1 :])


def damaged_header(streams: Streams) -> Iterator[tuple[str, bytes]]:
    """Yield files with an error in the header, in checksums or in sizes."""
    camera = streams("camera")
    found = places(camera)
    yield "magic", b"\x89PNG" + camera[4:]
    for version in (0, 1, 2, 4):
        yield f"version-{version}", camera[:8] + bytes([version]) + camera[9:]
    for field, value in (
        ("form", 4),
        ("depth", 0),
        ("depth", 17),
        ("width", 0),
        ("height", (1 << 24) + 1),
        ("tile size", 63),
        ("tool sets", 17),
    ):
        yield f"{field.replace(' ', '-')}-{value}", with_number(camera, field, value)
    yield "header-cut", camera[:15]
    place = found["header CRC"]
    yield "header-crc", camera[:place] + b"\0\0\0\0" + camera[place + 4 :]
    yield "file-cut", camera[:-1]
    yield "file-longer", camera + b"\0"
    head = camera[: found["width"]] + b"\xb0\0" + camera[found["width"] + 1 : place]
    yield "long-number", head + crc_of(head) + camera[place + 4 :]
    yield "tile-crc", camera[:-1] + bytes([camera[-1] ^ 1])
    yield "samples-crc", with_byte(camera, found["samples CRC"], 0)
    tiles = streams("tiles-photo")
    yield "border-step-65536", with_number(tiles, "border step", 65536)
    yield "trailer", tiles[:-9] + bytes([tiles[-9] ^ 1]) + tiles[-8:]
    yield "trailer-cut", tiles[:-1]


def damaged_metadata(streams: Streams) -> Iterator[tuple[str, bytes]]:
    """Yield files with an error in the metadata or in the size of the tile."""
    metadata = streams("metadata-all")
    yield "second-icc", with_byte(metadata, metadata.index(b"MM\0*") - 2, 1)
    yield "text", metadata.replace("ö".encode(), b"\xff\xff")
    yield "white", with_byte(metadata, metadata.index(b"\6\2\xc8\1") + 3, 3)

    good = streams("lossless-one-pixel")
    start = places(good)["tile bytes"]
    tile = good[places(good)["stream CRC"] :]

    def remade(count: int, chunks: bytes = b"", tile: bytes = tile) -> bytes:
        head = good[: start - 1] + number(count) + chunks + number(len(tile))
        return head + crc_of(head) + tile

    def chunk(kind: int, content: bytes) -> bytes:
        return remade(1, number(kind) + number(len(content)) + content)

    yield "number-of-2-62", remade(1, number(1 << 62) + number(0))
    yield "empty-icc", chunk(1, b"")
    yield "empty-dicom", chunk(9, b"")
    yield "resolution-unit-4", chunk(4, bytes([4, 1, 1, 1, 1]))
    yield "resolution-0", chunk(4, bytes([1, 72, 1, 0, 1]))
    yield "resolution-2-32", chunk(4, bytes([1, 72, 1]) + number(1 << 32) + b"\1")
    yield "resolution-longer", chunk(4, bytes([1, 72, 1, 72, 1, 0]))
    yield "key-longer-than-chunk", chunk(5, b"\5Titl")
    yield "chunk-longer-than-file", remade(1, number(9) + number(1 << 40))
    yield "65537-chunks", remade(65537, 65537 * b"\x09\0")
    yield "tile-bytes-8", remade(0, tile=crc_of(tile[4:8]) + tile[4:8])

    bounds = streams("range-of-lossless")
    own = bytes([7, 3, 100, 0x84, 7])  # kind, size, low and high
    for name, changed in (
        ("of-one-level", bytes([7, 2, 100, 100])),
        ("beyond-depth", bytes([7, 4, 100, 0x80, 0x80, 4])),
        ("longer", bytes([7, 4, 100, 0x84, 7, 0])),
    ):
        yield f"range-{name}", repaired(bounds.replace(own, changed, 1))


def damaged_layers(streams: Streams) -> Iterator[tuple[str, bytes]]:
    """Yield files with an error in layout, coding or tools."""

    def changed(name: str, field: str, value: int) -> bytes:
        return with_number(streams(name), field, value)

    def switched(name: str, tool: str, value: int) -> bytes:
        return with_switch(streams(name), tool, value)

    yield "depth-of-trees", changed("camera", "depth", 12)
    yield "depth-of-mixed", changed("mixed-preset", "depth", 9)
    for coding in (5, 7, 8):
        yield f"coding-{coding}", changed("camera", "coding", coding)
    yield "layout", with_layout(streams("fine"), 4)
    yield "layout-together", with_layout(streams("rgb-photo"), 0)
    yield "layout-of-gray-alpha", changed("gray-alpha-photo", "layout", 2)
    yield "layout-3-of-gray-alpha", changed("gray-alpha-photo", "layout", 3)
    yield "layout-at-depth-15", changed("fine-depth-14", "depth", 15)
    yield "layout-of-trees", with_layout(streams("cross-component-mixed"), 3)
    yield "layout-of-other-samples", with_layout(streams("fine"), 2)
    yield "step", changed("photo-noise", "step", 0)
    yield "switches", changed("pdpc", "switches", 1 << 22)
    yield "fragment-size", switched("pdpc", "fragment size", 3)
    yield "templates", switched("pdpc", "templates", 5)
    yield "fixed-filters", changed("fixed-filters-100", "fixed filters", 1 << 14)
    yield "cross-component-of-gray", switched("pdpc", "cross component", 1)
    yield "cross-component-of-luma", switched("cross-component-2", "cross component", 1)
    yield "cross-component-3", switched("cross-component-2", "cross component", 3)
    # Tools with which the payload decodes to other samples, or to none.
    yield "other-step", changed("photo-unfiltered", "step", 1)
    yield "other-templates", switched("photo-templates", "templates", 0)
    yield "other-displaced-blocks", changed("mixed-preset", "displaced blocks", 1)
    yield "other-fixed-filters", changed("fixed-filters-100", "fixed filters", 1)
    for tool, name in (
        ("pdpc", "pdpc"),
        ("ternary", "ternary-16"),
        ("dependent", "dependent"),
        ("fine contexts", "fine-contexts"),
        ("trained transforms", "trained-transforms"),
        ("border sines", "border-sines"),
        ("delta step", "delta-step-16"),
    ):
        yield f"other-{tool.replace(' ', '-')}", switched(name, tool, 0)


def damaged_filters(streams: Streams) -> Iterator[tuple[str, bytes]]:
    """Yield files with an error in the post filter or the cross-component filter."""
    good = streams("filter-all-classes")
    place = places(good)["post filter"]
    yield "filter-class", with_byte(good, place, 16)
    yield "filter-coefficient", with_byte(good, place + 9, 128)
    yield "filter-cut", repaired(good[: place + 20])
    yield "filter-of-other-samples", with_byte(good, place + 9, 127)
    yield "cross-component-filter", with_number(streams("pdpc"), "post filter", 16)


def damaged_payload(streams: Streams) -> Iterator[tuple[str, bytes]]:
    """Yield files whose payload is cut or longer, or codes a value that the format forbids."""
    for name, other in (("photo", "photo-unfiltered"), ("mixed", "mixed-preset")):
        yield f"{name}-cut", cut(streams(other), 40)
        yield f"{name}-longer", repaired(streams(other) + bytes(12))
    yield "deep-cut", cut(streams("pdpc-depth-12"), 30)
    yield "cross-component-cut", repaired(streams("cross-component-2")[:-9])
    data = streams("delta-step-16")
    start = places(data)["payload"]
    # The first step change is 48, or -48.
    for name, first in (("delta-step", b"\x40"), ("delta-step-below", b"\0")):
        yield name, repaired(data[:start] + first + bytes(7) + data[start + 8 :])
    noise = streams("lossless-noise")
    start = places(noise)["payload"]
    yield "no-values", repaired(noise[:start] + b"\x76" + bytes(40) + noise[start + 41 :])
    yield "mode", _refused(streams("photo-templates"), "mode is 36, which is not there")
    yield "level", _refused(streams("photo-odd-size"), "size of a level is")
    yield "last-place", _refused(streams("photo-noise"), "last place is")


def _refused(data: bytes, reason: str) -> bytes:
    """Return a file with random bytes in its payload that is refused for a reason."""
    start = places(data)["payload"]
    for seed in range(100_000):
        choices = random.Random(seed)
        place = start + choices.randrange(min(40, len(data) - start))
        size = choices.randint(1, 20)
        found = repaired(data[:place] + choices.randbytes(size) + data[place + size :])
        try:
            mmpcodec.decode(found, backend="cpu")
        except FormatError as error:
            if reason in str(error):
                return found
    raise RuntimeError(f"no payload is refused because {reason}")


def damaged_lossless_samples(streams: Streams) -> Iterator[tuple[str, bytes]]:
    """Yield damaged files of lossless samples."""
    gray, colours = streams("lossless-gray-2"), streams("lossless-colour-2")
    for name, form in (("form-0", 0), ("form-4", 4), ("other-form", 3)):
        yield f"lossless-{name}", with_number(gray, "lossless form", form)
    yield "lossless-max-error", with_number(gray, "max error", 32768)
    yield "lossless-other-max-error", with_number(gray, "max error", 1)
    start = places(gray)["payload"]
    yield "lossless-other-payload", with_byte(gray, start + 30, gray[start + 30] ^ 64)
    yield "lossless-cut", cut(gray, 60)
    yield "lossless-longer", repaired(gray + bytes(12))
    page = streams("two-values-3")
    yield "two-values-cut", cut(page, 40)
    yield "two-values-longer", repaired(page + bytes(12))
    start = places(colours)["payload"]
    for name, size in (
        ("size-of-stream", b"\xff\x7f"),
        ("size-not-shortest", b"\x80\0"),
        ("no-size", b"\x80"),
    ):
        rest = b"" if name == "no-size" else colours[start + 2 :]
        yield f"lossless-{name}", repaired(colours[:start] + size + rest)


def damaged_palettes(streams: Streams) -> Iterator[tuple[str, bytes]]:
    """Yield damaged files with palettes."""
    alone, gray, fine = (streams(f"palette-{name}") for name in ("gray-alone", "gray", "fine"))
    for form in (0, 4):
        yield f"palette-form-{form}", with_number(alone, "lossless form", form)
    yield "palette-entries", with_number(alone, "entries", 8192)
    yield "palette-other-entries", with_number(alone, "entries", 4)
    entries, _ = numbered(fine, places(fine)["entries"])
    yield "palette-fine-without-transparent", with_number(fine, "entries", entries - 1)
    yield "palette-together", with_layout(fine, 0)
    yield "palette-of-gray-alpha-together", with_layout(streams("palette-gray-alpha"), 0)
    yield "palette-number", with_number_beyond()
    place = places(gray)["payload bytes"]
    yield "palette-longer-than-tile", with_number(gray, "payload bytes", 1 << 20)
    size, start = numbered(gray, place)
    layer = start + size
    yield "palette-twice", repaired(gray[:layer] + b"\3" + gray[layer + 1 :])
    yield "palette-cut", cut(alone, 20)
    yield "palette-longer", repaired(alone + bytes(12))
    start = places(alone)["payload"]
    for name, first in (
        ("size-of-colours", b"\xff\x7f"),
        ("size-not-shortest", b"\x80\0"),
        ("no-size", b"\x80"),
        ("no-colours", b"\0"),
    ):
        rest = b"" if name == "no-size" else alone[start + 1 :]
        yield f"palette-{name}", repaired(alone[:start] + first + rest)


def damaged_levels(streams: Streams) -> Iterator[tuple[str, bytes]]:
    """Yield files with an error in the fields of levels."""
    levels = streams("levels-12-of-16")
    for name, field, value in (
        ("depth-24", "depth", 24),
        ("depth-33", "depth", 33),
        ("level-bits-7", "level bits", 7),
        ("level-bits-of-samples", "level bits", 16),
        ("first-sample", "first sample", 65535),
    ):
        yield f"levels-{name}", with_number(levels, field, value)
    alpha = streams("cross-component-gray-alpha")
    yield "levels-of-alpha", alpha[:10] + bytes([32]) + alpha[11:]
