"""Colours, alpha and tiles on a CUDA device: trees give the bytes of the host, all decode there."""

import numpy as np
import pytest
from support.strategies import natural, text_like

import mmpcodec
from mmpcodec import BackendUnavailable, EncodeParams

pytestmark = pytest.mark.gpu


def colours(planes, shape=(90, 130)):
    """A shade with letters in the lower part."""
    rng = np.random.default_rng(planes)
    samples = np.stack([natural(rng, *shape) for _ in range(planes)], axis=2)
    samples[60:] = text_like(rng, 30, shape[1])[..., None]
    return samples[..., 0] if planes == 1 else samples


@pytest.mark.parametrize("planes", [1, 2, 3, 4])
@pytest.mark.parametrize("preset", ["plain", "text", "photo"])
@pytest.mark.parametrize("tile_size", [0, 64])
def test_forms_and_tiles(planes, preset, tile_size):
    samples = colours(planes)
    params = EncodeParams.from_options(40, preset=preset, effort=1)
    found = mmpcodec.encode_picture(samples, params, backend="cuda", tile_size=tile_size)
    np.testing.assert_array_equal(mmpcodec.decode(found.data), found.samples)
    if preset != "photo":  # the device searches for predicted blocks with fewer tools
        options = {"displaced_blocks": 0} if preset == "text" else {}
        params = EncodeParams.from_options(40, preset=preset, effort=1, **options)
        expected = mmpcodec.encode_picture(samples, params, backend="cpu", tile_size=tile_size)
        assert found.data == expected.data


@pytest.mark.parametrize("planes", [1, 3, 4])
def test_pictures_on_the_device(planes):
    cupy = pytest.importorskip("cupy")
    samples = colours(planes)
    expected = mmpcodec.encode(samples, 40, backend="cuda", tile_size=64, effort=1)
    assert mmpcodec.encode(cupy.asarray(samples), 40, tile_size=64, effort=1) == expected


def test_lossless_colours_on_the_device():
    samples = colours(3)
    params = EncodeParams.from_options(0, preset="text")
    found = mmpcodec.encode_picture(samples, params, backend="cuda")
    assert found.data == mmpcodec.encode(
        samples, 0, preset="text", displaced_blocks=0, backend="cpu"
    )
    np.testing.assert_array_equal(mmpcodec.decode(found.data), samples)


def test_deep_samples_are_refused_by_name():
    deep = np.zeros((20, 20), np.uint16)
    deep[0, 0] = 4095  # so that coded levels have more than 8 bits
    with pytest.raises(BackendUnavailable, match="cuda cannot run here: it has no"):
        mmpcodec.encode(deep, 8, depth=12, preset="photo", backend="cuda")
    # "auto" lets another code them.
    assert mmpcodec.encode(deep, 8, depth=12, backend="cuda") == mmpcodec.encode(deep, 8, depth=12)
