"""The container: magic, header, payload. Source: section "Container" of ``docs/format.md``."""

import itertools
import zlib
from dataclasses import dataclass, replace

import numpy as np

from mmpcodec.codec.fragments import fragments_in
from mmpcodec.codec.postfilter import (
    CLASSES,
    LEAST,
    MOST,
    OFF,
    TAPS,
    Coefficients,
    coefficient_bits,
)
from mmpcodec.codec.scales import FRAGMENT_SIZE
from mmpcodec.errors import (
    BadMagic,
    CorruptStream,
    LimitExceeded,
    TruncatedStream,
    UnsupportedVersion,
)
from mmpcodec.params import (
    ALLOWED_WITH,
    FRAGMENT_SIZES,
    MAX_COPY_RADIUS,
    MAX_DICTIONARY_LIMIT,
    MAX_DISPLACED_BLOCKS,
    MAX_REDUNDANCY_RADIUS,
    MAX_STEP,
    MAX_TEMPLATES,
    MIN_DICTIONARY_LIMIT,
    DecodeLimits,
    Partition,
    Tools,
    fault_with,
)

MAGIC = b"\x89MMP\r\n\x1a\n"
VERSION = 0
PROFILE = 0
MAX_PLANES = 4
MAX_BIT_DEPTH = 16
PLANES, BIT_DEPTH = 1, 8
"""Of pictures that are not coded by exact samples."""
CODINGS = ("trees", "predicted blocks", "exact samples")
MAX_DIMENSION = 1 << 24
SECTION = "Container"
FILTER_SECTION = "Post filter"


@dataclass(frozen=True)
class Field:
    """A big-endian unsigned integer of the header and its allowed range."""

    name: str
    size: int
    low: int
    high: int


FIELDS = (
    Field("version", 1, VERSION, VERSION),
    Field("profile", 1, PROFILE, PROFILE),
    Field("width", 4, 1, MAX_DIMENSION),
    Field("height", 4, 1, MAX_DIMENSION),
    Field("planes", 1, 1, MAX_PLANES),
    Field("bit depth", 1, 1, MAX_BIT_DEPTH),
    Field("fragment size", 1, min(FRAGMENT_SIZES), max(FRAGMENT_SIZES)),
    Field("partition", 1, 0, len(Partition) - 1),
    Field("index classes", 1, 0, 1),
    Field("flag contexts", 1, 0, 1),
    Field("copy radius", 1, 0, MAX_COPY_RADIUS),
    Field("dictionary limit", 4, MIN_DICTIONARY_LIMIT, MAX_DICTIONARY_LIMIT),
    Field("displaced blocks", 1, 0, MAX_DISPLACED_BLOCKS),
    Field("redundancy radius", 2, 0, MAX_REDUNDANCY_RADIUS),
    Field("replacement", 1, 0, 1),
    Field("tile size", 4, 0, 0),
    Field("post filter", 1, 0, (1 << CLASSES) - 1),
    Field("coding", 1, 0, len(CODINGS) - 1),
    Field("dictionary", 1, 0, 1),
    Field("least squares", 1, 0, 1),
    Field("templates", 1, 0, MAX_TEMPLATES),
    Field("step", 2, 0, MAX_STEP),
    Field("payload size", 8, 0, (1 << 63) - 1),
    Field("samples CRC", 4, 0, (1 << 32) - 1),
    Field("stream CRC", 4, 0, (1 << 32) - 1),
)
OFFSETS = dict(
    zip(
        (field.name for field in FIELDS),
        itertools.accumulate((field.size for field in FIELDS), initial=len(MAGIC)),
        strict=False,
    )
)
HEADER_SIZE = len(MAGIC) + sum(field.size for field in FIELDS)


@dataclass(frozen=True)
class Header:
    """The fields of a file's header that a caller may ask for.

    Parameters
    ----------
    width, height : int
        In pixels.
    tools : Tools
    payload_size : int
        In bytes.
    samples_crc : int
        CRC-32 of the decoded samples.
    coefficients : Coefficients
        Of the post filter.
    """

    width: int
    height: int
    tools: Tools
    payload_size: int
    samples_crc: int
    coefficients: Coefficients = OFF
    version: int = VERSION
    profile: int = PROFILE
    planes: int = PLANES
    bit_depth: int = BIT_DEPTH
    tile_size: int = 0


def coding_of(tools: Tools) -> str:
    """What codes the picture, one of ``CODINGS``."""
    if tools.exact:
        return "exact samples"
    return "predicted blocks" if tools.prediction else "trees"


def samples_crc(samples: np.ndarray) -> int:
    """CRC-32 of the samples as they are shown: rows from the top, the planes of a pixel together.

    Those of more than 8 bits are two bytes each, big-endian.
    """
    return zlib.crc32(np.ascontiguousarray(samples, samples.dtype.newbyteorder(">")).data)


def stream_crc(checked: bytes, payload: bytes) -> int:
    """CRC-32 of the header up to this checksum, followed by the payload."""
    return zlib.crc32(payload, zlib.crc32(checked))


def write(
    samples: np.ndarray,
    tools: Tools,
    payload: bytes,
    coefficients: Coefficients = OFF,
    bit_depth: int = BIT_DEPTH,
) -> bytes:
    """A whole file.

    Parameters
    ----------
    samples : (H, W) or (H, W, C) array of uint8 or uint16
        What a decoder will show.
    tools : Tools
    payload : bytes
        Of the range coder.
    coefficients : Coefficients
        Of the post filter, with which it shows the samples.
    bit_depth : int
        Above 8 for uint16 only.
    """
    payload = bytes(value - LEAST for own in coefficients for value in own) + payload
    height, width, *planes = samples.shape
    values = {
        "version": VERSION,
        "profile": PROFILE,
        "width": width,
        "height": height,
        "planes": planes[0] if planes else 1,
        "bit depth": bit_depth,
        "fragment size": tools.fragment_size,
        "partition": tools.partition,
        "index classes": tools.index_classes,
        "flag contexts": tools.flag_contexts,
        "copy radius": tools.copy_radius,
        "dictionary limit": tools.dictionary_limit,
        "displaced blocks": tools.displaced_blocks,
        "redundancy radius": tools.redundancy_radius,
        "replacement": tools.replacement,
        "tile size": 0,
        "post filter": sum(bool(own) << number for number, own in enumerate(coefficients)),
        "coding": CODINGS.index(coding_of(tools)),
        "dictionary": tools.dictionary,
        "least squares": tools.least_squares,
        "templates": tools.templates,
        "step": tools.step,
        "payload size": len(payload),
        "samples CRC": samples_crc(samples),
    }
    checked = MAGIC + b"".join(
        int(values[field.name]).to_bytes(field.size, "big") for field in FIELDS[:-1]
    )
    return checked + stream_crc(checked, payload).to_bytes(4, "big") + payload


def read(data: bytes, limits: DecodeLimits) -> tuple[Header, bytes]:
    """Header and range coder's payload of a file, after every check that needs no decoding.

    Raises
    ------
    FormatError
        The subclass says what is wrong, the message which field, value and range.
    """
    if not data:
        raise TruncatedStream(SECTION, "file is empty", 0)
    if data[: len(MAGIC)] != MAGIC[: len(data)]:
        raise BadMagic(SECTION, f"magic is {data[: len(MAGIC)].hex(' ')}, not {MAGIC.hex(' ')}", 0)
    if len(data) < HEADER_SIZE:
        raise TruncatedStream(
            SECTION, f"file has {len(data)} bytes, the header {HEADER_SIZE}", len(data)
        )
    values = {field.name: _read_field(data, field) for field in FIELDS}
    _check_together(values)
    header = Header(
        width=values["width"],
        height=values["height"],
        tools=Tools(
            Partition(values["partition"]),
            bool(values["index classes"]),
            bool(values["flag contexts"]),
            values["copy radius"],
            values["dictionary limit"],
            values["displaced blocks"],
            values["redundancy radius"],
            bool(values["replacement"]),
            values["post filter"] > 0,
            CODINGS[values["coding"]] == "predicted blocks",
            bool(values["dictionary"]),
            values["fragment size"],
            bool(values["least squares"]),
            values["templates"],
            values["step"],
            CODINGS[values["coding"]] == "exact samples",
        ),
        payload_size=values["payload size"],
        samples_crc=values["samples CRC"],
        planes=values["planes"],
        bit_depth=values["bit depth"],
    )
    _check_limits(header, limits)
    payload = data[HEADER_SIZE:]
    if len(payload) < header.payload_size:
        raise TruncatedStream(
            SECTION, f"payload has {len(payload)} of {header.payload_size} bytes", len(data)
        )
    if len(payload) > header.payload_size:
        raise CorruptStream(
            SECTION,
            f"{len(payload) - header.payload_size} bytes follow the payload",
            HEADER_SIZE + header.payload_size,
        )
    computed = stream_crc(data[: OFFSETS["stream CRC"]], payload)
    if computed != values["stream CRC"]:
        raise CorruptStream(
            SECTION,
            f"stream CRC is {values['stream CRC']:08x}, header and payload have {computed:08x}",
            OFFSETS["stream CRC"],
        )
    coefficients = _read_coefficients(payload, values["post filter"])
    own = coefficient_bits(coefficients) // 8
    return replace(header, coefficients=coefficients), payload[own:]


def check_samples(header: Header, samples: np.ndarray) -> None:
    """Compare decoded samples with the checksum in the header.

    Raises
    ------
    CorruptStream
        When they differ.
    """
    computed = samples_crc(samples)
    if computed != header.samples_crc:
        raise CorruptStream(
            SECTION,
            f"samples CRC is {header.samples_crc:08x}, the picture has {computed:08x}",
            OFFSETS["samples CRC"],
        )


def _read_field(data: bytes, field: Field) -> int:
    offset = OFFSETS[field.name]
    value = int.from_bytes(data[offset : offset + field.size], "big")
    if not field.low <= value <= field.high:
        allowed = f"{field.low}" if field.low == field.high else f"{field.low} to {field.high}"
        error = UnsupportedVersion if field.name in ("version", "profile") else CorruptStream
        raise error(SECTION, f"{field.name} is {value}, allowed is {allowed}", offset)
    return value


def _check_together(values: dict[str, int]) -> None:
    """Fields whose allowed values depend on another field."""
    coding = CODINGS[values["coding"]]
    with_coding = (
        {"post filter": 0}
        if coding == "exact samples"
        else {"planes": PLANES, "bit depth": BIT_DEPTH}
    )
    for name, allowed in with_coding.items():
        if values[name] != allowed:
            raise CorruptStream(
                SECTION,
                f"{name} is {values[name]}, allowed with {coding} is {allowed}",
                OFFSETS[name],
            )
    prediction = coding == "predicted blocks"
    for name in (tool.replace("_", " ") for tool in ALLOWED_WITH[prediction]):
        if fault := fault_with(prediction, name.replace(" ", "_"), values[name]):
            raise CorruptStream(SECTION, f"{name} is {values[name]}, {fault}", OFFSETS[name])


def _read_coefficients(payload: bytes, active: int) -> Coefficients:
    """Those at the start of the payload; ``active`` has a bit for each activity class."""
    needed, largest = len(TAPS) * active.bit_count(), MOST - LEAST
    if len(payload) < needed:
        raise TruncatedStream(
            FILTER_SECTION,
            f"payload has {len(payload)} bytes, the coefficients {needed}",
            HEADER_SIZE + len(payload),
        )
    coefficients, offset = [], 0
    for number in range(CLASSES):
        own = payload[offset : offset + len(TAPS)] if active >> number & 1 else b""
        for tap, value in enumerate(own):
            if value > largest:
                raise CorruptStream(
                    FILTER_SECTION,
                    f"coefficient {tap} of activity class {number} is {value}, "
                    f"allowed is 0 to {largest}",
                    HEADER_SIZE + offset + tap,
                )
        coefficients.append(tuple(value + LEAST for value in own))
        offset += len(own)
    return tuple(coefficients)


def _check_limits(header: Header, limits: DecodeLimits) -> None:
    width, height = header.width, header.height
    padded = FRAGMENT_SIZE**2 * fragments_in((height, width))
    if max(width, height) > limits.max_dimension or padded > limits.max_pixels:
        raise LimitExceeded(
            SECTION,
            f"picture is {width}x{height}, {padded} pixels in whole fragments; limits are "
            f"{limits.max_dimension} a side and {limits.max_pixels} in all",
            OFFSETS["width"],
        )
