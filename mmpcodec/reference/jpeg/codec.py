"""A file that begins like a JPEG file, kept byte by byte in fewer bytes.

Source: section "Kept JPEG files" of ``docs/format/format.md``.
"""

import math
from itertools import pairwise

import numpy as np

from mmpcodec.errors import CorruptStream, TruncatedStream
from mmpcodec.reference.jpeg.bytes_coder import decode_bytes, encode_bytes
from mmpcodec.reference.jpeg.description import (
    SECTION,
    STRIPE_COST,
    Description,
    NumberReader,
    Numbers,
    most_parts,
    read_description,
)
from mmpcodec.reference.jpeg.levels.block import StripeComponent
from mmpcodec.reference.jpeg.levels.coder import decode_levels, encode_levels
from mmpcodec.reference.jpeg.picture import MOST_PASSES, JpegPicture, Stop, read_markers
from mmpcodec.reference.jpeg.scan import ScanDetails
from mmpcodec.reference.jpeg.scan_writer import write_scan_data
from mmpcodec.reference.jpeg.split import split

STRIPE_BYTES, MOST_STRIPES = 1536 << 10, 16
"""Bytes of scans for which a picture has a stripe more, and how many it has at most."""
BLOCK_COST = 2
"""What a block costs besides its levels, by which stripes are divided."""
WINDOW, MOST_BITS = 1 << 12, 7.9
"""Bytes of the rest are stored in parts of this size that need more bits a byte."""


def encode_file(data: bytes, form: int, most_level_bytes: int) -> bytes:
    """Return the payload of a file.

    Parameters
    ----------
    data : bytes
    form : int
        1 to 3.
    most_level_bytes : int
        That the levels of all pictures take; pictures beyond it are kept as bytes.

    Returns
    -------
    bytes
    """
    file = split(data, most_level_bytes)
    numbers = {start: number for number, start in enumerate(file.pictures)}
    scan_bytes, before = [0] * len(numbers), 0
    description = Description()
    for scan in file.scans:
        number = numbers[scan.picture]
        scan_bytes[number] += scan.size
        description.scans.append((number, scan.start - before, scan.details))
        before += scan.size
    levels, spare = [], file.level_bytes_left // STRIPE_COST
    for (start, picture), own_bytes in zip(file.pictures.items(), scan_bytes, strict=True):
        stripes, row = [], 0
        own_rows = _stripe_rows(picture, _used_rows(picture), own_bytes, spare + 1)
        spare -= max(len(own_rows), 1) - 1
        for rows in own_rows:
            levels.append(encode_levels(_stripe_of(picture, row, rows), form))
            stripes.append((rows, len(levels[-1])))
            row += rows
        description.pictures.append((start, stripes))
    description.stored = _stored_ranges(file.rest)
    coded, stored, place = description.to_bytes(), b"", 0
    for own_coded, own_stored in description.stored:
        coded += file.rest[place : place + own_coded]
        place += own_coded + own_stored
        stored += file.rest[place - own_stored : place]
    coded += file.rest[place:]
    is_short = len(coded) <= _most_coded_bytes(len(data))
    is_short &= len(description.scans) <= most_parts(len(data))
    payload, others = encode_bytes(coded) if is_short else b"", b"".join([stored, *levels])
    if not is_short or len(payload) + len(others) > len(data):
        coded = Description(stored=[(0, len(data))] if data else []).to_bytes()
        payload, others = encode_bytes(coded), data
    numbers_before = Numbers()
    numbers_before.add(len(coded), len(payload))
    return bytes(numbers_before.bytes) + payload + others


def _most_coded_bytes(file_size: int) -> int:
    """Return the most bytes of the description and the coded bytes of the rest."""
    return 2 * file_size + 1024


def _used_rows(picture: JpegPicture) -> int:
    """Return the number of MCU rows up to the last one with a level that is not 0."""
    used = 0
    for own in picture.components:
        rows = np.flatnonzero(own.levels.any((1, 2)))
        if len(rows):
            used = max(used, int(rows[-1]) // (own.rows // picture.mcu_rows) + 1)
    return used


def _costs(picture: JpegPicture, rows: int) -> list[int]:
    """Return what coding the rows of MCUs up to each one costs, as a number of levels not 0."""
    costs = np.zeros(rows + 1, int)
    for own in picture.components:
        down = own.rows // picture.mcu_rows
        of_rows = (
            np.count_nonzero(own.levels[: rows * down], axis=(1, 2)) + BLOCK_COST * own.columns
        )
        costs[1:] += of_rows.reshape(rows, down).sum(1)
    return [int(cost) for cost in costs.cumsum()]


def _stripe_rows(picture: JpegPicture, rows: int, scan_bytes: int, most: int) -> list[int]:
    """Divide rows among stripes of about equal costs: one, two or a multiple of four."""
    count = min(max(1, min(scan_bytes // STRIPE_BYTES, MOST_STRIPES)), most)
    count -= int(count == 3) if count < 4 else count % 4
    count = min(count, rows)
    if not count:
        return []
    costs, ends = _costs(picture, rows), [0]
    for number in range(1, count):
        end, last = ends[-1] + 1, rows - (count - number)
        while end < last and costs[end] * count < costs[-1] * number:
            end += 1
        ends.append(end)
    return [end - start for start, end in pairwise([*ends, rows])]


def _stripe_of(picture: JpegPicture, row: int, rows: int) -> list[StripeComponent]:
    """Return some MCU rows of the components; they share their levels."""
    stripe = []
    for own in picture.components:
        down = own.rows // picture.mcu_rows
        levels = own.levels[row * down : (row + rows) * down]
        stripe.append(StripeComponent(levels, own.steps, own.across, own.down))
    return stripe


def _stored_ranges(rest: bytes) -> list[tuple[int, int]]:
    """Return the parts of the rest that look like noise, as (coded before, stored)."""
    ranges: list[tuple[int, int]] = []
    coded = 0
    for start in range(0, len(rest) - WINDOW + 1, WINDOW):
        counts = np.bincount(np.frombuffer(rest[start : start + WINDOW], np.uint8), minlength=256)
        bits = -sum(int(n) * math.log2(n / WINDOW) for n in counts if n)
        if bits < MOST_BITS * WINDOW:
            coded += WINDOW
            continue
        if ranges and coded == 0:
            ranges[-1] = (ranges[-1][0], ranges[-1][1] + WINDOW)
        else:
            ranges.append((coded, WINDOW))
        coded = 0
    return ranges


def decode_file(payload: bytes, file_size: int, form: int, most_level_bytes: int) -> bytes:
    """Return the file of a payload.

    Parameters
    ----------
    payload : bytes
    file_size : int
        Bytes of the file.
    form : int
    most_level_bytes : int
        That the levels of all pictures take; more is an error.

    Returns
    -------
    bytes

    Raises
    ------
    TruncatedStream, CorruptStream
    """
    return _Joiner(payload, file_size, form, most_level_bytes).join()


def decode_front(payload: bytes, file_size: int, form: int, most_level_bytes: int) -> bytes:
    """Return the beginning of the file, up to the data of the first scan of its first picture.

    It has what the file says of this picture. The parameters are those of ``decode_file``.

    Raises
    ------
    TruncatedStream, CorruptStream
    """
    return _Joiner(payload, file_size, form, most_level_bytes).join_front()


class _Joiner:
    """Puts the parts of a file together again."""

    def __init__(self, payload: bytes, file_size: int, form: int, most_level_bytes: int):
        self._payload, self._file_size = payload, file_size
        self._form, self._level_bytes_left = form, most_level_bytes
        self._bytes = bytearray()
        self._scan_before = 0
        self._pictures: dict[int, tuple[JpegPicture, int]] = {}

    def join(self) -> bytes:
        """Return the file."""
        self._read_payload()
        for number, place, details in self._description.scans:
            self._take_rest_before(place)
            self._write_scan(number, details)
        self._take_rest(len(self._rest))
        if len(self._bytes) != self._file_size:
            problem = f"file has {len(self._bytes)} bytes, not {self._file_size}"
            raise CorruptStream(SECTION, problem)
        return bytes(self._bytes)

    def join_front(self) -> bytes:
        """Return what comes before the data of the first picture."""
        self._read_payload()
        for number, place, details in self._description.scans:
            self._take_rest_before(place)
            if number == 0:
                return bytes(self._bytes)
            self._write_scan(number, details)
        self._take_rest(len(self._rest))
        return bytes(self._bytes)

    def _read_payload(self) -> None:
        self._read_rest()
        self._levels = [
            [(rows, self._take(size)) for rows, size in stripes]
            for _, stripes in self._description.pictures
        ]
        if self._payload:
            raise CorruptStream(SECTION, "payload has bytes behind the last stripe")

    def _write_scan(self, number: int, details: ScanDetails) -> None:
        picture = self._picture_at(number)
        self._bytes += write_scan_data(picture, details, self._file_size - len(self._bytes))
        if len(self._bytes) > self._file_size:
            raise CorruptStream(SECTION, f"file has more than its {self._file_size} bytes")
        self._pictures[number] = picture, len(self._bytes)

    def _take(self, count: int) -> bytes:
        if count > len(self._payload):
            raise TruncatedStream(SECTION, "payload ends too early")
        taken, self._payload = self._payload[:count], self._payload[count:]
        return taken

    def _read_rest(self) -> None:
        reader = NumberReader(self._payload)
        coded_size = reader.number(_most_coded_bytes(self._file_size), "coded bytes")
        size = reader.number(len(self._payload), "bytes of coded bytes")
        self._take(reader.position)
        coded = decode_bytes(self._take(size), coded_size)
        most = self._level_bytes_left // STRIPE_COST
        self._description, place = read_description(coded, self._file_size, most)
        self._level_bytes_left -= STRIPE_COST * self._description.stripes
        rest = b""
        for own_coded, own_stored in self._description.stored:
            if own_coded > len(coded) - place:
                raise TruncatedStream(SECTION, "coded bytes end too early")
            rest += coded[place : place + own_coded] + self._take(own_stored)
            place += own_coded
        self._rest = rest + coded[place:]

    def _take_rest_before(self, place: int) -> None:
        self._take_rest(place - self._scan_before)
        self._scan_before = place

    def _take_rest(self, count: int) -> None:
        if count > len(self._rest):
            raise CorruptStream(SECTION, "a scan begins behind the other bytes")
        self._bytes += self._rest[:count]
        self._rest = self._rest[count:]
        if len(self._bytes) > self._file_size:
            raise CorruptStream(SECTION, f"file has more than its {self._file_size} bytes")

    def _picture_at(self, number: int) -> JpegPicture:
        """Return a picture whose last marker segment read ends where the file does so far."""
        start = self._description.pictures[number][0] + 2
        is_first = number not in self._pictures
        picture, place = (JpegPicture(), start) if is_first else self._pictures[number]
        while True:
            stop = Stop.END
            if place <= len(self._bytes):
                stop, place = read_markers(bytes(self._bytes), place, picture)
            if stop is not Stop.SCAN:
                problem = "no header of a scan ends where its data begins"
                raise CorruptStream(SECTION, problem)
            if place == len(self._bytes):
                break
        if is_first:
            self._decode_picture(picture, number)
        if not picture.counts_scan():
            problem = f"scans have more than {MOST_PASSES} times the blocks of their picture"
            raise CorruptStream(SECTION, problem)
        return picture

    def _decode_picture(self, picture: JpegPicture, number: int) -> None:
        if picture.level_bytes > self._level_bytes_left:
            allowed = self._level_bytes_left
            problem = f"levels take {picture.level_bytes} bytes, allowed are {allowed}"
            raise CorruptStream(SECTION, problem)
        self._level_bytes_left -= picture.level_bytes
        rows = sum(rows for rows, _ in self._levels[number])
        if rows > picture.mcu_rows:
            problem = f"stripes have {rows} rows, the picture {picture.mcu_rows}"
            raise CorruptStream(SECTION, problem)
        picture.allocate()
        row = 0
        for rows, payload in self._levels[number]:
            decode_levels(payload, _stripe_of(picture, row, rows), self._form)
            row += rows
