"""Find the inputs, pair them with outputs, and check all outputs before any work starts."""

import os
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import NamedTuple

from mmpcodec.cli import output
from mmpcodec.errors import FileError, ParameterError
from mmpcodec.pictures import registry
from mmpcodec.runtime import stores
from mmpcodec.runtime.files import STANDARD, check_folder, is_zarr


class Job(NamedTuple):
    """One input, and its output or None: paths, URLs, or ``-`` for standard input and output.

    Parameters
    ----------
    source, target : str
    below : str
        Path of the input below the folder on the command line that holds it.
    overwrite : bool
        Whether the output may exist.
    fault : str or None
        Why the job cannot be done; the text names the file.
    skipped : str or None
        Why the job is left out.
    resumed : bool
        Whether it is left out because an earlier run has done it.
    stored : Stored or None
        Size and state of the input, if the listing of a folder at a URL has told them.
    partner : str or None
        Second input of the job.
    """

    source: str
    target: str | None = None
    below: str = ""
    overwrite: bool = False
    fault: str | None = None
    skipped: str | None = None
    resumed: bool = False
    stored: stores.Stored | None = None
    partner: str | None = None

    @property
    def name(self) -> str:
        """Name of the input in messages."""
        return output.shown(self.source, "stdin")

    @property
    def to_do(self) -> bool:
        """Whether there is work to do."""
        return self.fault is None and self.skipped is None


Outputs = Mapping[str, stores.Stored]
"""What lies at each URL of a folder."""
Resumed = Callable[[Sequence[Job], Outputs | None], list[Job]]
"""Leaves out jobs that an earlier run has done."""


class InputKind(NamedTuple):
    """The files of folders that are inputs of a command.

    Parameters
    ----------
    title : str
        Name of such a file in messages.
    suffixes : tuple of str
        Suffixes of their names, in small letters; none for all files.
    left_out : tuple of str
        Suffixes of files that are no inputs: the outputs of the command.
    zarr : bool
        Whether zarr stores, which are folders, are inputs too.
    """

    title: str
    suffixes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    zarr: bool = False

    def holds(self, name: str) -> bool:
        """Return whether a file of this name is an input."""
        name = name.lower()
        found = not self.suffixes or name.endswith(self.suffixes)
        return found and not (self.left_out and name.endswith(self.left_out))

    def without(self, *suffixes: str) -> "InputKind":
        """Return this kind without the files that have one of these suffixes."""
        return self._replace(left_out=(*self.left_out, *suffixes))


ANY_FILE = InputKind("file")
MMP_FILE = InputKind("mmp file", (".mmp",))
PICTURE = InputKind("picture", registry.suffixes())


class Existing(Enum):
    """What happens to outputs that exist."""

    REFUSE = "refuse"
    REPLACE = "replace"
    SKIP = "skip"
    UPDATE = "update"

    @classmethod
    def of(cls, force: bool, skip_existing: bool, update: bool) -> "Existing":
        """Return what the options say.

        Raises
        ------
        ParameterError
            If two of them are given.
        """
        options = {
            "--force": (force, cls.REPLACE),
            "--skip-existing": (skip_existing, cls.SKIP),
            "--update": (update, cls.UPDATE),
        }
        given = [name for name, (is_given, _) in options.items() if is_given]
        if len(given) > 1:
            raise ParameterError(f"{' and '.join(given)}: give only one of them")
        return options[given[0]][1] if given else cls.REFUSE


def inputs_of(given: Sequence[str], kind: InputKind) -> list[Job]:
    """Return a job without output for each file, and for the files in and below each folder.

    Links are followed. What cannot be read in a folder is a job with a fault; a link to a folder
    that contains the link is a job that is skipped.

    Parameters
    ----------
    given : sequence of str
        Files and folders, paths or URLs; a file may be of any kind.
    kind : InputKind
        What is looked for in folders.

    Raises
    ------
    ParameterError
        If a folder comes twice, by links.
    """
    jobs: list[Job] = []
    for name in map(stores.without_file, given):
        if kind.zarr and stores.is_zarr(name):
            base = name.rstrip("/").rpartition("/")[2]
            jobs.append(Job(name, below=base))
        elif stores.is_url(name):
            jobs += _at_url(name, kind)
        elif name != STANDARD and os.path.isdir(name):
            jobs += _in_folder(name, kind)
        else:
            jobs.append(Job(name, below=os.path.basename(name)))
    return jobs


def inputs_together(given: Sequence[str], kind: InputKind) -> list[Job]:
    """Return the jobs of ``inputs_of`` for a command that needs all its inputs together.

    Raises
    ------
    ParameterError
        If a file or folder comes twice.
    FileError
        If a folder cannot be read or has no input.
    """
    jobs = [job for job in inputs_of(given, kind) if job.skipped is None]
    places: dict[str, Job] = {}
    for job in jobs:
        other = places.setdefault(_place(job.source), job)
        if other is not job:
            raise ParameterError(f"{job.name}: comes twice, also as {other.name}")
        if job.fault is not None:
            raise FileError(job.fault)
    return jobs


def _in_folder(folder: str, kind: InputKind) -> list[Job]:
    """Return the jobs of a folder, sorted by path."""
    errors: list[OSError] = []
    jobs: list[Job] = []
    seen: dict[str, str] = {}
    for place, folders, names in os.walk(folder, onerror=errors.append, followlinks=True):
        other = seen.setdefault(os.path.realpath(place), place)
        if other != place:
            raise ParameterError(f"{place}: comes twice, also as {other}")
        for name in filter(kind.holds, names):
            path = os.path.join(place, name)
            regular = os.path.isfile(path) or not os.path.exists(path)
            fault = None if regular else f"{path}: is no regular file"
            jobs.append(Job(path, below=os.path.relpath(path, folder), fault=fault))
        for name in list(folders):
            path = os.path.join(place, name)
            if kind.zarr and is_zarr(path):
                folders.remove(name)
                jobs.append(Job(path, below=os.path.relpath(path, folder)))
                continue
            above = seen.get(os.path.realpath(path))
            if above is not None and path.startswith(os.path.join(above, "")):
                folders.remove(name)
                jobs.append(Job(path, skipped=f"is a link to {above}, which contains it"))
    for error in errors:
        name = os.fspath(error.filename or folder)
        jobs.append(Job(name, fault=str(FileError.from_os(name, error))))
    if not any(job.skipped is None for job in jobs):
        jobs.append(Job(folder, fault=f"{folder}: holds no {kind.title}"))
    return sorted(jobs)


def _at_url(url: str, kind: InputKind) -> list[Job]:
    """Return the jobs of a URL: those of the files below it, or that of the file itself."""
    found = stores.entry(url)
    if found is None or not found.is_folder:
        return [Job(url, below=stores.base_name(url))]
    jobs = [
        Job(stores.joined(url, below), below=below, stored=there)
        for below, there in stores.files_below(url).items()
        if kind.holds(below)
    ]
    return jobs or [Job(url, fault=f"{url}: holds no {kind.title}")]


def plan(
    given: Sequence[str],
    kind: InputKind,
    suffix: str,
    *,
    out: str | None,
    folder: str | None,
    existing: Existing,
    keep_extension: bool = False,
    resumed: Resumed | None = None,
) -> list[Job]:
    """Find the inputs, pair each with its output, and check the outputs.

    The parameters, results and errors are those of ``inputs_of``, ``assign`` and ``settle``.
    ``resumed(jobs, there)`` leaves out jobs that an earlier run has done; ``there`` is the result
    of ``outputs_at``.
    """
    jobs = assign(
        inputs_of(given, kind), suffix, out=out, folder=folder, keep_extension=keep_extension
    )
    there = outputs_at(folder)
    return settle(resumed(jobs, there) if resumed else jobs, existing, folder, there)


def assign(
    jobs: Sequence[Job],
    suffix: str,
    *,
    out: str | None,
    folder: str | None,
    keep_extension: bool = False,
) -> list[Job]:
    """Give each job its output, without checking the outputs.

    Parameters
    ----------
    jobs : sequence of Job
    suffix : str
        Suffix of outputs that take the name of their input.
    out, folder : str or None
        Values of -o and -O. Below ``folder`` are the folders that an input has below the folder on
        the command line.
    keep_extension : bool
        Append the suffix to the input's extension instead of replacing the extension.

    Raises
    ------
    ParameterError
        If -o and -O contradict each other or the inputs.
    """
    if out is not None and folder is not None:
        raise ParameterError("-o and -O: give only one of them")
    out, folder = _plain(out), _plain(folder)
    count = sum(job.skipped is None for job in jobs)
    if out is not None and count > 1:
        raise ParameterError(f"-o {out}: is one output for {count} inputs; use -O DIR")
    return [
        job._replace(target=out or _target(job, suffix, folder, keep_extension))
        if job.to_do
        else job
        for job in jobs
    ]


def outputs_at(folder: str | None) -> Outputs | None:
    """Return what lies in and below the folder of -O, by URL; None if -O is a path.

    One listing of a folder takes far less time than a question for each output.

    Raises
    ------
    FileError, MissingExtra
        If the store cannot be asked.
    """
    folder = _plain(folder)
    if folder is None or not stores.is_url(folder):
        return None
    below = stores.files_below(folder)
    return {stores.joined(folder, name): found for name, found in below.items()}


def settle(
    jobs: Sequence[Job],
    existing: Existing,
    folder: str | None = None,
    there: Outputs | None = None,
) -> list[Job]:
    """Check the output of each job; a job whose output cannot be written gets a fault.

    Parameters
    ----------
    jobs : sequence of Job
    existing : Existing
        What happens to the jobs whose output exists. UPDATE replaces an output that is older than
        its input.
    folder : str or None
        Value of -O: the folder, and folders in it, need not exist.
    there : mapping or None
        Result of ``outputs_at``; None if the folder was not listed.

    Raises
    ------
    ParameterError
        If an output is also an input or the output of another job, or is a terminal, or
        standard input has no time for UPDATE.
    FileError
        If ``folder`` cannot be written to.
    """
    folder = _plain(folder)
    check_pairs(jobs)
    if there is None:
        there = outputs_at(folder)
    if there is None:
        if folder is not None:
            check_folder(folder)
        return [_settled(job, existing, folder) if job.to_do else job for job in jobs]
    return [
        _settled_at_url(job, existing, there.get(job.target)) if job.to_do and job.target else job
        for job in jobs
    ]


def check(jobs: Sequence[Job], *, force: bool, folder: str | None = None) -> None:
    """Check the outputs of jobs that are done together; the first fault is an error.

    Raises
    ------
    ParameterError
        If an output is also an input or the output of another job, or is a terminal.
    FileError
        If a job has a fault, or its output exists and ``force`` is False, or cannot be written.
    """
    check_pairs(jobs)
    existing = Existing.REPLACE if force else Existing.REFUSE
    for job in settle(jobs, existing, folder):
        if job.fault is not None:
            raise FileError(job.fault)


def check_pairs(jobs: Sequence[Job]) -> None:
    """Check that no output is also an input or the output of another job.

    Raises
    ------
    ParameterError
        If one is.
    """
    names = (name for job in jobs for name in (job.source, job.partner))
    inputs = {_place(name) for name in names if name not in (None, STANDARD)}
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


def _settled(job: Job, existing: Existing, folder: str | None) -> Job:
    """Return a job with its fault, or with what its output's existence means."""
    target = job.target
    if target is None:
        return job
    if stores.is_url(target):
        return _settled_at_url(job, existing, stores.entry(target))
    overwrite = job.overwrite or existing is Existing.REPLACE
    if output.exists(target) and not job.overwrite:
        if existing is Existing.SKIP:
            return job._replace(skipped=f"{target} exists")
        if existing is Existing.UPDATE:
            if not _is_older(target, job):
                return job._replace(skipped=f"{target} is up to date")
            overwrite = True
    try:
        within = folder is not None and target.startswith(os.path.join(folder, ""))
        output.check(target, force=overwrite, new_folder=within)
    except FileError as error:
        return job._replace(fault=str(error))
    return job._replace(overwrite=overwrite)


def _settled_at_url(job: Job, existing: Existing, there: stores.Stored | None) -> Job:
    """As ``_settled``, for an output whose URL has the entry ``there`` now."""
    assert job.target is not None
    overwrite = job.overwrite or existing is Existing.REPLACE
    if there is not None and not there.is_folder and not job.overwrite:
        if existing is Existing.SKIP:
            return job._replace(skipped=f"{job.target} exists")
        if existing is Existing.UPDATE:
            if not _before(there.modified, job):
                return job._replace(skipped=f"{job.target} is up to date")
            overwrite = True
    try:
        output.check_entry(job.target, there, force=overwrite)
    except FileError as error:
        return job._replace(fault=str(error))
    return job._replace(overwrite=overwrite)


def _is_older(target: str, job: Job) -> bool:
    try:
        return _before(stores.state_of(target).modified, job)
    except FileError:
        return True  # writing the output raises the error


def _before(time: int | None, job: Job) -> bool:
    """Return whether a time, in nanoseconds since 1970, is before that of an input."""
    if job.source == STANDARD:
        raise ParameterError("--update: stdin has no time of modification")
    try:
        of_source = (job.stored or stores.state_of(job.source)).modified
    except FileError:
        return True  # reading the input raises the error
    return time is None or of_source is None or time < of_source


def _target(job: Job, suffix: str, folder: str | None, keep_extension: bool) -> str:
    if job.source == STANDARD:
        if folder is not None:
            raise ParameterError("stdin has no name to use with -O; use -o OUT")
        return STANDARD
    if folder is None and stores.lies_in_zarr(job.source):
        raise ParameterError(
            f"{job.source}: lies in a zarr store, where no output belongs; use -o OUT or -O DIR"
        )
    join = stores.joined if folder is not None and stores.is_url(folder) else os.path.join
    path = job.source.rstrip("/") if folder is None else join(folder, job.below)
    return (path if keep_extension else os.path.splitext(path)[0]) + suffix


def _plain(name: str | None) -> str | None:
    return name and stores.without_file(name)


def _place(name: str) -> str:
    return name if name == STANDARD or stores.is_url(name) else os.path.realpath(name)
