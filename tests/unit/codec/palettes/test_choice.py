"""The palettes that the encoder chooses for tiles."""

import numpy as np
import pytest

import mmpcodec
from mmpcodec.backends.cpu import CpuBackend
from mmpcodec.codec.palettes.cells import (
    cell_sums,
    few_colours,
    has_few_colours,
    looks_drawn,
)


def smooth(rows, columns, size, seed):
    """Noise with details of some size, mean 0 and standard deviation 1."""
    field = np.random.default_rng(seed).normal(0, 1, (rows, columns))
    for axis in (0, 1, 0, 1):
        field = np.apply_along_axis(np.convolve, axis, field, np.ones(size), "same")
    return field / field.std()


def page(rows, columns, colours, seed=1):
    """Strokes with soft edges, in the colours of a (K, C) array from paper to ink."""
    lines = np.arange(rows)[:, None] % 16 < 11
    strokes = np.clip(0.8 - np.abs(smooth(rows, columns, 5, seed)) * 2, 0, 0.8) / 0.8
    numbers = np.rint(strokes * lines * (len(colours) - 1)).astype(int)
    return np.array(colours, np.uint16)[numbers]


def photograph(rows, columns, seed=2):
    planes = [smooth(rows, columns, 9, seed + plane) * 40 for plane in range(3)]
    noise = np.random.default_rng(seed).normal(0, 3, (rows, columns, 3))
    return np.clip(128 + np.dstack(planes) + noise, 0, 255).astype(np.uint16)


RGB = np.linspace([250, 250, 250], [20, 10, 90], 6).round().astype(int)


@pytest.fixture(scope="module")
def window():
    """A page with a photograph in it."""
    picture = page(160, 224, RGB)
    picture[48:128, 96:208] = photograph(80, 112)
    return picture.astype(np.uint8)


def encoded(picture, lam=40, **options):
    options = {"effort": 1, "threads": 2, **options}
    depth, backend, threads = (
        options.pop(name, default)
        for name, default in (("depth", None), ("backend", "cpu"), ("threads", 2))
    )
    tile_size = options.pop("tile_size", 0)
    params = mmpcodec.EncodeParams.from_options(lam, **options)
    found = mmpcodec.encode_picture(
        picture, params, depth=depth, backend=backend, threads=threads, tile_size=tile_size
    )
    inspected = mmpcodec.inspect(found.data, decode=True)
    assert np.array_equal(inspected.samples, found.samples)
    assert [facts(layer) for layer in inspected.layers] == [facts(one) for one in found.layers]
    return found


def facts(layer):
    place = (
        layer.name,
        layer.tile,
        layer.depth,
        layer.payload_bytes,
        layer.entries,
        layer.transparent,
    )
    return *place, layer.trace.cell_rates.tolist(), layer.trace.bits


def cost(picture, found, lam):
    error = (picture.astype(int) - found.samples) ** 2
    planes = 1 if picture.ndim == 2 else picture.shape[2]
    return error.sum() / planes + lam * 8 * len(found.data)


@pytest.mark.parametrize("lam", [10, 150])
def test_a_palette_draws_the_page_and_leaves_the_photograph(window, lam):
    found, without = encoded(window, lam), encoded(window, lam, palette=False)
    assert [layer.name for layer in found.layers] == [
        "palette",
        "luma",
        "Co",
        "Cg",
    ]
    assert found.layers[0].transparent
    drawn = found.layers[0].trace.drawn
    assert drawn[:48].mean() > 0.95
    assert drawn[64:112, 112:192].mean() < 0.1
    assert cost(window, found, lam) < 0.85 * cost(window, without, lam)


def test_a_page_has_no_layer_below_its_palette():
    picture = page(128, 160, RGB).astype(np.uint8)
    found = encoded(picture, 60)
    (palette,) = found.layers
    assert (palette.name, palette.transparent) == ("palette", False)
    assert palette.entries <= 6
    assert palette.trace.drawn.all()


@pytest.mark.parametrize("depth", [8, 12])
def test_gray_pages(depth):
    levels = np.linspace(240, 20, 40).round().astype(int)[:, None] << depth - 8
    picture = page(128, 160, levels)[..., 0].astype(np.uint8 if depth == 8 else np.uint16)
    found = encoded(picture, 90, depth=depth)
    assert found.layers[0].name == "palette"
    assert found.layers[0].entries <= 24
    without = encoded(picture, 90, depth=depth, palette=False)
    lam = 90 * 4 ** (depth - 8)
    assert cost(picture, found, lam) < cost(picture, without, lam)


def test_deep_colours():
    picture = page(128, 160, np.array(RGB) * 250)
    found = encoded(picture, 60, depth=16)
    assert found.layers[0].name == "palette"
    assert found.samples.dtype == np.uint16


def test_alpha_stays_lossless_and_hidden_pixels_do_not_count(window):
    alpha = np.full(window.shape[:2], 255, np.uint8)
    alpha[100:140, :60] = 0
    alpha[10:20] = 77
    picture = np.dstack([window, alpha])
    picture[100:140, :60, :3] = np.random.default_rng(4).integers(0, 256, (40, 60, 3))
    found = encoded(picture)
    assert found.layers[0].name == "palette"
    assert np.array_equal(found.samples[..., 3], alpha)
    plain = np.dstack([window, alpha])
    assert len(found.data) < 1.05 * len(encoded(plain).data)


@pytest.mark.parametrize("effort", [1, 2])
@pytest.mark.parametrize("options", [{"lam": 0}, {"preset": "lossless"}, {"max_error": 1}])
def test_files_without_loss_have_no_palettes(options, effort):
    """Whole pixels that repeat take their place, and nobody can ask for one."""
    colours = np.random.default_rng(9).integers(0, 256, (6, 3))
    picture = page(160, 224, colours).astype(np.uint8)
    with pytest.raises(mmpcodec.ParameterError, match="palette = True: has no effect on lossless"):
        encoded(picture, palette=True, effort=effort, **options)
    found = encoded(picture, effort=effort, **options)
    assert np.array_equal(found.samples, picture)
    assert {layer.name for layer in found.layers} == {"RGB"}


@pytest.mark.parametrize("tile_size", [0, 64])
def test_a_maximal_error_leaves_lossless_files(tile_size):
    picture = page(160, 224, RGB).astype(np.uint8)
    options = {"tile_size": tile_size, "effort": 2}
    near = encoded(picture, max_error=1, **options)
    assert np.array_equal(near.samples, picture)
    assert len(near.data) <= len(encoded(picture, 0, **options).data)


@pytest.mark.parametrize("preset", ["photo", "text"])
def test_a_single_preset_has_palettes_if_they_are_asked_for(window, preset):
    found = encoded(window, preset=preset, palette=True)
    assert found.layers[0].name == "palette"
    assert encoded(window, preset=preset).layers[0].name == "luma"


def test_threads_change_no_byte(window):
    assert encoded(window, threads=1).data == encoded(window, threads=3).data


@pytest.mark.parametrize("effort", [1, 2])
def test_a_small_tile_takes_few_trials(window, monkeypatch, effort):
    """One climb over numbers of colours, which steps by one, and no colours of whole trials."""
    encode, calls = CpuBackend.encode, []

    def counted(self, task, **more):
        if task.params.tools.lossless:
            calls.append(task.plane.shape)
        return encode(self, task, **more)

    monkeypatch.setattr(CpuBackend, "encode", counted)
    encoded(window[:128, :64], effort=effort)
    numbers = [shape for shape in calls if shape == (128, 64)]
    assert len(numbers) <= 7
    assert len(calls) - len(numbers) <= 7  # one is the tile without loss


FLAT = np.full((300, 340, 3), [30, 40, 50], np.uint8)  # smaller ones are tried in all ways
HALFTONE = 255 * (np.random.default_rng(3).random((96, 96, 3)) < 0.5).astype(np.uint8)


@pytest.mark.parametrize("picture", [FLAT, FLAT[..., 0], HALFTONE], ids=["RGB", "gray", "halftone"])
@pytest.mark.parametrize("lam", [4, 40, 400])
def test_pictures_of_few_colours_are_tried_without_loss(picture, lam):
    """No lambda makes them larger, or worse, than their file without loss."""
    found = encoded(picture, lam, effort=2)
    exact = encoded(picture, 0, effort=2)
    assert cost(picture, found, lam) <= cost(picture, exact, lam)
    if picture is not HALFTONE:
        assert np.array_equal(found.samples, picture)
        assert len(found.data) == len(exact.data)


def test_few_colours_are_counted_with_alpha():
    assert has_few_colours(FLAT, 1)
    assert has_few_colours(HALFTONE, 8)
    assert not has_few_colours(HALFTONE, 7)
    with_alpha = np.dstack([FLAT[:70, :90], np.arange(90, dtype=np.uint8)[None].repeat(70, 0)])
    assert has_few_colours(with_alpha, 90)
    assert not has_few_colours(with_alpha, 89)
    late = np.zeros((64, 5), np.uint16)
    late[33, 2] = 1 << 15
    assert not has_few_colours(late, 1)


@pytest.mark.parametrize("effort", [1, 2])
def test_a_lambda_costs_no_more_than_the_files_of_others(effort):
    """Soft strokes of 40 colours with a shade over the whole page."""
    shades = np.linspace([250, 250, 250], [20, 10, 90], 40).round().astype(int)
    picture = page(128, 160, shades).astype(np.int64) - np.arange(160)[None, :, None] // 40
    picture = np.clip(picture, 0, 255).astype(np.uint8)
    lambdas = [6 * 1.6**k for k in range(9)]
    files = [encoded(picture, lam, effort=effort) for lam in lambdas]
    for lam, own in zip(lambdas, files, strict=True):
        assert cost(picture, own, lam) <= 1.03 * min(cost(picture, one, lam) for one in files)


def test_tiles_have_their_own_palettes(window):
    found = encoded(window, tile_size=64)
    tiles = {layer.tile for layer in found.layers if layer.name == "palette"}
    assert {0, 1, 2, 3, 4} <= tiles
    # The tile within the photograph has none.
    assert 6 not in tiles


def test_the_reference_writes_the_same_palette():
    picture = page(16, 24, np.linspace(250, 20, 40).round()[:, None])[..., 0].astype(np.uint8)
    options = {"preset": "photo", "palette": True}
    found, reference = (
        encoded(picture, 60, backend=backend, **options) for backend in ("cpu", "reference")
    )
    assert found.layers[0].name == "palette"
    assert reference.data == found.data


def test_a_target_is_kept(window):
    part = window[:64, :112]
    data = mmpcodec.encode(part, target_size=1500, effort=1)
    assert 1250 < len(data) <= 1500
    assert mmpcodec.inspect(data).layers[0].name == "palette"


def test_roi_leaves_palettes_out(window):
    roi = np.zeros(window.shape[:2], np.int8)
    roi[:40] = 4
    found = mmpcodec.encode(window, 40, effort=1, roi=roi)
    assert mmpcodec.inspect(found).layers[0].name == "luma"


def test_photographs_do_not_look_drawn(window):
    assert looks_drawn(window, 8)
    assert not looks_drawn(photograph(160, 224).astype(np.uint8), 8)
    assert not looks_drawn(np.full((64, 64), 7, np.uint8), 8)
    dark = window // 16
    assert not looks_drawn(dark, 8)
    assert looks_drawn(dark, 4)
    assert looks_drawn(window[..., 0], 8)


def test_cells_at_the_borders_are_smaller():
    values = np.arange(20 * 33).reshape(20, 33)
    found = cell_sums(values)
    assert found.shape == (2, 3)
    assert found[1, 2] == values[16:, 32:].sum()
    assert found.sum() == values.sum()


def test_cells_with_few_colours():
    places = np.zeros((16, 48), int)
    places[:, 16:32] = np.arange(256).reshape(16, 16) % 48
    places[:, 32:] = np.arange(256).reshape(16, 16) % 49
    assert few_colours(places).tolist() == [[True, True, False]]


def test_a_palette_is_true_or_false():
    with pytest.raises(mmpcodec.ParameterError, match="palette = 3: must be"):
        mmpcodec.encode(np.zeros((8, 8), np.uint8), 10, preset="lossless", palette=3)


@pytest.mark.parametrize("lam", [0, 40])
def test_progress_counts_trials_of_palettes_and_cancels_them(window, lam):
    calls = []
    picture = window if lam else page(160, 224, RGB).astype(np.uint8)
    params = mmpcodec.EncodeParams.from_options(lam, effort=1)

    def encode(keeps_on):
        def progress(*call):
            calls.append(call)
            return keeps_on(call)

        mmpcodec.encode_picture(picture, params, backend="cpu", threads=1, progress=progress)

    encode(lambda call: True)
    assert calls == sorted(calls)
    total = calls[-1][1]
    assert {call[1] for call in calls} == {total}
    assert calls[-1][0] == total
    in_palette = [done for done, _ in calls if done > total - 3 * 140]
    assert len(set(in_palette)) > 8
    before = in_palette[len(in_palette) // 2]
    calls.clear()
    with pytest.raises(mmpcodec.errors.Cancelled):
        encode(lambda call: call[0] < before)
    assert calls[-1][0] == before


def test_a_picture_that_does_not_look_drawn_has_no_share_for_palettes():
    calls = []
    options = {"effort": 1, "preset": "photo", "palette": True}
    params = mmpcodec.EncodeParams.from_options(40, **options)
    picture = photograph(64, 64).astype(np.uint8)
    mmpcodec.encode_picture(
        picture, params, backend="cpu", progress=lambda *call: calls.append(call) or True
    )
    assert calls[-1] == (3 * 16, 3 * 16)
