"""Size and time of 1-bit pages without loss, beside the codecs that are made for them.

    python scripts/bench/codec/bilevel.py FOLDER --out ROWS [--program NAME=PATH]...

Measures all pictures of one bit in FOLDER, and four made pictures, in one process after the other.
Writes a data file of docs/benchmarks to ROWS, and prints its tables as Markdown: bytes of whole
files with their ratio to cjb2, processor seconds of each page, and bytes of the made pictures with
their ratio to JBIG1. The mean of a column is over the pages that all codecs coded.

cjb2 and ddjvu are of DjVuLibre, pbmtojbg and jbgtopbm of JBIG-KIT, jbig2 is jbig2enc (from
https://github.com/agl/jbig2enc, made by ``g++ -O2 src/*.cc -llept``), jbig2dec decodes its files,
paq8px is from https://github.com/hxim/paq8px. A program is found on PATH, or where ``--program``
says. A codec that lacks a program is left out, and standard error says so. Symbol mode of jbig2enc
is not lossless, because it codes a glyph as a similar one; its lossless refinement does not work in
version 0.31. Pillow codes Group 4, all rows in one strip.

Seconds are those of the processor, with one thread: the least of three runs, or one run if it takes
2 s or more. Those of a program include its start, and reading and writing its files.
"""

import argparse
import io
import json
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import PIL
from PIL import Image

import mmpcodec
from mmpcodec import pictures
from mmpcodec.bench.codecs.base import machine
from mmpcodec.errors import MmpError

BENCH = Path(__file__).resolve().parents[1]
sys.path += [str(BENCH), str(BENCH / "measuring")]

from halftones import diffused, ordered  # noqa: E402
from pages import made  # noqa: E402

RUNS = 3
LONG_SECONDS = 2.0
EFFORTS = (1, 2, 6)
MADE_SIDE = 1000
PAGES, MADE = "pages", "made pictures"
"""Groups of rows."""
ANCHORS = {PAGES: "cjb2", MADE: "jbig1"}
"""Key of the codec whose bytes are 1 in the ratios of a group."""

VERSION_ARGUMENTS = {
    "cjb2": (),
    "pbmtojbg": ("-h",),
    "jbig2": ("-V",),
    "jbig2dec": ("--version",),
    "paq8px": (),
}
"""Arguments that make a program print its version."""

Row = dict[str, Any]


@dataclass(frozen=True)
class Page:
    """A picture of two values."""

    name: str
    ink: np.ndarray
    """(H, W) array of bool: True is black."""

    @property
    def pbm(self) -> bytes:
        """The bytes of a PBM file."""
        height, width = self.ink.shape
        return f"P4\n{width} {height}\n".encode() + np.packbits(self.ink, axis=1).tobytes()


@dataclass(frozen=True)
class Coded:
    """What a codec made of a page."""

    size: int
    """Bytes of the file."""
    encode_seconds: float
    decode_seconds: float
    decoded: np.ndarray
    """(H, W) array of bool: True is black."""


@dataclass(frozen=True)
class Codec:
    """A codec of 1-bit pages."""

    key: str
    """Start of the keys of its numbers in a row."""
    title: str
    code: Callable[[Page], Coded]
    programs: tuple[str, ...] = ()
    """Programs that it needs."""
    lossless: bool = True


def processor_seconds() -> float:
    """Return the processor seconds of this process and of the programs that it has run."""
    programs = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + programs.ru_utime + programs.ru_stime


def least(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the least processor seconds of some calls, and what the last one returned."""
    seconds: list[float] = []
    while len(seconds) < RUNS and max(seconds, default=0) < LONG_SECONDS:
        started = processor_seconds()
        result = work()
        seconds.append(processor_seconds() - started)
    return round(min(seconds), 5), result


def ours(page: Page, effort: int) -> Coded:
    # Lambda 0 is lossless; the preset is the default.
    encode = partial(mmpcodec.encode, ~page.ink, 0, effort=effort, backend="cpu", threads=1)
    encode_seconds, data = least(encode)
    decode_seconds, samples = least(partial(mmpcodec.decode, data, threads=1))
    return Coded(len(data), encode_seconds, decode_seconds, samples == 0)


def group4(page: Page) -> Coded:
    picture = Image.fromarray(~page.ink)

    def encode() -> bytes:
        file = io.BytesIO()
        picture.save(file, "TIFF", compression="group4", strip_size=page.ink.size)
        return file.getvalue()

    def decode() -> np.ndarray:
        return ~np.asarray(Image.open(io.BytesIO(data)))

    encode_seconds, data = least(encode)
    decode_seconds, decoded = least(decode)
    return Coded(len(data), encode_seconds, decode_seconds, decoded)


def by_programs(page: Page, paths: Mapping[str, str], encoder: str, decoder: str) -> Coded:
    """Code a page by two command lines, which name programs of ``paths`` and their files.

    Raises
    ------
    CalledProcessError
        If a program fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        names = {"input": "input.pbm", "coded": "coded", "output": "output.pbm"}
        Path(folder, names["input"]).write_bytes(page.pbm)

        def run(line: str) -> None:
            program, *arguments = line.split()
            # jbig2 writes its file to standard output.
            with Path(folder, "said" if "{coded}" in line else "coded").open("wb") as said:
                subprocess.run(
                    [paths[program], *(word.format_map(names) for word in arguments)],
                    cwd=folder,
                    stdin=subprocess.DEVNULL,
                    stdout=said,
                    stderr=subprocess.PIPE,
                    check=True,
                )

        encode_seconds, _ = least(partial(run, encoder))
        decode_seconds, _ = least(partial(run, decoder))
        decoded = pictures.read(str(Path(folder, names["output"]))).samples == 0
        size = Path(folder, names["coded"]).stat().st_size
    return Coded(size, encode_seconds, decode_seconds, decoded)


def all_codecs(paths: Mapping[str, str]) -> list[Codec]:
    """Return all codecs; ``paths`` has the paths of the programs that are there."""

    def programs(key: str, title: str, encoder: str, decoder: str, lossless: bool = True) -> Codec:
        code = partial(by_programs, paths=paths, encoder=encoder, decoder=decoder)
        return Codec(key, title, code, (encoder.split()[0], decoder.split()[0]), lossless)

    jbig2dec = "jbig2dec -t pbm -o {output} {coded}"
    return [
        *(Codec(f"mmp_{n}", f"mmp, effort {n}", partial(ours, effort=n)) for n in EFFORTS),
        programs(
            "cjb2", "cjb2", "cjb2 -lossless {input} {coded}", "ddjvu -format=pbm {coded} {output}"
        ),
        programs("jbig1", "JBIG1", "pbmtojbg -q {input} {coded}", "jbgtopbm {coded} {output}"),
        programs("jbig2", "JBIG2, generic", "jbig2 {input}", jbig2dec),
        programs("jbig2_s", "JBIG2, symbols, not lossless", "jbig2 -s {input}", jbig2dec, False),
        Codec("group4", "Group 4", group4),
        programs("paq8px", "paq8px -6", "paq8px -6 {input} {coded}", "paq8px -d {coded} {output}"),
    ]


def found(given: Sequence[str]) -> dict[str, str]:
    """Return the paths of programs by name: those given as NAME=PATH, and those on PATH."""
    names = dict.fromkeys(name for codec in all_codecs({}) for name in codec.programs)
    paths = {name: path for name in names if (path := shutil.which(name))}
    for each in given:
        name, _, path = each.partition("=")
        if name not in names or not shutil.which(path):
            raise SystemExit(f"--program {each}: must be a program, and one of {', '.join(names)}")
        paths[name] = str(Path(path).resolve())
    return paths


def available(paths: Mapping[str, str]) -> list[Codec]:
    """Return the codecs whose programs are there; name the others on standard error."""
    codecs = []
    for codec in all_codecs(paths):
        missing = [name for name in codec.programs if name not in paths]
        if missing:
            print(f"{codec.title} is left out: no program {missing[0]}", file=sys.stderr)
        else:
            codecs.append(codec)
    return codecs


def read_pages(folder: Path) -> Iterator[Page]:
    """Yield the 1-bit pictures of a folder by name; name other files on standard error."""
    for path in sorted(folder.iterdir()):
        try:
            picture = pictures.read(str(path))
        except (MmpError, OSError) as error:
            print(f"{path.name} is left out: {error}", file=sys.stderr)
            continue
        if picture.depth == 1 and picture.samples.ndim == 2:
            yield Page(path.stem, picture.samples == 0)
        else:
            print(f"{path.name} is left out: it is not of one bit a pixel", file=sys.stderr)


def clustered(gray: np.ndarray) -> np.ndarray:
    """Return two levels, by round dots that lie at 45 degrees, two in each 8x8 pixels."""
    rows, columns = np.indices((8, 8)) + 0.5
    heights = np.cos(np.pi * rows / 4) * np.cos(np.pi * columns / 4)
    order = heights.round(6).ravel().argsort(kind="stable").argsort(kind="stable").reshape(8, 8)
    limits = np.tile(4 * order + 2, [side // 8 + 1 for side in gray.shape])
    return gray > limits[: gray.shape[0], : gray.shape[1]]


def made_pages(side: int) -> Iterator[Page]:
    """Yield noise, and three halftones of a ramp with waves."""
    noise = np.random.default_rng(1).integers(0, 2, (side, side))
    yield Page("noise", noise == 0)
    rows, columns = np.indices((side, side)) / side
    waves = np.sin(19 * rows) * np.sin(13 * columns + 3 * rows)
    gray = (16 + 160 * columns + 56 * (waves.round(6) / 2 + 0.5)).astype(np.uint8)
    yield Page("ordered dither, 8x8", ordered(gray) == 0)
    yield Page("clustered dots, 45 degrees", ~clustered(gray))
    yield Page("error diffusion", diffused(gray) == 0)


def measured(page: Page, codecs: Sequence[Codec]) -> dict[str, Coded]:
    """Code a page by all codecs; name a program that fails on standard error.

    Raises
    ------
    ValueError
        If a lossless codec changes a pixel.
    """
    results = {}
    for codec in codecs:
        try:
            result = codec.code(page)
        except subprocess.CalledProcessError as error:
            said = error.stderr.decode(errors="replace").strip()[-200:]
            print(f"{page.name}: {codec.title} failed: {said}", file=sys.stderr)
            continue
        if codec.lossless and not np.array_equal(result.decoded, page.ink):
            raise ValueError(f"{page.name}: {codec.title} is not lossless")
        results[codec.key] = result
    return results


def rows_of(page: Page, group: str, results: Mapping[str, Coded]) -> list[Row]:
    """Return the rows of a page: bytes with their ratio to those of the anchor, and seconds."""
    height, width = page.ink.shape
    anchor = ANCHORS[group]
    about = {"group": group, "page": page.name}
    sizes: Row = {"run": "bilevel" if group == PAGES else "bilevel-made", **about}
    sizes |= {"size": f"{width}x{height}", "ink_percent": 100 * float(page.ink.mean())}
    times: Row = {"run": "bilevel-times", **about, "pixels_mp": page.ink.size / 1e6}
    for key, result in results.items():
        sizes[f"{key}_bytes"] = result.size
        if key != anchor and anchor in results:
            sizes[f"{key}_ratio"] = result.size / results[anchor].size
        times[f"{key}_encode_s"] = result.encode_seconds
        times[f"{key}_decode_s"] = result.decode_seconds
    if "jbig2_s" in results:
        sizes["jbig2_s_changed"] = int((results["jbig2_s"].decoded != page.ink).sum())
    return [sizes, times] if group == PAGES else [sizes]


def all_rows(folder: Path, codecs: Sequence[Codec]) -> Iterator[Row]:
    """Yield the rows of the pages of a folder, then those of the made pictures."""
    lossless = [codec for codec in codecs if codec.lossless]
    for page in read_pages(folder):
        print(page.name, file=sys.stderr, flush=True)
        yield from rows_of(page, PAGES, measured(page, codecs))
    for page in made_pages(MADE_SIDE):
        print(page.name, file=sys.stderr, flush=True)
        yield from rows_of(page, MADE, measured(page, lossless))


def columns_of_sizes(codecs: Sequence[Codec], group: str) -> dict[str, str]:
    """Return the headings of the columns of bytes and ratios of a group of rows."""
    anchor = ANCHORS[group]
    titles = {codec.key: codec.title for codec in codecs}
    columns = {"page": "page", "size": "pixels", "ink_percent": "black, %"}
    columns |= {f"{key}_bytes": f"{title}, bytes" for key, title in titles.items()}
    if anchor in titles:
        ratios = {key: title for key, title in titles.items() if key != anchor}
        columns |= {
            f"{key}_ratio": f"{title}, by {titles[anchor]}" for key, title in ratios.items()
        }
    if "jbig2_s" in titles:
        columns["jbig2_s_changed"] = "pixels that JBIG2, symbols, changes"
    return columns


def columns_of_times(codecs: Sequence[Codec]) -> dict[str, str]:
    """Return the headings of the columns of seconds."""
    columns = {"page": "page", "pixels_mp": "megapixels"}
    for codec in codecs:
        columns[f"{codec.key}_encode_s"] = f"{codec.title}, encode"
        columns[f"{codec.key}_decode_s"] = "decode"
    return columns


def software(paths: Mapping[str, str]) -> str:
    """Return the versions of the libraries and programs."""
    versions = [f"mmpcodec {mmpcodec.__version__}", f"Pillow {PIL.__version__}"]
    for name, arguments in VERSION_ARGUMENTS.items():
        if name in paths:
            done = subprocess.run([paths[name], *arguments], capture_output=True, check=False)
            said = (done.stdout + done.stderr).decode(errors="replace")
            version = re.search(r"\d+\.\d[\d.]*|\bv\d+", said)
            versions.append(f"{name} {version[0] if version else 'of unknown version'}")
    return ", ".join(versions)


def descriptions(codecs: Sequence[Codec], paths: Mapping[str, str]) -> list[Row]:
    """Return the descriptions of the runs: title, columns, command, date, hardware, software."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=BENCH
    )
    facts = {
        "command": "python scripts/bench/codec/bilevel.py FOLDER --out ROWS",
        "date": str(date.today()),
        "commit": commit.stdout.strip(),
        "hardware": machine(),
        "software": software(paths),
        "group": "group",
    }
    runs = {
        "bilevel": (
            "Bytes of whole files of 1-bit pages, and their ratio to cjb2",
            columns_of_sizes(codecs, PAGES),
        ),
        "bilevel-times": (
            "Processor seconds of 1-bit pages, one thread",
            columns_of_times(codecs),
        ),
        "bilevel-made": (
            "Bytes of whole files of made 1-bit pictures, and their ratio to JBIG1",
            columns_of_sizes([codec for codec in codecs if codec.lossless], MADE),
        ),
    }
    return [
        {"run": run, "what": what, **facts, "columns": columns}
        for run, (what, columns) in runs.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--program", action="append", default=[], metavar="NAME=PATH")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    paths = found(args.program)
    codecs = available(paths)
    heads = descriptions(codecs, paths)
    runs: dict[str, tuple[Row, list[Row]]] = {head["run"]: (head, []) for head in heads}
    with args.out.open("w") as out:
        for row in chain(heads, all_rows(args.folder, codecs)):
            if "what" not in row:
                runs[row["run"]][1].append(row)
            out.write(json.dumps(row) + "\n")
            out.flush()
    print("\n\n".join(made(name, runs) for name in runs))


if __name__ == "__main__":
    main()
