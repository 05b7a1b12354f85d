"""Pieces of items with copies, and the answers in units."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mmpcodec.errors import ParameterError
from mmpcodec.solvers.knapsack.answers import Solution
from mmpcodec.solvers.knapsack.problem import MAX_CAPACITY, MAX_PROFITS, ItemList
from mmpcodec.solvers.knapsack.units.arguments import NO_END, check_copies, check_number, for_each

_FILLER = -1
_SURE = 0.5
"""Share of a limit up to which sums in floating point need no second look."""


@dataclass(frozen=True, eq=False)
class Pieces:
    """A problem whose items are pieces of the caller's items.

    Parameters
    ----------
    items : ItemList or None
        The pieces; None if the limits of units exclude all choices.
    of : (P,) int64 array
        The caller's item of each piece; -1 for pieces that only fill the budget of units.
    sizes : (P,) int64 array
        Copies in each piece.
    """

    items: ItemList | None
    of: np.ndarray
    sizes: np.ndarray

    def solution(self, found: Solution) -> Solution:
        """Return a solution of the pieces in terms of the caller's items."""
        pieces = np.array(found.items, np.int64)
        pieces = pieces[self.of[pieces] != _FILLER]
        # Pieces of an item are neighbours.
        items, first = np.unique(self.of[pieces], return_index=True)
        counts = np.add.reduceat(self.sizes[pieces], first) if len(first) else first
        return replace(found, items=tuple(items.tolist()), counts=tuple(counts.tolist()))


def split(
    items: ItemList, copies: Any, least_items: Any, most_items: Any, exact_fill: bool
) -> Pieces:
    """Split items into pieces, and limit the number of units.

    Parameters
    ----------
    items : ItemList
    copies : None, a number, or (N,) array
        See ``arguments.check_copies``.
    least_items, most_items : int or None
    exact_fill : bool

    Raises
    ------
    ParameterError
        When an argument is invalid, when infinitely many units of positive profit fit, or when the
        magnitudes of the profits of all copies that fit add up to 2**61 or more.
    """
    most = check_number("most_items", most_items)
    least = check_number("least_items", least_items) or 0
    bounds = _bounds(items, check_copies(copies, len(items.profits)), least, most, exact_fill)
    _check_profits(items.profits, bounds)
    of, sizes = _pieces(bounds)
    units = sum(bounds.tolist())
    most = units if most is None else min(most, units)
    if least > most:
        return Pieces(None, of, sizes)
    profits, weights = items.profits[of] * sizes, items.weights[of] * sizes[:, None]
    if exact_fill and (least > 0 or most < units):
        fillers = _pieces(np.array([most - least]))[1]
        of = np.append(of, np.full(len(fillers), _FILLER))
        sizes = np.append(sizes, fillers)
        profits = np.append(profits, np.zeros_like(fillers))
        none = np.zeros((len(fillers), weights.shape[1]), np.int64)
        weights = np.hstack([np.vstack([weights, none]), sizes[:, None]])
        budgets = (*items.capacities, most)
        return Pieces(ItemList(profits, weights, budgets, limits_units=True), of, sizes)
    capacities, left = list(items.capacities), None
    if most < units:
        weights = np.hstack([weights, sizes[:, None]])
        capacities.append(most)
    if least > 0:
        spare = units - least
        if spare > MAX_CAPACITY:
            raise ParameterError(
                f"least_items = {least} of {units} units that fit: must be at most "
                f"{MAX_CAPACITY} less"
            )
        left = np.zeros((len(sizes), len(capacities) + 1), np.int64)
        left[:, -1] = np.minimum(sizes, spare + 1)
        weights = np.hstack([weights, np.zeros_like(sizes)[:, None]])
        capacities.append(spare)
    limits_units = len(capacities) > len(items.capacities)
    return Pieces(ItemList(profits, weights, tuple(capacities), left, limits_units), of, sizes)


def split_each(
    listed: list[ItemList], copies: Any, least_items: Any, most_items: Any, exact_fill: bool
) -> list[Pieces]:
    """Split the items of several problems; see ``split`` and ``arguments.for_each``."""
    options = zip(
        listed,
        for_each("copies", copies, len(listed)),
        for_each("least_items", least_items, len(listed)),
        for_each("most_items", most_items, len(listed)),
        strict=True,
    )
    return [split(items, most, low, high, exact_fill) for items, most, low, high in options]


def _bounds(
    items: ItemList, bounds: np.ndarray, least: int, most: int | None, exact_fill: bool
) -> np.ndarray:
    """Return the most copies of each item that can be of use."""
    for weights, capacity in zip(items.weights.T, items.capacities, strict=True):
        alone = np.full(len(weights), NO_END)
        np.floor_divide(capacity, weights, out=alone, where=weights > 0)
        bounds = np.minimum(bounds, alone)
    if most is not None:
        bounds = np.minimum(bounds, most)
    endless = bounds == NO_END
    rising = np.flatnonzero(endless & (items.profits > 0))
    if len(rising):
        raise ParameterError(
            f"item {rising[0]} of profit {items.profits[rising[0]]} and weight 0 without a limit "
            "of copies: the value has no bound; limit copies or most_items"
        )
    # Without profit or weight, copies only serve the least number of units.
    bounds = np.where(endless, least, bounds)
    idle = (items.profits <= 0) & (not exact_fill and least == 0)
    return np.where(idle, 0, bounds)


def _check_profits(profits: np.ndarray, bounds: np.ndarray) -> None:
    if float(np.abs(profits).astype(float) @ bounds) < _SURE * MAX_PROFITS:
        return
    pairs = zip(profits.tolist(), bounds.tolist(), strict=True)
    magnitude = sum(abs(profit) * count for profit, count in pairs)
    if magnitude > MAX_PROFITS:
        raise ParameterError(
            f"profits whose magnitudes, times the copies that fit, add up to {magnitude}: must be "
            f"at most {MAX_PROFITS}; limit copies"
        )


def _pieces(bounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the item and the size of each piece; pieces of an item are neighbours."""
    of, sizes = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    left, size = bounds, 1
    while (left > 0).any():
        some = np.flatnonzero(left > 0)
        of.append(some)
        sizes.append(np.minimum(left[some], size))
        left = left - np.minimum(left, size)
        size *= 2
    items = np.concatenate(of)
    order = np.argsort(items, kind="stable")
    return items[order], np.concatenate(sizes)[order]
