"""Pictures and parameters of the conformance vectors, tool by tool."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from cases import Case, parameters, shipped

from mmpcodec import EncodeParams
from mmpcodec.reference.filters.fixed import value_of
from mmpcodec.reference.lossless.source_colours.colours import (
    JPEG,
    PHOTO_CD,
    SourceColours,
    interpolated,
    to_pixels,
)
from mmpcodec.tools import BLOCK_TOOLS

_ALWAYS = "fragment_size", "templates", "step", "dictionary", "post_filter"
OFF: dict[str, Any] = {
    name: tool.default for name, tool in BLOCK_TOOLS.items() if name not in _ALWAYS
}
"""All tools of predicted blocks that can be off, off."""


def of_tools() -> Iterator[Case]:
    """Yield the cases of the tools of predicted blocks and of lossless samples."""
    yield from of_two_values()
    yield from of_source_colours()
    yield from of_repeating_pixels()
    photo = partial(parameters, preset="photo", effort=1)
    coat = shipped("camera.pgm")[200:296, 60:172]
    i, j = np.indices((130, 140))
    slope = (40 + (3 * i + 2 * j) // 5).astype(np.uint8)
    step = np.where(i > j, slope, 90).astype(np.uint8)

    for own in (
        "pdpc",
        "initial_states",
        "dependent",
        "ternary",
        "fine_contexts",
        "trained_transforms",
        "border_sines",
        "transform_skip",
    ):
        yield own.replace("_", "-"), coat[:67, :85], photo(24, **{**OFF, own: True}), {}
    for lam in (0.5, 6, 200):
        yield f"dependent-{lam}", coat[:40, :48], photo(lam, **{**OFF, "dependent": True}), {}
    yield "dependent-step-1", coat[:18, :20], photo(1, **{**OFF, "dependent": True}, step=1), {}
    yield "dependent-step-65535", step, photo(900, dependent=True, step=65535), {}
    for lam in (0.5, 200):
        fine = photo(lam, **{**OFF, "fine_contexts": True, "dependent": lam < 1})
        yield f"fine-contexts-{lam}", coat[:40, :48], fine, {}
    for lam in (0.5, 200):
        switched = photo(lam, **{**OFF, "trained_transforms": True, "dependent": lam < 1})
        yield f"trained-transforms-{lam}", coat[:40, :48], switched, {}
    yield "trained-transforms-all", coat[:70, :70], photo(24, trained_transforms=True), {}
    deep_slope = (step.astype(np.uint16) << 8) + (i % 256).astype(np.uint16)
    turned = photo(900, **{**OFF, "trained_transforms": True})
    yield "trained-transforms-depth-16", deep_slope, turned, {"depth": 16}
    skips: dict[str, Any] = {**OFF, "transform_skip": True}
    yield "transform-skip-0.5", coat[:40, :48], photo(0.5, **skips), {}
    every = photo(6, trained_transforms=True, transform_skip=True)
    yield "transform-skip-all", coat[:70, :70], every, {}
    yield "transform-skip-depth-16", deep_slope[:48, :56], photo(0.5, **skips), {"depth": 16}
    for strength in (1, 15):
        weighted = photo(12, **{**OFF, "quantisation_matrix": strength})
        yield f"quantisation-matrix-{strength}", coat[:67, :85], weighted, {}
    weighs: dict[str, Any] = {"quantisation_matrix": 6}
    yield "quantisation-matrix-large", step, photo(30, **weighs), {}
    yield "quantisation-matrix-all", coat[:70, :70], photo(6, trained_transforms=True, **weighs), {}
    yield "quantisation-matrix-depth-16", deep_slope, photo(0.5, **weighs), {"depth": 16}
    for lam in (4, 16, 48, 432, 1400):
        yield f"initial-states-{lam}", coat[:40, :48], photo(lam), {}
    yield "initial-states-large", step, photo(48), {}
    yield "pdpc-large-blocks", step, photo(900), {}
    stripes = (100 + 80 * (i // 3 % 2) + j // 7).astype(np.uint8)[:48, :64]
    yield "pdpc-stripes", stripes, photo(100), {}
    yield "pdpc-one-row", coat[:1], photo(8), {}
    deep = (coat[:53, :66].astype(np.uint16) << 4) + (i[:53, :66] % 16).astype(np.uint16)
    yield "pdpc-depth-12", deep, photo(30), {"depth": 12}
    colours = np.stack([coat, coat[::-1], 255 - coat], axis=2)[:40, :50]
    yield "pdpc-rgb", colours, photo(40), {}
    both = np.hstack([shipped("terminal.pgm")[8:53, 8:104], coat[:45, :24]])
    mixed = parameters(48, preset="mixed", effort=1)
    yield "pdpc-mixed", both, mixed, {}
    weighted = parameters(20, preset="mixed", effort=1, **weighs)
    yield "quantisation-matrix-mixed", both, weighted, {}
    yield "quantisation-matrix-rgb", colours, photo(10, **weighs), {}
    for size, large in ((16, coat), (32, step), (64, step)):
        asked = photo(60, **{**OFF, "ternary": True}, fragment_size=size)
        yield f"ternary-{size}", large[:75, :90], asked, {}
    yield "ternary-mixed", both, parameters(48, preset="mixed", effort=1, ternary=True), {}
    yield "ternary-all", coat[:70, :70], photo(24, ternary=True), {}
    yield "without-tools", coat[:40, :48], photo(24, **OFF), {}
    yield from of_earlier_planes(photo)
    yield from of_fine_layout(photo)
    yield from of_roi(photo)
    yield from of_levels()
    yield from of_lossless_samples()
    scales = value_of((3, 2, 1, 2, 3, 2, 1))
    for lam in (20, 100, 500):  # a step of each table
        yield f"fixed-filters-{lam}", coat[:43, :50], photo(lam, fixed_filters=scales), {}
    yield "fixed-filters-one-pixel", coat[:1, :1], photo(60, fixed_filters=scales), {}
    extremes = (65535 * (coat[:30, :37].astype(int) & 1)).astype(np.uint16)
    yield "fixed-filters-depth-16", extremes, photo(40, fixed_filters=scales), {"depth": 16}
    yield "tiles", coat, photo(60), {"tile_size": 64}


def of_roi(
    photo: Callable[..., EncodeParams],
) -> Iterator[Case]:
    """Yield the cases of pictures of which some parts matter more than others."""
    coat = shipped("camera.pgm")[240:274, 100:170]
    i, j = (np.asarray(each) for each in np.indices(coat.shape))
    seen = (i - 8) ** 2 + (j - 8) ** 2 < 7**2
    slope = (j // 2 - 12).astype(np.int8)
    extremes = np.where((i // 16 + j // 16) % 2, 24, -24).astype(np.int8)
    small = photo(60, fragment_size=16)

    def case(name: str, params: EncodeParams, roi: np.ndarray, width: int = 35) -> Any:
        part = np.s_[:20, :width]
        return f"delta-step-{name}", coat[part], params, {"roi": roi[part]}

    yield case("16", small, np.where(seen, 8, 0))
    yield case("64", photo(60), np.where(j < 64, 5, -3), 70)
    yield case("extremes", small, extremes)
    yield case("alone", photo(60, **OFF, fragment_size=16), slope)
    yield case("mixed", parameters(60, preset="mixed", effort=1), slope)
    deep = (coat[:20, :35].astype(np.uint16) << 8) + (i[:20, :35] % 256).astype(np.uint16)
    options = {"depth": 16, "roi": slope[:20, :35]}
    yield "delta-step-depth-16", deep, photo(20, fragment_size=16), options
    planes = coat, coat[::-1], 255 - coat, np.where(seen, 200, 0)
    colours = np.dstack(planes).astype(np.uint8)[:20, :35]
    yield "delta-step-hidden", colours, small, {"roi": slope[:20, :35]}
    yield "hidden", colours, small, {}


def of_fine_layout(
    photo: Callable[..., EncodeParams],
) -> Iterator[Case]:
    """Yield the cases of luma and chroma with two bits more than the picture."""
    head = shipped("camera.pgm")[100:148, 230:300]
    i, j = (np.asarray(each) for each in np.indices(head.shape))
    colours = np.stack([head, 255 - head // 2, (head // 3 + 2 * j).astype(np.uint8)], axis=2)
    yield "fine", colours, photo(8), {}
    primaries = (255 * (np.stack([i // 5, j // 6, (i + j) // 7], axis=2) % 2)).astype(np.uint8)
    yield "fine-extremes", primaries[:30, :37], photo(200), {}
    for depth in (9, 11, 14):
        deep = (colours.astype(np.uint16) << (depth - 8)) + (i[..., None] % 2).astype(np.uint16)
        yield f"fine-depth-{depth}", deep[:30, :37], photo(12 / 4 ** (depth - 8)), {"depth": depth}
    yield "fine-depth-1", colours[:30, :37] >> 7, photo(60), {"depth": 1}
    yield "fine-alpha", np.dstack([colours, (5 * i).astype(np.uint8)])[:30, :37], photo(30), {}


def of_earlier_planes(
    photo: Callable[..., EncodeParams],
) -> Iterator[Case]:
    """Yield the cases of planes that are predicted from earlier planes."""
    coat = shipped("camera.pgm")[200:296, 60:172]
    i, j = np.indices(coat.shape)
    stripes = (60 + 90 * ((i // 9 + j // 17) % 2)).astype(np.uint8)
    colours = np.stack([coat // 2 + stripes // 3, coat, coat // 3 + stripes], axis=2)
    alone = photo(
        60, **{**OFF, "cross_component": 2, "cross_component_filter": True}, post_filter=False
    )
    for planes in (1, 2):
        yield f"cross-component-{planes}", colours[:70, :75], photo(30, cross_component=planes), {}
    apart = np.dstack([coat[:60, 2:80], coat[:60, 1:79], coat[:60, :78]])
    yield "cross-component-filter", apart, photo(60), {}
    yield "cross-component-filter-depth-16", apart.astype(np.uint16) * 257, photo(60), {"depth": 16}
    yield "cross-component-filter-alone", apart, alone, {}
    yield "cross-component-rough", colours, photo(400), {}
    deep = (colours[:45, :66].astype(np.uint16) << 8) + np.add(i, j)[:45, :66, None].astype(
        np.uint16
    )
    yield "cross-component-depth-16", deep, photo(4), {"depth": 16}
    yield "cross-component-depth-4", colours[:40, :50] >> 4, photo(30), {"depth": 4}
    yield "cross-component-alpha", np.dstack([colours, stripes])[:33, :50], photo(50), {}
    yield "cross-component-gray-alpha", np.dstack([coat, stripes])[:33, :50], photo(50), {}
    yield "cross-component-tiles", colours[:70, :100], photo(50), {"tile_size": 64}
    yield "cross-component-thin", colours[:, :3], photo(20), {}
    mixed = partial(parameters, preset="mixed", effort=1)
    yield "cross-component-mixed", colours[:37, :50], mixed(40), {}


def of_levels() -> Iterator[Case]:
    """Yield pictures that use a part of the levels of their depth."""
    photo = partial(parameters, preset="photo", effort=1)
    coat = shipped("camera.pgm")[200:248, 60:116].astype(np.uint16)
    yield "levels-12-of-16", 31744 + 9 * coat, photo(30), {}
    yield "levels-8-of-16", 300 + coat // 2, photo(30), {}
    yield "levels-8-of-9", 256 + coat % 200, photo(8), {"depth": 9}
    shades = np.dstack([5000 + 3 * coat, 5100 + 2 * coat, 5900 - coat])
    yield "levels-of-colours", shades[:24, :40], photo(40), {}
    text = parameters(20, preset="text")
    yield "levels-of-trees", 60000 + coat[:24, :40] // 40 * 40, text, {}
    yield "levels-with-range", 31744 + 9 * coat, photo(30, range=(32000, 33000)), {}
    yield "levels-of-tiles", 31744 + 9 * np.tile(coat, (2, 2)), photo(30), {"tile_size": 64}
    lossless = parameters(preset="lossless", max_error=5, range=(100, 900))
    yield "range-of-lossless", 9 * coat[:24, :40], lossless, {}


def of_two_values() -> Iterator[Case]:
    """Yield the cases of planes of two values that are alone in their layers."""
    page = np.zeros((46, 90), np.uint8)
    letters = shipped("terminal.pgm")[8:22, 8:62] < 128
    page[2:16, 3:57] = page[18:32, 20:74] = letters
    page[30:44, 61:90] = 1
    page[34, 70] = page[37:39, 66:80] = 0
    for form in (1, 2, 3):
        tools = parameters(preset="lossless", lossless_form=form)
        yield f"two-values-{form}", page, tools, {"depth": 1}
    tools = parameters(preset="lossless", lossless_form=3)
    noise = np.random.default_rng(21).random((21, 43)) < 0.4
    yield "two-values-noise", np.where(noise, 7, 200).astype(np.uint8), tools, {}
    i, j = np.indices((40, 52))
    dots = (i + j) % 7 * 3 + (i - j) % 7 * 3 < (i // 2) % 36
    yield "two-values-halftone", dots.astype(np.uint8), tools, {"depth": 1}
    large = page.repeat(1 + np.arange(46) % 2, axis=0)[:, :45].repeat(2, axis=1)
    yield "two-values-enlarged", large, parameters(preset="lossless"), {"depth": 1}
    yield "two-values-column", noise[:, :1].astype(np.uint8), tools, {"depth": 1}


def of_source_colours() -> Iterator[Case]:
    """Yield the cases of RGB that was luma and chroma."""
    luma, shape = 60 + shipped("camera.pgm")[100:124, 60:90] // 2, (24, 30)
    rng = np.random.default_rng(5)
    both, in_rows, in_columns = (True, True), (True, False), (False, True)
    # Chroma far from gray clips some pixels, which need corrections.
    for name, colours, far in (
        ("jpeg", SourceColours(JPEG), 2),
        ("jpeg-columns", SourceColours(JPEG, in_columns), 2),
        ("jpeg-rows", SourceColours(JPEG, in_rows, (1, 0)), 2),
        ("jpeg-both", SourceColours(JPEG, both), 3),
        ("jpeg-phases", SourceColours(JPEG, both, (1, 1)), 1),
        ("photo-cd", SourceColours(PHOTO_CD), 1),
        ("photo-cd-both", SourceColours(PHOTO_CD, both, (0, 1)), 1),
    ):
        i, j = np.indices(colours.chroma_shape(shape))
        wave = 115 + 25 * colours.kind + 25 * far * np.sin(i / 3) * np.cos(j / 4)
        noisy = (wave + rng.integers(-4, 5, wave.shape) for _ in range(2))
        full = [interpolated(np.clip(each, 0, 255).astype(int), colours, shape) for each in noisy]
        green, red, blue = to_pixels(luma, full, colours.kind)
        pixels = np.dstack([red, green, blue]).astype(np.uint8)
        for effort in (1, 2, 6):
            if effort == 2 or name.endswith("both"):
                lossless = parameters(preset="lossless", effort=effort)
                yield f"source-{name}-{effort}", pixels, lossless, {}
        if name in ("jpeg", "jpeg-both"):
            alpha = np.dstack([pixels, luma // 2])
            yield f"source-{name}-alpha", alpha, parameters(preset="lossless"), {}


def of_repeating_pixels() -> Iterator[Case]:
    """Yield the cases of pixels that repeat: coloured letters beside noise, and letters alone."""
    letters = shipped("terminal.pgm")[8:44, 8:50]
    coloured = np.dstack([letters, letters // 2, 255 - letters])
    slopes = np.add.outer(np.arange(36), np.arange(70))[..., None]
    natural = slopes + np.random.default_rng(22).integers(0, 4, (36, 70, 3))
    beside = np.hstack([coloured[:, :32], natural.astype(np.uint8)])
    for form in (1, 2, 3):
        tools = parameters(preset="lossless", lossless_form=form)
        yield f"repeating-{form}", beside, tools, {}
    tools = parameters(preset="lossless", lossless_form=2)
    shades = np.dstack([coloured, letters ^ 255]).astype(np.uint16)[:20, :30] * 201
    yield "repeating-deep", shades, tools, {"depth": 16}
    i, j = np.indices((33, 40))
    slopes = np.dstack([i // 2 + j, 2 * j, 80 - i // 2]).astype(np.uint8)
    yield "repeating-slopes", slopes * (letters[:33, :40, None] < 128), tools, {}


def of_lossless_samples() -> Iterator[Case]:
    """Yield the cases of lossless samples."""
    lossless = partial(parameters, preset="lossless")
    coat = shipped("camera.pgm")[200:296, 60:172]
    i, j = (np.asarray(each) for each in np.indices(coat.shape))
    colours = np.dstack([coat[:7, 2:22], coat[:7, 1:21], 255 - coat[:7, :20]])
    letters = np.where((i // 3 * 7 + j // 4 * 5) % 11 < 3, 0, 255 - 40 * (j // 40))
    letters = letters.astype(np.uint8)
    for effort in (1, 2, 6):
        yield f"lossless-gray-{effort}", coat[:9, :43], lossless(effort=effort), {}
        yield f"lossless-colour-{effort}", colours, lossless(effort=effort), {}
        yield f"lossless-letters-{effort}", letters[:12, 20:52], lossless(effort=effort), {}
    for error in (1, 3, 40):
        yield f"lossless-error-{error}", colours, lossless(effort=2, max_error=error), {}
    for error in (1, 9):
        yield f"lossless-fast-error-{error}", colours, lossless(effort=1, max_error=error), {}
    deep = (coat.astype(np.uint16) << 8) + (i * j % 256).astype(np.uint16)
    for depth, effort in ((16, 6), (16, 1), (12, 2)):
        own = deep[:8, :26] >> (16 - depth)
        yield f"lossless-depth-{depth}-{effort}", own, lossless(effort=effort), {"depth": depth}
    yield "lossless-error-depth-16", deep[:8, :26], lossless(max_error=300), {"depth": 16}
    yield "lossless-depth-1", coat[:12, :40] >> 7, lossless(), {"depth": 1}
    alpha = np.dstack([colours, (5 * i[:7, :20]).astype(np.uint8)])[:5]
    yield "lossless-alpha", alpha, lossless(effort=6), {}
    yield "lossless-two-planes", alpha[..., 2:], lossless(effort=4), {}
    yield "lossless-tiles", coat[:5, :70], lossless(), {"tile_size": 64}
    yield "lossless-one-column", coat[:, :1], lossless(effort=6), {}
    yield "lossless-one-row", coat[:1], lossless(effort=6), {}
    yield "lossless-one-value", np.full((20, 30), 77, np.uint8), lossless(), {}
