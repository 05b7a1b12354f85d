"""``mmp compare``: measure the difference of two pictures."""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from mmpcodec.checks import check_int
from mmpcodec.cli import options, output
from mmpcodec.cli.completion import files
from mmpcodec.cli.encoding.sources import picture_of
from mmpcodec.cli.exits import ExitCode
from mmpcodec.cli.jobs import Job, check
from mmpcodec.depth import MAX_DEPTH
from mmpcodec.errors import ParameterError, PictureError
from mmpcodec.pictures import registry
from mmpcodec.runtime.files import STANDARD


def compare(
    a: Annotated[
        str,
        typer.Argument(
            metavar="A",
            help=f"The original picture: {options.READ}; - is standard input.",
            autocompletion=files(registry.suffixes()),
        ),
    ],
    b: Annotated[
        str,
        typer.Argument(
            metavar="B",
            help="The picture to compare with it.",
            autocompletion=files(registry.suffixes()),
        ),
    ],
    diff: Annotated[
        str | None,
        typer.Option(
            metavar="PNG", help="Draw the difference: gray where both agree, brighter where B is."
        ),
    ] = None,
    depth: options.Depth = None,
    max_samples: options.MaxSamples = options.DEFAULT_LIMITS.max_samples,
    max_dimension: options.MaxDimension = options.DEFAULT_LIMITS.max_dimension,
    force: options.Force = False,
    as_json: options.Json = False,
) -> ExitCode:
    """Measure how two pictures differ: PSNR, SSIM, largest error.

    MS-SSIM is shown for pictures that are large enough. Both pictures must have the same size,
    planes and level of white. Transparency is ignored.
    """
    limits = options.limits_of(max_samples, max_dimension)
    if depth is not None:
        check_int("depth", depth, 1, MAX_DEPTH)
    if a == b == STANDARD:
        raise ParameterError("-: only one of the two pictures can come from standard input")
    output.check_png("--diff", diff)
    if diff == STANDARD and as_json:
        raise ParameterError("--diff -: --json already writes to standard output")
    check([Job(a, diff), Job(b)], force=force)

    from mmpcodec import pictures
    from mmpcodec.analysis.drawings.error import ERROR_GAIN, draw_error
    from mmpcodec.analysis.drawings.levels import shown_range
    from mmpcodec.bench.metrics import measure

    names = [output.shown(name, "stdin") for name in (a, b)]
    first, second = (
        picture_of(file, name, depth, limits).without_alpha()
        for file, name in zip((a, b), names, strict=True)
    )
    for what, one, other in (
        ("size", size_text(first.samples.shape), size_text(second.samples.shape)),
        ("level of white", first.white, second.white),
    ):
        if one != other:
            hint = "; --depth gives the bits of a file that does not tell" * (what != "size")
            raise PictureError(
                f"{what} of {names[0]} is {one} and of {names[1]} {other}: must be equal{hint}"
            )
    quality = measure(first.samples, second.samples, white=first.white)
    if diff is not None:
        low, high = shown_range(first.samples, first.depth, first.metadata)
        gain = ERROR_GAIN * 255 / (high - low)
        drawn = draw_error(first.samples, second.samples, gain=gain)
        output.write(diff, pictures.to_bytes(drawn, "png"), force=force)
    if as_json:
        size = {"width": first.samples.shape[1], "height": first.samples.shape[0]}
        facts = {"a": a, "b": b, **size, "white": first.white, **asdict(quality)}
        print(json.dumps(facts | ({} if diff is None else {"diff": diff})))
    elif diff != STANDARD:
        similarity = {"SSIM": quality.ssim, "MS-SSIM": quality.ms_ssim}
        parts = ["equal" if quality.psnr is None else f"PSNR {quality.psnr:.2f} dB"]
        parts += [f"{name} {value:.5f}" for name, value in similarity.items() if value is not None]
        print(", ".join([*parts, f"largest error {quality.max_error} of {first.white}"]))
    return ExitCode.DONE


def size_text(shape: tuple[int, ...]) -> str:
    """Return the width, height and kind of samples of a shape, in words."""
    return f"{shape[1]}x{shape[0]} {'gray' if len(shape) == 2 else 'colour'}"
