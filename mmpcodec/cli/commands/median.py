"""``mmp median``: filter pictures with a median, which removes specks."""

import time
from dataclasses import replace
from typing import Any, NamedTuple

from mmpcodec.analysis.denoise import check_median_radius
from mmpcodec.cli import options, output, run
from mmpcodec.cli.cluster.devices import implied, numbers_of, on_devices
from mmpcodec.cli.cluster.places import spread
from mmpcodec.cli.encoding import reading
from mmpcodec.cli.exits import ExitCode
from mmpcodec.cli.inputs.folders import PICTURE
from mmpcodec.cli.jobs import Existing, Job, plan
from mmpcodec.cli.printing import Printer
from mmpcodec.cli.work import JobProgress
from mmpcodec.runtime.files import STANDARD

SUFFIX = ".median.png"


class Filtered(NamedTuple):
    """The result of filtering one picture."""

    input: str
    output: str
    width: int
    height: int
    channels: int
    white: int
    radius: int
    format: str
    seconds: float
    backend: str

    def as_dict(self) -> dict[str, Any]:
        return self._asdict()

    def text(self, verbose: bool) -> str:
        return (
            f"{output.shown_pair(self.input, self.output)}: {self.width}x{self.height}, "
            f"radius {self.radius}, {self.seconds:.2f} s, backend {self.backend}"
        )


def median(
    inputs: options.Pictures,
    radius: options.Radius,
    out: options.PictureOutput = None,
    folder: options.Folder = None,
    page: reading.Page = None,
    max_samples: options.MaxSamples = options.DEFAULT_LIMITS.max_samples,
    max_dimension: options.MaxDimension = options.DEFAULT_LIMITS.max_dimension,
    max_seconds: options.MaxSeconds = None,
    backend: options.BackendName = "auto",
    device: options.Device = None,
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
    """Remove specks from pictures with a median filter.

    Each sample becomes the median of the square window around it, which keeps edges. Pictures are
    gray or in colour, of 1 to 16 bits. The output is IN with the suffix .median.png, unless -o or
    -O names another. A message names the metadata that the output format cannot hold. Transparency
    is left out.
    """
    check_median_radius(radius)
    limits = options.limits_of(max_samples, max_dimension, max_seconds=max_seconds)

    from mmpcodec import pictures
    from mmpcodec.analysis.denoise import denoise
    from mmpcodec.solvers import dispatch, rank_filter

    format = pictures.format_of(out) if out not in (None, STANDARD) else "png"
    existing = Existing.of(force, skip_existing, update)
    backend = implied(backend, device)
    if cluster is None:  # else the workers choose
        backend = dispatch.resolved(rank_filter.__name__, backend)
    numbers = () if cluster else numbers_of(backend, device)

    def work(job: Job, progress: JobProgress) -> Filtered:
        picture = output.read_picture(job.source, limits, page).without_alpha()
        started = time.perf_counter()
        samples = denoise(picture.samples, radius, backend=backend)
        seconds = time.perf_counter() - started
        filtered = replace(picture, samples=samples)
        data = pictures.to_bytes(filtered, format)
        assert job.target is not None
        output.write(job.target, data, force=job.overwrite)
        if names := pictures.lost(filtered, format):
            progress.note(f"{job.name}: {format} cannot hold all of: {', '.join(names)}")
        height, width = samples.shape[:2]
        return Filtered(
            input=job.source,
            output=job.target,
            width=width,
            height=height,
            channels=samples[0, 0].size,
            white=picture.white,
            radius=radius,
            format=format,
            seconds=seconds,
            backend=dispatch.resolved(rank_filter.__name__, backend),
        )

    parameters = repr((radius, format, page))
    with spread("median", cluster, workers, batch, manifest, parameters, device, jobs) as place:
        files = plan(
            inputs,
            PICTURE.without(SUFFIX),
            SUFFIX,
            out=out,
            folder=folder,
            existing=existing,
            keep_extension=True,
            resumed=place.resumed,
        )
        printer = Printer(as_json, quiet, False, any(job.target == STANDARD for job in files))
        doing, at_once = on_devices(work, backend, numbers, jobs)
        return run.run(files, doing, printer, at_once=at_once, place=place)
