"""Where the jobs of a command are done, and the manifest that notes them."""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from mmpcodec.cli.cluster.clients import CUDA, check_name
from mmpcodec.cli.cluster.manifest import Manifest
from mmpcodec.cli.jobs import Job, Outputs
from mmpcodec.errors import MmpError, ParameterError
from mmpcodec.runtime import stores
from mmpcodec.runtime.files import STANDARD


class Cluster(NamedTuple):
    """Options of a cluster: see ``clients.connected``, and ``batch`` jobs of a task."""

    where: str
    workers: int | None = None
    batch: int | None = None
    device: str | None = None


class Place(NamedTuple):
    """A cluster, or None for this process; and a manifest, or None."""

    cluster: Cluster | None = None
    manifest: Manifest | None = None

    def resumed(self, jobs: Sequence[Job], there: Outputs | None) -> list[Job]:
        """Leave out the jobs that the manifest says are done; see ``Manifest.resumed``."""
        return list(jobs) if self.manifest is None else self.manifest.resumed(jobs, there)


def on_this_machine(name: str) -> str:
    """Return the name of a file that does not depend on the working folder; URLs stay.

    Raises
    ------
    ParameterError
        If it is standard input or output.
    """
    if name == STANDARD:
        raise ParameterError("-: --cluster needs files that its workers can reach")
    return stores.absolute(name)


def placed(job: Job) -> Job:
    """Return a job whose names workers understand.

    A worker may write an output that exists: the client has found that it may be written, and a
    worker that died may have written it already.

    Raises
    ------
    ParameterError
        If it reads standard input or writes standard output.
    """
    return job._replace(
        source=on_this_machine(job.source),
        target=job.target and on_this_machine(job.target),
        partner=job.partner and on_this_machine(job.partner),
        parts=tuple(map(on_this_machine, job.parts)),
        overwrite=True,
    )


def as_given(text: str, names: Iterable[tuple[str | None, str | None]]) -> str:
    """Return a text with the names of the command line.

    Parameters
    ----------
    text : str
    names : iterable of (str or None, str or None)
        The name of each file in the text, and its name on the command line.
    """
    for name, given in names:
        if name is not None:
            text = text.replace(name, str(given))
    return text


@contextlib.contextmanager
def named_as_given(name: str) -> Iterator[None]:
    """Give a file that was opened by ``on_this_machine(name)`` its own name in errors."""
    try:
        yield
    except MmpError as error:
        text = as_given(str(error), [(stores.absolute(name), name)])
        if text == str(error):
            raise
        raise MmpError(text) from error


@contextlib.contextmanager
def spread(
    command: str,
    where: str | None,
    workers: int | None,
    batch: int | None,
    manifest: str | None,
    parameters: str,
    device: str | None = None,
    jobs: int = 1,
) -> Iterator[Place]:
    """Check the options of a cluster, and keep a manifest open while the context lasts.

    Parameters
    ----------
    command, parameters : str
        Name of the command, and what decides about its outputs besides the inputs.
    where, workers, batch, manifest, device, jobs
        Values of --cluster, --workers, --batch, --manifest, --device and --jobs.

    Raises
    ------
    ParameterError
        If an option has no cluster, or a value that is not allowed.
    FileError
        If the manifest cannot be used.
    """
    if where is None:
        for option, value in (("--workers", workers), ("--batch", batch)):
            if value is not None:
                raise ParameterError(f"{option} {value}: has no effect without --cluster")
    else:
        check_name(where)
        if jobs != 1:
            raise ParameterError(f"--jobs {jobs}: has no effect with --cluster")
        if device is not None and where != CUDA:
            raise ParameterError(f"--device {device}: has no effect with --cluster {where}")
    cluster = None if where is None else Cluster(where, workers, batch, device)
    with contextlib.ExitStack() as stack:
        kept = None
        if manifest is not None:
            kept = stack.enter_context(Manifest(manifest, command, parameters))
        yield Place(cluster, kept)
