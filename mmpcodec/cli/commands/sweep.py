"""``mmp sweep``: measure this codec and others on pictures, at several operating points."""

import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from mmpcodec.cli import options, output
from mmpcodec.cli.exits import ExitCode, show_error
from mmpcodec.cli.jobs import PICTURE, inputs_of
from mmpcodec.cli.printing import Printer, counted
from mmpcodec.cli.progress import ProgressBars
from mmpcodec.errors import FileError, MmpError, ParameterError
from mmpcodec.params import DecodeLimits

if TYPE_CHECKING:
    from mmpcodec.bench.codecs.base import Codec
    from mmpcodec.bench.results import Results
    from mmpcodec.bench.sweep import Original

NONE = "none"


class Measured(NamedTuple):
    """One measurement."""

    row: dict[str, Any]

    def as_dict(self) -> dict[str, Any]:
        return self.row

    def text(self, verbose: bool) -> str:
        row = self.row
        line = f"{row['name']}: {row['codec']}, {row['knob']} {row['point']:g}: "
        if "error" in row:
            return f"{line}failed: {row['error']}"
        quality = "lossless" if row["psnr"] is None else f"PSNR {row['psnr']:.2f} dB"
        return (
            f"{line}{row['bytes']} bytes, {row['bpp']:.3f} bpp, {quality}, "
            f"{row['encode_seconds']:.3f} s, {row['decode_seconds']:.3f} s"
        )


def sweep(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="IN",
            help=f"Picture files ({options.READ}), and folders of them; 8-bit gray only, unless "
            "--gray is given.",
        ),
    ],
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
            metavar="mmp:KEY=VALUE,...",
            help="Measure mmp with these options, also backend and threads; can be repeated. "
            "By default every preset but auto and exact; none leaves mmp out.",
        ),
    ] = None,
    peers: Annotated[
        str,
        typer.Option(
            metavar="NAME,...",
            help="Other codecs: jpeg, jpeg2000, webp, avif, jxl, hevc; with options and operating "
            "points as in jpeg,avif:tune=psnr,quality=20/40; none leaves them out.",
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
            help="Convert 8-bit colour pictures to gray (luma of ITU-R 601) and leave out alpha.",
        ),
    ] = False,
    max_samples: options.MaxSamples = options.DEFAULT_LIMITS.max_samples,
    max_dimension: options.MaxDimension = options.DEFAULT_LIMITS.max_dimension,
    repeat: Annotated[
        int, typer.Option(min=1, metavar="N", help="Runs per measurement; times are their medians.")
    ] = 1,
    retry: Annotated[
        bool, typer.Option("--retry", help="Repeat measurements that failed.")
    ] = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> ExitCode:
    """Measure rate, distortion and time of mmp and other codecs on 8-bit gray pictures.

    Only 8-bit gray is measured: --gray converts 8-bit colour pictures. Each result is a line of
    DIR/results.jsonl. An interrupted sweep continues where it stopped, and several processes may
    share DIR. `mmp report DIR` draws the results.
    """
    from mmpcodec.bench.sweep import sweep as measurements
    from mmpcodec.bench.sweep import warm_up

    limits = options.limits_of(max_samples, max_dimension)
    chosen = codecs_of(lambdas, codec, peers, commands)
    files = [job for job in inputs_of(inputs, PICTURE.without(".mmp")) if job.skipped is None]
    printer = Printer(as_json, quiet)
    for each in chosen:
        printer.note(f"{each.name}: {each.settings}")
    for each in chosen:
        warm_up(each)
    total = sum(len(each.ladder) for each in chosen)
    measured = failed = 0
    unread: list[str] = []
    results: Results | None = None
    with ProgressBars(printer.shows_progress) as bars:
        for job in files:
            if job.fault is not None:
                unread.append(job.fault)
                continue
            try:
                picture = read(job.source, gray, limits)
            except MmpError as error:
                unread.append(str(error))
                continue
            results = results or created(out)
            with bars.follow(picture.name) as bar:
                bar.advance(0, total)
                rows = measurements(picture, chosen, results, repeat=repeat, retry=retry)
                for number, row in enumerate(named(rows, out), start=1):
                    printer.show(Measured(row))
                    measured += 1
                    failed += "error" in row
                    bar.advance(number, total)
    for fault in unread:
        show_error(fault)
    there = total * (len(files) - len(unread)) - measured
    printer.note(
        f"{out}: {counted(measured, 'result')} measured, {failed} failed; "
        f"{there} were there or are being measured by other processes"
    )
    if len(unread) == len(files) or (measured and failed == measured):
        return ExitCode.FAILED
    return ExitCode.PARTLY_FAILED if failed or unread else ExitCode.DONE


def created(out: str) -> "Results":
    """Open the folder of results, or create it."""
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


def codecs_of(
    lambdas: str, codec: list[str] | None, peers: str, commands: str | None
) -> "list[Codec]":
    """Return the codecs that the options name.

    Raises
    ------
    ParameterError
        If a codec is unknown or named twice, or there is none.
    """
    from mmpcodec.bench.codecs.base import OURS, operating_points, parse
    from mmpcodec.bench.codecs.commands import commands as programs
    from mmpcodec.bench.codecs.ours import ours, presets
    from mmpcodec.bench.codecs.peers import peers as known_peers

    chosen = []
    ladder = operating_points("lambda", lambdas, ",")
    for text in presets() if codec is None else codec:
        if text == NONE:
            continue
        name, given = parse(text)
        if name != OURS:
            raise ParameterError(f"--codec {text}: must begin with {OURS}; others are --peers")
        chosen.append(ours(given, ladder))
    # A comma before KEY= separates options of one codec.
    for text in filter(None, re.split(r",(?![^:,]*=)", peers)):
        chosen += [] if text == NONE else known_peers(text)
    if commands is not None:
        text = output.read(commands).decode(errors="replace")
        chosen += programs(text, output.shown(commands, "stdin"))
    names = [each.name for each in chosen]
    if not names:
        raise ParameterError("no codec to measure: give --codec, --peers or --commands")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ParameterError(f"codec {twice}: is named twice")
    return chosen


def read(name: str, gray: bool, limits: DecodeLimits) -> "Original":
    """Read a picture.

    Raises
    ------
    MmpError
        If it cannot be read, or is not 8-bit gray, or with ``gray`` not of 8 bits.
    """
    import numpy as np
    from PIL import Image

    from mmpcodec import pictures
    from mmpcodec.bench.sweep import Original

    shown = output.shown(name, "stdin")
    label = os.path.basename(shown)
    picture = output.read_picture(name, limits)
    if not gray:
        return Original(label, pictures.check_plain(picture, shown))
    picture = picture.without_alpha()
    if picture.depth != 8:
        raise ParameterError(f"{shown}: has {picture.depth} bits per sample; must have 8")
    samples = picture.samples
    if samples.ndim == 3:
        samples = np.asarray(Image.fromarray(samples).convert("L"))
    return Original(label, samples)
