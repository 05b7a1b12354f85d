"""``mmp decode``: mmp files to pictures."""

import time
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import typer

from mmpcodec.cli import batch, options, output
from mmpcodec.cli.exits import ExitCode
from mmpcodec.cli.plan import Job, plan
from mmpcodec.cli.printing import Printer
from mmpcodec.params import DecodeLimits

DEFAULT_FORMAT = "png"


@dataclass(frozen=True)
class Decoded:
    """What decoding one file came to."""

    input: str
    output: str
    width: int
    height: int
    input_bytes: int
    output_bytes: int
    format: str
    seconds: float
    backend: str

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def text(self, verbose: bool) -> str:
        return (
            f"{output.shown_pair(self.input, self.output)}: {self.width}x{self.height}, "
            f"{self.input_bytes} -> {self.output_bytes} bytes, {self.seconds:.2f} s, "
            f"backend {self.backend}"
        )


def decode(
    inputs: options.Inputs,
    out: options.Output = None,
    folder: options.Folder = None,
    format: Annotated[
        str | None,
        typer.Option(
            metavar="pgm|ppm|pam|png|tif|npy",
            help="Format of the output, if its name does not say.",
        ),
    ] = None,
    backend: options.BackendName = "auto",
    size_limit: options.SizeLimit = options.DEFAULT_LIMITS.max_pixels,
    dimension_limit: options.DimensionLimit = options.DEFAULT_LIMITS.max_dimension,
    threads: options.Threads = None,
    jobs: options.Jobs = 1,
    force: options.Force = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> ExitCode:
    """Decode mmp files to pictures.

    The output is IN with the suffix .png, unless -o, -O or --format says otherwise.
    """
    limits = DecodeLimits(size_limit, dimension_limit)

    import mmpcodec
    from mmpcodec import backends, pictures

    if format is not None:
        pictures.check_format(format)
    elif out is not None and out != output.STANDARD:
        format = pictures.format_of(out)
    chosen_format = format or DEFAULT_FORMAT
    files = plan(inputs, f".{chosen_format}", out=out, folder=folder, force=force)
    chosen = backends.get(backend)

    def work(job: Job, progress: batch.Progress) -> Decoded:
        data = output.read(job.source)
        started = time.perf_counter()
        found = mmpcodec.inspect(
            data,
            decode=True,
            limits=limits,
            backend=chosen.name,
            threads=threads or (1 if jobs > 1 else None),
            progress=progress,
        )
        seconds = time.perf_counter() - started
        samples, depth = found.samples, found.header.bit_depth
        assert samples is not None
        picture = pictures.to_bytes(pictures.Picture(samples, depth), chosen_format)
        assert job.target is not None
        output.write(job.target, picture, force=force)
        height, width = samples.shape[:2]
        return Decoded(
            input=job.source,
            output=job.target,
            width=width,
            height=height,
            input_bytes=len(data),
            output_bytes=len(picture),
            format=chosen_format,
            seconds=seconds,
            backend=chosen.name,
        )

    to_stderr = any(job.target == output.STANDARD for job in files)
    return batch.run(files, work, Printer(as_json, quiet, False, to_stderr), at_once=jobs)
