"""Small JPEG files of each kind, and damaged ones."""

import io

import numpy as np
from PIL import Image
from skimage import data


def made(samples, mode=None, **options):
    """Return a JPEG file that Pillow writes."""
    file = io.BytesIO()
    picture = Image.fromarray(samples)
    (picture.convert(mode) if mode else picture).save(file, "JPEG", **options)
    return file.getvalue()


def photograph(side=96):
    """Return a part of a photograph in colours."""
    return np.ascontiguousarray(data.astronaut()[40 : 40 + side, 150 : 150 + side + 21])


def with_thumbnail():
    """Return a file that has another one in its EXIF."""
    exif = Image.Exif()
    exif[0x010F] = "maker"
    small = made(photograph(40))
    return made(photograph(), exif=exif.tobytes()[:-4] + b"\0\0\0\0" + small)


def files(side=96):
    """Return files of each kind by their names; their pictures have ``side`` rows."""
    whole, gray = photograph(side), photograph(side)[:, :, 1]
    return {
        "4:4:4": made(whole, subsampling=0, quality=92),
        "4:2:2": made(whole, subsampling=1, quality=75),
        "4:2:0": made(whole, subsampling=2, quality=85, optimize=True),
        "gray": made(gray, quality=95),
        "progressive": made(whole, progressive=True, quality=80),
        "progressive gray": made(gray, progressive=True, quality=97),
        "restarts": made(whole, restart_marker_blocks=3),
        "restarts, progressive": made(whole, restart_marker_rows=1, progressive=True),
        "four components": made(whole, "CMYK", quality=80),
        "large steps": made(whole, quality=3),
        "small steps": made(whole, quality=100, subsampling=0),
        "one pixel": made(whole[:1, :1]),
        "thumbnail": with_thumbnail(),
    }


def changed(file, choices):
    """Return a file with some bits changed, and bytes gone, new or twice there."""
    found = bytearray(file)
    for _ in range(choices.randint(1, 6)):
        place = choices.randrange(len(found))
        kind = choices.randrange(4)
        if kind == 0:
            found[place] ^= 1 << choices.randrange(8)
        elif kind == 1:
            del found[place : place + choices.randint(1, 20)]
        elif kind == 2:
            found[place:place] = choices.randbytes(choices.randint(1, 20))
        else:
            found[place:place] = found[:place][-200:]
    return bytes(found)
