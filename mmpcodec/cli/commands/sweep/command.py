"""The options of ``mmp sweep``: measure this codec and others on pictures, at several points."""

import contextlib
import secrets
from dataclasses import replace
from typing import Annotated

import typer

from mmpcodec.checks import check_int
from mmpcodec.cli import options, run
from mmpcodec.cli.cluster.clients import CUDA
from mmpcodec.cli.cluster.places import on_this_machine, spread
from mmpcodec.cli.commands.sweep.chosen import CodecChoice, our_codecs, peer_names, remarks_on
from mmpcodec.cli.commands.sweep.measuring import MeasurePictures
from mmpcodec.cli.commands.sweep.text import Report
from mmpcodec.cli.completion import lists, words
from mmpcodec.cli.exits import ExitCode
from mmpcodec.cli.inputs.folders import PICTURE
from mmpcodec.cli.inputs.pages import Page
from mmpcodec.cli.jobs import inputs_of
from mmpcodec.cli.printing import Printer
from mmpcodec.depth import MAX_DEPTH
from mmpcodec.errors import BackendUnavailable, ParameterError
from mmpcodec.runtime import stores
from mmpcodec.runtime.files import check_folder


def sweep(
    inputs: options.Pictures,
    out: Annotated[
        str,
        typer.Option(
            "--out", metavar="DIR", help="Folder of results; created, or continued if it exists."
        ),
    ],
    lambdas: Annotated[
        str, typer.Option("--lambda", "-l", metavar="L,L,...", help="Operating points of mmp.")
    ] = "8,16,32,64,128,256",
    codec: Annotated[
        list[str] | None,
        typer.Option(
            "--codec",  # typer 0.27 would call it --CODEC
            metavar="CODEC",
            autocompletion=words(our_codecs),
            help="Measure mmp with options, as in mmp:preset=photo,effort=4; also backend, "
            "device and threads; can be repeated. "
            "By default every preset but auto and lossless; none leaves mmp out.",
        ),
    ] = None,
    peers: Annotated[
        str,
        typer.Option(
            metavar="NAME,...",
            help="Other codecs: jpeg, jpeg2000, webp, avif, jxl, hevc; with options and operating "
            "points as in jpeg,avif:tune=psnr,quality=20/40; none leaves them out.",
            autocompletion=lists(peer_names),
        ),
    ] = "jpeg,jpeg2000,webp,avif",
    commands: Annotated[
        str | None,
        typer.Option(metavar="TOML", help="File with command lines of other programs to measure."),
    ] = None,
    gray: Annotated[
        bool,
        typer.Option(
            "--gray",
            help="Convert colour pictures to gray (luma of ITU-R 601) and leave out alpha.",
        ),
    ] = False,
    metrics: options.Metrics = None,
    depth: options.Depth = None,
    page: Page = None,
    max_samples: options.MaxSamples = options.DEFAULT_LIMITS.max_samples,
    max_dimension: options.MaxDimension = options.DEFAULT_LIMITS.max_dimension,
    max_seconds: options.MaxSeconds = None,
    repeat: Annotated[
        int, typer.Option(min=1, metavar="N", help="Runs per measurement; times are their medians.")
    ] = 1,
    retry: Annotated[
        bool, typer.Option("--retry", help="Repeat measurements that failed.")
    ] = False,
    cluster: options.Cluster = None,
    workers: options.Workers = None,
    batch: options.Batch = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> ExitCode:
    """Measure rate, distortion and time of mmp and other codecs.

    Takes the pictures that `mmp encode` takes, one of each file; --page names it. A codec that
    cannot code one of them leaves a result that says so. Each result is a line of
    DIR/results.jsonl. An interrupted sweep continues where it stopped, and several processes may
    share DIR. Results that lack one of the metrics get it from their decoded pictures in DIR. `mmp
    report DIR` draws the results. With --cluster, the workers write into DIR, and a task is a
    picture.
    """
    from mmpcodec.bench.codecs.base import GRAY
    from mmpcodec.bench.metrics import check_libraries, metrics_of

    measured = metrics_of(metrics)
    check_libraries(measured)
    if depth is not None:
        check_int("depth", depth, 1, MAX_DEPTH)
    limits = options.limits_of(max_samples, max_dimension, max_seconds=max_seconds)
    choice = CodecChoice.of(lambdas, codec, peers, commands)
    # A backend that is absent here may run on the workers.
    with contextlib.suppress(*((BackendUnavailable,) if cluster else ())):
        choice.of_kind(GRAY)  # wrong options are an error before any picture is read
    if stores.is_url(out):
        raise ParameterError(f"--out {out}: must be a path, where processes can lock files")
    check_folder(out)
    printer = Printer(as_json, quiet)
    report = Report(printer)
    for remark in remarks_on(codec or []):
        printer.note(remark)
    work = MeasurePictures(
        *(choice, out, secrets.token_hex(8), gray, depth, limits, repeat, retry, measured),
        page=page,
        tell=report.tell,
    )
    if cluster is not None:
        batch = batch or 1  # no codec takes many pictures at once
        processors = None if cluster == CUDA else 1
        work = replace(work, out=on_this_machine(out), processors=processors, tell=None)
    with spread("sweep", cluster, workers, batch, None, "") as place:
        files = inputs_of(inputs, PICTURE.without(".mmp"))
        code = run.run(files, work, printer, place=place, show=report.add)
    return report.end(out, code)
