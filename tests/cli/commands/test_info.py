"""``mmp info``."""

import io
import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from palettes import file_of
from PIL import Image
from support.strategies import natural, text_like

import mmpcodec
from mmpcodec import pictures
from mmpcodec.analysis.drawings.blocks import draw_blocks, least_zoom, tint_palette
from mmpcodec.analysis.drawings.file import shown_in_gray
from mmpcodec.analysis.drawings.trees import draw_tree


@pytest.mark.parametrize(
    ("subsampling", "size", "halved"),
    [
        (0, "all rows and columns", [0, 0]),
        (1, "half the columns", [0, 1]),
        (2, "half the rows and columns", [1, 1]),
    ],
)
def test_source_colours(mmp, tmp_path, subsampling, size, halved):
    """RGB that Pillow decodes from JPEG, whole and in tiles; other RGB has no such words."""
    noise = np.random.default_rng(3).normal(0, 10, (64, 128, 3))
    picture = np.clip(125 + noise, 0, 255).astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "JPEG", quality=93, subsampling=subsampling)
    decoded = np.asarray(Image.open(file))
    words = f", made from luma and chroma of JPEG, chroma with {size}"
    for name, samples, tile_size in (("a", decoded, 0), ("b", decoded, 64), ("c", picture, 0)):
        path = tmp_path / f"{name}.mmp"
        path.write_bytes(mmpcodec.encode(samples, 0, effort=1, tile_size=tile_size))
        (line,) = (one for one in mmp("info", path).stdout.splitlines() if "  layer " in one)
        assert line.endswith("max error 0" + words * (name != "c"))
        for more in ([], ["--header-only"]):
            layers = json.loads(mmp("info", "--json", *more, path).stdout)["layers"]
            rows, columns = map(bool, halved)
            source = {"kind": "JPEG", "halved_rows": rows, "halved_columns": columns}
            assert [layer.get("source") for layer in layers] == [
                None if name == "c" else source for _ in layers
            ]


def test_json_is_what_inspect_found(mmp, encoded):
    facts = json.loads(mmp("info", encoded, "--json").stdout)
    data = Path(encoded).read_bytes()
    found = mmpcodec.inspect(data, decode=True)
    assert set(facts) == {
        "input",
        "file_bytes",
        "bits_per_pixel",
        "overhead_bytes",
        "overhead_share",
        "version",
        "width",
        "height",
        "form",
        "depth",
        "white",
        "range",
        "level_bits",
        "first_level",
        "tile_size",
        "tiles",
        "metadata",
        "layers",
        "bad_tiles",
        "header_faults",
        "bits",
        "dictionary_sizes",
        "leaves",
        "depths",
    }
    assert facts["file_bytes"] == len(data)
    assert facts["bits_per_pixel"] == pytest.approx(8 * len(data) / 320)
    assert facts["overhead_bytes"] == len(data) - found.payload_size
    assert facts["overhead_share"] == pytest.approx(facts["overhead_bytes"] / len(data))
    assert facts["bits"] == found.trace.bits
    sizes = np.asarray(facts["dictionary_sizes"])
    np.testing.assert_array_equal(sizes, found.trace.dictionary_sizes.reshape(5, 5))
    assert np.ravel(facts["leaves"]).tolist() == found.trace.leaves()
    assert facts["depths"] == found.trace.depths()
    assert [facts[name] for name in ("version", "width", "height", "depth")] == [3, 20, 16, 8]
    assert [facts[name] for name in ("form", "white", "tile_size", "tiles")] == ["gray", 255, 0, 1]
    assert (facts["metadata"], facts["bad_tiles"]) == ({}, [])
    assert facts["header_faults"] == []
    assert facts["layers"] == [
        {
            "tile": 0,
            "name": "gray",
            "depth": 8,
            "payload_bytes": found.payload_size,
            "tools": {
                "coding": "trees",
                **asdict(mmpcodec.TreeTools(post_filter=False)),
                "partition": "flexible",
            },
            "coefficients": [[], [], [], []],
            "cross_component_coefficients": [[], []],
        }
    ]


def test_text(mmp, samples):
    data = mmpcodec.encode(np.full((8, 16), 128, np.uint8), 32, preset="classic")
    Path("flat.mmp").write_bytes(data)
    found = mmpcodec.inspect(data, decode=True)
    bits = {syntax: f"{count:.0f}" for syntax, count in found.trace.bits.items()}
    result = mmp("info", "flat.mmp")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    overhead = len(data) - found.payload_size
    assert lines[:5] == [
        "flat.mmp:",
        "  picture  16x8, gray of 8 bits, white 255",
        "  format   version 3, 1 tile",
        f"  file     {len(data)} bytes, {8 * len(data) / 128:.3f} bits per pixel",
        f"  overhead {overhead} bytes of headers, metadata and checksums, "
        f"{overhead / len(data):.1%} of the file",
    ]
    assert lines[5].startswith(
        f"  layer    gray, {found.payload_size} bytes: trees, partition flexible, "
        "index classes off, flag contexts off, copy radius 8, dictionary limit 16384, "
    )
    assert lines[5].endswith(", post filter off")
    assert [line.split()[:2] for line in lines[8:12]] == [[*item] for item in bits.items()]
    tables = [line.split() for line in lines]
    sides = ["16", "8", "4", "2", "1"]
    start = lines.index("  elements in the dictionaries, by height (rows) and width")
    assert tables[start + 1] == sides
    assert tables[start + 2 : start + 7] == [[side] + 5 * ["256"] for side in sides]
    start = lines.index("  leaves, by height (rows) and width")
    assert tables[start + 2] == ["16", "1", "0", "0", "0", "0"]
    start = lines.index("  leaves by depth in the segmentation tree")
    assert tables[start + 1 :] == [["0", "1"], *([str(d), "0"] for d in range(1, 9))]


def test_post_filter(mmp):
    picture = natural(np.random.default_rng(0), 64, 64)
    data = mmpcodec.encode(picture, 64, preset="plain")
    Path("filtered.mmp").write_bytes(data)
    coefficients = mmpcodec.inspect(data).layers[0].coefficients
    active = sum(map(bool, coefficients))
    assert active > 0
    facts = json.loads(mmp("info", "filtered.mmp", "--json").stdout)
    assert facts["layers"][0]["coefficients"] == [list(own) for own in coefficients]
    assert facts["bits"]["filter"] == 48 * active
    lines = mmp("info", "filtered.mmp").stdout.splitlines()
    assert lines[5].endswith(", post filter on")
    assert lines[8].split()[:2] == ["filter", str(48 * active)]


def test_header_only_reads_what_does_not_decode(mmp, encoded):
    facts = json.loads(mmp("info", encoded, "--json", "--header-only").stdout)
    assert not facts.keys() & {"bits", "leaves", "dictionary_sizes"}
    assert facts["layers"][0]["name"] == "gray"
    assert len(mmp("info", encoded, "--header-only").stdout.splitlines()) == 6


def test_several_files_and_a_bad_one(mmp, encoded):
    Path("bad.mmp").write_bytes(b"bad")
    result = mmp("info", encoded, "bad.mmp", encoded, "--json", "--header-only")
    assert result.exit_code == 3
    *rows, left = [json.loads(line) for line in result.stdout.splitlines()]
    assert [row["input"] for row in rows] == 2 * [encoded]
    assert (left["input"], left["output"]) == ("bad.mmp", None)
    assert result.stderr.splitlines()[0].startswith("mmp: bad.mmp: is not an mmp file; Container")
    assert result.stderr.splitlines()[1] == "mmp: 1 of 3 inputs failed"


def test_map(mmp, encoded, samples):
    result = mmp("info", encoded, "--map", "tree.png")
    assert result.exit_code == 0
    assert result.stdout.endswith("\n  segmentation drawn in tree.png\n")
    trace = mmpcodec.inspect(Path(encoded).read_bytes(), decode=True).trace
    drawn = draw_tree(samples, trace.edges())
    assert Path("tree.png").read_bytes() == pictures.to_bytes(drawn, "png")


def screen(height, width, planes=3):
    """Text of two colours on a picture."""
    rng = np.random.default_rng(2)
    text, photo = text_like(rng, height, width), natural(rng, height, width) >> 5 << 5
    return np.dstack([np.where(text < 100, 20 * c, photo // (c + 1)) for c in range(planes)])


def test_palettes(mmp):
    data, _ = file_of(screen(64, 100).astype(np.uint8), tile_size=64)
    Path("screen.mmp").write_bytes(data)
    found = mmpcodec.inspect(data, decode=True)
    own = [layer for layer in found.layers if layer.name == "palette"]
    assert len(own) == 2
    least, most = sorted(layer.entries for layer in own)
    drawn = sum(layer.trace.drawn.sum() for layer in own) / 6400
    size = sum(layer.payload_bytes for layer in own)
    lines = mmp("info", "screen.mmp").stdout.splitlines()
    assert lines[5] == (
        f"  palette  {least} to {most} colours, transparent {1 - drawn:.1%}, "
        f"{size} bytes in 2 tiles: "
        "lossless samples, lossless form 2, max error 0"
    )
    assert lines[6].startswith("  layer    red, ")
    assert [line.split()[0] for line in lines[11:14]] == ["colours", "map", "residual"]
    facts = json.loads(mmp("info", "screen.mmp", "--json").stdout)
    first, *others = facts["layers"][:4]
    assert (first["name"], first["entries"], first["transparent"]) == (
        "palette",
        own[0].entries,
        True,
    )
    assert first["clear_share"] == pytest.approx(1 - own[0].trace.drawn.mean())
    assert [layer["name"] for layer in others] == ["red", "green", "blue"]
    assert not [layer for layer in others if "entries" in layer]
    lines = mmp("info", "screen.mmp", "--header-only").stdout.splitlines()
    assert lines[5].startswith(f"  palette  {least} to {most} colours, {size} bytes in 2 tiles: ")


@pytest.mark.parametrize("transparent", [True, False])
def test_map_of_a_palette(mmp, transparent):
    data, _ = file_of(screen(20, 30).astype(np.uint8), transparent=transparent)
    Path("screen.mmp").write_bytes(data)
    text = mmp("info", "screen.mmp", "--map", "map.png").stdout
    tint = "\n               palette  violet\n"
    found = mmpcodec.inspect(data, decode=True)
    palette, *below = found.layers
    gray = shown_in_gray(found.samples, 8, found.header.metadata)
    if transparent:
        assert "\n  blocks drawn in map.png; red lines" in text
        assert f"  tree  blue{tint}              constant" in text
        drawn = draw_blocks(gray, below[0].trace.units, below[0].tools.fragment_size)
        zoom = least_zoom(gray.shape)
    else:
        assert text.endswith(f"\n\n  palette drawn in map.png{tint}")
        zoom = 3
        none = np.zeros(gray.shape, bool)
        drawn = draw_tree(gray, (none, none), fragment_size=1 << 24)
    tint_palette(drawn, palette.trace.drawn, zoom)
    shown = pictures.read("map.png").samples
    np.testing.assert_array_equal(shown, drawn)


def test_map_to_stdout_moves_the_text(mmp, encoded):
    result = mmp("info", encoded, "--map", "-")
    assert result.stdout_bytes.startswith(b"\x89PNG")
    assert result.stderr.startswith("a.mmp:\n")


def test_map_is_not_overwritten_without_force(mmp, encoded):
    Path("tree.png").write_text("mine")
    result = mmp("info", encoded, "--map", "tree.png")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "mmp: tree.png: exists; -f overwrites it\n"
    assert Path("tree.png").read_text() == "mine"
    assert mmp("info", encoded, "--map", "tree.png", "-f").exit_code == 0
    assert Path("tree.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--map", "t.png", "--header-only"], "--map: needs a single input, and not --header-only"),
        (["--map", "t.png", "b.mmp"], "--map: needs a single input, and not --header-only"),
        (["--map", "t.jpg"], "--map: t.jpg must end in .png, or be -"),
        (["--map", "a.mmp/../a.mmp"], "--map: a.mmp/../a.mmp must end in .png, or be -"),
    ],
)
def test_wrong_use_of_map(mmp, encoded, arguments, message, files):
    result = mmp("info", encoded, *arguments)
    assert (result.exit_code, result.stderr) == (2, f"mmp: {message}\n")
    assert files() == ["a.mmp"]


def test_limits(mmp, encoded):
    result = mmp("info", encoded, "--max-samples", 10)
    assert result.exit_code == 1
    assert "the limit is 10; max_samples (--max-samples) raises it" in result.stderr
