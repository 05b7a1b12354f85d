"""``mmp encode``: pictures to mmp files."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mmpcodec.cli import batch, options, output
from mmpcodec.cli.encodings import Encodings, InGroups, OneByOne, work_of
from mmpcodec.cli.exits import ExitCode
from mmpcodec.cli.plan import Job, plan
from mmpcodec.cli.printing import Printer, tools_text
from mmpcodec.errors import MmpError
from mmpcodec.params import AUTO, EncodeParams, check_median_radius

if TYPE_CHECKING:
    import numpy as np

    from mmpcodec import Encoding


@dataclass(frozen=True)
class Encoded:
    """What encoding one picture came to; ``psnr`` in dB is None where nothing was lost."""

    input: str
    output: str
    width: int
    height: int
    input_bytes: int
    output_bytes: int
    bits_per_pixel: float
    psnr: float | None
    lam: float
    seconds: float
    backend: str
    verified: bool
    bits: dict[str, float]
    leaves: int
    blocks: dict[str, int]
    modes: dict[str, int]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def text(self, verbose: bool) -> str:
        quality = "lossless" if self.psnr is None else f"PSNR {self.psnr:.2f} dB"
        line = (
            f"{output.shown_pair(self.input, self.output)}: {self.width}x{self.height}, "
            f"{self.input_bytes} -> {self.output_bytes} bytes, {self.bits_per_pixel:.3f} bpp, "
            f"{quality}, {self.seconds:.2f} s, backend {self.backend}"
        )
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
    inputs: options.Inputs,
    out: options.Output = None,
    folder: options.Folder = None,
    lam: Annotated[
        float,
        typer.Option(
            "--lambda", "-l", help="Squared error worth one bit: larger is smaller; 0 is lossless."
        ),
    ] = 32.0,
    preset: options.Preset = AUTO,
    partition: options.Partition = None,
    dictionary_limit: options.DictionaryLimit = None,
    effort: options.Effort = 6,
    rate_model: options.RateModel = "adaptive",
    denoise: options.Denoise = None,
    backend: options.BackendName = "auto",
    threads: options.Threads = None,
    jobs: options.Jobs = 1,
    force: options.Force = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Decode and compare before the file appears.")
    ] = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Print more.")] = False,
) -> ExitCode:
    """Encode 8-bit gray PGM, PNG, TIFF or BMP pictures.

    The output is IN with the suffix .mmp, unless -o or -O says otherwise. With --denoise PSNR is
    that against the filtered picture.
    """
    if denoise is not None:
        check_median_radius(denoise, "denoise")
    params = EncodeParams.from_options(
        lam,
        preset=preset,
        rate_model=rate_model,
        effort=effort,
        partition=partition,
        dictionary_limit=dictionary_limit,
    )
    files = plan(inputs, ".mmp", out=out, folder=folder, force=force)

    from mmpcodec import backends

    # The pictures are looked at ahead only where that can matter.
    weighs = backend == "auto" and backends.may_use_device()
    chosen = backends.get(backend, work_of(files) if weighs else 0, params.tools)
    threads = threads or (1 if jobs > 1 else None)
    at_once = jobs
    source: Encodings = OneByOne(params, chosen.name, threads, denoise)
    if chosen.name == "cuda" and len(files) > 1:
        source, at_once = InGroups(params, chosen.name, threads, files, denoise), 1

    def work(job: Job, progress: batch.Progress) -> Encoded:
        found = source.of(job, progress)
        encoding, samples = found.encoding, found.samples
        trace = encoding.trace
        if verify:
            check_decodes(encoding, progress)
        assert job.target is not None
        output.write(job.target, encoding.data, force=force)
        height, width = samples.shape
        return Encoded(
            input=job.source,
            output=job.target,
            width=width,
            height=height,
            input_bytes=found.input_bytes,
            output_bytes=len(encoding.data),
            bits_per_pixel=8 * len(encoding.data) / samples.size,
            psnr=psnr(samples, encoding.samples),
            lam=params.lam,
            seconds=found.seconds,
            backend=encoding.backend,
            verified=verify,
            bits=trace.bits,
            leaves=sum(trace.leaves()),
            blocks={kind: int(table.sum()) for kind, table in trace.blocks().items()},
            modes=trace.modes(),
        )

    to_stderr = any(job.target == output.STANDARD for job in files)
    printer = Printer(as_json, quiet, verbose, to_stderr)
    if verbose:
        printer.note(f"backend {chosen.name}: {chosen.describe()}")
        for each in params.each_alone():
            printer.note(f"lambda {params.lam:g}, {tools_text(each.coded_tools)}")
    return batch.run(files, work, printer, at_once=at_once)


def check_decodes(encoding: "Encoding", progress: batch.Progress) -> None:
    """Decode what was encoded.

    Raises
    ------
    MmpError
        When that does not give the encoder's own reconstruction.
    """
    import numpy as np

    import mmpcodec

    try:
        decoded = mmpcodec.decode(encoding.data, progress=progress)
    except mmpcodec.FormatError as error:
        raise MmpError(f"verification failed, nothing was written: {error}") from error
    wrong = np.argwhere(decoded != encoding.samples)
    if len(wrong):
        row, column = wrong[0]
        raise MmpError(
            f"verification failed, nothing was written: {len(wrong)} samples differ, "
            f"the first in row {row}, column {column}"
        )


def psnr(original: "np.ndarray", decoded: "np.ndarray") -> float | None:
    """Peak signal-to-noise ratio of (H, W) uint8 arrays in dB, None where they are equal."""
    # Not scikit-image's: that takes longer to import than a picture takes to encode.
    difference = original.astype("int32") - decoded
    mean_square = float((difference * difference).mean())
    return 10 * math.log10(255**2 / mean_square) if mean_square else None
