"""The options of ``mmp info``, and its work."""

from typing import TYPE_CHECKING, Annotated

import typer

from mmpcodec.cli import options, output, run
from mmpcodec.cli.commands.info.books import DescribedBook, described_book
from mmpcodec.cli.commands.info.text import Described
from mmpcodec.cli.decoding.damage import naming_allow_partial
from mmpcodec.cli.decoding.originals import keeps_jpeg
from mmpcodec.cli.exits import ExitCode
from mmpcodec.cli.inputs.folders import MMP_FILE
from mmpcodec.cli.inputs.pages import Page
from mmpcodec.cli.jobs import Job, check, inputs_of
from mmpcodec.cli.printing import Printer
from mmpcodec.cli.work import JobProgress
from mmpcodec.errors import MmpError, ParameterError
from mmpcodec.limits import DecodeLimits
from mmpcodec.runtime.files import STANDARD, LazyBytes

if TYPE_CHECKING:
    from mmpcodec import Inspection


def info(
    inputs: options.Inputs,
    header_only: Annotated[
        bool,
        typer.Option(
            "--header-only", help="Read the header and check the checksum; decode nothing."
        ),
    ] = False,
    map: Annotated[
        str | None,
        typer.Option(
            metavar="PNG",
            help="Draw leaves, blocks and palette over the decoded picture; for a single input.",
        ),
    ] = None,
    page: Page = None,
    force: options.Force = False,
    allow_partial: options.AllowPartial = False,
    backend: options.BackendName = "auto",
    max_samples: options.MaxSamples = options.DEFAULT_LIMITS.max_samples,
    max_dimension: options.MaxDimension = options.DEFAULT_LIMITS.max_dimension,
    max_memory: options.MaxMemory = None,
    max_seconds: options.MaxSeconds = None,
    jobs: options.Jobs = 1,
    as_json: options.Json = False,
) -> ExitCode:
    """Show what mmp files hold, and what takes their bits.

    This is the size, depth and metadata of a picture, its tools, and the bits of leaves, blocks and
    dictionaries. Of a file of several pictures it is a list of them, whose checksums are checked;
    --page N shows one as if it were alone.
    """
    limits = options.limits_of(max_samples, max_dimension, max_memory, max_seconds)
    files = inputs_of(inputs, MMP_FILE)
    if map is not None and (header_only or sum(job.is_input for job in files) > 1):
        raise ParameterError("--map: needs a single input, and not --header-only")
    output.check_png("--map", map)
    if map is not None:
        files = [job._replace(target=map, overwrite=force) if job.to_do else job for job in files]
        check(files, force=force)

    import mmpcodec
    from mmpcodec import backends
    from mmpcodec.opening.contents import is_collection

    chosen = backends.get(backend, decodes=True)
    partial = False

    def work(job: Job, progress: JobProgress) -> Described | DescribedBook:
        nonlocal partial
        with output.read_by_parts(job.source, limits.max_memory) as data:
            source = data if isinstance(data, LazyBytes) else memoryview(data)
            if not is_collection(source):
                return described(job, bytes(data[:]), progress)
            if page is not None:
                return described(job, data, progress)
            if map is not None:
                raise ParameterError(f"--map: {job.name} holds several pictures; --page names one")
            book = described_book(source, job.source, limits, header_only=header_only)
            partial |= book.is_damaged
            return book

    def described(job: Job, data: bytes | LazyBytes, progress: JobProgress) -> Described:
        nonlocal partial
        with naming_allow_partial(allow_partial):
            # The samples of a JPEG file that is kept say nothing of its coding.
            kept = map is None and _keeps_jpeg(data, page, limits)
            found = mmpcodec.inspect(
                data,
                decode=not header_only and not kept,
                page=page,
                allow_partial=allow_partial,
                limits=limits,
                backend=chosen.name,
                progress=progress,
            )
        partial |= bool(found.bad_tiles or found.faults)
        if job.target is not None:
            draw_map(found, job.target, force=force)
        return Described(job.source, found, job.target)

    printer = Printer(as_json, to_stderr=map == STANDARD)
    code = run.run(files, work, printer, at_once=jobs)
    return ExitCode.PARTLY_FAILED if partial and code == ExitCode.DONE else code


def _keeps_jpeg(data: bytes | LazyBytes, page: int | None, limits: DecodeLimits) -> bool:
    """Return whether a picture is a kept JPEG file; decoding says what is damaged."""
    try:
        return keeps_jpeg(data, page, limits)
    except MmpError:
        return False


def draw_map(found: "Inspection", target: str, *, force: bool) -> None:
    """Write a PNG of the decoded picture with its leaves or blocks drawn over it.

    Raises
    ------
    ParameterError
        If the file holds lossless samples only.
    """
    from mmpcodec import pictures
    from mmpcodec.analysis.drawings.file import draw_file

    drawn = draw_file(found)
    kept = any(layer.jpeg_bytes for layer in found.layers)
    what = "the coefficients of a JPEG file" if kept else "lossless samples"
    if drawn is None:
        raise ParameterError(f"--map: the file holds {what}, which have no leaves or blocks")
    output.write(target, pictures.to_bytes(drawn, "png"), force=force)
