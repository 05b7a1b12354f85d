"""Maps of metrics: what their values are, that metrics follow from them, and their images."""

import colorsys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmpcodec import pictures
from mmpcodec.bench.map_images import LEVELS, RAMP, fits, map_images, ramp
from mmpcodec.bench.metrics import MAPS, maps_of
from mmpcodec.bench.metrics.butteraugli import butteraugli, error_map
from mmpcodec.bench.metrics.ssim import dissimilarity_map, ssim
from mmpcodec.errors import ParameterError
from mmpcodec.metrics import ssimulacra2
from mmpcodec.metrics.samples import doubled, halved

EACH = pytest.mark.parametrize("kind", MAPS.values(), ids=MAPS)


def waves(height=96, width=128, planes=1):
    """A picture of waves; its planes differ."""
    rows, columns = np.indices((height, width))
    planes = [
        128 + 60 * np.sin(rows / (9 - plane)) + 40 * np.cos(columns / (5 + plane))
        for plane in range(planes)
    ]
    return np.stack(planes, 2).squeeze().astype(np.uint8)


def noisy(samples, seed=1, most=9):
    """The picture with errors of up to ``most`` levels."""
    noise = np.random.default_rng(seed).integers(-most, most + 1, samples.shape)
    return np.clip(samples + noise, 0, 255).astype(np.uint8)


@EACH
@pytest.mark.parametrize("planes", [1, 3])
def test_equal_pictures_have_no_error(kind, planes):
    found = kind.function(waves(planes=planes), waves(planes=planes), white=255)
    assert found.shape == (96, 128)
    assert (found == 0).all()


@EACH
@pytest.mark.parametrize("planes", [1, 3])
def test_an_error_in_a_corner_shows_there(kind, planes):
    original = waves(192, 256, planes)
    decoded = original.copy()
    decoded[:16, :16] = noisy(original[:16, :16], most=40)
    found = kind.function(original, decoded, white=255)
    assert found.max() > 0
    assert found.argmax() in np.ravel_multi_index(np.indices((20, 20)), found.shape)
    far = found.copy()
    far[:120, :120] = 0
    rounding = 2.5 if kind.metric.key == "ssimulacra2" else 0  # of its window, see its module
    assert far.max() <= max(rounding, 0.001 * found.max())


@EACH
@pytest.mark.parametrize("planes", [1, 3])
def test_8_and_16_bits_have_the_same_map(kind, planes):
    original = waves(40, 57, planes)
    pair = original, noisy(original)
    found = kind.function(*pair, white=255)
    assert found.max() > 0
    deep = [257 * each.astype(np.uint16) for each in pair]
    np.testing.assert_allclose(kind.function(*deep, white=65535), found, atol=1e-5 * found.max())


@EACH
def test_gray_is_equal_red_green_and_blue(kind):
    pair = waves(), noisy(waves())
    colour = [np.stack([each] * 3, 2) for each in pair]
    found = kind.function(*pair, white=255)
    np.testing.assert_allclose(kind.function(*colour, white=255), found, atol=1e-5 * found.max())


@EACH
def test_stronger_errors_have_larger_values(kind):
    weak, strong = (kind.function(waves(), noisy(waves(), most=k), white=255) for k in (4, 12))
    assert weak.mean() < strong.mean()
    assert weak.max() < strong.max()


@EACH
def test_small_pictures_have_no_map(kind):
    for side, there in ((kind.side - 1, False), (kind.side, True)):
        pair = waves(side, 40), noisy(waves(side, 40))
        assert (kind.function(*pair, white=255) is not None) == there
        assert fits(kind, 40, side) == fits(kind, side, 40) == there


def test_butteraugli_is_the_largest_value_and_the_norm_of_its_map():
    pair = waves(93, 120, 3), noisy(waves(93, 120, 3))
    found = error_map(*pair, white=255).astype(float)
    norms = [(found**power).mean() ** (1 / power) for power in (3, 6, 12)]
    assert butteraugli(*pair, white=255) == pytest.approx((found.max(), np.mean(norms)))


@pytest.mark.parametrize("planes", [1, 3])
def test_ssim_is_the_mean_of_its_map_inside(planes):
    pair = waves(40, 57, planes), noisy(waves(40, 57, planes))
    found = dissimilarity_map(*pair, white=255)
    assert ssim(*pair, white=255) == pytest.approx(1 - found[5:-5, 5:-5].mean())


def place(plane, scale, power, kind):
    """The place of a norm at six scales; its exponent is 1 or 4, its map one of three."""
    return ((plane * 6 + scale) * 2 + (power == 4)) * 3 + kind


@pytest.fixture
def error_as_loss(monkeypatch):
    """Takes the error itself as the loss; gives the weights of norms."""
    monkeypatch.setattr(ssimulacra2, "points_lost", lambda error: error)
    return lambda weights: monkeypatch.setattr(ssimulacra2, "_WEIGHTS", weights)


@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 99), most=st.integers(1, 60))
def test_ssimulacra2_is_between_the_losses_of_mean_and_largest_error(seed, most):
    pair = waves(64, 96, 3), noisy(waves(64, 96, 3), seed, most)
    lost = 100 - ssimulacra2.ssimulacra2(*pair, white=255)
    found = ssimulacra2.loss_map(*pair, white=255)
    assert found.min() < lost < 4 * found.max()
    assert found.mean() < 1.01 * lost


def test_means_of_ssimulacra2_are_the_mean_of_the_map(error_as_loss):
    """With weights of the exponent 1 only, the error of a picture is the mean of its pixels."""
    cells = [(plane, scale, kind) for plane in range(3) for scale in range(6) for kind in range(3)]
    error_as_loss({place(plane, scale, 1, kind): 1 + scale for plane, scale, kind in cells})
    pair = waves(256, 288, 3), noisy(waves(256, 288, 3))
    found = ssimulacra2.loss_map(*pair, white=255)
    assert 100 - ssimulacra2.ssimulacra2(*pair, white=255) == pytest.approx(found.mean(), rel=1e-5)


@pytest.mark.parametrize("kind", range(3))
@pytest.mark.parametrize("plane", range(3))
def test_norms_of_ssimulacra2_are_those_of_the_map(error_as_loss, plane, kind):
    """A map of the finest scale is that of its norm of the exponent 4."""
    error_as_loss({place(plane, 0, 4, kind): 5.0})
    pair = waves(256, 256, 3), noisy(waves(256, 256, 3))
    found = ssimulacra2.loss_map(*pair, white=255).astype(float)
    norm = (found**4).mean() ** (1 / 4)
    assert 100 - ssimulacra2.ssimulacra2(*pair, white=255) == pytest.approx(norm, rel=1e-5)
    assert norm > 0


@pytest.mark.parametrize("shape", [(5, 8), (1, 1), (2, 7)])
def test_doubled_keeps_mean_and_range(shape):
    plane = np.random.default_rng(3).random(shape)
    found = doubled(plane)
    assert found.shape == (2 * shape[0], 2 * shape[1])
    assert found.mean() == pytest.approx(plane.mean())
    assert plane.min() <= found.min() <= found.max() <= plane.max()


def test_doubled_draws_straight_lines():
    np.testing.assert_allclose(doubled(np.array([[0.0, 4.0]])), [[0, 1, 3, 4]] * 2)
    np.testing.assert_allclose(doubled(np.array([[0.0], [4.0]]))[:, 0], [0, 1, 3, 4])


@pytest.fixture
def stored(tmp_path):
    """Writes pictures to files and returns their paths."""

    def write(**named):
        paths = {name: tmp_path / f"{name}.png" for name in named}
        for name, path in paths.items():
            pictures.write(named[name], path)
        return paths

    return write


@EACH
def test_images_of_a_picture_have_one_scale(kind, stored):
    original = waves(41, 57, 3)
    weak, strong = noisy(original, most=4), noisy(original, most=20)
    paths = stored(original=original, weak=weak, strong=strong, same=original)
    first = paths.pop("original")
    found = map_images(kind, first, paths, 255)
    values = [kind.function(original, each, white=255)[None] for each in (weak, strong)]
    means = [halved(each)[0] for each in values]
    assert found.top == pytest.approx(means[1].max())
    assert [found.levels[name].shape for name in ("weak", "same")] == [(21, 29)] * 2
    assert found.levels["strong"].max() == LEVELS - 1
    assert not found.levels["same"].any()
    for name, expected in zip(("weak", "strong"), means, strict=True):
        shown = found.top * (found.levels[name] / (LEVELS - 1)) ** 2
        step = found.top / (LEVELS - 1)
        np.testing.assert_allclose(shown, expected, atol=1.01 * step)


@EACH
def test_images_without_an_error(kind, stored):
    paths = stored(original=waves(), same=waves())
    found = map_images(kind, paths["original"], {"k": paths["same"]}, 255)
    assert found.top == 0
    assert not found.levels["k"].any()


def test_images_leave_alpha_out(stored):
    samples = np.dstack([waves(planes=3), noisy(waves())])
    other = samples.copy()
    other[..., 3] //= 2
    paths = stored(original=samples, decoded=other)
    found = map_images(MAPS["butteraugli"], paths["original"], {"k": paths["decoded"]}, 255)
    assert found.top == 0


def test_small_pictures_have_no_image(stored):
    paths = stored(original=waves(10, 40), decoded=waves(10, 40))
    with pytest.raises(ValueError, match=r"decoded\.png: is too small for a map of SSIM"):
        map_images(MAPS["ssim"], paths["original"], {"k": paths["decoded"]}, 255)


def test_colours_rise_in_lightness():
    """In luminance, and in what is left of it without red or green cones."""
    colours = np.array([list(bytes.fromhex(each)) for each in ramp()]) / 255
    assert colours.shape == (RAMP, 3)
    assert colours[0].max() == 0
    light = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    luminance = light @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(luminance) >= 0).all()
    assert luminance[-1] > 0.85
    steps = np.diff(116 * np.cbrt(luminance)[RAMP // 8 :: RAMP // 8] - 16)
    assert steps.min() > 0.75 * steps.max()  # even to the eye
    for cones in ([0.11, 0.89, 0], [0.29, 0.71, 0]):  # Viénot, Brettel, Mollon 1999
        assert (np.diff(light @ cones) >= -1e-3).all()
    hues = [colorsys.rgb_to_hsv(*each)[0] for each in colours[[64, 160, 255]]]
    assert hues == pytest.approx([0.88, 0.04, 0.16], abs=0.06)  # violet, orange, yellow


def test_names():
    assert maps_of(None) == ()
    assert [each.metric.title for each in maps_of("butteraugli, ssim")] == ["SSIM", "Butteraugli"]
    assert maps_of("all") == tuple(MAPS.values())
    for text in ("psnr", "ssim,", "", "ssim;butteraugli"):
        with pytest.raises(ParameterError, match=r"must be all, or some of ssim,ssimulacra2,butt"):
            maps_of(text)
