"""The fast mode of lossless samples: repetitions, distances, digits, and what it refuses."""

import numpy as np
import pytest

from mmpcodec.errors import CorruptStream
from mmpcodec.reference.entropy.cell_rates import CellRates
from mmpcodec.reference.entropy.symbols import Tally
from mmpcodec.reference.entropy.syntax import LOSSLESS_SYNTAX
from mmpcodec.reference.lossless.coder import decode_planes, encode_planes
from mmpcodec.reference.lossless.fast_coder import FastCoder
from mmpcodec.reference.lossless.plane import Plane
from mmpcodec.tools import LOSSLESS_FORMS

TOOLS = LOSSLESS_FORMS[1]


class Noted:
    """Coder that notes what is coded; it decodes bits and plain numbers that are given."""

    def __init__(self, bit=None, plain=()):
        self.given, self.numbers = bit, list(plain)
        self.bits, self.plains = [], []

    def bit(self, syntax, probability, bit):
        self.bits.append(probability)
        return self.given if bit is None else bit

    def plain(self, syntax, bits, number):
        if number is None:
            number = self.numbers.pop(0)
        self.plains.append((bits, number))
        return number


def first_sample(coder, depth, given, tools=TOOLS):
    """Code the first sample of a plane, whose prediction is half of the range."""
    plane = Plane(2, 4, (1 << depth) - 1)
    form = FastCoder([plane], coder, tools, CellRates((2, 4), Tally(LOSSLESS_SYNTAX)))
    plane.begin_row(0)
    form.blend.begin_row()
    form.code_sample(0, 0, given)
    return int(plane.inner[0, 0])


@pytest.mark.parametrize(
    ("sample", "bits"), [(128, 1), (127, 2), (129, 3), (126, 4), (134, 13), (121, 14)]
)
def test_near_distances_are_unary(sample, bits):
    """Distances 0, -1, 1, -2, 6 and -7 are 0, 1, 2, 3, 12 and 13 decisions of 1, then one of 0."""
    coder = Noted()
    assert first_sample(coder, 8, sample) == sample
    assert coder.bits == [32768 + 4] * min(bits, 6) + [32768] * max(0, bits - 6)
    assert coder.plains == []


@pytest.mark.parametrize(
    ("depth", "sample", "plains"),
    [
        (8, 135, [(5, 0), (0, 0)]),
        (8, 136, [(5, 1), (1, 1)]),
        (8, 255, [(5, 7), (7, 254 - 14 + 1 - 128)]),
        (16, 0, [(5, 15), (15, 65535 - 14 + 1 - 32768)]),
    ],
)
def test_far_distances_have_their_digits(depth, sample, plains):
    coder = Noted()
    assert first_sample(coder, depth, sample) == sample
    assert len(coder.bits) == 14
    assert coder.plains == plains
    assert first_sample(Noted(1, [number for _, number in plains]), depth, None) == sample


def test_steps_reach_every_sample_within_the_bound():
    tools = TOOLS._replace(max_error=3)
    found = [first_sample(Noted(), 8, sample, tools) for sample in range(256)]
    assert np.abs(np.array(found) - range(256)).max() == 3
    assert found[128:136] == [128] * 4 + [135] * 4
    assert found[252:] == [254, 254, 254, 254]


def test_too_many_digits_are_refused():
    with pytest.raises(CorruptStream, match="number of digits is 17, allowed is 0 to 16"):
        first_sample(Noted(1, [17]), 16, None)


def test_a_sample_beyond_its_range_is_refused():
    with pytest.raises(CorruptStream, match="sample is 256, allowed is 0 to 255"):
        first_sample(Noted(1, [7, 256 - 14 + 1 - 128]), 8, None)


def taken(samples, tools=TOOLS):
    """The bits of a picture, and what is decoded."""
    payload, decoded, bits, _ = encode_planes(samples, 8, tools, lambda *_: None)
    found, *_ = decode_planes(payload, samples.shape, 8, tools, lambda *_: None)
    assert (found == decoded).all()
    return bits["residual"], decoded


def test_repetitions_take_little():
    """The second copy of a pattern of noise takes a sixth of the first."""
    noise = np.random.default_rng(2).integers(0, 256, (1, 8, 24), np.uint16)
    once, _ = taken(noise)
    twice, decoded = taken(np.concatenate([noise, noise], axis=1))
    assert (decoded[:, 8:] == noise).all()
    assert twice - once < once / 2


@pytest.mark.parametrize("error", [3, 9])
def test_plain_digits_count_steps(error):
    """Noise, uniform over three steps, takes little more than the information of three values."""
    reach = 3 * (2 * error + 1) // 2
    samples = np.random.default_rng(5).integers(128 - reach, 128 + reach, (1, 40, 40))
    bits, decoded = taken(samples.astype(np.uint16), TOOLS._replace(max_error=error))
    assert np.abs(decoded - samples).max() == error
    assert bits < 1.4 * np.log2(3) * samples.size
