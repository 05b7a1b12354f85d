"""The independent decoder gives back JPEG files that the library keeps."""

import io

import numpy as np
import pytest
from independent.container import decode
from independent.jpeg.kept import parts_of, rebuilt
from jpegs import encoded
from PIL import Image
from skimage import data

from mmpcodec import _cpu
from mmpcodec.pictures import kept_jpeg

MOST = 2**22


def made(samples, mode=None, **options):
    file = io.BytesIO()
    picture = Image.fromarray(samples)
    (picture.convert(mode) if mode else picture).save(file, "JPEG", **options)
    return file.getvalue()


def photograph(height=20, width=24):
    return np.ascontiguousarray(data.astronaut()[40 : 40 + height, 150 : 150 + width])


def with_thumbnail():
    exif = Image.Exif()
    exif[0x010F] = "maker"
    small = made(photograph(10, 12))
    return made(photograph(), exif=exif.tobytes()[:-4] + bytes(4) + small)


def noise():
    samples = np.random.default_rng(5).integers(0, 2, (8, 16, 3), np.uint8)
    return made(255 * samples, quality=100, subsampling=0)


def waves():
    """Equal blocks, which have one level to refine each."""
    wave = 128 + 90 * np.cos((2 * np.arange(32) + 1) * np.pi / 16)
    return made(np.tile(wave, (8, 1)).astype(np.uint8), progressive=True, quality=50)


FILES = {
    "4:4:4": made(photograph(), subsampling=0, quality=92),
    "4:2:2": made(photograph(), subsampling=1, quality=75),
    "4:2:0": made(photograph(41, 47), subsampling=2, quality=80, optimize=True),
    "gray": made(photograph()[:, :, 1], quality=95),
    "progressive": made(photograph(), progressive=True, quality=90),
    "waves": waves(),
    "restarts": made(photograph(), restart_marker_blocks=2),
    "four components": made(photograph(), "CMYK", quality=80),
    "large levels": noise(),
    "one pixel": made(photograph()[:1, :1]),
    "thumbnail": with_thumbnail(),
}
FILES |= {
    "cut": FILES["progressive"][:-100],
    "others behind": FILES["gray"] + bytes(range(99)) + FILES["one pixel"] + b"\xff\xd8\xff",
    "no JPEG": b"\xff\xd8\xff" + bytes(range(60)),
}


IN_ALL_FORMS = "4:2:0", "gray", "progressive", "four components", "large levels"
"""The other files are coded in one form each, by turns."""
PAIRS = [
    (name, form)
    for number, name in enumerate(FILES)
    for form in (1, 2, 3)
    if name in IN_ALL_FORMS or form == 1 + number % 3
]


@pytest.mark.parametrize(("name", "form"), PAIRS)
def test_gives_back_the_file(name, form):
    found, facts = decode(encoded(FILES[name], form))
    assert found == FILES[name]
    header = kept_jpeg.header_of(FILES[name])
    assert (facts["width"], facts["height"]) == (header.width, header.height)


def with_parts(file, **parts):
    """The file of the same levels whose scans have other parts."""
    payload, *_ = _cpu.encode_jpeg(file, 1, 1, 2 * MOST)
    description, rest = parts_of(payload, len(file))
    for _, _, details in description.scans:
        for name, value in parts.items():
            setattr(details, name, value)
    return rebuilt(description, rest, 1, MOST)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("restarts", {"padding": 1}),
        ("restarts", {"padding": 2, "bits": [1, 0, 0, 1, 0, 1, 1, 0, 1] * 4}),
        ("progressive", {"padding": 2, "bits": [1, 0, 0], "longest_run": 2, "begins": {1, 4}}),
        ("gray", {"zeros": {1: 1, 2: 2}}),
        ("progressive", {"zeros": {1: 3}}),
        ("waves", {"most_bits": 1}),
    ],
)
def test_gives_back_scans_that_are_coded_in_other_ways(name, parts):
    file = with_parts(FILES[name], **parts)
    assert file != FILES[name]
    coded = kept_jpeg.encode(file, 1, verify=False)
    assert decode(coded.encoding.data)[0] == file
