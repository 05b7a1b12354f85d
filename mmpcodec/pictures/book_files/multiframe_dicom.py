"""Write the pictures of a book as the frames of a DICOM file."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, BinaryIO

from mmpcodec.format.collection import Role
from mmpcodec.picture import Picture
from mmpcodec.pictures.book_files.pages import Pages
from mmpcodec.pictures.dicom import writing
from mmpcodec.pictures.writing import lost


def write(stream: BinaryIO, pages: Pages, options: Any) -> None:
    """Write each frame as it comes: the DICOM file that they were, or a Secondary Capture.

    Raises
    ------
    ParameterError
        If the pictures are of several DICOM files, or changed in size or depth.
    MissingExtra
        If pydicom is not installed.
    """

    def read() -> Iterator[Picture]:
        for picture in pages:
            pages.lose(*lost(picture, "dcm"))
            if pages.book.role == Role.PAGE:
                pages.lose_facts()
            yield picture

    book = pages.book
    writing.write(read(), stream, replace(options.origin, role=book.role), book.facts)
    # The file says how long after the frame before each one is shown, and not when it ends.
    if book.role == Role.FRAME and len({*book.facts}) > 1 and book.facts[-1] != book.facts[-2]:
        pages.lose("durations")
