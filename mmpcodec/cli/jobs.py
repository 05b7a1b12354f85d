"""What is to be written from what, settled and checked before any work starts."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from mmpcodec.cli import output
from mmpcodec.errors import ParameterError


@dataclass(frozen=True)
class Job:
    """One input and its output, if it has one; ``-`` is standard input or output."""

    source: str
    target: str | None = None

    @property
    def name(self) -> str:
        """The input's name in messages."""
        return output.shown(self.source, "stdin")


def plan(
    sources: Sequence[str], suffix: str, *, out: str | None, folder: str | None, force: bool
) -> list[Job]:
    """The jobs of a command, all outputs checked.

    Parameters
    ----------
    sources : sequence of str
    suffix : str
        Of outputs that take the name of their input.
    out, folder : str or None
        As given with -o and -O.
    force : bool
        Whether files that exist may be overwritten.

    Raises
    ------
    ParameterError
        When names contradict each other, or an output would be an input or another output.
    FileError
        When an output cannot be written.
    """
    jobs = assign(sources, suffix, out=out, folder=folder)
    check(jobs, force=force)
    return jobs


def assign(
    sources: Sequence[str],
    suffix: str,
    *,
    out: str | None,
    folder: str | None,
    keep_extension: bool = False,
) -> list[Job]:
    """The jobs of a command, their outputs not yet checked.

    Parameters
    ----------
    sources, suffix, out, folder
        As of ``plan``.
    keep_extension : bool
        The suffix comes behind the input's extension, not in its place.

    Raises
    ------
    ParameterError
        When names contradict each other.
    """
    if out is not None and folder is not None:
        raise ParameterError("-o and -O: give only one of them")
    if out is not None and len(sources) > 1:
        raise ParameterError(f"-o {out}: is one output for {len(sources)} inputs; use -O DIR")
    return [
        Job(source, out or _target(source, suffix, folder, keep_extension)) for source in sources
    ]


def check(jobs: Sequence[Job], *, force: bool) -> None:
    """Check all outputs before anything is written; raises as ``plan`` does."""
    inputs = {_place(job.source) for job in jobs if job.source != output.STANDARD}
    writers: dict[str, Job] = {}
    for job in jobs:
        if job.target is None:
            continue
        place = _place(job.target)
        if place in inputs:
            raise ParameterError(f"{job.target}: is an input, and would be overwritten")
        other = writers.setdefault(place, job)
        if other is not job:
            raise ParameterError(f"{other.name} and {job.name}: both would write {job.target}")
    for job in writers.values():
        assert job.target is not None
        output.check(job.target, force=force)


def _target(source: str, suffix: str, folder: str | None, keep_extension: bool) -> str:
    if source == output.STANDARD:
        if folder is not None:
            raise ParameterError("stdin has no name to use with -O; use -o OUT")
        return output.STANDARD
    stem = source if keep_extension else os.path.splitext(source)[0]
    return (stem if folder is None else os.path.join(folder, os.path.basename(stem))) + suffix


def _place(name: str) -> str:
    return name if name == output.STANDARD else os.path.realpath(name)
