"""A picture as all formats give and take it: samples, their bits, and what is said besides."""

from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np

from mmpcodec.checks import check_int
from mmpcodec.depth import MAX_DEPTH, sample_type
from mmpcodec.errors import ParameterError, PictureError
from mmpcodec.metadata import Metadata
from mmpcodec.samples import form_of

PLANES = (1, 2, 3, 4)

NO_METADATA = Metadata()


@dataclass(frozen=True, eq=False)
class Picture:
    """A picture's samples.

    Parameters
    ----------
    samples : (H, W) or (H, W, C) array of uint8 or uint16
        Gray, gray with alpha, RGB, or RGB with alpha. Bright is large, alpha is largest where
        nothing shines through and is not multiplied into the others. uint8 for depths up to 8,
        else uint16.
    depth : int
        Bits that the samples have, 1 to 16: 12 where a file keeps 12 bits in 16.
    metadata : Metadata

    Raises
    ------
    ParameterError
        For another array, another depth, or a sample or white beyond it.
    """

    samples: np.ndarray
    depth: int
    metadata: Metadata = NO_METADATA

    def __post_init__(self):
        samples, depth = self.samples, check_int("depth", self.depth, 1, MAX_DEPTH)
        object.__setattr__(self, "depth", depth)
        shaped = isinstance(samples, np.ndarray) and (
            samples.ndim == 2 or (samples.ndim == 3 and samples.shape[2] in PLANES[1:])
        )
        if not shaped or samples.size == 0 or samples.dtype != sample_type(depth):
            what = getattr(samples, "shape", type(samples).__name__)
            raise ParameterError(
                f"picture of shape {what} and type {getattr(samples, 'dtype', 'no array')} with "
                f"depth {depth}: must not be empty, (height, width) or (height, width, 2 to 4), "
                f"of {sample_type(depth).__name__}"
            )
        if depth < 8 * samples.itemsize and int(samples.max()) >> depth:
            raise ParameterError(
                f"depth = {depth}: the picture has a sample of {int(samples.max())}, allowed is "
                f"0 to {(1 << depth) - 1}"
            )
        if self.white >> depth:
            raise ParameterError(
                f"white = {self.white}: must be from 1 to {(1 << depth) - 1} with depth {depth}"
            )

    @classmethod
    def of(cls, samples: np.ndarray) -> "Picture":
        """The picture of an array whose samples have all bits of their type.

        Raises
        ------
        ParameterError
            When the array is none of those that a picture can have.
        """
        deep = getattr(samples, "dtype", None) == np.uint16
        return cls(samples, MAX_DEPTH if deep else 8)

    @property
    def white(self) -> int:
        """Level that is shown as white."""
        return self.metadata.white or (1 << self.depth) - 1

    @property
    def planes(self) -> int:
        """1 for gray, 2 with alpha, 3 for colours, 4 with alpha."""
        return planes_of(self.samples)

    @property
    def kind(self) -> str:
        """The form of the samples in words: "RGB with alpha"."""
        return form_of(self.samples).title

    def without_alpha(self) -> "Picture":
        """The same picture, transparency left out."""
        if self.planes not in (2, 4):
            return self
        samples = self.samples[..., 0] if self.planes == 2 else self.samples[..., :3]
        return replace(self, samples=np.ascontiguousarray(samples))


class Reader(Protocol):
    """Reads parts of a picture that need not fit into memory; a context manager."""

    @property
    def shape(self) -> tuple[int, ...]:
        """(H, W) or (H, W, C)."""

    @property
    def depth(self) -> int:
        """Bits of a sample."""

    @property
    def metadata(self) -> Metadata:
        """The metadata of the file."""

    def read(self, rows: slice, columns: slice) -> np.ndarray:
        """Samples of a part of the picture.

        Parameters
        ----------
        rows, columns : slice
            Steps are ignored. Rows and columns beyond the picture are cut off.

        Returns
        -------
        (rows, columns) or (rows, columns, C) array of uint8 or uint16

        Raises
        ------
        PictureError
            When the part is empty, larger than the limits allow, or damaged.
        """

    def close(self) -> None:
        """Close the file."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


def planes_of(samples: np.ndarray) -> int:
    """How many planes samples have, 1 to 4."""
    return samples.shape[2] if samples.ndim == 3 else 1


def check_plain(picture: Picture, name: str) -> np.ndarray:
    """The samples of a picture that has to be 8-bit gray.

    Raises
    ------
    PictureError
        When it is not.
    """
    if picture.planes != 1 or picture.depth != 8:
        raise PictureError(
            f"{name}: holds {picture.kind} of {picture.depth} bits; supported is 8-bit gray"
        )
    return picture.samples
