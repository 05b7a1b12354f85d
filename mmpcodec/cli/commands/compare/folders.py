"""The pairs of pictures of two folders."""

import os
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import product

from mmpcodec.cli.inputs.folders import PICTURE
from mmpcodec.cli.jobs import Job, inputs_of
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

    Partners have equal paths below the folders, or paths that are equal but for a suffix that one
    of them has more, as "a.png.mmp", or but for their suffixes. A picture is a job with a fault if
    it has no partner, or shares its possible partners with other pictures.
    """
    firsts, seconds = inputs_of([a], PICTURE), inputs_of([b], PICTURE)
    found: dict[str, Job] = {}  # by the source, of the first folder
    used: dict[str, Job] = {}  # likewise, of the second
    for key_of_first, key_of_second in product((_path, _stem), repeat=2):
        groups = _by_key(seconds, key_of_second, used)
        for key, group in _by_key(firsts, key_of_first, found).items():
            partners = groups.get(key, [])
            if len(group) == len(partners) == 1:
                first, second = *group, *partners
                found[first.source] = first._replace(partner=second.source)
                used[second.source] = second
            elif partners:
                found |= {job.source: _with_rivals(job, [*group, *partners]) for job in group}
                used |= {job.source: job for job in partners}
    jobs = [found.get(job.source) or _without_partner(job, b) for job in firsts]
    return jobs + [_without_partner(job, a) for job in seconds if job.source not in used]


def _by_key(
    jobs: Sequence[Job], key: Callable[[Job], str], found: Mapping[str, Job]
) -> dict[str, list[Job]]:
    """Return the jobs that have no partner yet, by a part of their paths."""
    groups: dict[str, list[Job]] = defaultdict(list)
    for job in jobs:
        if job.to_do and job.source not in found:
            groups[key(job)].append(job)
    return groups


def _path(job: Job) -> str:
    return job.below


def _stem(job: Job) -> str:
    return os.path.splitext(job.below)[0]


def _with_rivals(job: Job, rivals: Sequence[Job]) -> Job:
    others = ", ".join(other.name for other in rivals if other is not job)
    return job._replace(fault=f"{job.name}: its partner is not clear among {others}")


def _without_partner(job: Job, folder: str) -> Job:
    if not job.to_do:
        return job
    return job._replace(fault=f"{job.name}: {folder} holds no picture of this name")
