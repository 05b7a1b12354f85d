"""Coding of palettes by a backend.

Source: section "Palette" of ``docs/format/format.md``.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mmpcodec.backends.base import Backend, PlaneTask
from mmpcodec.codec.encoding import LayerCoding
from mmpcodec.errors import CorruptStream, FormatError
from mmpcodec.format.palette import SECTION, Palette, Streams, joined
from mmpcodec.params import EncodeParams
from mmpcodec.reference.entropy.syntax import PALETTE_COLOURS
from mmpcodec.reference.palette import PaletteSamples
from mmpcodec.runtime.progress import Progress
from mmpcodec.tools import LosslessTools
from mmpcodec.trace import Trace

NAME = "palette"
"""Name of a palette among the layers of a file."""


def encode_palette(
    backend: Backend,
    colours: NDArray[np.uint16],
    numbers: NDArray[np.uint16],
    transparent: bool,
    depth: int,
    tools: LosslessTools,
    threads: int | None = None,
    progress: Progress | None = None,
) -> tuple[Palette, Trace]:
    """Encode a palette: colours and numbers as in ``PaletteSamples``.

    ``depth`` is that of the colours.
    """
    task = PlaneTask(colours[None], EncodeParams(tools=tools), depth)
    row = backend.encode(task, threads=threads)
    palette = Palette(tools, len(colours), transparent, b"")
    own = PlaneTask(numbers, EncodeParams(tools=tools), palette.depth)
    coded = backend.encode(own, threads=threads, progress=progress)
    palette = replace(palette, payload=joined(Streams(row.payload, coded.payload)))
    drawn = replace(coded.trace, drawn=numbers < palette.entries)
    return palette, trace_of(row.trace, drawn)


def decode_palette(
    backend: Backend,
    palette: Palette,
    shape: tuple[int, int],
    colours_count: int,
    depth: int,
    threads: int | None = None,
    progress: Progress | None = None,
) -> tuple[PaletteSamples, Trace]:
    """Decode a palette of a tile of ``shape`` (H, W) and colours of a count of samples and a depth.

    Raises
    ------
    FormatError
        When the payload does not decode, or a pixel has a number that no colour has.
    """
    streams = palette.streams()
    with _named(palette, "colours"):
        size = 1, palette.entries, colours_count
        row = backend.decode(streams.colours, size, palette.tools, depth=depth, threads=threads)
    with _named(palette, "numbers"):
        own = backend.decode(
            streams.numbers,
            shape,
            palette.tools,
            depth=palette.depth,
            threads=threads,
            progress=progress,
        )
    numbers = own.samples.astype(np.uint16)
    beyond = numbers > palette.largest
    if beyond.any():
        first = int(numbers[beyond][0])
        fault = f"number of a pixel is {first}, allowed is 0 to {palette.largest}"
        raise error_of(palette, "palette", CorruptStream(SECTION, fault))
    colours = row.samples.reshape(palette.entries, colours_count)
    found = PaletteSamples(colours.astype(np.uint16), numbers)
    drawn = replace(own.trace, drawn=numbers < palette.entries)
    return found, trace_of(row.trace, drawn)


def coding_of(
    palette: Palette, trace: Trace | None = None, backend: str = "", tile: int = 0
) -> LayerCoding:
    """Describe a palette as a layer of a tile; see ``LayerCoding``."""
    return LayerCoding(
        NAME,
        palette.tools,
        len(palette.payload),
        trace=trace,
        tile=tile,
        backend=backend,
        depth=palette.depth,
        entries=palette.entries,
        transparent=palette.transparent,
    )


def trace_of(of_colours: Trace, of_numbers: Trace) -> Trace:
    """Return the trace of a palette: that of the numbers, with the bits of the colours."""
    bits = {PALETTE_COLOURS: sum(of_colours.bits.values()), **of_numbers.bits}
    return replace(of_numbers, bits=bits)


def error_of(palette: Palette, part: str, error: FormatError) -> FormatError:
    """Return an error of a palette: of its stream of "colours" or "numbers", or of a number that
    no colour has, which lies in the "palette"."""
    if part == "palette":
        return type(error)(error.section, error.problem, palette.offset)
    return error.within(f"{part} of the palette")


@contextmanager
def _named(palette: Palette, part: str) -> Iterator[None]:
    """Name the part of the palette in errors of its stream."""
    try:
        yield
    except FormatError as error:
        raise error_of(palette, part, error) from None
