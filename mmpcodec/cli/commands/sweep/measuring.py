"""Measure one picture with all codecs of ``mmp sweep``, in this process or on a worker."""

import contextlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from mmpcodec.cli import output
from mmpcodec.cli.commands.sweep.chosen import CodecChoice, settings_of, warm
from mmpcodec.cli.commands.sweep.text import Measured, Swept
from mmpcodec.cli.encoding.sources import picture_of
from mmpcodec.cli.jobs import Job
from mmpcodec.cli.work import JobProgress
from mmpcodec.errors import FileError
from mmpcodec.limits import DecodeLimits
from mmpcodec.runtime.machine import limited_processors

if TYPE_CHECKING:
    from mmpcodec.bench.metrics import Metric
    from mmpcodec.bench.results import Results
    from mmpcodec.bench.sweep import Original

_ALONE = threading.Lock()
"""Held by the thread that measures: locks of results are those of a process, not of a thread."""

Reported = Callable[[Sequence[str], Measured | None], None]
"""Takes the settings of codecs, and a measurement that was made with one of them."""


@dataclass(frozen=True)
class MeasurePictures:
    """Measures the pictures of jobs; goes to the workers of a cluster as it is.

    Each result is in the folder of results as soon as it is measured.

    Parameters
    ----------
    codecs : CodecChoice
    out : str
        Folder of results.
    run : str
        Differs from run to run; the workers outlive a run, and its folder may be made again.
    gray : bool
    depth : int or None
    limits : DecodeLimits
    repeat : int
    retry : bool
    metrics : tuple of Metric
    page : int or None
        Frame or page to read, from 1.
    processors : int or None
        Most processors of mmp's codecs; None for all.
    tell : callable or None
        Takes each measurement when it is made; then the result has none.
    """

    codecs: CodecChoice
    out: str
    run: str
    gray: bool
    depth: int | None
    limits: DecodeLimits
    repeat: int
    retry: bool
    metrics: "tuple[Metric, ...]"
    page: int | None = None
    processors: int | None = None
    tell: Reported | None = None

    def __call__(self, job: Job, progress: JobProgress) -> Swept:
        """Measure the points of a picture that the results lack.

        Raises
        ------
        PictureError
            If it cannot be read, or a sample is beyond the depth.
        FileError
            If the results cannot be written.
        """
        from mmpcodec.bench.sweep import sweep

        picture = read(job.source, self.gray, self.depth, self.limits, self.page)
        height, width = picture.samples.shape[:2]
        with _ALONE, self._limited():
            results = created(self.out, self.run)
            codecs = warm(self.codecs, picture.kind)
            settings = settings_of(codecs, picture.kind)
            if self.tell is not None:
                self.tell(settings, None)
            expected = sum(len(each.ladder) for each in codecs)
            progress(0, expected)
            kept = []
            rows = sweep(
                *(picture, codecs, results),
                repeat=self.repeat,
                retry=self.retry,
                metrics=self.metrics,
            )
            for number, row in enumerate(named(rows, self.out), start=1):
                found = Measured(row)
                if self.tell is None:
                    kept.append(found)
                else:
                    self.tell(settings, found)
                progress(number, expected)
        return Swept(job.source, None, width, height, settings, expected, tuple(kept))

    def _limited(self) -> contextlib.AbstractContextManager[None]:
        if self.processors is None:
            return contextlib.nullcontext()
        return limited_processors(self.processors)


@lru_cache(maxsize=4)
def created(out: str, run: str) -> "Results":
    """Open the folder of results, or create it; once in a run of this process."""
    from mmpcodec.bench.results import Results

    try:
        return Results(out, create=True)
    except OSError as error:
        raise FileError.from_os(out, error) from error


def named(rows: Iterator[dict[str, Any]], out: str) -> Iterator[dict[str, Any]]:
    """Pass rows through; an error in writing them names the file."""
    try:
        yield from rows
    except OSError as error:
        raise FileError.from_os(error.filename or out, error) from error


def read(
    name: str, gray: bool, depth: int | None, limits: DecodeLimits, page: int | None
) -> "Original":
    """Read a picture; with ``gray`` its luma, without alpha.

    Raises
    ------
    PictureError
        If it cannot be read, or a sample is beyond the depth.
    """
    from mmpcodec.bench.codecs.conversion import luma_of
    from mmpcodec.bench.sweep import Original

    shown = output.shown(name, "stdin")
    picture = picture_of(name, shown, depth, limits, page)
    if gray:
        picture = picture.without_alpha()
        if picture.planes > 1:
            picture = replace(picture, samples=luma_of(picture.samples))
    return Original.of(os.path.basename(shown), picture)
