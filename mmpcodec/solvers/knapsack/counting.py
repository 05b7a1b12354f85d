"""Choices and bounds that meet, for 0-1 knapsacks of one budget that are too large for a table.

What fits holds at most as many items as the lightest ones that fit together, and what is better
than a choice already known at least as many as it takes of the most profitable ones. With a price
for a unit of weight and one for an item, the bound of ``bounds.py`` knows either number. What loses
against the prices more than the gap between bound and best choice is in no better one, so lists of
states by rising loss stay short where profits are not a function of the weights. Where a bound for
all numbers of items is too high, choices of as many items as fit are bounded apart from those of
fewer; the room that the lightest leave settles most of the former. Where profits do follow weights,
they are ``slope`` times the weights and a rest; then no choice has more than the slope times the
capacity and the most that the rests can give, and exchanges of one item for another find choices
that fill the capacity to the last unit. All profits are multiples of their common divisor, and so
are values.

Sources: S. Martello, D. Pisinger and P. Toth, "Dynamic programming and strong bounds for the 0-1
knapsack problem", Management Science 1999; S. Martello and P. Toth, "Upper bounds and algorithms
for hard 0-1 knapsack problems", Operations Research 1997.
"""

import time
from dataclasses import dataclass

import numpy as np

from mmpcodec.solvers.knapsack.problem import MAX_PROFITS, Problem

LARGE_CELLS = 1 << 38
"""Cells of a table above which it is large: then choice and bound are to meet without it."""

MAX_WEIGHTS = 1 << 60
"""Weights add up to less."""

_SUM_BITS = 60
_MAX_SHIFT = 40
_WIDTHS = (1 << 10, 1 << 14, 1 << 18)
"""States of a list, first of all choices, then of those of as many items as fit and of the rest."""
_STATES = 1 << 22
"""States of all lists of a pass; a join counts as ``_LEAST_STATES`` at least."""
_LEAST_STATES = 1 << 8
_EXCHANGES = 16
"""Exchanges of single items in a row."""
_FORCED = 256
"""Exchanges that are tried before others."""
_RESTS = 8
"""Values that the rests over a slope may have, so that their own knapsack is simple."""
_NEVER = -(1 << 62)


@dataclass(frozen=True)
class Items:
    """Items of positive weight, of which some may not fit.

    Parameters
    ----------
    profits, weights : (N,) int64 array
    capacity : int
    """

    profits: np.ndarray
    weights: np.ndarray
    capacity: int

    def value(self, taken: np.ndarray) -> int:
        """Profit of some items, (N,) bool."""
        return int(self.profits[taken].sum())

    def room(self, taken: np.ndarray) -> int:
        """What some items leave of the capacity; negative where they do not fit."""
        return self.capacity - int(self.weights[taken].sum())


@dataclass(frozen=True)
class Bracket:
    """A choice and what none exceeds.

    Parameters
    ----------
    taken : (N,) bool array
    value : int
        Its profit.
    bound : int
        The value itself where that is proven to be the best.
    """

    taken: np.ndarray
    value: int
    bound: int


@dataclass(frozen=True)
class Priced:
    """A Lagrangian bound with a price of weight and one of items.

    Parameters
    ----------
    total : int
        The bound in units of 2**-shift.
    shift : int
    losses : (N,) int64 array
        What the bound loses where an item is not as in ``taken``, in the same units.
    taken : (N,) bool array
        The choice that reaches the bound, if it fills capacity and number; it fits.
    heavier : (N,) bool array
        The same at the next lower price, which need not fit.
    """

    total: int
    shift: int
    losses: np.ndarray
    taken: np.ndarray
    heavier: np.ndarray


def applies(problem: Problem) -> bool:
    """Whether items of one budget are too many for a table, and their sums small enough."""
    return problem.cells > LARGE_CELLS and sum(problem.weights[:, 0].tolist()) < MAX_WEIGHTS


def of_problem(problem: Problem) -> Items:
    """The items of a problem to whose path ``core`` applies."""
    return Items(
        problem.profits[1::2] - problem.profits[::2],
        problem.weights[1::2, 0],
        problem.capacities[0],
    )


def bracket(items: Items, deadline: float | None = None, slopes: bool = True) -> Bracket:
    """A good choice, with a bound that it often meets.

    Parameters
    ----------
    items : Items
        Weights that add up to less than ``MAX_WEIGHTS``.
    deadline : float or None
        Value of ``time.monotonic`` after which nothing more is tried.
    slopes : bool
        Look for profits that grow with the weights.
    """
    return _Search(items, deadline).run(slopes)


def priced(items: Items, count: int, at_least: bool) -> Priced:
    """Bound of the choices with at most, or at least, a number of items, with good prices.

    Parameters
    ----------
    items : Items
    count : int
        From 1 to the number of items; as many of the lightest fit.
    """
    profits, weights = items.profits, items.weights
    shift = min(max(_SUM_BITS - 2 - int(profits.sum()).bit_length(), 0), _MAX_SHIFT)
    scaled = profits << shift
    # The lowest price at which what gains most fits.
    low, high = 0, (1 << _SUM_BITS) // max(items.capacity, int(weights.sum()))
    while low < high:
        price = (low + high) // 2
        if items.room(_gaining(scaled - weights * price, weights, count, at_least)[0]) >= 0:
            high = price
        else:
            low = price + 1
    gains = scaled - weights * low
    taken, each = _gaining(gains, weights, count, at_least)
    heavier, _ = _gaining(gains + weights, weights, count, at_least)
    total = items.capacity * low + int(gains[taken].sum())
    return Priced(total, shift, abs(gains - each), taken, heavier)


def _gaining(
    gains: np.ndarray, weights: np.ndarray, count: int, at_least: bool
) -> tuple[np.ndarray, int]:
    """The items that gain most, of equal ones the lightest, and the price of an item for that."""
    edge = int(np.partition(gains, len(gains) - count)[len(gains) - count])
    if (edge > 0) == at_least:
        return gains > 0, 0
    taken = gains > edge
    equal = np.flatnonzero(gains == edge)
    lightest = equal[np.argsort(weights[equal], kind="stable")]
    taken[lightest[: count - np.count_nonzero(taken)]] = True
    return taken, edge


def between(items: Items, relaxed: Priced) -> list[np.ndarray]:
    """On a way from ``taken`` to ``heavier``, light items first, the last choice that fits and the
    next one."""
    ways = []
    for mask in (relaxed.taken & ~relaxed.heavier, relaxed.heavier & ~relaxed.taken):
        indices = np.flatnonzero(mask)
        ways.append(indices[np.argsort(items.weights[indices], kind="stable")])
    growth = np.zeros(max(map(len, ways)) + 1, np.int64)
    for sign, indices in zip((-1, 1), ways, strict=True):
        growth[1 : len(indices) + 1] += sign * items.weights[indices]
    fitting = np.flatnonzero(np.cumsum(growth) <= items.room(relaxed.taken))
    last = int(fitting[-1]) if len(fitting) else 0
    choices = []
    for steps in (last, last + 1):
        taken = relaxed.taken.copy()
        for indices in ways:
            taken[indices[:steps]] ^= True
        choices.append(taken)
    return choices


def exchanged(items: Items, taken: np.ndarray) -> np.ndarray:
    """A choice after the exchanges, of one item or none for another or none, that make it fit and
    then add most, one after the other."""
    count = len(taken)
    profits, weights = np.append(items.profits, 0), np.append(items.weights, 0)
    taken = np.append(taken, False)
    for _ in range(_EXCHANGES):
        inside = np.append(np.flatnonzero(taken), count)
        outside = np.flatnonzero(~taken)
        outside = outside[np.lexsort([outside, -profits[outside], weights[outside]])]
        most = np.maximum.accumulate(profits[outside])
        # Which of those so far has the most.
        which = np.maximum.accumulate(
            np.where(profits[outside] == most, np.arange(len(outside)), 0)
        )
        room = items.room(taken[:count])
        last = np.searchsorted(weights[outside], weights[inside] + room, side="right") - 1
        gains = np.where(last >= 0, most[np.maximum(last, 0)] - profits[inside], _NEVER)
        best = int(gains.argmax())
        if gains[best] <= (0 if room >= 0 else _NEVER):
            break
        taken[inside[best]] = False
        taken[outside[which[last[best]]]] = True
        taken[count] = False
    return taken[:count]


class _Search:
    """Choice and bound while they approach each other."""

    def __init__(self, items: Items, deadline: float | None):
        self.items = items
        self.deadline = deadline
        self.step = max(int(np.gcd.reduce(items.profits)), 1)
        self.taken = np.zeros(len(items.profits), bool)
        self.value = 0
        self.bound = int(items.profits.sum())

    @property
    def done(self) -> bool:
        late = self.deadline is not None and time.monotonic() > self.deadline
        return late or self.value == self.bound

    def run(self, slopes: bool) -> Bracket:
        items = self.items
        if items.room(np.ones_like(self.taken)) >= 0:
            self.offer(np.ones_like(self.taken))
        rests = self.limit_by_slope() if slopes and not self.done else False
        if not self.done:
            self.relax()
        if rests and not self.done:
            for start in (self.taken, *between(items, self.relax())):
                self.force(start)
        if not self.done and self.expand(self.relax(), _WIDTHS[0]):
            self.limit(self.value)
        if not self.done:
            self.split()
        return Bracket(self.taken, self.value, self.bound)

    def split(self) -> None:
        """Choices of as many items as fit, and those of fewer, each with its own bound."""
        most = self.most()
        parts = [self.of_number(most), self.below(most)]
        for width in _WIDTHS[1:]:
            left = []
            for relaxed in parts:
                self.improve_between(relaxed)
                if not self.expand(relaxed, width):
                    left.append(relaxed)
            parts = left
        self.limit(max([relaxed.total >> relaxed.shift for relaxed in parts], default=self.value))

    def offer(self, taken: np.ndarray) -> None:
        """A choice, to be kept if it fits and is better."""
        value = self.items.value(taken)
        if value > self.value and self.items.room(taken) >= 0:
            self.taken, self.value = taken, value

    def limit(self, bound: int) -> None:
        """A bound of what is better than the value."""
        self.bound = max(self.value, min(self.bound, bound // self.step * self.step))

    def improve(self, taken: np.ndarray) -> None:
        self.offer(exchanged(self.items, taken))

    def improve_between(self, relaxed: Priced) -> None:
        for taken in between(self.items, relaxed):
            self.improve(taken)

    def most(self) -> int:
        """How many items fit."""
        lightest = np.cumsum(np.sort(self.items.weights))
        return int(np.searchsorted(lightest, self.items.capacity, side="right"))

    def least(self) -> int:
        """How many items what is better than the value has at least."""
        greatest = np.cumsum(np.sort(self.items.profits)[::-1])
        return int(np.searchsorted(greatest, self.value, side="right")) + 1

    def relax(self) -> Priced:
        """The better of the two bounds by the number of items."""
        most = self.most()
        upper = priced(self.items, most, False)
        self.limit(upper.total >> upper.shift)
        self.improve_between(upper)
        least = self.least()
        if least > most:
            self.limit(self.value)
            return upper
        lower = priced(self.items, least, True)
        self.limit(lower.total >> lower.shift)
        self.improve_between(lower)
        return min(upper, lower, key=_total)

    def of_number(self, most: int) -> Priced:
        """The bound of choices of as many items as fit.

        They hold the items too light, and none too heavy, to be exchanged in the room that the
        lightest items leave.
        """
        items, ranked = self.items, np.sort(self.items.weights)
        room = items.capacity - int(ranked[:most].sum())
        kept = items.weights < ranked[most] - room
        losses = np.full(len(kept), -_NEVER)
        count = most - int(np.count_nonzero(kept))
        if not count:
            return Priced(items.value(kept), 0, losses, kept, kept)
        open_ = np.flatnonzero(~kept & (items.weights <= ranked[most - 1] + room))
        part = Items(items.profits[open_], items.weights[open_], items.room(kept))
        relaxed = min((priced(part, count, side) for side in (False, True)), key=_total)
        losses[open_] = relaxed.losses
        taken, heavier = kept.copy(), kept.copy()
        taken[open_], heavier[open_] = relaxed.taken, relaxed.heavier
        total = relaxed.total + (items.value(kept) << relaxed.shift)
        return Priced(total, relaxed.shift, losses, taken, heavier)

    def below(self, count: int) -> Priced:
        """The better bound of choices of fewer items."""
        least = min(self.least(), self.most())
        sides = [priced(self.items, least, True)]
        if count > 1:
            sides.append(priced(self.items, count - 1, False))
        return min(sides, key=_total)

    def limit_by_slope(self) -> bool:
        """The bound by the rests; whether they take few values."""
        items = self.items
        order = np.argsort(items.weights, kind="stable")
        rises = np.diff(items.profits[order])
        runs = np.diff(items.weights[order])
        rises, runs = rises[runs > 0], runs[runs > 0]
        if not len(runs):
            return False
        slopes = np.sort((2 * rises + runs) // (2 * runs))
        slope = int(slopes[len(slopes) // 2])
        if slope <= 0 or slope * int(items.weights.max()) > MAX_PROFITS:
            return False
        rests = items.profits - slope * items.weights
        if len(np.unique(rests)) > _RESTS:
            return False
        some = np.flatnonzero(rests > 0)
        bound, taken = 0, np.zeros_like(self.taken)
        if len(some):
            found = bracket(
                Items(rests[some], items.weights[some], items.capacity), self.deadline, False
            )
            bound = found.bound
            taken[some] = found.taken
        self.limit(slope * items.capacity + bound)
        self.improve(taken)
        return True

    def force(self, start: np.ndarray) -> None:
        """Exchange two items of a choice for a part of its room, then those that add most."""
        items = self.items
        inside, outside = np.flatnonzero(start), np.flatnonzero(~start)
        outside = outside[np.argsort(items.weights[outside], kind="stable")]
        room = items.room(start)
        for number in range(_FORCED):
            if self.done:
                return
            leaves = inside[number * len(inside) // _FORCED]
            weight = items.weights[leaves] + room * (1 + number % 7) // 8
            place = int(np.searchsorted(items.weights[outside], weight, side="right")) - 1
            if place >= 0:
                taken = start.copy()
                taken[[leaves, outside[place]]] ^= True
                self.improve(taken)

    def expand(self, relaxed: Priced, width: int) -> bool:
        """Lists of at most ``width`` states, by rising loss.

        If none is cut, no choice that the bound holds for is better than the value. Of states alike
        the one of most items stays: of the best choices of least weight the one of most items is
        found, so none of them is lost between two bounds for different numbers.
        """
        items = self.items
        self.offer(relaxed.taken)
        whole, work = True, 0
        weights = np.array([items.capacity - items.room(relaxed.taken)])
        profits = np.array([items.value(relaxed.taken)])
        losses, counts = np.zeros(1, np.int64), np.zeros(1, np.int64)
        steps: list[tuple[int, np.ndarray]] = []
        for item in np.argsort(relaxed.losses, kind="stable").tolist():
            loss = int(relaxed.losses[item])
            slack = relaxed.total - (self.value + self.step << relaxed.shift)
            if loss > slack or not len(weights):
                break
            if work > _STATES or (self.deadline is not None and time.monotonic() > self.deadline):
                whole = False
                break
            sign = -1 if relaxed.taken[item] else 1
            joined = np.concatenate([weights, weights + sign * items.weights[item]])
            order = np.argsort(joined, kind="stable")
            joined = joined[order]
            gained = np.concatenate([profits, profits + sign * items.profits[item]])[order]
            numbers = np.concatenate([counts, counts + sign])[order]
            same = joined[1:] == joined[:-1]
            swaps = np.flatnonzero(
                same & (gained[1:] == gained[:-1]) & (numbers[1:] > numbers[:-1])
            )
            for values in (order, numbers):
                values[swaps], values[swaps + 1] = values[swaps + 1], values[swaps]
            lost = np.concatenate([losses, losses + loss])[order]
            best = int(np.searchsorted(joined, items.capacity, side="right"))
            best = int(gained[:best].argmax()) if best else -1
            if best >= 0 and gained[best] > self.value:
                self.offer(_trace(relaxed.taken, [*steps, (item, order)], best))
                slack = relaxed.total - (self.value + self.step << relaxed.shift)
            kept = lost <= slack
            kept[1:] &= gained[1:] > np.maximum.accumulate(gained)[:-1]
            kept[:-1] &= ~same | (gained[1:] <= gained[:-1])
            places = np.flatnonzero(kept)
            if len(places) > width:
                whole = False
                places = np.sort(places[np.argsort(lost[places], kind="stable")[:width]])
            steps.append((item, order[places]))
            weights, profits = joined[places], gained[places]
            losses, counts = lost[places], numbers[places]
            work += max(len(places), _LEAST_STATES)
        return whole


def _total(relaxed: Priced) -> int:
    """Of bounds for the same profits, whose units may differ, an order."""
    return relaxed.total << _MAX_SHIFT - relaxed.shift


def _trace(taken: np.ndarray, steps: list[tuple[int, np.ndarray]], place: int) -> np.ndarray:
    """The choice of a state, by what each step made its states of: those before, then changed."""
    taken = taken.copy()
    for number in reversed(range(len(steps))):
        item, origins = steps[number]
        before = len(steps[number - 1][1]) if number else 1
        changed, place = divmod(int(origins[place]), before)
        taken[item] ^= bool(changed)
    return taken
