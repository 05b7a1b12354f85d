"""Time limits of the search."""

import time


class OutOfTime(Exception):
    """The deadline has passed."""


def is_over(deadline: float | None) -> bool:
    """Return whether a deadline, a value of ``time.monotonic``, has passed."""
    return deadline is not None and time.monotonic() > deadline


def look(deadline: float | None) -> None:
    """Compare the clock with the deadline.

    Raises
    ------
    OutOfTime
        When the deadline has passed.
    """
    if is_over(deadline):
        raise OutOfTime
