"""Files that no encoder makes: valid files with a very large step, and files with an error."""

import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from mutate import Walk, cut, number, places, repaired, with_layout, with_number, with_switch
from palettes import with_number_beyond

from mmpcodec import backends
from mmpcodec.codec.tiles.decoding import filtered
from mmpcodec.format import container, layers


def unsearched(streams: Callable[[str], bytes]) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yield names and makers of valid files whose large step the encoder never chooses.

    ``streams(name)`` returns the file of a case.
    """
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
    layer = replace(layer, tools=replace(layer.tools, step=step))
    reference = backends.get("reference")
    coded = reference.decode(
        bytes(layer.payload), (tile.height, tile.width), layer.tools, depth=header.depth
    )
    samples = filtered(reference, coded.samples, (), layer, header.depth)
    crc = layers.samples_crc(samples)
    made = layers.write(header, stream.layout, [layer], crc)
    return container.write(replace(header, tile_bytes=(len(made),)), [made])


def damaged(streams: Callable[[str], bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield names and bytes of files with one error; ``streams(name)`` returns a case's file."""

    def changed(name: str, field: str, value: int) -> bytes:
        return with_number(streams(name), field, value)

    def byte(name: str, place: int, value: int) -> bytes:
        data = bytearray(streams(name))
        data[place] = value
        return repaired(bytes(data))

    camera = streams("camera")
    yield "bad-magic", b"\x89PNG" + camera[4:]
    yield "bad-version-0", camera[:8] + b"\0" + camera[9:]
    yield "bad-version-2", camera[:8] + b"\2" + camera[9:]
    for field, value in (
        ("form", 4),
        ("depth", 0),
        ("depth", 17),
        ("width", 0),
        ("height", (1 << 24) + 1),
        ("tile size", 63),
    ):
        yield f"bad-{field.replace(' ', '-')}-{value}", changed("camera", field, value)
    yield "bad-header-cut", camera[:15]
    crc = places(camera)["header CRC"]
    yield "bad-header-crc", camera[:crc] + b"\0\0\0\0" + camera[crc + 4 :]
    yield "bad-file-cut", camera[:-1]
    yield "bad-file-longer", camera + b"\0"
    place = places(camera)["width"]
    yield "bad-long-number", repaired(camera[:place] + b"\xb0\0" + camera[place + 1 :])
    yield "bad-tile-crc", camera[:-1] + bytes([camera[-1] ^ 1])
    yield "bad-samples-crc", byte("camera", places(camera)["samples CRC"], 0)
    yield "bad-depth-of-trees", changed("camera", "depth", 12)
    yield "bad-depth-of-mixed", changed("mixed-preset", "depth", 9)
    yield "bad-coding", changed("camera", "coding", 3)
    colours = streams("rgb-photo")
    yield "bad-layout", with_number(colours, "layout", 3)
    yield "bad-layout-together", with_number(colours, "layout", 0)
    yield "bad-layout-of-gray-alpha", with_number(streams("gray-alpha-photo"), "layout", 2)
    metadata = streams("metadata-all")
    yield "bad-second-icc", byte("metadata-all", metadata.index(b"MM\0*") - 2, 1)
    yield "bad-text", metadata.replace("ö".encode(), b"\xff\xff")
    yield "bad-white", byte("metadata-all", metadata.index(b"\6\2\xc8\1") + 3, 3)
    good = streams("filter-all-classes")
    place = places(good)["post filter"]
    yield "bad-filter-class", byte("filter-all-classes", place, 16)
    yield "bad-filter-coefficient", byte("filter-all-classes", place + 9, 128)
    yield "bad-filter-cut", repaired(good[: place + 20])
    yield "bad-filter-other-samples", byte("filter-all-classes", place + 9, 127)
    yield "bad-fragment-size-24", changed("photo-noise", "fragment size", 24)
    yield "bad-step", changed("photo-noise", "step", 0)
    yield "bad-photo-cut", cut(streams("photo-unfiltered"), 40)
    yield "bad-photo-longer", repaired(streams("photo-unfiltered") + bytes(8))
    yield "bad-photo-other-step", changed("photo-unfiltered", "step", 1)
    yield "bad-templates", changed("photo-templates", "templates", 5)
    yield "bad-templates-missing", changed("photo-templates", "templates", 0)
    yield "bad-dictionary", changed("mixed-preset", "dictionary", 2)
    yield "bad-mixed-cut", cut(streams("mixed-preset"), 60)
    yield "bad-mixed-longer", repaired(streams("mixed-preset") + bytes(8))
    yield "bad-mixed-other-displaced-blocks", changed("mixed-preset", "displaced blocks", 1)
    exact = streams("exact-camera")
    yield "bad-exact-cut", cut(exact, 60)
    yield "bad-exact-longer", repaired(exact + bytes(8))
    yield "bad-exact-other-payload", byte("exact-camera", places(exact)["payload"] + 30, 0)
    yield "bad-deep-cut", cut(streams("gray-12-photo"), 30)
    yield from damaged_header(streams("exact-one-pixel"))
    yield from damaged_payload(streams)


def damaged_draft(streams: Callable[[str], bytes]) -> Iterator[tuple[str, bytes]]:
    """As ``damaged``, for files of version 2; ``streams(name)`` returns a case's file."""

    def changed(name: str, field: str, value: int) -> bytes:
        return with_number(streams(name), field, value)

    def switched(name: str, tool: str, value: int) -> bytes:
        return with_switch(streams(name), tool, value)

    photo = streams("pdpc")
    yield "bad-version-1", repaired(photo[:8] + b"\1" + photo[9:])
    yield "bad-version-3", repaired(photo[:8] + b"\3" + photo[9:])
    for coding in (6, 7):
        yield f"bad-coding-{coding}", changed("pdpc", "coding", coding)
    yield "bad-switches", changed("pdpc", "switches", 1 << 22)
    yield "bad-fragment-size", switched("pdpc", "fragment size", 3)
    yield "bad-templates", switched("pdpc", "templates", 5)
    yield "bad-planes-filter", changed("pdpc", "post filter", 16)
    yield "bad-other-pdpc", switched("pdpc", "pdpc", 0)
    yield "bad-filter-bank", changed("filter-bank-100", "filter bank", 1 << 14)
    yield "bad-other-filter-bank", changed("filter-bank-100", "filter bank", 1)
    yield "bad-other-ternary", switched("ternary-16", "ternary", 0)
    yield "bad-other-dependent", switched("dependent", "dependent", 0)
    yield "bad-other-fine-contexts", switched("fine-contexts", "fine contexts", 0)
    yield "bad-other-trained-transforms", switched("trained-transforms", "trained transforms", 0)
    yield "bad-other-derived-modes", switched("derived-modes", "derived modes", 0)
    yield "bad-other-border-sines", switched("border-sines", "border sines", 0)
    yield "bad-cut", cut(photo, 40)
    yield "bad-planes-of-gray", switched("pdpc", "earlier planes", 1)
    yield "bad-planes-of-luma", switched("planes-2", "earlier planes", 1)
    yield "bad-planes-3", switched("planes-2", "earlier planes", 3)
    colours = streams("planes-2")
    yield "bad-planes-cut", repaired(colours[:-9])
    yield "bad-layout", with_layout(streams("fine"), 4)
    yield "bad-layout-of-gray-alpha", changed("planes-gray-alpha", "layout", 3)
    yield "bad-layout-at-depth-15", changed("fine-depth-14", "depth", 15)
    yield "bad-layout-of-trees", with_layout(streams("planes-mixed"), 3)
    yield "bad-other-layout", with_layout(streams("fine"), 2)
    yield "bad-other-step-changes", switched("step-changes-16", "step changes", 0)
    start = places(streams("step-changes-16"))["payload"]
    data = streams("step-changes-16")
    # The first step change is 48, or -48.
    for name, first in (("bad-step-change", b"\xbf"), ("bad-step-change-below", b"\xff")):
        yield name, repaired(data[:start] + first + 7 * b"\xff" + data[start + 8 :])
    yield from damaged_exact_samples(streams)
    yield from damaged_palettes(streams)
    levels = streams("levels-12-of-16")
    for name, field, value in (
        ("depth-24", "depth", 24),
        ("depth-33", "depth", 33),
        ("level-bits-7", "level bits", 7),
        ("level-bits-of-samples", "level bits", 16),
        ("first-sample", "first sample", 65535),
    ):
        yield f"bad-levels-{name}", with_number(levels, field, value)
    alpha = streams("planes-gray-alpha")
    yield "bad-levels-of-alpha", alpha[:10] + bytes([32]) + alpha[11:]
    bounds = streams("range-of-exact")
    chunk = bytes([7, 3, 100, 0x84, 7])  # kind, size, low and high
    for name, changed_chunk in (
        ("of-one-level", bytes([7, 2, 100, 100])),
        ("beyond-depth", bytes([7, 4, 100, 0x80, 0x80, 4])),
        ("longer", bytes([7, 4, 100, 0x84, 7, 0])),
    ):
        yield f"bad-range-{name}", repaired(bounds.replace(chunk, changed_chunk, 1))


def damaged_exact_samples(streams: Callable[[str], bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield damaged files of exact samples 2."""
    gray, colours = streams("exact-2-gray-2"), streams("exact-2-colour-2")
    for name, switches in (
        ("predictors", 0b110111),
        ("models", 0b111100),
        ("two-models-with-weights", 0b010000),
        ("two-models-with-last-stage", 0b100000),
        ("switches", 0b1000000),
        ("other-models", 0b111000),
    ):
        yield f"bad-exact-2-{name}", with_number(gray, "switches", switches)
    yield "bad-exact-2-max-error", with_number(gray, "max error", 32768)
    yield "bad-exact-2-other-max-error", with_number(gray, "max error", 1)
    yield "bad-exact-2-cut", cut(gray, 60)
    yield "bad-exact-2-longer", repaired(gray + bytes(8))
    start = places(colours)["payload"]
    for name, size in (
        ("size-of-stream", b"\xff\x7f"),
        ("size-not-shortest", b"\x80\0"),
        ("no-size", b"\x80"),
    ):
        rest = b"" if name == "no-size" else colours[start + 2 :]
        yield f"bad-exact-2-{name}", repaired(colours[:start] + size + rest)


def damaged_palettes(streams: Callable[[str], bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield damaged files with palettes."""
    alone, gray, fine = (streams(f"palette-{name}") for name in ("gray-alone", "gray", "fine"))
    for name, switches in (("switches", 0b1000000), ("models", 0b111100), ("weights", 0b010000)):
        yield f"bad-palette-{name}", with_number(alone, "switches", switches)
    yield "bad-palette-entries", with_number(alone, "entries", 8192)
    yield "bad-palette-other-entries", with_number(alone, "entries", 4)
    without_clear = Walk(fine, places(fine)["entries"]).number("entries") - 1
    yield "bad-palette-fine-without-clear", with_number(fine, "entries", without_clear)
    yield "bad-palette-together", with_layout(fine, 0)
    yield "bad-palette-of-gray-alpha-together", with_layout(streams("palette-gray-alpha"), 0)
    yield "bad-palette-number", with_number_beyond()
    walk = Walk(gray, places(gray)["payload bytes"])
    yield "bad-palette-longer-than-tile", with_number(gray, "payload bytes", 1 << 20)
    size = walk.number("payload bytes")
    layer = walk.place + size
    yield "bad-palette-twice", repaired(gray[:layer] + b"\5" + gray[layer + 1 :])
    yield "bad-palette-cut", cut(alone, 20)
    yield "bad-palette-longer", repaired(alone + bytes(8))
    start = places(alone)["payload"]
    for name, first in (
        ("size-of-colours", b"\xff\x7f"),
        ("size-not-shortest", b"\x80\0"),
        ("no-size", b"\x80"),
        ("no-colours", b"\0"),
    ):
        rest = b"" if name == "no-size" else alone[start + 1 :]
        yield f"bad-palette-{name}", repaired(alone[:start] + first + rest)


def damaged_header(good: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield copies of a gray file of one tile without metadata, with errors in the header."""
    start = places(good)["tile bytes"]
    tile = good[places(good)["stream CRC"] :]

    def remade(count: int, chunks: bytes = b"", tile: bytes = tile) -> bytes:
        head = good[: start - 1] + number(count) + chunks + number(len(tile))
        return head + zlib.crc32(head).to_bytes(4, "big") + tile

    def chunk(kind: int, content: bytes) -> bytes:
        return remade(1, number(kind) + number(len(content)) + content)

    yield "bad-number-of-2-62", remade(1, number(1 << 62) + number(0))
    yield "bad-empty-icc", chunk(1, b"")
    yield "bad-resolution-unit-4", chunk(4, bytes([4, 1, 1, 1, 1]))
    yield "bad-resolution-0", chunk(4, bytes([1, 72, 1, 0, 1]))
    yield "bad-resolution-2-32", chunk(4, bytes([1, 72, 1]) + number(1 << 32) + b"\1")
    yield "bad-resolution-longer", chunk(4, bytes([1, 72, 1, 72, 1, 0]))
    yield "bad-key-longer-than-chunk", chunk(5, b"\5Titl")
    yield "bad-chunk-longer-than-file", remade(1, number(7) + number(1 << 40))
    yield "bad-65537-chunks", remade(65537, 65537 * b"\7\0")
    covered = tile[4:8] + b"\2"
    yield "bad-tile-bytes-9", remade(0, tile=zlib.crc32(covered).to_bytes(4, "big") + covered)
    covered = tile[4:] + b"\0"
    yield "bad-tile-longer", remade(0, tile=zlib.crc32(covered).to_bytes(4, "big") + covered)


def damaged_payload(streams: Callable[[str], bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield files whose payload codes a value that the format does not allow."""

    def payload(name: str, bits: bytes, place: int = 0) -> bytes:
        data = streams(name)
        start = places(data)["payload"] + place
        return repaired(data[:start] + bits + data[start + len(bits) :])

    # The mode is templates, in a block that has no place to predict from.
    mode = bytes.fromhex("1765bceb53d4de03a1440d09ae1266cbfc97d791")
    yield "bad-mode", payload("photo-templates", mode, 8)
    yield "bad-level", payload("photo-odd-size", b"\xff\xff", 3)
    yield "bad-no-values", payload("exact-noise", b"\x80" + bytes(40))
    yield "bad-last-place", payload("photo-noise", b"\xff\xff")
