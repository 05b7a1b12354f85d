"""Files that a command copies as they are, beside those that it codes."""

import os
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from mmpcodec.cli import output
from mmpcodec.cli.inputs.folders import SYSTEM, Reason
from mmpcodec.cli.jobs import Job
from mmpcodec.runtime import stores

HIDDEN_FOLDER = Reason("hidden folder or one of the system")
_BEGUN = re.compile(r"\.mmp-[0-9a-f]+\.part")
"""Names of files that are being written."""


class Copied(NamedTuple):
    """The result of copying a file, and why it was not coded."""

    input: str
    output: str
    input_bytes: int
    output_bytes: int
    reason: str

    def as_dict(self) -> dict[str, Any]:
        found = self._asdict()
        return {"copied": found.pop("reason"), **found}

    def text(self, verbose: bool) -> str:
        if self.input == self.output:
            return f"{self.input}: {self.input_bytes} bytes, left as it is: {self.reason}"
        names = output.shown_pair(self.input, self.output)
        return f"{names}: {self.input_bytes} bytes, copied as it is: {self.reason}"


def copied(job: Job, target: str, reason: str, *, force: bool = False) -> Copied:
    """Copy the input of a job; an equal copy that is there already stays.

    ``force`` says whether another one is overwritten.

    Raises
    ------
    FileError
        If it cannot be read or written.
    """
    data = output.read(job.source)
    if not is_copy(target, data):
        output.write(target, data, force=force or job.overwrite)
    return Copied(job.source, target, len(data), len(data), reason)


def is_copy(target: str, data: bytes) -> bool:
    """Return whether an output is a file with these bytes."""
    if stores.is_url(target) or not os.path.isfile(target):
        return False
    return os.path.getsize(target) == len(data) and output.read(target) == data


def with_copies(jobs: Sequence[Job]) -> list[Job]:
    """Return jobs; files of folders that are no inputs become ones that are copied.

    Files that a writer of this program has begun stay what they are; folders are named. A folder
    without inputs is no fault if something of it is copied.
    """
    found = [_with_copy(job) for job in jobs]
    if not any(job.copied for job in found):
        return found
    return [job for job in found if not (job.fault and "holds no " in job.fault)]


def _with_copy(job: Job) -> Job:
    if job.left_out is None or _BEGUN.fullmatch(os.path.basename(job.source)):
        return job
    if stores.is_url(job.source) or os.path.isfile(job.source):
        below = job.below or os.path.basename(job.source)
        return job._replace(left_out=None, below=below, copied=job.left_out.what)
    return job._replace(left_out=HIDDEN_FOLDER) if job.left_out == SYSTEM else job
