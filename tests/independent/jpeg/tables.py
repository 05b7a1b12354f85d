"""The files of tables that kept JPEG files need."""

import hashlib
import math
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parents[3] / "kernels/shared/tables"


def table(name, size, sha256):
    """The bytes of a file; the text states size and hash."""
    found = (FOLDER / name).read_bytes()
    if len(found) != size or hashlib.sha256(found).hexdigest() != sha256:
        raise ValueError(f"{name} is not the file of the text")
    return found


USUAL_BYTES = table(
    "usual_bytes.bin",
    3965,
    "3de617b3073282d6fc64412b687e54775bb978edf56d34b117526d419d34c328",
)
_WEIGHTS = table(
    "jpeg_weights.bin",
    17280,
    "1468a56e344d0ea39e5b9482c00a75b77604c906abf6818c67b57101a9d62eab",
)
_STATES = table(
    "jpeg_states.bin",
    7744,
    "f6241e230e3376096544bae104093b559500c5d224dd6fb45c361c29268e8342",
)


def _size_weights(start, count):
    """The weights of each kind and level in the part that starts at a byte."""
    shape = 3, 64, count
    return np.frombuffer(_WEIGHTS, "<i2", math.prod(shape), start).reshape(shape).tolist()


SUM_WEIGHTS = _size_weights(0, 25)
"""Of each kind and level, the weights of the predicted size in forms 1 and 2."""
SIZE_PRIORS = _size_weights(2 * 3 * 64 * 25, 20)
"""Of each kind and level, the first priors of the predictor of sizes in form 3."""


def _states():
    found, place = {}, 0
    for group, steps, decisions in (
        ("sizes", 64, 15),
        ("ends", 32, 64),
        ("firsts", 32, 15),
        ("signs", 384, 1),
    ):
        for other in (False, True):
            for step in range(steps):
                for decision in range(decisions):
                    found[group, other, step, decision] = 256 * _STATES[place] + 128
                    place += 1
    if place != len(_STATES):
        raise ValueError("jpeg_states.bin has more states than the text says")
    return found


STATES = _states()
"""The first probability of group, whether the kind is not luma, step and decision."""
