"""mmp encode --palette and --no-palette."""

import numpy as np
import pytest

import mmpcodec
from mmpcodec import pictures


@pytest.fixture
def page(tmp_path):
    """A gray file of soft strokes on paper."""
    noise = np.random.default_rng(3).normal(0, 1, (96, 128))
    for axis in (0, 1, 0, 1):
        noise = np.apply_along_axis(np.convolve, axis, noise, np.ones(5) / 5, "same")
    soft = np.clip(1 - 2 * np.abs(noise) / noise.std(), 0, 1)
    samples = (250 - 220 * soft).astype(np.uint8)
    path = tmp_path / "page.png"
    path.write_bytes(pictures.to_bytes(pictures.Picture(samples, 8), "png"))
    return path


def layers(path):
    return [layer.name for layer in mmpcodec.inspect(path.with_suffix(".mmp").read_bytes()).layers]


def test_auto_draws_pages(mmp, page):
    assert mmp("encode", page, "-l", 40).exit_code == 0
    assert layers(page) == ["palette"]
    assert "palette" in mmp("info", page.with_suffix(".mmp")).stdout
    assert mmp("encode", page, "-l", 40, "--no-palette", "-f").exit_code == 0
    assert layers(page) == ["gray"]


@pytest.mark.parametrize(
    "option",
    [
        ("--lossless",),
        ("--max-error", "2"),
        ("--max-error", "0"),
        ("-l", "0"),
        ("--quality", "100"),
        ("--preset", "lossless"),
    ],
)
def test_files_without_a_palette_refuse_to_be_asked_for_one(mmp, page, option):
    found = mmp("encode", page, *option, "--palette")
    assert found.exit_code == 2
    message = "--palette: has no effect on lossless files or with --max-error: they code pixels"
    assert message in " ".join(found.stderr.split())
    assert not page.with_suffix(".mmp").exists()
    assert mmp("encode", page, *option, "--no-palette").exit_code == 0


def test_a_preset_draws_if_asked(mmp, page):
    mmp("encode", page, "-l", 40, "--preset", "photo", "--palette")
    assert layers(page) == ["palette"]
