"""Arguments and options that several commands share, with their help texts."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from mmpcodec.backends.registry import AUTO, names
from mmpcodec.errors import ParameterError
from mmpcodec.params import DEFAULT_EFFORT, DecodeLimits
from mmpcodec.pictures import registry
from mmpcodec.quantities import parse_bytes

DEFAULT_LIMITS = DecodeLimits()

READ = registry.readable_text()
WRITTEN = registry.listed([s for row in registry.written().values() for s in row.suffixes], "or")
EXTRAS = ", ".join(
    f'{row.title} needs the extra "{row.extra}"' for row in registry.FORMATS if row.extra
)

Inputs = Annotated[
    list[str],
    typer.Argument(metavar="IN", help="Files, and folders of .mmp files; - is standard input."),
]
Pictures = Annotated[
    list[str],
    typer.Argument(
        metavar="IN",
        help=f"Picture files ({READ}), and folders of them; - is standard input. {EXTRAS}.",
    ),
]
Output = Annotated[
    str | None,
    typer.Option(
        "--output", "-o", metavar="OUT", help="Output of a single input; - is standard output."
    ),
]
PictureOutput = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="OUT",
        help=f"Output of a single input, {WRITTEN}; - is standard output.",
    ),
]
Folder = Annotated[
    str | None,
    typer.Option(
        "--output-dir",
        "-O",
        metavar="DIR",
        help="Folder for all outputs, with the subfolders of the input folders; missing ones are "
        "made.",
    ),
]
Force = Annotated[bool, typer.Option("--force", "-f", help="Overwrite existing files.")]
SkipExisting = Annotated[
    bool, typer.Option("--skip-existing", help="Skip inputs whose output exists.")
]
Update = Annotated[
    bool,
    typer.Option(
        "--update",
        help="Skip inputs whose output exists, unless the output is older: make it again.",
    ),
]
BackendName = Annotated[
    str,
    typer.Option(
        "--backend",
        metavar="|".join((AUTO, *names())),
        help="Where to run. auto takes a backend that is available; a named backend never falls "
        "back to another. Results are equal, except files of a backend that `mmp doctor` lists "
        "with an own search.",
    ),
]
Jobs = Annotated[
    int, typer.Option("--jobs", "-j", min=1, metavar="N", help="Files to work on at a time.")
]
Threads = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=1024,
        metavar="N",
        help="Threads per picture; by default as many as pay, or 1 if -j is above 1.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]
MaxSamples = Annotated[
    int,
    typer.Option(
        "--max-samples",
        min=1,
        metavar="N",
        help="Largest picture to read, in samples: pixels times planes. An mmp file counts whole "
        "16x16 fragments.",
    ),
]
MaxDimension = Annotated[
    int,
    typer.Option(
        "--max-dimension",
        min=1,
        metavar="N",
        help="Longest row or column of a picture to read, in pixels.",
    ),
]
MaxMemory = Annotated[
    str | None,
    typer.Option(
        "--max-memory",
        metavar="SIZE",
        help="Refuse files that may need more memory to decode: 500MB, 2GiB, 90000 (bytes).",
    ),
]
MaxSamplesPerByte = Annotated[
    int | None,
    typer.Option(
        "--max-samples-per-byte",
        min=1,
        metavar="N",
        help="Refuse files with more samples for each of their bytes, which bounds the work that a "
        "small file can ask for.",
    ),
]


def check_alone(option: str, others: Mapping[str, Any]) -> None:
    """Check that options that contradict another one are not given.

    Parameters
    ----------
    option : str
        The option that is given.
    others : mapping
        Value of each option that contradicts it; None or False if not given.

    Raises
    ------
    ParameterError
        If one of the others is given.
    """
    for other, value in others.items():
        if value is not None and value is not False:
            raise ParameterError(f"{option} and {other}: give only one of them")


def limits_of(
    max_samples: int,
    max_dimension: int,
    max_memory: str | None = None,
    max_samples_per_byte: int | None = None,
) -> DecodeLimits:
    """Return the limits that the options of a command set.

    Raises
    ------
    ParameterError
        If one is out of range.
    """
    memory = None if max_memory is None else parse_bytes("max_memory", max_memory)
    return DecodeLimits(max_samples, max_dimension, memory, max_samples_per_byte)


Radius = Annotated[
    int,
    typer.Option(
        "--radius",
        "-r",
        metavar="RADIUS",
        help="The window has 2 RADIUS + 1 rows and columns; RADIUS is from 1 to 127.",
    ),
]
Denoise = Annotated[
    int | None,
    typer.Option(
        "--denoise",
        metavar="RADIUS",
        help="First remove specks with a median filter, as `mmp median`.",
    ),
]
Lambda = Annotated[
    float | None,
    typer.Option(
        "--lambda",
        "-l",
        help="Squared error that is worth one bit. A larger lambda gives a smaller file; 0 is "
        "lossless; 32 by default.",
    ),
]
Quality = Annotated[
    float | None,
    typer.Option(
        metavar="0..100",
        help="Sets lambda to 4 (2^((100 - Q) / 10) - 1): 100 is lossless, 90 is lambda 4, 75 is "
        "18.6, 50 is 124, 0 is 4092.",
    ),
]
TargetSize = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Search for the best file of at most this size: 20kB, 1.5MiB, 90000 (bytes).",
    ),
]
TargetBpp = Annotated[
    float | None,
    typer.Option(
        metavar="BITS", help="Search for the best file of at most this rate, in bits per pixel."
    ),
]
TargetPsnr = Annotated[
    float | None,
    typer.Option(metavar="DB", help="Search for the smallest file of at least this PSNR, in dB."),
]
Depth = Annotated[
    int | None,
    typer.Option(
        metavar="BITS",
        help="Bits per sample, 1 to 16, if the file does not tell: 12 for 12 bits stored in 16.",
    ),
]
AllowPartial = Annotated[
    bool,
    typer.Option(
        "--allow-partial",
        help="Fill damaged tiles with 0 instead of failing; the exit code is then 3.",
    ),
]
Strip = Annotated[
    list[str] | None,
    typer.Option(
        "--strip",
        metavar="KIND",
        help="Metadata to leave out: all, icc, exif, xmp, resolution or text; can be repeated.",
    ),
]
TileSize = Annotated[
    int,
    typer.Option(
        "--tile",
        metavar="N",
        help="Code tiles of NxN pixels independently, N from 64, for large pictures and to decode "
        "regions; 0 is a single tile.",
    ),
]
Lossless = Annotated[bool, typer.Option("--lossless", help="Lose nothing: --lambda 0.")]
Fast = Annotated[
    bool,
    typer.Option(
        "--fast",
        help="Encode quickly: --effort 1, or --preset exact if the file is lossless.",
    ),
]
Best = Annotated[
    bool,
    typer.Option(
        "--best",
        help="Make small files, however long it takes: --preset best --effort 9.",
    ),
]
Preset = Annotated[
    str | None,
    typer.Option(
        metavar="auto|best|photo|text|mixed|exact|plain|classic",
        help="Set of coding tools. best tries photo, text, mixed and exact, and keeps the one of "
        "the lowest rate-distortion cost. auto tries only those that a look at the samples "
        "recommends. exact is lossless with any lambda, quality or target. auto by default.",
    ),
]
Effort = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Search effort of photo and mixed, from 1 (fastest) to 9 (smallest files); "
        f"{DEFAULT_EFFORT} by default.",
    ),
]
Partition = Annotated[
    str | None,
    typer.Option(
        metavar="flexible|dyadic", help="Allowed splits of a segment; not for photo and exact."
    ),
]
DictionaryLimit = Annotated[
    int | None,
    typer.Option(
        metavar="N", help="Largest number of dictionary elements per scale, 256 to 65536."
    ),
]
RateModel = Annotated[
    str | None,
    typer.Option(
        metavar="adaptive|log2",
        help="Rate estimate of a dictionary index in the search; adaptive by default.",
    ),
]
