"""``mmp encode``: encode pictures to mmp files."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

from mmpcodec.cli import options, output, run
from mmpcodec.cli.cluster.clients import CUDA
from mmpcodec.cli.cluster.connection import Connection
from mmpcodec.cli.cluster.devices import implied, on_devices
from mmpcodec.cli.cluster.places import placed, spread
from mmpcodec.cli.copies import Copied, copied
from mmpcodec.cli.encoding import archives, jpeg_files, reading
from mmpcodec.cli.encoding.archives import archived, check_opens, remove_other
from mmpcodec.cli.encoding.book_options import BookOptions
from mmpcodec.cli.encoding.by_tiles import MOST_INPUTS, encode_by_tiles, tiles_are_tasks
from mmpcodec.cli.encoding.choices import requested
from mmpcodec.cli.encoding.encoded import Encoded, EncodedBook
from mmpcodec.cli.encoding.jpeg_files import EncodedInput, JpegFiles
from mmpcodec.cli.encoding.levels import (
    LevelsOption,
    check_levels,
    joined_levels,
)
from mmpcodec.cli.encoding.remarks import beside_inputs, larger_than_source, of_file
from mmpcodec.cli.encoding.roi import check_jobs, with_roi
from mmpcodec.cli.encoding.series import SeriesJobs, not_kept
from mmpcodec.cli.encoding.sources import (
    InGroups,
    InputBook,
    Setting,
    group_of,
    work_of,
)
from mmpcodec.cli.exits import ExitCode
from mmpcodec.cli.inputs.pages import ChainPages, Page, Pages, Split, Together
from mmpcodec.cli.jobs import Existing, Job, plan
from mmpcodec.cli.printing import Printer, quality_text, rate_text, tools_text
from mmpcodec.cli.work import JobProgress
from mmpcodec.depth import BYTE
from mmpcodec.errors import MmpError, ParameterError
from mmpcodec.limits import UNLIMITED
from mmpcodec.params import EncodeParams
from mmpcodec.pictures.registry import ON_REQUEST
from mmpcodec.runtime import stores
from mmpcodec.runtime.files import STANDARD
from mmpcodec.runtime.machine import processors
from mmpcodec.runtime.progress import Progress

if TYPE_CHECKING:
    from mmpcodec import Encoding, Pass, Target
    from mmpcodec.cli.cluster.places import Place
    from mmpcodec.cli.encoding.books import PageCoder
    from mmpcodec.cli.encoding.input_picture import InputPicture
    from mmpcodec.pictures.books.book import Book

MOST_AT_ONCE = 8
"""Most pages of a book in work at once, unless --jobs says more; each takes memory."""


@dataclass(frozen=True)
class EncodeFiles:
    """Encodes the pictures of jobs to files; goes to the workers of a cluster as it is.

    Parameters
    ----------
    setting : Setting
    verify, verbose : bool
        Whether each file is decoded and compared, besides JPEG files that are kept; whether each
        pass of a target is reported.
    groups : InGroups or None
        Encodes the pictures of several jobs at once.
    devices : tuple of int
        Devices on which jobs run side by side, one on each.
    connection : Connection or None
        Its cluster encodes the tiles, in place of this process.
    pages_at_once, pages_together : int
        Threads that encode pages of a book, and pages that a device encodes in a call.
    archive : bool
        Whether files that fail or do not become smaller are copied.
    """

    setting: Setting
    verify: bool = False
    verbose: bool = False
    groups: InGroups | None = None
    devices: tuple[int, ...] = ()
    connection: Connection | None = None
    pages_at_once: int = 1
    pages_together: int = 1
    archive: bool = False

    @property
    def wants_many(self) -> bool:
        """Whether a task should hold many pictures, because a device encodes them at once."""
        from mmpcodec import backends

        tiled = self.setting.tile_size or self.setting.target is not None
        return not tiled and self.setting.backend in backends.on_devices()

    @property
    def parameters(self) -> str:
        """What decides about the bytes of the files, besides the pictures."""
        return repr(self.setting._replace(backend="", threads=None, device=None))

    def on(self, jobs: Sequence[Job]) -> "tuple[EncodeFiles, str]":
        """Choose the backend for jobs on this machine; also return a text about the backend."""
        from mmpcodec import backends
        from mmpcodec.codec.candidates import fitted

        setting = self.setting
        # The sizes of the pictures matter only if "auto" can choose a device.
        work = work_of(jobs) if backends.depends_on_work(setting.backend) else 0
        params = fitted(setting.params, setting.backend, BYTE)
        chosen = backends.get(setting.backend, work, params.tools)
        named = () if setting.device is None else backends.numbers_of(setting.device, chosen)
        several = len(jobs) > 1
        batches = chosen.batches and not setting.tile_size and setting.target is None
        grouped = batches and several
        # The devices share each call of the encoder, or each job has one of them.
        shared, devices = ((), named) if several and not grouped else (named, named[:1])
        automatic = setting.backend == backends.AUTO
        setting = setting._replace(backend=chosen.name, device=shared or None, automatic=automatic)
        groups = InGroups(setting, jobs) if grouped else None
        together = group_of(setting) if batches else 1
        at_once = 1 if chosen.batches else self.pages_at_once  # a device has one call at a time
        text = f"backend {chosen.name}: {chosen.describe()}" if self.verbose else ""
        if self.verbose and named:
            text += f"; {'devices' if len(named) > 1 else 'device'} {', '.join(map(str, named))}"
        found = replace(self, setting=setting, groups=groups, devices=devices)
        return replace(found, pages_at_once=at_once, pages_together=together), text

    def together(self, jobs: Sequence[Job]) -> "EncodeFiles":
        """Return what encodes these jobs on this machine, on a device many at once."""
        return self.on(jobs)[0]

    def __call__(self, job: Job, progress: JobProgress) -> Encoded | EncodedBook | Copied:
        """Encode a picture and write the file, or copy it."""
        assert job.target is not None
        if job.copied:
            row = copied(job, job.target, job.copied)
            if self.archive:
                remove_other(f"{job.target}.mmp", job)
            return row
        if not self.archive:
            return self.encoded(job, progress)
        found: Encoded | EncodedBook | Copied = archived(partial(self.encoded, job, progress), job)
        return found

    def encoded(self, job: Job, progress: JobProgress) -> Encoded | EncodedBook:
        """Encode a picture and write the file."""
        assert job.target is not None
        # Standard output cannot be taken back if verification fails.
        unverified = self.verify and job.target == STANDARD
        by_tiles = self.by_tiles and _has_parts(job) and not unverified
        is_book = (by_tiles or self.connection is not None) and self.setting.is_book(job)
        if (self.connection is not None or by_tiles) and not is_book:
            found, levels = encode_by_tiles(
                job, self.setting, progress, verify=self.verify, connection=self.connection
            )
            input_bytes = output.size_of(job.source)
            size = found.size if levels is None else output.size_of(job.target)
        else:
            one = (self.groups or self).of(job, progress)
            if isinstance(one, InputBook):
                with one.book:
                    return self.book(job, one, progress)
            found, input_bytes, levels, remarks = one
            if self.archive:
                check_opens(found, job)
            if self.verify and not found.jpeg_bytes:
                check_decodes(found, progress)
                check_levels(levels)
            data = found.data if levels is None else joined_levels(found.data, levels)
            output.write(job.target, data, force=job.overwrite)
            size = len(data)
            for remark in remarks:
                progress.note(f"{job.name}: {remark}")
        if not found.jpeg_bytes:
            self._compare(job, input_bytes, size, not found.distortion, progress)
        for remark in of_file(found.header, found.max_error, self.setting.books.keep):
            progress.note(f"{job.name}: {remark}")
        row = Encoded.of(job, found, input_bytes, self.verify, self.setting)
        return row.with_levels(levels, size) if self.setting.levels else row

    def of(self, job: Job, progress: JobProgress) -> EncodedInput | InputBook:
        """Read and encode the picture of a job alone; return the book of one that is a book."""
        found = self.setting.input_of(job)
        if isinstance(found, InputBook | EncodedInput):
            return found
        return self.alone(found, job.name, progress, progress.note, progress.say)

    def alone(
        self,
        picture: "InputPicture",
        name: str,
        progress: Progress,
        note: Callable[[str], None],
        say: Callable[[str], None] | None = None,
    ) -> EncodedInput:
        """Encode a picture of this name alone; tell each pass of a target."""
        if self.setting.target is None:
            return self.setting.alone(picture, progress)
        numbers = count(1)

        def report(found: "Pass") -> None:
            number = next(numbers)
            if self.verbose:
                note(
                    f"{name}: pass {number}: lambda {found.lam:g}, effort {found.effort}, "
                    f"{found.bytes} bytes, {quality_text(found.psnr, found.ssimulacra2)}"
                )
            if say is not None:
                say(f"pass {number + 1}")

        if say is not None:
            say("pass 1")
        return self.setting.alone(picture, progress, report)

    def page_coder(
        self, job: Job, book: "Book", note: Callable[[str], None] = lambda line: None
    ) -> "PageCoder":
        """Return what encodes the pages of a book."""
        from mmpcodec.cli.encoding.books import PageCoder
        from mmpcodec.pictures.books.encoding import PageRemarks

        threads = self.setting.threads or max(processors() // self.pages_at_once, 1)
        work = replace(self, setting=self.setting._replace(threads=threads))
        check = check_decodes if self.verify else None
        alone = partial(work.alone, note=note)
        return PageCoder(job, book, work.setting, PageRemarks(book), check, alone)

    def book(self, job: Job, given: InputBook, progress: JobProgress) -> EncodedBook:
        """Encode the pages of a book, and write the file."""
        from mmpcodec.cli.encoding.books import check_roi, encode_pages
        from mmpcodec.pictures.books.encoding import ChainOptions

        started, book = time.perf_counter(), given.book
        check_roi(self.setting, job, book)
        at_once = self.setting.threads or processors()
        how: dict[str, Any] = {"at_once": self.pages_at_once, "together": self.pages_together}
        if self.connection is not None:
            from mmpcodec.cli.encoding.cluster_pages import PageOnWorker, write_on_cluster

            task = PageOnWorker(replace(self, connection=None), placed(job))
            how = {"client": self.connection.client("pages"), "task": task}
            how["write"] = write_on_cluster
        how["chains"] = ChainOptions(self.setting.books.chain_pages, self.verify, at_once)
        parameters = f"{self.parameters} {self.setting.backend} {self.verify}"
        coder = self.page_coder(job, book, progress.note)
        written, rows = encode_pages(job, book, coder, progress, parameters, **how)
        lossless = not any(row.max_error for row in rows)
        self._compare(job, given.input_bytes, written.size, lossless, progress)
        seconds = time.perf_counter() - started
        given_of_book = given.input_bytes, seconds, self.setting, self.verify
        return EncodedBook.of(job, book, written, rows, *given_of_book)

    def _compare(
        self, job: Job, before: int, after: int, lossless: bool, progress: JobProgress
    ) -> None:
        """Say that an output is larger than its input, unless that is copied instead."""
        how: dict[str, Any] = {"lossless": lossless, "against": self.setting.jpeg.against}
        if not self.archive and (remark := larger_than_source(job, before, after, **how)):
            progress.note(remark)

    @property
    def by_tiles(self) -> bool:
        """Whether the tiles of a picture can be encoded one after the other."""
        return (
            bool(self.setting.tile_size)
            and self.setting.target is None
            and self.setting.denoise is None
        )


def encode(
    inputs: options.Pictures,
    out: options.Output = None,
    folder: options.Folder = None,
    append_suffix: options.AppendSuffix = False,
    lam: options.Lambda = None,
    quality: options.Quality = None,
    lossless: options.Lossless = False,
    purpose: archives.For = None,
    target_size: options.TargetSize = None,
    target_bpp: options.TargetBpp = None,
    target_psnr: options.TargetPsnr = None,
    target_ssimulacra2: options.TargetSsimulacra2 = None,
    max_error: options.MaxError = None,
    fast: options.Fast = False,
    best: options.Best = False,
    preset: options.Preset = None,
    effort: options.Effort = None,
    tune: options.Tune = None,
    palette: options.Palette = None,
    roi: options.Roi = None,
    roi_steps: options.RoiSteps = None,
    partition: options.PartitionName = None,
    dictionary_limit: options.DictionaryLimit = None,
    rate_model: options.RateModel = None,
    denoise: options.Denoise = None,
    depth: options.Depth = None,
    range: reading.Range = None,
    page: Page = None,
    pages: Pages = None,
    split: Split = False,
    together: Together = False,
    chain_pages: ChainPages = 1,
    dpi: reading.Dpi = None,
    samples: jpeg_files.Samples = False,
    strict: reading.Strict = False,
    strip: options.Strip = None,
    keep: reading.Keep = None,
    tile: options.TileSize = None,
    levels: LevelsOption = False,
    max_samples: options.MaxSamples = options.DEFAULT_LIMITS.max_samples,
    max_dimension: options.MaxDimension = options.DEFAULT_LIMITS.max_dimension,
    max_seconds: options.MaxSeconds = None,
    backend: options.EncodingBackend = "auto",
    device: options.Device = None,
    threads: options.Threads = None,
    jobs: options.Jobs = 1,
    force: options.Force = False,
    skip_existing: options.SkipExisting = False,
    update: options.Update = False,
    cluster: options.Cluster = None,
    workers: options.Workers = None,
    batch: options.Batch = None,
    manifest: options.ManifestFile = None,
    verify: jpeg_files.Verify = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> ExitCode:
    """Encode pictures to mmp files.

    Pictures are gray or in colour, of 1 to 16 bits, with alpha and metadata. All pages or frames of
    IN become one file: IN with the suffix .mmp, unless -o or -O names another. Give at most one of
    --lambda, --quality, --lossless and the targets; a target holds for each picture. Alpha is
    always lossless, and so are pictures of 1 bit and measurements (DICOM, NPY, calibrated pictures)
    unless one of these options is given. With --denoise, PSNR and SSIMULACRA2 compare with the
    filtered picture. With --tile, NPY, TIFF, binary PGM, PPM and PAM, and zarr stores can be larger
    than memory.
    """
    if quiet and verbose:
        raise ParameterError("--quiet and --verbose: give only one of them")
    archive = archives.of(locals())
    if archive is not None:
        lossless = append_suffix = strict = True
        keep = [*ON_REQUEST]
    reading.check_changes(denoise, depth, tile, strip or ())
    limits = options.limits_of(max_samples, max_dimension, max_seconds=max_seconds)
    (params, target), remarks = requested(locals())
    regions, params = with_roi(roi, roi_steps, params, limits, cluster, palette=palette)
    if cluster not in (None, CUDA):
        threads = threads or 1  # each thread of a worker has a picture of its own
    where, shared = implied(backend, device), device if cluster is None else None
    setting = Setting(params, where, threads, denoise, depth, strip or (), tile, limits, shared)
    reading.check_kept(keep or (), strip or ())
    how = limits, strict, dpi, tuple(keep or ()), chain_pages
    books = BookOptions(pages, split, together, *how)
    books.check(page, out, manifest)
    setting = setting._replace(roi=regions, page=page, strict=strict, target=target)
    setting = setting._replace(books=books, levels=levels, jpeg=JpegFiles.of(params, locals()))
    work = EncodeFiles(setting, bool(verify), verbose, archive=archive is not None)
    where_to = cluster, workers, batch, manifest
    parted = archive or SeriesJobs(books, apart=split or together or page is not None)
    with spread("encode", *where_to, work.parameters, device, jobs) as place:
        files = plan(
            inputs,
            parted.kind,
            ".mmp",
            out=out,
            folder=folder,
            existing=Existing.of(force, skip_existing, update),
            keep_extension=append_suffix,
            resumed=place.resumed,
            natural=together,
            parted=parted,
            joining="--together",
        )
        output.check_mmp(out)
        printer = Printer(as_json, quiet, verbose, any(job.target == STANDARD for job in files))
        notes_of(printer, [*remarks, *parted.remarks, *not_kept(files, books.keep)])
        to_do = [job for job in files if job.to_do]
        tiles_apart = place.cluster is not None and work.by_tiles and tiles_are_tasks(to_do)
        check_jobs(regions, sum(job.is_input for job in files), tiles_apart=tiles_apart)
        if place.cluster is not None:
            apart = tiles_apart or pages_are_tasks(to_do, setting)
            code = _on_cluster(files, work, printer, place, apart=apart, seen=parted.seen)
        else:
            beside = [] if together else beside_inputs(inputs, files, out or folder)
            code = _here(files, work, printer, place, jobs, beside, parted.seen)
        parted.show_totals(printer)
    return code


def _here(
    files: Sequence[Job],
    work: EncodeFiles,
    printer: Printer,
    place: "Place",
    jobs: int,
    beside: Sequence[str],
    seen: Callable[[Any], None],
) -> ExitCode:
    """Encode in this process; ``beside`` says which outputs lie among the inputs."""
    setting, to_do = work.setting, [job for job in files if job.to_do]
    at_once = pages_at_once(setting.threads, jobs, len(to_do))
    setting = setting._replace(threads=setting.threads or (1 if jobs > 1 else None))
    work, backend_text = replace(work, setting=setting, pages_at_once=at_once).on(to_do)
    notes_of(printer, beside)
    texts = settings_texts(setting.params, setting.target)
    notes_of(printer, [backend_text, *texts] if work.verbose else [])
    at_once = 1 if work.groups else jobs
    doing, at_once = on_devices(work, work.setting.backend, work.devices, at_once)
    return run.run(files, doing, printer, at_once=at_once, place=place, seen=seen)


def _on_cluster(
    files: Sequence[Job],
    work: EncodeFiles,
    printer: Printer,
    place: "Place",
    *,
    apart: bool,
    seen: Callable[[Any], None],
) -> ExitCode:
    """Encode on a cluster: each input is a task, or its tiles or pages are, if ``apart``."""
    if place.cluster is None or not apart:
        return run.run(files, work, printer, place=place, seen=seen)
    with Connection(place.cluster, printer, sum(job.to_do for job in files)) as connection:
        work, here = replace(work, connection=connection), place._replace(cluster=None)
        return run.run(files, work, printer, place=here, seen=connection.seen)


def pages_are_tasks(jobs: Sequence[Job], setting: Setting) -> bool:
    """Return whether the pages of each input are tasks: of few inputs, if all are books."""
    return 0 < len(jobs) <= MOST_INPUTS and all(map(setting.is_book, jobs))


def pages_at_once(threads: int | None, jobs: int, files: int) -> int:
    """Return how many pages of a book are in work at once.

    ``threads`` and ``jobs`` are the options; ``files`` are worked on side by side.
    """
    if jobs > 1:
        return max(jobs // max(files, 1), 1)
    return 1 if threads else min(processors(), MOST_AT_ONCE)


def settings_texts(params: EncodeParams, target: "Target | None") -> list[str]:
    """Return rate and tools of each set of tools, in words; none with a target."""
    if target is not None:
        return []
    ways = params.tuned(measured=False).each_alone()
    return [f"{rate_text(params)}, {tools_text(each.coded_tools)}" for each in ways]


def notes_of(printer: Printer, remarks: Sequence[str]) -> None:
    """Print remarks."""
    for remark in remarks:
        printer.note(remark)


def _has_parts(job: Job) -> bool:
    """Return whether an input is a file of this machine, or a zarr store."""
    source = job.source
    alone = job.page is None and not job.parts and source != STANDARD
    return alone and (not stores.is_url(source) or stores.is_zarr(source))


def check_decodes(encoding: "Encoding", progress: Progress) -> None:
    """Decode an encoding and compare it with the encoder's reconstruction.

    Raises
    ------
    MmpError
        If they differ.
    """
    import numpy as np

    import mmpcodec

    try:
        decoded = mmpcodec.decode(encoding.data, limits=UNLIMITED, progress=progress)
    except mmpcodec.FormatError as error:
        raise MmpError(f"verification failed, nothing was written: {error}") from error
    wrong = np.argwhere(decoded != encoding.samples)
    if len(wrong):
        row, column = wrong[0][:2]
        raise MmpError(
            f"verification failed, nothing was written: {len(wrong)} samples differ, "
            f"the first in row {row}, column {column}"
        )
