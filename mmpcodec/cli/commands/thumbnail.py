"""``mmp thumbnail``: draw a small PNG of a picture, for file managers."""

from typing import TYPE_CHECKING, Annotated

import typer

from mmpcodec.cli import options, output
from mmpcodec.cli.completion import files
from mmpcodec.cli.exits import ExitCode
from mmpcodec.cli.jobs import Job, check
from mmpcodec.errors import PictureError
from mmpcodec.limits import DecodeLimits
from mmpcodec.pictures import registry
from mmpcodec.runtime.files import LazyBytes

if TYPE_CHECKING:
    from mmpcodec.picture import Picture

MAX_SIDE = 4096


def thumbnail(
    picture: Annotated[
        str,
        typer.Argument(
            metavar="IN",
            help="The picture, of any format that `mmp encode` takes; - is standard input.",
            autocompletion=files(registry.suffixes()),
        ),
    ],
    out: Annotated[
        str,
        typer.Argument(
            metavar="OUT", help="The PNG file; is overwritten if it exists. - is standard output."
        ),
    ],
    size: Annotated[
        int,
        typer.Argument(
            metavar="SIZE", min=1, max=MAX_SIDE, help=f"Longest side, in pixels, 1 to {MAX_SIDE}."
        ),
    ],
    max_samples: options.MaxSamples = options.DEFAULT_LIMITS.max_samples,
    max_dimension: options.MaxDimension = options.DEFAULT_LIMITS.max_dimension,
    max_seconds: options.MaxSeconds = None,
) -> ExitCode:
    """Draw a small PNG of a picture.

    File managers call it: `mmp install-desktop` tells them. The picture is upright, as its EXIF
    says, or XMP if EXIF names no orientation. It has 8 bits a sample, and keeps alpha and ICC
    profile. A small picture is not enlarged. Of an mmp file with levels, the smallest one that is
    large enough is decoded.
    """
    limits = options.limits_of(max_samples, max_dimension, max_seconds=max_seconds)
    check([Job(picture, out)], force=True)

    from mmpcodec import pictures
    from mmpcodec.analysis import thumbnail as drawings
    from mmpcodec.metadata import Metadata
    from mmpcodec.pictures.mmp import file as mmp

    name = output.shown(picture, "stdin")
    with output.read_by_parts(picture, limits.max_memory) as data:
        if registry.is_mmp(bytes(data[: registry.MAGIC_END]), name):
            source = data if isinstance(data, LazyBytes) else memoryview(data)
            found = mmp.at_least(source, size, name, limits)
        else:
            found = _first(bytes(data[:]), name, limits)
    drawn = pictures.Picture(drawings.thumbnail(found, size), 8, Metadata(icc=found.metadata.icc))
    output.write(out, pictures.to_bytes(drawn, "png"), force=True)
    return ExitCode.DONE


def _first(data: bytes, name: str, limits: DecodeLimits) -> "Picture":
    """Read the picture of a file of another format, or the first of several."""
    from mmpcodec import pictures

    try:
        return pictures.from_bytes(data, name, limits=limits)
    except PictureError:  # perhaps it has several frames
        return pictures.from_bytes(data, name, limits=limits, page=1)
