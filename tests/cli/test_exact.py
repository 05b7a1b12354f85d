"""Exact samples on the command line."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import mmpcodec
from mmpcodec import levels, pictures

RNG = np.random.default_rng(9)


def deep(planes, depth):
    kind = np.uint8 if depth <= 8 else np.uint16
    samples = RNG.integers(0, 1 << depth, (5, 7, planes)).astype(kind)
    return samples[..., 0] if planes == 1 else samples


@pytest.fixture
def files(folder):
    """Names of files and what they hold."""
    held = {}
    for planes, depth in ((1, 8), (1, 4), (1, 12), (2, 8), (3, 8), (4, 8), (3, 12)):
        samples = deep(planes, depth)
        name = f"{planes}x{depth}.mmp"
        Path(name).write_bytes(mmpcodec.encode(samples, 0, depth=depth, preset="exact"))
        held[name] = samples
    return held


def test_preset_exact(mmp, folder):
    samples = deep(1, 8)
    pictures.write(samples, "p.pgm")
    result = mmp("encode", "p.pgm", "--preset", "exact", "-l", 20, "--verify", "-v")
    assert result.exit_code == 0, result.output
    assert "lambda 20, exact on" in result.output
    assert Path("p.mmp").read_bytes() == mmpcodec.encode(samples, 0, preset="exact")
    shown = mmp("info", "p.mmp")
    assert "tools    exact on" in shown.stdout
    assert "residual" in shown.stdout
    drawn = mmp("info", "p.mmp", "--map", "map.png")
    assert drawn.exit_code == 1
    assert "--map: the file holds exact samples, which have no leaves or blocks" in drawn.stderr


def test_every_form_decodes_to_what_can_hold_it(mmp, files):
    for name, samples in files.items():
        assert mmp("decode", name, "--format", "npy", "-f").exit_code == 0
        np.testing.assert_array_equal(np.load(name.replace(".mmp", ".npy")), samples)
        fits = samples.dtype == np.uint8 or samples.ndim == 2
        for format in ("png", "tif"):
            result = mmp("decode", name, "--format", format, "-f")
            assert result.exit_code == (0 if fits else 1), result.output
            if fits:
                found = np.asarray(Image.open(name.replace("mmp", format)))
                np.testing.assert_array_equal(found, samples)
            else:
                assert "(height, width, 2 to 4) of uint8 for png" in result.stderr


def test_pgm_says_what_is_white(mmp, files):
    assert mmp("decode", "1x12.mmp", "-o", "deep.pgm").exit_code == 0
    assert Path("deep.pgm").read_bytes().startswith(b"P5\n7 5\n4095\n")
    found = levels.from_bytes(Path("deep.pgm").read_bytes())
    assert found.white == 4095
    np.testing.assert_array_equal(found.samples, files["1x12.mmp"])


def test_tools_read_every_form(files):
    for name, samples in files.items():
        found = levels.from_bytes(Path(name).read_bytes())
        assert found.white == (1 << int(name[2:-4])) - 1
        shown = {2: samples[..., :1].reshape(5, 7)} if samples.ndim == 3 else {}
        planes = samples.shape[2] if samples.ndim == 3 else 1
        expected = shown.get(planes, samples if samples.ndim == 2 else samples[..., :3])
        np.testing.assert_array_equal(found.samples, expected)


def test_info_counts_planes_and_bits(mmp, files):
    assert "picture  7x5, 3 planes of 12 bits" in mmp("info", "3x12.mmp").stdout
    assert "picture  7x5, 1 plane of 4 bits" in mmp("info", "1x4.mmp").stdout


def test_what_no_format_holds_is_told():
    for samples in (np.zeros((2, 2, 5), np.uint8), np.zeros((2, 2), np.int32), np.zeros((0, 2))):
        with pytest.raises(mmpcodec.ParameterError, match="must not be empty"):
            pictures.to_bytes(samples, "png")
    assert np.load(io.BytesIO(pictures.to_bytes(deep(4, 12), "npy"))).dtype == np.uint16
