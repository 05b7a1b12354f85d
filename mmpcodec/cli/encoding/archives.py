"""``mmp encode --for archive``: every file of a folder, so that all come back."""

import os
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mmpcodec.cli import output
from mmpcodec.cli.copies import Copied, copied, is_copy, with_copies
from mmpcodec.cli.encoding.choices import FLAGS
from mmpcodec.cli.help import OUTPUT
from mmpcodec.cli.inputs.folders import PICTURES_AND_STORES as PICTURES
from mmpcodec.cli.jobs import Job
from mmpcodec.cli.options import check_alone
from mmpcodec.cli.printing import Printer, counted
from mmpcodec.errors import BackendUnavailable, Cancelled, FileError, MmpError, PictureError
from mmpcodec.pictures.registry import ON_REQUEST
from mmpcodec.runtime import stores

if TYPE_CHECKING:
    from mmpcodec import Encoding


class Purpose(StrEnum):
    """What files are for; each stands for several options."""

    ARCHIVE = "archive"


For = Annotated[
    Purpose | None,
    typer.Option(
        "--for",
        help="archive: --lossless --append-suffix --strict --keep dicom, and JPEG files are kept "
        "bit for bit; with -O, files that are no pictures, or would not become smaller, are "
        "copied. mmp decode --original gives all files back.",
        rich_help_panel=OUTPUT,
    ),
]
MMP, PDF = ".mmp", ".pdf"
SETS = "--lossless --append-suffix --strict --keep " + " --keep ".join(ON_REQUEST)
"""Options that an archive stands for."""


AGAINST = {
    "out": "-o",
    **FLAGS,
    "max_error": "--max-error",
    **{name: f"--{name}" for name in ("together", "split", "samples", "page", "pages")},
    **{name: f"--{name}" for name in ("denoise", "depth", "range", "roi", "strip", "tile")},
    "levels": "--levels",
}
"""Options that contradict an archive, by their parameters."""


def of(values: Mapping[str, Any]) -> "Archive | None":
    """Return the archive for which the parameters of the command are; None for none.

    Raises
    ------
    ParameterError
        If an option contradicts it.
    """
    if values["purpose"] is None:
        return None
    others = {option: values[name] for name, option in AGAINST.items()}
    check_alone(f"--for {values['purpose']}", others)
    return Archive(values["folder"], goes_on=values["skip_existing"] or values["update"])


def archived(encode: Callable[[], Any], job: Job) -> Any:
    """Encode a file; copy it where that fails, or where the output would not be smaller.

    Parameters
    ----------
    encode : callable
        Returns the result, whose file has the name of the job's output.
    job : Job

    Raises
    ------
    FileError
        If the file cannot be read, or an output not written.
    """
    assert job.target is not None
    try:
        found = encode()
    except (FileError, BackendUnavailable, Cancelled):
        raise
    except MmpError as error:
        if not os.path.isfile(job.source) or isinstance(error, OSError):
            raise
        return _copied_instead(job, str(error).removeprefix(f"{job.name}: "))
    if not os.path.isfile(job.source) or found.output_bytes < output.size_of(job.source):
        remove_other(_target_of_copy(job), job)
        return found
    return _copied_instead(job, "its mmp file would not be smaller")


def _copied_instead(job: Job, reason: str) -> Copied:
    """Copy the file of a job in place of its output, which is removed."""
    assert job.target is not None
    row = copied(job, _target_of_copy(job), reason, force=True)
    remove_other(job.target, job)
    return row


def remove_other(target: str, job: Job) -> None:
    """Remove what an earlier run has made of the file of a job, in the way that is not taken now.

    Only this file has an output of this name.
    """
    if os.path.isfile(target) and not os.path.samefile(target, job.source):
        os.remove(target)


def check_opens(found: "Encoding", job: Job) -> None:
    """Check that a file that is kept opens within the default limits.

    Raises
    ------
    PictureError
        If it does not, so that the JPEG file itself is copied.
    """
    from mmpcodec.codec.limits.seconds import opens_by_default

    if found.jpeg_bytes and not opens_by_default(found.data):
        raise PictureError(f"{job.name}: its mmp file takes long to decode")


def _target_of_copy(job: Job) -> str:
    """Return the output of a job without the suffix that was appended to the input's name."""
    assert job.target is not None
    return job.target.removesuffix(".mmp")


class Archive:
    """Makes the jobs of an archive, and adds up what becomes of them.

    Parameters
    ----------
    folder : str or None
        Value of -O: files that are no pictures are copied to it.
    goes_on : bool
        Whether outputs that exist may stay: then copies that are equal do.
    """

    remarks = (f"--for {Purpose.ARCHIVE}: {SETS}",)

    def __init__(self, folder: str | None, *, goes_on: bool = False):
        self._folder, self._goes_on = folder, goes_on
        own = PICTURES.own if folder is None else ()
        self.kind = PICTURES._replace(own=own)
        self.totals = ArchiveTotals()

    def __call__(self, found: list[Job]) -> list[Job]:
        """Return the jobs of the files that were found."""
        if self._folder is None:
            return found
        apart = [job for job in found if not self._is_output(job)]
        return [self._copy_of(job) for job in with_copies(apart)]

    def _is_output(self, job: Job) -> bool:
        """Return whether a file lies in the folder of outputs, which may lie in that of inputs."""
        assert self._folder is not None
        if stores.is_url(self._folder) or stores.is_url(job.source):
            return False
        return os.path.realpath(job.source).startswith(os.path.realpath(self._folder) + os.sep)

    def _copy_of(self, job: Job) -> Job:
        """Return the job of a copy for files that are never coded; skip copies that are equal."""
        assert self._folder is not None
        suffix = os.path.splitext(job.source)[1].lower()
        if job.to_do and suffix == MMP:
            # The name of an output is that of its file, and the suffix besides.
            return job._replace(copied="mmp file", below=job.below + MMP)
        if job.to_do and suffix == PDF and not job.copied:
            return job._replace(copied="PDF, of which samples are not all")
        if not (self._goes_on and job.to_do and not job.copied and os.path.isfile(job.source)):
            return job
        target = os.path.join(self._folder, job.below)
        if os.path.isfile(target) and is_copy(target, output.read(job.source)):
            return job._replace(skipped=f"{target} is a copy")
        return job

    def seen(self, found: Any) -> None:
        """Add the result of a file."""
        self.totals.add(found)

    def show_totals(self, printer: Printer) -> None:
        """Print the numbers of files and bytes."""
        printer.show(self.totals)


class ArchiveTotals:
    """The files and bytes of an archive, which are printed at its end."""

    def __init__(self) -> None:
        self.jpegs = self.pictures = self.copies = self.input_bytes = self.output_bytes = 0

    def add(self, found: Any) -> None:
        """Add the result of a file."""
        self.input_bytes += found.input_bytes
        self.output_bytes += found.output_bytes
        if isinstance(found, Copied):
            self.copies += 1
        elif getattr(found, "jpeg_bytes", 0):
            self.jpegs += 1
        else:
            self.pictures += 1

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers as JSON can hold them."""
        return {"archive": dict(vars(self))}

    def text(self, verbose: bool) -> str:
        """Return one line of text."""
        share = f" ({self.output_bytes / self.input_bytes:.1%})" if self.input_bytes else ""
        return (
            f"archive: {counted(self.jpegs, 'JPEG file')} kept, "
            f"{counted(self.pictures, 'other file')} coded without loss, "
            f"{counted(self.copies, 'file')} copied; "
            f"{self.input_bytes} -> {self.output_bytes} bytes{share}"
        )
