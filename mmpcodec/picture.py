"""``Picture``: samples, their depth and metadata, as every picture format gives and takes them."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol, Self

import numpy as np

from mmpcodec.checks import check_int
from mmpcodec.depth import MAX_DEPTH, sample_type
from mmpcodec.errors import ParameterError
from mmpcodec.metadata import Metadata
from mmpcodec.samples import Samples, SamplesLike, check_picture, form_of

PLANES = (1, 2, 3, 4)

NO_METADATA = Metadata()


class SourceJpeg(NamedTuple):
    """The JPEG file from which samples were read.

    Parameters
    ----------
    data : bytes or function
        The file, or what returns it: that of an mmp file is rebuilt when it is asked for.
    samples : array
        The samples themselves: of other ones, the file is no source.
    """

    data: bytes | Callable[[], bytes]
    samples: Samples

    def holds(self, samples: Samples) -> bool:
        """Return whether an array is the samples: the same ones in memory."""
        one, other = (each.__array_interface__ for each in (self.samples, samples))
        same = all(one[key] == other[key] for key in ("data", "shape", "typestr"))
        return same and self.samples.strides == samples.strides


@dataclass(frozen=True, eq=False)
class Picture:
    """A picture: samples, their depth and metadata.

    Parameters
    ----------
    samples : (H, W) or (H, W, C) array of uint8 or uint16
        (H, W) is gray. C is 2 for gray with alpha, 3 for RGB, 4 for RGB with alpha. The type is
        uint8 for depths up to 8 and uint16 above. 0 is black. Alpha is 0 where the picture is
        transparent and largest where it is opaque, and is not multiplied into the colours.
    depth : int
        Bits per sample, 1 to 16. Samples go from 0 to 2^depth - 1: a 12-bit file that stores its
        samples in 16 bits has depth 12.
    metadata : Metadata
        ICC profile, EXIF, XMP, resolution, texts and level of white; empty by default.
    source : SourceJpeg or None
        The JPEG file from which the samples were read, if they were.

    Raises
    ------
    ParameterError
        If the array has another shape or type or is empty, the depth is out of range, or a sample
        or the level of white is beyond the depth.

    Examples
    --------
    >>> import numpy as np
    >>> from mmpcodec.pictures import Picture
    >>> picture = Picture(np.full((4, 6, 3), 1000, np.uint16), depth=12)
    >>> picture.kind, picture.white
    ('RGB', 4095)
    """

    samples: Samples
    depth: int
    metadata: Metadata = NO_METADATA
    source: SourceJpeg | None = field(default=None, repr=False)

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

    @property
    def jpeg(self) -> bytes | None:
        """The JPEG file from which the samples were read, as long as they are not changed."""
        if self.source is None or not self.source.holds(self.samples):
            return None
        data = self.source.data
        return data if isinstance(data, bytes) else data()

    @classmethod
    def of(cls, samples: SamplesLike) -> "Picture":
        """Make a picture of an array, with depth 1 for bool, 8 for uint8 and 16 for uint16.

        Parameters
        ----------
        samples : (H, W) or (H, W, 1 to 4) array of bool, uint8 or uint16
            In host memory. One plane, (H, W, 1), is gray.

        Raises
        ------
        ParameterError
            If the array has another shape or type or is empty.
        """
        return cls(*check_picture(samples))

    @property
    def white(self) -> int:
        """Level that is shown as white: the metadata's, or the largest level of the depth."""
        return self.metadata.white or (1 << self.depth) - 1

    @property
    def planes(self) -> int:
        """Number of planes: 1 gray, 2 gray with alpha, 3 RGB, 4 RGB with alpha."""
        return planes_of(self.samples)

    @property
    def kind(self) -> str:
        """Name of the planes: "RGB with alpha"."""
        return form_of(self.samples).title

    def at_depth(self, depth: int) -> "Picture":
        """Return the picture with other bits per sample; the samples keep their values.

        Raises
        ------
        ParameterError
            If the depth is out of range, or a sample is beyond it.
        """
        samples, depth = check_picture(self.samples, depth)
        return Picture(samples, depth, self.metadata.at_depth(depth))

    def without_alpha(self) -> "Picture":
        """Return the picture without its plane of alpha."""
        if self.planes not in (2, 4):
            return self
        samples = self.samples[..., 0] if self.planes == 2 else self.samples[..., :3]
        return replace(self, samples=np.ascontiguousarray(samples))


class Reader(Protocol):
    """Reads parts of a picture, which need not fit into memory. A context manager."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the whole picture: (H, W), or (H, W, C) with 2 to 4 planes."""

    @property
    def depth(self) -> int:
        """Bits per sample, 1 to 16."""

    @property
    def metadata(self) -> Metadata:
        """The metadata of the file."""

    def read(self, rows: slice, columns: slice) -> Samples:
        """Read the samples of a part of the picture.

        Parameters
        ----------
        rows, columns : slice
            Rows and columns of the part. Steps are ignored, and bounds are clipped to the picture.

        Returns
        -------
        (rows, columns) or (rows, columns, C) array of uint8 (depth up to 8) or uint16

        Raises
        ------
        PictureError
            If the part is empty, beyond the limits, or damaged.
        """

    def close(self) -> None:
        """Close the file."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


def planes_of(samples: Samples) -> int:
    """Return the number of planes of an (H, W) or (H, W, C) array, 1 to 4."""
    return samples.shape[2] if samples.ndim == 3 else 1
