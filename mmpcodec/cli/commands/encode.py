"""``mmp encode``: encode pictures to mmp files."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from mmpcodec.checks import check_int
from mmpcodec.cli import options, output, run
from mmpcodec.cli.encoding.by_tiles import encode_by_tiles
from mmpcodec.cli.encoding.choices import RateOptions, SearchOptions, wanted
from mmpcodec.cli.encoding.sources import (
    Encodings,
    Found,
    InGroups,
    OneByOne,
    Setting,
    ToTarget,
    work_of,
)
from mmpcodec.cli.exits import ExitCode
from mmpcodec.cli.help import RUNNING
from mmpcodec.cli.jobs import PICTURE, Existing, Job, plan
from mmpcodec.cli.printing import Printer, finite, kind_text, quality_text, tools_text
from mmpcodec.depth import MAX_DEPTH
from mmpcodec.errors import MmpError, ParameterError
from mmpcodec.params import (
    UNLIMITED,
    check_median_radius,
    check_tile_size,
)
from mmpcodec.runtime.files import STANDARD

if TYPE_CHECKING:
    from mmpcodec import Encoding, Pass


class Encoded(NamedTuple):
    """The result of encoding one picture.

    ``psnr`` is in dB, infinite for lossless; ``bits``, ``leaves``, ``blocks`` and ``modes`` are
    summed over all layers.
    """

    input: str
    output: str
    width: int
    height: int
    form: str
    depth: int
    tiles: int
    input_bytes: int
    output_bytes: int
    bits_per_pixel: float
    psnr: float
    lam: float
    seconds: float
    backend: str
    verified: bool
    bits: dict[str, float]
    leaves: int
    blocks: dict[str, int]
    modes: dict[str, int]
    passes: "tuple[Pass, ...]"

    @classmethod
    def of(cls, job: Job, found: Found, verified: bool) -> "Encoded":
        """Return the result of a job."""
        from mmpcodec.codec.distortion import psnr_of

        assert job.target is not None
        header = found.header
        pixels = header.width * header.height
        return cls(
            input=job.source,
            output=job.target,
            width=header.width,
            height=header.height,
            form=header.form.title,
            depth=header.depth,
            tiles=len(header.tile_bytes),
            input_bytes=found.input_bytes,
            output_bytes=found.output_bytes,
            bits_per_pixel=8 * found.output_bytes / pixels,
            psnr=psnr_of(found.distortion, pixels, header.depth),
            lam=found.lam,
            seconds=found.seconds,
            backend=found.backend,
            verified=verified,
            bits=dict(found.totals.bits),
            leaves=found.totals.leaves,
            blocks=dict(found.totals.blocks),
            modes=dict(found.totals.modes),
            passes=found.passes,
        )

    def as_dict(self) -> dict[str, Any]:
        passes = [
            {"lam": one.lam, "effort": one.effort, "bytes": one.bytes, "psnr": finite(one.psnr)}
            for one in self.passes
        ]
        return {**self._asdict(), "psnr": finite(self.psnr), "passes": passes}

    def text(self, verbose: bool) -> str:
        tiles = f"{self.tiles} tiles, " if self.tiles > 1 else ""
        line = (
            f"{output.shown_pair(self.input, self.output)}: {self.width}x{self.height}, "
            f"{kind_text(self.form, self.depth)}{tiles}"
            f"{self.input_bytes} -> {self.output_bytes} bytes, {self.bits_per_pixel:.3f} bpp, "
            f"{quality_text(self.psnr)}, {self.seconds:.2f} s, backend {self.backend}"
        )
        if self.passes:
            line += f", lambda {self.lam:g}, {len(self.passes)} passes"
        line += ", verified" if self.verified else ""
        if not verbose:
            return line
        pieces = [f"{self.leaves} leaves"] if self.leaves else []
        if count := sum(self.blocks.values()):
            counts = f"{_counts_text(self.blocks)}; {_counts_text(self.modes)}"
            pieces.append(f"{count} blocks ({counts})")
        return f"{line}\n  {', '.join(pieces)}; bits: {_counts_text(self.bits)}"


def _counts_text(counts: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {count:.0f}" for name, count in counts.items())


def encode(
    inputs: options.Pictures,
    out: options.Output = None,
    folder: options.Folder = None,
    lam: options.Lambda = None,
    quality: options.Quality = None,
    lossless: options.Lossless = False,
    target_size: options.TargetSize = None,
    target_bpp: options.TargetBpp = None,
    target_psnr: options.TargetPsnr = None,
    fast: options.Fast = False,
    best: options.Best = False,
    preset: options.Preset = None,
    effort: options.Effort = None,
    partition: options.PartitionName = None,
    dictionary_limit: options.DictionaryLimit = None,
    rate_model: options.RateModel = None,
    denoise: options.Denoise = None,
    depth: options.Depth = None,
    strip: options.Strip = None,
    tile: options.TileSize = 0,
    max_samples: options.MaxSamples = options.DEFAULT_LIMITS.max_samples,
    max_dimension: options.MaxDimension = options.DEFAULT_LIMITS.max_dimension,
    backend: options.EncodingBackend = "auto",
    threads: options.Threads = None,
    jobs: options.Jobs = 1,
    force: options.Force = False,
    skip_existing: options.SkipExisting = False,
    update: options.Update = False,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Decode and compare before the file is written.",
            rich_help_panel=RUNNING,
        ),
    ] = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> ExitCode:
    """Encode pictures to mmp files.

    Pictures are gray or in colour, of 1 to 16 bits, with alpha and metadata. The output is IN with
    the suffix .mmp, unless -o or -O names another. Give at most one of --lambda, --quality,
    --lossless and the three targets; a target holds for each file. Alpha is always lossless. With
    --denoise, PSNR compares with the filtered picture. With --tile, a picture can be larger than
    memory if it is NPY, TIFF, or binary PGM, PPM or PAM.
    """
    from mmpcodec.metadata import Metadata

    if quiet and verbose:
        raise ParameterError("--quiet and --verbose: give only one of them")
    if denoise is not None:
        check_median_radius(denoise, "denoise")
    if depth is not None:
        check_int("depth", depth, 1, MAX_DEPTH)
    check_tile_size(tile)
    Metadata().without(*(strip or ()))
    limits = options.limits_of(max_samples, max_dimension)
    rate = RateOptions(lossless, lam, quality, target_size, target_bpp, target_psnr)
    search = SearchOptions(fast, best, preset, effort, rate_model)
    params, target, remarks = wanted(
        rate, search, partition=partition, dictionary_limit=dictionary_limit
    )
    existing = Existing.of(force, skip_existing, update)
    files = plan(inputs, PICTURE.without(".mmp"), ".mmp", out=out, folder=folder, existing=existing)
    output.check_mmp(out)

    from mmpcodec import backends

    to_stderr = any(job.target == STANDARD for job in files)
    printer = Printer(as_json, quiet, verbose, to_stderr)
    for remark in remarks:
        printer.note(remark)

    def show_pass(job: Job, number: int, found: "Pass") -> None:
        if verbose:
            printer.note(
                f"{job.name}: pass {number}: lambda {found.lam:g}, effort {found.effort}, "
                f"{found.bytes} bytes, {quality_text(found.psnr)}"
            )

    to_do = [job for job in files if job.to_do]
    # The sizes of the pictures matter only if "auto" can choose a device.
    work_counts = backends.depends_on_work(backend)
    chosen = backends.get(backend, work_of(to_do) if work_counts else 0, params.tools)
    threads = threads or (1 if jobs > 1 else None)
    at_once = jobs
    setting = Setting(params, chosen.name, threads, denoise, depth, strip or (), tile, limits)
    source: Encodings = OneByOne(setting)
    if target is not None:
        source = ToTarget(setting, target, show_pass)
    elif chosen.batches and len(to_do) > 1 and not tile:
        source, at_once = InGroups(setting, to_do), 1
    by_tiles = tile and target is None and denoise is None

    def work(job: Job, progress: run.JobProgress) -> Encoded:
        assert job.target is not None
        # Standard output cannot be taken back if verification fails.
        unverified = verify and job.target == STANDARD
        if by_tiles and job.source != STANDARD and not unverified:
            found = encode_by_tiles(job, setting, progress, verify=verify)
        else:
            found = source.of(job, progress)
            assert found.encoding is not None
            if verify:
                check_decodes(found.encoding, progress)
            output.write(job.target, found.encoding.data, force=job.overwrite)
        return Encoded.of(job, found, verify)

    if verbose:
        printer.note(f"backend {chosen.name}: {chosen.describe()}")
        for each in params.each_alone() if target is None else ():
            printer.note(f"lambda {params.lam:g}, {tools_text(each.coded_tools)}")
    return run.run(files, work, printer, at_once=at_once)


def check_decodes(encoding: "Encoding", progress: run.JobProgress) -> None:
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
