"""Search a picture, the pages of a book, or a series of slices: the work on one input."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from mmpcodec.cli import output
from mmpcodec.cli.commands.highlight.results import (
    Found,
    Highlighted,
    HighlightedBook,
    HighlightedSeries,
)
from mmpcodec.cli.encoding.series import name_of, opened_series
from mmpcodec.cli.inputs.opening import check_alike, naming_damaged, numbered, read_page
from mmpcodec.cli.jobs import Job
from mmpcodec.cli.work import JobProgress
from mmpcodec.errors import LimitExceeded, ParameterError, PictureError
from mmpcodec.format.collection import Role
from mmpcodec.limits import DecodeLimits
from mmpcodec.pictures.books.book import Book, named
from mmpcodec.runtime.files import STANDARD

if TYPE_CHECKING:
    import numpy as np

    from mmpcodec.analysis.regions import Limits
    from mmpcodec.analysis.volumes import Boxes
    from mmpcodec.picture import Picture

SUFFIX = ".regions.png"
NANOMETRES = 10**6
"""In a millimetre."""


class Sides(NamedTuple):
    """Limits of the sides of regions, and the border, as given: in pixels or per cent."""

    min_width: str | None
    max_width: str | None
    min_height: str | None
    max_height: str | None
    exclude_border: str

    def check(self) -> None:
        """Check all of them before the work.

        Raises
        ------
        ParameterError
            If one is neither pixels nor per cent.
        """
        for name, side in self._asdict().items():
            pixels(name, side, 1)

    def limits(self, width: int, height: int) -> "Limits":
        """Return the limits for a picture of this size."""
        from mmpcodec.analysis.regions import Limits

        return Limits(
            pixels("min_width", self.min_width, width) or 1,
            pixels("max_width", self.max_width, width),
            pixels("min_height", self.min_height, height) or 1,
            pixels("max_height", self.max_height, height),
        )

    def border(self, width: int, height: int) -> int:
        """Return the border in pixels of a picture of this size."""
        return pixels("exclude_border", self.exclude_border, min(width, height)) or 0


def pixels(name: str, side: str | None, whole: int) -> int | None:
    """Parse a length in pixels, or in per cent of ``whole``; the result is in pixels.

    Raises
    ------
    ParameterError
        If it is neither.
    """
    if side is None:
        return None
    number = side.removesuffix("%")
    try:
        value = float(number) if side.endswith("%") else int(number)
    except ValueError:
        value = -1
    if not value >= 0 or (side.endswith("%") and value > 100):
        raise ParameterError(
            f"{name} = {side!r}: must be pixels (40) or per cent from 0 to 100 (12.5%)"
        )
    return round(value * whole / 100) if side.endswith("%") else int(value)


@dataclass(frozen=True)
class HighlightInput:
    """Searches an input, and draws what it has found; goes to the workers of a cluster as it is.

    Parameters
    ----------
    offset, white, dark, regions
        As in ``analysis.regions.find_regions``.
    sides : Sides
    mask : str or None
        File of the mask.
    denoise : int or None
        Radius of a median filter before the search.
    page : int or None
        Number of the only page to search, from 1.
    seconds : float or None
        Time limit of a search.
    small : bool
        Whether small drawings are made, too.
    limits : DecodeLimits
    backend : str
    """

    offset: str
    white: int | None
    dark: bool
    regions: int
    sides: Sides
    mask: str | None
    denoise: int | None
    page: int | None
    seconds: float | None
    small: bool
    limits: DecodeLimits
    backend: str

    def __call__(self, job: Job, progress: JobProgress) -> Found:
        """Search all pictures of an input.

        Raises
        ------
        MmpError
            If a picture cannot be read or searched, or a drawing cannot be written.
        """
        assert job.target is not None
        with opened_series(job, self.limits) as book:
            if self.page is not None:
                return self._alone(job, job.source, read_page(book, self.page), job.target)
            if len(book) == 1:
                return self._alone(job, job.source, book.read(0), job.target)
            if job.target == STANDARD:
                raise ParameterError(
                    f"-o {STANDARD}: {job.name} holds {len(book)} pictures, whose drawings are "
                    "several files; -o FILE.png numbers them, --page N searches one"
                )
            book = naming_damaged(book)
            if book.role == Role.SLICE:
                return self._series(job, book, progress)
            return HighlightedBook(job.source, tuple(self._pages(job, book, progress)))

    def _alone(self, job: Job, name: str, picture: "Picture", target: str) -> Highlighted:
        """Search a picture, and draw its regions."""
        from mmpcodec import pictures
        from mmpcodec.analysis import outlines
        from mmpcodec.analysis.regions import find_regions
        from mmpcodec.solvers import dispatch, max_sum

        picture = picture.without_alpha()
        height, width = picture.samples.shape[:2]
        started = time.perf_counter()
        searched = self._denoised(picture)
        found = self._in_time(
            find_regions, searched, limits=self.sides.limits(width, height), **self._how(picture)
        )
        seconds = time.perf_counter() - started
        drawn = outlines.draw_regions(picture, found.regions, white=self.white)
        output.write(target, pictures.to_bytes(drawn, "png"), force=job.overwrite)
        return Highlighted(
            name,
            target,
            width,
            height,
            picture.white if self.white is None else self.white,
            int(searched.samples.max()),
            found,
            picture.metadata,
            seconds,
            dispatch.resolved(max_sum.__name__, self.backend),
            outlines.thumbnail(drawn) if self.small else None,
        )

    def _pages(self, job: Job, book: Book, progress: JobProgress) -> Iterator[Highlighted]:
        """Search each page of a book on its own."""
        targets = self._targets(job, book, range(len(book)))
        for number, target in enumerate(targets):
            name = named(job.source, book.role, number, len(book))
            yield self._alone(job, name, book.read(number), target)
            progress(number + 1, len(book))

    def _series(self, job: Job, book: Book, progress: JobProgress) -> HighlightedSeries:
        """Search the volume of a series of slices, and draw its boxes on the slices they touch."""
        from mmpcodec import pictures
        from mmpcodec.analysis import outlines
        from mmpcodec.analysis.volumes import Spacing, find_boxes
        from mmpcodec.solvers import dispatch, max_sum

        started = time.perf_counter()
        volume, unit, highest, first = self._volume(book, progress)
        slices, height, width = volume.shape
        found: Boxes = self._in_time(
            find_boxes,
            volume,
            unit,
            first.white,
            limits=self.sides.limits(width, height),
            **self._how(first),
        )
        del volume
        seconds = time.perf_counter() - started
        touched = sorted({n for box in found.boxes for n in range(box.front, box.back + 1)})
        middles = {box.middle for box in found.boxes}
        smalls = []
        targets = self._targets(job, book, touched)
        for number, target in zip(touched, targets, strict=True):
            here = [box.region for box in found.boxes if box.front <= number <= box.back]
            picture = book.read(number).without_alpha()
            drawn = outlines.draw_regions(picture, here, white=self.white)
            output.write(target, pictures.to_bytes(drawn, "png"), force=job.overwrite)
            if self.small and number in middles:
                name = named(job.source, book.role, number, slices)
                smalls.append((name, outlines.thumbnail(drawn)))
        return HighlightedSeries(
            job.source,
            name_of(job),
            tuple(targets),
            (slices, height, width),
            first.white if self.white is None else self.white,
            highest,
            found,
            Spacing([facts[0] / NANOMETRES for facts in book.facts]),
            first.metadata,
            seconds,
            dispatch.resolved(max_sum.__name__, self.backend),
            smalls,
        )

    def _volume(self, book: Book, progress: JobProgress) -> "tuple[np.ndarray, int, int, Picture]":
        """Return the luminance of all slices, integers per level, highest sample, first slice.

        Raises
        ------
        PictureError
            If slices differ in what must be equal, or there are too many samples.
        """
        import numpy as np

        from mmpcodec.analysis.regions import luminance

        first = self._denoised(book.read(0).without_alpha())
        total = len(book) * first.samples.size
        if fault := self.limits.fault("max_samples", total, "samples of all slices together"):
            raise PictureError(f"{book.name}: {fault}; --page N searches one slice")
        values, unit = luminance(first.samples)
        kept = first.samples.dtype if unit == 1 else np.dtype(np.int32)
        volume = np.empty((len(book), *values.shape), kept)
        highest = 0
        for number in range(len(book)):
            picture = self._denoised(book.read(number).without_alpha()) if number else first
            check_alike(first, picture, named(book.name, book.role, number, len(book)))
            volume[number] = luminance(picture.samples)[0]
            highest = max(highest, int(picture.samples.max()))
            progress(number + 1, len(book))
        return volume, unit, highest, first

    @staticmethod
    def _targets(job: Job, book: Book, numbers: Iterable[int]) -> list[str]:
        """Return the drawings of some pictures, and check that they can be written."""
        assert job.target is not None
        target, force = job.target, job.overwrite
        return [numbered(target, number, book, SUFFIX, force=force) for number in numbers]

    def _denoised(self, picture: "Picture") -> "Picture":
        """Return a picture after the median filter, if one was asked for."""
        from mmpcodec.analysis.denoise import denoise

        if self.denoise is None:
            return picture
        samples = denoise(picture.samples, self.denoise, backend=self.backend)
        return replace(picture, samples=samples)

    def _how(self, picture: "Picture") -> dict[str, Any]:
        """Return the options of a search in a picture, or in a series of pictures of its size."""
        height, width = picture.samples.shape[:2]
        return {
            "offset": self.offset,
            "white": self.white,
            "dark": self.dark,
            "k": self.regions,
            "mask": None if self.mask is None else read_mask(self.mask, self.limits),
            "border": self.sides.border(width, height),
            "backend": self.backend,
        }

    def _in_time(self, find: Any, *what: Any, **how: Any) -> Any:
        """Search within the limit of time.

        Raises
        ------
        LimitExceeded
            If that takes too long. The message says what makes it faster.
        """
        try:
            return find(*what, time_limit=self.seconds, **how)
        except LimitExceeded as error:
            if self.seconds is None:
                raise
            reason = "more seconds, fewer regions or limits of their sides give one"
            raise LimitExceeded(
                "Regions", f"no answer in --seconds {self.seconds:g}; {reason}"
            ) from error


@lru_cache(maxsize=1)
def read_mask(mask: str, limits: DecodeLimits) -> "np.ndarray":
    """Read the mask, (H, W), 0 where pixels do not count; of colours the largest sample counts."""
    samples = output.read_picture(mask, limits).without_alpha().samples
    return samples if samples.ndim == 2 else samples.max(axis=2)
