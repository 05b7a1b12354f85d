"""Binary models: their probability approaches two limits and never passes them."""

import numpy as np
import pytest

from mmpcodec.reference.entropy.binary import LEAST, MOST, BinaryModels


@pytest.mark.parametrize("start", [LEAST, LEAST + 1, 20000, MOST - 1, MOST])
@pytest.mark.parametrize("uses", [0, 3, 64])
@pytest.mark.parametrize("bit", [0, 1])
def test_equal_bits_approach_a_limit(start, uses, bit):
    models = BinaryModels("level", (1,), start, uses)
    limit = MOST if bit else LEAST
    distance = abs(start - limit)
    for _ in range(600):
        models.learn((0,), bit)
        left = abs(int(models.probability[0]) - limit)
        assert left < distance or distance <= 65
        distance = left
    # At the slowest rate, a last step of less than 1 rounds down: to the limit only below it.
    assert distance <= 65 * bit


def test_any_bits_stay_between_the_limits():
    models = BinaryModels("level", (1,))
    for bit in np.random.default_rng(1).random(3000) < 0.001:
        models.learn((0,), bool(bit))
        assert LEAST <= models.probability[0] <= MOST
