"""``Origin``: what a written file may say of the mmp file that its picture comes from."""

from collections.abc import Callable
from dataclasses import dataclass

from mmpcodec.format.collection import Role


@dataclass(frozen=True)
class Origin:
    """What a file that is written knows of the mmp file, besides the picture.

    Parameters
    ----------
    coded_bytes : int or None
        Bytes of the mmp file of the picture, or of all pictures of a file.
    lossless : bool, callable or None
        Whether the mmp file is lossless, or what returns it when all pictures are read; None if
        that is unknown. Samples that were kept with their hash tell it themselves.
    series : str
        What all files of a series have alike, such as the name of their collection, so that they
        get the same UIDs; empty for a file alone.
    number : int
        Number of the picture in its series, from 0.
    role : Role
    facts : tuple of int
        See ``collection.FACTS``.
    """

    coded_bytes: int | None = None
    lossless: bool | Callable[[], bool | None] | None = None
    series: str = ""
    number: int = 0
    role: Role = Role.PAGE
    facts: tuple[int, ...] = ()


ALONE = Origin()
