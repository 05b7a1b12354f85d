"""Read and write PNG files of 1 to 16 bits, gray and colour.

This module splits a file into chunks, so that metadata are bounded and kept. Pillow decodes the
samples; ``deep`` gets all bits of colours and alpha of 16 bits from it, and encodes them.

PNG stores samples of 1, 2, 4, 8 or 16 bits. Samples of another depth are stored with more bits, as
the PNG specification asks: shifted up and filled with their own highest bits, so that white stays
white. The chunk sBIT has the true depth.
"""

import io
import struct

import numpy as np
from PIL import PngImagePlugin

from mmpcodec.depth import sample_type
from mmpcodec.errors import PictureError
from mmpcodec.limits import DecodeLimits
from mmpcodec.metadata import Metadata
from mmpcodec.picture import Picture
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
from mmpcodec.runtime.progress import Progress

GRAY, COLOUR, PALETTE, GRAY_ALPHA, COLOUR_ALPHA = 0, 2, 3, 4, 6
_TYPES = {1: GRAY, 2: GRAY_ALPHA, 3: COLOUR, 4: COLOUR_ALPHA}
_PLANES = {kind: planes for planes, kind in _TYPES.items()} | {PALETTE: 1}
_NATIVE = {1: (1, 2, 4, 8, 16), 2: (8, 16), 3: (8, 16), 4: (8, 16)}


def read(data: bytes, name: str, limits: DecodeLimits, page: int | None = None) -> Picture:
    """Read a frame of a file.

    A palette is replaced by its colours, or by gray if all its colours are gray. A transparent
    level or colour, or a palette with transparency, becomes a plane of alpha. Frame 1 of an
    animation is the picture that viewers of still pictures show.

    Raises
    ------
    PictureError
        If the file is damaged or beyond the limits.
    """
    chunks = parted(data, name)
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
    animation = first(chunks, b"acTL")
    frames = 1 if animation is None else max(1, int.from_bytes(animation[:4], "big"))
    if animation is not None and names.index(b"IDAT") < ([*names, b"fcTL"]).index(b"fcTL"):
        frames += 1  # the picture of still viewers is no frame
    if frame := chosen(frames, page, name):
        return _frame(data, frame, depth, metadata_of(chunks, name), name)
    metadata = metadata_of(chunks, name)
    plain = [chunk for chunk in chunks if chunk[0] in CRITICAL]
    if depth == 16 and kind != GRAY:
        samples = deep.decoded(joined(plain), _PLANES[kind])
    else:
        samples = _by_pillow(joined(plain), kind, depth)
    shape = (height, width) if _PLANES[kind] == 1 else (height, width, _PLANES[kind])
    if samples.shape != shape:
        raise damaged(name, f"the samples have shape {samples.shape}, the header says {shape}")
    if kind == PALETTE:
        return _shown(samples, chunks, metadata, name)
    samples = _with_alpha(samples, first(chunks, b"tRNS"), kind, depth, name)
    return _narrowed(samples, depth, first(chunks, b"sBIT"), metadata)


def _by_pillow(data: bytes, kind: int, depth: int) -> np.ndarray:
    # Image.open has a pixel limit of its own, which is global.
    with PngImagePlugin.PngImageFile(io.BytesIO(data)) as image:
        samples = np.array(image)
    if kind == GRAY and depth < 8:
        # Pillow stretches 2 and 4 bits to 0..255, and turns 1 bit into bool.
        return samples.astype(np.uint8) if depth == 1 else samples // (255 // ((1 << depth) - 1))
    return samples.astype(sample_type(depth), copy=False)


def _frame(data: bytes, frame: int, depth: int, metadata: Metadata, name: str) -> Picture:
    """Read a later frame of an animation, from 1, drawn over those before it.

    Raises
    ------
    PictureError
        If the samples have not 8 bits, to which Pillow brings frames.
    """
    if depth != 8:
        raise PictureError(
            f"{name}: is an animation of {depth} bits; supported are its first frame, and further "
            "ones of 8 bits"
        )
    with PngImagePlugin.PngImageFile(io.BytesIO(data)) as image:
        image.seek(frame)
        through = image.mode == "RGBA" or "transparency" in image.info
        mode = image.mode if image.mode in ("L", "LA", "RGB") and not through else "RGBA"
        if image.mode == "P" and not through:
            mode = "RGB"
        return Picture(np.array(image.convert(mode)), 8, metadata)


def _shown(indexes: np.ndarray, chunks: list[Chunk], metadata: Metadata, name: str) -> Picture:
    """Replace the indexes of a palette by its colours."""
    contents = first(chunks, b"PLTE")
    if not contents or len(contents) % 3:
        raise damaged(name, "its palette is missing or cut off")
    colours = np.frombuffer(contents, np.uint8).reshape(-1, 3)
    if int(indexes.max()) >= len(colours):
        raise damaged(name, f"uses colour {indexes.max()} of a palette of {len(colours)} colours")
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
    samples = colours[indexes]
    return Picture(samples[..., 0] if colours.shape[1] == 1 else samples, 8, metadata)


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


def _narrowed(samples: np.ndarray, depth: int, stated: bytes | None, metadata: Metadata) -> Picture:
    """Shift samples down to the depth in sBIT, if the lower bits are 0 or repeat the upper ones."""
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
