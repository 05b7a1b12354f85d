"""Compare two pictures or books, and draw differences: the work on one pair of ``mmp compare``."""

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from mmpcodec.cli import output
from mmpcodec.cli.commands.compare.means import Means
from mmpcodec.cli.encoding.sources import at_depth
from mmpcodec.cli.inputs.opening import naming_damaged, opened_input, read_page
from mmpcodec.cli.inputs.pages import padded
from mmpcodec.cli.jobs import Job
from mmpcodec.cli.printing import counted, error_text
from mmpcodec.cli.work import JobProgress
from mmpcodec.errors import ParameterError, PictureError
from mmpcodec.limits import DecodeLimits
from mmpcodec.pictures.books.book import named
from mmpcodec.runtime.files import STANDARD

if TYPE_CHECKING:
    from mmpcodec.bench.metrics import Metric, Quality
    from mmpcodec.metadata import Calibration
    from mmpcodec.picture import Picture
    from mmpcodec.pictures.books.book import Book


class Compared(NamedTuple):
    """The difference of a pair of pictures.

    Parameters
    ----------
    input, partner : str
        The original, and the picture that is compared with it.
    output : str or None
        Drawing of the difference.
    width, height, white : int
    quality : Quality
    levels : (int, int) or None
        Levels of black and white that the measures refer to, if they are not 0 and ``white``.
    calibration : Calibration or None
        What samples of the original measure.
    """

    input: str
    partner: str
    output: str | None
    width: int
    height: int
    white: int
    quality: "Quality"
    levels: tuple[int, int] | None = None
    calibration: "Calibration | None" = None

    def as_dict(self) -> dict[str, Any]:
        return {
            "a": self.input,
            "b": self.partner,
            "width": self.width,
            "height": self.height,
            "white": self.white,
            "range": list(self.levels or (0, self.white)),
            **self.quality.as_dict(),
            **({} if self.output is None else {"diff": self.output}),
        }

    def text(self, verbose: bool) -> str:
        names = [output.shown(name, "stdin") for name in (self.input, self.partner)]
        return f"{', '.join(names)}: {self.measures()}"

    def measures(self) -> str:
        """Return the measures in words."""
        from mmpcodec.bench.metrics import METRICS

        found = self.quality
        parts = [] if found.max_error else ["equal"]
        for key, value in found.values.items():
            if value is not None:
                parts.append(f"{METRICS[key].title} {METRICS[key].text(value)}")
        if self.levels is not None:
            parts.append(f"of levels {self.levels[0]} to {self.levels[1]}")
        error = f"largest error {error_text(found.max_error, self.calibration)}"
        return ", ".join([*parts, f"{error} of {self.white}"])


class ComparedBook(NamedTuple):
    """The differences of the pages of a pair of books.

    Parameters
    ----------
    input, partner : str
    output : str or None
        Folder of the drawings.
    pages : tuple of Compared
    """

    input: str
    partner: str
    output: str | None
    pages: tuple[Compared, ...]

    @property
    def worst(self) -> int:
        """Place of the page that differs most, from 0: by the first metric that some page has."""
        from mmpcodec.bench.metrics import METRICS

        for key, metric in METRICS.items():
            values = [page.quality.values.get(key) for page in self.pages]
            there = [
                (metric.sign * value, n) for n, value in enumerate(values) if value is not None
            ]
            if there:
                return min(there)[1]
        errors = [page.quality.max_error for page in self.pages]
        return errors.index(max(errors))

    @property
    def mean(self) -> "Means":
        """Means of the pages."""
        return Means.of([page.quality for page in self.pages])

    def as_dict(self) -> dict[str, Any]:
        facts = [page.as_dict() for page in self.pages]
        for number, each in enumerate(facts, start=1):
            del each["a"], each["b"]
            facts[number - 1] = {"page": number, **each}
        mean = self.mean.as_dict()
        del mean["event"], mean["pairs"]
        return {
            "a": self.input,
            "b": self.partner,
            "pages": facts,
            "mean": mean,
            "worst": self.worst + 1,
            **({} if self.output is None else {"diff": self.output}),
        }

    def text(self, verbose: bool) -> str:
        names = [output.shown(name, "stdin") for name in (self.input, self.partner)]
        return f"{', '.join(names)}:\n{self.measures()}"

    def measures(self) -> str:
        """Return the measures of each page in words, their means, and which page is the worst."""
        lines = [f"page {number}: {page.measures()}" for number, page in enumerate(self.pages, 1)]
        return "\n".join([*lines, self.mean.text(False), f"worst: page {self.worst + 1}"])


@dataclass(frozen=True)
class ComparePair:
    """Compares the source and the partner of a job; goes to the workers of a cluster as it is."""

    depth: int | None
    limits: DecodeLimits
    metrics: "tuple[Metric, ...]"
    levels: tuple[int, int] | None = None
    page: int | None = None

    def __call__(self, job: Job, progress: JobProgress | None = None) -> "Compared | ComparedBook":
        """Measure the difference, and draw it if the job has a target.

        Raises
        ------
        PictureError
            If a picture cannot be read, or size, planes or level of white differ, or the numbers of
            pictures.
        FileError
            If a file cannot be read, or a drawing cannot be written.
        """
        assert job.partner is not None
        partner = job.partner
        names = [output.shown(name, "stdin") for name in (job.source, partner)]
        with ExitStack() as stack:
            first, second = (
                stack.enter_context(opened_input(name, self.limits))
                for name in (job.source, partner)
            )
            if self.page is not None:
                # The page is that of A, and of B if it holds several pictures.
                output.check_png("--diff", job.target)
                only = self.page if len(second) > 1 else 1
                pair = read_page(first, self.page), read_page(second, only)
                return self._compared(job, names, pair)
            if len(first) != len(second):
                raise PictureError(
                    f"{names[0]} holds {counted(len(first), 'picture')} and {names[1]} "
                    f"{len(second)}: must be as many; --page N compares one"
                )
            if len(first) == 1:
                output.check_png("--diff", job.target)
                return self._compared(job, names, (first.read(0), second.read(0)))
            if job.target is not None:
                job = job._replace(target=folder_of(job))
            first, second = naming_damaged(first), naming_damaged(second)
            found = tuple(self._pages(job, names, first, second, progress))
        return ComparedBook(job.source, partner, job.target, found)

    def _pages(
        self, job: Job, names: Sequence[str], first: "Book", second: "Book", progress: Any
    ) -> "Iterator[Compared]":
        """Yield the difference of each pair of pages. Drawings are numbered, in a folder."""
        for number in range(len(first)):
            target = None
            if job.target is not None:
                target = os.path.join(job.target, f"{padded(number + 1, len(first))}.png")
                output.check(target, force=job.overwrite, new_folder=True)
            titles = [named(name, first.role, number, len(first)) for name in names]
            pair = first.read(number), second.read(number)
            yield self._compared(job._replace(target=target), titles, pair)
            if progress is not None:
                progress(number + 1, len(first))

    def _compared(
        self, job: Job, names: Sequence[str], pair: "tuple[Picture, Picture]"
    ) -> Compared:
        """Measure the difference of two pictures of these names."""
        from mmpcodec import pictures
        from mmpcodec.analysis.drawings.error import ERROR_GAIN, draw_error
        from mmpcodec.analysis.drawings.levels import shown_range
        from mmpcodec.bench.metrics import measure
        from mmpcodec.codec.levels import Levels

        assert job.partner is not None
        original, second = (
            at_depth(picture, self.depth, name) for picture, name in zip(pair, names, strict=True)
        )
        first, second = original.without_alpha(), second.without_alpha()
        for what, one, other in (
            ("size", size_text(first.samples.shape), size_text(second.samples.shape)),
            ("level of white", first.white, second.white),
        ):
            if one != other:
                hint = "; --depth gives the bits of a file that does not tell" * (what != "size")
                raise PictureError(
                    f"{what} of {names[0]} is {one} and of {names[1]} {other}: must be equal{hint}"
                )
        # A coded file says to what its lambda and quality refer.
        said = self.levels or first.metadata.range or second.metadata.range
        metadata = replace(first.metadata, range=said)
        levels = Levels.of_picture(replace(original, metadata=metadata)).stored_range
        quality = measure(
            first.samples,
            second.samples,
            white=first.white,
            levels=levels,
            metrics=self.metrics,
        )
        if job.target is not None:
            low, high = shown_range(first.samples, first.depth, first.metadata)
            gain = ERROR_GAIN * 255 / (high - low)
            drawn = draw_error(first.samples, second.samples, gain=gain)
            output.write(job.target, pictures.to_bytes(drawn, "png"), force=job.overwrite)
        height, width = first.samples.shape[:2]
        return Compared(
            job.source,
            job.partner,
            job.target,
            width,
            height,
            first.white,
            quality,
            levels,
            first.metadata.calibration,
        )


def folder_of(job: Job) -> str:
    """Return the folder of the drawings of a pair of books.

    Raises
    ------
    ParameterError
        If the option names a file.
    """
    assert job.target is not None
    if job.below:  # of a folder of inputs, whose drawings are named as for single pictures
        return job.target.removesuffix(".png")
    if job.target == STANDARD or job.target.lower().endswith(".png"):
        raise ParameterError(f"--diff {job.target}: must name a folder, as there are many drawings")
    return job.target


def pages_of(found: "Compared | ComparedBook") -> Sequence[Compared]:
    """Return the pairs of pictures that were compared."""
    return found.pages if isinstance(found, ComparedBook) else (found,)


def size_text(shape: tuple[int, ...]) -> str:
    """Return the width, height and kind of samples of a shape, in words."""
    return f"{shape[1]}x{shape[0]} {'gray' if len(shape) == 2 else 'colour'}"
