"""Read and encode pictures for ``mmp encode``: one at a time, or groups on a device."""

import os
import time
from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from mmpcodec.cli import output
from mmpcodec.cli.encoding.roi import Roi
from mmpcodec.cli.jobs import Job
from mmpcodec.cli.printing import quality_text
from mmpcodec.cli.work import JobProgress
from mmpcodec.depth import BYTE, coded_depth
from mmpcodec.errors import Cancelled, MmpError, ParameterError, PictureError
from mmpcodec.limits import DecodeLimits
from mmpcodec.params import EncodeParams
from mmpcodec.runtime import stores
from mmpcodec.runtime.files import STANDARD
from mmpcodec.runtime.tasks import side_by_side

if TYPE_CHECKING:
    import numpy as np

    from mmpcodec import Encoding, Pass, Target
    from mmpcodec.codec.tiles.tile_file import LargeEncoding
    from mmpcodec.format.container import Header
    from mmpcodec.metadata import Metadata
    from mmpcodec.picture import Picture, Reader
    from mmpcodec.trace import Totals

GROUP = 64
"""Number of pictures that a device encodes together; larger groups are not faster."""


def picture_of(
    file: str, name: str, depth: int | None, limits: DecodeLimits, page: int | None = None
) -> "Picture":
    """Read a picture; with ``depth`` bits per sample if that is given.

    Raises
    ------
    PictureError
        If the picture is not readable, or a sample is beyond the depth.
    """
    picture = output.read_picture(file, limits, page)
    if depth is None:
        return picture
    try:
        return picture.at_depth(depth)
    except ParameterError as error:
        raise PictureError(f"{name}: {error}") from error


class Setting(NamedTuple):
    """Settings for reading and encoding pictures.

    Parameters
    ----------
    params : EncodeParams
    backend : str
    threads : int or None
    denoise : int or None
        Radius of a median filter before encoding.
    depth : int or None
        Bits per sample, overriding the files.
    strip : sequence of str
        Kinds of metadata to leave out.
    tile_size : int
        Side of a tile in pixels; 0 for a single tile.
    limits : DecodeLimits
        Largest picture to read.
    device : str, tuple of int, or None
        Devices that share a call of the encoder: the option, then their numbers.
    roi : Roi or None
        Regions of interest.
    page : int or None
        Number of the frame or page to read, from 1.
    strict : bool
        Whether pictures are refused of which something would be left out.
    automatic : bool
        Whether "auto" chose the backend.
    """

    params: EncodeParams
    backend: str
    threads: int | None
    denoise: int | None = None
    depth: int | None = None
    strip: Sequence[str] = ()
    tile_size: int = 0
    limits: DecodeLimits = DecodeLimits()
    device: str | tuple[int, ...] | None = None
    roi: Roi | None = None
    page: int | None = None
    strict: bool = False
    automatic: bool = False

    def metadata(self, metadata: "Metadata") -> "Metadata":
        """Return the metadata to encode, without a level of white beyond the depth."""
        from mmpcodec.pictures.side.facts import stripped

        kept = stripped(metadata, *self.strip)
        return kept if self.depth is None else kept.at_depth(self.depth)

    def params_of(self, *, measured: bool) -> EncodeParams:
        """Return the parameters for pictures whose format is one of measurements, or is not."""
        if not measured:
            return self.params
        params = self.params.tuned(measured=True)
        return params.without_loss() if params.spared and self.roi is None else params

    def backend_for(self, params: EncodeParams, depth: int) -> str:
        """Return the backend that encodes samples of a depth.

        The device that "auto" took for all pictures may lack what a single one needs, such as
        lossless samples for measurements; then "auto" chooses again.
        """
        from mmpcodec import backends

        if not self.automatic:
            return self.backend
        named, ways = backends.get(self.backend), params.each_alone()
        lacking = all(named.lacks(one.tools, coded_depth(depth)) for one in ways)
        return backends.AUTO if lacking else self.backend

    def read(self, job: Job) -> "Input":
        """Read a picture."""
        from mmpcodec import pictures
        from mmpcodec.pictures import registry

        if stores.is_zarr(job.source):
            size = output.size_of(job.source)
            picture = pictures.read(
                job.source, limits=self.limits, page=self.page, strict=self.strict
            )
            measured = picture.depth > BYTE
        else:
            data = output.read(job.source, self.limits.max_memory)
            size, measured = len(data), registry.is_measured(data)
            picture = pictures.from_bytes(
                data, job.name, limits=self.limits, page=self.page, strict=self.strict
            )
        samples, depth = picture.samples, self.depth or picture.depth
        if self.denoise is not None:
            from mmpcodec.analysis.denoise import denoise as without_specks

            samples = without_specks(samples, self.denoise, backend=self.backend)
        roi = self.roi_map(job, samples.shape)
        metadata = self.metadata(picture.metadata)
        return Input(samples, depth, metadata, size, roi, measured)

    def opened(self, job: Job) -> "Reader":
        """Open a picture to read parts of it."""
        from mmpcodec import pictures

        return pictures.opened(job.source, limits=self.limits, page=self.page, strict=self.strict)

    def roi_map(self, job: Job, shape: tuple[int, ...]) -> "np.ndarray | None":
        """Return the importance of the pixels of a picture; None if all count alike."""
        return self.roi and self.roi.roi_map(job.source, shape, self.limits)


class Input(NamedTuple):
    """A picture that was read; ``measured`` if its format is one of measurements."""

    samples: "np.ndarray"
    depth: int
    metadata: "Metadata"
    input_bytes: int
    roi: "np.ndarray | None" = None
    measured: bool = False


class Found(NamedTuple):
    """The result of encoding a picture, and the time in seconds."""

    header: "Header"
    input_bytes: int
    output_bytes: int
    seconds: float
    backend: str
    lam: float
    distortion: float
    totals: "Totals"
    passes: "tuple[Pass, ...]" = ()
    encoding: "Encoding | None" = None
    ssimulacra2: float | None = None
    max_error: int = 0

    @classmethod
    def of(cls, encoding: "Encoding", picture: Input, seconds: float) -> "Found":
        """Return the result of an encoding in memory."""
        from mmpcodec.codec.distortion import largest_error
        from mmpcodec.codec.levels import Levels
        from mmpcodec.trace import Totals

        header = encoding.header
        levels = Levels.of(header)
        return cls(
            header,
            picture.input_bytes,
            len(encoding.data),
            seconds,
            encoding.backend,
            encoding.lam,
            levels.distortion(picture.samples, encoding.samples),
            Totals(layer.trace for layer in encoding.layers if layer.trace is not None),
            encoding.passes,
            encoding,
            encoding.ssimulacra2,
            largest_error(picture.samples, encoding.samples),
        )

    @classmethod
    def of_tiles(cls, encoding: "LargeEncoding", source: str, seconds: float) -> "Found":
        """Return the result of encoding a file tile by tile."""
        return cls(
            encoding.header,
            output.size_of(source),
            encoding.size,
            seconds,
            encoding.backend,
            encoding.lam,
            encoding.distortion,
            encoding.totals,
            max_error=encoding.max_error,
        )


class Encodings(Protocol):
    """A source of the encodings of jobs; it raises the error of a failed job."""

    def of(self, job: Job, progress: JobProgress) -> Found: ...


class OneByOne:
    """Encodes each picture when its job is requested."""

    def __init__(self, setting: Setting):
        self.setting = setting

    def of(self, job: Job, progress: JobProgress) -> Found:
        return self.encode([self.setting.read(job)], progress)[0]

    def encode(
        self, pictures: Sequence[Input], progress: JobProgress, **options: Any
    ) -> list[Found]:
        """Encode pictures of one kind together; each gets an equal share of the time.

        The options are those of ``encode_pictures``.
        """
        import mmpcodec

        setting = self.setting
        params = setting.params_of(measured=pictures[0].measured)
        started = time.perf_counter()
        encodings = mmpcodec.encode_pictures(
            [picture.samples for picture in pictures],
            params,
            depth=pictures[0].depth,
            metadata=[picture.metadata for picture in pictures],
            tile_size=setting.tile_size,
            backend=setting.backend_for(params, pictures[0].depth),
            device=setting.device,
            threads=setting.threads,
            progress=progress,
            roi=[picture.roi for picture in pictures],
            **options,
        )
        seconds = (time.perf_counter() - started) / len(pictures)
        return side_by_side(
            lambda pair: Found.of(pair[0], pair[1], seconds),
            list(zip(encodings, pictures, strict=True)),
            setting.threads,
        )


class ToTarget(OneByOne):
    """Encodes each picture when its job is requested, with the lambda that meets a target.

    Parameters
    ----------
    setting : Setting
    target : Target
    verbose : bool
        Whether a remark tells each pass.
    """

    def __init__(self, setting: Setting, target: "Target", verbose: bool):
        super().__init__(setting)
        self.target = target
        self.verbose = verbose

    def of(self, job: Job, progress: JobProgress) -> Found:
        numbers = count(1)

        def report(found: "Pass") -> None:
            number = next(numbers)
            if self.verbose:
                progress.note(
                    f"{job.name}: pass {number}: lambda {found.lam:g}, effort {found.effort}, "
                    f"{found.bytes} bytes, {quality_text(found.psnr, found.ssimulacra2)}"
                )
            progress.say(f"pass {number + 1}")

        progress.say("pass 1")
        picture = self.setting.read(job)
        return self.encode([picture], progress, target=self.target, on_pass=report)[0]


class InGroups(OneByOne):
    """Encodes pictures in groups: the first request of a group encodes all of it.

    Parameters
    ----------
    setting : Setting
    jobs : sequence of Job
        All jobs, in the order of the requests.
    """

    def __init__(self, setting: Setting, jobs: Sequence[Job]):
        super().__init__(setting)
        # Named devices have two groups each: one is searched while the other is stored.
        size = GROUP * max(2 * len(setting.device or ()), 1)
        groups = [tuple(jobs[i : i + size]) for i in range(0, len(jobs), size)]
        self._group_of = {id(job): group for group in groups for job in group}
        self._found: dict[int, Found | MmpError] = {}

    def of(self, job: Job, progress: JobProgress) -> Found:
        if id(job) not in self._found:
            self._encode_group(self._group_of[id(job)], progress)
        found = self._found.pop(id(job))
        if isinstance(found, MmpError):
            raise found
        return found

    def _encode_group(self, group: Sequence[Job], progress: JobProgress) -> None:
        read: dict[int, Input] = {}
        # A filter on a device runs in this thread, whose current device is the right one.
        threads = self.setting.threads if self.setting.denoise is None else 1
        for job, found in zip(group, side_by_side(self._read, group, threads), strict=True):
            if isinstance(found, MmpError):
                self._found[id(job)] = found
            else:
                read[id(job)] = found
        for kind in sorted({(picture.depth, picture.measured) for picture in read.values()}):
            same = {
                key: picture
                for key, picture in read.items()
                if (picture.depth, picture.measured) == kind
            }
            try:
                encoded = self.encode(list(same.values()), progress)
            except Cancelled:
                raise
            except MmpError:
                # One picture fails. Alone, each picture gets its own error or encoding.
                self._found.update(
                    (key, self._alone(picture, progress)) for key, picture in same.items()
                )
            else:
                self._found.update(zip(same, encoded, strict=True))

    def _read(self, job: Job) -> Input | MmpError:
        try:
            return self.setting.read(job)
        except MmpError as error:
            return error

    def _alone(self, picture: Input, progress: JobProgress) -> Found | MmpError:
        try:
            return self.encode([picture], progress)[0]
        except Cancelled:
            raise
        except MmpError as error:
            return error


def work_of(jobs: Sequence[Job]) -> int:
    """Count the 16x16 fragments of all pictures whose size Pillow can read without decoding."""
    from PIL import Image

    from mmpcodec.reference.trees.fragments import fragments_in

    total = 0
    for job in jobs:
        if job.source == STANDARD or not os.path.isfile(job.source):
            continue  # a pipe can be read only once
        try:
            with Image.open(job.source) as picture:
                width, height = picture.size
        except (OSError, ValueError, Image.DecompressionBombError):
            continue  # reading the picture raises the error
        total += fragments_in((height, width))
    return total
