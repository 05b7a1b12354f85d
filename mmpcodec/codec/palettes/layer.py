"""Coding of palettes by a backend.

Source: section "Palette" of ``docs/format/format.md``.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mmpcodec.backends.base import Backend
from mmpcodec.codec.encoding import LayerCoding
from mmpcodec.errors import CorruptStream, FormatError
from mmpcodec.format.palette import COLOUR_FORM, SECTION, Palette, Streams, joined
from mmpcodec.reference.entropy.syntax import PALETTE_COLOURS
from mmpcodec.reference.lossless.planes import from_planes, to_planes
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
    *,
    of_colours: bool = True,
) -> tuple[Palette, Trace]:
    """Encode a palette.

    Parameters
    ----------
    backend : Backend
    colours, numbers : arrays
        See ``PaletteSamples``.
    transparent : bool
        Whether pixels can have the number n.
    depth : int
        Bits per sample of the colours.
    tools : LosslessTools
        For the numbers.
    threads, progress
        See ``Backend.encode``.
    of_colours : bool
        Whether to code the colours too; without them only the trace of the numbers is of use.
    """
    row = to_planes(colours[None, :, 0] if colours.shape[1] == 1 else colours[None])
    stream, trace = b"", Trace({})
    if of_colours:
        stream, _, trace = backend.encode_lossless(row, depth, COLOUR_FORM, threads=threads)
    palette = Palette(tools, len(colours), transparent, b"")
    own = to_planes(numbers)
    of_numbers, _, own_trace = backend.encode_lossless(
        own, palette.depth, tools.form, threads=threads, progress=progress
    )
    palette = replace(palette, payload=joined(Streams(stream, of_numbers)))
    return palette, _trace_of(palette, trace, own_trace, numbers)


def decode_palette(
    backend: Backend,
    palette: Palette,
    shape: tuple[int, int],
    colours_count: int,
    depth: int,
    threads: int | None = None,
    progress: Progress | None = None,
) -> tuple[PaletteSamples, Trace]:
    """Decode a palette.

    Parameters
    ----------
    backend : Backend
    palette : Palette
    shape : (H, W)
        Size of the tile.
    colours_count : int
        Samples of a colour, 1 or 3.
    depth : int
        Bits per sample of the colours.
    threads, progress
        See ``Backend.encode``.

    Raises
    ------
    FormatError
        When the payload does not decode, or a pixel has a number that no colour has.
    """
    streams = palette.streams()
    with _named("colours"):
        row, trace = backend.decode_lossless(
            streams.colours,
            (colours_count, 1, palette.entries),
            depth,
            COLOUR_FORM,
            threads=threads,
        )
    with _named("numbers"):
        (numbers,), own_trace = backend.decode_lossless(
            streams.numbers,
            (1, *shape),
            palette.depth,
            palette.tools.form,
            threads=threads,
            progress=progress,
        )
    beyond = numbers > palette.largest
    if beyond.any():
        first = int(numbers[beyond][0])
        fault = f"number of a pixel is {first}, allowed is 0 to {palette.largest}"
        raise CorruptStream(SECTION, fault, palette.offset)
    colours = from_planes(row, depth).reshape(palette.entries, colours_count)
    found = PaletteSamples(colours.astype(np.uint16), numbers)
    return found, _trace_of(palette, trace, own_trace, numbers)


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


def _trace_of(palette: Palette, of_colours: Trace, own: Trace, numbers: np.ndarray) -> Trace:
    """Return the trace of the numbers' stream with the bits of the colours."""
    bits = {PALETTE_COLOURS: sum(of_colours.bits.values()), **own.bits}
    return replace(own, bits=bits, drawn=numbers < palette.entries)


@contextmanager
def _named(what: str) -> Iterator[None]:
    """Name the part of the palette in errors of its stream."""
    try:
        yield
    except FormatError as error:
        raise error.within(f"{what} of the palette") from None
