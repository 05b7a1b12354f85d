"""Read and encode the pictures of ``mmp budget`` through its cache, here or on a cluster."""

import contextlib
import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from mmpcodec.cli import run
from mmpcodec.cli.cluster.places import Place
from mmpcodec.cli.encoding.sources import Setting, at_depth, picture_of, work_of
from mmpcodec.cli.exits import ExitCode, show_error
from mmpcodec.cli.inputs.opening import opened_input
from mmpcodec.cli.jobs import Job
from mmpcodec.cli.printing import Printer
from mmpcodec.cli.progress import ProgressBars
from mmpcodec.cli.work import JobProgress
from mmpcodec.errors import FileError, MmpError, ParameterError, PictureError
from mmpcodec.runtime.files import STANDARD

if TYPE_CHECKING:
    from mmpcodec.picture import Picture
    from mmpcodec.planning.budget import Ladder, LazyPicture


class Laddered(NamedTuple):
    """The ladder of one picture, whose files are in the cache.

    Parameters
    ----------
    input : str
        Name of the picture.
    output : None
    width, height : int
    ladder : Ladder
    backend : str
        Backend that encoded.
    """

    input: str
    output: None
    width: int
    height: int
    ladder: "Ladder"
    backend: str

    def as_dict(self) -> dict[str, Any]:
        return self._asdict()

    def text(self, verbose: bool) -> str:
        return f"{self.input}: {len(self.ladder.points)} lambdas"


@dataclass(frozen=True)
class MeasureLadders:
    """Encodes pictures with every lambda; goes to the workers of a cluster as it is.

    Parameters
    ----------
    lambdas : tuple of float
    cache : str
        Folder of the cache.
    setting : Setting
    """

    lambdas: tuple[float, ...]
    cache: str
    setting: Setting

    @property
    def backend(self) -> str:
        """Name of the backend, or "auto"."""
        return self.setting.backend

    @property
    def wants_many(self) -> bool:
        """Whether a task should hold many pictures, because a device encodes them at once."""
        from mmpcodec import backends

        return self.backend in backends.on_devices()

    def lazy(self, job: Job) -> "LazyPicture":
        """Return the picture of a job, which is read when it is needed."""
        from mmpcodec.planning.budget import LazyPicture

        return LazyPicture(job.name, reader(job, self.setting))

    def on(self, jobs: Sequence[Job]) -> "MeasureLadders":
        """Choose the backend for jobs on this machine.

        Raises
        ------
        BackendUnavailable
            If the backend cannot run here.
        """
        from mmpcodec import backends

        counts = backends.depends_on_work(self.backend)
        work = work_of(jobs) * len(self.lambdas) if counts else 0
        name = backends.get(self.backend, work).name
        return replace(self, setting=self.setting._replace(backend=name))

    def together(self, jobs: Sequence[Job]) -> "MeasureLadders":
        """Let a device encode the pictures of jobs at once; their turns then find the files.

        A picture that cannot be encoded ends that, and then all have their own turns.
        """
        from mmpcodec import backends

        chosen = self.on(jobs)
        if len(jobs) > 1 and backends.get(chosen.backend).batches:
            with contextlib.suppress(MmpError, OSError):
                chosen.ladders([chosen.lazy(job) for job in jobs])
        return chosen

    def __call__(self, job: Job, progress: JobProgress) -> Laddered:
        """Encode a picture with every lambda whose file the cache lacks.

        Raises
        ------
        MmpError
            If the picture cannot be read or encoded, or the cache not be written.
        """
        from mmpcodec.planning.budget import LazyPicture

        picture = self.lazy(job).picture()
        try:
            (ladder,) = self.ladders([LazyPicture(job.name, lambda: picture)], progress=progress)
        except ParameterError as error:
            raise PictureError(str(error)) from error  # the message names the picture already
        height, width = picture.samples.shape[:2]
        return Laddered(job.name, None, width, height, ladder, self.backend)

    def ladders(self, pictures: "Sequence[LazyPicture]", **more: Any) -> "list[Ladder]":
        """Return the ladder of each picture; the options are those of ``planning.budget.measure``.

        Raises
        ------
        MmpError
            If a picture cannot be read or encoded, or the cache not be written.
        """
        from mmpcodec.planning.budget import PointCache, measure

        params, more = self.setting.params, {"threads": self.setting.threads, **more}
        cache = PointCache(self.cache)
        try:
            return measure(pictures, self.lambdas, cache, params, backend=self.backend, **more)
        except OSError as error:
            if isinstance(error, MmpError):
                raise
            raise FileError.from_os(error.filename or self.cache, error) from error


def reader(job: Job, setting: Setting) -> "Callable[[], Picture]":
    """Return a function that reads the picture of a job; standard input is read once and kept."""

    def read() -> "Picture":
        from mmpcodec.pictures.side.facts import stripped

        if job.page is None:
            page, limits = setting.page, setting.limits
            picture = picture_of(job.source, job.name, setting.depth, limits, page)
        else:
            with opened_input(job.source, setting.limits) as book:
                picture = at_depth(book.read(job.page - 1), setting.depth, job.name)
        return replace(picture, metadata=stripped(picture.metadata, *setting.strip))

    return functools.cache(read) if job.source == STANDARD else read


Sizes = Sequence[tuple[int, int]]
"""Pixels and depth of each picture."""


def measured_here(
    jobs: Sequence[Job],
    work: MeasureLadders,
    devices: tuple[int, ...],
    printer: Printer,
    check_sizes: Callable[[Sizes], None],
) -> "tuple[list[Ladder], str] | None":
    """Return the ladders of all pictures and the backend, with a progress bar on standard error.

    All pictures are read first, and ``check_sizes`` is called. If one is unreadable, the errors are
    printed and None is returned.
    """
    pictures = [work.lazy(job) for job in jobs]
    sizes = []
    for lazy in pictures:
        try:
            picture = lazy.picture()
            sizes.append((math.prod(picture.samples.shape[:2]), picture.depth))
        except MmpError as error:
            show_error(error)
    if len(sizes) < len(pictures):
        return None
    check_sizes(sizes)
    title = f"{len(pictures)} pictures at {len(work.lambdas)} lambdas"
    with ProgressBars(printer.shows_progress) as bars, bars.follow(title) as bar:

        def progress(done: int, total: int) -> bool:
            bar.advance(done, total)
            return True

        return work.ladders(pictures, device=devices or None, progress=progress), work.backend


def measured_on_cluster(
    jobs: Sequence[Job],
    work: MeasureLadders,
    printer: Printer,
    place: Place,
    check_sizes: Callable[[Sizes], None],
) -> "tuple[list[Ladder], str] | None":
    """Return the ladders of all pictures and the backends of the workers.

    If one fails, the errors are printed and None is returned; the files of the others stay in the
    cache. ``check_sizes`` is called when all are encoded.
    """
    found: dict[str, Laddered] = {}

    def keep(result: Laddered) -> None:
        found[result.input] = result

    alone = [job._replace(target=None) for job in jobs]  # the workers write into the cache only
    if run.run(alone, work, printer, place=place, show=keep) is not ExitCode.DONE:
        return None
    ladders = [found[job.name].ladder for job in jobs]
    check_sizes([(each.pixels, each.depth) for each in ladders])
    return ladders, ", ".join(sorted({each.backend for each in found.values()}))
