"""The pairs of pictures of two folders, and the means of their measures."""

import math
import os
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from mmpcodec.cli.commands.compare.measuring import Compared
from mmpcodec.cli.jobs import PICTURE, Job, inputs_of
from mmpcodec.cli.printing import counted
from mmpcodec.errors import ParameterError
from mmpcodec.runtime import stores
from mmpcodec.runtime.files import STANDARD


def are_folders(a: str, b: str) -> bool:
    """Return whether two names are those of folders.

    Raises
    ------
    ParameterError
        If one is and the other is not.
    """
    found = [_is_folder(name) for name in (a, b)]
    if found[0] != found[1]:
        folder, other = (a, b) if found[0] else (b, a)
        raise ParameterError(f"{folder} is a folder and {other} is not: compare files or folders")
    return found[0]


def _is_folder(name: str) -> bool:
    name = stores.without_file(name)
    if stores.is_url(name):
        entry = stores.entry(name)
        return entry is not None and entry.is_folder
    return name != STANDARD and os.path.isdir(name)


def pairs_of(a: str, b: str) -> list[Job]:
    """Return a job for each pair of pictures of two folders.

    Paths of partners below the folders are equal but for their suffixes. A picture without a
    partner is a job with a fault.

    Raises
    ------
    ParameterError
        If a picture has two possible partners.
    """
    firsts, seconds = inputs_of([a], PICTURE), inputs_of([b], PICTURE)
    of_stem = _by_stem(firsts), _by_stem(seconds)
    jobs = []
    for job in firsts:
        if not job.to_do:
            jobs.append(job)
            continue
        same, partners = (found[_stem(job)] for found in of_stem)
        if partners and len(same) + len(partners) > 2:
            twice, one = (same, partners) if len(same) > 1 else (partners, same)
            names = " and ".join(each.name for each in twice[:2])
            raise ParameterError(f"{names}: either could be compared with {one[0].name}")
        jobs.append(
            job._replace(partner=partners[0].source) if partners else _without_partner(job, b)
        )
    for job in seconds:
        if not job.to_do:
            jobs.append(job)
        elif not of_stem[0][_stem(job)]:
            jobs.append(_without_partner(job, a))
    return jobs


def _by_stem(jobs: Sequence[Job]) -> dict[str, list[Job]]:
    found: dict[str, list[Job]] = defaultdict(list)
    for job in jobs:
        if job.to_do:
            found[_stem(job)].append(job)
    return found


def _stem(job: Job) -> str:
    return os.path.splitext(job.below)[0]


def _without_partner(job: Job, folder: str) -> Job:
    return job._replace(fault=f"{job.name}: {folder} holds no picture of this name")


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
    def of(cls, found: Sequence[Compared]) -> "Means":
        """Return the means of at least one pair; they do not depend on the order of the pairs."""
        qualities = [each.quality for each in found]
        means: dict[str, float | None] = {}
        measured = {}
        for key in qualities[0].values:
            means[key], measured[key] = _mean([each.values[key] for each in qualities])
        return cls(len(found), means, max(each.max_error for each in qualities), measured)

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
