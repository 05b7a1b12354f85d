"""Where ``mmp encode`` gets its encodings from: one picture at a time, or groups on a device."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, Protocol

from mmpcodec.cli import output
from mmpcodec.cli.jobs import Job
from mmpcodec.cli.run import Progress
from mmpcodec.errors import Cancelled, MmpError
from mmpcodec.params import EncodeParams

if TYPE_CHECKING:
    import numpy as np

    from mmpcodec import Encoding, Pass, Target
    from mmpcodec.format.container import Header
    from mmpcodec.metadata import Metadata
    from mmpcodec.trace import Totals

GROUP = 64
"""Pictures that are read and encoded at once; more do not make a device faster."""


@dataclass(frozen=True)
class Setting:
    """How pictures are read and encoded.

    Parameters
    ----------
    params : EncodeParams
    backend : str
    threads : int or None
    denoise : int or None
        Radius of the median filter that comes first.
    depth : int or None
        Bits of a sample, in place of what files say.
    strip : sequence of str
        Kinds of metadata to leave out.
    tile_size : int
    """

    params: EncodeParams
    backend: str
    threads: int | None
    denoise: int | None = None
    depth: int | None = None
    strip: Sequence[str] = ()
    tile_size: int = 0

    def metadata(self, metadata: "Metadata") -> "Metadata":
        """What is kept of them; a white that the depth cannot hold is not."""
        kept = metadata.without(*self.strip)
        return kept if self.depth is None else kept.at_depth(self.depth)

    def read(self, job: Job) -> "Input":
        """Read a picture."""
        from mmpcodec import pictures

        data = output.read(job.source)
        picture = pictures.from_bytes(data, job.name)
        samples, depth = picture.samples, self.depth or picture.depth
        if self.denoise is not None:
            from mmpcodec.analysis.denoise import denoise as without_specks

            samples = without_specks(samples, self.denoise, backend=self.backend)
        return Input(samples, depth, self.metadata(picture.metadata), len(data))


@dataclass(frozen=True)
class Input:
    """A picture that was read."""

    samples: "np.ndarray"
    depth: int
    metadata: "Metadata"
    input_bytes: int


@dataclass(frozen=True)
class Found:
    """What encoding a picture came to, and the time that it took."""

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

    @classmethod
    def of(cls, encoding: "Encoding", picture: Input, seconds: float) -> "Found":
        """What an encoding came to."""
        from mmpcodec.codec.distortion import distortion
        from mmpcodec.trace import Totals

        return cls(
            encoding.header,
            picture.input_bytes,
            len(encoding.data),
            seconds,
            encoding.backend,
            encoding.lam,
            distortion(picture.samples, encoding.samples, picture.depth),
            Totals(layer.trace for layer in encoding.layers if layer.trace is not None),
            encoding.passes,
            encoding,
        )


class Encodings(Protocol):
    """Gives the encoding of a job, or raises what went wrong with it."""

    def of(self, job: Job, progress: Progress) -> Found: ...


class OneByOne:
    """Encodes each picture when it is asked for."""

    def __init__(self, setting: Setting):
        self.setting = setting

    def of(self, job: Job, progress: Progress) -> Found:
        return self.encode([self.setting.read(job)], progress)[0]

    def encode(self, pictures: Sequence[Input], progress: Progress, **options: Any) -> list[Found]:
        """Encode pictures of one depth at once; each gets an equal share of the time.

        The options are those of ``encode_pictures``.
        """
        import mmpcodec

        setting = self.setting
        started = time.perf_counter()
        encodings = mmpcodec.encode_pictures(
            [picture.samples for picture in pictures],
            setting.params,
            depth=pictures[0].depth,
            metadata=[picture.metadata for picture in pictures],
            tile_size=setting.tile_size,
            backend=setting.backend,
            threads=setting.threads,
            progress=progress,
            **options,
        )
        seconds = (time.perf_counter() - started) / len(pictures)
        return [
            Found.of(encoding, picture, seconds)
            for encoding, picture in zip(encodings, pictures, strict=True)
        ]


class ToTarget(OneByOne):
    """Encodes each picture when it is asked for, with the lambda that keeps a target.

    Parameters
    ----------
    setting : Setting
    target : Target
    on_pass : callable
        ``on_pass(job, number, Pass)`` is told of each pass, its number from 1.
    """

    def __init__(
        self,
        setting: Setting,
        target: "Target",
        on_pass: "Callable[[Job, int, Pass], None]",
    ):
        super().__init__(setting)
        self.target = target
        self.on_pass = on_pass

    def of(self, job: Job, progress: Progress) -> Found:
        numbers = count(1)

        def told(found: "Pass") -> None:
            number = next(numbers)
            self.on_pass(job, number, found)
            progress.say(f"pass {number + 1}")

        progress.say("pass 1")
        picture = self.setting.read(job)
        return self.encode([picture], progress, target=self.target, on_pass=told)[0]


class InGroups(OneByOne):
    """Encodes pictures in groups: the first that is asked for brings its whole group along.

    Parameters
    ----------
    setting : Setting
    jobs : sequence of Job
        All jobs, in the order in which they will be asked for.
    """

    def __init__(self, setting: Setting, jobs: Sequence[Job]):
        super().__init__(setting)
        groups = [tuple(jobs[i : i + GROUP]) for i in range(0, len(jobs), GROUP)]
        self._group_of = {id(job): group for group in groups for job in group}
        self._found: dict[int, Found | MmpError] = {}

    def of(self, job: Job, progress: Progress) -> Found:
        if id(job) not in self._found:
            self._encode_group(self._group_of[id(job)], progress)
        found = self._found.pop(id(job))
        if isinstance(found, MmpError):
            raise found
        return found

    def _encode_group(self, group: Sequence[Job], progress: Progress) -> None:
        read: dict[int, Input] = {}
        for job in group:
            try:
                read[id(job)] = self.setting.read(job)
            except MmpError as error:
                self._found[id(job)] = error
        for depth in sorted({picture.depth for picture in read.values()}):
            same = {key: picture for key, picture in read.items() if picture.depth == depth}
            try:
                found = self.encode(list(same.values()), progress)
            except Cancelled:
                raise
            except MmpError:
                # One of them is to blame; alone, each gets its own error or its encoding.
                self._found.update(
                    (key, self._alone(picture, progress)) for key, picture in same.items()
                )
            else:
                self._found.update(zip(same, found, strict=True))

    def _alone(self, picture: Input, progress: Progress) -> Found | MmpError:
        try:
            return self.encode([picture], progress)[0]
        except Cancelled:
            raise
        except MmpError as error:
            return error


def work_of(jobs: Sequence[Job]) -> int:
    """Fragments of all pictures, so far as their files say without being decoded."""
    from PIL import Image

    from mmpcodec.reference.trees.fragments import fragments_in

    total = 0
    for job in jobs:
        if job.source == output.STANDARD:
            continue
        try:
            with Image.open(job.source) as picture:
                width, height = picture.size
        except (OSError, ValueError, Image.DecompressionBombError):
            continue  # reading it will tell
        total += fragments_in((height, width))
    return total
