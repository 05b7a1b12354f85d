"""Work of `mmp encode` without encoding, which measures what the cluster costs."""

import functools
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

import mmpcodec
from mmpcodec import EncodeParams
from mmpcodec.cli.commands.encode import EncodeFiles
from mmpcodec.cli.encoding.encoded import Encoded
from mmpcodec.cli.encoding.sources import Setting
from mmpcodec.cli.jobs import Job
from mmpcodec.cli.work import JobProgress


@functools.cache
def example() -> Encoded:
    """Return the result of encoding a small picture; each process encodes it once."""
    samples = np.add.outer(np.arange(64), 2 * np.arange(64)).astype(np.uint8)
    params = EncodeParams(32)
    found = mmpcodec.encode_picture(samples, params)
    return Encoded.of(Job("", ""), found, samples.size, False, Setting(params, "auto", 1))


@dataclass(frozen=True)
class Idle:
    """Work that returns a result like that of ``mmp encode`` for each job, and does nothing else.

    It holds the work of ``mmp encode``, so that tasks are as large, and it prepares each task on
    the worker in the same way. ``sleep`` is in seconds a job.
    """

    encode: EncodeFiles
    sleep: float = 0.0

    @property
    def parameters(self) -> str:
        """What a manifest keeps."""
        return self.encode.parameters

    def together(self, jobs: Sequence[Job]) -> "Idle":
        """Prepare a task as ``mmp encode`` does."""
        return replace(self, encode=self.encode.together(jobs))

    def __call__(self, job: Job, progress: JobProgress) -> Encoded:
        """Return the result of the example with the names of the job."""
        assert job.target is not None
        time.sleep(self.sleep)
        return example()._replace(input=job.source, output=job.target)


def idle() -> Idle:
    """Return work with the settings of `mmp encode` without options."""
    params = EncodeParams.from_options(32.0, preset="auto", effort=2)
    return Idle(EncodeFiles(Setting(params, "auto", 1)))
