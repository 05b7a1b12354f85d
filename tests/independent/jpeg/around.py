"""Section Around a block of the text."""

from independent.arithmetic import limited

BASES = (
    (1448, *(2048,) * 7),
    (1448, 2162, 2446, 2754, 2896, 2711, 2122, 1168),
)


def weighted(level, step):
    return limited(level * step, -32767, 32767)


class Block:
    """The levels of a block, and what later blocks need of it; each border for both bases."""

    def __init__(self):
        self.levels = [0] * 64
        self.end = self.count = self.difference = 0

    def finish(self, steps):
        """Find count and borders."""
        self.count = sum(level != 0 for level in self.levels[1:])
        self.bottom = [[0] * 8 for _ in BASES]
        self.right = [[0] * 8 for _ in BASES]
        for k, level in enumerate(self.levels):
            v, u = divmod(k, 8)
            w = weighted(level, steps[k])
            for i, f in enumerate(BASES):
                self.bottom[i][u] += (-1) ** v * f[v] * w
                self.right[i][v] += (-1) ** u * f[u] * w


NONE = Block()
NONE.finish([1] * 64)


class Around:
    """The blocks around a block, and the borders that are left to predict.

    left, above, above_left, above_right and B are None if they do not exist.
    """

    def __init__(self, stripe, component, y, x, block):
        self.y, self.x = y, x
        self.block, self.steps = block, component.steps
        at = Places(component)
        self.left, self.above = at(y, x - 1), at(y - 1, x)
        self.above_left, self.above_right = at(y - 1, x - 1), at(y - 1, x + 1)
        self.L = self.left or (x == 0 and self.above) or NONE
        self.A = self.above or (y == 0 and self.left) or NONE
        self.LA, self.RA = self.above_left or NONE, self.above_right or NONE
        if y == 0:
            self.LA = self.RA = self.L
        self.LL, self.AA = at(y, x - 2) or NONE, at(y - 2, x) or NONE
        self.cL, self.eL = self.count_and_end(self.left, self.above)
        self.cA, self.eA = self.count_and_end(self.above, self.left)
        self.find_other_components(stripe, component)
        self.U = [border[:] for border in (self.above or NONE).bottom]
        self.R = [border[:] for border in (self.left or NONE).right]

    def count_and_end(self, own, other):
        found = own or other or NONE
        return found.count, found.end

    def find_other_components(self, stripe, component):
        self.Y, self.B, self.h = [], None, 0
        if component.number == 0:
            return
        first = stripe.components[0]
        self.of_Y = Places(first)
        row, column = self.y * component.R, self.x * component.S
        places = [
            (min(row + i, len(first.blocks) - 1), min(column + j, first.columns - 1))
            for i in range(min(2, component.R))
            for j in range(min(2, component.S))
        ]
        self.place_of_Y = places[0]
        self.Y = [self.of_Y(*place) for place in places]
        self.h = sum(each.count for each in self.Y) // len(self.Y)
        if component.number == 2:
            second = stripe.components[1]
            alike = second.rows_of_mcu == component.rows_of_mcu
            if alike and second.columns == component.columns:
                self.of_B = Places(second)
                self.B = self.of_B(self.y, self.x)
                self.h = min(63, (self.h + 3 * self.B.count) >> 2)

    def changes(self, at, y, x):
        """8 times the change of the first level from the left and from above."""
        own = at(y, x).levels[0]
        return [
            8 * (own - at(y, x - 1).levels[0]) if self.x and x else 0,
            8 * (own - at(y - 1, x).levels[0]) if self.y and y else 0,
        ]

    def changes_of_Y(self):
        return self.changes(self.of_Y, *self.place_of_Y) if self.Y else [0, 0]

    def changes_of_B(self):
        return self.changes(self.of_B, self.y, self.x) if self.B else [0, 0]

    def learn_level(self, k):
        """Level k of the block is known."""
        v, u = divmod(k, 8)
        w = weighted(self.block.levels[k], self.steps[k])
        for i, f in enumerate(BASES):
            self.U[i][u] -= f[v] * w
            self.R[i][v] -= f[u] * w

    def up(self, k, shift, basis=0):
        v, u = divmod(k, 8)
        return (self.U[basis][u] * (2**34 // (BASES[basis][v] * self.steps[k]))) >> shift

    def side(self, k, shift, basis=0):
        v, u = divmod(k, 8)
        return (self.R[basis][v] * (2**34 // (BASES[basis][u] * self.steps[k]))) >> shift


class Places:
    """The blocks of a component; None where there is none."""

    def __init__(self, component):
        self.blocks, self.columns = component.blocks, component.columns

    def __call__(self, y, x):
        if y < 0 or not 0 <= x < self.columns or y >= len(self.blocks):
            return None
        row = self.blocks[y]
        return row[x] if x < len(row) else None
