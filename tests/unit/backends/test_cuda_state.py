"""The device's structures, laid out twice: in CUDA and for NumPy."""

import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest

from mmpcodec.backends.block_efforts import EFFORTS
from mmpcodec.backends.cuda import blocks_state
from mmpcodec.backends.cuda.decoding import state
from mmpcodec.backends.cuda.decoding.tables import TABLES_DTYPE
from mmpcodec.backends.cuda.trees_state import (
    ALIGNMENT,
    DICTIONARY_DTYPE,
    NODE_DTYPE,
    PICTURE_DTYPE,
    SCALE_DTYPE,
    STATE_DTYPE,
    dictionary_sizes,
    element_bytes,
    make_state,
    plan_dictionaries,
    scale_places,
)
from mmpcodec.params import EncodeParams
from mmpcodec.reference.trees.scales import PIXEL_SCALE, SCALES
from mmpcodec.runtime import kernels
from mmpcodec.tools import Partition, TreeTools

STRUCTURES = {
    "trees/state.cuh": {
        "Dictionary": DICTIONARY_DTYPE,
        "Picture": PICTURE_DTYPE,
        "Scale": SCALE_DTYPE,
        "Node": NODE_DTYPE,
        "State": STATE_DTYPE,
    },
    "blocks/state.cuh": {
        "SampleDepth": blocks_state.DEPTH_DTYPE,
        "BlockTables": blocks_state.TABLES_DTYPE,
        "BlockEffort": blocks_state.EFFORT_DTYPE,
        "BlockPicture": blocks_state.PICTURE_DTYPE,
        "RoughModes": blocks_state.ROUGH_DTYPE,
        "RoughResidual": blocks_state.RESIDUAL_DTYPE,
        "Ticket": blocks_state.TICKET_DTYPE,
        "SearchRoom": blocks_state.ROOM_DTYPE,
    },
    "blocks/decode/plane.cuh": {"DecodeTables": TABLES_DTYPE, "CodedPlane": state.PLANE_DTYPE},
    "filters/state.cuh": {"FilteredPlane": state.FILTERED_DTYPE},
    "tiles/state.cuh": {"JoinedTile": state.JOINED_DTYPE},
}

SIZES = blocks_state.DeviceBytes(100, 200, 300, 400, 500)

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


def printed_by(body, folder, header="trees/state.cuh"):
    """Name and number on each line that a program with a header of the device's prints."""
    program = folder / "program.cpp"
    program.write_text(
        f'#include <cstddef>\n#include <cstdio>\n#include "cuda/{header}"\n'
        "int main() {\n" + body + "\n}\n"
    )
    subprocess.run(
        ["g++", "-std=c++17", f"-I{kernels.FOLDER}", "-o", folder / "program", program], check=True
    )
    printed = subprocess.run([folder / "program"], capture_output=True, text=True, check=True)
    return dict(line.split() for line in printed.stdout.splitlines())


@needs_compiler
@pytest.mark.parametrize("header", STRUCTURES)
def test_layout_is_that_of_the_compiler(tmp_path, header):
    lines = []
    for name, dtype in STRUCTURES[header].items():
        lines.append(f'printf("{name} %zu\\n", sizeof(mmp::{name}));')
        for field in dtype.names:
            lines.append(f'printf("{name}.{field} %zu\\n", offsetof(mmp::{name}, {field}));')
    compiled = printed_by("\n".join(lines), tmp_path, header)
    for name, dtype in STRUCTURES[header].items():
        assert int(compiled[name]) == dtype.itemsize
        for field in dtype.names:
            assert int(compiled[f"{name}.{field}"]) == dtype.fields[field][1], f"{name}.{field}"


@needs_compiler
def test_places_are_those_of_the_device(tmp_path):
    body = """
    for (int s = 0; s < mmp::kScales; ++s) printf("start%d %d\\n", s, mmp::scale_start(s));
    for (int s = 0; s < mmp::kScales; ++s)
        for (int e = 0; e < 70; ++e)
            for (int i = 0; i < mmp::scale_area(s); ++i)
                printf("%d,%d,%d %d\\n", s, e, i, int(mmp::element_sample(s, e, i)));
    """
    printed = printed_by(body, tmp_path)
    for scale, place in scale_places().items():
        assert int(printed[f"start{scale.number}"]) == place.start
    for scale in SCALES:
        offsets = element_bytes(scale, 70)
        for (element, sample), offset in np.ndenumerate(offsets):
            assert int(printed[f"{scale.number},{element},{sample}"]) == offset
        assert len(np.unique(offsets)) == offsets.size
        assert offsets.max() < 96 * scale.height * scale.width


@pytest.mark.parametrize("limit", [256, 257, 16384, 65536])
@pytest.mark.parametrize("partition", Partition)
@pytest.mark.parametrize(("radius", "replacement"), [(0, False), (0, True), (9, False), (9, True)])
def test_plan_leaves_room_and_does_not_overlap(partition, limit, radius, replacement):
    tools = TreeTools(partition, dictionary_limit=limit, redundancy_radius=radius)
    plan = plan_dictionaries(replace(tools, replacement=replacement))
    needed = {"table": 16 * limit, "cost": 4 * limit, "element_class": limit, "count": 4 * limit}
    needed |= {"cells": 8 * 256 * 16, "insertion": 4 * limit}
    ends = sorted([*plan.offsets.values(), plan.size])
    for (scale, name), offset in plan.offsets.items():
        assert offset % ALIGNMENT == 0
        room = ends[ends.index(offset) + 1] - offset
        assert room >= needed.get(name, scale.height * scale.width * limit)
        assert (name in ("table", "cells")) == (offset < plan.cleared)
    assert plan.table_mask + 1 >= 2 * limit
    # Single samples are all there from the start.
    names = {name for scale, name in plan.offsets if scale != PIXEL_SCALE}
    assert ("cells" in names) == bool(radius)
    assert ("insertion" in names) == bool(radius and replacement)
    assert (PIXEL_SCALE, "cells") not in plan.offsets


def test_sizes_stop_at_the_limit():
    states = np.zeros(2, STATE_DTYPE)
    states["picture"]["dictionary_limit"] = 300
    states["learnt"][1, 3:5] = (7 << 32) + 299, (7 << 32) + 1000
    sizes = dictionary_sizes(states)
    assert sizes.shape == (2, 25)
    assert sizes[1, 2:6].tolist() == [0, 299, 300, 0]


def test_state_points_to_what_the_partition_reaches():
    params = EncodeParams.from_options(2, partition="dyadic", preset="plain")
    plan = plan_dictionaries(params.tools)
    state = make_state(params, (17, 40), plan, 1 << 40)
    reached = {scale.number for scale, _ in plan.offsets}
    picture = state["picture"]
    dictionaries = picture["dictionaries"]
    for scale in SCALES:
        assert (dictionaries["samples"][scale.number] != 0) == (scale.number in reached)
    assert (picture["padded_height"], picture["padded_width"]) == (32, 48)
    assert picture["lambda_fixed"] == 2 << 16
    assert np.count_nonzero(state["key"]) == 0


@needs_compiler
def test_numbers_of_blocks_are_those_of_the_device(tmp_path):
    body = """
    printf("nodes %d\\n", mmp::kPlanNodes);
    printf("rough %d\\n", mmp::kMostRough);
    printf("margins %d\\n", mmp::kMostMargins);
    printf("coefficients %d\\n", mmp::kShapeArea);
    printf("threads %d\\n", mmp::kBlockThreads);
    for (int i = 0; i < mmp::kBlocks; ++i) {
        const mmp::BlockPlace p = mmp::block_of(i);
        printf("%d,%d,%d,%d %d\\n", p.row, p.column, p.height(), p.width(), mmp::block_number(p));
    }
    """
    printed = printed_by(body, tmp_path, "blocks/state.cuh")
    assert int(printed.pop("nodes")) == blocks_state.PLAN_NODES
    assert int(printed.pop("rough")) == blocks_state.MOST_ROUGH
    arrays = blocks_state.arrays_of_room(1, blocks_state.Crew(1, 1), EFFORTS[9], SIZES)
    assert int(printed.pop("margins")) == arrays["magnitudes"][1][-1]
    assert int(printed.pop("coefficients")) == arrays["coefficients"][1][-1]
    assert int(printed.pop("threads")) == arrays["levels"][1][1] == blocks_state.THREADS
    blocks = [tuple(map(int, place.split(","))) for place in printed]
    assert list(map(int, printed.values())) == list(range(blocks_state.BLOCKS))
    assert blocks == [
        (row, column, height, width)
        for row, height in blocks_state.INTERVALS
        for column, width in blocks_state.INTERVALS
    ]


def test_tables_hold_transforms_and_scans():
    tables = blocks_state.make_tables()
    assert tables["basis"][0, 0, 1, :4].tolist() == [2676, 1108, -1108, -2676]
    assert tables["turned"][1, 4, 5, 63] == tables["basis"][1, 4, 63, 5] != 0
    number = blocks_state.SHAPES.index((4, 8))
    packed = tables["scan"][number, :32]
    assert sorted(packed & 1023) == list(range(32))
    assert (tables["order"][number, packed & 1023] == np.arange(32)).all()
    assert packed[0] == 0
    assert packed[31] == 31 | (3 * 10 + 7) << 10 | 3 << 21 | 13 << 23
    lines = tables["lines"][number]
    assert lines[:15].tolist() == [0, 1, 2, 4, 6, 9, 12, 16, 20, 23, 26, 28, 30, 31, 32]
    assert tables["lines"].max(axis=1).tolist() == [
        min(height, 32) * min(width, 32) for height, width in blocks_state.SHAPES
    ]
    assert max(tables["scan"].max(axis=1) >> 23) == blocks_state.MOST_LINES - 1
    sizes = [side for _, side in blocks_state.INTERVALS]
    coded = np.outer(*[np.minimum(sizes, 32)] * 2).ravel()[tables["by_area"]]
    assert (np.diff(coded) <= 0).all()
    assert sorted(tables["by_area"]) == list(range(blocks_state.BLOCKS))


@pytest.mark.parametrize("depth", [8, 12])
def test_arrays_of_pictures_do_not_overlap(depth):
    params = EncodeParams.from_options(9, preset="photo", effort=9, fragment_size=32)
    arrays = blocks_state.arrays_of((70, 130), params, SIZES, depth)
    room = blocks_state.arrays_of_room(15, blocks_state.Crew(2, 3), EFFORTS[9], SIZES)
    assert arrays["plan_nodes"][1] == (15, blocks_state.PLAN_NODES)
    assert arrays["source"][1] == (72, 132)
    assert arrays["models"][1] == (5, SIZES.models)
    assert room["coefficients"][1] == (3, 4, 25, 4 * 4096)
    assert room["levels"][1] == (2, 128, 1024)
    assert room["residuals"][1] == (3, 42 * 42, 4)
    assert room["own"][1] == (2, SIZES.worker)
    for each in (arrays, room):
        offsets, size = blocks_state.place_arrays(each)
        ends = sorted({*offsets.values(), size})
        for name, (dtype, shape) in each.items():
            assert offsets[name] % blocks_state.ALIGNMENT == 0
            space = ends[ends.index(offsets[name]) + 1] - offsets[name]
            assert space >= dtype.itemsize * np.prod(shape)
    picture = blocks_state.make_picture((70, 130), params, EFFORTS[9], depth)
    assert set(arrays) | {"tables", "rates", "states", "reported"} == set(blocks_state.POINTERS)
    assert set(room) | {"stop", "full"} == set(blocks_state.ROOM_POINTERS)
    tools = picture["tools"]
    assert (picture["height"], tools["fragment_log2"], picture["effort"]["tried"]) == (72, 5, 8)
    assert tools["step"] == params.coded_tools.step
    assert picture["depth"]["bits"] == depth


@pytest.mark.parametrize("fragment_size", [16, 32, 64])
def test_a_fragment_comes_after_all_that_it_waits_for(fragment_size):
    params = EncodeParams.from_options(9, preset="photo", fragment_size=fragment_size)
    shapes = [(200, 500), (1, 1), (333, 70)]
    tickets = blocks_state.make_tickets(shapes, params).tolist()
    assert len(tickets) == len(set(tickets))
    assert blocks_state.lag_of(params) == 128 // fragment_size
    done = set()
    for picture, row, column in tickets:
        columns = blocks_state.fragments_of(shapes[picture], params)[1]
        above = min(column + blocks_state.lag_of(params), columns) - 1
        assert column == 0 or (picture, row, column - 1) in done
        assert row == 0 or (picture, row - 1, above) in done
        done.add((picture, row, column))


def blocks_in(numbers):
    places = blocks_state.INTERVALS
    return [(*places[n // len(places)], *places[n % len(places)]) for n in numbers.tolist()]


@pytest.mark.parametrize("ternary", [False, True])
def test_the_rough_search_looks_at_each_block_after_those_it_inherits_from(ternary):
    tools = EncodeParams.from_options(9, preset="photo", effort=4, ternary=ternary).tools
    tools = replace(tools, fragment_size=32)
    steps = blocks_state.rough_steps(tools, replace(EFFORTS[4], elongation=1))
    assert blocks_in(steps[0]) == [(0, 32, 0, 32)]
    assert {height for _, height, _, _ in blocks_in(steps[3])} == {4}
    assert all(height in (2 * width, width / 2) for _, height, _, width in blocks_in(steps[4]))
    assert [len(step) for step in steps[:5]] == [1, 4, 16, 64, 2 * (2 + 8 + 32)]
    displaced = {block for step in steps[5:] for block in blocks_in(step)}
    assert bool(displaced) == ternary
    assert all(row % height or column % width for row, height, column, width in displaced)
    every = blocks_state.rough_steps(tools, replace(EFFORTS[9], ternary=-1))
    assert [len(step) for step in every] == [15 * 15]
