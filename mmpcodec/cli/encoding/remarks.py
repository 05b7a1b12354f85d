"""What ``mmp encode`` says besides results: where outputs lie, that one is large, few levels."""

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mmpcodec.cli.encoding.jpeg_files import keeps_jpeg
from mmpcodec.cli.jobs import Job
from mmpcodec.cli.printing import counted
from mmpcodec.pictures import registry
from mmpcodec.runtime import stores

if TYPE_CHECKING:
    from mmpcodec.format.container import Header

COMPRESSED = ("JPEG", "WebP", "AVIF", "JPEG 2000", "JPEG XL", "HEIC")
"""Formats whose files mostly have lost something, which a lossless file of them cannot undo."""


def beside_inputs(given: Sequence[str], jobs: Sequence[Job], named: str | None) -> list[str]:
    """Return what is written where, for folders whose outputs lie among their files.

    Nothing is said if ``named``, the value of -o or -O, says where outputs lie.
    """
    lines = []
    for name in map(stores.without_file, given if named is None else ()):
        below = os.path.join(name, "")
        number = sum(job.to_do and job.source.startswith(below) for job in jobs)
        if number and not stores.is_zarr(name):
            lines.append(
                f"{name}: {counted(number, 'picture')}, each becomes an mmp file beside it; "
                "-O DIR writes them elsewhere"
            )
    return lines


def larger_than_source(
    job: Job, input_bytes: int, output_bytes: int, *, lossless: bool, against: str = ""
) -> str | None:
    """Return a remark if the source is a compressed file, such as a JPEG, and the output larger.

    ``against`` is the option by which a JPEG file is not kept itself.
    """
    if output_bytes <= input_bytes or not os.path.isfile(job.source):
        return None
    try:
        with open(job.source, "rb") as stream:
            row = registry.format_at(stream.read(registry.HEAD))
    except OSError:
        return None
    is_jpeg = row is not None and row.title == "JPEG"
    if lossless and against and row is not None and row.is_mmp:
        is_jpeg = keeps_jpeg(job.source, 1)
    if row is None or not (is_jpeg or row.title in COMPRESSED):
        return None
    if lossless and against and is_jpeg:
        return (
            f"{job.name}: the output has {output_bytes / input_bytes:.1f} times the bytes of this "
            f"JPEG file, as {against} codes its samples; without, the file itself is kept, in "
            "fewer bytes"
        )
    advice = "a quality in place of lossless" if lossless else "a lower quality"
    return (
        f"{job.name}: the output has {output_bytes / input_bytes:.1f} times the bytes of this "
        f"{row.title} file; {advice} makes it smaller, or keep the file as it is"
    )


def of_file(header: "Header", max_error: int, keep: Sequence[str]) -> Iterator[str]:
    """Yield the remarks on a file that was encoded; ``keep`` has the values of --keep."""
    if remark := few_levels(header, max_error):
        yield remark
    if max_error and header.depth == 1:
        yield (
            "has 1 bit a sample and is coded with loss, so some black pixels become white or white "
            "ones black; without an option of loss, none does"
        )
    if header.metadata.dicom and "dicom" not in keep:
        yield (
            "has attributes of a DICOM file, which may name the patient, and keeps them; "
            "--strip dicom leaves them out"
        )


def few_levels(header: "Header", max_error: int) -> str | None:
    """Return a remark if a lossy file's range is below a tenth of its levels, or has no sample."""
    from mmpcodec.codec.levels import Levels
    from mmpcodec.depth import most

    levels = Levels.of(header)
    low, high = levels.range
    least, largest = levels.first, levels.first + most(levels.bits)
    if max_error and (high < least or largest < low):
        return (
            f"has no sample from {low} to {high}, the range to which quality and "
            f"lambda refer; a --range within {least} to {largest} has samples"
        )
    if not max_error or not levels.little:
        return None
    return (
        f"uses few of its levels, {low} to {high} of 0 to {most(levels.depth)}; "
        "quality and lambda refer to these, --range names others"
    )
