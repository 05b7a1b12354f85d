"""PNG files of 1 to 16 bits, gray and colour.

Chunks are taken apart here, so that metadata are bounded and kept; the samples in them are left to
Pillow, and to imagecodecs where Pillow would cut 16 bits to 8.

Samples of a depth that PNG lacks are stored with more bits, as its specification asks: shifted up
and filled with their own highest bits, so that white stays white, and the chunk sBIT says how many
bits there are.
"""

import io
import struct

import numpy as np
from PIL import Image, PngImagePlugin

from mmpcodec.depth import sample_type
from mmpcodec.metadata import Metadata
from mmpcodec.params import DecodeLimits
from mmpcodec.picture import Picture
from mmpcodec.pictures.limits import check_single, check_size, damaged, library
from mmpcodec.pictures.png.chunks import (
    CRITICAL,
    MAGIC,
    Chunk,
    first,
    joined,
    metadata_chunks,
    metadata_of,
    parted,
)

MAGICS = (MAGIC,)

GRAY, COLOUR, PALETTE, GRAY_ALPHA, COLOUR_ALPHA = 0, 2, 3, 4, 6
_TYPES = {1: GRAY, 2: GRAY_ALPHA, 3: COLOUR, 4: COLOUR_ALPHA}
_PLANES = {kind: planes for planes, kind in _TYPES.items()} | {PALETTE: 1}
_NATIVE = {1: (1, 2, 4, 8, 16), 2: (8, 16), 3: (8, 16), 4: (8, 16)}


def read(data: bytes, name: str, limits: DecodeLimits) -> Picture:
    """The picture in a whole file.

    Palettes give the colours that they show, or gray where all their colours are; what is
    transparent by a level, a colour or a palette gets a plane of alpha.

    Raises
    ------
    PictureError
        When it is damaged, too large, or animated.
    """
    chunks = parted(data, name)
    head = chunks[0][1]
    if chunks[0][0] != b"IHDR" or len(head) != 13:
        raise damaged(name, "does not begin with the chunk IHDR")
    width, height, depth, kind = struct.unpack(">IIBB", head[:10])
    if kind not in _PLANES or depth not in (
        (1, 2, 4, 8) if kind == PALETTE else _NATIVE[_PLANES[kind]]
    ):
        raise damaged(name, f"colour type {kind} with {depth} bits")
    check_size(width, height, name, limits)
    animation = first(chunks, b"acTL")
    if animation is not None:
        check_single(int.from_bytes(animation[:4], "big"), name)
    metadata = metadata_of(chunks, name)
    plain = [chunk for chunk in chunks if chunk[0] in CRITICAL]
    if depth == 16 and kind != GRAY:
        codec = library("imagecodecs", "16-bit colours in PNG", name)
        samples = codec.png_decode(joined(plain))
    else:
        samples = _by_pillow(joined(plain), kind, depth)
    shape = (height, width) if _PLANES[kind] == 1 else (height, width, _PLANES[kind])
    if samples.shape != shape:
        raise damaged(name, f"samples of shape {samples.shape}, {shape} was expected")
    if kind == PALETTE:
        return _shown(samples, chunks, metadata, name)
    samples = _with_alpha(samples, first(chunks, b"tRNS"), kind, depth, name)
    return _narrowed(samples, depth, first(chunks, b"sBIT"), metadata)


def _by_pillow(data: bytes, kind: int, depth: int) -> np.ndarray:
    # Called directly, because Image.open has a pixel limit of its own, and that is global.
    with PngImagePlugin.PngImageFile(io.BytesIO(data)) as image:
        samples = np.array(image)
    if kind == GRAY and depth < 8:
        # Pillow stretches them to 255, and 1 bit to a bool.
        return samples.astype(np.uint8) if depth == 1 else samples // (255 // ((1 << depth) - 1))
    return samples.astype(sample_type(depth), copy=False)


def _shown(indexes: np.ndarray, chunks: list[Chunk], metadata: Metadata, name: str) -> Picture:
    """The colours that a palette has for its indexes."""
    contents = first(chunks, b"PLTE")
    if not contents or len(contents) % 3:
        raise damaged(name, "its palette is missing or cut off")
    colours = np.frombuffer(contents, np.uint8).reshape(-1, 3)
    if int(indexes.max()) >= len(colours):
        raise damaged(name, f"index {indexes.max()} of a palette of {len(colours)} colours")
    if (colours == colours[:, :1]).all():
        colours = colours[:, :1]
    alpha = first(chunks, b"tRNS")
    if alpha is not None:
        if len(alpha) > len(colours):
            raise damaged(name, f"{len(alpha)} transparent colours of {len(colours)}")
        column = np.full((len(colours), 1), 255, np.uint8)
        column[: len(alpha), 0] = np.frombuffer(alpha, np.uint8)
        colours = np.hstack([colours, column])
    samples = colours[indexes]
    return Picture(samples[..., 0] if colours.shape[1] == 1 else samples, 8, metadata)


def _with_alpha(
    samples: np.ndarray, transparent: bytes | None, kind: int, depth: int, name: str
) -> np.ndarray:
    """The samples with a plane that is 0 where they have the transparent level or colour."""
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


def _narrowed(samples: np.ndarray, depth: int, stated: bytes | None, metadata: Metadata) -> Picture:
    """The samples with as many bits as sBIT says, if the others say nothing."""
    bits = stated[0] if stated else 0
    planes = 1 if samples.ndim == 2 else samples.shape[2]
    # A plane of alpha that stands for a level or colour has no entry of its own.
    same = stated is not None and set(stated) == {bits} and len(stated) in (planes, planes - 1)
    if same and 1 <= bits < depth:
        high = samples >> (depth - bits)
        if (samples == high << (depth - bits)).all() or (
            samples == stretched(high, bits, depth)
        ).all():
            return Picture(high.astype(sample_type(bits)), bits, metadata)
    return Picture(samples, depth, metadata)


def stretched(samples: np.ndarray, depth: int, wider: int) -> np.ndarray:
    """Samples with more bits: shifted up, and filled with their own highest bits."""
    wide = samples.astype(np.uint32) << (wider - depth)
    filled = depth
    while filled < wider:
        wide |= wide >> filled
        filled *= 2
    return wide.astype(sample_type(wider))


def to_bytes(picture: Picture) -> bytes:
    """A PNG file with all metadata that it can hold.

    Raises
    ------
    MissingExtra
        When 16-bit colours or alpha need imagecodecs, and it is not installed.
    """
    depth, planes = picture.depth, picture.planes
    wider = min(bits for bits in _NATIVE[planes] if bits >= depth)
    samples = picture.samples if wider == depth else stretched(picture.samples, depth, wider)
    height, width = samples.shape[:2]
    head = struct.pack(">IIBBBBB", width, height, wider, _TYPES[planes], 0, 0, 0)
    body = [(b"IDAT", contents) for kind, contents in _encoded(samples, wider) if kind == b"IDAT"]
    chunks = [(b"IHDR", head)]
    if wider != depth:
        chunks.append((b"sBIT", bytes([depth]) * planes))
    return joined([*chunks, *metadata_chunks(picture.metadata), *body, (b"IEND", b"")])


def _encoded(samples: np.ndarray, depth: int) -> list[Chunk]:
    """Chunks of a file with these samples; only what is in IDAT counts."""
    samples = np.ascontiguousarray(samples)
    if depth == 16 and samples.ndim == 3:
        codec = library("imagecodecs", "16-bit colours in PNG", "picture")
        return parted(bytes(codec.png_encode(samples, level=6)), "picture")
    stream = io.BytesIO()
    image = Image.fromarray(samples)
    if depth < 8:
        # Pillow packs the indexes of palettes only; in IDAT gray is the same.
        image.putpalette(bytes(range(1 << depth)) * 3)
        image.save(stream, "PNG", bits=depth)
    else:
        image.save(stream, "PNG")
    return parted(stream.getvalue(), "picture")
