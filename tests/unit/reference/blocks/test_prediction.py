"""Intra prediction: angles, planar, least squares."""

import numpy as np
import pytest
from support.strategies import natural

from mmpcodec.reference.blocks import prediction
from mmpcodec.reference.blocks.partition import (
    AVERAGE,
    CONSTANT,
    FIRST_ANGLE,
    LEAST_SQUARES,
    PLANAR,
    Block,
    BlockPlace,
    Units,
)
from mmpcodec.reference.blocks.prediction import (
    INTERPOLATION,
    SLOPES,
    References,
    blended,
    equations_of,
    predict,
    predict_from,
    references,
    solved,
    training_sums,
)

SIDE = 64
FROM_REFERENCES = range(LEAST_SQUARES)
HORIZONTAL, VERTICAL = FIRST_ANGLE + 8, FIRST_ANGLE + 24
PLACES = [BlockPlace(16, 16, a, b) for a, b in ((2, 2), (3, 3), (2, 5), (5, 3), (4, 4))]


def decoded_around(place, shape=(SIDE, SIDE)):
    """Units of a picture of which all is decoded but the block and what comes after it."""
    units = Units(shape)
    units.known[:] = 2, 2, 0, 0
    rows, columns = place.units
    units.known[rows.stop :] = 0
    units.known[rows, columns.start :] = 0
    return units


def picture(function, shape=(SIDE, SIDE)):
    """A picture whose samples are a function of row and column."""
    return np.broadcast_to(function(*np.indices(shape)), shape).astype(np.uint8)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("mode", FROM_REFERENCES)
def test_flat_surroundings_predict_a_flat_block(place, mode):
    samples = picture(lambda i, j: 77 + 0 * i)
    expected = 128 if mode == CONSTANT else 77
    assert (predict(mode, samples, decoded_around(place), place) == expected).all()


@pytest.mark.parametrize("place", PLACES)
def test_straight_angles_copy(place):
    samples = np.random.default_rng(0).integers(0, 256, (SIDE, SIDE), dtype=np.uint8)
    rows, columns = place.slices
    down = predict(VERTICAL, samples, decoded_around(place), place)
    assert (down == samples[place.row - 1, columns]).all()
    across = predict(HORIZONTAL, samples, decoded_around(place), place)
    assert (across == samples[rows, place.column - 1, None]).all()


@pytest.mark.parametrize(
    ("angle", "function"),
    [
        (0, lambda i, j: (37 * (i + j)) % 256),
        (32, lambda i, j: (37 * (i + j)) % 256),
        (16, lambda i, j: (37 * (i - j)) % 256),
    ],
)
def test_diagonal_angles_follow_diagonals(angle, function):
    """In blocks so small that the references are not smoothed."""
    place = BlockPlace(16, 16, 3, 3)
    samples, units = picture(function), decoded_around(place)
    if angle == 0:
        units.known[4:8, :4] = 2, 2, 0, 0
    predicted = predict(FIRST_ANGLE + angle, samples, units, place)
    assert (predicted == samples[place.slices]).all()


@pytest.mark.parametrize("mode", FROM_REFERENCES)
@pytest.mark.parametrize(("height", "width"), [(4, 4), (8, 16), (32, 4), (64, 64)])
def test_a_turned_picture_has_turned_predictions(mode, height, width):
    rng = np.random.default_rng(mode)
    lines = rng.integers(0, 256, (2, height + width))
    here = References(lines[0], lines[1], 99)
    turned = References(lines[1], lines[0], 99)
    other = mode if mode < FIRST_ANGLE else 2 * FIRST_ANGLE + 32 - mode
    predicted = predict_from(mode, here, height, width)
    assert predicted.shape == (height, width)
    assert predicted.min() >= 0
    assert predicted.max() <= 255
    assert (predict_from(other, turned, width, height) == predicted.T).all()


@pytest.mark.parametrize("angle", range(33))
def test_angles_hit_where_their_slope_points(angle):
    """One bright sample above or left of a small block: where it shows, and nowhere else."""
    lines = np.zeros((2, 8), int)
    lines[int(angle < 16), 3] = 200
    block = predict_from(FIRST_ANGLE + angle, References(lines[0], lines[1], 0), 4, 4)
    block = block if angle >= 16 else block.T
    for i, row in enumerate(block):
        hit = 3 - (i + 1) * SLOPES[angle] / 32
        for j, sample in enumerate(row):
            assert sample < 40 if abs(j - hit) >= 1 else True
            assert sample > 90 if abs(j - hit) <= 0.5 else True


@pytest.mark.parametrize("angle", range(17, 24))
def test_angles_that_look_back_continue_with_the_nearest_sample_of_the_other_line(angle):
    """After 32 rows a line has moved by whole samples, and smoothing leaves a ramp as it is."""
    left, slope = 3 * np.arange(1, 37), -SLOPES[angle]
    around = References(np.zeros(36, int), left, 0)
    last = predict_from(FIRST_ANGLE + angle, around, 32, 4)[-1]
    for j, sample in enumerate(last):
        if (before := slope - 1 - j) > 0:
            assert sample == left[int(32 * before / slope + 0.5) - 1]


def test_weights_of_the_interpolation():
    assert (INTERPOLATION.sum(axis=1) == 64).all()
    assert INTERPOLATION[0].tolist() == [0, 64, 0, 0]
    assert np.abs(INTERPOLATION[1:] - INTERPOLATION[:0:-1, ::-1]).max() <= 2


def test_average_rounds():
    lines = np.array([3, 3, 3, 4]), np.array([4, 4, 4, 4])
    long = [np.concatenate([line, np.zeros(4, int)]) for line in lines]
    assert (predict_from(AVERAGE, References(*long, 0), 4, 4) == 4).all()
    long[1][:4] = 3
    assert (predict_from(AVERAGE, References(*long, 0), 4, 4) == 3).all()


def test_planar_is_the_mean_of_two_ramps():
    ramp = References(np.full(8, 40), np.full(8, 120), 0)
    predicted = predict_from(PLANAR, ramp, 4, 4)
    i, j = np.indices((4, 4))
    rows, columns = 120 - 20 * (j + 1), 40 + 20 * (i + 1)
    assert np.abs(predicted - (rows + columns) / 2).max() <= 0.5


def test_references_end_where_decoding_does():
    samples = picture(lambda i, j: i + 2 * j)
    place = BlockPlace(16, 16, 2, 2)
    units = decoded_around(place)
    units.known[3, 5:] = 0
    found = references(samples, units, place)
    assert found.above.tolist() == [15 + 2 * j for j in (16, 17, 18, 19, 19, 19, 19, 19)]
    assert found.left.tolist() == [i + 30 for i in (16, 17, 18, 19, 19, 19, 19, 19)]
    assert found.corner == 15 + 30


def test_references_end_with_the_picture():
    samples = picture(lambda i, j: i + 2 * j)
    place = BlockPlace(16, SIDE - 4, 2, 2)
    assert references(samples, decoded_around(place), place).above[3:].tolist() == [15 + 2 * 63] * 5


def test_references_at_the_border():
    samples = picture(lambda i, j: 10 + i + 2 * j)
    none = references(samples, Units((SIDE, SIDE)), BlockPlace(0, 0, 2, 2))
    assert set(none.above) | set(none.left) | {none.corner} == {128}
    place = BlockPlace(0, 16, 2, 2)
    top = references(samples, decoded_around(place), place)
    assert set(top.above) | {top.corner} == {samples[0, 15]}
    place = BlockPlace(16, 0, 2, 2)
    left = references(samples, decoded_around(place), place)
    assert set(left.left) | {left.corner} == {samples[15, 0]}


def test_least_squares_find_the_weights_of_a_picture():
    """The weights are those of an ordinary fit with the same ridge."""
    rng = np.random.default_rng(1)
    samples = picture(lambda i, j: 128 + 60 * np.sin(i / 5 + j / 3) + 30 * np.cos(i / 7 - j / 2))
    samples = np.clip(samples + rng.integers(-4, 5, samples.shape), 0, 255).astype(np.uint8)
    place = BlockPlace(24, 24, 4, 4)
    sums = training_sums(samples, decoded_around(place), place)
    fitted = np.linalg.solve(sums[:, :6] + 60 * np.eye(6), sums[:, 6])
    assert np.abs(np.array(solved(equations_of(sums))) / 4096 - fitted).max() < 0.01


def test_training_takes_only_decoded_samples():
    place = BlockPlace(16, 16, 2, 3)
    units = decoded_around(place)
    samples = np.random.default_rng(2).integers(0, 256, (SIDE, SIDE), dtype=np.uint8)
    clean = training_sums(samples, units, place)
    decoded = units.decoded.repeat(4, axis=0).repeat(4, axis=1)
    assert (training_sums(np.where(decoded, samples, 255), units, place) == clean).all()
    count = 0
    for i in range(10, 20):
        for j in range(10, 30):
            needed = [(i, j), (i, j - 1), (i - 1, j), (i - 1, j - 1), (i - 1, j + 1), (i, j - 2)]
            inside = i < 16 or j < 16
            count += inside and all(decoded[at] for at in [*needed, (i - 2, j)])
    ones = training_sums(np.full((SIDE, SIDE), 129, np.uint8), units, place)
    assert (ones == count).all()


@pytest.mark.parametrize("content", ["noise", "black and white", "flat", "stripes"])
def test_weights_are_limited_and_predictions_are_samples(content):
    rng = np.random.default_rng(3)
    samples = {
        "noise": rng.integers(0, 256, (SIDE, SIDE)),
        "black and white": 255 * rng.integers(0, 2, (SIDE, SIDE)),
        "flat": np.full((SIDE, SIDE), 255),
        "stripes": np.broadcast_to(255 * (np.arange(SIDE) % 2), (SIDE, SIDE)),
    }[content].astype(np.uint8)
    for a, b in ((2, 2), (3, 5), (4, 3)):
        place = BlockPlace(16, 24, a, b)
        weights = solved(equations_of(training_sums(samples, decoded_around(place), place)))
        assert max(map(abs, weights)) <= 16384
        predicted = predict(LEAST_SQUARES, samples, decoded_around(place), place)
        assert predicted.shape == (place.height, place.width)
        assert predicted.min() >= 0
        assert predicted.max() <= 255


def test_least_squares_continue_a_texture():
    samples = picture(lambda i, j: 255 * ((i - j) // 2 % 2))
    place = BlockPlace(24, 24, 3, 3)
    predicted = predict(LEAST_SQUARES, samples, decoded_around(place), place)
    assert np.abs(predicted - samples[place.slices].astype(int)).mean() < 5


@pytest.mark.parametrize("known", [True, False])
def test_above_right_of_the_last_column_stands_the_sample_above_it(monkeypatch, known):
    """With all weight on the neighbour above right, each row is the one above it moved left."""
    monkeypatch.setattr(prediction, "solved", lambda sums: [0, 0, 0, 4096, 0, 0])
    samples = np.random.default_rng(6).integers(0, 256, (SIDE, SIDE), dtype=np.uint8)
    place = BlockPlace(16, 16, 2, 3)
    units = decoded_around(place)
    units.known[:4, 6] = 2 * known
    above = samples[15, 16:24].tolist()
    after = int(samples[15, 24]) if known else above[-1]
    for row in predict(LEAST_SQUARES, samples, units, place).tolist():
        assert row == [*above[1:], after]
        above, after = row, row[-1]


def test_least_squares_at_the_right_edge():
    """There is no sample above right of the last column, so the one above it stands there."""
    place = BlockPlace(16, SIDE - 8, 3, 3)
    samples = np.random.default_rng(4).integers(0, 256, (SIDE, SIDE + 4), dtype=np.uint8)
    samples[15, SIDE] = samples[15, SIDE - 1]
    narrow, wide = decoded_around(place), decoded_around(place, (SIDE, SIDE + 4))
    wide.known[:4, 16] = 0
    found = [
        predict(LEAST_SQUARES, samples[:, :width], units, place)
        for width, units in ((SIDE, narrow), (SIDE + 4, wide))
    ]
    assert (found[0] == found[1]).all()


def test_marking_the_block_itself_changes_no_training():
    """A rough search takes all for decoded; samples of the block stay out all the same."""
    place = BlockPlace(16, 16, 3, 3)
    samples = np.random.default_rng(5).integers(0, 256, (SIDE, SIDE), dtype=np.uint8)
    units = decoded_around(place)
    without = training_sums(samples, units, place)
    units.mark(place, Block(0))
    assert (training_sums(samples, units, place) == without).all()


DEPTHS = (9, 10, 12, 16)


@pytest.mark.parametrize("depth", DEPTHS)
def test_modes_of_flat_and_of_extreme_surroundings(depth):
    most = (1 << depth) - 1
    flat = References(np.full(32, most), np.full(32, most), most)
    for mode in (AVERAGE, PLANAR, FIRST_ANGLE + 3, FIRST_ANGLE + 20):
        assert (predict_from(mode, flat, 16, 16, depth) == most).all()
    assert (predict_from(CONSTANT, flat, 16, 16, depth) == 1 << (depth - 1)).all()
    rng = np.random.default_rng(0)
    lines = most * rng.integers(0, 2, (2, 8))
    for angle in range(33):
        block = predict_from(FIRST_ANGLE + angle, References(*lines, 0), 4, 4, depth)
        assert block.min() >= 0
        assert block.max() <= most


def test_weights_are_fitted_to_the_first_eight_bits():
    rng = np.random.default_rng(2)
    place = BlockPlace(16, 16, 3, 3)
    units = Units((40, 40))
    for row in range(0, 16, 4):
        for column in range(0, 40, 4):
            units.mark(BlockPlace(row, column, 2, 2), Block(0))
    picture = natural(rng, 40, 40)
    deep = (picture.astype(np.uint16) << 4) + rng.integers(0, 16, (40, 40), np.uint16)
    expected = solved(equations_of(training_sums(picture, units, place)))
    assert solved(equations_of(training_sums(deep, units, place, 12))) == expected


@pytest.mark.parametrize("limit", ["MOST_VALUE", "MOST_FACTOR"])
def test_weights_are_limited_where_the_equations_have_no_solution(monkeypatch, limit):
    """Sums that no samples give: without limits the weights are others, and C++ overflows."""
    sums = np.random.default_rng(3600).integers(-(2**23), 2**23, (6, 7))
    sums[:, :6] = np.triu(sums[:, :6]) + np.triu(sums[:, :6], 1).T
    assert solved(equations_of(sums)) == [16384, 16384, -16384, 0, 0, 4096]
    monkeypatch.setattr(prediction, limit, 1 << 400)
    assert solved(equations_of(sums)) == [16384, 16384, -16384, -16384, 16384, 16384]


def lines(seed, length):
    """Random references and their corner."""
    rng = np.random.default_rng(seed)
    return References(*rng.integers(0, 256, (2, length)), int(rng.integers(0, 256)))


def test_blending_fades_with_the_distance_from_the_side():
    """In a block of 4x4 a reference weighs 32, 8, 2 and 0 of 64."""
    around = References(np.full(8, 100), np.full(8, 228), 100)
    down = blended(VERTICAL, np.full((4, 4), 100), around)
    assert down.tolist() == [[164, 116, 104, 100]] * 4
    across = blended(HORIZONTAL, np.full((4, 4), 100), References(around.left, around.above, 100))
    assert across.tolist() == [[164] * 4, [116] * 4, [104] * 4, [100] * 4]
    flat = blended(AVERAGE, np.full((4, 4), 164), around)
    assert flat[3].tolist() == [196, 172, 166, 164]
    assert flat[0].tolist() == [164, 140, 134, 132]
    assert blended(VERTICAL, np.full((4, 4), 200), around).max() == 255


def test_far_sides_are_those_that_the_lines_hit():
    """At 45 degrees the line of sample (i, j) hits the left side in row i + j + 1."""
    around = References(np.zeros(8, np.int64), 10 * np.arange(8), 0)
    found = blended(FIRST_ANGLE + 32, np.zeros((4, 4), np.int64), around)
    for i in range(4):
        for j, weight in enumerate((32, 8, 2, 0)):
            assert found[i, j] == (weight * 10 * (i + j + 1) + 32) >> 6
    mirrored = blended(
        FIRST_ANGLE, np.zeros((4, 4), np.int64), References(around.left, around.above, 0)
    )
    assert (mirrored == found.T).all()


@pytest.mark.parametrize(("a", "b"), [(2, 2), (2, 6), (6, 2), (3, 4), (5, 5), (6, 6)])
def test_blending_changes_only_what_is_near_and_only_some_modes(a, b):
    height, width = 1 << a, 1 << b
    around = lines(a + b, height + width)
    reach = 3 << ((a + b - 2) >> 2)
    for mode in range(LEAST_SQUARES):
        plain = predict_from(mode, around, height, width)
        found = blended(mode, plain, around)
        assert found.min() >= 0
        assert found.max() <= 255
        assert (found[reach:, reach:] == plain[reach:, reach:]).all()
        angle = mode - FIRST_ANGLE
        slope = SLOPES[angle] if mode >= FIRST_ANGLE else 0
        beyond = slope > 0 and 32 // slope >= height + width  # the far side is too far
        kept = mode == CONSTANT or 8 < angle < 24 or beyond
        assert kept == (found == plain).all(), mode


@pytest.mark.parametrize("mode", range(LEAST_SQUARES))
def test_blending_keeps_flat_blocks(mode):
    flat = References(np.full(40, 77), np.full(40, 77), 77)
    plain = predict_from(mode, flat, 8, 32)
    assert (blended(mode, plain, flat) == plain).all()
