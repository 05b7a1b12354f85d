"""What ``mmp encode`` says besides its results."""

import numpy as np
import pytest
from PIL import Image


@pytest.fixture
def noisy(folder):
    """A JPEG of a noisy picture, which takes several times its bytes without loss."""
    noise = np.random.default_rng(5).normal(128, 20, (64, 64)).clip(0, 255).astype(np.uint8)
    Image.fromarray(noise).save("a.jpg", quality=40)
    Image.fromarray(noise).save("b.png")
    return "a.jpg"


def test_lossless_files_larger_than_their_jpeg(mmp, noisy):
    assert mmp("encode", noisy, "--lossless").stderr == ""  # the file itself is kept
    result = mmp("encode", noisy, "--lossless", "--samples", "--json", "-f")
    assert result.exit_code == 0
    assert result.stderr.startswith("mmp: a.jpg: the output has ")
    assert result.stderr.endswith(
        " times the bytes of this JPEG file, as --samples codes its samples; without, the file "
        "itself is kept, in fewer bytes\n"
    )
    assert float(result.stderr.split()[5]) > 1.5


def test_other_files_are_no_bad_bargain(mmp, noisy):
    assert mmp("encode", noisy, "--quality", "10").stderr == ""
    assert mmp("encode", "b.png", "--lossless").stderr == ""


def test_the_quality_may_be_too_high(mmp, noisy):
    result = mmp("encode", noisy, "-l", "0.5")
    assert "; a lower quality makes it smaller, or keep the file as it is" in result.stderr


@pytest.mark.parametrize("preset", ["plain", "classic"])
@pytest.mark.parametrize("option", [["--fast"], ["--effort", "6"]])
def test_options_without_effect(mmp, noisy, preset, option):
    result = mmp("encode", "b.png", "--preset", preset, *option)
    assert result.stderr == (
        f"mmp: {option[0]}: has no effect with preset {preset}; "
        "take preset photo, mixed or lossless\n"
    )
