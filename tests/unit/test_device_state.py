"""The device's structures, laid out twice: in CUDA and for NumPy."""

import shutil
import subprocess

import numpy as np
import pytest

from mmpcodec.backends import kernels
from mmpcodec.backends.device_state import (
    ALIGNMENT,
    DICTIONARY_DTYPE,
    NODE_DTYPE,
    PICTURE_DTYPE,
    SCALE_DTYPE,
    STATE_DTYPE,
    element_bytes,
    make_state,
    plan_dictionaries,
    scale_places,
)
from mmpcodec.codec.scales import SCALES
from mmpcodec.params import EncodeParams, Partition

STRUCTURES = {
    "Dictionary": DICTIONARY_DTYPE,
    "Picture": PICTURE_DTYPE,
    "Scale": SCALE_DTYPE,
    "Node": NODE_DTYPE,
    "State": STATE_DTYPE,
}


needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


def printed_by(body, folder):
    """Name and number on each line that a program with the device's header prints."""
    program = folder / "program.cpp"
    program.write_text(
        f'#include <cstddef>\n#include <cstdio>\n#include "{kernels.FOLDER}/cuda/state.cuh"\n'
        "int main() {\n" + body + "\n}\n"
    )
    subprocess.run(["g++", "-std=c++17", "-o", folder / "program", program], check=True)
    printed = subprocess.run([folder / "program"], capture_output=True, text=True, check=True)
    return dict(line.split() for line in printed.stdout.splitlines())


@needs_compiler
def test_layout_is_that_of_the_compiler(tmp_path):
    lines = []
    for name, dtype in STRUCTURES.items():
        lines.append(f'printf("{name} %zu\\n", sizeof(mmp::{name}));')
        for field in dtype.names:
            lines.append(f'printf("{name}.{field} %zu\\n", offsetof(mmp::{name}, {field}));')
    compiled = printed_by("\n".join(lines), tmp_path)
    for name, dtype in STRUCTURES.items():
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
def test_plan_leaves_room_and_does_not_overlap(partition, limit):
    plan = plan_dictionaries(partition, limit)
    needed = {"table": 16 * limit, "cost": 4 * limit, "element_class": limit, "count": 4 * limit}
    ends = sorted([*plan.offsets.values(), plan.size])
    for (scale, name), offset in plan.offsets.items():
        assert offset % ALIGNMENT == 0
        room = ends[ends.index(offset) + 1] - offset
        assert room >= needed.get(name, scale.height * scale.width * limit)
        assert (name == "table") == (offset < plan.cleared)
    assert plan.table_mask + 1 >= 2 * limit


def test_state_points_to_what_the_partition_reaches():
    params = EncodeParams.from_options(2, partition="dyadic")
    plan = plan_dictionaries(params.tools.partition, params.tools.dictionary_limit)
    state = make_state(params, (17, 40), plan, 1 << 40)
    reached = {scale.number for scale, _ in plan.offsets}
    picture = state["picture"]
    dictionaries = picture["dictionaries"]
    for scale in SCALES:
        assert (dictionaries["samples"][scale.number] != 0) == (scale.number in reached)
    assert (picture["padded_height"], picture["padded_width"]) == (32, 48)
    assert picture["lambda_fixed"] == 2 << 16
    assert np.count_nonzero(state["key"]) == 0
