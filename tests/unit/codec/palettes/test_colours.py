"""Colours of palettes: histograms, clusters, nearest colours."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mmpcodec.codec.palettes.colours import Clusters, Drawing, Histogram, nearest


def test_a_histogram_has_each_colour_once():
    pixels = np.array([[5, 0, 9], [1, 2, 3], [5, 0, 9], [1, 2, 65535]], np.uint16)
    found = Histogram.of(pixels)
    assert found.colours.tolist() == [[1, 2, 3], [1, 2, 65535], [5, 0, 9]]
    assert found.places.tolist() == [2, 0, 2, 1]


def test_the_first_of_equally_near_colours_is_taken():
    palette = np.array([[10, 10, 10], [20, 20, 20], [20, 20, 20]])
    assert nearest(np.array([[15, 15, 15], [16, 15, 15], [0, 0, 0]]), palette).tolist() == [0, 1, 0]


@given(
    pixels=arrays(np.uint8, st.tuples(st.integers(1, 60), st.sampled_from((1, 3)))),
    size=st.integers(1, 70),
)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_palettes_hold_the_colours_if_there_are_few(pixels, size):
    histogram = Histogram.of(pixels)
    palette = histogram.clusters().palette(size)
    assert 1 <= len(palette) <= size
    assert palette.tolist() == np.unique(palette, axis=0).tolist()
    if len(histogram.colours) <= size:
        assert palette.tolist() == histogram.colours.tolist()
        assert not Drawing(palette, histogram).errors.any()


def test_two_groups_of_levels_become_their_means():
    pixels = np.repeat([10, 11, 12, 200, 204], [1, 1, 1, 3, 1])[:, None]
    palette = Histogram.of(pixels).clusters().palette(2)
    assert palette.tolist() == [[11], [201]]
    drawing = Drawing(palette, Histogram.of(pixels))
    assert drawing.numbers.tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert drawing.errors.tolist() == [1, 0, 1, 1, 1, 1, 9]


def test_means_are_rounded_half_up():
    assert Histogram.of(np.array([[10, 7], [11, 7]])).clusters().palette(1).tolist() == [[11, 7]]


def test_more_colours_have_less_error():
    rng = np.random.default_rng(7)
    histogram = Histogram.of(rng.integers(0, 256, (3000, 3), np.uint8))
    clusters = histogram.clusters()
    errors = [int(Drawing(clusters.palette(k), histogram).errors.sum()) for k in (2, 8, 32, 128)]
    assert errors == sorted(errors, reverse=True)
    # Clusters of equal volume have a mean squared error of a twelfth of their squared sides.
    assert errors[2] / 3000 < 1.3 * 3 * (256 / 32 ** (1 / 3)) ** 2 / 12


def test_fewer_colours_after_more_are_those_of_new_clusters():
    histogram = Histogram.of(np.random.default_rng(7).integers(0, 256, (3000, 3), np.uint8))
    clusters = histogram.clusters()
    for size in (32, 24, 4, 48, 24, 1):
        found = clusters.palette(size)
        assert len(found) == size
        assert np.array_equal(found, histogram.clusters().palette(size))


@pytest.mark.parametrize("planes", [1, 3])
def test_many_deep_colours_are_merged_before_they_are_clustered(planes):
    rng = np.random.default_rng(8)
    pixels = rng.integers(0, 65536, (9000, planes), np.uint16)
    clusters = Histogram.of(pixels).clusters()
    assert len(clusters.colours) <= 4096
    assert int(clusters.counts.sum()) == 9000
    mean = (clusters.colours * clusters.counts[:, None]).sum(axis=0) / 9000
    assert np.abs(mean - pixels.mean(axis=0)).max() < 1


def test_pixels_choose_the_clusters():
    pixels = np.array([[0], [0], [100], [200]])
    chosen = Histogram.of(pixels).clusters(np.array([True, True, False, True]))
    assert chosen.colours.tolist() == [[0], [200]]
    assert chosen.counts.tolist() == [2, 1]
    assert isinstance(chosen, Clusters)


def test_clusters_of_any_plane_are_fitted_to_their_colours():
    rng = np.random.default_rng(11)
    pixels = rng.normal(128, 40, (4000, 3)).clip(0, 255).astype(np.uint8)
    histogram = Histogram.of(pixels)
    clusters = histogram.clusters()
    errors = [Drawing(clusters.palette(k), histogram).errors.mean() for k in (4, 16)]
    # Splits along red alone leave 2742 with 4 colours, splits without a fit 1245 with 16.
    assert errors[0] < 2600
    assert errors[1] < 1200
