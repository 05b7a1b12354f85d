"""Size and time of lossless files, beside other codecs.

    python scripts/bench/lossless.py CLASS=PICTURE... --out ROWS [--jobs N] [--codecs NAME...]
    python scripts/bench/lossless.py table ROWS...
    python scripts/bench/lossless.py ratios ROWS...

The first command writes one JSON line for each picture and codec: bytes of the file, and processor
seconds to encode and to decode it with one thread, the least of three. The second prints the
rows of docs/benchmarks/data: for each class of pictures and codec, bits a sample and microseconds a
sample, of all samples of the class together. ``ratios`` in the place of ``table`` prints bytes by
those of JPEG XL at effort 9: geometric means of the pictures of each class, and how many files of
the default are larger than JPEG XL's, WebP's or PNG's. imagecodecs codes JPEG XL, JPEG-LS and WebP.

FLIF, OptiPNG and paq8px are programs on PATH, ``flif``, ``optipng`` and ``paq8px``; without its
program a codec is left out, and standard error says so. Version 0.4 of FLIF is from
https://github.com/FLIF-hub/FLIF, made by ``make -C src flif``; version 216 of paq8px, from
https://github.com/hxim/paq8px, is made by CMake, and needs 2.5 GB of memory at level 8. Their times
are those of the processes, with the files that pass between them. WebP, OptiPNG and paq8px take
pictures of 8 bits only.
"""

import argparse
import io
import json
import math
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import mmpcodec
from mmpcodec import pictures
from mmpcodec.bench.codecs.base import SampleKind
from mmpcodec.bench.codecs.commands import commands
from mmpcodec.depth import BYTE
from mmpcodec.presets import FORM_EFFORTS
from mmpcodec.samples import form_of

RUNS = 3
OPTIPNG = "OptiPNG, level 5"
SUMMIT = "paq8px, level 8"
EIGHT_BITS = ("WebP", "OptiPNG", "paq8px")
"""Codecs of 8 bits here: paq8px knows samples of 16 bits as bytes, and PNG has no 10 or 12 bits."""
PROGRAMS = """
[FLIF]
encode = "flif -e -Q100 -E{point} {input} {coded}"
decode = "flif -d {coded} {output}"
points = [60, 100]
knob = "effort"
suffixes = { coded = ".flif" }

["FLIF, not interlaced"]
encode = "flif -e -Q100 -N -E{point} {input} {coded}"
decode = "flif -d {coded} {output}"
points = [100]
knob = "effort"
suffixes = { coded = ".flif" }

[paq8px]
encode = "paq8px -{point} {input} {coded}"
decode = "paq8px -d {coded} {output}"
points = [8]
knob = "level"
"""
"""Programs as codecs, as ``mmpcodec.bench.codecs.commands`` describes them."""

Pair = tuple[Callable[[], Any], Callable[[Any], np.ndarray]]
"""Encodes a picture, and decodes its file."""


def ours(picture: pictures.Picture, effort: int) -> Pair:
    encode = partial(mmpcodec.encode, picture.samples, 0, depth=picture.depth, preset="lossless")
    return (
        partial(encode, effort=effort, threads=1),
        partial(mmpcodec.decode, threads=1),
    )


def jpegxl(picture: pictures.Picture, effort: int) -> Pair:
    import imagecodecs

    options: dict[str, Any] = {
        "lossless": True,
        "effort": effort,
        "bitspersample": picture.depth,
        "numthreads": 1,
    }
    encode = partial(imagecodecs.jpegxl_encode, picture.samples, **options)
    return encode, partial(imagecodecs.jpegxl_decode, numthreads=1)


def jpegls(picture: pictures.Picture) -> Pair:
    import imagecodecs

    return partial(imagecodecs.jpegls_encode, picture.samples), imagecodecs.jpegls_decode


def webp(picture: pictures.Picture) -> Pair:
    import imagecodecs

    samples = picture.samples
    if samples.ndim == 2:
        samples = np.dstack([samples] * 3)
    encode = partial(imagecodecs.webp_encode, samples, lossless=True, method=6, numthreads=1)
    return encode, partial(imagecodecs.webp_decode, hasalpha=False)


def optipng(picture: pictures.Picture) -> Pair:
    def encode() -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "picture.png")
            pictures.write(picture, path)
            subprocess.run(["optipng", "-quiet", "-o5", "-strip", "all", path], check=True)
            return path.read_bytes()

    return encode, lambda data: pictures.read(io.BytesIO(data)).samples


def by_program(picture: pictures.Picture, name: str, point: float) -> Pair:
    kind = SampleKind(form_of(picture.samples), picture.depth)
    codec = next(each for each in commands(PROGRAMS, kind=kind) if each.name == name)
    return partial(codec.encode, picture.samples, point), codec.decode


BY_PROGRAM = {
    f"{each.name}, {each.knob} {point:g}": (each, point)
    for each in commands(PROGRAMS)
    for point in each.ladder
}
"""Codecs that are programs, and their operating points."""
CODECS: dict[str, Callable[[pictures.Picture], Pair]] = {
    **{f"mmp, effort {effort}": partial(ours, effort=effort) for effort in FORM_EFFORTS},
    **{f"JPEG XL, effort {effort}": partial(jpegxl, effort=effort) for effort in (7, 9, 10)},
    "JPEG-LS": jpegls,
    "WebP, method 6": webp,
    OPTIPNG: optipng,
    **{
        label: partial(by_program, name=codec.name, point=point)
        for label, (codec, point) in BY_PROGRAM.items()
    },
}


def available(labels: Sequence[str]) -> list[str]:
    """Return the codecs whose programs are there; name the others on standard error."""
    found = []
    for label in labels:
        program = "optipng" if label == OPTIPNG else None
        if label in BY_PROGRAM:
            program = BY_PROGRAM[label][0].settings.split()[0]
        if program is None or shutil.which(program):
            found.append(label)
        else:
            print(f"{label} is left out: the program {program} is not on PATH", file=sys.stderr)
    return found


def processor_seconds() -> float:
    """Return the processor seconds of this process and of the programs that it has run."""
    programs = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + programs.ru_utime + programs.ru_stime


def least(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return what a call returns, and the least processor seconds of some calls."""
    seconds = []
    for _ in range(RUNS):
        started = processor_seconds()
        found = work()
        seconds.append(processor_seconds() - started)
        if seconds[0] > 20:
            break
    return found, min(seconds)


def measured(group: str, path: str, codec: str) -> dict[str, Any] | None:
    """Code a picture and return its row, or None if the codec cannot take it."""
    picture = pictures.read(path).without_alpha()
    if codec.startswith(EIGHT_BITS) and picture.depth > BYTE:
        return None
    encode, decode = CODECS[codec](picture)
    data, encoding = least(encode)
    decoded, decoding = least(partial(decode, data))
    shown = decoded[..., 0] if decoded.ndim > picture.samples.ndim else decoded
    if not np.array_equal(shown, picture.samples):
        raise ValueError(f"{path}: {codec} is not lossless")
    return {
        "class": group,
        "picture": Path(path).stem,
        "depth": picture.depth,
        "samples": picture.samples.size,
        "codec": codec,
        "bytes": len(data),
        "encode_s": encoding,
        "decode_s": decoding,
    }


def measure(args: argparse.Namespace) -> None:
    codecs = available(args.codecs)
    jobs = [(*each.split("=", 1), codec) for each in args.pictures for codec in codecs]
    with ProcessPoolExecutor(args.jobs) as pool, Path(args.out).open("a") as out:
        for task in as_completed([pool.submit(measured, *job) for job in jobs]):
            if row := task.result():
                out.write(json.dumps(row) + "\n")
                out.flush()


def rows_of(names: Sequence[str]) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Return the rows of files by class, then by codec."""
    found: dict[str, dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for line in (line for name in names for line in Path(name).read_text().splitlines()):
        row = json.loads(line)
        found[row["class"]][row["codec"]].append(row)
    return found


def key_of(codec: str) -> str:
    return codec.lower().replace(",", "").replace(" ", "_").replace("-", "_")


def table(names: Sequence[str]) -> None:
    """Print two rows for each class: bits a sample, and times, by codec."""

    def of_all(own: list[dict[str, Any]], key: str, unit: float) -> float:
        return round(unit * sum(row[key] for row in own) / sum(row["samples"] for row in own), 3)

    for group, codecs in sorted(rows_of(names).items()):
        pictures = len({row["picture"] for own in codecs.values() for row in own})
        rates: dict[str, Any] = {"run": "lossless", "class": group, "pictures": pictures}
        times: dict[str, Any] = {"run": "lossless-times", "class": group}
        for codec in (codec for codec in CODECS if codec in codecs):
            key = key_of(codec)
            rates[f"{key}_bits"] = of_all(codecs[codec], "bytes", 8)
            times[f"{key}_encode_us"] = of_all(codecs[codec], "encode_s", 1e6)
            times[f"{key}_decode_us"] = of_all(codecs[codec], "decode_s", 1e6)
        print(json.dumps(rates))
        print(json.dumps(times))


def mean_ratio(sizes: dict[str, int], anchor: dict[str, int]) -> float:
    """Return the geometric mean of the sizes of pictures by those of another codec."""
    logarithms = [math.log(size / anchor[name]) for name, size in sizes.items()]
    return round(math.exp(sum(logarithms) / len(logarithms)), 3)


def ratios(names: Sequence[str]) -> None:
    """Print a row for each class: bytes by those of JPEG XL, and which files are larger."""
    peers = ("JPEG XL, effort 9", "WebP, method 6", OPTIPNG)
    for group, codecs in sorted(rows_of(names).items()):
        sizes = {
            codec: {row["picture"]: row["bytes"] for row in own} for codec, own in codecs.items()
        }
        anchor, default = sizes[peers[0]], sizes["mmp, effort 2"]
        row: dict[str, Any] = {"run": "lossless-ratios", "class": group, "pictures": len(anchor)}
        for codec in (codec for codec in CODECS if codec in sizes and codec != peers[0]):
            row[f"{key_of(codec)}_ratio"] = mean_ratio(sizes[codec], anchor)
        if SUMMIT in sizes:
            row["summit_pictures"] = len(sizes[SUMMIT])
            row["summit_ratio"] = mean_ratio(sizes[SUMMIT], sizes["mmp, effort 6"])
        row["larger"] = [
            name
            for name, size in default.items()
            if size > min(sizes[peer][name] for peer in peers if name in sizes.get(peer, {}))
        ]
        print(json.dumps(row))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", nargs="+", metavar="CLASS=PICTURE, or table or ratios and ROWS")
    parser.add_argument("--out", default="rows.jsonl")
    parser.add_argument("--jobs", type=int, default=None)
    parser.add_argument("--codecs", nargs="*", default=list(CODECS))
    args = parser.parse_args()
    printed = {"table": table, "ratios": ratios}.get(args.pictures[0])
    if printed:
        printed(args.pictures[1:])
    else:
        measure(args)


if __name__ == "__main__":
    main()
