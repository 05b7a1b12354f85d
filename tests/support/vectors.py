"""The conformance vectors, and which of them decoders in Python take long to decode."""

import json
from collections.abc import Collection, Iterable
from pathlib import Path

import pytest

import mmpcodec
from mmpcodec import Tools, backends
from mmpcodec.tools import TABLES, BlockTools

FOLDER = Path(__file__).parents[1] / "conformance"
VECTORS = sorted(path.parent for path in FOLDER.glob("*/stream.mmp"))
COLLECTIONS = [path for path in VECTORS if path.name.startswith("collection-")]
"""Files of several pictures."""
BAD_COLLECTIONS = [path for path in VECTORS if path.name.startswith("bad-collection-")]
KEPT_JPEGS = [path for path in VECTORS if path.name.startswith("jpeg-")]
"""Files that keep a JPEG file, which is beside them."""
BAD_JPEGS = [path for path in VECTORS if path.name.startswith("bad-jpeg-")]
_OTHERS = (*COLLECTIONS, *BAD_COLLECTIONS, *KEPT_JPEGS, *BAD_JPEGS)
_OF_ONE = [path for path in VECTORS if path not in _OTHERS]
GOOD = [path for path in _OF_ONE if not (path / "error.json").exists()]
BAD = [path for path in _OF_ONE if (path / "error.json").exists()]
DECODERS = [name for name in backends.decoders() if not backends.reads_device_arrays(name)]
"""The backends that decode on the processor; other agreement tests have those of devices."""
MOST_WORK = 1000
"""Bits of a stream plus samples of its picture. Trees and lossless samples of more take a decoder
in Python seconds; predicted blocks alone are quick, so they count as no work."""


def traits_of_tools(tools: Tools) -> set[tuple]:
    """The value of each tool; of a tool with many values, whether it has its default."""
    found: set[tuple] = set()
    for name, tool in TABLES[tools.coding].items():
        value = getattr(tools, name)
        many = tool.high - tool.low > 9 and not tool.values
        found.add((tools.coding, name, value == tool.default if many else value))
    trees = tools.trees if isinstance(tools, BlockTools) else None
    return found | (traits_of_tools(trees) if trees else set())


def traits(vector: Path) -> tuple[int, set[tuple]]:
    """The work of decoding a vector, and what its file shows."""
    data = (vector / "stream.mmp").read_bytes()
    stated = json.loads((vector / "decoded.json").read_text())
    found = mmpcodec.inspect(data)
    tools = {layer.tools for layer in found.layers}
    shown: set[tuple] = {("depth", stated["depth"])}
    for each in tools:
        shown |= {(each.coding, "form", stated["form"])} | traits_of_tools(each)
    if all(isinstance(each, BlockTools) and not each.trees for each in tools):
        return 0, shown
    samples = found.header.planes * stated["width"] * stated["height"]
    return 8 * len(data) + samples, shown


def which_take_long() -> frozenset[Path]:
    """Vectors of much work that show nothing but what vectors of less work show."""
    found: set[Path] = set()
    seen: set[tuple] = set()
    of_all = {vector: traits(vector) for vector in GOOD}
    for vector, (work, shown) in sorted(of_all.items(), key=lambda item: item[1][0]):
        if work > MOST_WORK and shown <= seen:
            found.add(vector)
        seen |= shown
    return frozenset(found)


TAKE_LONG = which_take_long()


def each(vectors: Iterable[Path], slow: Collection[Path] = ()) -> pytest.MarkDecorator:
    """Give a test each vector; with those of ``slow`` it is a slow test."""
    given = [
        pytest.param(path, marks=pytest.mark.slow if path in slow else (), id=path.name)
        for path in vectors
    ]
    return pytest.mark.parametrize("vector", given)
