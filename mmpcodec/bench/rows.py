"""The fields of a result, as a line of ``results.jsonl`` holds them.

A folder of results may come from somebody else, so that each field that is read is checked: a row
names files, and a report shows it.
"""

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from mmpcodec.bench.metrics import METRICS
from mmpcodec.depth import BYTE
from mmpcodec.errors import MmpError
from mmpcodec.runtime.files import printable
from mmpcodec.samples import Form

Row = dict[str, Any]

EARLIER = {"form": Form.GRAY.title, "depth": BYTE, "backend": None}
"""Fields of rows without them: earlier versions measured 8-bit gray only."""
_SHA256 = re.compile(r"[0-9a-f]{64}")
_SUFFIX = re.compile(r"\.[a-z0-9]{1,16}")
_MOST = 1 << 62


class Field(NamedTuple):
    """What a field of a row may be.

    Parameters
    ----------
    allowed : callable
        ``allowed(value)`` tells whether a value is allowed.
    must : str
        What the value must be, in messages.
    """

    allowed: Callable[[Any], bool]
    must: str


def _whole(low: int, high: int = _MOST) -> Field:
    def allowed(value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high

    return Field(allowed, f"an integer from {low} to {high}")


def _is_number(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and -_MOST < value < _MOST


def _is_versions(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(each, str) for each in value.values())


def _matches(pattern: re.Pattern[str], must: str) -> Field:
    return Field(lambda value: isinstance(value, str) and bool(pattern.fullmatch(value)), must)


_TEXT = Field(lambda value: isinstance(value, str), "a text")
_NUMBER = Field(_is_number, "a number")
_POSITIVE = Field(lambda value: _is_number(value) and value > 0, "a number above 0")
_ALWAYS = {
    "picture": _matches(_SHA256, "64 hexadecimal digits"),
    "name": _TEXT,
    "width": _whole(1, 1 << 31),
    "height": _whole(1, 1 << 31),
    "codec": _TEXT,
    "knob": _TEXT,
    "point": _NUMBER,
    "versions": Field(_is_versions, "an object of texts"),
    "settings": _TEXT,
    "machine": _TEXT,
}
_MEASURED = {"bytes": _whole(1), "bpp": _POSITIVE, "max_error": _whole(0)}
"""Fields of rows without an error."""
_FAILED = {"error": _TEXT}
_MAYBE = {
    "form": _TEXT,
    "depth": _whole(1, 16),
    "white": _whole(1, (1 << 16) - 1),
    "backend": _TEXT,
    "suffix": _matches(_SUFFIX, "a point, then 1 to 16 small letters and digits"),
    "alpha_error": _whole(0),
    "encode_seconds": _NUMBER,
    "decode_seconds": _NUMBER,
    "encode_megapixels_per_second": _NUMBER,
    "decode_megapixels_per_second": _NUMBER,
    **dict.fromkeys(METRICS, _NUMBER),
}
"""Fields that a row may lack; all may be null."""


def row_of(line: bytes, place: str) -> Row | None:
    """Return the row of a line, or None if the line is torn or blank.

    Texts are made printable.

    Parameters
    ----------
    line : bytes
    place : str
        Name of the file and number of the line, for messages.

    Raises
    ------
    MmpError
        If a field is missing or wrong.
    """
    try:
        row = json.loads(line)
    except RecursionError:
        raise MmpError(f"{place}: is no result of a sweep") from None
    except ValueError:
        return None
    if not row or not isinstance(row, dict):
        return None
    needed = _ALWAYS | (_FAILED if "error" in row else _MEASURED)
    for name, field in needed.items():
        if name not in row:
            raise MmpError(f"{place}: {name}: is missing")
        _check(row, name, field, place)
    for name, field in _MAYBE.items():
        if row.get(name) is not None:
            _check(row, name, field, place)
    return {**EARLIER, **{name: _shown(value) for name, value in row.items()}}


def _check(row: Row, name: str, field: Field, place: str) -> None:
    if not field.allowed(row[name]):
        value = printable(repr(row[name])[:60])
        raise MmpError(f"{place}: {name} = {value}: must be {field.must}")


def _shown(value: Any) -> Any:
    if isinstance(value, dict):
        return {_shown(key): _shown(each) for key, each in value.items()}
    return printable(value) if isinstance(value, str) else value
