"""mmp encode --max-error, and the efforts of lossless files."""

from dataclasses import replace

import numpy as np
import pytest

import mmpcodec
from mmpcodec import EncodeParams, ParameterError, Target, pictures
from mmpcodec.backends.cuda.backend import CudaBackend
from mmpcodec.presets import PRESETS

NEAR = "--max-error", "2"


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
    result = mmp("encode", path, "--max-error", error)
    assert result.exit_code == 0
    assert "lambda" not in result.stdout
    found = mmpcodec.inspect(out.read_bytes())
    # Alpha is always lossless.
    expected = [error] if error == 0 else [error, error, error, 0]
    assert [layer.tools.max_error for layer in found.layers] == expected
    decoded = mmpcodec.decode(out.read_bytes())
    worst = np.abs(decoded.astype(int) - samples).max(axis=(0, 1))
    assert worst.tolist() == [error, error, error, 0]
    assert f"max error {error}" in mmp("info", out).stdout


def test_larger_errors_make_smaller_files(mmp, picture):
    path, _ = picture
    sizes = []
    for error in (0, 1, 3, 9):
        mmp("encode", path, "--max-error", error, "--force")
        sizes.append(path.with_suffix(".mmp").stat().st_size)
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < sizes[0] / 2


def test_no_error_is_lossless(mmp, picture):
    """0 says what --lossless says, so both may be given."""
    path, _ = picture
    files = []
    for options in (["--lossless"], ["--max-error", "0"], ["--lossless", "--max-error", "0"]):
        assert mmp("encode", path, *options, "--force").exit_code == 0
        files.append(path.with_suffix(".mmp").read_bytes())
    assert files[1:] == files[:1] * 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--max-error", "-1"], "max_error = -1: must be from 0 to 32767"),
        (["--max-error", "9" * 10], "a whole number of samples from 0 to 32767, such as 3, or"),
        ([*NEAR, "--preset", "photo"], "take preset lossless"),
        ([*NEAR, "--lossless"], "--max-error and --lossless: give only one of them"),
        ([*NEAR, "--lambda", "0"], "--max-error and --lambda 0: give only one of them"),
        ([*NEAR, "--quality", "100"], "--max-error and --quality 100: give only one of them"),
        ([*NEAR, "--target-size", "5kB"], "--max-error and --target-size: give only one of them"),
        ([*NEAR, "--target-bpp", "1"], "--max-error and --target-bpp: give only one of them"),
        ([*NEAR, "--target-psnr", "30"], "--max-error and --target-psnr: give only one of them"),
        ([*NEAR, "--target-ssimulacra2", "80"], "--max-error and --target-ssimulacra2: give only"),
        (["--max-error", "x"], "max_error = 'x': must be a whole number of samples"),
        (["--max-error", "2.5"], "max_error = '2.5': must be a whole number of samples"),
        (
            [*NEAR, "--partition", "dyadic"],
            "'auto': no preset uses all of max_error = 2, partition = 'dyadic'",
        ),
    ],
)
def test_errors_name_the_option(mmp, picture, options, message):
    path, _ = picture
    found = mmp("encode", path, *options)
    assert found.exit_code == 2
    assert message in found.stderr
    assert not path.with_suffix(".mmp").exists()


@pytest.mark.parametrize(
    "options",
    [("--lambda", "20"), ("--quality", "50"), ("--rate-model", "log2")],
)
@pytest.mark.parametrize("preset", ["auto", "lossless"])
def test_options_without_effect_are_said(mmp, picture, options, preset):
    found = mmp("encode", picture[0], *NEAR, "--preset", preset, *options)
    assert found.exit_code == 0
    assert f"mmp: {options[0]}: has no effect with --max-error\n" in found.stderr
    assert "lossless" not in found.stderr


def test_a_target_of_the_library_excludes_it(picture):
    samples = picture[1]
    of_quality = {"target_psnr": 30}, {"target_ssimulacra2": 80}
    for target in ({"target_size": 5000}, {"target_bpp": 1}, *of_quality):
        name = next(iter(target))
        says = f"{name} and max_error = 2: give only one of them"
        with pytest.raises(ParameterError, match=says):
            mmpcodec.encode(samples, max_error=2, **target)
        params = EncodeParams.from_options(max_error=2)
        (value,) = target.values()
        with pytest.raises(ParameterError, match=says):
            mmpcodec.encode_picture(
                samples, params, target=Target(name.removeprefix("target_"), value)
            )
    with pytest.raises(ParameterError, match="quality = 100, which is lossless, and max_error"):
        mmpcodec.encode(samples, max_error=2, quality=100)


def test_a_device_names_a_backend_that_bounds_errors():
    tools = PRESETS["lossless"]
    able = "it has no lossless samples; take "
    assert CudaBackend().fault(replace(tools, max_error=1)) == f"{able}backend cpu"
    assert CudaBackend().fault(tools) == f"{able}preset photo, text, plain or classic"


def test_efforts_choose_the_lossless_form(mmp, picture):
    path, samples = picture
    forms = []
    for effort in (1, 2, 4, 6, 9):
        options = "--lossless", "--preset", "lossless", "--effort", effort, "--force"
        assert mmp("encode", path, *options).exit_code == 0
        data = path.with_suffix(".mmp").read_bytes()
        np.testing.assert_array_equal(mmpcodec.decode(data), samples)
        forms.append(mmpcodec.inspect(data).layers[0].tools.lossless_form)
    assert forms == [1, 2, 2, 3, 3]
