"""Answers of web servers, of which no more is read than was asked for.

fsspec keeps all that a server sends in memory. A server may ignore the range of a request, send
more than the size that it named, or send without end.
"""

from http import HTTPStatus
from typing import Any

from mmpcodec.errors import FileError

MOST_BYTES = 1 << 31
"""Most bytes that are read from a server at once, if the caller names no other limit."""
MOST_CHUNK_BYTES = 1 << 28
"""Most bytes of a file in a zarr store of a server: zarr reads several at a time."""
_PIECE = 1 << 20


def check_size(url: str, size: int, most: int | None) -> None:
    """Check that ``size`` bytes may be read to memory.

    Raises
    ------
    FileError
        If ``size`` is above ``most``, or above ``MOST_BYTES`` if ``most`` is None.
    """
    if size > (MOST_BYTES if most is None else most):
        raise _too_much(url, f"would send {size} bytes", most)


def download(
    system: Any,
    url: str,
    path: str,
    size: int | None,
    most: int | None,
    span: tuple[int, int] | None = None,
) -> bytearray:
    """Return a file of a server or a part of it; the whole file if the server ignores ranges.

    Parameters
    ----------
    system : fsspec.implementations.http.HTTPFileSystem
    url : str
        Name of the file in messages.
    path : str
        Name of the file in ``system``.
    size : int or None
        Size of the file as the server named it; None if it did not.
    most : int or None
        Most bytes to accept; None for ``MOST_BYTES``.
    span : tuple of int or None
        First byte of the part, and the byte after its last one; None for all.

    Raises
    ------
    FileError
        If the server sends more.
    """
    headers = {**system.kwargs.get("headers", {}), "Accept-Encoding": "identity"}
    if span is not None:
        check_size(url, span[1] - span[0], most)
        headers["Range"] = f"bytes={span[0]}-{span[1] - 1}"
    # A block size of 0 gives a stream, and any size spares the question for it.
    with system.open(path, block_size=0, size=1, headers=headers) as stream:
        if span is not None and stream.r.status == HTTPStatus.PARTIAL_CONTENT:
            size = span[1] - span[0]
        elif size is not None:
            check_size(url, size, most)
        bound = size if size is not None else MOST_BYTES if most is None else most
        found = bytearray()
        while len(found) <= bound:
            piece = stream.read(min(_PIECE, bound + 1 - len(found)))
            if not piece:
                return found
            found += piece
    if size is None:
        raise _too_much(url, f"sends more than {bound} bytes", most)
    raise FileError(f"{url}: the server sends more than the {size} bytes that it should")


async def client_of_chunks(**options: Any) -> Any:
    """Return a session of aiohttp for fsspec, whose answers have at most ``MOST_CHUNK_BYTES``."""
    import aiohttp

    class Answer(aiohttp.ClientResponse):
        async def read(self) -> bytes:
            found = bytearray()
            while piece := await self.content.read(_PIECE):
                found += piece
                if len(found) > MOST_CHUNK_BYTES:
                    self.close()
                    raise FileError(
                        f"{self.url}: the server sends more than {MOST_CHUNK_BYTES} bytes, the "
                        "limit for a file of a zarr store; download the store"
                    )
            return bytes(found)

    return aiohttp.ClientSession(response_class=Answer, **options)


def _too_much(url: str, what: str, most: int | None) -> FileError:
    raises = "" if most is None else "max_memory (--max-memory) raises it; or "
    limit = MOST_BYTES if most is None else most
    return FileError(f"{url}: the server {what}, the limit is {limit}; {raises}download the file")
