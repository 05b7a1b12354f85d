"""Write the pictures of a book as one OME-Zarr image: slices and pages along z, frames along t."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from mmpcodec.depth import sample_type
from mmpcodec.format.collection import Role
from mmpcodec.pictures import ome_zarr
from mmpcodec.pictures.book_files.pages import Pages
from mmpcodec.pictures.limits import library

_NANOMETRES = 1000
"""In a micrometre, the unit of OME-Zarr images that this project writes."""


def write(path: str, pages: Pages, options: Any) -> None:
    """Write each picture as it comes. A chunk has all planes of a square of one picture.

    Raises
    ------
    MissingExtra
        If zarr is not installed.
    """
    zarr = library("zarr", "a zarr store", path, extra="arrays")
    samples, depth = pages.first.samples, pages.first.depth
    along_time = pages.book.role == Role.FRAME
    axis = 0 if along_time or samples.ndim == 2 else 1
    step, even = _step(pages)
    found = ome_zarr.image_metadata(
        samples.shape, depth, pages.first.metadata.resolution, [ome_zarr.LEVEL]
    )
    first = found["multiscales"][0]
    own = {"name": "t", "type": "time"} if along_time else {"name": "z", "type": "space"}
    if step is not None:
        own["unit"] = "second" if along_time else "micrometer"
    first["axes"].insert(axis, own)
    first["datasets"][0]["coordinateTransformations"][0]["scale"].insert(axis, step or 1.0)
    group = zarr.open_group(path, mode="w-", zarr_format=3)
    group.attrs["ome"] = found
    planes, side = samples.shape[2:], ome_zarr.USUAL_SIDE
    shape, chunks = [*planes, *samples.shape[:2]], [*planes, side, side]
    shape.insert(axis, len(pages))
    chunks.insert(axis, 1)
    array = group.create_array(
        ome_zarr.LEVEL,
        shape=tuple(shape),
        chunks=tuple(chunks),
        dtype=np.dtype(bool if depth == 1 else sample_type(depth)).name,
        dimension_names=[each["name"] for each in first["axes"]],
        attributes={ome_zarr.OWN: {"depth": depth}},
    )
    for picture in pages:
        stored = picture.samples.astype(array.dtype, copy=False)
        place: list[Any] = [slice(None)] * len(shape)
        place[axis] = pages.number
        array[tuple(place)] = np.moveaxis(stored, 2, 0) if stored.ndim == 3 else stored
        metadata = picture.metadata
        resolution = metadata.resolution
        kept = resolution is not None and resolution.unit != "none"
        kept = kept and resolution == pages.first.metadata.resolution
        pages.lose_metadata(metadata, kept=("resolution",) if kept else ())
        pages.lose_white(picture)
        if not even:
            pages.lose("durations" if along_time else "positions")
        elif pages.book.role == Role.PAGE:
            pages.lose_facts()


def _step(pages: Pages) -> tuple[float | None, bool]:
    """Return the seconds or micrometres from picture to picture, if all are equal, and whether."""
    book = pages.book
    if book.role == Role.FRAME:
        durations = {facts[0] / facts[1] for facts in book.facts}
        even = len(durations) == 1
        return (durations.pop() or None if even else None), even
    step = spacing(book.facts) if book.role == Role.SLICE else None
    if step is None:
        return None, book.role != Role.SLICE or len(book.facts) < 2
    return step / _NANOMETRES, True


def spacing(facts: Sequence[tuple[int, ...]]) -> float | None:
    """Return the nanometres from slice to slice; None unless they rise evenly.

    Positions are whole nanometres, so steps may differ by one.
    """
    places = [own[0] for own in facts]
    if len(places) < 2:
        return None
    steps = [after - before for before, after in itertools.pairwise(places)]
    if min(steps) <= 0 or max(steps) - min(steps) > 2:
        return None
    return (places[-1] - places[0]) / len(steps)
