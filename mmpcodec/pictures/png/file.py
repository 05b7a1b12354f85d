"""Read and write PNG files of 1 to 16 bits, gray and colour.

This module splits a file into chunks, so that metadata are bounded and kept; ``frames`` finds those
of each frame of an animation. Pillow decodes the samples; ``deep`` gets all bits of colours and
alpha of 16 bits from it, and encodes them.

PNG stores samples of 1, 2, 4, 8 or 16 bits. Samples of another depth are stored with more bits, as
the PNG specification asks: shifted up and filled with their own highest bits, so that white stays
white. The chunk sBIT has the true depth.
"""

import io
import struct
from dataclasses import dataclass, replace

import numpy as np
from PIL import PngImagePlugin

from mmpcodec.depth import sample_type
from mmpcodec.format.collection import Role
from mmpcodec.limits import DecodeLimits
from mmpcodec.metadata import Metadata
from mmpcodec.picture import Picture
from mmpcodec.pictures.books.book import Book
from mmpcodec.pictures.books.canvas import Canvas, shows_through
from mmpcodec.pictures.limits import check_size, chosen, damaged
from mmpcodec.pictures.png import deep
from mmpcodec.pictures.png.chunks import (
    CRITICAL,
    Chunk,
    first,
    holds_resolution,
    holds_text,
    joined,
    metadata_chunks,
    metadata_of,
    parted,
)
from mmpcodec.pictures.png.compression import compressed
from mmpcodec.pictures.png.frames import animation_of
from mmpcodec.pictures.reading import bytes_of
from mmpcodec.runtime.progress import Progress
from mmpcodec.samples import Samples

GRAY, COLOUR, PALETTE, GRAY_ALPHA, COLOUR_ALPHA = 0, 2, 3, 4, 6
_TYPES = {1: GRAY, 2: GRAY_ALPHA, 3: COLOUR, 4: COLOUR_ALPHA}
_PLANES = {kind: planes for planes, kind in _TYPES.items()} | {PALETTE: 1}
_NATIVE = {1: (1, 2, 4, 8, 16), 2: (8, 16), 3: (8, 16), 4: (8, 16)}


def read(data: bytes, name: str, limits: DecodeLimits, page: int | None = None) -> Picture:
    """Read a picture, or a frame of an animation.

    A palette is replaced by its colours, or by gray if all its colours are gray. A transparent
    level or colour, or a palette with transparency, becomes a plane of alpha.

    Raises
    ------
    PictureError
        If the file is damaged or beyond the limits.
    """
    found = book(data, name, limits)
    return found.read(chosen(found.count, page, name))


def book(source: str | bytes, name: str, limits: DecodeLimits) -> Book:
    """Open a file as a book of its frames. The compressed file stays in memory.

    Raises
    ------
    PictureError
        If the file is damaged or beyond the limits.
    """
    data = bytes_of(source)
    chunks = parted(data, name)
    stored = _stored(chunks, name, limits)
    metadata = metadata_of(chunks, name)
    animation = animation_of(chunks, stored.width, stored.height, name)
    plain = [chunk for chunk in chunks if chunk[0] in CRITICAL]
    if animation is None:
        return Book(name, 1, lambda _: _narrowed(stored.decoded(plain, name), stored, metadata))
    through = stored.planes in (1, 3) and shows_through(
        stored.width, stored.height, animation.frames, lambda _: True
    )
    planes = stored.planes + through
    check_size(stored.width, stored.height, planes, name, limits)

    def decode(number: int) -> Samples:
        frame = animation.frames[number]
        own = replace(stored, width=frame.width, height=frame.height)
        samples = own.decoded(animation.chunks_of(number, plain), name)
        if through:
            opaque = np.full(samples.shape[:2], (1 << stored.depth) - 1, samples.dtype)
            samples = np.dstack([samples, opaque])
        return samples

    shape = (stored.height, stored.width, planes)[: 2 + (planes > 1)]
    canvas = Canvas(shape, stored.depth, animation.frames, decode)
    return Book(
        name,
        len(animation.frames),
        lambda number: _narrowed(canvas.frame(number), stored, metadata),
        Role.FRAME,
        animation.durations,
        animation.loops,
    )


@dataclass(frozen=True)
class _Stored:
    """How samples are stored.

    Parameters
    ----------
    width, height : int
    depth : int
        Bits of a sample, also of a colour of a palette.
    kind : int
        Colour type.
    planes : int
        Planes of the decoded samples.
    head : bytes
        The contents of IHDR.
    colours : array or None
        Colours of the palette, (N,) or (N, planes).
    transparent : bytes or None
        The level or colour that is transparent.
    significant : bytes or None
        The contents of sBIT.
    """

    width: int
    height: int
    depth: int
    kind: int
    planes: int
    head: bytes
    colours: np.ndarray | None = None
    transparent: bytes | None = None
    significant: bytes | None = None

    def decoded(self, plain: list[Chunk], name: str) -> Samples:
        """Decode the samples in the chunks IDAT of a picture or a frame, of this size.

        Raises
        ------
        PictureError
            If they are damaged.
        """
        head = struct.pack(">II", self.width, self.height) + self.head[8:]
        data = joined([(b"IHDR", head), *(chunk for chunk in plain if chunk[0] != b"IHDR")])
        depth, planes = self.head[8], _PLANES[self.kind]
        if depth == 16 and self.kind != GRAY:
            samples = deep.decoded(data, planes)
        else:
            samples = _by_pillow(data, self.kind, depth)
        shape = (self.height, self.width, planes)[: 2 + (planes > 1)]
        if samples.shape != shape:
            raise damaged(name, f"the samples have shape {samples.shape}, the header says {shape}")
        if self.colours is None:
            return _with_alpha(samples, self.transparent, self.kind, depth, name)
        if int(samples.max()) >= len(self.colours):
            raise damaged(
                name,
                f"uses colour {samples.max()} of a palette of {len(self.colours)} colours",
            )
        return self.colours[samples]


def _stored(chunks: list[Chunk], name: str, limits: DecodeLimits) -> _Stored:
    """Check the header of a file, and that its chunks belong together.

    Raises
    ------
    PictureError
        If they are damaged, or the picture is beyond the limits.
    """
    head = chunks[0][1]
    if chunks[0][0] != b"IHDR" or len(head) != 13:
        raise damaged(name, "does not begin with the chunk IHDR")
    names = [chunk[0] for chunk in chunks]
    width, height, depth, kind = struct.unpack(">IIBB", head[:10])
    if kind not in _PLANES or depth not in (
        (1, 2, 4, 8) if kind == PALETTE else _NATIVE[_PLANES[kind]]
    ):
        raise damaged(name, f"PNG has no colour type {kind} with {depth} bits")
    # Colours of a palette and a transparent level become planes.
    planes = _PLANES[kind] if kind != PALETTE else 3
    check_size(width, height, planes + (b"tRNS" in names), name, limits)
    if names.count(b"IHDR") > 1:
        raise damaged(name, "has two chunks IHDR")
    transparent, significant = first(chunks, b"tRNS"), first(chunks, b"sBIT")
    if kind == PALETTE:
        colours = _colours(chunks, name)
        planes = 1 if colours.ndim == 1 else colours.shape[1]
        return _Stored(width, height, 8, kind, planes, head, colours)
    planes += transparent is not None and kind in (GRAY, COLOUR)
    return _Stored(width, height, depth, kind, planes, head, None, transparent, significant)


def _by_pillow(data: bytes, kind: int, depth: int) -> np.ndarray:
    # Image.open has a pixel limit of its own, which is global.
    with PngImagePlugin.PngImageFile(io.BytesIO(data)) as image:
        samples = np.array(image)
    if kind == GRAY and depth < 8:
        # Pillow stretches 2 and 4 bits to 0..255, and turns 1 bit into bool.
        return samples.astype(np.uint8) if depth == 1 else samples // (255 // ((1 << depth) - 1))
    return samples.astype(sample_type(depth), copy=False)


def _colours(chunks: list[Chunk], name: str) -> np.ndarray:
    """Return the colours of the palette: gray, RGB, or one of these with alpha."""
    contents = first(chunks, b"PLTE")
    if not contents or len(contents) % 3:
        raise damaged(name, "its palette is missing or cut off")
    colours = np.frombuffer(contents, np.uint8).reshape(-1, 3)
    if (colours == colours[:, :1]).all():
        colours = colours[:, :1]
    alpha = first(chunks, b"tRNS")
    if alpha is not None:
        if len(alpha) > len(colours):
            raise damaged(
                name, f"the chunk tRNS has {len(alpha)} entries for {len(colours)} colours"
            )
        column = np.full((len(colours), 1), 255, np.uint8)
        column[: len(alpha), 0] = np.frombuffer(alpha, np.uint8)
        colours = np.hstack([colours, column])
    return colours[:, 0] if colours.shape[1] == 1 else colours


def _with_alpha(
    samples: np.ndarray, transparent: bytes | None, kind: int, depth: int, name: str
) -> np.ndarray:
    """Add a plane of alpha that is 0 where samples have the transparent level or colour."""
    if transparent is None or kind not in (GRAY, COLOUR):
        return samples
    planes = _PLANES[kind]
    if len(transparent) != 2 * planes:
        raise damaged(name, f"the chunk tRNS has {len(transparent)} bytes, not {2 * planes}")
    stacked = samples.reshape(*samples.shape[:2], planes)
    level = np.frombuffer(transparent, ">u2") & ((1 << depth) - 1)
    through = (stacked == level).all(axis=2)
    alpha = np.where(through, 0, (1 << depth) - 1).astype(samples.dtype)
    return np.dstack([stacked, alpha])


def _narrowed(samples: Samples, stored: _Stored, metadata: Metadata) -> Picture:
    """Shift samples down to the depth in sBIT, if the lower bits are 0 or repeat the upper ones."""
    depth, stated = stored.depth, stored.significant
    bits = stated[0] if stated else 0
    planes = 1 if samples.ndim == 2 else samples.shape[2]
    # sBIT has no entry for a plane of alpha that was made from a transparent level or colour.
    same = stated is not None and set(stated) == {bits} and len(stated) in (planes, planes - 1)
    if same and 1 <= bits < depth:
        high = samples >> (depth - bits)
        if (samples == high << (depth - bits)).all() or (
            samples == stretched(high, bits, depth)
        ).all():
            return Picture(high.astype(sample_type(bits)), bits, metadata)
    return Picture(samples, depth, metadata)


def stretched(samples: np.ndarray, depth: int, wider: int) -> np.ndarray:
    """Widen samples to ``wider`` bits: shift them up and fill them with their highest bits."""
    wide = samples.astype(np.uint32) << (wider - depth)
    filled = depth
    while filled < wider:
        wide |= wide >> filled
        filled *= 2
    return wide.astype(sample_type(wider))


def holds(picture: Picture, kind: str) -> bool:
    """Return whether a file keeps this kind of the picture's metadata unchanged."""
    metadata = picture.metadata
    if kind == "resolution":
        return metadata.resolution is not None and holds_resolution(metadata.resolution)
    return kind != "text" or all(holds_text(keyword, said) for keyword, said in metadata.text)


def to_bytes(
    picture: Picture,
    format: str,
    level: int,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> bytes:
    """Encode a PNG file, at zlib's ``level``, with all metadata that PNG can hold.

    The progress callback gets numbers of rows.
    """
    depth, planes = picture.depth, picture.planes
    wider = min(bits for bits in _NATIVE[planes] if bits >= depth)
    samples = picture.samples if wider == depth else stretched(picture.samples, depth, wider)
    height, width = samples.shape[:2]
    head = struct.pack(">IIBBBBB", width, height, wider, _TYPES[planes], 0, 0, 0)
    chunks = [(b"IHDR", head)]
    if wider != depth:
        chunks.append((b"sBIT", bytes([depth]) * planes))
    chunks += metadata_chunks(picture.metadata)
    chunks += [(b"IDAT", part) for part in compressed(samples, wider, level, threads, progress)]
    return joined([*chunks, (b"IEND", b"")])
