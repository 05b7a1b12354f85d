"""The options of ``mmp compare``: two pictures or books, or those of two folders."""

from typing import Annotated

import typer

from mmpcodec.checks import check_int
from mmpcodec.cli import options, run
from mmpcodec.cli.cluster.places import Place, spread
from mmpcodec.cli.commands.compare.folders import are_folders, pairs_of
from mmpcodec.cli.commands.compare.means import Means
from mmpcodec.cli.commands.compare.measuring import Compared, ComparedBook, ComparePair, pages_of
from mmpcodec.cli.completion import files
from mmpcodec.cli.encoding import reading
from mmpcodec.cli.exits import ExitCode
from mmpcodec.cli.inputs.pages import Page
from mmpcodec.cli.jobs import Existing, Job, assign, check, settle
from mmpcodec.cli.printing import Printer, remarks_noted
from mmpcodec.depth import MAX_DEPTH
from mmpcodec.errors import ParameterError
from mmpcodec.pictures import registry
from mmpcodec.runtime.files import STANDARD


def compare(
    a: Annotated[
        str,
        typer.Argument(
            metavar="A",
            help=f"The original picture: {options.READ}; - is standard input. Or a folder of them.",
            autocompletion=files(registry.suffixes()),
        ),
    ],
    b: Annotated[
        str,
        typer.Argument(
            metavar="B",
            help="The picture to compare with it, or a folder: pictures of equal paths in A and B, "
            "whatever their suffixes, are compared.",
            autocompletion=files(registry.suffixes()),
        ),
    ],
    diff: Annotated[
        str | None,
        typer.Option(
            metavar="PNG",
            help="Draw the difference: gray where both agree, brighter where B is. For folders, "
            "and for files of several pictures, a folder of drawings.",
        ),
    ] = None,
    metrics: options.Metrics = None,
    depth: options.Depth = None,
    range: reading.Range = None,
    page: Page = None,
    max_samples: options.MaxSamples = options.DEFAULT_LIMITS.max_samples,
    max_dimension: options.MaxDimension = options.DEFAULT_LIMITS.max_dimension,
    max_seconds: options.MaxSeconds = None,
    jobs: options.Jobs = 1,
    force: options.Force = False,
    cluster: options.Cluster = None,
    workers: options.Workers = None,
    batch: options.Batch = None,
    as_json: options.Json = False,
) -> ExitCode:
    """Measure how two pictures differ, to the eye and in numbers.

    Metrics that need larger pictures, such as MS-SSIM, are left out. Both pictures must have the
    same size, planes and level of white. Above 8 bits, metrics refer to the levels that the
    original uses. Transparency and ICC profiles are ignored. Of two folders, all pairs of pictures
    are measured, and means are shown. Of two files of several pictures, so are page 1 of both, page
    2 and so on, and the worst page is named; --page compares one.
    """
    from mmpcodec.bench.metrics import check_libraries, metrics_of

    chosen = metrics_of(metrics)
    limits = options.limits_of(max_samples, max_dimension, max_seconds=max_seconds)
    if depth is not None:
        check_int("depth", depth, 1, MAX_DEPTH)
    if a == b == STANDARD:
        raise ParameterError("-: only one of the two pictures can come from standard input")
    check_libraries(chosen)
    work = ComparePair(depth, limits, chosen, reading.levels_of(range), page)
    batch = batch or (1 if cluster else None)  # no device compares many pairs at once
    with spread("compare", cluster, workers, batch, None, "", jobs=jobs) as place:
        if are_folders(a, b):
            return compare_folders(a, b, diff, work, Printer(as_json), jobs, place, force=force)
        if cluster is not None:
            raise ParameterError(f"--cluster {cluster}: has no effect for two files")
        compare_files(a, b, diff, work, as_json=as_json, force=force)
    return ExitCode.DONE


def compare_files(
    a: str, b: str, diff: str | None, work: ComparePair, *, as_json: bool, force: bool
) -> None:
    """Compare two files, and print their measures, or those of each pair of their pages."""
    if diff == STANDARD and as_json:
        raise ParameterError("--diff -: --json already writes to standard output")
    pair = Job(a, diff, partner=b, overwrite=force)
    if diff is None or diff == STANDARD or diff.lower().endswith(".png"):
        check([pair], force=force)  # else drawings of pages, which are checked when they are known
    with remarks_noted(Printer(as_json).note) as left_out:
        found = work(pair)
    if as_json:
        Printer(as_json).show(found, left_out)
    elif diff != STANDARD:
        print(found.measures())


def compare_folders(
    a: str,
    b: str,
    diff: str | None,
    work: ComparePair,
    printer: Printer,
    at_once: int,
    place: Place,
    *,
    force: bool,
) -> ExitCode:
    """Compare the pairs of two folders, and print their measures and the means.

    Drawings are in the folder ``diff``, below the folders that A has.
    """
    if diff == STANDARD or str(diff).lower().endswith(".png"):
        raise ParameterError(f"--diff {diff}: must name a folder, as there are many drawings")
    pairs = pairs_of(a, b)
    if diff is not None:
        pairs = assign(pairs, ".png", out=None, folder=diff, advice="")
        pairs = settle(pairs, Existing.of(force, False, False), diff)
    done: list[Compared | ComparedBook] = []
    code = run.run(pairs, work, printer, at_once=at_once, place=place, seen=done.append)
    if done:
        printer.show(Means.of([page.quality for each in done for page in pages_of(each)]))
    return code
