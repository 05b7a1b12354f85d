"""Search for a value of a falling function within a window, in few expensive evaluations."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

MOST_TRIES = 40
"""Safety limit, never reached: outward steps double, and two tries halve a bracket."""
PATIENCE = 2
"""Number of outward steps that follow the slope; later steps at least double."""


@dataclass(frozen=True)
class Tried:
    """A place x and the value y of the function there."""

    x: float
    y: float


def approach(
    function: Callable[[float], float],
    start: float,
    *,
    slope: float,
    bounds: tuple[float, float],
    window: tuple[float, float],
    resolution: float,
    known: Sequence[Tried] = (),
) -> list[Tried]:
    """Evaluate a falling function until a value lies in a window.

    The function may jump, be flat or rise locally. The search then continues between one place
    above and one place below the window, until their distance is at most the resolution.

    Parameters
    ----------
    function : callable
        Returns a finite number for a place within the bounds.
    start : float
    slope : float
        Approximate slope of the function near the start; below 0.
    bounds : tuple of float
        Least and largest place.
    window : tuple of float
        Least and largest accepted value.
    resolution : float
        Width at which the search of a bracket ends; above 0.
    known : sequence of Tried
        Earlier evaluations.

    Returns
    -------
    list of Tried
        Evaluations in their order, at least one. If no value lies in the window, the function jumps
        over the window or does not reach it within the bounds, one of which was tried.
    """
    bottom, top = window
    aim = (bottom + top) / 2
    tried: list[Tried] = []
    above = max((place for place in known if place.y > top), key=_place, default=None)
    least = bounds[0] if above is None else above.x
    under = (place for place in known if place.y < bottom and place.x > least)
    below = min(under, key=_place, default=None)
    width = bounds[1] - bounds[0]
    x = min(max(start, least), bounds[1] if below is None else below.x)
    while len(tried) < MOST_TRIES:
        here = Tried(x, function(x))
        tried.append(here)
        if bottom <= here.y <= top:
            break
        if here.y > top:
            above = here
        else:
            below = here
        if above is None or below is None:
            if x == bounds[here.y > top]:
                break
            x = min(max(x + _outward(tried, aim, slope), bounds[0]), bounds[1])
            continue
        before, width = width, below.x - above.x
        if width <= resolution:
            break
        share = (above.y - aim) / (above.y - below.y)
        if width > before / 2:
            share = 0.5  # the value here says little about the place
        margin = min(resolution / 2, width / 4)
        x = min(max(above.x + share * width, above.x + margin), below.x - margin)
    return tried


def _place(tried: Tried) -> float:
    return tried.x


def _outward(tried: list[Tried], aim: float, slope: float) -> float:
    """Return the next step while all values lie on one side of the window."""
    here = tried[-1]
    if len(tried) > 1:
        last = tried[-2]
        measured = (here.y - last.y) / (here.x - last.x)
        slope = min(max(measured, 4 * slope), slope / 4)
    step = (aim - here.y) / slope
    if len(tried) > PATIENCE:
        least = 2 * abs(here.x - tried[-2].x)
        step = max(step, least) if step > 0 else min(step, -least)
    return step
