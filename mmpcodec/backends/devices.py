"""The argument ``device``: which devices a backend runs on."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from mmpcodec.backends.registry import AUTO, check_name, on_devices
from mmpcodec.checks import check_int
from mmpcodec.errors import ParameterError

if TYPE_CHECKING:
    from mmpcodec.backends.base import Backend

ALL = "all"
DeviceLike: TypeAlias = int | str | Sequence[int]
"""A number, several numbers, or text: "all", "0", "0,1"."""


def for_device(name: str, device: DeviceLike) -> str:
    """Return the backend for some devices: the named one, for "auto" the first that has devices.

    Raises
    ------
    ParameterError
        When there is no backend of this name, or it runs on the processor.
    """
    check_name(name)
    having = on_devices()
    if name not in (AUTO, *having):
        raise ParameterError(
            f"device = {device!r}: has no effect on backend {name}, only on {', '.join(having)}"
        )
    return having[0] if name == AUTO else name


def numbers_of(device: DeviceLike, backend: "Backend") -> tuple[int, ...]:
    """Return the numbers of the devices that the argument ``device`` names.

    Parameters
    ----------
    device : int, str or sequence of int
        "all" names all devices.
    backend : Backend
        A backend that can run here.

    Raises
    ------
    ParameterError
        When the argument names no device, one that the machine lacks, or one twice.
    """
    return checked(device, backend.device_count(), backend.name.upper())


def checked(device: DeviceLike, count: int, kind: str) -> tuple[int, ...]:
    """Return the numbers that the argument ``device`` names, out of ``count`` devices of a kind.

    Raises
    ------
    ParameterError
        See ``numbers_of``.
    """
    if device == ALL:
        return tuple(range(count))
    given = device
    if isinstance(device, str):
        words = device.split(",")
        if not all(word.strip().isdecimal() for word in words):
            raise ParameterError(f"device = {device!r}: must be all, or numbers such as 0 or 0,1")
        given = [int(word) for word in words]
    listed = list(given) if isinstance(given, Sequence) else [given]
    note = f", the numbers of the {count} {kind} devices" if count > 1 else f", the {kind} device"
    numbers = tuple(check_int("device", number, 0, count - 1, note) for number in listed)
    if not numbers or len(set(numbers)) < len(numbers):
        raise ParameterError(f"device = {device!r}: must name at least one device, and none twice")
    return numbers
