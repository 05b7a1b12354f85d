"""The fast mode of lossless samples: what it refuses."""

import pytest

from mmpcodec.errors import CorruptStream
from mmpcodec.reference.entropy.cell_rates import CellRates
from mmpcodec.reference.entropy.symbols import Tally
from mmpcodec.reference.entropy.syntax import LOSSLESS_SYNTAX
from mmpcodec.reference.lossless.fast_coder import FastCoder
from mmpcodec.reference.lossless.plane import Plane
from mmpcodec.tools import LosslessTools


class Given:
    """Coder that decodes bits of 1 and the plain numbers that are given."""

    def __init__(self, *numbers):
        self.numbers = list(numbers)

    def bit(self, syntax, probability, bit):
        return 1

    def plain(self, syntax, bits, number):
        return self.numbers.pop(0)


@pytest.mark.parametrize(
    ("depth", "numbers", "message"),
    [
        (16, [17], "number of digits is 17, allowed is 0 to 16"),
        (8, [7, 256 - 14 + 1 - 128], "sample is 256, allowed is 0 to 255"),
    ],
)
def test_numbers_beyond_their_range_are_refused(depth, numbers, message):
    """The first sample of a plane is predicted as half of the range."""
    plane = Plane(2, 4, (1 << depth) - 1)
    cells = CellRates((2, 4), Tally(LOSSLESS_SYNTAX))
    form = FastCoder([plane], Given(*numbers), LosslessTools(1), cells)
    plane.begin_row(0)
    form.blend.begin_row()
    with pytest.raises(CorruptStream, match=message):
        form.code_sample(0, 0, None)
