"""Write the pictures of a book as the frames of a DICOM file."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, BinaryIO

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
            yield picture

    book = pages.book
    writing.write(read(), stream, replace(options.origin, role=book.role), book.facts)
