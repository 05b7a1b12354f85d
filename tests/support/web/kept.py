"""JPEG files of each kind that tests keep in mmp files."""

import io
import struct

import numpy as np
from PIL import Image

from mmpcodec.pictures import kept_jpeg

SHAPE = 61, 83


def samples(planes):
    """Smooth samples with noise, (61, 83) or (61, 83, planes)."""
    rows, columns = np.indices(SHAPE)
    made = [
        128 + 60 * np.sin(rows / (7 + 3 * k)) + 50 * np.cos(columns / (5 + k)) for k in (0, 1, 2)
    ]
    noise = np.random.default_rng(1).normal(0, 6, (*SHAPE, 3))
    whole = (np.stack(made, axis=2) + noise).clip(0, 255).astype(np.uint8)
    return whole[..., 0] if planes == 1 else whole


def jpeg(planes=3, kind="JPEG", of=None, **options):
    """A JPEG file of these samples, or of others."""
    stream = io.BytesIO()
    Image.fromarray(samples(planes) if of is None else of).save(stream, kind, **options)
    return stream.getvalue()


def mmp_of(file, form=2, **options):
    """The mmp file that keeps a JPEG file."""
    return kept_jpeg.encode(file, form, **options).encoding.data


def exif(turn, thumbnail=b""):
    """The segment EXIF with an orientation, and with a JPEG file as thumbnail."""
    entry = struct.pack("<HHIHH", 274, 3, 1, turn, 0)
    first = b"II*\0" + struct.pack("<IH", 8, 1) + entry + bytes(2)
    if not thumbnail:
        return b"Exif\0\0" + first + bytes(4)
    place = len(first) + 4
    start = place + 2 + 2 * 12 + 4
    more = struct.pack("<H", 2)
    more += struct.pack("<HHII", 513, 4, 1, start) + struct.pack("<HHII", 514, 4, 1, len(thumbnail))
    return b"Exif\0\0" + first + struct.pack("<I", place) + more + bytes(4) + thumbnail


def profile(space):
    """A profile of a colour space, of which only the space is there."""
    return bytes(16) + space + bytes(108)


def inks():
    """A file of four components."""
    stream = io.BytesIO()
    Image.fromarray(samples(3)).convert("CMYK").save(stream, "JPEG")
    return stream.getvalue()


FILES = {
    "gray": jpeg(1),
    "colour": jpeg(3, quality=90),
    "progressive": jpeg(3, progressive=True, subsampling=0, quality=95),
    "thumbnail": jpeg(3, exif=exif(6, jpeg(of=samples(3)[::4, ::4])), icc_profile=profile(b"RGB ")),
    "gray profile": jpeg(1, icc_profile=profile(b"RGB "), dpi=(300, 150), comment=b"said"),
    "inks": inks(),
    "cut off": jpeg(3)[:1500],
}
