"""Efforts of the search for predicted blocks, and what their shortcuts cost."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import pictures

import mmpcodec
from mmpcodec import EncodeParams
from mmpcodec.backends import block_efforts
from mmpcodec.backends.base import PlaneTask
from mmpcodec.backends.block_efforts import EFFORTS, PLAIN_EFFORTS, block_effort
from mmpcodec.backends.cpu import CpuBackend
from mmpcodec.pictures import read

IMAGES = Path(__file__).parents[3] / "images"
LAMBDA = 60


def encoded(picture, effort):
    params = EncodeParams.from_options(LAMBDA, preset="photo", effort=effort)
    return mmpcodec.encode_picture(picture, params, backend="cpu", threads=1)


def cost(picture, found):
    error = ((picture.astype(int) - found.samples) ** 2).sum()
    return error + LAMBDA * 8 * len(found.data)


def test_tables_have_all_efforts():
    assert set(EFFORTS) == set(PLAIN_EFFORTS) == set(range(1, 10))


def test_small_planes_are_searched_more_widely():
    most = 1 << 16
    small, large = (block_effort(2, own) for own in (most, most + 1))
    assert large is EFFORTS[2]
    assert small.elongation > large.elongation
    assert block_effort(1, 64) is EFFORTS[1]


@pytest.mark.parametrize("effort", EFFORTS.values(), ids=map(str, EFFORTS))
def test_efforts_are_consistent(effort):
    assert not (effort.every_angle and (effort.inherited or effort.settled))
    assert effort.rounded or not effort.settled
    assert effort.ternary >= 0  # ternary=True works at each effort
    assert 0 < effort.reserve < 100
    assert 0 < effort.again < 100


@pytest.mark.parametrize("effort", PLAIN_EFFORTS.values())
def test_the_reference_takes_no_shortcut(effort):
    assert (effort.inherited, effort.reserve, effort.again) == (False, 0, 0)
    assert (effort.settled, effort.patience) == (0, 0)


@pytest.fixture(scope="module")
def photograph():
    return read(IMAGES / "camera.pgm").samples[100:228, 100:228]


@pytest.mark.parametrize("effort", [2, pytest.param(6, marks=pytest.mark.slow)])
def test_a_reserve_costs_little(monkeypatch, photograph, effort):
    short = cost(photograph, encoded(photograph, effort))
    without = replace(EFFORTS[effort], reserve=0, again=0)
    monkeypatch.setitem(block_efforts.EFFORTS, effort, without)
    whole = cost(photograph, encoded(photograph, effort))
    assert 0.99 * whole <= short <= 1.03 * whole
    assert short != whole


@pytest.mark.parametrize("effort", [2, 4])
def test_settled_squares_are_not_split(monkeypatch, photograph, effort):
    params = EncodeParams.from_options(LAMBDA, preset="photo", effort=effort, cross_component=0)

    def blocks(settled):
        changed = replace(EFFORTS[effort], settled=settled)
        monkeypatch.setitem(block_efforts.EFFORTS, effort, changed)
        counts = CpuBackend().encode(PlaneTask(photograph, params), threads=1).trace.blocks()
        return sum(int(table.sum()) for table in counts.values())

    assert blocks(0) > blocks(200) > 4
    assert blocks(1_000_000) == 4  # one for each fragment


@pytest.mark.parametrize(("shortcut", "effort"), [("settled", 4), ("patience", 6)])
def test_shortcuts_cost_little(monkeypatch, photograph, shortcut, effort):
    short = cost(photograph, encoded(photograph, effort))
    without = replace(EFFORTS[effort], **{shortcut: 0})
    monkeypatch.setitem(block_efforts.EFFORTS, effort, without)
    whole = cost(photograph, encoded(photograph, effort))
    assert 0.985 * whole <= short <= 1.015 * whole
    assert short != whole


def test_an_impatient_search_costs_more(monkeypatch, photograph):
    def of(patience):
        changed = replace(EFFORTS[6], patience=patience)
        monkeypatch.setitem(block_efforts.EFFORTS, 6, changed)
        return cost(photograph, encoded(photograph, 6))

    assert of(1000) < of(1) < 1.1 * of(0) < 1.2 * of(1000)


def test_higher_efforts_find_better_plans(photograph):
    costs = [cost(photograph, encoded(photograph, effort)) for effort in (1, 3, 6)]
    assert costs[0] > costs[1] > costs[2]


@pytest.mark.parametrize("effort", [1, 5])
@given(pictures(max_side=80), st.sampled_from([0.5, 30, 2000]))
def test_pictures_of_any_size_have_a_plan(effort, picture, lam):
    params = EncodeParams.from_options(lam, preset="photo", effort=effort)
    found = mmpcodec.encode_picture(picture, params, backend="cpu", threads=1)
    assert np.array_equal(mmpcodec.decode(found.data), found.samples)
