"""Choices and bounds that meet, for 0-1 knapsacks of one budget that are too large for a table.

The number of lightest items that fit together is an upper limit for the number of items of any
feasible choice. The number of most profitable items needed to exceed a known value is a lower limit
for any better choice. A second price, for an item, brings either limit into the bound of
``bounds.py``. The loss of an item is the decrease of this bound if the item changes its side. No
better choice changes an item whose loss exceeds the gap between bound and best value, so lists of
states by rising loss stay short if profits are not a function of weights.

If a bound for all numbers of items is too high, choices of as many items as fit and choices of
fewer items are bounded separately; the capacity that the lightest items leave decides most items of
the former. If profits follow weights, each profit is ``slope`` times the weight plus a rest. Then
slope times capacity plus the largest sum of rests is an upper bound, and exchanges of single items
find choices that fill the capacity exactly. All profits and values are multiples of the profits'
common divisor.

Sources: S. Martello, D. Pisinger and P. Toth, "Dynamic programming and strong bounds for the 0-1
knapsack problem", Management Science 1999; S. Martello and P. Toth, "Upper bounds and algorithms
for hard 0-1 knapsack problems", Operations Research 1997.
"""

import time
from dataclasses import dataclass

import numpy as np

from mmpcodec.solvers.knapsack.problem import MAX_PROFITS, Problem

LARGE_CELLS = 1 << 38
"""A table of more cells is large; choices and bounds are tried before it."""

MAX_WEIGHTS = 1 << 60
"""Exclusive limit of the sum of all weights."""

_SUM_BITS = 60
_MAX_SHIFT = 40
_WIDTHS = (1 << 10, 1 << 14, 1 << 18)
"""Most states of a list: for all choices, then in two rounds for the parts of ``_Search.split``."""
_STATES = 1 << 22
"""Most states of all lists of a pass; each join counts as at least ``_LEAST_STATES`` states."""
_LEAST_STATES = 1 << 5
_EXCHANGES = 16
"""Most exchanges of single items in a row."""
_FORCED = 256
"""Number of exchanges that ``_Search.force`` tries."""
_RESTS = 8
"""Most different rests over a slope; with so few, the knapsack of the rests is simple."""
_NEVER = -(1 << 62)
"""Gain of an exchange that does not fit."""


@dataclass(frozen=True)
class Items:
    """Items of positive weight and a capacity.

    Parameters
    ----------
    profits, weights : (N,) int64 array
    capacity : int
    """

    profits: np.ndarray
    weights: np.ndarray
    capacity: int

    def value(self, taken: np.ndarray) -> int:
        """Return the profit of the items in ``taken``, (N,) bool."""
        return int(self.profits[taken].sum())

    def room(self, taken: np.ndarray) -> int:
        """Return the capacity that the items in ``taken`` leave; negative if they do not fit."""
        return self.capacity - int(self.weights[taken].sum())


@dataclass(frozen=True)
class Bracket:
    """A choice and an upper bound of the profit of all choices.

    Parameters
    ----------
    taken : (N,) bool array
    value : int
        Profit of the choice.
    bound : int
        Upper bound of the profit; equals ``value`` if the choice is proven to be the best.
    """

    taken: np.ndarray
    value: int
    bound: int


@dataclass(frozen=True)
class Priced:
    """A Lagrangian bound with a price for a unit of weight and a price for an item.

    Parameters
    ----------
    total : int
        The bound in units of 2**-shift.
    shift : int
    losses : (N,) int64 array
        Decrease of the bound if an item is not as in ``taken``, in units of 2**-shift.
    taken : (N,) bool array
        The items of the largest gain; they fit. Their profit equals the bound if they fill the
        capacity and meet the number of items.
    heavier : (N,) bool array
        The items of the largest gain at the next lower price of weight; they may not fit.
    """

    total: int
    shift: int
    losses: np.ndarray
    taken: np.ndarray
    heavier: np.ndarray


def applies(problem: Problem) -> bool:
    """Return whether the table is large and the weights add up to less than ``MAX_WEIGHTS``."""
    return problem.cells > LARGE_CELLS and sum(problem.weights[:, 0].tolist()) < MAX_WEIGHTS


def of_problem(problem: Problem) -> Items:
    """Return the items of a problem to which ``core`` applies."""
    return Items(
        problem.profits[1::2] - problem.profits[::2],
        problem.weights[1::2, 0],
        problem.capacities[0],
    )


def bracket(items: Items, deadline: float | None = None, slopes: bool = True) -> Bracket:
    """Return a good choice with an upper bound, which often equals its profit.

    Parameters
    ----------
    items : Items
        Weights that add up to less than ``MAX_WEIGHTS``.
    deadline : float or None
        Value of ``time.monotonic`` at which the search stops.
    slopes : bool
        Whether to test for profits that follow the weights.
    """
    return _Search(items, deadline).run(slopes)


def priced(items: Items, count: int, at_least: bool) -> Priced:
    """Return the bound of the choices with at most, or at least, a number of items.

    Parameters
    ----------
    items : Items
    count : int
        From 1 to the number of items; the ``count`` lightest items fit together.
    at_least : bool
        Whether ``count`` is the lower limit, else the upper limit.
    """
    profits, weights = items.profits, items.weights
    shift = min(max(_SUM_BITS - 2 - int(profits.sum()).bit_length(), 0), _MAX_SHIFT)
    scaled = profits << shift
    # The search finds the lowest price of weight at which the items of the largest gain fit.
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
    """Return the items of the largest total gain, (N,) bool, and the price of an item.

    Of items of equal gain, the lightest are taken.
    """
    edge = int(np.partition(gains, len(gains) - count)[len(gains) - count])
    if (edge > 0) == at_least:
        return gains > 0, 0
    taken = gains > edge
    equal = np.flatnonzero(gains == edge)
    lightest = equal[np.argsort(weights[equal], kind="stable")]
    taken[lightest[: count - np.count_nonzero(taken)]] = True
    return taken, edge


def between(items: Items, relaxed: Priced) -> list[np.ndarray]:
    """Return the last choice that fits on the path from ``taken`` to ``heavier``, and the next one.

    A step removes the lightest item that is left only in ``taken`` and adds the lightest item that
    is left only in ``heavier``.
    """
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
    """Return a choice after exchanges that make it fit and then add profit.

    An exchange removes at most one item and adds at most one item. Each exchange is the one of the
    largest gain in profit of those that fit.
    """
    count = len(taken)
    profits, weights = np.append(items.profits, 0), np.append(items.weights, 0)
    taken = np.append(taken, False)
    for _ in range(_EXCHANGES):
        inside = np.append(np.flatnonzero(taken), count)
        outside = np.flatnonzero(~taken)
        outside = outside[np.lexsort([outside, -profits[outside], weights[outside]])]
        most = np.maximum.accumulate(profits[outside])
        # Place in `outside` of the most profitable item up to each place.
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
    """A search that raises the value of a choice and lowers the bound until they meet."""

    def __init__(self, items: Items, deadline: float | None):
        self.items = items
        self.deadline = deadline
        self.step = max(int(np.gcd.reduce(items.profits)), 1)
        self.taken = np.zeros(len(items.profits), bool)
        self.value = 0
        self.bound = int(items.profits.sum())

    @property
    def done(self) -> bool:
        """Whether the value equals the bound or the deadline has passed."""
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
        """Bound choices of as many items as fit and choices of fewer items separately."""
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
        """Keep a choice if it fits and has more profit than the known one."""
        value = self.items.value(taken)
        if value > self.value and self.items.room(taken) >= 0:
            self.taken, self.value = taken, value

    def limit(self, bound: int) -> None:
        """Apply a bound of the choices better than the value, rounded down to a possible profit."""
        self.bound = max(self.value, min(self.bound, bound // self.step * self.step))

    def improve(self, taken: np.ndarray) -> None:
        self.offer(exchanged(self.items, taken))

    def improve_between(self, relaxed: Priced) -> None:
        for taken in between(self.items, relaxed):
            self.improve(taken)

    def most(self) -> int:
        """Return the largest number of items that fit together."""
        lightest = np.cumsum(np.sort(self.items.weights))
        return int(np.searchsorted(lightest, self.items.capacity, side="right"))

    def least(self) -> int:
        """Return the least number of items that can have more profit than the value."""
        greatest = np.cumsum(np.sort(self.items.profits)[::-1])
        return int(np.searchsorted(greatest, self.value, side="right")) + 1

    def relax(self) -> Priced:
        """Apply the bounds by the largest and the least number of items; return the lower one."""
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
        """Return the bound of choices of exactly ``most`` items, as many as fit.

        The capacity that the lightest items leave limits exchanges. So these choices contain every
        item that is too light, and no item that is too heavy, for an exchange.
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
        """Return the lower of two bounds of better choices with fewer than ``count`` items."""
        least = min(self.least(), self.most())
        sides = [priced(self.items, least, True)]
        if count > 1:
            sides.append(priced(self.items, count - 1, False))
        return min(sides, key=_total)

    def limit_by_slope(self) -> bool:
        """Apply the bound by slope and rests; return whether there are few different rests."""
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
        """Try exchanges of two items that fill a part of the room of ``start``; improve each."""
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
        """Search lists of at most ``width`` states, by rising loss; return whether it is complete.

        After a complete search, no choice that ``relaxed`` bounds is better than the value. Of
        states of equal profit and weight, the one of the most items stays. So of the best choices
        of least weight, the search finds the one of the most items, and none of them is lost
        between two bounds for different numbers of items.
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
    """Return a bound in units of 2**-_MAX_SHIFT, so that bounds of different units compare."""
    return relaxed.total << _MAX_SHIFT - relaxed.shift


def _trace(taken: np.ndarray, steps: list[tuple[int, np.ndarray]], place: int) -> np.ndarray:
    """Return the choice of a state.

    Each step has an item and, for each of its states, the place of the origin among the states
    before the step, followed by the same states with the item changed.
    """
    taken = taken.copy()
    for number in reversed(range(len(steps))):
        item, origins = steps[number]
        before = len(steps[number - 1][1]) if number else 1
        changed, place = divmod(int(origins[place]), before)
        taken[item] ^= bool(changed)
    return taken
