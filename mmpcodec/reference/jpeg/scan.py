"""What scans say beside levels, and the order of their blocks.

Source: section "Kept JPEG files", "Data of a scan", of ``docs/format/format.md``.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from mmpcodec.reference.jpeg.picture import JpegPicture

ONES, ZEROS, LISTED = 0, 1, 2
MOST_RUN, USUAL_REFINEMENTS = 32767, 937


@dataclass
class ScanDetails:
    """What levels and headers do not say about the bytes of a scan.

    Parameters
    ----------
    cut : int
        Bytes of the data, or 0 if it ends with the last block.
    padding : int
        How the bits that complete bytes are set: 0 ones, 1 zeros, 2 listed.
    padding_bits : list of int
    zeros : list of (block, count)
        How often 16 zeros are coded before the end of a block.
    most_run, most_refinements : int
    run_starts : list of int
        Blocks at which a new run begins although the one before could go on.
    """

    cut: int = 0
    padding: int = ONES
    padding_bits: list[int] = field(default_factory=list)
    zeros: list[tuple[int, int]] = field(default_factory=list)
    most_run: int = MOST_RUN
    most_refinements: int = USUAL_REFINEMENTS
    run_starts: list[int] = field(default_factory=list)


def blocks_of(picture: JpegPicture) -> Iterator[tuple[int, int, int, int, bool]]:
    """Yield the blocks of the scan whose header a picture has.

    Yields
    ------
    (int, int, int, int, bool)
        Number in the scan and in the frame of its component; row and column; whether a restart
        marker stands before it.
    """
    scan = picture.scan
    if len(scan.components) == 1:
        own = picture.components[scan.components[0]]
        rows, columns, parts = own.own_rows, own.own_columns, [(0, scan.components[0], 1, 1)]
    else:
        rows, columns = picture.mcu_rows, picture.mcu_columns
        parts = [
            (i, number, picture.components[number].across, picture.components[number].down)
            for i, number in enumerate(scan.components)
        ]
    interval = picture.restart_interval
    for row in range(rows):
        for column in range(columns):
            unit = row * columns + column
            restarts = interval > 0 and unit > 0 and unit % interval == 0
            for i, number, across, down in parts:
                for j in range(down):
                    for k in range(across):
                        yield i, number, row * down + j, column * across + k, restarts
                        restarts = False
