"""Pictures by predicted blocks, from the command line."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from support.strategies import natural, text_like

import mmpcodec
from mmpcodec import pictures
from mmpcodec.analysis.drawings.blocks import draw_blocks
from mmpcodec.reference.entropy.syntax import SYNTAX


@pytest.fixture
def photo(folder):
    """A picture file of more than one fragment that ends within fragments and blocks."""
    pictures.write(natural(np.random.default_rng(4), 70, 83), "p.png")
    return "p.png"


def test_preset_photo_writes_what_the_library_writes(mmp, photo):
    result = mmp("encode", photo, "--preset", "photo", "-l", 40, "--effort", 3, "--verify", "-v")
    assert result.exit_code == 0, result.output
    data = Path("p.mmp").read_bytes()
    assert data == mmpcodec.encode(pictures.read(photo).samples, 40, preset="photo", effort=3)
    assert (
        "lambda 40, tune psnr, predicted blocks, fragment size 64, "
        "templates 4, step 377, dictionary off, pdpc on" in result.output
    )


def test_effort_changes_the_search_and_not_the_format(mmp, photo):
    sizes = {}
    for effort in (1, 9):
        assert mmp("encode", photo, "--preset", "photo", "--effort", effort, "-f").exit_code == 0
        found = mmpcodec.inspect(Path("p.mmp").read_bytes(), decode=True)
        error = (pictures.read(photo).samples.astype(int) - found.samples) ** 2
        sizes[effort] = error.sum() + 32 * 8 * found.file_size
    assert sizes[9] < sizes[1]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--effort", 0), "effort = 0: must be from 1 to 9"),
        (("--effort", 10), "effort = 10: must be from 1 to 9"),
        (("-l", 0), "preset photo is always lossy; take preset text"),
        (
            ("--preset", "photograph"),
            "must be one of auto, best, photo, text, mixed, lossless, plain, classic",
        ),
    ],
)
def test_wrong_values_are_refused(mmp, photo, files, options, said):
    before = files()
    result = mmp("encode", photo, "--preset", "photo", *options)
    assert result.exit_code == 2
    assert said in result.stderr
    assert files() == before


def test_info_shows_blocks_and_where_the_bits_are(mmp, photo):
    mmp("encode", photo, "--preset", "photo", "-l", 40)
    data = Path("p.mmp").read_bytes()
    found = mmpcodec.inspect(data, decode=True)
    facts = json.loads(mmp("info", "p.mmp", "--json").stdout)
    assert set(facts["bits"]) >= {"split", "mode", "kind", "level"}
    assert not set(facts) & {"leaves", "dictionary_sizes", "depths"}
    heights, widths, modes, kinds = found.trace.units.reshape(-1, 4).T
    units = 2.0 ** (heights + widths - 4)
    assert np.sum(facts["blocks"]["tree"]) == 0
    for number, kind in enumerate(("bare", "transformed", "tree")):
        table = np.array(facts["blocks"][kind])
        for row in range(5):
            for column in range(5):
                own = (heights == 6 - row) & (widths == 6 - column) & (kinds == number)
                assert table[row, column] == (1 / units[own]).sum()
    assert facts["modes"] == {
        "constant": (1 / units[modes == 0]).sum(),
        "average": (1 / units[modes == 1]).sum(),
        "planar": (1 / units[modes == 2]).sum(),
        "angle": (1 / units[(modes > 2) & (modes < 36)]).sum(),
        "templates": (1 / units[modes == 36]).sum(),
        "cross-component": 0,
        "wide cross-component": 0,
    }
    lines = [line.split() for line in mmp("info", "p.mmp").stdout.splitlines()]
    for kind, table in facts["blocks"].items():
        assert (np.sum(table) > 0) == (kind != "tree")
        title = f"{np.sum(table)} {kind} blocks, by height (rows) and width".split()
        start = lines.index(title)
        assert lines[start + 2 : start + 7] == [
            [str(number) for number in (side, *row)]
            for side, row in zip((64, 32, 16, 8, 4), table, strict=True)
        ]
    start = lines.index(["blocks", "by", "mode"])
    assert lines[start + 1 :] == [[*mode.split(), str(n)] for mode, n in facts["modes"].items()]


def test_encode_counts_blocks_and_no_leaves(mmp, photo):
    facts = json.loads(mmp("encode", photo, "--preset", "photo", "--json").stdout)
    info = json.loads(mmp("info", "p.mmp", "--json").stdout)
    assert facts["leaves"] == 0
    assert facts["blocks"] == {kind: np.sum(table) for kind, table in info["blocks"].items()}
    assert facts["modes"] == info["modes"]
    counts = {**facts["blocks"], **facts["modes"]}
    text = mmp("encode", photo, "--preset", "photo", "-v", "-f").stdout.splitlines()[1]
    said = text.split("; bits: ")[0]
    assert said.startswith(f"  {sum(facts['blocks'].values())} blocks (bare ")
    for name, count in counts.items():
        assert f"{name} {count}" in said


def test_map_draws_blocks_with_their_kinds_and_modes(mmp, photo):
    mmp("encode", photo, "--preset", "photo", "-l", 40)
    found = mmpcodec.inspect(Path("p.mmp").read_bytes(), decode=True)
    result = mmp("info", "p.mmp", "--map", "m.png")
    assert result.exit_code == 0
    expected = draw_blocks(found.samples, found.trace.units, 64)
    np.testing.assert_array_equal(np.asarray(Image.open("m.png")), expected)
    assert result.stdout.splitlines()[-11:] == [
        "  blocks drawn in m.png; red lines are those of the fragments",
        "                  bare  green",
        "           transformed  orange",
        "                  tree  blue",
        "              constant  square",
        "               average  dot",
        "                planar  ring",
        "                 angle  line along which samples are predicted",
        "             templates  plus",
        "       cross-component  two lines",
        "  wide cross-component  diamond",
    ]


def test_best_takes_what_costs_less(mmp, photo):
    text = np.where(np.random.default_rng(3).random((64, 64)) < 0.5, 0, 255).astype(np.uint8)
    pictures.write(np.tile(text[:16, :16], (4, 4)), "t.png")
    for name, expected in ((photo, True), ("t.png", False)):
        assert mmp("encode", name, "--preset", "best", "-l", 30, "--no-palette").exit_code == 0
        data = Path(name).with_suffix(".mmp").read_bytes()
        costs = {}
        for preset in ("photo", "text", "mixed", "lossless"):
            own = mmpcodec.encode(pictures.read(name).samples, 30, preset=preset)
            error = (pictures.read(name).samples.astype(int) - mmpcodec.decode(own)) ** 2
            costs[own] = error.sum() + 30 * 8 * len(own)
        assert data == min(costs, key=costs.get)
        assert isinstance(mmpcodec.inspect(data).tools, mmpcodec.BlockTools) == expected


def test_mixed_says_what_trees_and_predicted_blocks_take(mmp, photo):
    rng = np.random.default_rng(5)
    page = np.hstack([text_like(rng, 60, 60), natural(rng, 60, 40)])
    pictures.write(page, "m.png")
    result = mmp("encode", "m.png", "--preset", "mixed", "-l", 40, "--effort", 2, "--verify", "-v")
    assert result.exit_code == 0, result.output
    assert "dictionary limit 65536, displaced blocks 2, redundancy radius 160" in result.output
    assert "predicted blocks, fragment size 32" in result.output
    assert "dictionary on" in result.output
    facts = json.loads(mmp("info", "m.mmp", "--json").stdout)
    found = mmpcodec.inspect(Path("m.mmp").read_bytes(), decode=True)
    kinds = found.trace.units[..., 3]
    assert set(facts["bits"]) == {"filter", *SYNTAX}
    bits = sum(facts["bits"].values()) - facts["bits"]["filter"]
    assert abs(bits - 8 * found.payload_size) < 16
    assert min(facts["bits"][syntax] for syntax in ("tree", "element", "level")) > 0
    rows = 2 ** np.arange(6, 1, -1)
    areas = np.array(facts["blocks"]["tree"]) * np.outer(rows, rows)
    assert areas.sum() == 16 * (kinds == 2).sum() > 0
    scales = 2 ** np.arange(4, -1, -1)
    assert (np.array(facts["leaves"]) * np.outer(scales, scales)).sum() == areas.sum()
    assert sum(facts["modes"].values()) == sum(
        np.sum(facts["blocks"][kind]) for kind in ("bare", "transformed")
    )
    lines = mmp("info", "m.mmp").stdout.splitlines()
    assert f"  {np.sum(facts['blocks']['tree'])} tree blocks, by height (rows) and width" in lines
    assert "  leaves, by height (rows) and width" in lines
    with pytest.raises(mmpcodec.ParameterError, match="preset mixed is always lossy; take preset"):
        mmpcodec.encode(page, 0, preset="mixed")


def test_auto_without_loss_takes_the_dictionaries(mmp, photo):
    assert mmp("encode", photo, "--preset", "auto", "-l", 0).exit_code == 0
    np.testing.assert_array_equal(
        mmpcodec.decode(Path("p.mmp").read_bytes()), pictures.read(photo).samples
    )
