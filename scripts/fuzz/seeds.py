"""Write inputs of the entries in tests/fuzz/native: layers of the conformance vectors for the
decoders and encoders, and JPEG files and their payloads.

python scripts/fuzz/seeds.py FOLDER
"""

import io
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from makers import jpeg
from parts.choices import Choices
from PIL import Image

import mmpcodec
from mmpcodec.backends import jpeg as jpegs
from mmpcodec.errors import FormatError
from mmpcodec.format import container, layers
from mmpcodec.format.jpeg import KeptJpeg
from mmpcodec.format.layers import Layer, depth_of
from mmpcodec.format.layouts import Layout
from mmpcodec.format.tool_fields import HEADER_TOOLS
from mmpcodec.reference.jpeg.codec import encode_file
from mmpcodec.tools import BLOCKS, LOSSLESS, TREES, BlockTools, LosslessTools, Tools, TreeTools

VECTORS = Path(__file__).parents[2] / "tests" / "conformance"
MOST_SIDE = 80
LARGEST_DICTIONARY = 2000
LARGEST_JPEG = 20000
BROKEN = 60
"""JPEG files with broken fields."""
JPEGS: dict[str, dict[str, Any]] = {
    "RGB": {"quality": 80},
    "RGB progressive": {"progressive": True},
    "RGB restarts": {"restart_marker_blocks": 2},
    "L": {"quality": 95},
    "CMYK": {},
}
"""JPEG files by the mode of Pillow and options."""


def field(value: int, low: int, high: int) -> bytes:
    """Encode a number from ``low`` to ``high`` as the fuzzer's entry reads it: 1 or 2 bytes."""
    return (value - low).to_bytes(2 if high - low > 255 else 1, "big")


def tool_fields(tools: Tools) -> bytes:
    """Encode the tools of trees or predicted blocks as the fuzzer's entry reads them."""
    if isinstance(tools, TreeTools):
        tools = replace(tools, dictionary_limit=min(tools.dictionary_limit, LARGEST_DICTIONARY))
    found = b"".join(
        field(int(getattr(tools, tool.name)), tool.low_in_file, tool.high)
        for tool in HEADER_TOOLS[tools.coding]
    )
    trees = tools.trees if isinstance(tools, BlockTools) else None
    return found + (tool_fields(trees) if trees else b"")


def lossless_fields(tools: LosslessTools, depth: int) -> bytes:
    """Encode the tools of lossless samples as the fuzzer's entry reads them."""
    found = bytes([tools.lossless_form - 1, tools.max_error > 0])
    return found + (field(tools.max_error, 0, 1 << (depth - 1)) if tools.max_error else b"")


def seed(layer: Layer, height: int, width: int, depth: int, planes: int) -> bytes:
    """Encode a layer as one input of the fuzzer."""
    tools = layer.tools
    coding = {TREES: 0, BLOCKS: 1 if depth == 8 else 2, LOSSLESS: 3}[tools.coding]
    # One thread, no tiles, sides of at most 80 samples.
    head = bytes([coding, 15, 0, 48, height - 1, width - 1])
    if isinstance(tools, LosslessTools):
        head += field(planes, 1, 4) + field(depth, 1, 16)
        return head + lossless_fields(tools, depth) + layer.payload
    if coding == 2:
        head += field(depth, 9, 16)
    return head + tool_fields(tools) + layer.payload


def seeds(data: bytes) -> Iterator[bytes]:
    """Yield the inputs for all layers of a file that the fuzzer's entry can decode."""
    header = container.read_header(memoryview(data))
    for tile, start, end in zip(
        header.tiles, header.tile_offsets, header.tile_offsets[1:], strict=False
    ):
        if max(tile.height, tile.width) > MOST_SIDE:
            continue
        stream = layers.read(memoryview(data)[start:end], start, header.of_levels)
        for layer in stream.layers:
            depth = depth_of(layer, stream.layout, header.level_depth)
            planes = header.planes if stream.layout is Layout.TOGETHER else 1
            yield seed(layer, tile.height, tile.width, depth, planes)


def jpeg_files() -> Iterator[bytes]:
    """Yield JPEG files: of each kind, joined, cut, behind other bytes, and with broken fields."""
    rows, columns = np.indices((24, 32))
    samples = np.dstack([5 * rows, 4 * columns, 3 * (rows + columns) % 90]).astype(np.uint8)
    files = []
    for name, options in JPEGS.items():
        stream = io.BytesIO()
        Image.fromarray(samples).convert(name.split()[0]).save(stream, "JPEG", **options)
        files.append(stream.getvalue())
    yield from files
    yield files[0] + files[1] + files[2]
    for file in files:
        yield file[: -len(file) // 5]
        yield b"before" + file + b"behind" * 9
    for number in range(BROKEN):
        yield jpeg.make(Choices(f"jpeg seeds {number}"))


def jpeg_seeds() -> Iterator[bytes]:
    """Yield JPEG files, and payloads of them, as inputs of the entry that keeps them."""
    for number, file in enumerate(jpeg_files()):
        if len(file) > LARGEST_JPEG:
            continue
        for form in (1, 2, 3):
            yield bytes([0, form - 1, 0]) + file
        yield payload_seed(1, len(file), jpegs.encode(file, 1, 1 << 23).payload)
        # The native encoder gives a small file the form that needs the fewest bytes.
        for form in (2, 3) if number < len(JPEGS) else ():
            yield payload_seed(form, len(file), encode_file(file, form, 1 << 23))
    for stream in sorted(VECTORS.glob("*jpeg-*/stream.mmp")):
        with suppress(FormatError):
            kept = kept_of(memoryview(stream.read_bytes()))
            if kept and kept.file_bytes <= LARGEST_JPEG:
                yield payload_seed(kept.form, kept.file_bytes, bytes(kept.payload))


def payload_seed(form: int, size: int, payload: bytes) -> bytes:
    """Encode the payload of a JPEG file of ``size`` bytes as the fuzzer's entry reads it."""
    return bytes([1, form - 1, 0]) + field(size, 0, LARGEST_JPEG) + payload


def kept_of(data: memoryview) -> KeptJpeg | None:
    """Return the JPEG file that an mmp file keeps."""
    header = container.read_header(data)
    start, end = header.tile_offsets[:2]
    return layers.read(data[start:end], start, header).jpeg


def main() -> None:
    folder = Path(sys.argv[1])
    write(folder / "jpeg", {str(number): each for number, each in enumerate(jpeg_seeds())})
    folder = folder / "layers"
    folder.mkdir(parents=True, exist_ok=True)
    for stream in sorted(VECTORS.glob("*/stream.mmp")):
        is_one = not stream.parent.name.startswith("collection-")
        if is_one and not stream.with_name("error.json").exists():
            for number, each in enumerate(seeds(stream.read_bytes())):
                (folder / f"{stream.parent.name}-{number}").write_bytes(each)
    print(f"{len(list(folder.iterdir()))} inputs, of mmpcodec {mmpcodec.__version__}")


def write(folder: Path, inputs: dict[str, bytes]) -> None:
    """Write inputs by their names."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, each in inputs.items():
        (folder / name).write_bytes(each)


if __name__ == "__main__":
    main()
