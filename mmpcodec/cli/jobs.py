"""Pair inputs with outputs, and check all outputs before any work starts."""

import os
from collections.abc import Sequence
from typing import NamedTuple

from mmpcodec.cli import output
from mmpcodec.errors import ParameterError
from mmpcodec.runtime.files import STANDARD


class Job(NamedTuple):
    """One input, and its output or None. ``-`` is standard input or output."""

    source: str
    target: str | None = None

    @property
    def name(self) -> str:
        """Name of the input in messages."""
        return output.shown(self.source, "stdin")


def plan(
    sources: Sequence[str], suffix: str, *, out: str | None, folder: str | None, force: bool
) -> list[Job]:
    """Pair each input with its output, and check all outputs.

    Parameters
    ----------
    sources : sequence of str
    suffix : str
        Suffix of outputs that take the name of their input.
    out, folder : str or None
        Values of -o and -O.
    force : bool
        Whether existing files may be overwritten.

    Raises
    ------
    ParameterError
        If -o and -O contradict each other or the inputs, or an output is also an input or the
        output of another job.
    FileError
        If an output cannot be written.
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
    """Pair each input with its output, without checking the outputs.

    Parameters
    ----------
    sources, suffix, out, folder
        As for ``plan``.
    keep_extension : bool
        Append the suffix to the input's extension instead of replacing the extension.

    Raises
    ------
    ParameterError
        If -o and -O contradict each other or the inputs.
    """
    if out is not None and folder is not None:
        raise ParameterError("-o and -O: give only one of them")
    if out is not None and len(sources) > 1:
        raise ParameterError(f"-o {out}: is one output for {len(sources)} inputs; use -O DIR")
    return [
        Job(source, out or _target(source, suffix, folder, keep_extension)) for source in sources
    ]


def check(jobs: Sequence[Job], *, force: bool) -> None:
    """Check all outputs; raises the errors of ``plan``."""
    inputs = {_place(job.source) for job in jobs if job.source != STANDARD}
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
    if source == STANDARD:
        if folder is not None:
            raise ParameterError("stdin has no name to use with -O; use -o OUT")
        return STANDARD
    stem = source if keep_extension else os.path.splitext(source)[0]
    return (stem if folder is None else os.path.join(folder, os.path.basename(stem))) + suffix


def _place(name: str) -> str:
    return name if name == STANDARD else os.path.realpath(name)
