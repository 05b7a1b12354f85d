"""Recognise NIfTI files that begin with no magic: the second version, and those in gzip."""

import zlib

GZIP = b"\x1f\x8b"
MAGIC_AT = 344
MAGICS = (b"n+1\0", b"ni1\0")
"""Of the first version, with the samples in the file or in another one."""
MAGICS_2 = (b"n+2\0\r\n\x1a\n", b"ni2\0\r\n\x1a\n")
MAGIC_AT_2 = 4
_WITH_GZIP = 16 + zlib.MAX_WBITS
_ENOUGH = MAGIC_AT + 4


def is_nifti(head: bytes) -> bool:
    """Return whether bytes begin as a NIfTI file does, maybe in gzip."""
    if head.startswith(GZIP):
        try:
            head = zlib.decompressobj(_WITH_GZIP).decompress(head, _ENOUGH)
        except zlib.error:
            return False
    return head.startswith(MAGICS, MAGIC_AT) or head.startswith(MAGICS_2, MAGIC_AT_2)
