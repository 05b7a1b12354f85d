"""Find the inputs, pair them with outputs, and check all outputs before any work starts."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import NamedTuple

from mmpcodec.cli import output
from mmpcodec.cli.inputs.folders import ELSEWHERE, OWN, InputKind, Reason
from mmpcodec.errors import FileError, ParameterError
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
        Size and state of the input, if the listing of a folder at a URL has them.
    partner : str or None
        Second input of the job.
    left_out : Reason or None
        Why something in a folder is no input of the command; nothing else is done with it.
    page : int or None
        Number of the picture of the input, from 1, that the job is about; None for all.
    parts : tuple of str
        Files that are one book together, of which the source is the first; empty for one file.
    copied : str
        Why the input is copied as it is; empty if it is not.
    suffix : str or None
        Suffix of its output; None takes that of all outputs.
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
    left_out: Reason | None = None
    page: int | None = None
    parts: tuple[str, ...] = ()
    copied: str = ""
    suffix: str | None = None

    @property
    def name(self) -> str:
        """Name of the input in messages; a book of several files has that of its output."""
        if self.parts and self.target:
            return output.shown(self.target, "stdout")
        name = output.shown(self.source, "stdin")
        return name if self.page is None else f"{name}: page {self.page}"

    @property
    def sources(self) -> tuple[str, ...]:
        """All files of the input."""
        return self.parts or (self.source,)

    @property
    def to_do(self) -> bool:
        """Whether there is work to do."""
        return self.fault is None and self.skipped is None and self.left_out is None

    @property
    def is_input(self) -> bool:
        """Whether it is an input of the command, which may have failed before its work."""
        return self.skipped is None and self.left_out is None


_DIGITS = re.compile(r"(\D*)(\d{1,18}|$)")
APPEND = "--append-suffix"
"""Option that appends the suffix of outputs to the names of inputs."""
Outputs = Mapping[str, stores.Stored]
"""What lies at each URL of a folder."""
Resumed = Callable[[Sequence[Job], Outputs | None], list[Job]]
"""Leaves out jobs that an earlier run has done."""


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


def inputs_of(given: Sequence[str], kind: InputKind, *, natural: bool = False) -> list[Job]:
    """Return a job without output for each file, and for the files in and below each folder.

    Links to files are followed. Links to folders are not: one that leads into the folder is
    skipped, since its files are found anyway. What cannot be read in a folder is a job with a
    fault. What is in a folder and no input is a job with the reason in ``left_out``.

    Parameters
    ----------
    given : sequence of str
        Files and folders, paths or URLs; a file may be of any kind.
    kind : InputKind
        What is looked for in folders.
    natural : bool
        Whether the files of a folder are sorted as people count: page2 before page10.
    """
    jobs: list[Job] = []
    for name in map(stores.without_file, given):
        if kind.zarr and stores.is_zarr(name):
            base = name.rstrip("/").rpartition("/")[2]
            jobs.append(Job(name, below=base))
        elif stores.is_url(name):
            found = _at_url(name, kind)
            jobs += sorted(found, key=_natural) if natural else found
        elif name != STANDARD and os.path.isdir(name):
            found = _in_folder(name, kind)
            jobs += sorted(found, key=_natural) if natural else found
        else:
            jobs.append(Job(name, below=os.path.basename(name)))
    return jobs


def _natural(job: Job) -> list[tuple[str, int, str]]:
    """Return by what a file is sorted: each folder and name by its texts and numbers in turn."""
    found = []
    for name in re.split(r"[/\\]", job.below):
        for text, digits in _DIGITS.findall(name):
            found.append((text.lower(), int(digits or -1), text + digits))
        found.append(("", -1, ""))
    return found


def inputs_together(given: Sequence[str], kind: InputKind) -> tuple[list[Job], list[Job]]:
    """Return the jobs of ``inputs_of`` for a command that needs all its inputs together.

    Returns
    -------
    inputs, others : list of Job
        What is an input, and what a folder holds besides.

    Raises
    ------
    ParameterError
        If a file comes twice.
    FileError
        If a folder cannot be read or has no input.
    """
    found = inputs_of(given, kind)
    jobs = [job for job in found if job.is_input]
    places: dict[str, Job] = {}
    for job in jobs:
        other = places.setdefault(_place(job.source), job)
        if other is not job:
            raise ParameterError(f"{job.name}: comes twice, also as {other.name}")
        if job.fault is not None:
            raise FileError(job.fault)
    return jobs, [job for job in found if not job.is_input]


def _in_folder(folder: str, kind: InputKind) -> list[Job]:
    """Return the jobs of a folder, sorted by path."""
    errors: list[OSError] = []
    jobs: list[Job] = []
    own = False
    for place, folders, names in os.walk(folder, onerror=errors.append):
        for name in names:
            path = os.path.join(place, name)
            left_out = kind.of_file(path)
            if left_out is OWN:
                own = True
                continue
            regular = os.path.isfile(path) or not os.path.exists(path)
            fault = None if left_out or regular else f"{path}: is no regular file"
            below = os.path.relpath(path, folder)
            jobs.append(Job(path, below=below, fault=fault, left_out=left_out))
        for name in list(folders):
            path = os.path.join(place, name)
            left_out = kind.of_folder(path)
            if left_out is not None:
                jobs.append(Job(path, left_out=left_out))
            elif kind.zarr and is_zarr(path):
                jobs.append(Job(path, below=os.path.relpath(path, folder)))
            elif os.path.islink(path):
                jobs.append(_of_link(path, folder))
            else:
                continue
            folders.remove(name)
    for error in errors:
        name = os.fspath(error.filename or folder)
        jobs.append(Job(name, fault=str(FileError.from_os(name, error))))
    if not any(job.is_input for job in jobs):
        nothing = "" if jobs or own else ", nor any other file"
        jobs.append(Job(folder, fault=f"{folder}: holds no {kind.title}{nothing}"))
    return sorted(jobs)


def _of_link(path: str, folder: str) -> Job:
    """Return the job of a link to a folder, which lies in a folder of inputs."""
    target, top = (os.path.join(os.path.realpath(name), "") for name in (path, folder))
    if target.startswith(top):
        return Job(path, skipped=f"is a link into {folder}, which is searched anyway")
    return Job(path, left_out=ELSEWHERE)


def _at_url(url: str, kind: InputKind) -> list[Job]:
    """Return the jobs of a URL: those of the files below it, or that of the file itself."""
    found = stores.entry(url)
    if found is None or not found.is_folder:
        return [Job(url, below=stores.base_name(url))]
    files = stores.files_below(url)
    reasons = {below: kind.at_url(below) for below in files}
    jobs = [
        Job(stores.joined(url, below), below=below, stored=there, left_out=reasons[below])
        for below, there in files.items()
        if reasons[below] is not OWN
    ]
    if not any(job.is_input for job in jobs):
        jobs.append(Job(url, fault=f"{url}: holds no {kind.title}"))
    return jobs


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
    natural: bool = False,
    parted: Callable[[list[Job]], list[Job]] | None = None,
    joining: str = "",
    advice: str = APPEND,
) -> list[Job]:
    """Find the inputs, pair each with its output, and check the outputs.

    The parameters, results and errors are those of ``inputs_of``, ``assign`` and ``settle``.
    ``resumed(jobs, there)`` leaves out jobs that an earlier run has done; ``there`` is the result
    of ``outputs_at``. ``parted(jobs)`` may make several jobs of one, or one of several, before
    they get outputs.
    """
    found = inputs_of(given, kind, natural=natural)
    jobs = assign(
        parted(found) if parted else found,
        suffix,
        out=out,
        folder=folder,
        keep_extension=keep_extension,
        joining=joining,
        advice=advice,
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
    advice: str = APPEND,
    joining: str = "",
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

    advice : str
        Option that gives two inputs of one output outputs of their own; "" if there is none.
    joining : str
        Option that writes one file of all inputs; "" if there is none.

    Returns
    -------
    list of Job
        An input whose output is also an input, or the output of another input, has a fault. An
        input that comes twice is done once.

    Raises
    ------
    ParameterError
        If -o and -O contradict each other or the inputs, or the only input is its own output.
    """
    if out is not None and folder is not None:
        raise ParameterError("-o and -O: give only one of them")
    out, folder = _plain(out), _plain(folder)
    count = sum(job.is_input for job in jobs)
    if out is not None and count > 1:
        or_joined = f", or {joining} for one file of all" if joining else ""
        raise ParameterError(f"-o {out}: is one output for {count} inputs; use -O DIR{or_joined}")
    assigned = [
        job._replace(target=out or _target(job, suffix, folder, keep_extension))
        if job.to_do
        else job
        for job in jobs
    ]
    return _apart(assigned, "" if keep_extension else advice)


def _apart(jobs: Sequence[Job], advice: str) -> list[Job]:
    """Give a fault to each job whose output is an input, or the output of another job.

    Raises
    ------
    ParameterError
        If no job is left, or two of them write to standard output.
    """
    inputs = _places_of_inputs(jobs)
    writers: dict[str, dict[str, Job]] = {}
    found = []
    for job in jobs:
        if job.to_do and job.target is not None:
            of_target = writers.setdefault(_place(job.target), {})
            if of_target.setdefault(_place(job.source), job) is not job:
                if job.target == STANDARD:
                    raise ParameterError(f"{job.name}: comes twice, and can be read only once")
                job = job._replace(skipped="comes twice")
        found.append(job)
    apart = [
        job._replace(fault=_collision(job, inputs, writers[_place(job.target)], advice))
        if job.to_do and job.target is not None
        else job
        for job in found
    ]
    if any(job.to_do for job in found) and not any(job.to_do for job in apart):
        raise ParameterError(next(job.fault for job in apart if job.fault is not None))
    return apart


def _collision(job: Job, inputs: set[str], writers: Mapping[str, Job], advice: str) -> str | None:
    """Return why the output of a job must not be written; ``writers`` are the jobs that would."""
    assert job.target is not None
    if _place(job.target) in inputs:
        return f"{job.target}: is an input, and would be overwritten"
    others = [other for other in writers.values() if other.source != job.source]
    if not others:
        return None
    helps = advice and os.path.basename(others[0].below) != os.path.basename(job.below)
    return f"{job.name}: its output {job.target} is also that of {others[0].name}; " + (
        f"{advice} gives each its own" if helps else "name them in two runs"
    )


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
        If an output is a terminal, or standard input has no time for UPDATE.
    FileError
        If ``folder`` cannot be written to.
    """
    folder = _plain(folder)
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
    for job in jobs:
        if job.fault is not None:
            raise FileError(job.fault)
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
    inputs = _places_of_inputs(jobs)
    writers: dict[str, Job] = {}
    for job in jobs:
        if job.target is None or job.fault is not None or job.skipped is not None:
            continue
        place = _place(job.target)
        if place in inputs:
            raise ParameterError(f"{job.target}: is an input, and would be overwritten")
        other = writers.setdefault(place, job)
        if other is not job:
            raise ParameterError(f"{other.name} and {job.name}: both would write {job.target}")


def _places_of_inputs(jobs: Sequence[Job]) -> set[str]:
    used = (job for job in jobs if job.left_out is None)
    names = (name for job in used for name in (*job.sources, job.partner))
    return {_place(name) for name in names if name not in (None, STANDARD)}


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
        found = [job.stored] if job.stored else map(stores.state_of, job.sources)
        times = [one.modified for one in found]
    except FileError:
        return True  # reading the input raises the error
    return time is None or any(one is None or time < one for one in times)


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
    if (job.page is not None or job.parts) and folder is None:  # below a folder it has its own name
        path = os.path.join(os.path.dirname(job.source), os.path.basename(job.below))
    if job.copied:
        return path
    if job.suffix is not None:
        keep_extension, suffix = False, job.suffix
    return (path if keep_extension else os.path.splitext(path)[0]) + suffix


def _plain(name: str | None) -> str | None:
    return name and stores.without_file(name)


def _place(name: str) -> str:
    return name if name == STANDARD or stores.is_url(name) else os.path.realpath(name)
