"""Template matching: which places are averaged."""

import numpy as np
import pytest
from support.strategies import BASIC, woven

from mmpcodec import EncodeParams
from mmpcodec.reference.blocks.coder import BlockPicture
from mmpcodec.reference.blocks.partition import TEMPLATES, BlockPlace
from mmpcodec.reference.blocks.search.search import BlockSearch, encode_blocks
from mmpcodec.reference.blocks.templates import average_of_places, has_place


def decoded_before(place, shape):
    """How much of each row is decoded where all is that comes before a block."""
    decoded = np.zeros(shape[0], int)
    decoded[: place.row + place.height] = place.column
    decoded[: place.row] = shape[1]
    return decoded


def by_the_text(samples, decoded, place, count):
    """Section "Templates" sample by sample; None where there is no place."""
    y, x, h, w = place.row, place.column, place.height, place.width
    needed = [(i, j) for i in range(-2, h) for j in range(-2, w)]
    around = [(i, j) for i, j in needed if min(i, j) < 0]
    around = [(i, j) for i, j in around if i < 0 or i % max(1, h // 8) == 0]
    around = [(i, j) for i, j in around if j < 0 or j % max(1, w // 8) == 0]
    best = {}
    for column in range(max(2, x - 32), x + 32):
        for row in range(max(2, y - 32), y + 1):
            if min(y, x) >= 2 and all(column + j < decoded[row + i] for i, j in needed):
                error = sum(
                    abs(int(samples[row + i, column + j]) - int(samples[y + i, x + j]))
                    for i, j in around
                )
                best[column] = min(best.get(column, (error, row, column)), (error, row, column))
    if not best:
        return None
    places = sorted(best.values())[:count]
    least = places[0][0]
    best = [p for p in places if p[0] <= least + least // 2 + 2 * (w + h)]
    total = sum(samples[r : r + h, c : c + w].astype(int) for _, r, c in best)
    return (total + len(best) // 2) // len(best)


@pytest.mark.parametrize("seed", range(24))
def test_places_are_those_of_the_text(seed):
    """Blocks anywhere, with any decoded part before them; what is not decoded is not looked at."""
    rng = np.random.default_rng(seed)
    shape = [(24, 28), (68, 20), (20, 148)][seed % 3]
    samples = woven(rng, *shape)
    a, b = rng.integers(2, 5, 2).tolist()
    row = 4 * int(rng.integers((shape[0] - 2**a) // 4 + 1))
    column = 4 * int(rng.integers((shape[1] - 2**b) // 4 + 1))
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
