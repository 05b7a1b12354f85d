"""Pictures by predicted blocks, from the command line."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from strategies import natural

import mmpcodec
from mmpcodec import pictures
from mmpcodec.analysis.overlay import draw_tree


@pytest.fixture
def photo(folder):
    """A picture file of more than one fragment that ends within fragments and blocks."""
    pictures.write(natural(np.random.default_rng(4), 70, 83), "p.png")
    return "p.png"


def test_preset_photo_writes_what_the_library_writes(mmp, photo):
    result = mmp("encode", photo, "--preset", "photo", "-l", 40, "--effort", 3, "--verify", "-v")
    assert result.exit_code == 0, result.output
    data = Path("p.mmp").read_bytes()
    assert data == mmpcodec.encode(pictures.read(photo), 40, preset="photo", effort=3)
    assert (
        "lambda 40, post filter on, prediction on, fragment size 64, least squares on, step 333"
        in result.output
    )


def test_effort_changes_the_search_and_not_the_format(mmp, photo):
    sizes = {}
    for effort in (1, 9):
        assert mmp("encode", photo, "--preset", "photo", "--effort", effort, "-f").exit_code == 0
        found = mmpcodec.inspect(Path("p.mmp").read_bytes(), decode=True)
        error = (pictures.read(photo).astype(int) - found.samples) ** 2
        sizes[effort] = error.sum() + 32 * 8 * found.file_size
    assert sizes[9] < sizes[1]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--effort", 0), "effort = 0: must be from 1 to 9"),
        (("--effort", 10), "effort = 10: must be from 1 to 9"),
        (("-l", 0), "lam = 0: must be above 0 with prediction"),
        (("--preset", "photograph"), "must be one of default, classic, photo, text, auto"),
    ],
)
def test_wrong_values_are_refused(mmp, photo, files, options, said):
    before = files()
    result = mmp("encode", photo, "--preset", "photo", *options)
    assert result.exit_code == 2
    assert said in result.stderr
    assert files() == before


def test_cuda_says_that_it_does_not_predict(mmp, photo, monkeypatch):
    monkeypatch.setattr("mmpcodec.backends.cuda.CudaBackend.unavailable", lambda self: None)
    result = mmp("encode", photo, "--preset", "photo", "--backend", "cuda")
    assert result.exit_code == 4
    assert "prediction" in result.stderr


def test_info_shows_blocks_and_where_the_bits_are(mmp, photo):
    mmp("encode", photo, "--preset", "photo")
    data = Path("p.mmp").read_bytes()
    found = mmpcodec.inspect(data, decode=True)
    facts = json.loads(mmp("info", "p.mmp", "--json").stdout)
    assert set(facts["bits"]) >= {"split", "mode", "kind", "level"}
    assert not set(facts) & {"leaves", "dictionary_sizes", "depths"}
    assert np.sum(facts["blocks"]) == len(found.trace.blocks()) == sum(facts["modes"].values())
    sides = np.array([64, 32, 16, 8, 4])
    assert (np.array(facts["blocks"]) * np.outer(sides, sides)).sum() == 72 * 84
    assert np.sum(facts["residuals"]) == found.trace.blocks()[:, 3].sum()
    text = mmp("info", "p.mmp").stdout
    assert "blocks, by height (rows) and width" in text
    assert "fragments of 64x64" in text


def test_map_draws_blocks_and_fragments(mmp, photo):
    mmp("encode", photo, "--preset", "photo")
    found = mmpcodec.inspect(Path("p.mmp").read_bytes(), decode=True)
    assert mmp("info", "p.mmp", "--map", "m.png").exit_code == 0
    expected = draw_tree(found.samples, found.trace.edges(), fragment_size=64)
    np.testing.assert_array_equal(np.asarray(Image.open("m.png")), expected)


def test_auto_takes_what_costs_less(mmp, photo):
    text = np.where(np.random.default_rng(3).random((64, 64)) < 0.5, 0, 255).astype(np.uint8)
    pictures.write(np.tile(text[:16, :16], (4, 4)), "t.png")
    for name, expected in ((photo, True), ("t.png", False)):
        assert mmp("encode", name, "--preset", "auto", "-l", 30).exit_code == 0
        data = Path(name).with_suffix(".mmp").read_bytes()
        costs = {}
        for preset in ("photo", "text"):
            own = mmpcodec.encode(pictures.read(name), 30, preset=preset)
            error = (pictures.read(name).astype(int) - mmpcodec.decode(own)) ** 2
            costs[own] = error.sum() + 30 * 8 * len(own)
        assert data == min(costs, key=costs.get)
        assert mmpcodec.inspect(data).header.tools.prediction == expected


def test_auto_without_loss_takes_the_dictionaries(mmp, photo):
    assert mmp("encode", photo, "--preset", "auto", "-l", 0).exit_code == 0
    np.testing.assert_array_equal(mmpcodec.decode(Path("p.mmp").read_bytes()), pictures.read(photo))
