"""Arguments and options that several commands share."""

from typing import Annotated

import typer

from mmpcodec.backends.registry import AUTO, names
from mmpcodec.params import DecodeLimits

DEFAULT_LIMITS = DecodeLimits()

Inputs = Annotated[list[str], typer.Argument(metavar="IN", help="Files; - is standard input.")]
Output = Annotated[
    str | None,
    typer.Option(
        "--output", "-o", metavar="OUT", help="Output of a single input; - is standard output."
    ),
]
Folder = Annotated[
    str | None, typer.Option("--output-dir", "-O", metavar="DIR", help="Folder for all outputs.")
]
Force = Annotated[bool, typer.Option("--force", "-f", help="Overwrite existing files.")]
BackendName = Annotated[
    str,
    typer.Option(
        "--backend",
        metavar="|".join((AUTO, *names())),
        help="Where to run; the result is the same. A named one never falls back to another.",
    ),
]
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=1, metavar="N", help="Files at a time.")]
Threads = Annotated[
    int | None,
    typer.Option(min=1, max=1024, metavar="N", help="Threads a picture; one where -j is above 1."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object a line.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]
SizeLimit = Annotated[
    int,
    typer.Option(
        "--size-limit",
        min=1,
        metavar="PIXELS",
        help="Largest picture to decode, counted in whole 16x16 fragments.",
    ),
]
DimensionLimit = Annotated[
    int,
    typer.Option("--dimension-limit", min=1, metavar="PIXELS", help="Longest side to decode."),
]
Radius = Annotated[
    int,
    typer.Option(
        "--radius",
        "-r",
        metavar="RADIUS",
        help="The square around a sample has 2 RADIUS + 1 rows and columns; 1 to 127.",
    ),
]
Denoise = Annotated[
    int | None,
    typer.Option(
        "--denoise", metavar="RADIUS", help="Take out specks first, as `mmp median` does."
    ),
]
Lambda = Annotated[
    float | None,
    typer.Option(
        "--lambda",
        "-l",
        help="Squared error worth one bit: larger is smaller; 0 is lossless; 32 if not given.",
    ),
]
Quality = Annotated[
    float | None,
    typer.Option(
        metavar="0..100",
        help="Lambda 4 (2^((100 - Q) / 10) - 1): at 100 0, lossless; at 90 4, 75 18.6, 50 124, "
        "0 4092.",
    ),
]
TargetSize = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Search lambda: the best file of at most so many bytes, 20kB, 1.5MiB, 90000.",
    ),
]
TargetBpp = Annotated[
    float | None, typer.Option(metavar="BITS", help="The same, in bits a pixel of the whole file.")
]
TargetPsnr = Annotated[
    float | None,
    typer.Option(metavar="DB", help="Search lambda: the smallest file of at least so many dB."),
]
Depth = Annotated[
    int | None,
    typer.Option(
        metavar="BITS",
        help="Bits of a sample, 1 to 16, where the file does not say: 12 for 12 bits in 16.",
    ),
]
AllowPartial = Annotated[
    bool,
    typer.Option("--allow-partial", help="Show bad tiles as 0 instead of giving up; exit 3."),
]
Strip = Annotated[
    list[str] | None,
    typer.Option(
        "--strip",
        metavar="KIND",
        help="Leave out metadata: all, icc, exif, xmp, resolution or text; may come again.",
    ),
]
TileSize = Annotated[
    int,
    typer.Option(
        "--tile",
        metavar="N",
        help="Code tiles of NxN pixels independently, N from 64: for regions and large pictures. "
        "0 is one tile.",
    ),
]
Preset = Annotated[
    str,
    typer.Option(
        metavar="auto|photo|text|mixed|exact|plain|classic",
        help="Set of coding tools; auto tries photo, text, mixed and exact, which loses nothing, "
        "and takes what costs least.",
    ),
]
Effort = Annotated[
    int,
    typer.Option(metavar="N", help="How hard to search with photo and mixed: 1 is quick, 9 best."),
]
Partition = Annotated[
    str | None, typer.Option(metavar="flexible|dyadic", help="Splits of a segment.")
]
DictionaryLimit = Annotated[
    int | None, typer.Option(metavar="N", help="Most elements of a scale, 256 to 65536.")
]
RateModel = Annotated[
    str, typer.Option(metavar="adaptive|log2", help="Rate of an index in the search.")
]
