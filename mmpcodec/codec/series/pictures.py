"""Several pictures that are encoded to one file."""

import io
from collections.abc import Sequence
from fractions import Fraction
from numbers import Rational, Real
from typing import Any, TypeAlias, TypeGuard

from mmpcodec.checks import check_int
from mmpcodec.codec.series.chaining import add_chained, chained_files
from mmpcodec.errors import ParameterError
from mmpcodec.format.collection import Role
from mmpcodec.format.collection_writer import CollectionWriter
from mmpcodec.format.numbers import MOST
from mmpcodec.runtime.images import is_image
from mmpcodec.samples import SamplesLike

Number: TypeAlias = int | float | Fraction
NANOMETRES = 10**6
"""In a millimetre."""
_DENOMINATOR = 10**6
"""Largest denominator of a duration that is given as a float."""

Facts = tuple[Role, list[tuple[int, ...]], int]
"""Role, the numbers of each picture as ``collection.FACTS`` names them, and loops."""


def is_series(pictures: Any) -> TypeGuard[Sequence[SamplesLike]]:
    """Return whether these are several pictures: a list or tuple of arrays of two axes or more."""
    return (
        isinstance(pictures, list | tuple)
        and len(pictures) > 0
        and all(is_image(one) or len(getattr(one, "shape", ())) >= 2 for one in pictures)
    )


def facts_of_series(
    count: int,
    durations: Number | Sequence[Number] | None,
    positions: Sequence[Number] | None,
    loops: int | None,
) -> Facts:
    """Return what the pictures are, from the arguments of ``encode``.

    Raises
    ------
    ParameterError
        If they contradict each other, are not as many as the pictures, or out of range.
    """
    if durations is not None and positions is not None:
        raise ParameterError("durations and positions: give only one of them")
    if loops is not None and durations is None:
        raise ParameterError(f"loops = {loops!r}: needs durations, which frames have")
    if durations is not None:
        each = [durations] * count if isinstance(durations, Real) else list(durations)  # type: ignore[arg-type]
        _check_count("durations", each, count)
        facts: list[tuple[int, ...]] = [_duration(*pair) for pair in enumerate(each)]
        return Role.FRAME, facts, check_int("loops", loops or 0, 0, MOST)
    if positions is not None:
        places = list(positions)
        _check_count("positions", places, count)
        return Role.SLICE, [(_position(*pair),) for pair in enumerate(places)], 0
    return Role.PAGE, [()] * count, 0


def _check_count(name: str, values: Sequence[Any], count: int) -> None:
    if len(values) != count:
        raise ParameterError(f"{name}: has {len(values)} numbers for {count} pictures")


def _duration(number: int, value: Any) -> tuple[int, int]:
    try:
        found = Fraction(value)
        exact = isinstance(value, Rational)
        found = found if exact else found.limit_denominator(_DENOMINATOR)
    except (TypeError, ValueError, OverflowError):
        found = Fraction(-1)
    if not found >= 0 or found.numerator > MOST or found.denominator > MOST:
        raise ParameterError(
            f"durations[{number}] = {value!r}: must be a number of seconds, finite, from 0"
        )
    return found.numerator, found.denominator


def _position(number: int, value: Any) -> int:
    try:
        found = round(Fraction(value) * NANOMETRES)
    except (TypeError, ValueError, OverflowError):
        found = MOST
    if abs(found) > MOST // 2:
        raise ParameterError(
            f"positions[{number}] = {value!r}: must be a finite number of millimetres"
        )
    return found


def joined_series(
    files: Sequence[bytes],
    role: Role,
    facts: Sequence[tuple[int, ...]],
    loops: int,
    chain_pages: int = 1,
) -> bytes:
    """Return a file of several pictures from the files of each."""
    stream = io.BytesIO()
    writer = CollectionWriter(stream, loops=loops)
    for file, own in zip(chained_files(files, chain_pages), facts, strict=True):
        add_chained(writer, file, role, own)
    writer.close()
    return stream.getvalue()
