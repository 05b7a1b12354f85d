"""What the property tests draw from: pictures, parameters, symbol streams."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mmpcodec import EncodeParams
from mmpcodec.tools import BLOCK_TOOLS, TREE_TOOLS, BlockTools, Tool, Tools, TreeTools

LAMBDAS = (0, 1, 8, 32, 128, 512)
BASIC: dict[str, Any] = {
    name: tool.default
    for name, tool in BLOCK_TOOLS.items()
    if name not in {"fragment_size", "templates", "step", "dictionary", "post_filter"}
}
"""Options of predicted blocks with the fewest tools, which backends search fastest."""


def text_like(rng: np.random.Generator, height: int, width: int) -> np.ndarray:
    """Dark strokes on light paper, with repeats as letters have them."""
    glyphs = rng.integers(0, 2, (4, 7, 5), dtype=np.uint8)
    picture = np.full((height, width), 235, np.uint8)
    for top in range(1, height - 7, 9):
        for left in range(1, width - 5, 6):
            glyph = glyphs[rng.integers(len(glyphs))]
            picture[top : top + 7, left : left + 5] -= 200 * glyph
    return picture


def natural(rng: np.random.Generator, height: int, width: int) -> np.ndarray:
    """A shaded surface with an edge and a little noise."""
    y, x = np.mgrid[:height, :width]
    surface = 110 + 60 * np.sin(x / 17 + rng.random()) + 40 * np.cos(y / 23) + 30 * (x > y)
    return np.clip(surface + rng.normal(0, 2, (height, width)), 0, 255).astype(np.uint8)


def woven(rng: np.random.Generator, height: int, width: int) -> np.ndarray:
    """A texture that comes again and slants, with a little noise."""
    thread = rng.integers(40, 216, (6, 9))
    i, j = np.indices((height, width))
    cloth = thread[(i + j // 11) % 6, (j + i // 7) % 9] + rng.normal(0, 3, (height, width))
    return cloth.astype(np.uint8)


def noise(rng: np.random.Generator, height: int, width: int) -> np.ndarray:
    return rng.integers(0, 256, (height, width), dtype=np.uint8)


def flat(rng: np.random.Generator, height: int, width: int) -> np.ndarray:
    return np.full((height, width), rng.integers(256), np.uint8)


def deepened(rng: np.random.Generator, picture: np.ndarray, depth: int) -> np.ndarray:
    """An 8-bit picture with ``depth`` bits, the extra ones at random."""
    if depth == 8:
        return picture
    extra = rng.integers(0, 1 << (depth - 8), picture.shape, np.uint16)
    return (picture.astype(np.uint16) << (depth - 8)) + extra


def earlier_planes(shape: tuple[int, int], tools: Tools, depth: int = 8) -> list[np.ndarray]:
    """Planes from which a plane of this shape can be predicted, as many as the tools name."""
    rng = np.random.default_rng(shape)
    contents = [natural, text_like][: tools.cross_component]
    return [deepened(rng, content(rng, *shape), depth) for content in contents]


CONTENT = {"text": text_like, "natural": natural, "noise": noise, "flat": flat}


@st.composite
def pictures(draw, max_side: int = 40) -> np.ndarray:
    """8-bit gray pictures of every kind of content, and arbitrary small ones."""
    height, width = draw(st.integers(1, max_side)), draw(st.integers(1, max_side))
    drawn = {**CONTENT, "woven": woven}
    kind = draw(st.sampled_from([*drawn, "any"]))
    if kind == "any":
        return draw(arrays(np.uint8, (height, width)))
    return drawn[kind](np.random.default_rng(draw(st.integers(0, 2**32 - 1))), height, width)


@st.composite
def deep_pictures(draw, max_side: int = 40) -> tuple[np.ndarray, int]:
    """Gray pictures of 9 to 16 bits: any samples, extreme or deepened ones; and the depth."""
    depth = draw(st.integers(9, 16))
    picture = draw(pictures(max_side))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    most = np.uint16((1 << depth) - 1)
    kind = draw(st.sampled_from(["deepened", "extreme", "any"]))
    if kind == "extreme":
        return most * (picture & 1), depth
    if kind == "any":
        return rng.integers(0, int(most) + 1, picture.shape, np.uint16), depth
    return deepened(rng, picture, depth), depth


def tools() -> st.SearchStrategy[TreeTools]:
    likely = {
        "dictionary_limit": st.sampled_from([256, 257, 300, 1024, 16384, 65536]),
        "redundancy_radius": st.sampled_from([0, 0, 1, 100, 3000, 65535]),
    }
    return st.builds(
        TreeTools, **{name: _values(tool) for name, tool in TREE_TOOLS.items()} | likely
    )


def block_tools() -> st.SearchStrategy[BlockTools]:
    """Tools of predicted blocks, a third of them with trees among the blocks."""
    drawn: dict[str, Any] = {name: _values(tool) for name, tool in BLOCK_TOOLS.items()}
    del drawn["dictionary"]
    drawn["step"] = st.one_of(st.integers(1, 400), drawn["step"])
    trees = tools().map(lambda own: replace(own, post_filter=False))
    drawn["trees"] = st.one_of(st.none(), st.none(), trees)
    return st.builds(BlockTools, **drawn)


def _values(tool: Tool) -> st.SearchStrategy[int]:
    """Any value that a file may hold for a tool."""
    if tool.kind is bool:
        return st.booleans()
    if tool.values:
        return st.sampled_from(tool.values)
    return st.integers(tool.low_in_file, tool.high)


def encode_params() -> st.SearchStrategy[EncodeParams]:
    lam = st.one_of(
        st.sampled_from(LAMBDAS), st.floats(0, 1e9, allow_nan=False, allow_infinity=False)
    )
    return st.builds(EncodeParams, lam, tools(), st.sampled_from(["adaptive", "log2"]))


def block_params(effort: Sequence[int] = (1, 1, 5, 9)) -> st.SearchStrategy[EncodeParams]:
    """Parameters with prediction, the step mostly derived from lambda."""
    derived = block_tools().map(lambda tools: replace(tools, step=0))
    return st.builds(
        EncodeParams,
        st.sampled_from([1e-5, 0.02, *LAMBDAS[1:], 3000, 2.0**20]),
        st.one_of(derived, derived, block_tools()),
        st.sampled_from(["adaptive", "adaptive", "log2"]),
        effort=st.sampled_from(effort),
    )


def predicted_params(effort: Sequence[int] = (1, 1, 5)) -> st.SearchStrategy[EncodeParams]:
    """Parameters with prediction and without trees, as samples of more than 8 bits take them."""
    return block_params(effort).map(
        lambda params: replace(params, tools=replace(params.tools, trees=None))
    )


@st.composite
def symbol_streams(draw, max_length: int = 300) -> list[tuple[int, int, int]]:
    """Intervals (cumulative, frequency, total) as a model can ask for."""
    stream = []
    for _ in range(draw(st.integers(0, max_length))):
        total = draw(st.one_of(st.integers(1, 8), st.integers(1, (1 << 18) - 1)))
        cumulative = draw(st.integers(0, total - 1))
        frequency = draw(st.integers(1, total - cumulative))
        stream.append((cumulative, frequency, total))
    return stream
