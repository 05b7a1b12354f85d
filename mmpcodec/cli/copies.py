"""Files that a command copies as they are, beside those that it codes."""

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from mmpcodec.cli import output
from mmpcodec.cli.inputs.folders import SYSTEM
from mmpcodec.cli.jobs import Job
from mmpcodec.runtime import stores


class Copied(NamedTuple):
    """The result of copying a file, and why it was not coded."""

    input: str
    output: str
    input_bytes: int
    output_bytes: int
    reason: str

    def as_dict(self) -> dict[str, Any]:
        found = self._asdict()
        return {**found, "copied": found.pop("reason")}

    def text(self, verbose: bool) -> str:
        names = output.shown_pair(self.input, self.output)
        return f"{names}: {self.input_bytes} bytes, copied as it is: {self.reason}"


def copied(job: Job, target: str, reason: str) -> Copied:
    """Copy the input of a job; a copy that is there already stays.

    Raises
    ------
    FileError
        If it cannot be read or written.
    """
    data = output.read(job.source)
    if not (output.exists(target) and os.path.isfile(target) and output.read(target) == data):
        output.write(target, data, force=job.overwrite)
    return Copied(job.source, target, len(data), len(data), reason)


def with_copies(jobs: Sequence[Job]) -> list[Job]:
    """Return jobs; files of folders that are no inputs become ones that are copied.

    Those of the system, such as ``.DS_Store``, are left out.
    """
    return [
        job._replace(left_out=None, copied=job.left_out.what)
        if job.left_out not in (None, SYSTEM) and job.left_out is not None and _is_file(job)
        else job
        for job in jobs
    ]


def _is_file(job: Job) -> bool:
    return stores.is_url(job.source) or os.path.isfile(job.source)
