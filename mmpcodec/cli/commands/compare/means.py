"""Means of the measures of pairs of pictures."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from mmpcodec.cli.printing import counted

if TYPE_CHECKING:
    from mmpcodec.bench.metrics import Quality


class Means(NamedTuple):
    """Means of the values of pairs; ``max_error`` is the largest of all.

    A mean leaves out the pairs without that value: equal pictures have no PSNR. ``means`` and
    ``measured`` have the mean of each metric, and its number of pairs, by its key.
    """

    pairs: int
    means: dict[str, float | None]
    max_error: int
    measured: dict[str, int]

    @classmethod
    def of(cls, qualities: "Sequence[Quality]") -> "Means":
        """Return the means of at least one pair; they do not depend on the order of the pairs."""
        means: dict[str, float | None] = {}
        measured = {}
        for key in qualities[0].values:
            means[key], measured[key] = _mean([each.values[key] for each in qualities])
        return cls(len(qualities), means, max(each.max_error for each in qualities), measured)

    def as_dict(self) -> dict[str, Any]:
        return {
            "event": "mean",
            "pairs": self.pairs,
            **self.means,
            "max_error": self.max_error,
            "measured": self.measured,
        }

    def text(self, verbose: bool) -> str:
        from mmpcodec.bench.metrics import METRICS

        parts = [] if self.max_error else ["all equal"]
        for key, mean in self.means.items():
            if mean is not None:
                number = self.measured[key]
                only = "" if number == self.pairs else f" ({number} of {self.pairs})"
                parts.append(f"{METRICS[key].title} {METRICS[key].text(mean)}{only}")
        parts.append(f"largest error {self.max_error}")
        return f"mean of {counted(self.pairs, 'pair')}: {', '.join(parts)}"


def _mean(values: Sequence[float | None]) -> tuple[float | None, int]:
    """Return the mean of the values that are there, and their number."""
    there = [value for value in values if value is not None]
    return (math.fsum(there) / len(there) if there else None), len(there)
