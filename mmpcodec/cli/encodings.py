"""Where ``mmp encode`` gets its encodings from: one picture at a time, or groups on a device."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, Protocol

from mmpcodec.cli import output
from mmpcodec.cli.batch import Progress
from mmpcodec.cli.plan import Job
from mmpcodec.errors import Cancelled, MmpError
from mmpcodec.params import EncodeParams

if TYPE_CHECKING:
    import numpy as np

    from mmpcodec import Encoding, Pass, Target

GROUP = 64
"""Pictures that are read and encoded at once; more do not make a device faster."""


@dataclass(frozen=True)
class Picture:
    """A picture that was read."""

    samples: "np.ndarray"
    depth: int
    input_bytes: int

    @classmethod
    def of(cls, job: Job, denoise: int | None, backend: str) -> "Picture":
        """Read a picture; ``denoise`` is the radius of a median filter there, or None."""
        from mmpcodec import pictures

        data = output.read(job.source)
        picture = pictures.from_bytes(data, job.name)
        samples = picture.samples
        if denoise is not None:
            from mmpcodec.analysis import median

            samples = median.denoise(samples, denoise, backend=backend)
        return cls(samples, picture.depth, len(data))


@dataclass(frozen=True)
class Found:
    """An encoding, what it is of, and the time that it took."""

    encoding: "Encoding"
    samples: "np.ndarray"
    input_bytes: int
    seconds: float


class Encodings(Protocol):
    """Gives the encoding of a job, or raises what went wrong with it."""

    def of(self, job: Job, progress: Progress) -> Found: ...


class OneByOne:
    """Encodes each picture when it is asked for."""

    def __init__(
        self, params: EncodeParams, backend: str, threads: int | None, denoise: int | None = None
    ):
        self.params = params
        self.backend = backend
        self.threads = threads
        self.denoise = denoise

    def of(self, job: Job, progress: Progress) -> Found:
        return self.encode([Picture.of(job, self.denoise, self.backend)], progress)[0]

    def encode(
        self, pictures: Sequence[Picture], progress: Progress, **options: Any
    ) -> list[Found]:
        """Encode pictures of one depth at once; each gets an equal share of the time.

        The options are those of ``encode_pictures``.
        """
        import mmpcodec

        started = time.perf_counter()
        encodings = mmpcodec.encode_pictures(
            [picture.samples for picture in pictures],
            self.params,
            depth=pictures[0].depth,
            backend=self.backend,
            threads=self.threads,
            progress=progress,
            **options,
        )
        seconds = (time.perf_counter() - started) / len(pictures)
        return [
            Found(encoding, picture.samples, picture.input_bytes, seconds)
            for encoding, picture in zip(encodings, pictures, strict=True)
        ]


class ToTarget(OneByOne):
    """Encodes each picture when it is asked for, with the lambda that keeps a target.

    Parameters
    ----------
    params : EncodeParams
    backend : str
    threads : int or None
    denoise : int or None
    target : Target
    on_pass : callable
        ``on_pass(job, number, Pass)`` is told of each pass, its number from 1.
    """

    def __init__(
        self,
        params: EncodeParams,
        backend: str,
        threads: int | None,
        denoise: int | None,
        target: "Target",
        on_pass: "Callable[[Job, int, Pass], None]",
    ):
        super().__init__(params, backend, threads, denoise)
        self.target = target
        self.on_pass = on_pass

    def of(self, job: Job, progress: Progress) -> Found:
        numbers = count(1)

        def told(found: "Pass") -> None:
            number = next(numbers)
            self.on_pass(job, number, found)
            progress.say(f"pass {number + 1}")

        progress.say("pass 1")
        picture = Picture.of(job, self.denoise, self.backend)
        return self.encode([picture], progress, target=self.target, on_pass=told)[0]


class InGroups(OneByOne):
    """Encodes pictures in groups: the first that is asked for brings its whole group along.

    Parameters
    ----------
    params : EncodeParams
    backend : str
    threads : int or None
    jobs : sequence of Job
        All jobs, in the order in which they will be asked for.
    denoise : int or None
        Radius of the median filter that comes first.
    """

    def __init__(
        self,
        params: EncodeParams,
        backend: str,
        threads: int | None,
        jobs: Sequence[Job],
        denoise: int | None = None,
    ):
        super().__init__(params, backend, threads, denoise)
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
        read: dict[int, Picture] = {}
        for job in group:
            try:
                read[id(job)] = Picture.of(job, self.denoise, self.backend)
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

    def _alone(self, picture: Picture, progress: Progress) -> Found | MmpError:
        try:
            return self.encode([picture], progress)[0]
        except Cancelled:
            raise
        except MmpError as error:
            return error


def work_of(jobs: Sequence[Job]) -> int:
    """Fragments of all pictures, so far as their files say without being decoded."""
    from PIL import Image

    from mmpcodec.codec.fragments import fragments_in

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
