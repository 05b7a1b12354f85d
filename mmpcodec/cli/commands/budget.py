"""``mmp budget``: a set of pictures as mmp files that together stay within so many bytes."""

import functools
import math
import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mmpcodec.cli import options, output
from mmpcodec.cli.encoding.sources import work_of
from mmpcodec.cli.exits import ExitCode, FileError, show_error
from mmpcodec.cli.jobs import Job, assign, check
from mmpcodec.cli.printing import Printer
from mmpcodec.cli.progress import ProgressBars
from mmpcodec.errors import MmpError, ParameterError
from mmpcodec.params import AUTO, EncodeParams

if TYPE_CHECKING:
    import numpy as np

    from mmpcodec.planning.budget import Ladder, LazyPicture

NO_CACHE = "none"


def budget(
    inputs: options.Inputs,
    total: Annotated[
        str,
        typer.Option(
            metavar="SIZE", help="Bytes of all files together, at most: 20MB, 1.5MiB, 90000."
        ),
    ],
    out: options.Output = None,
    folder: options.Folder = None,
    lambdas: Annotated[
        str | None,
        typer.Option(
            "--lambdas",
            "-l",
            metavar="L,L,...",
            help="The ladder; by default 16 from 4 to 1024.",
        ),
    ] = None,
    objective: Annotated[
        str,
        typer.Option(
            metavar="total|worst",
            help="Make the sum of squared errors small, or the largest mean squared error.",
        ),
    ] = "total",
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="CSV", help="Lines name,weight: how much each picture's error counts."
        ),
    ] = None,
    min_psnr: Annotated[
        float | None, typer.Option(metavar="DB", help="No picture may be worse.")
    ] = None,
    plot: Annotated[
        str | None,
        typer.Option(metavar="PNG", help='Draw the curve of all budgets; needs the extra "bench".'),
    ] = None,
    seconds: Annotated[
        float,
        typer.Option(
            min=0, metavar="S", help="Time for the search after encoding; then the best so far."
        ),
    ] = 60.0,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", "-n", help="Write nothing but the cache.")
    ] = False,
    cache: Annotated[
        str | None,
        typer.Option(
            metavar="DIR|none",
            help="Where encoded pictures are kept, so that a stopped run goes on; by default "
            "mmpcodec/ladders in the user's cache.",
        ),
    ] = None,
    preset: options.Preset = AUTO,
    partition: options.Partition = None,
    dictionary_limit: options.DictionaryLimit = None,
    rate_model: options.RateModel = "adaptive",
    backend: options.BackendName = "auto",
    threads: Annotated[
        int | None, typer.Option(min=1, max=1024, metavar="N", help="Threads a picture.")
    ] = None,
    force: options.Force = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> ExitCode:
    """Encode pictures so that all files together fit into a budget, as well as can be.

    Each picture is encoded at a ladder of lambdas; then the best choice of one each is searched,
    exactly and in bytes of whole files, and shown beside one lambda for all, and that with single
    pictures stepped up greedily. The exact one is written.
    """
    from mmpcodec.quantities import ONE, in_lowest_terms, parse_bytes, read_table

    room = parse_bytes("total", total)
    params = EncodeParams.from_options(
        preset=preset,
        rate_model=rate_model,
        partition=partition,
        dictionary_limit=dictionary_limit,
    )
    files = assign(inputs, ".mmp", out=out, folder=folder)
    drawing = [] if plot is None else [Job("--plot", plot)]
    given = [] if weights is None else [Job(weights)]
    if not dry_run:
        check([*files, *given, *drawing], force=force)

    from mmpcodec import backends
    from mmpcodec.bench.codecs.base import operating_points
    from mmpcodec.cli.budget_text import Budgeted
    from mmpcodec.planning import budget as library
    from mmpcodec.planning.budget.plot import figure_class

    if objective not in library.OBJECTIVES:
        raise ParameterError(
            f"objective = {objective!r}: must be one of {', '.join(library.OBJECTIVES)}"
        )
    ladder = library.LAMBDAS if lambdas is None else operating_points("lambda", lambdas, ",")
    if min_psnr is not None and not math.isfinite(min_psnr):
        raise ParameterError(f"min_psnr = {min_psnr}: must be finite")
    millionths = [ONE] * len(files)
    if weights is not None:
        table = read_table(output.read(weights), output.shown(weights, "stdin"), "weight")
        millionths = table.of([job.source for job in files])
        if not any(millionths):
            raise ParameterError(f"{table.file}: no weight is above 0")
    if plot is not None:
        figure_class()
    work_counts = backends.depends_on_work(backend)
    chosen = backends.get(backend, work_of(files) * len(ladder) if work_counts else 0)
    pictures = [library.LazyPicture(job.name, reader(job)) for job in files]
    pixels = pixels_of(pictures)
    if pixels is None:
        show_error("nothing was written: the budget is for all pictures")
        return ExitCode.FAILED
    shares = in_lowest_terms(millionths)
    if weights is not None:
        try:
            library.check_weights(shares, pixels)
        except ParameterError as error:
            raise ParameterError(f"{output.shown(weights, 'stdin')}: {error}") from error

    to_stderr = any(job.target == output.STANDARD for job in [*files, *drawing])
    printer = Printer(as_json, quiet, False, to_stderr)
    with ExitStack() as stack:
        place = cache or default_cache()
        if cache == NO_CACHE:
            import tempfile

            place = stack.enter_context(tempfile.TemporaryDirectory(prefix="mmp-budget-"))
        kept = library.PointCache(place)
        try:
            ladders = measured(pictures, ladder, kept, params, chosen.name, threads, printer)
        except OSError as error:
            raise FileError.from_os(error.filename or place, error) from error
        if min_psnr is not None:
            ladders = [each.at_least(min_psnr) for each in ladders]
        weighted = zip(ladders, shares, strict=True)
        ladders = [replace(each, weight=weight) for each, weight in weighted]
        found = library.compare(
            ladders, room, objective=objective, time_limit=seconds, backend=backend
        )
        if plot is not None and not dry_run:
            curve = library.budget_curve(ladders, objective=objective, backend=backend)
            image = library.draw_budget(ladders, curve, found, room)
            output.write(plot, image, force=force)
        if not dry_run:
            for job, each, point in zip(files, ladders, found.exact.points, strict=True):
                assert job.target is not None
                data = library.encoded(each, point, kept, params)
                output.write(job.target, data, force=force)
    printer.show(
        Budgeted(
            room,
            files,
            ladders,
            [number / ONE for number in millionths],
            found,
            chosen.name,
            dry_run,
            None if dry_run else plot,
        )
    )
    return ExitCode.DONE


def default_cache() -> str:
    """Where points are kept: in the user's cache, as the XDG base directories have it."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(home, "mmpcodec", "ladders")


def reader(job: Job) -> Any:
    """Reads the picture of a job; standard input, which can be read only once, is kept."""

    def read() -> "np.ndarray":
        from mmpcodec import pictures

        picture = pictures.from_bytes(output.read(job.source), job.name)
        return pictures.check_plain(picture, job.name)

    return functools.cache(read) if job.source == output.STANDARD else read


def pixels_of(pictures: "Sequence[LazyPicture]") -> list[int] | None:
    """How many each picture has; None where some cannot be read, and says which ones."""
    found = []
    for picture in pictures:
        try:
            found.append(picture.read().size)
        except MmpError as error:
            show_error(error)
    return found if len(found) == len(pictures) else None


def measured(
    pictures: "Sequence[LazyPicture]",
    lambdas: Sequence[float],
    cache: Any,
    params: EncodeParams,
    backend: str,
    threads: int | None,
    printer: Printer,
) -> "list[Ladder]":
    """The ladders, with a bar on standard error."""
    from mmpcodec.planning.budget import measure

    title = f"{len(pictures)} pictures at {len(lambdas)} lambdas"
    with ProgressBars(printer.shows_progress) as bars, bars.follow(title) as bar:

        def progress(done: int, total: int) -> bool:
            bar.advance(done, total)
            return True

        return measure(
            pictures,
            lambdas,
            cache,
            params,
            backend=backend,
            threads=threads,
            progress=progress,
        )
