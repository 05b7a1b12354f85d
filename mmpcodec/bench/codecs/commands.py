"""External programs as codecs, run by command line templates from a TOML file.

::

    [openjpeg]
    encode = "opj_compress -i {input} -o {coded} -r {point}"
    decode = "opj_decompress -i {coded} -o {output}"
    points = [80, 40, 20, 10]
    knob = "ratio"           # optional, as are the suffixes of the files
    suffixes = { input = ".pgm", coded = ".j2k", output = ".pgm" }

Without suffixes, pictures pass as .pgm for gray, .ppm for RGB and .pam with alpha.
"""

import shlex
import subprocess
import tempfile
import tomllib
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from string import Formatter
from typing import Any

import numpy as np

from mmpcodec import pictures
from mmpcodec.bench.codecs.base import GRAY, Codec, SampleKind, operating_points
from mmpcodec.errors import MmpError, ParameterError
from mmpcodec.samples import Form

CODED = ".bin"
SUFFIXES = ("input", "coded", "output")
PICTURES = {Form.GRAY: ".pgm", Form.RGB: ".ppm"}
"""Suffix of the pictures of a form, .pam for the others."""
SECONDS = 600
"""Time limit of a program, in seconds."""

_FIELDS = {"encode": {"input", "coded", "point"}, "decode": {"coded", "output"}}
_KNOWN = ("encode", "decode", "points", "knob", "suffixes")


def commands(text: str, name: str = "commands", kind: SampleKind = GRAY) -> list[Codec]:
    """Return the codecs of a TOML file.

    Parameters
    ----------
    text : str
        Contents of the file: one table for each codec.
    name : str
        Name of the file in messages.
    kind : SampleKind
        Samples that the programs get.

    Raises
    ------
    ParameterError
        When the text is not TOML, or a table lacks a field or has an invalid one.
    """
    try:
        tables = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ParameterError(f"{name}: is not TOML: {error}") from error
    if not tables:
        raise ParameterError(f"{name}: holds no table; one a codec is needed")
    return [_command(f"{name}: [{codec}]", codec, table, kind) for codec, table in tables.items()]


def _command(where: str, codec: str, table: Any, kind: SampleKind) -> Codec:
    if not isinstance(table, dict) or set(table) - set(_KNOWN):
        raise ParameterError(f"{where}: must be a table of {', '.join(_KNOWN)}")
    for key, fields in _FIELDS.items():
        if _fields_of(table.get(key)) != fields:
            names = ", ".join(f"{{{field}}}" for field in sorted(fields))
            raise ParameterError(
                f"{where}: {key} = {table.get(key)!r}: must be a command line with {names}"
            )
    ladder = table.get("points")
    if not isinstance(ladder, list) or not ladder:
        raise ParameterError(f"{where}: points = {ladder!r}: must be a list of numbers")
    suffixes = table.get("suffixes", {})
    if not isinstance(suffixes, dict) or set(suffixes) - set(SUFFIXES):
        raise ParameterError(f"{where}: suffixes = {suffixes!r}: must name {', '.join(SUFFIXES)}")
    picture = PICTURES.get(kind.form, ".pam")
    suffixes = {"input": picture, "coded": CODED, "output": picture, **suffixes}
    pictures.format_of(f"x{suffixes['input']}")
    return Codec(
        name=codec,
        knob=str(table.get("knob", "point")),
        ladder=operating_points(f"{where}: points", "/".join(map(str, ladder))),
        settings=f"{table['encode']}; {table['decode']}",
        versions={"encode": table["encode"], "decode": table["decode"]},
        encode=partial(_encode, table["encode"], suffixes, kind),
        decode=partial(_decode, table["decode"], suffixes, kind),
        backend="program",
    )


def _fields_of(template: Any) -> set[str]:
    """Return the names in braces of a template; an empty set if the template is invalid."""
    if not isinstance(template, str):
        return set()
    try:
        return {name for _, name, _, _ in Formatter().parse(template) if name is not None}
    except ValueError:
        return set()


def _encode(
    template: str, suffixes: Mapping[str, str], kind: SampleKind, samples: np.ndarray, point: float
) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, f"input{suffixes['input']}")
        coded = Path(folder, f"coded{suffixes['coded']}")
        pictures.write(pictures.Picture(samples, kind.depth), source)
        _run(template, input=source, coded=coded, point=f"{point:g}")
        return _written(coded)


def _decode(
    template: str, suffixes: Mapping[str, str], kind: SampleKind, data: bytes
) -> np.ndarray:
    with tempfile.TemporaryDirectory() as folder:
        coded = Path(folder, f"coded{suffixes['coded']}")
        target = Path(folder, f"output{suffixes['output']}")
        coded.write_bytes(data)
        _run(template, coded=coded, output=target)
        picture = pictures.from_bytes(_written(target), target.name)
        if (picture.kind, picture.depth) != (kind.planes, kind.depth):
            raise MmpError(
                f"the program wrote {picture.kind} of {picture.depth} bits; must be {kind.planes} "
                f"of {kind.depth}"
            )
        return picture.samples


def _run(template: str, **values: Any) -> None:
    """Run a command line without a shell."""
    line = [part.format_map(values) for part in shlex.split(template)]
    try:
        done = subprocess.run(
            line, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False
        )
    except OSError as error:
        raise MmpError(f"{line[0]}: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise MmpError(f"{line[0]}: took more than {SECONDS} s") from error
    if done.returncode:
        said = (done.stderr or done.stdout).decode(errors="replace").splitlines()
        # Some programs draw boxes around messages: take the last line with letters or digits.
        words = [line.strip(" │|") for line in said if any(map(str.isalnum, line))]
        last = f": {words[-1]}" if words else ""
        raise MmpError(f"{line[0]}: exit code {done.returncode}{last}")


def _written(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise MmpError(f"the program did not write {path.name}: {error.strerror}") from error
