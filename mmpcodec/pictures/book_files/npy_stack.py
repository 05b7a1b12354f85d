"""Write the pictures of a book as one array, (N, H, W) or (N, H, W, C), in an NPY file."""

from typing import Any, BinaryIO

import numpy as np

from mmpcodec.pictures.book_files.pages import Pages
from mmpcodec.pictures.writing import lost


def write(stream: BinaryIO, pages: Pages, options: Any) -> None:
    """Write the header, then each picture as it comes; of bool if the depth is 1."""
    samples = pages.first.samples
    kind = np.dtype(bool) if pages.first.depth == 1 else samples.dtype
    header = {
        "descr": np.lib.format.dtype_to_descr(kind.newbyteorder("<")),
        "fortran_order": False,
        "shape": (len(pages), *samples.shape),
    }
    np.lib.format.write_array_header_1_0(stream, header)
    for picture in pages:
        stored = picture.samples.astype(kind.newbyteorder("<"), copy=False)
        stream.write(np.ascontiguousarray(stored).data)
        pages.lose(*lost(picture, "npy"))
        pages.lose_facts()
