"""Delta step: the steps of fragments, their coding, and those of samples."""

from dataclasses import replace

import numpy as np
import pytest

from mmpcodec.errors import CorruptStream
from mmpcodec.presets import PRESETS
from mmpcodec.reference.blocks.models import BlockModels
from mmpcodec.reference.blocks.steps import (
    MOST_CHANGE,
    MOST_LAMBDA_FIXED,
    FragmentMap,
    code_change,
    lambda_at,
    predicted_change,
    step_at,
    steps_of,
    weight_of,
)
from mmpcodec.reference.entropy.symbols import SymbolReader, SymbolWriter
from mmpcodec.reference.entropy.syntax import BLOCK_SYNTAX
from mmpcodec.tools import BlockTools


def coded(changes):
    """The payload of delta step."""
    writer, models = SymbolWriter(BLOCK_SYNTAX), BlockModels()
    for row, column in np.ndindex(changes.shape):
        code_change(writer, models, changes, row, column, encodes=True)
    return writer.finish(), sum(writer.tally.bits().values())


def decoded(payload, shape):
    reader, models, changes = SymbolReader(payload, BLOCK_SYNTAX), BlockModels(), np.zeros(shape)
    for row, column in np.ndindex(shape):
        code_change(reader, models, changes, row, column, encodes=False)
    reader.finish()
    return changes


def test_a_step_doubles_every_four_changes():
    assert [step_at(160, change) for change in (-8, -4, -3, -2, -1, 0, 1, 2, 3, 4, 24)] == [
        *(40, 80, 95, 113, 135, 160),
        *(190, 226, 269, 320, 10240),
    ]
    assert all(step_at(step, 0) == step for step in range(1, 65536, 7))


def test_a_step_stays_in_its_range():
    assert step_at(1, -24) == 1
    assert step_at(65535, 24) == step_at(65535, 1) == 65535


def test_lambda_follows_the_square_of_the_step():
    assert [lambda_at(1000, change) for change in (-4, -2, 0, 2, 4)] == [250, 500, 1000, 2000, 4000]
    assert lambda_at(1000, 24) == 4096000
    assert lambda_at(1 << 30, 24) == MOST_LAMBDA_FIXED
    assert weight_of(-4) == 4 * weight_of(0) == 16 * weight_of(4)


def test_changes_of_a_map_give_lambdas():
    changes, hidden = np.array([[-4, 0, 4]], np.int8), np.array([[False, True, False]])
    found = FragmentMap(changes, hidden).lambdas(1000)
    assert found.tolist() == [[250, MOST_LAMBDA_FIXED, 4000]]
    assert found.dtype == np.int64


def test_a_change_is_expected_from_its_neighbours():
    changes = np.array([[0, 5, 5], [3, 3, 9], [3, 8, 0]])
    expected = [predicted_change(changes, *place) for place in np.ndindex(3, 3)]
    assert expected[:4] == [(0, 0), (0, 0), (5, 0), (0, 0)]
    # 3 + 5 - 0 is above both; 3 + 5 - 5 lies between; 3 + 3 - 3; 8 + 9 - 3 is above both.
    assert expected[4:] == [(5, 1), (3, 1), (3, 0), (3, 0), (9, 1)]


def test_random_changes_come_back():
    changes = np.random.default_rng(3).integers(-MOST_CHANGE, MOST_CHANGE + 1, (9, 7))
    payload, _ = coded(changes)
    assert (decoded(payload, changes.shape) == changes).all()


def test_equal_changes_cost_little():
    _, bits = coded(np.zeros((20, 20), int))
    assert bits < 5
    rectangle = np.zeros((20, 20), int)
    rectangle[5:9, 4:12] = -8
    assert coded(rectangle)[1] < 100


@pytest.mark.parametrize("change", [25, -25, 48])
def test_a_change_out_of_range_is_refused(change):
    payload, _ = coded_without_check(change)
    with pytest.raises(CorruptStream, match=f"step change is {change}, allowed is -24 to 24"):
        decoded(payload, (1, 1))


def coded_without_check(change):
    writer, models = SymbolWriter(BLOCK_SYNTAX), BlockModels()
    with pytest.raises(CorruptStream):
        code_change(writer, models, np.array([[change]]), 0, 0, encodes=True)
    return writer.finish(), None


def test_steps_of_samples_are_those_of_their_fragments():
    tools = BlockTools(fragment_size=16, step=160, delta_step=True)
    changes = np.zeros((4, 5), np.int8)
    changes[1:3, 1:4] = -4
    found = steps_of(tools, changes)
    assert (found.steps, found.changes) == ((80, 160), (-4, 0))
    steps = np.array(found.steps)[found.of_samples((60, 75))]
    expected = np.where(changes.repeat(16, 0).repeat(16, 1)[:60, :75] < 0, 80, 160)
    assert (steps == expected).all()


def test_without_changes_a_plane_has_one_step():
    found = steps_of(replace(PRESETS["photo"], step=99), None)
    assert (found.steps, found.changes) == ((99,), (0,))
    assert not found.of_samples((30, 40)).any()
