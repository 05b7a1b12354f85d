"""Ways to damage a file so that the damage gets past the checksums."""

import zlib

from mmpcodec.codec.container import HEADER_SIZE, OFFSETS


def repaired(data: bytes) -> bytes:
    """The file with payload size and stream CRC that fit its bytes; too short ones unchanged."""
    if len(data) < HEADER_SIZE:
        return data
    size, payload = OFFSETS["payload size"], data[HEADER_SIZE:]
    checked = data[:size] + len(payload).to_bytes(8, "big") + data[size + 8 : HEADER_SIZE - 4]
    crc = zlib.crc32(payload, zlib.crc32(checked))
    return checked + crc.to_bytes(4, "big") + payload


def with_size(data: bytes, height: int, width: int) -> bytes:
    """The file with another height and width in its header."""
    sizes = width.to_bytes(4, "big") + height.to_bytes(4, "big")
    return repaired(data[: OFFSETS["width"]] + sizes + data[OFFSETS["planes"] :])
