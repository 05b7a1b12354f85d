"""One input: a picture file that is read, with its memory and time measured.

A finding is an exception that mmpcodec does not declare, memory or time above the limit, or memory
that ran out behind a declared error. The limits of memory belong to the ``LIMITS`` of the readers.
"""

import ctypes
import logging
import os
import re
import resource
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mmpcodec import DecodeLimits, MissingExtra, MmpError, inspect, pictures
from mmpcodec.format.collection import HEAD
from mmpcodec.pictures import exif, limits, registry
from mmpcodec.pictures.books.opening import opened_book

METADATA = 1 << 20
"""Most bytes of metadata while fuzzing: fewer than usual, so that a breach shows."""
MOST_MEMORY = 32 << 20
"""Most memory for an input, in bytes: 128 for each of ``LIMITS.max_samples``."""
LIMITS = DecodeLimits(max_samples=1 << 18, max_dimension=1 << 14, max_memory=MOST_MEMORY)
MEMORY_PER_BYTE = 24
"""Memory for each byte of the input, in bytes."""
MOST_SECONDS = 2.0
"""Most processor time for an input."""
ADDRESS_SPACE = 3 << 30
"""Address space of a process, in bytes, beyond what it has at first."""

_PACKAGE = os.path.join(os.path.dirname(pictures.__path__[0]), "")
_MMAP_THRESHOLD = -3
_TRIM_THRESHOLD = -1


class Outcome(NamedTuple):
    """What became of an input.

    Parameters
    ----------
    kind : str
        "read", or the name of the error's class.
    finding : str
        Cause of a finding; "" for none.
    memory : int
        Most memory, in bytes, that the process had beyond what it had before.
    seconds : float
        Processor time.
    """

    kind: str
    finding: str
    memory: int
    seconds: float


def prepare() -> None:
    """Prepare this process: bound its memory, and silence its libraries as ``mmp`` does."""
    warnings.simplefilter("ignore")
    logging.disable()
    limits.MAX_METADATA = exif.MAX_METADATA = METADATA
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):  # freed memory goes back to the system, so that peaks show
        libc.mallopt(_MMAP_THRESHOLD, 1 << 17)
        libc.mallopt(_TRIM_THRESHOLD, 1 << 17)
    space = _in_status("VmSize") + ADDRESS_SPACE
    resource.setrlimit(resource.RLIMIT_AS, (space, space))


def tried(data: bytes, number: int) -> Outcome:
    """Read a file; every fourth ``number`` by parts, and write every eighth as PNG and TIFF.

    Of an mmp file of several pictures, some are read, also behind damage; of others the last page
    of every fourth.
    """
    before = _start_of_peak()
    start = time.process_time()
    kind, finding = "read", ""
    try:
        picture = pictures.from_bytes(data, "input", limits=LIMITS)
        if number % 8 == 0:
            _written(picture)
    except MmpError as error:
        kind, finding = type(error).__name__, _hidden(error)
    except BaseException as error:
        kind, finding = type(error).__name__, cause(error)
    if number % 4 == 1 and not finding:
        finding = _by_parts(data)
    if data.startswith(HEAD) and not finding:
        finding = _by_pages(data)
    elif number % 4 == 2 and not finding and (row := registry.format_at(data)) and row.pages:
        finding = _last_page(data)
    seconds = time.process_time() - start
    memory = _peak() - before
    if memory > MOST_MEMORY + MEMORY_PER_BYTE * len(data):
        finding = finding or f"memory after {kind}"
    if seconds > MOST_SECONDS:
        finding = finding or f"time after {kind}"
    return Outcome(kind, finding, memory, seconds)


def _written(picture: pictures.Picture) -> None:
    for format in ("png", "tif"):
        try:
            pictures.to_bytes(picture, format)
        except MissingExtra:
            continue


def _by_pages(data: bytes) -> str:
    """Read pictures of a collection, and what is left of them; return the cause of a finding."""
    for page in (1, 2):
        try:
            inspect(data, decode=True, page=page, limits=LIMITS, allow_partial=True)
        except MmpError:
            continue
        except BaseException as error:
            return cause(error)
    return _last_page(data)


def _last_page(data: bytes) -> str:
    """Read the last page of a file of several pictures; return the cause of a finding."""
    try:
        with opened_book(data, limits=LIMITS) as book:
            book.read(len(book) - 1)
    except MmpError:
        return ""
    except BaseException as error:
        return cause(error)
    return ""


def _by_parts(data: bytes) -> str:
    """Read two parts of a file from a folder; return the cause of a finding."""
    row = registry.format_at(data)
    if row is None or not row.parts:
        return ""
    folder = "/dev/shm" if os.path.isdir("/dev/shm") else None
    try:
        with tempfile.NamedTemporaryFile(dir=folder) as file:
            file.write(data)
            file.flush()
            with pictures.opened(file.name, limits=LIMITS) as reader:
                for part in (slice(0, 9), slice(7, 40)):
                    found = reader.read(part, part)
                    if found.dtype not in (np.uint8, np.uint16) or not found.size:
                        return f"part of type {found.dtype} and shape {found.shape}"
    except MmpError as error:
        return _hidden(error)
    except BaseException as error:
        return cause(error)
    return ""


def _hidden(error: BaseException) -> str:
    """Return the cause of a declared error that hides a finding, or ""."""
    behind: BaseException | None = error
    while behind is not None:
        if isinstance(behind, (MemoryError, RecursionError, AssertionError, SystemError)):
            return f"behind {type(error).__name__}: {cause(behind)}"
        behind = behind.__cause__ or (None if behind.__suppress_context__ else behind.__context__)
    message = str(error)
    if "\n" in message or len(message) > 2000:
        return f"message of {len(message)} characters: {_plain(message)}"
    return ""


def cause(error: BaseException) -> str:
    """Return an exception and the place that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename.startswith(_PACKAGE)] or frames
    places = (
        f"{os.path.basename(frame.filename)}:{frame.name}" for frame in (*own[-1:], *frames[-1:])
    )
    shown = " > ".join(dict.fromkeys(places))
    return f"{type(error).__name__} in {shown}: {_plain(str(error))}"


def _plain(message: str) -> str:
    """Return the beginning of a message without numbers and odd characters, to sort by causes."""
    return re.sub(r"\d+", "N", ascii(message[:80]))


def _in_status(field: str) -> int:
    """Return a field of this process's status in bytes."""
    try:
        with open("/proc/self/status", "rb") as stream:
            found = re.search(rb"^%s:\s*(\d+) kB" % field.encode(), stream.read(), re.MULTILINE)
    except OSError:
        found = None
    if found is None:  # a system without it has only the most since the start
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    return int(found[1]) << 10


def _start_of_peak() -> int:
    """Begin to note the most memory; return the memory now."""
    try:
        with open("/proc/self/clear_refs", "wb") as stream:
            stream.write(b"5")
    except OSError:
        pass
    return _in_status("VmRSS")


def _peak() -> int:
    return _in_status("VmHWM")


def main() -> None:
    """Try the named files; the exit code is 1 if there are findings."""
    prepare()
    files = {path: Path(path).read_bytes() for path in sys.argv[1:]}
    for data in files.values():  # modules are imported before memory is measured
        for number in range(2):
            tried(data, number)
    outcomes = [(path, tried(data, number)) for path, data in files.items() for number in range(2)]
    for path, outcome in outcomes:
        print(path, *outcome)
    sys.exit(any(outcome.finding for _, outcome in outcomes))


if __name__ == "__main__":
    main()
