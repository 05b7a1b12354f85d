"""``mmp decode``: decode mmp files to pictures."""

import re
import time
from typing import Annotated, Any, NamedTuple

import typer

from mmpcodec.cli import options, output, run
from mmpcodec.cli.cluster.connection import Connection
from mmpcodec.cli.cluster.places import spread
from mmpcodec.cli.completion import words
from mmpcodec.cli.decoding import by_tiles
from mmpcodec.cli.decoding.damage import damage, naming_allow_partial
from mmpcodec.cli.exits import ExitCode
from mmpcodec.cli.help import OUTPUT
from mmpcodec.cli.inputs.folders import MMP_FILE
from mmpcodec.cli.jobs import Existing, Job, plan
from mmpcodec.cli.printing import Printer, counted
from mmpcodec.cli.work import JobProgress
from mmpcodec.errors import ParameterError
from mmpcodec.pictures import registry
from mmpcodec.runtime.files import STANDARD, ZARR_SUFFIX

DEFAULT_FORMAT = "png"
FORMATS = (*registry.written(), by_tiles.ZARR)


class Decoded(NamedTuple):
    """The result of decoding one file."""

    input: str
    output: str
    width: int
    height: int
    form: str
    depth: int
    bad_tiles: int
    header_faults: int
    input_bytes: int
    output_bytes: int
    format: str
    seconds: float
    backend: str

    @property
    def of_mmp(self) -> bool:
        """Whether the input is an mmp file, of which nothing is left out."""
        return True

    def as_dict(self) -> dict[str, Any]:
        return self._asdict()

    def text(self, verbose: bool) -> str:
        bad = f", {counted(self.bad_tiles, 'bad tile')}" if self.bad_tiles else ""
        return (
            f"{output.shown_pair(self.input, self.output)}: {self.width}x{self.height}, "
            f"{self.input_bytes} -> {self.output_bytes} bytes, {self.seconds:.2f} s, "
            f"backend {self.backend}{bad}"
        )


Output = Annotated[str | None, options.picture_output([*options.WRITTEN, ZARR_SUFFIX])]
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


def decode(
    inputs: options.Inputs,
    out: Output = None,
    folder: options.Folder = None,
    append_suffix: options.AppendSuffix = False,
    format: Format = None,
    quality: Quality = None,
    png_level: PngLevel = None,
    region: Region = None,
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

    The output is IN with the suffix .png, unless -o, -O or --format names another. A message names
    the metadata that the output format cannot hold.
    """
    limits = options.limits_of(max_samples, max_dimension, max_memory, max_seconds)
    import mmpcodec
    from mmpcodec import backends, pictures
    from mmpcodec.pictures.side.facts import stripped

    area = None if region is None else _area(region)
    stripped(pictures.Picture.metadata, *(strip or ()))
    chosen_format = format_of_output(format, out, quality, png_level)
    existing = Existing.of(force, skip_existing, update)
    backend = backend if cluster else backends.get(backend, decodes=True).name
    threads = threads or (1 if jobs > 1 or cluster else None)
    writing: Any = {"quality": quality, "png_level": png_level, "threads": threads}
    parameters = repr((chosen_format, quality, png_level, area, allow_partial, strip))
    tiles = by_tiles.DecodeByTiles(
        chosen_format, area, limits, allow_partial, strip or (), backend, threads
    )

    def work(job: Job, progress: JobProgress) -> Decoded:
        if tiles.applies(job):
            with naming_allow_partial(allow_partial):
                return decoded_by_tiles(tiles, job, progress)
        started = time.perf_counter()
        with output.read_by_parts(job.source, limits.max_memory) as data:
            size = len(data)
            how: Any = {"backend": backend, "threads": threads, "progress": progress}
            how |= {"region": area, "allow_partial": allow_partial, "limits": limits}
            with naming_allow_partial(allow_partial):
                found = mmpcodec.inspect(data, decode=True, **how)
        samples, header = found.samples, found.header
        assert samples is not None
        assert job.target is not None
        for line in damage(header, found.bad_tiles, found.faults):
            progress.note(f"{job.name}: {line}")
        metadata = stripped(header.metadata, *(strip or ()))
        picture = pictures.Picture(samples, header.depth, metadata)
        progress.say(f"writing {chosen_format}")
        coded = pictures.to_bytes(picture, chosen_format, progress=progress, **writing)
        output.write(job.target, coded, force=job.overwrite)
        if gone := ", ".join(pictures.lost(picture, chosen_format)):
            progress.note(f"{job.name}: {chosen_format} cannot hold all of: {gone}")
        return Decoded(
            input=job.source,
            output=job.target,
            width=samples.shape[1],
            height=samples.shape[0],
            form=header.form.title,
            depth=header.depth,
            bad_tiles=len(found.bad_tiles),
            header_faults=len(found.faults),
            input_bytes=size,
            output_bytes=len(coded),
            format=chosen_format,
            seconds=time.perf_counter() - started,
            backend=backends.get(backend, decodes=True).name,
        )

    partial: list[Decoded] = []

    def seen(found: Decoded) -> None:
        if tiles.connection is not None:
            tiles.connection.seen(found)
        if found.bad_tiles or found.header_faults:
            partial.append(found)

    with spread("decode", cluster, workers, batch, manifest, parameters, jobs=jobs) as place:
        files = plan(
            inputs,
            MMP_FILE.without(f".{chosen_format}"),
            f".{chosen_format}",
            out=out,
            folder=folder,
            existing=existing,
            keep_extension=append_suffix,
            resumed=place.resumed,
        )
        tiles.check(files)
        to_do = [job for job in files if job.to_do]
        printer = Printer(as_json, quiet, False, any(job.target == STANDARD for job in to_do))
        if by_tiles.blocks_are_tasks(to_do, tiles, place.cluster):
            assert place.cluster is not None
            with Connection(place.cluster, printer, len(to_do)) as connection:
                tiles = tiles.on(connection)
                code = run.run(files, work, printer, place=place._replace(cluster=None), seen=seen)
        else:
            code = run.run(files, work, printer, at_once=jobs, place=place, seen=seen)
    return ExitCode.PARTLY_FAILED if partial and code == ExitCode.DONE else code


def format_of_output(
    format: str | None, out: str | None, quality: int | None, png_level: int | None
) -> str:
    """Return the extension of the output's format, from --format, -o and the options of formats.

    Raises
    ------
    ParameterError
        If they contradict each other, or the format is unknown.
    """
    from mmpcodec import pictures

    others = (by_tiles.ZARR,)
    if format is not None:
        pictures.check_format(format, others=others)
        if output.names_other_format(out, f".{format}"):
            raise ParameterError(f"--format {format}: {out} names another format")
    elif out is not None and out != STANDARD:
        format = pictures.format_of(out.rstrip("/"), others=others)
    found = format or DEFAULT_FORMAT
    row = registry.written().get(found)
    if quality is not None and (row is None or row.quality is None):
        raise ParameterError(f"--quality {quality}: has no effect on {found}")
    if png_level is not None and (row is None or row.level is None):
        raise ParameterError(f"--png-level {png_level}: has no effect on {found}")
    return found


def decoded_by_tiles(tiles: by_tiles.DecodeByTiles, job: Job, progress: JobProgress) -> Decoded:
    """Decode a file block by block; see ``by_tiles.DecodeByTiles``."""
    from mmpcodec import backends

    assert job.target is not None
    started = time.perf_counter()
    found = tiles(job, progress)
    return Decoded(
        input=job.source,
        output=job.target,
        width=found.area.width,
        height=found.area.height,
        form=found.header.form.title,
        depth=found.header.depth,
        bad_tiles=len(found.bad_tiles),
        header_faults=len(found.faults),
        input_bytes=found.input_bytes,
        output_bytes=output.size_of(job.target),
        format=tiles.format,
        seconds=time.perf_counter() - started,
        backend=backends.get(tiles.backend, decodes=True).name,
    )


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
