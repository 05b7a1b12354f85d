"""``mmp median``: filter pictures with a median, which removes specks."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from mmpcodec.analysis.denoise import check_median_radius, check_slices
from mmpcodec.cli import options, output, run
from mmpcodec.cli.cluster.devices import implied, numbers_of, on_devices
from mmpcodec.cli.cluster.places import spread
from mmpcodec.cli.encoding.series import in_series, name_of, opened_series
from mmpcodec.cli.exits import ExitCode
from mmpcodec.cli.inputs.folders import PICTURE
from mmpcodec.cli.inputs.opening import check_alike, numbered, read_page
from mmpcodec.cli.inputs.pages import Page
from mmpcodec.cli.jobs import Existing, Job, plan
from mmpcodec.cli.printing import Printer, counted
from mmpcodec.cli.work import JobProgress
from mmpcodec.errors import ParameterError
from mmpcodec.limits import DecodeLimits
from mmpcodec.pictures.books.book import Book, named
from mmpcodec.runtime.files import STANDARD

if TYPE_CHECKING:
    from mmpcodec.picture import Picture

SUFFIX = ".median.png"

Slices = Annotated[
    int,
    typer.Option(
        "--slices",
        min=0,
        metavar="N",
        help="Slices, pages or frames before and behind each whose samples count too, of a file of "
        "several pictures of one size.",
    ),
]


class Filtered(NamedTuple):
    """The result of filtering one picture."""

    input: str
    output: str
    width: int
    height: int
    channels: int
    white: int
    radius: int
    slices: int
    format: str
    seconds: float
    backend: str

    def as_dict(self) -> dict[str, Any]:
        return self._asdict()

    def text(self, verbose: bool) -> str:
        return (
            f"{output.shown_pair(self.input, self.output)}: {self.width}x{self.height}, "
            f"radius {self.radius}{self._over()}, {self.seconds:.2f} s, backend {self.backend}"
        )

    def _over(self) -> str:
        return f" and {counted(self.slices, 'slice')} to either side" if self.slices else ""


class FilteredBook(NamedTuple):
    """The results of filtering the pictures of a file."""

    input: str
    pages: tuple[Filtered, ...]

    def as_dict(self) -> dict[str, Any]:
        return {"input": self.input, "pages": [page.as_dict() for page in self.pages]}

    def text(self, verbose: bool) -> str:
        return "\n".join(page.text(verbose) for page in self.pages)


@dataclass(frozen=True)
class Filter:
    """Filters an input; goes to the workers of a cluster as it is.

    Parameters
    ----------
    radius, slices : int
        As in ``analysis.denoise.denoised_series``.
    format : str
        Of the outputs.
    page : int or None
        Number of the only page to filter, from 1.
    limits : DecodeLimits
    backend : str
    """

    radius: int
    slices: int
    format: str
    page: int | None
    limits: DecodeLimits
    backend: str

    def __call__(self, job: Job, progress: JobProgress) -> Filtered | FilteredBook:
        """Filter all pictures of an input.

        Raises
        ------
        MmpError
            If a picture cannot be read, or an output cannot be written.
        """
        from mmpcodec.analysis.denoise import denoise

        assert job.target is not None
        with opened_series(job, self.limits) as book:
            if self.page is None and len(book) > 1:
                return FilteredBook(job.source, tuple(self._pages(job, book, progress)))
            if self.slices:
                raise ParameterError(
                    f"--slices {self.slices}: {job.name} is filtered as one picture, without slices"
                )
            picture = read_page(book, self.page or 1).without_alpha()
        started = time.perf_counter()
        samples = denoise(picture.samples, self.radius, backend=self.backend)
        seconds = time.perf_counter() - started
        filtered = replace(picture, samples=samples)
        return self._written(job, job.source, filtered, job.target, seconds, progress)

    def _pages(self, job: Job, book: Book, progress: JobProgress) -> Iterator[Filtered]:
        """Filter each picture of a book, with its neighbours if slices count."""
        from mmpcodec.analysis.denoise import denoised_series

        if job.target == STANDARD:
            raise ParameterError(
                f"-o {STANDARD}: {job.name} holds {len(book)} pictures, which become several "
                "files; -o FILE numbers them, --page N filters one"
            )
        assert job.target is not None
        targets = [
            numbered(job.target, number, book, SUFFIX, force=job.overwrite)
            for number in range(len(book))
        ]
        read: dict[int, Picture] = {}
        first: list[Picture] = []

        def samples_of(number: int) -> Any:
            picture = book.read(number).without_alpha()
            first[:] = first or [picture]
            if self.slices:
                check_alike(first[0], picture, named(name_of(job), book.role, number, len(book)))
            read[number] = replace(picture, samples=picture.samples[:1, :1].copy())  # the rest
            return picture.samples

        filtered = denoised_series(
            len(book), samples_of, self.radius, self.slices, backend=self.backend
        )
        for number, target in enumerate(targets):
            started = time.perf_counter()
            samples = next(filtered)
            seconds = time.perf_counter() - started
            name = named(name_of(job), book.role, number, len(book))
            picture = replace(read.pop(number), samples=samples)
            yield self._written(job, name, picture, target, seconds, progress)
            progress(number + 1, len(book))

    def _written(
        self,
        job: Job,
        name: str,
        filtered: "Picture",
        target: str,
        seconds: float,
        progress: JobProgress,
    ) -> Filtered:
        """Write a picture, and say what its format cannot hold."""
        from mmpcodec import pictures
        from mmpcodec.solvers import dispatch, rank_filter

        data = pictures.to_bytes(filtered, self.format)
        output.write(target, data, force=job.overwrite)
        if names := pictures.lost(filtered, self.format):
            shown = output.shown(name, "stdin")
            progress.note(f"{shown}: {self.format} cannot hold all of: {', '.join(names)}")
        height, width = filtered.samples.shape[:2]
        return Filtered(
            input=name,
            output=target,
            width=width,
            height=height,
            channels=filtered.samples[0, 0].size,
            white=filtered.white,
            radius=self.radius,
            slices=self.slices,
            format=self.format,
            seconds=seconds,
            backend=dispatch.resolved(rank_filter.__name__, self.backend),
        )


def median(
    inputs: options.Pictures,
    radius: options.Radius,
    out: options.PictureOutput = None,
    folder: options.Folder = None,
    slices: Slices = 0,
    page: Page = None,
    max_samples: options.MaxSamples = options.DEFAULT_LIMITS.max_samples,
    max_dimension: options.MaxDimension = options.DEFAULT_LIMITS.max_dimension,
    max_seconds: options.MaxSeconds = None,
    backend: options.BackendName = "auto",
    device: options.Device = None,
    jobs: options.Jobs = 1,
    force: options.Force = False,
    skip_existing: options.SkipExisting = False,
    update: options.Update = False,
    cluster: options.Cluster = None,
    workers: options.Workers = None,
    batch: options.Batch = None,
    manifest: options.ManifestFile = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> ExitCode:
    """Remove specks from pictures with a median filter.

    Each sample becomes the median of the square window around it, which keeps edges. Pictures are
    gray or in colour, of 1 to 16 bits. The output is IN with the suffix .median.png, unless -o or
    -O names another. A message names the metadata that the output format cannot hold. Transparency
    is left out. The outputs of a file of several pictures are numbered, as in x-007.png;
    --slices N takes medians over neighbouring slices too, also of DICOM files of one series.
    """
    check_median_radius(radius)
    check_slices(slices, radius)
    limits = options.limits_of(max_samples, max_dimension, max_seconds=max_seconds)

    from mmpcodec import pictures
    from mmpcodec.solvers import dispatch, rank_filter

    format = pictures.format_of(out) if out not in (None, STANDARD) else "png"
    existing = Existing.of(force, skip_existing, update)
    backend = implied(backend, device)
    if cluster is None:  # else the workers choose
        backend = dispatch.resolved(rank_filter.__name__, backend)
    numbers = () if cluster else numbers_of(backend, device)

    work = Filter(radius, slices, format, page, limits, backend)
    remarks: list[str] = []

    def parted(found: list[Job]) -> list[Job]:
        if page is not None or not slices:
            return found
        found, said = in_series(found, limits)
        remarks.extend(said)
        return found

    parameters = repr((radius, slices, format, page))
    with spread("median", cluster, workers, batch, manifest, parameters, device, jobs) as place:
        files = plan(
            inputs,
            PICTURE.without(SUFFIX),
            SUFFIX,
            out=out,
            folder=folder,
            existing=existing,
            keep_extension=True,
            resumed=place.resumed,
            parted=parted,
        )
        printer = Printer(as_json, quiet, False, any(job.target == STANDARD for job in files))
        for remark in remarks:
            printer.note(remark)
        doing, at_once = on_devices(work, backend, numbers, jobs)
        return run.run(files, doing, printer, at_once=at_once, place=place)
