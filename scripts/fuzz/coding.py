"""Encode pictures of all kinds through Python, and decode what comes out.

    python scripts/fuzz/coding.py [--inputs N | --seconds S] [--seed S] [--jobs J] [--kinds tiles]
        [--out FOLDER]

Decoding must find the same with any number of threads, as a whole and in regions, and the source
where the coding is lossless; no number of threads may change a byte. Every eighth file is damaged,
and must then be refused. JPEG files, of the kind ``jpeg``, are kept, and must come back byte by
byte. A finding is printed with its recipe; ``--recipe "tiles 1 42"`` tries one.

The exit code is 1 if there are findings.
"""

import functools
import io
import time
from typing import Any

import kept_files
import numpy as np
import trial
import workers
from parts.choices import Choices
from parts.samples import picture

import mmpcodec
from mmpcodec import MmpError

JPEG = "jpeg"
KINDS = ("small", "tiles", "large", JPEG)
_MOST = {"small": 40, "tiles": 300, "large": 1500}
_PRESETS = ("auto", "photo", "text", "mixed", "lossless", "plain", "classic")
_DEEP = ("auto", "photo", "lossless")
_LARGE = ("photo", "lossless")
_LOSSY = ("photo", "mixed")
_LAMBDAS = (1, 8, 32, 100, 1000, 100_000)
_MOST_SECONDS = 60.0


def options_of(choices: Choices, kind: str, depth: int) -> dict[str, Any]:
    """Return the options of ``mmpcodec.encode`` but for the threads."""
    presets = _LARGE if kind == "large" else _DEEP if depth > 8 else _PRESETS
    preset = choices.choice(presets)
    return {
        "lam": choices.choice(_LAMBDAS if preset in _LOSSY else (0, 0, *_LAMBDAS)),
        "preset": preset,
        "effort": 1 if kind == "large" else choices.choice((1, 1, 1, 2, 3)),
        "tile_size": 0 if kind == "small" else choices.choice((0, 64, 64, 100, 256)),
        "depth": depth,
        "backend": "cpu",
    }


def importance(choices: Choices, shape: tuple[int, ...]) -> np.ndarray:
    """Return how much the pixels of a picture matter, in rectangles."""
    found = np.full(shape, choices.randint(-24, 24), np.int8)
    for _ in range(choices.choice((1, 5, 40))):
        row, column = choices.randrange(shape[0]), choices.randrange(shape[1])
        found[row : row + choices.side(), column : column + choices.side()] = choices.randint(
            -24, 24
        )
    return found


@functools.lru_cache(maxsize=1)
def coded(recipe: str) -> tuple[np.ndarray, dict[str, Any], bytes]:
    """Return the source, the options and the file of a recipe."""
    choices = Choices(recipe)
    kind = recipe.split()[0]
    samples, depth = picture(choices, _MOST[kind], kind != "large")
    options = options_of(choices, kind, depth)
    if options["preset"] in _LOSSY and choices.once_in(2):
        options["roi"] = importance(choices, samples.shape[:2])
    return samples, options, mmpcodec.encode(samples, threads=choices.randint(1, 4), **options)


def fault_of(recipe: str) -> str:
    """Return what is wrong with a recipe's file, or ""."""
    if recipe.split()[0] == JPEG:
        return kept_files.fault_of(recipe)
    samples, options, data = coded(recipe)
    choices = Choices(f"{recipe} checks")
    height, width = samples.shape[:2]
    threads = choices.randint(1, 8)
    found = mmpcodec.decode(data, threads=threads)
    if found.shape != samples.shape or found.dtype != samples.dtype:
        return f"decodes to {found.dtype} of shape {found.shape}"
    lossless = options["lam"] == 0 or options["preset"] == "lossless"
    if lossless and not np.array_equal(found, samples):
        return "lossless coding loses"
    planes = samples.shape[2] if samples.ndim == 3 else 1
    if planes in (2, 4) and not np.array_equal(found[..., -1], samples[..., -1]):
        return "alpha is not exact"
    if choices.once_in(2) and not np.array_equal(mmpcodec.decode(data, threads=1), found):
        return "one thread decodes to other samples"
    row, column = choices.randrange(height), choices.randrange(width)
    rows, columns = choices.randint(1, height - row), choices.randint(1, width - column)
    part = mmpcodec.decode(data, region=(column, row, columns, rows), threads=threads)
    if not np.array_equal(part, found[row : row + rows, column : column + columns]):
        return "a region decodes to other samples"
    if choices.once_in(4) and mmpcodec.encode(samples, threads=1, **options) != data:
        return "threads change the file"
    if choices.once_in(4):
        stream = io.BytesIO()
        mmpcodec.imwrite(stream, found, format="png", depth=options["depth"])
        if not np.array_equal(mmpcodec.imread(stream.getvalue()), found):
            return "PNG changes the samples"
    if choices.once_in(8):
        return _undetected(choices, data)
    return ""


def _undetected(choices: Choices, data: bytes) -> str:
    """Change a bit or cut a file; return what is wrong if that is not found."""
    damaged = bytearray(data)
    damaged[choices.randrange(len(data))] ^= 1 << choices.randrange(8)
    for bad in (bytes(damaged), data[: choices.randrange(len(data))]):
        try:
            mmpcodec.decode(bad)
        except MmpError:
            continue
        return "a damaged file decodes"
    return ""


def tried(recipe: str, number: int) -> trial.Outcome:
    """Encode and decode the picture of a recipe."""
    start = time.process_time()
    kind, finding = "coded", ""
    try:
        finding = fault_of(recipe)
    except BaseException as error:
        kind, finding = type(error).__name__, trial.cause(error)
    seconds = time.process_time() - start
    if seconds > _MOST_SECONDS:
        finding = finding or "time"
    return trial.Outcome(kind, finding, 0, seconds)


def kept(recipe: str) -> bytes:
    """Return the file of a recipe: the one that is decoded, or the JPEG file that is kept."""
    return kept_files.source(recipe)[0] if recipe.split()[0] == JPEG else coded(recipe)[2]


def prepare(kind: str) -> None:
    """Import what is imported late."""
    tried(f"{kind} warm 1", 0)


if __name__ == "__main__":
    workers.main(
        workers.Entry(prepare, tried, kept),
        KINDS,
        __doc__.splitlines()[0],
        "kinds",
        "build/fuzz/coding",
    )
