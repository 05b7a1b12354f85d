"""JPEG files that are kept, for ``coding.py``: files of Pillow, joined, cut and damaged.

Each file must come back byte by byte, with any number of threads, and its samples must be those of
Pillow.
"""

import functools
import io
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from makers import jpeg
from parts import exif
from parts.choices import Choices
from parts.samples import picture
from PIL import Image, ImageFile

import mmpcodec
from mmpcodec import LimitExceeded, MmpError, UnreadableJpeg
from mmpcodec.pictures import kept_jpeg, registry
from mmpcodec.pictures.compressed.jpeg import metadata_of

ImageFile.MAXBLOCK = 1 << 20  # Pillow fails at noise that is larger than its buffer
_MOST_SIDE = 200
_MODES = {1: ("L",), 3: ("RGB", "RGB", "YCbCr"), 4: ("CMYK",)}
_EFFORTS = (1, 2, 6)
_FAULTS: tuple[type[BaseException], ...] = (
    OSError,
    SyntaxError,
    ValueError,
    KeyError,
    Image.DecompressionBombError,
)
"""What Pillow raises of a file that it cannot read."""


class Kept(NamedTuple):
    """A JPEG file, whether Pillow wrote it as it is, and its mmp file."""

    file: bytes
    whole: bool
    data: bytes


def written(choices: Choices) -> bytes:
    """Return a JPEG file that Pillow writes of a random picture."""
    samples, depth = picture(choices, _MOST_SIDE)
    if samples.ndim == 3 and samples.shape[2] == 2:
        samples = samples[..., 0]
    samples = samples >> depth - 8 if depth > 8 else samples * (255 // ((1 << depth) - 1))
    mode = choices.choice(_MODES[samples.shape[2] if samples.ndim == 3 else 1])
    stream = io.BytesIO()
    Image.fromarray(samples.astype(np.uint8), mode).save(stream, "JPEG", **_options(choices, mode))
    return stream.getvalue()


def _options(choices: Choices, mode: str) -> dict[str, Any]:
    """Return options of Pillow."""
    options: dict[str, Any] = {
        "quality": choices.choice((1, 10, 50, 75, 90, 95, 100, choices.randint(1, 100))),
        "progressive": choices.once_in(3),
        "optimize": choices.once_in(3),
    }
    if mode != "L":
        options["subsampling"] = choices.choice((0, 1, 2))
    if choices.once_in(4):
        name = choices.choice(("restart_marker_blocks", "restart_marker_rows"))
        options[name] = choices.choice((1, 2, 7, 100))
    if choices.once_in(8):
        most = 255 if options["progressive"] else choices.choice((2, 255, 1000))
        options["qtables"] = [[choices.randint(1, most) for _ in range(64)] for _ in range(2)]
    if choices.once_in(3):
        options["exif"] = b"Exif\0\0" + _exif(choices)
    if choices.once_in(6):
        options["icc_profile"] = choices.content(choices.choice((0, 10, 500, 70000)))
    if choices.once_in(6):
        options["comment"] = choices.content(choices.choice((0, 9, 3000)))
    return options


def _exif(choices: Choices) -> bytes:
    """Return a structure of EXIF, some with a JPEG file behind it."""
    found = exif.structure(choices)[:30000]
    if choices.once_in(2):
        found += jpeg.any_valid(choices, 16, 24)
    return found


def file_of(choices: Choices) -> tuple[bytes, bool]:
    """Return a JPEG file, and whether Pillow wrote it as it is."""
    kind = choices.randrange(12)
    if kind == 0:
        return jpeg.make(choices), False
    file = b"".join(written(choices) for _ in range(choices.choice((1, 1, 1, 2, 3))))
    junk = choices.content(choices.choice((1, 50, 5000)))
    changes: dict[int, Callable[[], bytes]] = {
        1: lambda: file[: choices.randint(1, len(file))],
        2: lambda: file + junk,
        3: lambda: junk + file,
        4: lambda: file[:2] + junk + file[2:],
        5: lambda: choices.damage(file),
        6: lambda: choices.damage(choices.damage(file)),
    }
    return (changes[kind](), False) if kind in changes else (file, True)


@functools.lru_cache(maxsize=1)
def source(recipe: str) -> tuple[bytes, bool]:
    """Return the JPEG file of a recipe, and whether Pillow wrote it as it is."""
    return file_of(Choices(recipe))


def _encoded(choices: Choices, file: bytes, threads: int) -> bytes:
    """Keep a file by the library, or by a form that is named."""
    if file.startswith(registry.JPEG_START) and choices.once_in(2):
        options: dict[str, Any] = {"effort": choices.choice(_EFFORTS), "threads": threads}
        return mmpcodec.encode_file(file, 0, verify=choices.once_in(2), **options)
    form = choices.randint(1, 3)
    return kept_jpeg.encode(file, form, threads=threads, verify=False).encoding.data


def fault_of(recipe: str) -> str:
    """Return what is wrong with the mmp file of a recipe's JPEG file, or ""."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _fault_of(recipe)


def _fault_of(recipe: str) -> str:
    choices = Choices(f"{recipe} checks")
    file, whole = source(recipe)
    if not file:
        return ""
    threads = choices.randint(1, 8)
    how = choices.getrandbits(32)
    data = _encoded(Choices(f"{recipe} {how}"), file, threads)
    if mmpcodec.kept_file(data, threads=choices.randint(1, 8)) != file:
        return "another JPEG file comes back"
    if len(data) > len(file) + 64:
        return "the mmp file is larger than the JPEG file"
    if choices.once_in(4) and _encoded(Choices(f"{recipe} {how}"), file, 1) != data:
        return "threads change the file"
    if finding := _of_samples(Kept(file, whole, data), threads):
        return finding
    if whole and mmpcodec.inspect(data).header.metadata != metadata_of(file, ""):
        return "the metadata is not that of the JPEG file"
    return _undetected(choices, file, data) if choices.once_in(8) else ""


def _of_samples(kept: Kept, threads: int) -> str:
    """Compare the samples with those of Pillow; return what is wrong."""
    try:
        with Image.open(io.BytesIO(kept.file), formats=["JPEG"]) as image:
            image.load()
            want = np.array(image.convert("RGB") if image.mode == "CMYK" else image)
    except _FAULTS:
        want = None
    try:
        found = mmpcodec.decode(kept.data, threads=threads)
    except (UnreadableJpeg, LimitExceeded):  # a broken frame can say that a picture is huge
        return "Pillow reads samples that decoding refuses" if kept.whole else ""
    # Of a file that is cut off, decoding makes up the samples that Pillow refuses.
    same = want is None or np.array_equal(found, want)
    return "" if same else "samples are not those of Pillow"


def _undetected(choices: Choices, file: bytes, data: bytes) -> str:
    """Change a bit or cut an mmp file; return what is wrong if another file comes back."""
    damaged = bytearray(data)
    damaged[choices.randrange(len(data))] ^= 1 << choices.randrange(8)
    try:
        if mmpcodec.kept_file(bytes(damaged)) != file:
            return "a damaged file gives another JPEG file"
    except MmpError:
        pass
    try:
        mmpcodec.kept_file(data[: choices.randrange(len(data))])
    except MmpError:
        return ""
    return "a file that is cut decodes"
