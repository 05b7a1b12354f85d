"""Template matching: which places are averaged."""

import numpy as np
import pytest
from support.strategies import BASIC, woven

from mmpcodec import EncodeParams
from mmpcodec.reference.blocks.coder import BlockPicture, mode_family
from mmpcodec.reference.blocks.partition import LEAST_SQUARES, TEMPLATES, Block, BlockPlace, Units
from mmpcodec.reference.blocks.search.search import BlockSearch, encode_blocks
from mmpcodec.reference.blocks.templates import average_of_places, has_place

SIDE = 32
PLACE = BlockPlace(20, 20, 2, 2)


def decoded_before(place, shape=(SIDE, SIDE)):
    """How much of each row is decoded where all is that comes before a block."""
    decoded = np.zeros(shape[0], int)
    decoded[: place.row + place.height] = place.column
    decoded[: place.row] = shape[1]
    return decoded


def planted(*copies):
    """Noise in which the template of the block at PLACE comes again.

    Each copy is its row, its column and what is added to some of its samples above the block.
    """
    samples = np.random.default_rng(7).integers(60, 200, (SIDE, SIDE), dtype=np.uint8)
    template = samples[18:24, 18:24].copy()
    for row, column, changes in copies:
        inside = samples[row : row + 4, column : column + 4].copy()
        samples[row - 2 : row + 4, column - 2 : column + 4] = template
        samples[row - 2, column - 2 : column - 2 + len(changes)] += np.array(changes, np.uint8)
        samples[row : row + 4, column : column + 4] = inside
    return samples


def inside(samples, row, column):
    return samples[row : row + 4, column : column + 4].astype(int)


def test_places_that_are_much_worse_than_the_best_are_left_out():
    """With a best error of 0 and a 4x4 block, 64 is the most that stays, and 65 goes."""
    samples = planted((6, 7, ()), (12, 4, (8,)), (4, 24, (8, 1)))
    found = average_of_places(samples, decoded_before(PLACE), PLACE, 4)
    assert (found == (inside(samples, 6, 7) + inside(samples, 12, 4) + 1) // 2).all()
    alone = average_of_places(samples, decoded_before(PLACE), PLACE, 1)
    assert (alone == inside(samples, 6, 7)).all()


def test_a_worse_best_place_lets_worse_ones_stay():
    """The best error is 4: 72 stays, 73 goes."""
    samples = planted((6, 7, (2,)), (12, 4, (6, 6)), (4, 24, (8, 3)))
    found = average_of_places(samples, decoded_before(PLACE), PLACE, 4)
    assert (found == (inside(samples, 6, 7) + inside(samples, 12, 4) + 1) // 2).all()


@pytest.mark.parametrize("others", [(12, 4), (6, 20)])
def test_of_equal_places_the_upper_and_left_one_is_taken(others):
    samples = planted((6, 7, ()), (*others, ()))
    found = average_of_places(samples, decoded_before(PLACE), PLACE, 1)
    assert (found == inside(samples, 6, 7)).all()


def test_three_places_are_averaged_and_rounded():
    copies = (6, 7), (12, 4), (4, 24)
    samples = planted(*((*copy, ()) for copy in copies))
    found = average_of_places(samples, decoded_before(PLACE), PLACE, 3)
    assert (found == (sum(inside(samples, *copy) for copy in copies) + 1) // 3).all()


@pytest.mark.parametrize(
    ("row", "column", "seen"),
    [
        (12, 90, True),
        (11, 90, False),
        (20, 8, True),
        (20, 7, False),
        (20, 135, True),
        (20, 136, False),
        (80, 20, True),
    ],
)
def test_places_lie_within_the_window(row, column, seen):
    """48 rows up, 64 columns left and 63 right of a block, and any row further down."""
    place = BlockPlace(60, 72, 2, 2)
    samples = np.random.default_rng(9).integers(0, 256, (92, 160), dtype=np.uint8)
    samples[row - 2 : row + 4, column - 2 : column + 4] = samples[58:64, 70:76]
    samples[row : row + 4, column : column + 4] = 255 - np.arange(16).reshape(4, 4)
    decoded = decoded_before(place, samples.shape)
    decoded[64:] = 40
    found = average_of_places(samples, decoded, place, 1)
    assert (found == inside(samples, row, column)).all() == seen


def by_the_text(samples, decoded, place, count):
    """Section "Templates" sample by sample; None where there is no place."""
    y, x, h, w = place.row, place.column, place.height, place.width
    around = [(i, j) for i in range(-2, h) for j in range(-2, w) if i < 0 or j < 0]
    places = []
    for row in range(max(2, y - 48), len(samples) - h + 1):
        for column in range(max(2, x - 64), x + 64):
            needed = [(row + i, column + j) for i in range(-2, h) for j in range(-2, w)]
            if y >= 2 and x >= 2 and all(j < decoded[i] for i, j in needed):
                error = sum(
                    (int(samples[row + i, column + j]) - int(samples[y + i, x + j])) ** 2
                    for i, j in around
                )
                places.append((error, row, column))
    if not places:
        return None
    best = [p for p in sorted(places)[:count] if p[0] <= 2 * min(places)[0] + 8 * (w + h)]
    total = sum(samples[r : r + h, c : c + w].astype(int) for _, r, c in best)
    return (total + len(best) // 2) // len(best)


@pytest.mark.parametrize("seed", range(24))
def test_places_are_those_of_the_text(seed):
    """Blocks anywhere, with any decoded part before them; what is not decoded is not looked at."""
    rng = np.random.default_rng(seed)
    shape = [(24, 28), (68, 16), (12, 148)][seed % 3]
    samples = woven(rng, *shape)
    a, b = rng.integers(2, 4, 2).tolist()
    row = 4 * int(rng.integers((shape[0] >> 2) - 1))
    column = 4 * int(rng.integers((shape[1] >> 2) - 1))
    place = BlockPlace(row, column, a, b)
    decoded = decoded_before(place, shape)
    decoded[:row] = column + place.width + 4 * int(rng.integers((shape[1] - column) // 4))
    decoded[row + place.height :] = 4 * int(rng.integers(column // 4 + 1))
    decoded = np.minimum(decoded, shape[1])
    count = int(rng.integers(1, 5))
    expected = by_the_text(samples, decoded, place, count)
    assert has_place(decoded, place) == (expected is not None)
    if expected is not None:
        hidden = np.arange(shape[1]) >= decoded[:, None]
        samples[hidden] = rng.integers(0, 256, hidden.sum())
        assert (average_of_places(samples, decoded, place, count) == expected).all()


def test_the_tool_and_the_place_decide_which_modes_are_there():
    def absent(place, **options):
        tools = EncodeParams.from_options(preset="photo", **options).coded_tools
        picture = BlockPicture((32, 32), tools)
        picture.units.mark(BlockPlace(0, 0, 4, 4), Block(0))
        picture.units.mark(BlockPlace(0, 16, 4, 4), Block(0))
        return picture.absent_modes(place)

    below = BlockPlace(16, 8, 2, 2)
    assert absent(below) == []
    assert absent(below, templates=1, least_squares=False) == [LEAST_SQUARES]
    assert absent(below, templates=0) == [TEMPLATES]
    assert absent(BlockPlace(16, 0, 2, 2)) == [LEAST_SQUARES, TEMPLATES]


def test_units_count_the_decoded_samples_of_each_row():
    units = Units((16, 12))
    units.mark(BlockPlace(0, 0, 3, 3), Block(0))
    units.mark(BlockPlace(8, 0, 2, 2), Block(0))
    assert units.decoded_samples.tolist() == [8] * 8 + [4] * 4 + [0] * 4


def test_templates_fit_as_least_squares_do():
    assert mode_family(TEMPLATES) == mode_family(LEAST_SQUARES) == 3


def test_templates_are_tried_only_where_the_rough_search_says_so(monkeypatch):
    """Where a neighbour has the mode as well: each search takes long."""
    params = EncodeParams.from_options(60, preset="photo", fragment_size=32, **BASIC)
    picture = woven(np.random.default_rng(1), 20, 40)
    tried, predict = [], BlockPicture.predict

    def whole(self, place, bound, original=BlockSearch._whole):
        self.picture.promising = TEMPLATES in self.rough_search.seen[place].modes
        try:
            return original(self, place, bound)
        finally:
            self.picture.promising = True

    def watched(self, mode, place):
        if mode == TEMPLATES:
            tried.append(self.promising)
        return predict(self, mode, place)

    monkeypatch.setattr(BlockSearch, "_whole", whole)
    monkeypatch.setattr(BlockPicture, "predict", watched)
    coded = encode_blocks(picture, params.coded_tools, params.lambda_fixed, 3)[-1]
    assert (coded.units.mode == TEMPLATES).any()
    assert tried
    assert all(tried)


def test_templates_compare_eight_bits_and_average_all():
    rng = np.random.default_rng(5)
    tile = rng.integers(0, 256, (8, 8), np.uint8)
    picture = np.tile(tile, (6, 6)).astype(np.uint16) << 4
    picture += rng.integers(0, 16, picture.shape, np.uint16)
    place = BlockPlace(32, 32, 3, 3)
    decoded = np.full(48, 48)
    decoded[32:] = 32
    predicted = average_of_places(picture, decoded, place, 1, 12)
    # The first place that looks alike is the first of the tiles there.
    assert (predicted == picture[8:16, 8:16]).all()
