"""``mmp start``: train starts, the states from which the models of predicted blocks begin."""

from typing import Annotated

import typer

from mmpcodec.cli import options, output
from mmpcodec.cli.exits import ExitCode
from mmpcodec.cli.help import OUTPUT, Command
from mmpcodec.cli.inputs.folders import PICTURE
from mmpcodec.cli.jobs import check, inputs_together
from mmpcodec.cli.printing import Printer
from mmpcodec.cli.work import tell_left_out
from mmpcodec.start import SUFFIX

app = typer.Typer(
    name="start",
    help="Train starts for pictures of one kind.\n\n"
    "A start holds the states from which the models of predicted blocks begin.",
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def group() -> None:
    """Keep ``train`` a command of its own, although it is the only one."""


@app.command(cls=Command, name="train")
def train(
    inputs: options.Pictures,
    out: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help=f"File of the start, usually with the suffix {SUFFIX}.",
            rich_help_panel=OUTPUT,
        ),
    ],
    tile: Annotated[
        int,
        typer.Option(
            "--tile",
            metavar="N",
            help="Side of the parts whose beginnings count, 64 or more: that of the tiles or small "
            "pictures to be encoded.",
        ),
    ] = 256,
    max_samples: options.MaxSamples = options.DEFAULT_LIMITS.max_samples,
    max_dimension: options.MaxDimension = options.DEFAULT_LIMITS.max_dimension,
    max_seconds: options.MaxSeconds = None,
    threads: options.Threads = None,
    force: options.Force = False,
) -> ExitCode:
    """Train a start on pictures of one kind.

    `mmp encode --format 2 --start OUT` uses it. A decoder needs the same file, by --start or in a
    folder that the environment variable MMP_STARTS names.
    """
    limits = options.limits_of(max_samples, max_dimension, max_seconds=max_seconds)
    files, others = inputs_together(inputs, PICTURE)
    check([files[0]._replace(target=out)], force=force)

    from mmpcodec.planning.start_training import train_start

    samples = [output.read_picture(job.source, limits).samples for job in files]
    start = train_start(samples, tile_size=tile, threads=threads)
    output.write(out, start.file, force=force)
    print(f"{output.shown(out, 'stdout')}: start {start.name.hex()}, of {len(samples)} pictures")
    return ExitCode.PARTLY_FAILED if tell_left_out(others, Printer()) else ExitCode.DONE
