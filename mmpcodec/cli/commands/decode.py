"""``mmp decode``: decode mmp files to pictures."""

import re
from dataclasses import replace
from itertools import chain
from typing import Annotated, Any

import typer

from mmpcodec.cli import options, run
from mmpcodec.cli.cluster.connection import Connection
from mmpcodec.cli.cluster.places import spread
from mmpcodec.cli.completion import words
from mmpcodec.cli.copies import Copied
from mmpcodec.cli.decoding import by_tiles, originals
from mmpcodec.cli.decoding.formats import FORMATS, SUFFIXES, format_of_output, has_one
from mmpcodec.cli.decoding.pages import Decoding, apart
from mmpcodec.cli.decoding.results import Decoded
from mmpcodec.cli.decoding.work import DecodeWork
from mmpcodec.cli.exits import ExitCode
from mmpcodec.cli.help import OUTPUT
from mmpcodec.cli.inputs.folders import MMP_FILE
from mmpcodec.cli.inputs.pages import Page, Pages, check_pages
from mmpcodec.cli.jobs import APPEND, Existing, Job, plan
from mmpcodec.cli.printing import Printer
from mmpcodec.errors import ParameterError
from mmpcodec.pictures import registry
from mmpcodec.runtime import stores
from mmpcodec.runtime.files import STANDARD

Output = Annotated[str | None, options.picture_output(SUFFIXES)]
Format = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help=f"Format of the output: {registry.listed(FORMATS, 'or')}; by default that of the "
        "suffix of OUT, otherwise png.",
        rich_help_panel=OUTPUT,
        autocompletion=words(FORMATS),
    ),
]
Quality = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=100,
        metavar="Q",
        rich_help_panel=OUTPUT,
        help="Quality of JPEG and WebP, 90 by default; WebP of quality 100 is without loss.",
    ),
]
PngLevel = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=9,
        metavar="N",
        rich_help_panel=OUTPUT,
        help="Level of compression of PNG, 0 to 9: 1, the default, is fast; 6 writes about 10 % "
        "fewer bytes and takes four times as long.",
    ),
]
Region = Annotated[
    str | None,
    typer.Option(
        metavar="X,Y,W,H",
        help="Decode only this part, in pixels: column, row, width and height.",
    ),
]


Scale = Annotated[
    str | None,
    typer.Option(
        metavar="1/N",
        help="Decode at 1/N of the size, such as 1/8 or 0.125, from the nearest larger level if "
        "the file has one.",
    ),
]


def decode(
    inputs: options.Inputs,
    out: Output = None,
    folder: options.Folder = None,
    append_suffix: options.AppendSuffix = False,
    original: originals.Original = False,
    format: Format = None,
    quality: Quality = None,
    png_level: PngLevel = None,
    page: Page = None,
    pages: Pages = None,
    region: Region = None,
    scale: Scale = None,
    allow_partial: options.AllowPartial = False,
    strip: options.Strip = None,
    backend: options.BackendName = "auto",
    max_samples: options.MaxSamples = options.DEFAULT_LIMITS.max_samples,
    max_dimension: options.MaxDimension = options.DEFAULT_LIMITS.max_dimension,
    max_memory: options.MaxMemory = None,
    max_seconds: options.MaxSeconds = None,
    threads: options.Threads = None,
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
    """Decode mmp files to pictures.

    The output is IN with the suffix .png, unless -o, -O or --format names another. Of a file of
    several pictures, -o writes one file of all, such as a TIFF or PDF of its pages, and -O a file
    of each. A message names what the output format cannot hold.
    """
    limits = options.limits_of(max_samples, max_dimension, max_memory, max_seconds)
    from mmpcodec import backends, pictures
    from mmpcodec.pictures.side.facts import stripped

    check_pages(page, pages)
    area = None if region is None else _area(region)
    factor = _factor(scale)
    stripped(pictures.Picture.metadata, *(strip or ()))
    chosen_format = format_of_output(format, out, quality, png_level)
    if original:
        changing: dict[str, Any] = {
            "--format": format,
            "--quality": quality,
            "--region": region,
            "--scale": scale,
        }
        changing |= {"--strip": strip, "--append-suffix": append_suffix}
        options.check_alone("--original", changing)
    existing = Existing.of(force, skip_existing, update)
    backend = backend if cluster else backends.get(backend, decodes=True).name
    threads = threads or (1 if jobs > 1 or cluster else None)
    if factor > 1 and chosen_format == by_tiles.ZARR:
        raise ParameterError("--scale and zarr: give only one of them; a store gets all levels")
    decided = chosen_format, quality, png_level, page, pages, area, factor, allow_partial, strip
    decisive = f"{decided!r}{' original' if original else ''}"
    how = Decoding(area, limits, allow_partial, tuple(strip or ()), backend, threads, factor)
    tiles = by_tiles.DecodeByTiles(
        chosen_format, area, limits, allow_partial, strip or (), backend, threads
    )
    work = DecodeWork(chosen_format, quality, png_level, pages, how, tiles, original=original)
    partial: list[Decoded] = []
    index_remarks: dict[str, list[str]] = {}
    connected: list[Connection] = []

    def seen(found: Decoded | Copied) -> None:
        for connection in connected:
            connection.seen(found)
        if isinstance(found, Decoded) and found.is_partial:
            partial.append(found)

    def parted(files: list[Job]) -> list[Job]:
        if page is not None:
            files = [job._replace(page=page) if job.to_do else job for job in files]
        elif folder is not None and has_one(chosen_format):
            whole = [job for job in files if original and originals.is_book(job, limits)]
            files = [job for job in files if job not in whole]
            files, remarks = apart(files, pages, limits, allow_partial)
            files = sorted([*files, *whole])
            index_remarks.update(remarks)
        if original and out is None:
            files = originals.jobs_of_originals(files, folder, limits)
        return files

    with spread("decode", cluster, workers, batch, manifest, decisive, jobs=jobs) as place:
        files = plan(
            inputs,
            MMP_FILE if original and folder else MMP_FILE.without(f".{chosen_format}"),
            f".{chosen_format}",
            out=out,
            folder=folder,
            existing=existing,
            keep_extension=append_suffix,
            resumed=place.resumed,
            parted=parted,
            advice="" if original else APPEND,
        )
        tiles.check(files)
        to_do = [job for job in files if job.to_do]
        printer = Printer(as_json, quiet, False, any(job.target == STANDARD for job in to_do))
        for line in chain.from_iterable(index_remarks.values()):
            printer.note(line)
        work = replace(work, noted=frozenset(map(stores.absolute, index_remarks)))
        if by_tiles.blocks_are_tasks(to_do, tiles, place.cluster):
            assert place.cluster is not None
            with Connection(place.cluster, printer, len(to_do)) as connection:
                connected.append(connection)
                own = work.on(tiles.on(connection))
                code = run.run(files, own, printer, place=place._replace(cluster=None), seen=seen)
        else:
            code = run.run(files, work, printer, at_once=jobs, place=place, seen=seen)
    return ExitCode.PARTLY_FAILED if (partial or index_remarks) and code == ExitCode.DONE else code


def _factor(scale: str | None) -> int:
    """Return by which factor pictures become smaller.

    Raises
    ------
    ParameterError
        If the scale is another number.
    """
    from mmpcodec.codec.tiles.reduction import factor_of_scale

    if scale is None:
        return 1
    return factor_of_scale(scale)


def _area(region: str) -> tuple[int, ...]:
    """Parse the four numbers of a region.

    Raises
    ------
    ParameterError
        If the text has another form.
    """
    parts = region.split(",")
    if len(parts) != 4 or not all(re.fullmatch("[0-9]{1,18}", part.strip()) for part in parts):
        raise ParameterError(f"region = {region!r}: must be X,Y,W,H, four integers from 0 up")
    return tuple(map(int, parts))
