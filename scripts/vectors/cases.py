"""Pictures and parameters of the conformance vectors: presets, planes, depths, tiles, metadata."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from mmpcodec import EncodeParams
from mmpcodec.metadata import Metadata, Resolution

ROOT = Path(__file__).parents[2]
Case = tuple[str, np.ndarray, EncodeParams, dict[str, Any]]
"""Name, picture, parameters and further options of a vector."""

parameters = partial(EncodeParams.from_options, tune="psnr")
READ_ALIKE: dict[str, Any] = {"initial_states": False}
"""With these tools, a payload has the same syntax at each step."""


def shipped(name: str) -> np.ndarray:
    """Return a picture of images/ as an (H, W) uint8 array."""
    with Image.open(ROOT / "images" / name) as picture:
        return np.asarray(picture)


def cases() -> Iterator[Case]:
    """Yield the cases of presets, planes, depths, tiles and metadata."""
    for case in (*of_trees(), *of_blocks(), *limits_of_trees()):
        yield *case, {}
    yield from of_planes()
    yield from of_depths()
    yield from of_tiles()
    yield from of_metadata()


def of_trees() -> Iterator[tuple[str, np.ndarray, EncodeParams]]:
    """Yield the cases of trees, of 8-bit gray in one tile."""
    params = partial(parameters, preset="plain")
    steps = 6 * np.arange(40, dtype=np.uint8)
    ramp = (5 * np.arange(33)[:, None] + 3 * np.arange(17)).astype(np.uint8)
    noise = np.random.default_rng(1).integers(0, 256, (32, 32), np.uint8)
    camera = shipped("camera.pgm")[96:144, 208:256]
    terminal = shipped("terminal.pgm")[8:32, 8:48]
    page = shipped("page.pgm")[40:88, 40:104]

    yield "one-pixel", np.array([[77]], np.uint8), params(32)
    yield "one-row", steps[None, :], params(8)
    yield "one-column-classic", steps[:, None], params(8, preset="classic")
    yield "ramp-dyadic", ramp, params(8, partition="dyadic")
    yield "ramp-coarse", ramp, params(512)
    yield "flat", np.full((32, 48), 200, np.uint8), params(32)
    yield "noise-lossless", noise, params(0)
    yield "noise-full-dictionary", noise, params(8, dictionary_limit=256)
    yield "text", terminal, params(32)
    yield "text-lossless-classic", terminal, params(0, preset="classic")
    yield "text-displaced", page, params(32, displaced_blocks=1)
    yield "text-every-place", terminal, params(64, displaced_blocks=4, dictionary_limit=1024)
    yield "text-preset", page, params(32, preset="text")
    yield "camera", camera, params(32)
    yield "camera-classic", camera, params(32, preset="classic")
    yield "camera-dyadic-classic", camera, params(8, preset="classic", partition="dyadic")
    yield "camera-log2", camera, params(32, rate_model="log2", copy_radius=1)
    yield "camera-coarse", camera, params(512)
    yield "camera-small-dictionary", camera, params(8, dictionary_limit=300)
    yield "camera-redundancy-radius", camera, params(8, redundancy_radius=100)
    yield "camera-replacement", camera, params(8, dictionary_limit=300, replacement=True)
    yield (
        "camera-all-dictionary-tools",
        camera,
        params(
            16,
            partition="dyadic",
            dictionary_limit=300,
            displaced_blocks=3,
            redundancy_radius=32,
            replacement=True,
        ),
    )
    slopes = (60 + np.abs(np.arange(600) % 160 - 80)).astype(np.uint8)
    coat = shipped("camera.pgm")[200:296, 60:172]
    yield "filter-all-classes", coat, params(16)
    yield "filter-off", coat, params(16, post_filter=False)
    yield "filter-one-column", slopes[:, None], params(8)


def of_blocks() -> Iterator[tuple[str, np.ndarray, EncodeParams]]:
    """Yield the cases of predicted blocks, mixed blocks and lossless samples of 8-bit gray."""
    camera = shipped("camera.pgm")[96:144, 208:256]
    coat = shipped("camera.pgm")[200:296, 60:172]
    noise = np.random.default_rng(1).integers(0, 256, (32, 32), np.uint8)
    photo = partial(parameters, preset="photo", effort=1)
    yield "photo-one-pixel", np.array([[77]], np.uint8), photo(32)
    yield "photo-flat", np.full((32, 48), 200, np.uint8), photo(32)
    yield "photo-odd-size", coat[:67, :85], photo(12)
    yield "photo-fragments-16", coat[:50, :70], photo(24, fragment_size=16)
    yield "photo-least-step", camera, photo(0.001, fragment_size=32, step=1)
    yield "photo-largest-step", camera, photo(2**20, step=65535)
    yield "photo-noise", noise, photo(4)
    yield "photo-unfiltered", camera, photo(32, post_filter=False)
    thread = np.random.default_rng(2).integers(40, 216, (6, 9))
    i, j = np.indices((70, 93))
    woven = thread[(i + j // 11) % 6, (j + i // 7) % 9].astype(np.uint8)
    yield "photo-templates", woven, photo(48, **READ_ALIKE)
    yield "photo-one-template", woven[:45, :50], photo(90, fragment_size=16, templates=1)
    yield "photo-without-templates", woven[:45, :50], photo(90, templates=0)
    letters = np.random.default_rng(5).integers(0, 2, (25, 28)) * 255
    glyphs = np.kron(letters, np.ones((3, 3), np.int64)).astype(np.uint8)
    yield "photo-glyphs", glyphs, photo(4, fragment_size=16)
    mixed = partial(parameters, preset="mixed", effort=1)
    both = np.hstack([shipped("terminal.pgm")[8:56, 8:104], camera[:, :24]])
    yield "mixed-one-pixel", np.array([[77]], np.uint8), mixed(32)
    yield "mixed-preset", both, mixed(48)
    yield "mixed-odd-size", both[:43, 7:114], mixed(30)
    yield "mixed-fragments-16", both, mixed(60, fragment_size=16)
    yield "mixed-fragments-64", np.vstack([both, both[::-1]]), mixed(60, fragment_size=64)
    yield (
        "mixed-all-tools",
        both,
        mixed(
            20,
            rate_model="log2",
            partition="dyadic",
            dictionary_limit=300,
            displaced_blocks=3,
            redundancy_radius=32,
            templates=2,
        ),
    )
    yield (
        "mixed-plain",
        both[:45],
        mixed(
            40,
            index_classes=False,
            flag_contexts=False,
            copy_radius=8,
            displaced_blocks=0,
            redundancy_radius=0,
            replacement=False,
        ),
    )
    exact = parameters(0, preset="lossless")
    yield "lossless-one-pixel", np.array([[77]], np.uint8), exact
    yield "lossless-noise", noise, exact
    yield "lossless-few-values", np.kron(noise[:9, :8] & 0xC0, np.ones((4, 5), np.uint8)), exact
    dots = np.zeros((16, 40), np.uint8)
    dots[12, ::3] = 1
    dots[0, 0] = 3
    yield "lossless-dots", dots, exact


def limits_of_trees() -> Iterator[tuple[str, np.ndarray, EncodeParams]]:
    """Yield the cases that reach a limit of trees that other cases do not reach."""
    params = partial(parameters, preset="plain")
    camera = shipped("camera.pgm")[96:136, 208:248]

    # No two neighbours are equal, so all 69632 leaves are 1x1. Each adds 2 to the total of one
    # model, which exceeds the limit of 2**17.
    i, j = np.indices((256, 272))
    rare = np.random.default_rng(7).random(i.shape) < 0.03
    chequered = np.where((i + j) % 2, 200 + 12 * rare, 40 + 8 * rare).astype(np.uint8)
    least = partial(params, partition="dyadic", dictionary_limit=256, copy_radius=0)
    yield "trees-counts-halved", chequered, least(0, post_filter=False)
    yield (
        "replacement-without-room",
        camera[:32, :32],
        params(8, dictionary_limit=256, replacement=True),
    )
    # "last-look" finds an element at the 64th look; "in-vain" would need a 65th look.
    for name, seed in (("last-look", 225), ("in-vain", 81)):
        few = np.random.default_rng(seed).integers(0, 12, (40, 40)).astype(np.uint8) * 21
        full = params(0, dictionary_limit=364, replacement=True, copy_radius=0)
        yield f"replacement-{name}", few, full
    yield (
        "replacement-in-cells",
        camera,
        params(4, dictionary_limit=270, replacement=True, redundancy_radius=300),
    )


def of_planes() -> Iterator[Case]:
    """Yield the cases of colours and alpha of 8 bits."""
    colours, alpha, _, screen = parts()
    letters = screen[..., 0]
    photo = partial(parameters, preset="photo", effort=1)
    exact = parameters(0, preset="lossless")
    yield "rgb-photo", colours, photo(30), {}
    yield "rgb-text", screen, parameters(30, preset="text"), {}
    yield "rgb-mixed", screen, parameters(60, preset="mixed", effort=1), {}
    yield "rgb-text-lossless", screen[:20, :20], parameters(0, preset="text"), {}
    yield "rgb-lossless", colours[:15, :20], exact, {}
    yield "rgb-saturated", 255 * (colours > 128).astype(np.uint8), photo(4), {}
    yield "rgba-photo", np.dstack([colours, alpha])[:40, :50], photo(60), {}
    yield "rgba-lossless", np.dstack([colours, alpha])[:15, :20], exact, {}
    yield "gray-alpha-photo", np.dstack([colours[..., 0], alpha]), photo(60), {}
    yield "gray-alpha-text", np.dstack([letters, letters]), parameters(40, preset="text"), {}
    yield "gray-alpha-lossless", np.dstack([colours[..., 0], alpha])[:15, :40], exact, {}
    green = np.random.default_rng(5).integers(0, 256, (12, 16, 3), np.uint8)
    green[..., 1] = 77
    yield "rgb-lossless-constant-green", green, exact, {}


def parts() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return a picture of colours, its alpha, a picture of 16 bits, and a part of a screen."""
    rng = np.random.default_rng(3)
    i, j = np.indices((70, 90))
    shade = np.stack([2 * i + j, 200 - i, (3 * j + 40 * (i > j)) % 256], axis=2)
    colours = (shade + rng.integers(0, 4, shade.shape)).clip(0, 255).astype(np.uint8)
    alpha = (255 * ((i - 35) ** 2 + (j - 45) ** 2 < 900)).astype(np.uint8)
    deep = (shade[..., 0].astype(np.uint32) * 65535) // 300 + rng.integers(0, 40, i.shape)
    letters = shipped("terminal.pgm")[8:40, 8:56]
    screen = np.stack([letters, letters // 2, 255 - letters], axis=2)
    return colours, alpha, deep.astype(np.uint16), screen


def of_depths() -> Iterator[Case]:
    """Yield the cases of other depths than 8."""
    colours, _, deep, screen = parts()
    photo = partial(parameters, preset="photo", effort=1)
    exact = parameters(0, preset="lossless")
    for depth in (9, 12, 16):
        yield f"gray-{depth}-photo", deep[:53, :66] >> (16 - depth), photo(30), {"depth": depth}
    for depth in (1, 4):
        own = colours[:24, :30, 0] >> (8 - depth)
        yield f"gray-{depth}-photo", own, photo(20), {"depth": depth}
    for depth in (2, 7):
        own = colours[:12, :30, 0] >> (8 - depth)
        yield f"gray-{depth}-lossless", own, exact, {"depth": depth}
    yield "gray-9-lossless", deep[:12, :30] >> 7, exact, {"depth": 9}
    letters = screen[..., 0] >> 7
    yield "gray-1-text-lossless", letters, parameters(0, preset="text"), {"depth": 1}
    wide = np.stack([deep, deep[::-1], 65535 - deep], axis=2)
    yield "rgb-16-photo", wide[:40, :50], photo(40), {"depth": 16}
    yield "rgb-5-photo", colours[:40, :50] >> 3, photo(20), {"depth": 5}
    yield "rgba-16-photo", np.dstack([wide, deep])[:24, :30], photo(90), {"depth": 16}
    yield "rgba-10-lossless", np.dstack([wide, deep])[:8, :20] >> 6, exact, {"depth": 10}
    yield from limits_of_depth()


def limits_of_depth() -> Iterator[Case]:
    """Yield the cases of 16 bits that reach a limit that other cases do not reach."""
    exact = parameters(0, preset="lossless")
    deep = parts()[2]
    photo = partial(parameters, preset="photo", effort=1)
    yield (
        "saturated-16-photo",
        65535 * (deep[:40, :50] & 1),
        photo(2, **READ_ALIKE),
        {"depth": 16},
    )
    rng = np.random.default_rng(5)
    i, j = np.indices((48, 60))
    thread = rng.integers(40, 216, (6, 9))
    woven = 256 * thread[(i + j // 11) % 6, (j + i // 7) % 9] + rng.integers(0, 700, i.shape)
    yield "templates-16", woven.astype(np.uint16), photo(20, fragment_size=16), {"depth": 16}
    i, j = np.indices((28, 22))
    stripes = 65535 * (i % 2)
    stripes[20:] = np.random.default_rng(2).integers(0, 65535, (8, 22))
    yield "lossless-stripes-16", stripes.astype(np.uint16), exact, {"depth": 16}
    rng = np.random.default_rng(12)
    chequers = 65535 * ((i[:26] + j[:26]) % 2)
    chequers[20:] = rng.integers(0, 65535, (6, 22))
    chequers[rng.integers(20), rng.integers(22)] = rng.integers(65536)
    yield "lossless-chequers-16", chequers.astype(np.uint16), exact, {"depth": 16}
    noise = np.random.default_rng(1).integers(0, 65536, (8, 8))
    yield "lossless-noise-16", noise.astype(np.uint16), exact, {"depth": 16}


def of_tiles() -> Iterator[Case]:
    """Yield the cases of several tiles."""
    colours, _, deep, screen = parts()
    photo, text = parameters(60, preset="photo", effort=1), parameters(60, preset="text", effort=1)
    yield "tiles-photo", shipped("camera.pgm")[:150, 60:200], photo, {"tile_size": 64}
    both = np.hstack([colours[:64, :64], screen.repeat(2, 0)])
    either = replace(photo, candidates=(text.tools,))
    yield "tiles-of-other-tools", both, either, {"tile_size": 64}
    row = np.arange(200, dtype=np.uint8)[None, :]
    yield "tiles-one-row", row, parameters(8, preset="plain"), {"tile_size": 64}
    coat = shipped("camera.pgm")[:70, 60:130]
    alpha = np.where(np.add.outer(range(70), range(70)) % 45 < 10, 0, 200).astype(np.uint8)
    coarse = parameters(400, preset="photo", effort=1)
    coloured = np.dstack([coat, coat[::-1], coat[:, ::-1], alpha])
    yield "tiles-alpha", coloured, coarse, {"tile_size": 64}
    yield "tiles-deep", 16 * coat.astype(np.uint16), coarse, {"depth": 12, "tile_size": 64}
    exact = parameters(0, preset="lossless")
    yield "tiles-lossless-12", deep[:65, :66] >> 4, exact, {"depth": 12, "tile_size": 64}


def of_metadata() -> Iterator[Case]:
    """Yield the cases of metadata."""
    exact = parameters(0, preset="lossless")
    flat = np.full((16, 16), 9, np.uint8)
    full = Metadata(
        icc=bytes(range(256)),
        exif=b"MM\0*\0\0\0\x08\0\1\1\x12\0\3\0\0\0\1\0\6\0\0\0\0\0\0",
        xmp=b"<x:xmpmeta xmlns:x='adobe:ns:meta/'/>",
        resolution=Resolution(Fraction(300), Fraction(1200, 7), "inch"),
        text=(("Title", "Größe"), ("Comment", ""), ("Comment", "twice")),
        white=200,
    )
    yield "metadata-all", flat, exact, {"metadata": full}
    attributes = Metadata(icc=b"profile", dicom=(b"\0own", b"\1samples", b"\0shared"))
    yield "metadata-dicom", flat, exact, {"metadata": attributes}
    for unit in ("none", "centimetre", "metre"):
        kept = Metadata(resolution=Resolution(Fraction(2835), Fraction(2835), unit))
        yield f"metadata-unit-{unit}", flat, exact, {"metadata": kept}
