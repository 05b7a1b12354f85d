"""Measure the most time and memory that decoding takes, with files made for that.

    python scripts/bench/codec/worst.py --side 1024

Payloads of trees and predicted blocks are chosen: bits of 1, which both read as their likeliest
symbols; random bytes; and blocks of 4x4 samples that all search templates. Their checksums of
samples are wrong, which the decoder finds last. Lossless samples are encoded, because the decoder
refuses chosen ones early: slopes, noise, planes of two values, pictures of one column, and small
tiles. JPEG files that are kept have many levels, scans, pictures or other bytes. Each file is
decoded on one thread in a process of its own. The script prints a Markdown table; times are of one
processor.
"""

import argparse
import io
import json
import re
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from PIL import Image, ImageFile

import mmpcodec
from mmpcodec import _cpu
from mmpcodec.backends import jpeg as jpegs
from mmpcodec.codec.decoder import read_tile
from mmpcodec.codec.limits.memory import memory_to_decode
from mmpcodec.codec.limits.seconds import seconds_to_decode
from mmpcodec.errors import FormatError
from mmpcodec.format import container, layers
from mmpcodec.format.container import Header
from mmpcodec.format.jpeg import KeptJpeg, most_level_bytes
from mmpcodec.format.layers import Layer
from mmpcodec.format.layouts import Layout, layer_names
from mmpcodec.limits import UNLIMITED
from mmpcodec.params import EncodeParams
from mmpcodec.pictures import kept_jpeg
from mmpcodec.reference.trees.fragments import FRAGMENT_SIZE, fragments_in
from mmpcodec.samples import Form
from mmpcodec.tools import BlockTools, Tools, TreeTools

TREES = TreeTools(
    copy_radius=8, dictionary_limit=65536, displaced_blocks=4, replacement=True, post_filter=False
)
NEAR_TREES = replace(TREES, redundancy_radius=9)
BLOCKS = BlockTools(templates=4, step=16, post_filter=False)
MIXED = replace(BLOCKS, trees=TREES)
SMALLEST_TILE = 64
ONE_TILE = 1 << 20  # an encoder that may choose would cut these pictures into tiles
ImageFile.MAXBLOCK = 1 << 24  # Pillow fails at noise that is larger than its buffer
JPEG_START, SCAN = b"\xff\xd8\xff", b"\xff\xda"
WARM_UP = 64  # side of a picture that is decoded before the measurement

PLANAR, TEMPLATES = 2, 37
COLUMNS, ROWS = 1, 2
SIDE_LOG2, BLOCK_LOG2 = 4, 2
PLAN_NODES, PLAN_LEVELS = 511, 4096
MARGIN = 4  # fragments from the edge, where templates have too few samples around them


def file_of(tools: Tools, payload: bytes, form: Form, depth: int, side: int) -> bytes:
    """Make a file of one tile whose layers all have the same payload."""
    layout = Layout.TOGETHER if form is Form.GRAY else Layout.APART
    made = [Layer(name, tools, payload) for name in layer_names(form, layout)]
    header = Header(side, side, form, depth)
    tile = layers.write(header, layout, made, 0)
    return container.write(replace(header, tile_bytes=(len(tile),)), [tile])


def nodes_of(mode: int) -> list[int]:
    """Return the nodes of a fragment in 4x4 blocks that have a mode and a residual."""

    def below(height: int, width: int) -> Iterator[int]:
        if height == width == BLOCK_LOG2:
            yield mode << 2 | 1 << 8
        elif width >= height:
            yield COLUMNS
            yield from 2 * list(below(height, width - 1))
        else:
            yield ROWS
            yield from 2 * list(below(height - 1, width))

    return list(below(SIDE_LOG2, SIDE_LOG2))


def payload_of_templates(side: int, bare: bool = False) -> bytes:
    """Return the payload of blocks that search templates, each with 16 levels unless bare."""
    coder = _cpu.PlanCoder(side, side, EncodeParams(tools=BLOCKS).coded_tools)
    across = side >> SIDE_LOG2
    row, column = np.divmod(np.arange(across**2), across)
    near_edge = (np.minimum(row, column) < MARGIN) | (column >= across - MARGIN)
    nodes = np.zeros((across**2, PLAN_NODES), np.uint16)
    for mode, chosen in ((PLANAR, near_edge), (TEMPLATES, ~near_edge)):
        own = [node & 255 if bare else node for node in nodes_of(mode)]
        nodes[chosen, : len(own)] = own
    coder.code(nodes, np.full((across**2, PLAN_LEVELS), 0 if bare else 300, np.int16))
    payload: bytes = coder.finish()[0]
    return payload


def noise(side: int) -> np.ndarray:
    """Return samples that no tool predicts."""
    return np.random.default_rng(0).integers(0, 256, (side, side), np.uint8)


def cases(side: int) -> dict[str, Callable[[], bytes]]:
    """Return functions that make the files, by their names in the table."""
    gray = Form.GRAY, 8, side
    junk = noise(side).tobytes()
    return {
        "trees, random bytes": lambda: file_of(TREES, junk, *gray),
        "trees with a radius, random bytes": lambda: file_of(NEAR_TREES, junk, *gray),
        "trees, noise": lambda: mmpcodec.encode(
            noise(side),
            0,
            preset="plain",
            copy_radius=8,
            dictionary_limit=65536,
            displaced_blocks=4,
            replacement=True,
        ),
        "blocks, ones": lambda: file_of(BLOCKS, b"\xff" * 64, *gray),
        "blocks, templates": lambda: file_of(BLOCKS, payload_of_templates(side), *gray),
        "blocks, bare templates": lambda: file_of(BLOCKS, payload_of_templates(side, True), *gray),
        "blocks, templates, RGB, 16 bits": lambda: file_of(
            BLOCKS, payload_of_templates(side), Form.RGB, 16, side
        ),
        "blocks with trees, random bytes": lambda: file_of(MIXED, junk, *gray),
    }


def lossless(side: int) -> dict[str, Callable[[], bytes]]:
    """Return functions that make files of lossless samples, by their names in the table.

    The samples of slopes take nearly no bits, those of noise all that they have.
    """
    rng = np.random.default_rng(0)
    rows, columns = np.indices((side, side))
    slope = 3 * rows + 5 * columns
    pictures: dict[str, np.ndarray] = {
        "slope": slope % 251,
        "noise": rng.integers(0, 256, (side, side)),
    }
    deep = np.dstack([slope % 65521, slope * 3 % 65521, slope * 7 % 65521, slope * 11 % 65521])
    found: dict[str, Callable[[], bytes]] = {
        f"lossless, form {form}, {name}": partial(
            mmpcodec.encode, picture.astype(np.uint8), 0, preset="lossless", lossless_form=form
        )
        for form in (1, 2, 3)
        for name, picture in pictures.items()
    }
    of_16_bits: dict[str, np.ndarray] = {
        "slopes": deep,
        "noise": rng.integers(0, 1 << 16, (side, side, 4)),
    }
    for name, picture in of_16_bits.items():
        found[f"lossless, form 3, {name}, RGB with alpha, 16 bits"] = partial(
            mmpcodec.encode, picture.astype(np.uint16), 0, preset="lossless", lossless_form=3
        )
    return found


def two_values(side: int) -> dict[str, Callable[[], bytes]]:
    """Return functions that make files of planes of two values, by their names in the table."""
    rng = np.random.default_rng(3)
    rows, columns = np.indices((side, side))
    dither = rng.permutation(64).reshape(8, 8)[rows % 8, columns % 8] < columns * 64 // side
    fabric = np.tile(rng.random((61, 67)) < 0.5, (side // 61 + 1, side // 67 + 1))[:side, :side]
    pictures = {"noise": rng.random((side, side)) < 0.5, "dither": dither, "fabric": fabric}
    pictures["one pixel"] = (rows == side // 2) & (columns == side // 3)
    return {
        f"two values, form {form}, {name}": partial(
            mmpcodec.encode, picture, 0, preset="lossless", lossless_form=form, tile_size=0
        )
        for form in (1, 2, 3)
        for name, picture in pictures.items()
    }


def narrow(side: int) -> dict[str, Callable[[], bytes]]:
    """Return functions that make files of 64 ``side`` rows and one column, or few columns.

    A plane of two values after one whose samples are large makes the equations of the weights
    nearly singular, so each strip of each row needs the exact solution.
    """
    pictures: dict[str, np.ndarray] = {}
    for columns in (1, 8, 33):
        rows, column = np.indices((64 * side // columns, columns))
        place = rows * columns + column
        large = (rows + column) % 2 << 15 | place // 2 % (1 << 15)
        planes = [large, large, (rows + column) // 5 % 2, (rows + column) // 3 % 2]
        pictures[f"{columns} wide"] = np.dstack(planes).astype(np.uint16)
    found: dict[str, Callable[[], bytes]] = {
        f"narrow, form {form}, RGB with alpha, 16 bits, {name}": partial(
            mmpcodec.encode, picture, 0, preset="lossless", lossless_form=form, tile_size=ONE_TILE
        )
        for form in (1, 2, 3)
        for name, picture in pictures.items()
    }
    repeating = (np.arange(side * side) // 3 % 251).astype(np.uint8)[:, None]
    for form in (1, 2, 3):
        found[f"narrow, form {form}, gray that repeats, 1 wide"] = partial(
            mmpcodec.encode, repeating, 0, preset="lossless", lossless_form=form, tile_size=ONE_TILE
        )
    return found


def small_tiles(side: int) -> dict[str, Callable[[], bytes]]:
    """Return functions that make files of tiles of 64x64, by their names in the table."""
    rows, columns = np.indices((side, side)) % SMALLEST_TILE
    slope = 70 * rows + 3 * columns
    slopes = [slope, 13 * rows + 70 * columns, 7 * rows + 90 * columns, 5 * rows + 5 * columns]
    pictures: dict[str, np.ndarray] = {
        "gray": (slope % 251).astype(np.uint8),
        "RGB with alpha, 16 bits": np.dstack(slopes).astype(np.uint16),
    }
    return {
        f"tiles of 64x64, form {form}, slopes, {name}": partial(
            mmpcodec.encode,
            picture,
            0,
            preset="lossless",
            lossless_form=form,
            tile_size=SMALLEST_TILE,
        )
        for form in (1, 2, 3)
        for name, picture in pictures.items()
    }


def jpeg_file(samples: np.ndarray, **options: Any) -> bytes:
    """Return a JPEG file of samples, with all that they have of colours."""
    stream = io.BytesIO()
    full = {"quality": 100, "subsampling": 0} if samples.ndim == 3 else {"quality": 100}
    Image.fromarray(samples).save(stream, "JPEG", **{**full, **options})
    return stream.getvalue()


def kept(file: bytes, form: int, header: Header | None = None) -> bytes:
    """Keep a JPEG file in a form, whether it opens by default or not."""
    header = header or kept_jpeg.header_of(file)
    found = jpegs.encode(file, form, most_level_bytes(header.width, header.height), threads=1)
    tile = layers.write_jpeg(
        header, KeptJpeg(found.form, len(file), found.payload), zlib.crc32(file)
    )
    return container.write(container.with_sizes(header, (len(tile),)), [tile])


def with_scans(file: bytes, count: int) -> bytes:
    """Return a progressive file whose last scan follows again and again."""
    last = file.rindex(SCAN)
    return file[:-2] + count * file[last:-2] + file[-2:]


def kept_files(side: int) -> dict[str, Callable[[], bytes]]:
    """Return functions that make files that keep a JPEG file, by their names in the table.

    Equal blocks have the most levels that take nearly no bits. The blank page has eight times the
    rows and columns. The many pictures have one block each, beside a header of one pixel.
    """
    rng = np.random.default_rng(5)
    noisy = rng.integers(0, 256, (side, side, 3), np.uint8)
    equal = np.tile(rng.integers(0, 256, (8, 8, 3), np.uint8), (side // 8, side // 8, 1))
    files: dict[str, Callable[[], bytes]] = {
        "noise": lambda: jpeg_file(noisy),
        "equal blocks": lambda: jpeg_file(equal),
        "blank": lambda: jpeg_file(np.full((8 * side, 8 * side, 3), 255, np.uint8)),
        "noise, many scans": lambda: with_scans(jpeg_file(noisy, progressive=True), 100),
        "equal blocks, many scans": lambda: with_scans(jpeg_file(equal, progressive=True), 100),
        "blank, many scans": lambda: with_scans(
            jpeg_file(np.full((8 * side, 8 * side, 3), 255, np.uint8), progressive=True), 100
        ),
        "many pictures": lambda: jpeg_file(np.full((8, 8), 90, np.uint8)) * (side * side // 256),
        "bytes that are stored": lambda: JPEG_START + rng.bytes(side * side),
        "zeros as bytes": lambda: JPEG_START + bytes(side * side),
        "text as bytes": lambda: JPEG_START + bytes(rng.integers(97, 123, side * side, np.uint8)),
    }
    return {
        f"JPEG file, form {form}, {name}": partial(_kept_anew, file, form)
        for name, file in files.items()
        for form in ((1,) if "bytes" in name else (1, 2, 3))
    }


def _kept_anew(make: Callable[[], bytes], form: int) -> bytes:
    return kept(make(), form)


def all_files(side: int) -> dict[str, Callable[[], bytes]]:
    """Return functions that make all files, by their names in the table."""
    return {
        **cases(side),
        **lossless(side),
        **two_values(side),
        **narrow(side),
        **small_tiles(side),
        **kept_files(side),
    }


def estimate(data: bytes) -> tuple[int, float]:
    """Return the memory in bytes and the seconds that the decoder would compare with its limits."""
    view = memoryview(data)
    header = container.read_header(view)
    streams = [(tile, read_tile(view, header, tile)) for tile in header.tiles]
    fragments = sum(fragments_in((tile.height, tile.width)) for tile in header.tiles)
    samples = FRAGMENT_SIZE**2 * fragments * header.planes
    seconds = seconds_to_decode(streams, header.level_depth, header.planes, peek=True)
    return memory_to_decode(streams, header.level_depth, header.planes, samples, 1), seconds


def peak() -> int:
    """Return the largest memory of this process so far, in bytes; it starts anew with a program."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return 1024 * int(found[1])


def measure(path: Path) -> None:
    """Decode a file and print the processor seconds and the bytes that the peak of memory grew."""
    mmpcodec.decode(mmpcodec.encode(noise(WARM_UP), preset="plain"), threads=1)
    mmpcodec.decode(kept(jpeg_file(noise(WARM_UP)), 1), threads=1)
    data = path.read_bytes()
    before = peak()
    started = time.process_time()
    with suppress(FormatError):
        mmpcodec.decode(data, threads=1, limits=UNLIMITED)
    seconds = time.process_time() - started
    print(json.dumps([seconds, peak() - before]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--side", type=int, default=1024, help="of the pictures; a multiple of 16")
    parser.add_argument("--only", default="", help="start of the names of the files to measure")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        measure(args.measure)
        return
    print(f"{date.today()}, {args.side}x{args.side} pixels, one thread\n")
    print(
        "| file | bytes | µs a sample | µs a byte of the file | share of the estimate, % "
        "| bytes of memory a sample | share of the estimate, % |\n|---|---|---|---|---|---|---|",
        flush=True,
    )
    with TemporaryDirectory() as folder:
        for name, make in all_files(args.side).items():
            if not name.startswith(args.only):
                continue
            path = Path(folder, "worst.mmp")
            path.write_bytes(data := make())
            command = [sys.executable, "-P", __file__, "--measure", str(path)]
            seconds, grown = json.loads(subprocess.check_output(command))
            header = container.read_header(memoryview(data))
            samples = header.width * header.height * header.planes
            memory, time_limit = estimate(data)
            print(
                f"| {name} | {len(data)} | {1e6 * seconds / samples:.2f} "
                f"| {1e6 * seconds / len(data):.3g} | {100 * seconds / time_limit:.0f} "
                f"| {grown / samples:.1f} | {100 * grown / memory:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
