"""Lossless samples on the command line."""

import io
from pathlib import Path

import numpy as np
import pytest

import mmpcodec
from mmpcodec import pictures

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
        Path(name).write_bytes(mmpcodec.encode(samples, 0, depth=depth, preset="lossless"))
        held[name] = samples
    return held


def test_preset_exact(mmp, folder):
    samples = deep(1, 8)
    pictures.write(samples, "p.pgm")
    result = mmp("encode", "p.pgm", "--preset", "lossless", "-l", 20, "--verify", "-v")
    assert result.exit_code == 0, result.output
    assert "lossless samples, lossless form 2" in result.output
    assert result.output.splitlines()[-1].startswith("  bits: ")
    assert Path("p.mmp").read_bytes() == mmpcodec.encode(samples, 0, preset="lossless")
    shown = mmp("info", "p.mmp")
    assert " bytes: lossless samples" in shown.stdout
    assert "residual" in shown.stdout
    drawn = mmp("info", "p.mmp", "--map", "map.png")
    assert drawn.exit_code == 1
    assert "--map: the file holds lossless samples, which have no leaves or blocks" in drawn.stderr


def test_every_form_decodes_to_what_can_hold_it(mmp, files):
    for name, samples in files.items():
        assert mmp("decode", name, "--format", "npy", "-f").exit_code == 0
        np.testing.assert_array_equal(np.load(name.replace(".mmp", ".npy")), samples)
        for format in ("png", "tif", "pam"):
            result = mmp("decode", name, "--format", format, "-f")
            assert result.exit_code == 0, result.output
            found = pictures.read(name.replace("mmp", format))
            np.testing.assert_array_equal(found.samples, samples)
            assert found.depth == int(name[2:-4])
    assert mmp("decode", "3x8.mmp", "-o", "x.ppm").exit_code == 0
    np.testing.assert_array_equal(pictures.read("x.ppm").samples, files["3x8.mmp"])
    refused = mmp("decode", "4x8.mmp", "-o", "x.pgm")
    assert refused.exit_code == 1
    assert "format = 'pgm' for RGB with alpha: must be one of pam, png" in refused.stderr


def test_pgm_says_what_is_white(mmp, files):
    assert mmp("decode", "1x12.mmp", "-o", "deep.pgm").exit_code == 0
    assert Path("deep.pgm").read_bytes().startswith(b"P5\n7 5\n4095\n")
    found = pictures.from_bytes(Path("deep.pgm").read_bytes())
    assert found.white == 4095
    np.testing.assert_array_equal(found.samples, files["1x12.mmp"])


def test_tools_read_every_form(files):
    for name, samples in files.items():
        found = pictures.from_bytes(Path(name).read_bytes())
        assert (found.depth, found.white) == (int(name[2:-4]), (1 << int(name[2:-4])) - 1)
        np.testing.assert_array_equal(found.samples, samples)


def test_info_counts_planes_and_bits(mmp, files):
    assert "picture  7x5, RGB of 12 bits, white 4095" in mmp("info", "3x12.mmp").stdout
    assert "picture  7x5, gray of 4 bits, white 15" in mmp("info", "1x4.mmp").stdout


def test_what_no_format_holds_is_reported():
    for samples in (np.zeros((2, 2, 5), np.uint8), np.zeros((2, 2), np.int32), np.zeros((0, 2))):
        with pytest.raises(mmpcodec.ParameterError, match="with at least one pixel"):
            pictures.to_bytes(samples, "png")
    assert np.load(io.BytesIO(pictures.to_bytes(deep(4, 12), "npy"))).dtype == np.uint16
