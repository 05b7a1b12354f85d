"""What a solver knows about its answer."""

from enum import StrEnum


class Status(StrEnum):
    """What is known about the answer of a solver; the names are those of OR-Tools' CP-SAT."""

    OPTIMAL = "optimal"
    """The answer is proven to be the best."""
    FEASIBLE = "feasible"
    """There is an answer, and a better one is not excluded."""
    INFEASIBLE = "infeasible"
    """It is proven that there is no answer."""
    UNKNOWN = "unknown"
    """No answer was found, and none is excluded."""
