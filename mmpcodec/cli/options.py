"""Arguments and options that several commands share, with their help texts and panels."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from mmpcodec.backends.registry import AUTO, names
from mmpcodec.cli.completion import files, lists, words
from mmpcodec.cli.help import LIMITS, MESSAGES, OUTPUT, PICTURES, RATE, RUNNING, SEARCH
from mmpcodec.errors import ParameterError
from mmpcodec.limits import DEFAULT_LIMITS as DEFAULT_LIMITS
from mmpcodec.limits import DecodeLimits
from mmpcodec.params import AUTO as AUTO_PRESET
from mmpcodec.params import BEST, EYE, PSNR, RATE_MODELS, TRIED, TUNES
from mmpcodec.pictures import registry
from mmpcodec.planning.quantities import parse_bytes
from mmpcodec.presets import DEFAULT_EFFORT, PRESETS
from mmpcodec.quality import DEFAULT_QUALITY
from mmpcodec.tools import Partition

BACKENDS = (AUTO, *names())
PRESET_NAMES = (AUTO_PRESET, BEST, *PRESETS)
PARTITIONS = tuple(one.name.lower() for one in Partition)

READ = registry.readable_text()
WRITTEN = tuple(suffix for row in registry.written().values() for suffix in row.suffixes)
EXTRAS = "Extras: " + ", ".join(
    f'"{extra}" for {registry.listed([r.title for r in registry.FORMATS if r.extra == extra])}'
    for extra in dict.fromkeys(row.extra for row in registry.FORMATS if row.extra)
)

Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="IN",
        help="mmp files, and folders of them; - is standard input.",
        autocompletion=files([".mmp"]),
    ),
]
Pictures = Annotated[
    list[str],
    typer.Argument(
        metavar="IN",
        help=f"Picture files ({READ}), and folders of them; - is standard input. {EXTRAS}.",
        autocompletion=files(registry.suffixes()),
    ),
]
Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="OUT",
        help="Output of a single input; - is standard output.",
        rich_help_panel=OUTPUT,
    ),
]


def picture_output(suffixes: Sequence[str]) -> Any:
    """Return the option of an output that may end in one of these suffixes."""
    return typer.Option(
        "--output",
        "-o",
        metavar="OUT",
        help=f"Output of a single input, {registry.listed(suffixes, 'or')}; - is standard output.",
        rich_help_panel=OUTPUT,
    )


PictureOutput = Annotated[str | None, picture_output(WRITTEN)]
Folder = Annotated[
    str | None,
    typer.Option(
        "--output-dir",
        "-O",
        metavar="DIR",
        help="Folder for all outputs; keeps the subfolders of input folders, and is made if it is "
        "missing.",
        rich_help_panel=OUTPUT,
    ),
]
AppendSuffix = Annotated[
    bool,
    typer.Option(
        "--append-suffix",
        help="Name outputs IN.SUFFIX, as IMG_1.heic.mmp, so that inputs that differ in their "
        "suffix have outputs of their own.",
        rich_help_panel=OUTPUT,
    ),
]
Force = Annotated[
    bool, typer.Option("--force", "-f", help="Overwrite existing files.", rich_help_panel=OUTPUT)
]
SkipExisting = Annotated[
    bool,
    typer.Option(
        "--skip-existing", help="Skip inputs whose output exists.", rich_help_panel=OUTPUT
    ),
]
Update = Annotated[
    bool,
    typer.Option(
        "--update",
        help="Skip inputs whose output exists and is not older than the input.",
        rich_help_panel=OUTPUT,
    ),
]
_WHERE = (
    f"Where to run: {registry.listed(BACKENDS, 'or')}. auto takes a backend that is available; a "
    "named one never falls back to another. Results are equal"
)
BackendName = Annotated[
    str,
    typer.Option(
        "--backend",
        metavar="NAME",
        help=f"{_WHERE}.",
        rich_help_panel=RUNNING,
        autocompletion=words(BACKENDS),
    ),
]
EncodingBackend = Annotated[
    str,
    typer.Option(
        "--backend",
        metavar="NAME",
        help=f"{_WHERE}. Exception: a backend with a search of its own, which `mmp doctor` names, "
        "writes other files.",
        rich_help_panel=RUNNING,
        autocompletion=words(BACKENDS),
    ),
]
Device = Annotated[
    str | None,
    typer.Option(
        "--device",
        metavar="N,...",
        help="CUDA devices to run on: all, or numbers such as 0,1; implies --backend cuda. Several "
        "devices share the pictures and their tiles. By default the current device.",
        rich_help_panel=RUNNING,
        autocompletion=words(("all", "0")),
    ),
]
Jobs = Annotated[
    int,
    typer.Option(
        "--jobs",
        "-j",
        min=1,
        metavar="N",
        help="Files, or pages of a book, to work on at a time.",
        rich_help_panel=RUNNING,
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=1024,
        metavar="N",
        help="Threads per picture; by default as many as pay, or 1 if -j is above 1.",
        rich_help_panel=RUNNING,
    ),
]


def metric_names() -> list[str]:
    """Return the names of the metrics."""
    from mmpcodec.bench.metrics import NAMES

    return list(NAMES)


Metrics = Annotated[
    str | None,
    typer.Option(
        "--metrics",
        metavar="NAME,...",
        help="Metrics to measure: psnr, ssim, ms-ssim, ssimulacra2, butteraugli, butteraugli-3, "
        "psnr-hvs-m, xpsnr, or all; by default the first three. Of Butteraugli, the largest error "
        "and its 3-norm, less is better. ICC profiles are ignored: pictures are taken as sRGB.",
        show_default=False,
        autocompletion=lists(lambda: [*metric_names(), "all"]),
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON object per line.", rich_help_panel=MESSAGES)
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print errors only.", rich_help_panel=MESSAGES)
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose", "-v", help="Print passes, tools and bits as well.", rich_help_panel=MESSAGES
    ),
]
MaxSamples = Annotated[
    int,
    typer.Option(
        "--max-samples",
        min=1,
        metavar="N",
        help="Largest picture, in samples: pixels times planes; 2^26 by default. An mmp file "
        "counts whole fragments of 16x16.",
        show_default=False,
        rich_help_panel=LIMITS,
    ),
]
MaxDimension = Annotated[
    int,
    typer.Option(
        "--max-dimension",
        min=1,
        metavar="N",
        help="Longest row or column of a picture, in pixels; 2^24 by default.",
        show_default=False,
        rich_help_panel=LIMITS,
    ),
]
MaxMemory = Annotated[
    str | None,
    typer.Option(
        "--max-memory",
        metavar="SIZE",
        help="Memory that decoding a file may need: 500MB, 2GiB, 90000 (bytes).",
        rich_help_panel=LIMITS,
    ),
]
MaxSeconds = Annotated[
    float | None,
    typer.Option(
        "--max-seconds",
        metavar="S",
        help="Time that decoding an mmp file may take, by an estimate; by default 1 s, and 10 ms "
        "for each byte beyond 1000.",
        rich_help_panel=LIMITS,
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
    max_seconds: float | None = None,
) -> DecodeLimits:
    """Return the limits that the options of a command set.

    Raises
    ------
    ParameterError
        If one is out of range.
    """
    memory = None if max_memory is None else parse_bytes("max_memory", max_memory)
    return DecodeLimits(max_samples, max_dimension, memory, max_seconds)


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
        help="First remove specks with a median filter, as `mmp median` does.",
        rich_help_panel=PICTURES,
    ),
]
Lambda = Annotated[
    float | None,
    typer.Option(
        "--lambda",
        "-l",
        metavar="NUMBER",
        help="Squared error that is worth one bit. A larger lambda gives a smaller file; 0 is "
        "lossless.",
        rich_help_panel=RATE,
    ),
]
Quality = Annotated[
    float | None,
    typer.Option(
        metavar="Q",
        help=f"Visible quality from 0 to 100, {DEFAULT_QUALITY:g} by default: the score of "
        "SSIMULACRA2 that is aimed at, by a prediction. 90 is without visible loss, 70 is high, 50 "
        "is medium, 100 is lossless. DICOM, NPY and calibrated pictures are lossless by default.",
        rich_help_panel=RATE,
    ),
]
TargetSize = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Search for the best file of at most this size: 20kB, 1.5MiB, 90000 (bytes).",
        rich_help_panel=RATE,
    ),
]
TargetBpp = Annotated[
    float | None,
    typer.Option(
        metavar="BITS",
        help="Search for the best file of at most this rate, in bits per pixel.",
        rich_help_panel=RATE,
    ),
]
TargetPsnr = Annotated[
    float | None,
    typer.Option(
        metavar="DB",
        help="Search for the smallest file of at least this PSNR, in dB.",
        rich_help_panel=RATE,
    ),
]
TargetSsimulacra2 = Annotated[
    float | None,
    typer.Option(
        "--target-ssimulacra2",
        metavar="S",
        help="Search for the smallest file of at least this SSIMULACRA2, from -100 to 100: no loss "
        "is seen from about 90 on, 70 is good, 50 fair; 100 is lossless.",
        rich_help_panel=RATE,
    ),
]
Depth = Annotated[
    int | None,
    typer.Option(
        metavar="BITS",
        help="Bits per sample, 1 to 16, if the file does not tell: 12 for 12 bits stored in 16.",
        rich_help_panel=PICTURES,
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="WHERE",
        help="Work on a Dask cluster: local (a process for each processor), cuda (one for each "
        "CUDA device), a scheduler's address such as tcp://host:8786, or its .json file.",
        rich_help_panel=RUNNING,
        autocompletion=words(("local", "cuda")),
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Processes of --cluster local or cuda.",
        rich_help_panel=RUNNING,
    ),
]
Batch = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="Inputs of a task of the cluster: 1 by default, up to 64 on CUDA devices.",
        rich_help_panel=RUNNING,
    ),
]
ManifestFile = Annotated[
    str | None,
    typer.Option(
        "--manifest",
        metavar="FILE",
        help="Note each input in FILE, a line of JSON each. The same command with the same FILE "
        "goes on with a run that was ended.",
        rich_help_panel=RUNNING,
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
        help="Metadata to leave out: all, icc, exif, xmp, resolution, text, colours or dicom. "
        "EXIF leaves its orientation. Can be repeated.",
        rich_help_panel=PICTURES,
        autocompletion=words(("all", *registry.ALL_METADATA, "colours", *registry.ON_REQUEST)),
    ),
]
TileSize = Annotated[
    int | None,
    typer.Option(
        "--tile",
        metavar="N",
        help="Code tiles of NxN pixels independently, N from 64; 0 is a single tile. Default: "
        "tiles of about 512 for photographs of more than a megapixel, else a single one.",
        rich_help_panel=SEARCH,
    ),
]
Lossless = Annotated[
    bool, typer.Option("--lossless", help="Lose nothing: --lambda 0.", rich_help_panel=RATE)
]
Fast = Annotated[
    bool,
    typer.Option(
        "--fast",
        help="Encode quickly: --effort 1, or --preset lossless if the file is lossless.",
        rich_help_panel=SEARCH,
    ),
]
Best = Annotated[
    bool,
    typer.Option(
        "--best",
        help="Make small files, however long it takes: --preset best --effort 9.",
        rich_help_panel=SEARCH,
    ),
]
Preset = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help=f"Set of coding tools: auto (default), {registry.listed(PRESET_NAMES[1:], 'or')}. "
        f"best keeps the best of {registry.listed(TRIED)}; auto tries those of them that a look at "
        "the samples recommends. lossless codes without loss with any lambda, quality or target.",
        rich_help_panel=SEARCH,
        autocompletion=words(PRESET_NAMES),
    ),
]
Effort = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Search effort of photo and mixed, from 1 (fastest) to 9 (smallest files); "
        f"{DEFAULT_EFFORT} by default. It also chooses the form of lossless samples: "
        "higher ones are slower to decode too.",
        rich_help_panel=SEARCH,
        autocompletion=words("123456789"),
    ),
]
Tune = Annotated[
    str | None,
    typer.Option(
        metavar="AIM",
        help=f"What is lost: {PSNR} for the least squared error, {EYE} for the least error that is "
        f"seen, which keeps texture. {AUTO_PRESET}, the default, is {EYE} for pictures of at most "
        "8 bits, but for DICOM and other calibrated ones, unless --lambda, --target-psnr or "
        f"--max-error is given; else it is {PSNR}.",
        rich_help_panel=SEARCH,
        autocompletion=words(TUNES),
    ),
]
Palette = Annotated[
    bool | None,
    typer.Option(
        "--palette/--no-palette",
        help="Draw text and flat areas of screens with a palette where this pays. By default with "
        f"--preset {AUTO_PRESET} and {BEST}.",
        rich_help_panel=SEARCH,
    ),
]
Roi = Annotated[
    str | None,
    typer.Option(
        "--roi",
        metavar="WHERE",
        help="Regions of interest, which are coded better: a gray picture that is bright there, "
        "rectangles x,y,width,height:..., or what `mmp highlight` wrote with --csv or --json.",
        rich_help_panel=SEARCH,
        autocompletion=files([".png", ".pgm", ".csv", ".json"]),
    ),
]
RoiSteps = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="How much better: the quantisation step is divided by 2^(N/4) in the regions. N is "
        "from -24 to 24, 4 by default; below 0 the regions are coded worse.",
        rich_help_panel=SEARCH,
    ),
]
MaxError = Annotated[
    str | None,
    typer.Option(
        "--max-error",
        metavar="N",
        help="Let no sample differ from its source by more than N samples, 0 to 32767, or by a "
        "number in the unit of the picture, such as 2HU; 0 is lossless. It needs --preset "
        "lossless, auto or best, and excludes targets and, above 0, --lossless.",
        rich_help_panel=RATE,
    ),
]
PartitionName = Annotated[
    str | None,
    typer.Option(
        "--partition",
        metavar="KIND",
        help="Allowed splits of a segment, flexible or dyadic; not for photo and lossless.",
        rich_help_panel=SEARCH,
        autocompletion=words(PARTITIONS),
    ),
]
DictionaryLimit = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Most elements of the dictionary of a scale, 256 to 65536; not for photo and "
        "lossless.",
        rich_help_panel=SEARCH,
    ),
]
RateModel = Annotated[
    str | None,
    typer.Option(
        metavar="MODEL",
        help="Rate of an index that the search assumes, adaptive (default) or log2; not for photo "
        "and lossless.",
        rich_help_panel=SEARCH,
        autocompletion=words(RATE_MODELS),
    ),
]
