"""``mmp median``: specks out of pictures."""

import time
from dataclasses import asdict, dataclass
from typing import Any

from mmpcodec.cli import batch, options, output
from mmpcodec.cli.exits import ExitCode
from mmpcodec.cli.plan import Job, assign, check
from mmpcodec.cli.printing import Printer
from mmpcodec.params import check_median_radius

SUFFIX = ".median.png"


@dataclass(frozen=True)
class Filtered:
    """What filtering one picture came to."""

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
        return asdict(self)

    def text(self, verbose: bool) -> str:
        return (
            f"{output.shown_pair(self.input, self.output)}: {self.width}x{self.height}, "
            f"radius {self.radius}, {self.seconds:.2f} s, backend {self.backend}"
        )


def median(
    inputs: options.Inputs,
    radius: options.Radius,
    out: options.Output = None,
    folder: options.Folder = None,
    backend: options.BackendName = "auto",
    jobs: options.Jobs = 1,
    force: options.Force = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> ExitCode:
    """Replace each sample by the median of the square around it.

    That takes out specks and keeps edges. Reads PNG, TIFF, PGM, PPM and BMP, gray up to 16 bits and
    colours of 8, mmp files, and DICOM with the extra "dicom". Writes PNG, TIFF, PGM or PPM: IN with
    the suffix .median.png, unless -o or -O says otherwise. Levels stay as they are, but
    for PPM files of other white levels than 255; transparency is left out.
    """
    check_median_radius(radius)

    from mmpcodec import levels
    from mmpcodec.analysis.median import denoise
    from mmpcodec.errors import PictureError
    from mmpcodec.solvers import backends, rank_filter

    format = levels.format_of(out) if out not in (None, output.STANDARD) else "png"
    files = assign(inputs, SUFFIX, out=out, folder=folder, keep_extension=True)
    check(files, force=force)
    backends.operations(rank_filter.__name__, backend)

    def work(job: Job, progress: batch.Progress) -> Filtered:
        picture = levels.from_bytes(output.read(job.source), job.name)
        if picture.narrowed:
            raise PictureError(
                f"{job.name}: holds colours or transparency with 16 bits, which are read at 8; "
                "supported are gray of 1 to 16 bits and colours of 8"
            )
        started = time.perf_counter()
        samples = denoise(picture.samples, radius, backend=backend)
        seconds = time.perf_counter() - started
        data = levels.to_bytes(levels.Levels(samples, picture.white), format)
        assert job.target is not None
        output.write(job.target, data, force=force)
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
            backend="cpu" if backend == "auto" else backend,
        )

    to_stderr = any(job.target == output.STANDARD for job in files)
    return batch.run(files, work, Printer(as_json, quiet, False, to_stderr), at_once=jobs)
