"""Parts of picture files that are too large to read whole."""

import io
import os
from pathlib import Path
from typing import Literal

import numpy as np

from mmpcodec.depth import sample_type
from mmpcodec.errors import PictureError
from mmpcodec.metadata import Metadata
from mmpcodec.params import DecodeLimits
from mmpcodec.picture import Picture, Reader
from mmpcodec.pictures import netpbm, npy, reading, tiff
from mmpcodec.pictures.limits import check_part, check_size, damage_told
from mmpcodec.pictures.mapping import Mapping
from mmpcodec.pictures.tiff.reader import TiffReader

HEAD = 1 << 16
"""Headers of NPY, PGM, PPM and PAM files end within so many bytes."""


def opened(path: str | os.PathLike[str], *, limits: DecodeLimits | None = None) -> Reader:
    """A reader of parts of a picture file.

    NPY, binary PGM, PPM and PAM, and TIFF that is not compressed are mapped into memory, and
    compressed TIFF is unpacked by strips or tiles: there limits hold for each part that is read,
    not for the picture. Other files are read whole, within the limits.

    Parameters
    ----------
    path : path
    limits : DecodeLimits or None

    Raises
    ------
    PictureError, MissingExtra
        As ``read`` does.
    """
    limits = limits or DecodeLimits()
    name = os.fspath(path)
    if Path(path).exists() and not Path(path).is_file():  # a pipe can be read only once
        return WholeReader(reading.read(path, limits=limits), name)
    try:
        with open(path, "rb") as stream:
            head = stream.read(HEAD)
            size = stream.seek(0, os.SEEK_END)
    except OSError as error:
        raise PictureError(f"{name}: {error.strerror}") from error
    with damage_told(name):
        if head.startswith(tiff.MAGICS):
            return TiffReader(path, name, limits)
        if head.startswith(npy.MAGICS):
            return _npy_reader(Path(path), npy.header_of(io.BytesIO(head), name), size, limits)
        if head.startswith(netpbm.MAGICS):
            header = netpbm.header_of(head, name)
            if header.is_mappable:
                return _netpbm_reader(Path(path), header, size, limits)
    return WholeReader(reading.read(path, limits=limits), name)


def _npy_reader(path: Path, header: npy.Header, size: int, limits: DecodeLimits) -> Reader:
    name = os.fspath(path)
    check_size(header.shape[1], header.shape[0], name, _UNLIMITED)
    npy.check_end(size, header, name)
    order: Literal["C", "F"] = "F" if header.order == "F" else "C"
    with path.open("rb") as stream:
        samples = Mapping(stream, header.kind, header.shape, header.start, order)
    most = (1 << header.depth) - 1
    return MappedReader(samples, header.shape, most, header.depth, Metadata(), name, limits)


def _netpbm_reader(path: Path, header: netpbm.Header, size: int, limits: DecodeLimits) -> Reader:
    name = os.fspath(path)
    check_size(header.width, header.height, name, _UNLIMITED)
    end = header.start + int(np.prod(header.shape, dtype=object)) * header.kind.itemsize
    with path.open("rb") as stream:
        stream.seek(min(end, size))
        netpbm.check_end(size, end, stream.read(netpbm.TAIL), name)
        samples = Mapping(stream, header.kind, header.shape, header.start)
    of_file = header.shape, header.maxval, header.depth, header.metadata
    return MappedReader(samples, *of_file, name, limits)


_UNLIMITED = DecodeLimits(1 << 62, 1 << 62)


class MappedReader:
    """Reads parts of a file whose samples lie in it as in memory.

    Parameters
    ----------
    samples : Mapping
    shape : tuple of int
    maxval : int
        Largest sample that the file may have.
    depth : int
    metadata : Metadata
    name : str
        What to call the file in messages.
    limits : DecodeLimits
        Hold for each part.
    """

    def __init__(
        self,
        samples: Mapping,
        shape: tuple[int, ...],
        maxval: int,
        depth: int,
        metadata: Metadata,
        name: str,
        limits: DecodeLimits,
    ):
        self.shape = shape
        self.depth = depth
        self.metadata = metadata
        self.name = name
        self._samples = samples
        self._maxval = maxval
        self._limits = limits

    def read(self, rows: slice, columns: slice) -> np.ndarray:
        """Samples of a part of the picture; see ``Reader.read``."""
        rows, columns = check_part(self.shape, rows, columns, self.name, self._limits)
        samples = self._samples.read((rows, columns))
        if samples.dtype == bool:
            samples = samples.view(np.uint8)
        netpbm.check_levels(samples, self._maxval, self.name)
        return samples.astype(sample_type(self.depth), copy=False)

    def __enter__(self) -> "MappedReader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file, which is closed when the last array of it goes."""
        del self._samples


class WholeReader:
    """Gives parts of a picture that was read whole.

    Parameters
    ----------
    picture : Picture
    name : str
        What to call the file in messages.
    """

    def __init__(self, picture: Picture, name: str):
        self.shape = picture.samples.shape
        self.depth = picture.depth
        self.metadata = picture.metadata
        self.name = name
        self._samples = picture.samples

    def read(self, rows: slice, columns: slice) -> np.ndarray:
        """Samples of a part of the picture; see ``Reader.read``."""
        return self._samples[check_part(self.shape, rows, columns, self.name, _UNLIMITED)].copy()

    def __enter__(self) -> "WholeReader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """There is nothing left to close."""
