"""``mmp encode``: encode pictures to mmp files."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from mmpcodec.cli import options, output, run
from mmpcodec.cli.cluster.clients import CUDA
from mmpcodec.cli.cluster.connection import Connection
from mmpcodec.cli.cluster.devices import implied, on_devices
from mmpcodec.cli.cluster.places import spread
from mmpcodec.cli.encoding import reading
from mmpcodec.cli.encoding.by_tiles import encode_by_tiles, tiles_are_tasks
from mmpcodec.cli.encoding.choices import requested
from mmpcodec.cli.encoding.remarks import beside_inputs, few_levels, larger_than_source
from mmpcodec.cli.encoding.roi import check_jobs, with_roi
from mmpcodec.cli.encoding.sources import EncodedInput, InGroups, Setting, work_of
from mmpcodec.cli.exits import ExitCode
from mmpcodec.cli.help import RUNNING
from mmpcodec.cli.inputs.folders import PICTURE
from mmpcodec.cli.jobs import Existing, Job, plan
from mmpcodec.cli.printing import (
    Printer,
    counted,
    error_text,
    finite,
    kind_text,
    quality_text,
    rate_text,
    tools_text,
)
from mmpcodec.cli.work import JobProgress
from mmpcodec.depth import BYTE
from mmpcodec.errors import MmpError, ParameterError
from mmpcodec.limits import UNLIMITED
from mmpcodec.params import EncodeParams
from mmpcodec.runtime import stores
from mmpcodec.runtime.files import STANDARD

if TYPE_CHECKING:
    from mmpcodec import Encoding, Pass


class Encoded(NamedTuple):
    """The result of encoding one picture.

    ``lam`` is None with a maximal error, which takes the place of lambda; ``psnr`` is in dB,
    infinite for lossless; ``range`` are the levels of black and white to which it refers;
    ``max_error`` is the largest error of a sample, and ``error_text`` has it also in the unit of
    the picture; ``ssimulacra2`` is None without a target of it; ``spared`` tells whether the file
    is lossless because its samples are measurements; ``named`` is the backend that was asked for,
    ``backend`` that of the first layer; ``tools_left_out`` are the tools of the preset that
    the named backend lacks; ``bits``, ``leaves``, ``blocks`` and
    ``modes`` are summed over all layers.
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
    range: tuple[int, int]
    max_error: int
    error_text: str
    ssimulacra2: float | None
    spared: bool
    lam: float | None
    seconds: float
    backend: str
    named: str
    tools_left_out: list[str]
    verified: bool
    bits: dict[str, float]
    leaves: int
    blocks: dict[str, int]
    modes: dict[str, int]
    passes: "tuple[Pass, ...]"

    @classmethod
    def of(
        cls, job: Job, found: "Encoding", input_bytes: int, verified: bool, setting: Setting
    ) -> "Encoded":
        """Return the result of a job with this setting."""
        from mmpcodec.codec.candidates import left_out
        from mmpcodec.codec.distortion import psnr_of
        from mmpcodec.codec.levels import Levels

        assert job.target is not None
        header = found.header
        pixels = header.width * header.height
        spared = bool(setting.params.spared) and found.lam == 0
        params = setting.params.without_loss() if spared else setting.params
        named = setting.backend_for(params, header.depth)
        return cls(
            input=job.source,
            output=job.target,
            width=header.width,
            height=header.height,
            form=header.form.title,
            depth=header.depth,
            tiles=len(header.tile_bytes),
            input_bytes=input_bytes,
            output_bytes=found.size,
            bits_per_pixel=8 * found.size / pixels,
            psnr=psnr_of(found.distortion, pixels, header.depth),
            range=Levels.of(header).range,
            max_error=found.max_error,
            error_text=error_text(found.max_error, header.metadata.calibration),
            ssimulacra2=found.ssimulacra2,
            spared=spared,
            lam=None if params.max_error else found.lam,
            seconds=found.seconds,
            backend=found.backend,
            named=named,
            tools_left_out=left_out(params, named, header.depth),
            verified=verified,
            bits=dict(found.totals.bits),
            leaves=found.totals.leaves,
            blocks=dict(found.totals.blocks),
            modes=dict(found.totals.modes),
            passes=found.passes,
        )

    def as_dict(self) -> dict[str, Any]:
        passes = [
            {
                "lam": one.lam,
                "effort": one.effort,
                "bytes": one.bytes,
                "psnr": finite(one.psnr),
                "ssimulacra2": one.ssimulacra2,
            }
            for one in self.passes
        ]
        facts = self._asdict()
        del facts["error_text"], facts["named"]
        return {**facts, "psnr": finite(self.psnr), "passes": passes}

    def _loss_text(self) -> str:
        """Return the loss in words."""
        if self.spared:
            return "lossless, as measurements are without --quality, --max-error or a target"
        text = quality_text(self.psnr, self.ssimulacra2)
        if not self.max_error:
            return text
        if self.range != (0, (1 << self.depth) - 1):
            text += f" of levels {self.range[0]} to {self.range[1]}"
        return f"{text}, largest error {self.error_text}"

    def text(self, verbose: bool) -> str:
        tiles = f"{self.tiles} tiles, " if self.tiles > 1 else ""
        line = (
            f"{output.shown_pair(self.input, self.output)}: {self.width}x{self.height}, "
            f"{kind_text(self.form, self.depth)}{tiles}"
            f"{self.input_bytes} -> {self.output_bytes} bytes, {self.bits_per_pixel:.3f} bpp, "
            f"{self._loss_text()}, {self.seconds:.2f} s, "
            f"backend {self.backend}"
        )
        if self.tools_left_out:
            which = "which" if self.named == self.backend else self.named
            line += f", {which} lacks {counted(len(self.tools_left_out), 'tool')} of the preset"
        tells = self.lam is not None and (math.isfinite(self.psnr) or self.passes)
        line += f", lambda {self.lam:.4g}" if tells else ""
        line += f", {len(self.passes)} passes" if self.passes else ""
        line += ", verified" if self.verified else ""
        if not verbose:
            return line
        pieces = [f"{self.leaves} leaves"] if self.leaves else []
        if count := sum(self.blocks.values()):
            counts = f"{_counts_text(self.blocks)}; {_counts_text(self.modes)}"
            pieces.append(f"{count} blocks ({counts})")
        parts = [", ".join(pieces)] if pieces else []
        return f"{line}\n  {'; '.join([*parts, f'bits: {_counts_text(self.bits)}'])}"


def _counts_text(counts: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {count:.0f}" for name, count in counts.items())


@dataclass(frozen=True)
class EncodeFiles:
    """Encodes the pictures of jobs to files; goes to the workers of a cluster as it is.

    Parameters
    ----------
    setting : Setting
    verify, verbose : bool
        Whether each file is decoded and compared; whether each pass of a target is reported.
    groups : InGroups or None
        Encodes the pictures of several jobs at once.
    devices : tuple of int
        Devices on which jobs run side by side, one on each.
    connection : Connection or None
        Its cluster encodes the tiles, in place of this process.
    """

    setting: Setting
    verify: bool = False
    verbose: bool = False
    groups: InGroups | None = None
    devices: tuple[int, ...] = ()
    connection: Connection | None = None

    @property
    def wants_many(self) -> bool:
        """Whether a task should hold many pictures, because a device encodes them at once."""
        from mmpcodec import backends

        tiled = self.setting.tile_size or self.setting.target is not None
        return not tiled and self.setting.backend in backends.on_devices()

    @property
    def parameters(self) -> str:
        """What decides about the bytes of the files, besides the pictures."""
        return repr(self.setting._replace(backend="", threads=None, device=None))

    def on(self, jobs: Sequence[Job]) -> "tuple[EncodeFiles, str]":
        """Choose the backend for jobs on this machine; also return a text about the backend."""
        from mmpcodec import backends
        from mmpcodec.codec.candidates import fitted

        setting = self.setting
        # The sizes of the pictures matter only if "auto" can choose a device.
        work = work_of(jobs) if backends.depends_on_work(setting.backend) else 0
        params = fitted(setting.params, setting.backend, BYTE)
        chosen = backends.get(setting.backend, work, params.tools)
        named = () if setting.device is None else backends.numbers_of(setting.device, chosen)
        several = len(jobs) > 1
        grouped = chosen.batches and several and not setting.tile_size and setting.target is None
        # The devices share each call of the encoder, or each job has one of them.
        shared, devices = ((), named) if several and not grouped else (named, named[:1])
        automatic = setting.backend == backends.AUTO
        setting = setting._replace(backend=chosen.name, device=shared or None, automatic=automatic)
        groups = InGroups(setting, jobs) if grouped else None
        text = f"backend {chosen.name}: {chosen.describe()}" if self.verbose else ""
        if self.verbose and named:
            text += f"; {'devices' if len(named) > 1 else 'device'} {', '.join(map(str, named))}"
        return replace(self, setting=setting, groups=groups, devices=devices), text

    def together(self, jobs: Sequence[Job]) -> "EncodeFiles":
        """Return what encodes these jobs on this machine, on a device many at once."""
        return self.on(jobs)[0]

    def __call__(self, job: Job, progress: JobProgress) -> Encoded:
        """Encode a picture and write the file."""
        assert job.target is not None
        # Standard output cannot be taken back if verification fails.
        unverified = self.verify and job.target == STANDARD
        by_tiles = self.by_tiles and _has_parts(job.source) and not unverified
        if self.connection is not None or by_tiles:
            found = encode_by_tiles(
                job, self.setting, progress, verify=self.verify, connection=self.connection
            )
            input_bytes = output.size_of(job.source)
        else:
            found, input_bytes = (self.groups or self).of(job, progress)
            if self.verify:
                check_decodes(found, progress)
            output.write(job.target, found.data, force=job.overwrite)
        lossless = not found.distortion
        if remark := larger_than_source(job, input_bytes, found.size, lossless=lossless):
            progress.note(remark)
        if remark := few_levels(job, found.header, found.max_error):
            progress.note(remark)
        return Encoded.of(job, found, input_bytes, self.verify, self.setting)

    def of(self, job: Job, progress: JobProgress) -> EncodedInput:
        """Read and encode the picture of a job alone; say each pass of a target."""
        if self.setting.target is None:
            return self.setting.alone(self.setting.read(job), progress)
        numbers = count(1)

        def report(found: "Pass") -> None:
            number = next(numbers)
            if self.verbose:
                progress.note(
                    f"{job.name}: pass {number}: lambda {found.lam:g}, effort {found.effort}, "
                    f"{found.bytes} bytes, {quality_text(found.psnr, found.ssimulacra2)}"
                )
            progress.say(f"pass {number + 1}")

        progress.say("pass 1")
        return self.setting.alone(self.setting.read(job), progress, report)

    @property
    def by_tiles(self) -> bool:
        """Whether the tiles of a picture can be encoded one after the other."""
        return (
            bool(self.setting.tile_size)
            and self.setting.target is None
            and self.setting.denoise is None
        )


def encode(
    inputs: options.Pictures,
    out: options.Output = None,
    folder: options.Folder = None,
    append_suffix: options.AppendSuffix = False,
    lam: options.Lambda = None,
    quality: options.Quality = None,
    lossless: options.Lossless = False,
    target_size: options.TargetSize = None,
    target_bpp: options.TargetBpp = None,
    target_psnr: options.TargetPsnr = None,
    target_ssimulacra2: options.TargetSsimulacra2 = None,
    max_error: options.MaxError = None,
    fast: options.Fast = False,
    best: options.Best = False,
    preset: options.Preset = None,
    effort: options.Effort = None,
    tune: options.Tune = None,
    palette: options.Palette = None,
    roi: options.Roi = None,
    roi_steps: options.RoiSteps = None,
    partition: options.PartitionName = None,
    dictionary_limit: options.DictionaryLimit = None,
    rate_model: options.RateModel = None,
    denoise: options.Denoise = None,
    depth: options.Depth = None,
    range: reading.Range = None,
    page: reading.Page = None,
    strict: reading.Strict = False,
    strip: options.Strip = None,
    tile: options.TileSize = None,
    max_samples: options.MaxSamples = options.DEFAULT_LIMITS.max_samples,
    max_dimension: options.MaxDimension = options.DEFAULT_LIMITS.max_dimension,
    max_seconds: options.MaxSeconds = None,
    backend: options.EncodingBackend = "auto",
    device: options.Device = None,
    threads: options.Threads = None,
    jobs: options.Jobs = 1,
    force: options.Force = False,
    skip_existing: options.SkipExisting = False,
    update: options.Update = False,
    cluster: options.Cluster = None,
    workers: options.Workers = None,
    batch: options.Batch = None,
    manifest: options.ManifestFile = None,
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
    --lossless and the targets; a target holds for each file. Alpha is always lossless, and so are
    measurements (DICOM, NPY, calibrated pictures) unless one of these options is given. With
    --denoise, PSNR and SSIMULACRA2 compare with the filtered picture. With --tile, a picture can be
    larger than memory if it is NPY, TIFF, binary PGM, PPM or PAM, or a zarr store, which is a
    folder.
    """
    if quiet and verbose:
        raise ParameterError("--quiet and --verbose: give only one of them")
    reading.check_changes(denoise, depth, tile, strip or ())
    limits = options.limits_of(max_samples, max_dimension, max_seconds=max_seconds)
    (params, target), remarks = requested(locals())
    regions, params = with_roi(roi, roi_steps, params, limits, cluster, palette=palette)
    if cluster not in (None, CUDA):
        threads = threads or 1  # each thread of a worker has a picture of its own
    where, shared = implied(backend, device), device if cluster is None else None
    setting = Setting(params, where, threads, denoise, depth, strip or (), tile, limits, shared)
    setting = setting._replace(roi=regions, page=page, strict=strict, target=target)
    work = EncodeFiles(setting, verify, verbose)
    given = work.parameters, device, jobs
    with spread("encode", cluster, workers, batch, manifest, *given) as place:
        files = plan(
            inputs,
            PICTURE.without(".mmp")._replace(zarr=True),
            ".mmp",
            out=out,
            folder=folder,
            existing=Existing.of(force, skip_existing, update),
            keep_extension=append_suffix,
            resumed=place.resumed,
        )
        output.check_mmp(out)
        printer = Printer(as_json, quiet, verbose, any(job.target == STANDARD for job in files))
        notes_of(printer, remarks)
        to_do = [job for job in files if job.to_do]
        tiles_apart = place.cluster is not None and work.by_tiles and tiles_are_tasks(to_do)
        check_jobs(regions, sum(job.is_input for job in files), tiles_apart=tiles_apart)
        if place.cluster is not None and tiles_apart:
            here = place._replace(cluster=None)
            with Connection(place.cluster, printer, len(to_do)) as connection:
                work = replace(work, connection=connection)
                return run.run(files, work, printer, place=here, seen=connection.seen)
        if place.cluster is not None:
            return run.run(files, work, printer, place=place)
        setting = setting._replace(threads=threads or (1 if jobs > 1 else None))
        work, backend_text = replace(work, setting=setting).on(to_do)
        notes_of(printer, beside_inputs(inputs, files, folder))
        if verbose:
            notes_of(printer, [backend_text, *([] if target else settings_texts(params))])
        at_once = 1 if work.groups else jobs
        doing, at_once = on_devices(work, work.setting.backend, work.devices, at_once)
        return run.run(files, doing, printer, at_once=at_once, place=place)


def settings_texts(params: EncodeParams) -> list[str]:
    """Return rate and tools of each set of tools, in words."""
    ways = params.tuned(measured=False).each_alone()
    return [f"{rate_text(params)}, {tools_text(each.coded_tools)}" for each in ways]


def notes_of(printer: Printer, remarks: Sequence[str]) -> None:
    """Print remarks."""
    for remark in remarks:
        printer.note(remark)


def _has_parts(source: str) -> bool:
    """Return whether a source is a file of this machine, or a zarr store."""
    return source != STANDARD and (not stores.is_url(source) or stores.is_zarr(source))


def check_decodes(encoding: "Encoding", progress: JobProgress) -> None:
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
