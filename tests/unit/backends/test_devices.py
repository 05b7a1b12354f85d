"""The argument ``device``: what it may be, and which backend it implies."""

import numpy as np
import pytest

from mmpcodec import ParameterError
from mmpcodec.backends import for_device, numbers_of
from mmpcodec.backends.cpu import CpuBackend


class Four(CpuBackend):
    name = "cuda"

    def device_count(self):
        return 4


@pytest.mark.parametrize(
    ("device", "numbers"),
    [
        ("all", (0, 1, 2, 3)),
        (0, (0,)),
        (3, (3,)),
        (np.int64(2), (2,)),
        ("2", (2,)),
        ("0,1", (0, 1)),
        ("3, 1", (3, 1)),
        ([1, 0], (1, 0)),
        ((2,), (2,)),
        (range(1, 3), (1, 2)),
    ],
)
def test_forms(device, numbers):
    assert numbers_of(device, Four()) == numbers


@pytest.mark.parametrize(
    ("device", "says"),
    [
        (4, r"device = 4: must be from 0 to 3, the numbers of the 4 CUDA devices"),
        (-1, "device = -1: must be from 0 to 3"),
        ("1,7", "device = 7: must be from 0 to 3"),
        ([0, 9], "device = 9: must be from 0 to 3"),
        ("", "device = '': must be all, or numbers such as 0 or 0,1"),
        ("0,", "device = '0,': must be all, or numbers"),
        ("-1", "device = '-1': must be all, or numbers"),
        ("gpu", "device = 'gpu': must be all, or numbers"),
        ("0,0", "device = '0,0': must name at least one device, and none twice"),
        ([1, 1], r"device = \[1, 1\]: must name at least one device, and none twice"),
        ([], r"device = \[\]: must name at least one device, and none twice"),
        (True, "device = True: must be an integer from 0 to 3"),
        (1.0, "device = 1.0: must be an integer"),
        ([[0]], r"device = \[0\]: must be an integer"),
        (None, "device = None: must be an integer"),
    ],
)
def test_wrong_ones_are_refused_with_the_range(device, says):
    with pytest.raises(ParameterError, match=f"^{says}"):
        numbers_of(device, Four())


def test_a_device_implies_its_backend():
    assert for_device("auto", 0) == for_device("cuda", "all") == "cuda"


@pytest.mark.parametrize("name", ["cpu", "reference"])
def test_a_device_has_no_effect_on_the_processor(name):
    says = f"device = 'all': has no effect on backend {name}, only on cuda"
    with pytest.raises(ParameterError, match=says):
        for_device(name, "all")
    with pytest.raises(ParameterError, match="must be one of auto, cpu"):
        for_device("gpu", 0)
