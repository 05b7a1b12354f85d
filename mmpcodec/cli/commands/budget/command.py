"""The options of ``mmp budget``, and its work from pictures to files within a budget."""

import contextlib
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from mmpcodec.backends.registry import AUTO
from mmpcodec.cli import options, output
from mmpcodec.cli.cluster.clients import CUDA, LOCAL
from mmpcodec.cli.cluster.devices import implied, numbers_of, on_first
from mmpcodec.cli.cluster.places import on_this_machine, spread
from mmpcodec.cli.commands.budget.measuring import (
    MeasureLadders,
    measured_here,
    measured_on_cluster,
)
from mmpcodec.cli.completion import words
from mmpcodec.cli.encoding import reading
from mmpcodec.cli.encoding.choices import requested
from mmpcodec.cli.encoding.sources import Setting
from mmpcodec.cli.exits import ExitCode, show_error
from mmpcodec.cli.help import RUNNING
from mmpcodec.cli.inputs.folders import PICTURE
from mmpcodec.cli.inputs.pages import Page
from mmpcodec.cli.jobs import Job, assign, check, inputs_together
from mmpcodec.cli.printing import Printer
from mmpcodec.cli.work import tell_left_out
from mmpcodec.errors import ParameterError
from mmpcodec.params import EncodeParams
from mmpcodec.runtime import stores
from mmpcodec.runtime.files import STANDARD

if TYPE_CHECKING:
    from mmpcodec.cli.commands.budget.books import BookShape
    from mmpcodec.planning.budget import Ladder, Plan, PointCache

NO_CACHE = "none"

Total = Annotated[
    str,
    typer.Option(metavar="SIZE", help="Largest size of all files together: 20MB, 1.5MiB, 90000."),
]
Lambdas = Annotated[
    str | None,
    typer.Option(
        "--lambdas",
        "-l",
        metavar="L,L,...",
        help="Lambdas to encode each picture with; by default 16 from 4 to 1024.",
    ),
]
Objective = Annotated[
    str,
    typer.Option(
        metavar="WHAT",
        help="What to minimise: total, the sum of squared errors, or worst, the largest mean "
        "squared error of a picture.",
        autocompletion=words(("total", "worst")),
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(
        metavar="CSV", help="Lines name,weight: the factor of the picture's squared error."
    ),
]
MinPsnr = Annotated[
    float | None, typer.Option(metavar="DB", help="Lowest PSNR of every picture, in dB.")
]
Plot = Annotated[
    str | None,
    typer.Option(
        metavar="PNG",
        help='Draw quality against the budget; needs the extra "bench".',
    ),
]
Seconds = Annotated[
    float,
    typer.Option(
        min=0,
        metavar="S",
        help="Time limit of the search after encoding; then the best plan so far is taken.",
        rich_help_panel=RUNNING,
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", "-n", help="Print the plans; write only the cache.")
]
Cache = Annotated[
    str | None,
    typer.Option(
        metavar="DIR",
        help="Folder that keeps encoded pictures, so that an interrupted run continues; by default "
        "mmpcodec/ladders in the user's cache. none keeps nothing.",
        rich_help_panel=RUNNING,
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        min=1, max=1024, metavar="N", help="Threads per picture.", rich_help_panel=RUNNING
    ),
]


def budget(
    inputs: options.Pictures,
    total: Total,
    out: options.Output = None,
    folder: options.Folder = None,
    append_suffix: options.AppendSuffix = False,
    lambdas: Lambdas = None,
    objective: Objective = "total",
    weights: Weights = None,
    min_psnr: MinPsnr = None,
    plot: Plot = None,
    seconds: Seconds = 60.0,
    dry_run: DryRun = False,
    cache: Cache = None,
    fast: options.Fast = False,
    best: options.Best = False,
    preset: options.Preset = None,
    effort: options.Effort = None,
    partition: options.PartitionName = None,
    dictionary_limit: options.DictionaryLimit = None,
    rate_model: options.RateModel = None,
    depth: options.Depth = None,
    strip: options.Strip = None,
    page: Page = None,
    max_samples: options.MaxSamples = options.DEFAULT_LIMITS.max_samples,
    max_dimension: options.MaxDimension = options.DEFAULT_LIMITS.max_dimension,
    max_seconds: options.MaxSeconds = None,
    backend: options.EncodingBackend = "auto",
    device: options.Device = None,
    threads: Threads = None,
    force: options.Force = False,
    cluster: options.Cluster = None,
    workers: options.Workers = None,
    batch: options.Batch = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> ExitCode:
    """Encode pictures so that all files together fit into a size.

    Takes the pictures that `mmp encode` takes. Each picture is encoded with every lambda. An exact
    search then chooses one of these files per picture, and the chosen files are written. The output
    compares this plan with two others: a single lambda for all pictures, and the single lambda with
    the remaining bytes spent greedily on single pictures. Each page of a file of several pictures
    is a picture of the budget, and the output holds them all. With --cluster, the workers encode
    into the cache, and a task is a picture.
    """
    from mmpcodec.planning.quantities import ONE, in_lowest_terms, parse_bytes

    limits = options.limits_of(max_samples, max_dimension, max_seconds=max_seconds)
    room = parse_bytes("total", total)
    (params, _), remarks = requested(locals())
    reading.check_changes(None, depth, 0, strip or ())
    output.check_png("--plot", plot)
    found, others = inputs_together(inputs, PICTURE.without(".mmp"))
    files = assign(found, ".mmp", out=out, folder=folder, keep_extension=append_suffix)
    drawing = [] if plot is None else [Job("--plot", plot)]
    given = [] if weights is None else [Job(weights)]
    if not dry_run:
        check([*files, *given, *drawing], force=force, folder=folder)
    output.check_mmp(out)

    from mmpcodec.cli.commands.budget.books import records_of, with_pages
    from mmpcodec.cli.commands.budget.text import Budgeted
    from mmpcodec.planning import budget as library
    from mmpcodec.planning.budget.plot import figure_class

    ladder = checked_search(lambdas, objective, min_psnr)
    files, shapes = with_pages(files, limits) if page is None else (files, {})
    millionths = weights_of(weights, files)
    if plot is not None:
        figure_class()
    encoder = implied(backend, device)
    here = cluster is None
    numbers = numbers_of(encoder, device) if here else ()
    if cluster not in (None, CUDA):
        threads = threads or 1  # each thread of a worker has a picture of its own
    setting = Setting(params, encoder, threads, None, depth, strip or (), limits=limits, page=page)
    work = MeasureLadders(ladder, "", setting)
    work = work.on(files) if here else work
    shares = in_lowest_terms(millionths)
    to_stderr = any(job.target == STANDARD for job in [*files, *drawing])
    printer = Printer(as_json, quiet, False, to_stderr)

    def check_sizes(sizes: Sequence[tuple[int, int]]) -> None:
        check_shares(weights, shares, sizes)
        for remark in remarks:
            printer.note(remark)

    with (
        spread("budget", cluster, workers, batch, None, "", device) as place,
        cache_folder(cache, cluster) as folder_of_cache,
        on_first(work.backend, numbers),
    ):
        work = replace(work, cache=folder_of_cache)
        if here:
            measured = measured_here(files, work, numbers, printer, check_sizes)
        else:
            measured = measured_on_cluster(files, work, printer, place, check_sizes)
        if measured is None:
            show_error("nothing was written: the budget is for all pictures")
            return ExitCode.FAILED
        ladders, used = measured
        if min_psnr is not None:
            ladders = [each.at_least(min_psnr) for each in ladders]
        ladders = weighted(ladders, shares)
        solver = backend if here else AUTO  # the device may be one of the workers alone
        left = room - (records := records_of(files, ladders, shapes, room))
        plans = library.compare(
            ladders, left, objective=objective, time_limit=seconds, backend=solver
        )
        if plot is not None and not dry_run:
            curve = library.budget_curve(ladders, objective=objective, backend=solver)
            output.write(plot, library.draw_budget(ladders, curve, plans, left), force=force)
        if not dry_run:
            kept = library.PointCache(folder_of_cache)
            write_files(files, shapes, ladders, plans.exact, kept, params, force=force)
    factors = [number / ONE for number in millionths]
    drawn = None if dry_run else plot
    printer.show(Budgeted(room, records, files, ladders, factors, plans, used, dry_run, drawn))
    return ExitCode.PARTLY_FAILED if tell_left_out(others, printer) else ExitCode.DONE


def write_files(
    files: Sequence[Job],
    shapes: "dict[str, BookShape]",
    ladders: "Sequence[Ladder]",
    plan: "Plan",
    cache: "PointCache",
    params: EncodeParams,
    *,
    force: bool,
) -> None:
    """Write the files that a plan has chosen, from the cache."""
    from mmpcodec.cli.commands.budget.books import write_books
    from mmpcodec.planning.budget import encoded

    def file_of(number: int) -> bytes:
        return encoded(ladders[number], plan.points[number], cache, params)

    write_books(files, shapes, file_of, force=force)


def checked_search(
    lambdas: str | None, objective: str, min_psnr: float | None
) -> tuple[float, ...]:
    """Check the options of the search and return the lambdas of the ladder.

    Raises
    ------
    ParameterError
        If an option is out of range.
    """
    from mmpcodec.bench.codecs.base import operating_points
    from mmpcodec.planning.budget import LAMBDAS, OBJECTIVES

    if objective not in OBJECTIVES:
        raise ParameterError(f"objective = {objective!r}: must be one of {', '.join(OBJECTIVES)}")
    ladder = LAMBDAS if lambdas is None else operating_points("lambda", lambdas, ",")
    if min_psnr is not None and not math.isfinite(min_psnr):
        raise ParameterError(f"min_psnr = {min_psnr}: must be a finite number of dB")
    return ladder


def weights_of(weights: str | None, files: Sequence[Job]) -> list[int]:
    """Return each picture's weight in millionths, from the file of --weights; without it, weight 1.

    Raises
    ------
    ParameterError
        If a picture has no weight, or no weight is above 0.
    """
    from mmpcodec.planning.quantities import ONE, read_table

    if weights is None:
        return [ONE] * len(files)
    table = read_table(output.read(weights), output.shown(weights, "stdin"), "weight")
    found = table.of([job.source for job in files])
    if not any(found):
        raise ParameterError(f"{table.file}: no weight is above 0")
    return found


def check_shares(
    weights: str | None, shares: Sequence[int], sizes: Sequence[tuple[int, int]]
) -> None:
    """Check that the solver can work with the weights, which are integers in lowest terms.

    Raises
    ------
    ParameterError
        If they are too large; the message names the file of weights.
    """
    from mmpcodec.planning.budget import check_weights

    if weights is None:
        return
    try:
        check_weights(shares, *zip(*sizes, strict=True))
    except ParameterError as error:
        raise ParameterError(f"{output.shown(weights, 'stdin')}: {error}") from error


def weighted(ladders: "Sequence[Ladder]", weights: Sequence[int]) -> "list[Ladder]":
    """Return the ladders with their weights."""
    pairs = zip(ladders, weights, strict=True)
    return [replace(ladder, weight=weight) for ladder, weight in pairs]


@contextlib.contextmanager
def cache_folder(cache: str | None, cluster: str | None) -> Iterator[str]:
    """The folder that keeps encoded pictures; a temporary one for ``none``.

    Raises
    ------
    ParameterError
        If it is a URL, or the workers of a cluster may be on other machines and none is named.
    """
    if cache is not None and stores.is_url(cache):
        raise ParameterError(f"--cache {cache}: must be a path")
    if cluster not in (None, LOCAL, CUDA) and cache in (None, NO_CACHE):
        raise ParameterError(
            f"--cluster {cluster}: needs --cache DIR, a folder that this machine and the workers "
            "share"
        )
    if cache == NO_CACHE:
        import tempfile

        with tempfile.TemporaryDirectory(prefix="mmp-budget-") as place:
            yield place
        return
    folder = cache or default_cache()
    yield folder if cluster is None else on_this_machine(folder)


def default_cache() -> str:
    """Return the folder in the user's cache, by the XDG base directory specification."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(home, "mmpcodec", "ladders")
