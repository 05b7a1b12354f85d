"""mmp encode --max-error, and the efforts of lossless files of version 2."""

import numpy as np
import pytest

import mmpcodec
from mmpcodec import pictures


@pytest.fixture
def picture(tmp_path):
    """A file of noise on a slope, RGB with alpha, and its samples."""
    i, j, c = np.indices((40, 50, 4))
    noise = np.random.default_rng(2).integers(0, 20, i.shape)
    samples = (3 * i + 2 * j + 5 * c + noise).astype(np.uint8)
    path = tmp_path / "slope.png"
    path.write_bytes(pictures.to_bytes(pictures.Picture(samples, 8), "png"))
    return path, samples


@pytest.mark.parametrize("error", [0, 1, 5])
def test_no_sample_is_off_by_more(mmp, picture, error):
    path, samples = picture
    out = path.with_suffix(".mmp")
    assert mmp("encode", path, "--format", "2", "--max-error", error).exit_code == 0
    found = mmpcodec.inspect(out.read_bytes())
    assert [layer.tools.max_error for layer in found.layers] == [error]
    decoded = mmpcodec.decode(out.read_bytes())
    worst = np.abs(decoded.astype(int) - samples).max()
    assert worst == error
    assert f"max error {error}" in mmp("info", out).stdout


def test_larger_errors_make_smaller_files(mmp, picture):
    path, _ = picture
    sizes = []
    for error in (0, 1, 3, 9):
        mmp("encode", path, "--format", "2", "--max-error", error, "--force")
        sizes.append(path.with_suffix(".mmp").stat().st_size)
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < sizes[0] / 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--max-error", "2"], "max_error = 2: needs version 2 of the format; version is 1"),
        (["--max-error", "-1", "--format", "2"], "max_error = -1: must be from 0 to 32767"),
        (
            ["--max-error", "2", "--format", "2", "--lossless"],
            "max_error = 2: must be 0 with lam = 0",
        ),
        (["--max-error", "2", "--format", "2", "--preset", "photo"], "take preset exact"),
    ],
)
def test_errors_name_the_option(mmp, picture, options, message):
    path, _ = picture
    found = mmp("encode", path, *options)
    assert found.exit_code == 2
    assert message in found.stderr
    assert not path.with_suffix(".mmp").exists()


def test_efforts_have_more_predictors_and_models(mmp, picture):
    path, samples = picture
    forms = []
    for effort in (1, 2, 4, 6, 9):
        options = "--format", "2", "--lossless", "--preset", "exact", "--effort", effort, "--force"
        assert mmp("encode", path, *options).exit_code == 0
        data = path.with_suffix(".mmp").read_bytes()
        np.testing.assert_array_equal(mmpcodec.decode(data), samples)
        tools = mmpcodec.inspect(data).layers[0].tools
        forms.append((tools.predictors, tools.models, tools.weight_sets, tools.last_stage))
    assert forms == [
        (1, 2, 1, False),
        (1, 8, 4, True),
        (1, 16, 4, True),
        (3, 16, 4, True),
        (3, 16, 4, True),
    ]


def test_effort_has_no_effect_on_exact_samples_of_version_1(mmp, picture):
    path, _ = picture
    found = mmp("encode", path, "--preset", "exact", "--effort", "3")
    assert "--effort: has no effect with preset exact" in found.stderr
