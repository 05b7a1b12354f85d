"""``mmp sweep``: measure this codec and others on pictures, at several operating points."""

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from mmpcodec.checks import check_int
from mmpcodec.cli import options, output
from mmpcodec.cli.completion import lists, words
from mmpcodec.cli.encoding.sources import picture_of
from mmpcodec.cli.exits import ExitCode, show_error
from mmpcodec.cli.jobs import PICTURE, inputs_of
from mmpcodec.cli.printing import Printer, counted, kind_text
from mmpcodec.cli.progress import ProgressBars
from mmpcodec.depth import MAX_DEPTH
from mmpcodec.errors import FileError, MmpError, ParameterError
from mmpcodec.params import DecodeLimits

if TYPE_CHECKING:
    from mmpcodec.bench.codecs.base import Codec, SampleKind
    from mmpcodec.bench.results import Results
    from mmpcodec.bench.sweep import Original

NONE = "none"
Codecs = Callable[["SampleKind"], "list[Codec]"]
"""Gives the codecs to measure on pictures of a kind."""


class Measured(NamedTuple):
    """One measurement."""

    row: dict[str, Any]

    def as_dict(self) -> dict[str, Any]:
        return self.row

    def text(self, verbose: bool) -> str:
        row = self.row
        line = f"{row['name']}: {kind_text(row['form'], row['depth'])}"
        line += f"{row['codec']}, {row['knob']} {row['point']:g}: "
        if "error" in row:
            return f"{line}failed: {row['error']}"
        quality = "lossless" if row["psnr"] is None else f"PSNR {row['psnr']:.2f} dB"
        return (
            f"{line}{row['bytes']} bytes, {row['bpp']:.3f} bpp, {quality}, "
            f"{row['encode_seconds']:.3f} s, {row['decode_seconds']:.3f} s"
        )


def peer_names() -> list[str]:
    """Return the names of the other codecs."""
    from mmpcodec.bench.codecs.peers import PEERS

    return [*PEERS, NONE]


def our_codecs() -> list[str]:
    """Return what ``--codec`` may name: each preset of mmp."""
    return [*(f"mmp:preset={name}" for name in options.PRESET_NAMES), NONE]


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
            metavar="CODEC",
            autocompletion=words(our_codecs),
            help="Measure mmp with options, as in mmp:preset=photo,effort=4; also backend, "
            "device and threads; can be repeated. "
            "By default every preset but auto and exact; none leaves mmp out.",
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
    depth: options.Depth = None,
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
    """Measure rate, distortion and time of mmp and other codecs.

    Takes the pictures that `mmp encode` takes. A codec that cannot code one of them leaves a result
    that says so. Each result is a line of DIR/results.jsonl. An interrupted sweep continues where
    it stopped, and several processes may share DIR. `mmp report DIR` draws the results.
    """
    from mmpcodec.bench.codecs.base import GRAY
    from mmpcodec.bench.metrics import check_library
    from mmpcodec.bench.sweep import sweep as measurements

    check_library()
    if depth is not None:
        check_int("depth", depth, 1, MAX_DEPTH)
    limits = options.limits_of(max_samples, max_dimension)
    codecs = codecs_of(lambdas, codec, peers, commands)
    codecs(GRAY)  # wrong options are an error before any picture is read
    remarks = remarks_on(codec or [])
    files = [job for job in inputs_of(inputs, PICTURE.without(".mmp")) if job.skipped is None]
    printer = Printer(as_json, quiet)
    for remark in remarks:
        printer.note(remark)
    ready: dict[SampleKind, list[Codec]] = {}
    expected = measured = failed = 0
    unread: list[str] = []
    results: Results | None = None
    with ProgressBars(printer.shows_progress) as bars:
        for job in files:
            if job.fault is not None:
                unread.append(job.fault)
                continue
            try:
                picture = read(job.source, gray, depth, limits)
            except MmpError as error:
                unread.append(str(error))
                continue
            results = results or created(out)
            if picture.kind not in ready:
                ready[picture.kind] = prepared(codecs, picture.kind, printer)
            chosen = ready[picture.kind]
            total = sum(len(each.ladder) for each in chosen)
            expected += total
            with bars.follow(picture.name) as bar:
                bar.advance(0, total)
                rows = measurements(picture, chosen, results, repeat=repeat, retry=retry)
                for number, row in enumerate(named(rows, out), start=1):
                    printer.show(Measured(row))
                    if quiet and "error" in row:
                        show_error(Measured(row).text(verbose=False))
                    measured += 1
                    failed += "error" in row
                    bar.advance(number, total)
    for fault in unread:
        show_error(fault)
    printer.note(
        f"{out}: {counted(measured, 'result')} measured, {failed} failed; "
        f"{expected - measured} were there or are being measured by other processes"
    )
    if len(unread) == len(files) or (measured and failed == measured):
        return ExitCode.FAILED
    return ExitCode.PARTLY_FAILED if failed or unread else ExitCode.DONE


def prepared(codecs: "Codecs", kind: "SampleKind", printer: Printer) -> "list[Codec]":
    """Return the codecs of a kind of pictures, warmed up; print their settings."""
    from mmpcodec.bench.sweep import warm_up

    found = codecs(kind)
    for each in found:
        printer.note(f"{kind_text(kind.planes, kind.depth)}{each.name}: {each.settings}")
    for each in found:
        warm_up(each, kind)
    return found


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


def codecs_of(lambdas: str, codec: list[str] | None, peers: str, commands: str | None) -> "Codecs":
    """Return a function that gives the codecs that the options name, for a kind of pictures.

    It raises a ParameterError if a codec is unknown or named twice, or there is none.
    """
    from mmpcodec.bench.codecs.base import CHROMA, OURS, operating_points, parse
    from mmpcodec.bench.codecs.commands import commands as programs
    from mmpcodec.bench.codecs.ours import ours, presets
    from mmpcodec.bench.codecs.peers import peers as known_peers

    ladder = operating_points("lambda", lambdas, ",")
    programs_text = None if commands is None else output.read(commands).decode(errors="replace")
    # A comma before KEY= separates options of one codec.
    named_peers = [text for text in re.split(r",(?![^:,]*=)", peers) if text not in ("", NONE)]

    def codecs(kind: "SampleKind") -> "list[Codec]":
        chosen = []
        for text in presets(kind) if codec is None else codec:
            if text == NONE:
                continue
            name, given = parse(text)
            if name != OURS:
                raise ParameterError(f"--codec {text}: must begin with {OURS}; others are --peers")
            chosen.append(ours(given, ladder, kind))
        for text in named_peers:
            found = known_peers(text, kind)
            if CHROMA in parse(text)[1] and not kind.colour:
                # Gray has no chroma, so its values name one codec.
                there = {each.name for each in chosen}
                found = [each for each in found if each.name not in there]
            chosen += found
        if programs_text is not None:
            chosen += programs(programs_text, output.shown(str(commands), "stdin"), kind)
        names = [each.name for each in chosen]
        if not names:
            raise ParameterError("no codec to measure: give --codec, --peers or --commands")
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ParameterError(f"codec {twice}: is named twice")
        return chosen

    return codecs


def remarks_on(codec: list[str]) -> list[str]:
    """Return a remark for each option of ``--codec`` that changes nothing in the files."""
    from mmpcodec.bench.codecs.base import parse
    from mmpcodec.cli.encoding.choices import without_effect
    from mmpcodec.params import AUTO, EncodeParams

    remarks = []
    for text in codec:
        given = parse(text)[1] if text != NONE else {}
        preset = given.get("preset", AUTO)
        options = {"--effort": given.get("effort"), "--rate-model": given.get("rate_model")}
        params = EncodeParams.from_options(preset=preset)
        for remark in without_effect(params, preset, options):
            name, _, reason = remark.partition(": ")
            remarks.append(f"{text}: {name.strip('-').replace('-', '_')} {reason}")
    return remarks


def read(name: str, gray: bool, depth: int | None, limits: DecodeLimits) -> "Original":
    """Read a picture; with ``gray`` its luma, without alpha.

    Raises
    ------
    PictureError
        If it cannot be read, or a sample is beyond the depth.
    """
    from mmpcodec.bench.codecs.conversion import luma_of
    from mmpcodec.bench.sweep import Original

    shown = output.shown(name, "stdin")
    picture = picture_of(name, shown, depth, limits)
    if gray:
        picture = picture.without_alpha()
        if picture.planes > 1:
            picture = replace(picture, samples=luma_of(picture.samples))
    return Original.of(os.path.basename(shown), picture)
