"""The files of tables that kept JPEG files need."""

import hashlib
from pathlib import Path

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
_WEIGHTS = memoryview(
    table(
        "jpeg_weights.bin",
        7680,
        "6fb659ec3a6d31395d14a7e670954dd9743205fef00f43a01fa642ee24e3e219",
    )
)
_STATES = table(
    "jpeg_states.bin",
    7744,
    "5e2f8b068ba5233f902d76b58dc6f943d967f3b2973e831413f2009daf3b23d9",
)


def _size_weights(q, k):
    start = 40 * (64 * q + k)
    pairs = [_WEIGHTS[start + i : start + i + 2] for i in range(0, 40, 2)]
    return [int.from_bytes(pair, "little", signed=True) for pair in pairs]


SIZE_WEIGHTS = [[_size_weights(q, k) for k in range(64)] for q in range(3)]
"""Twenty weights of each kind and level."""


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
