"""Read and encode pictures for ``mmp encode``: one at a time, or groups on a device."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from mmpcodec.cli import output
from mmpcodec.cli.encoding.book_options import BookOptions
from mmpcodec.cli.encoding.jpeg_files import EncodedInput, JpegFiles
from mmpcodec.cli.encoding.roi import Roi
from mmpcodec.cli.jobs import Job
from mmpcodec.cli.work import JobProgress
from mmpcodec.depth import BYTE, coded_depth
from mmpcodec.errors import Cancelled, FormatError, MmpError, ParameterError, PictureError
from mmpcodec.limits import UNLIMITED, DecodeLimits
from mmpcodec.params import EncodeParams
from mmpcodec.runtime import stores
from mmpcodec.runtime.files import STANDARD
from mmpcodec.runtime.progress import Progress
from mmpcodec.runtime.tasks import side_by_side

if TYPE_CHECKING:
    import numpy as np

    from mmpcodec import Encoding, Pass, Target
    from mmpcodec.cli.encoding.input_picture import InputPicture
    from mmpcodec.codec.tiles.renditions import LevelFiles
    from mmpcodec.metadata import Metadata
    from mmpcodec.picture import Picture, Reader
    from mmpcodec.pictures.books.book import Book

GROUP = 64
"""Number of pictures that a device encodes together; larger groups are not faster."""


def picture_of(
    file: str, name: str, depth: int | None, limits: DecodeLimits, page: int | None = None
) -> "Picture":
    """Read a picture; with ``depth`` bits per sample if that is given.

    Raises
    ------
    PictureError
        If the picture is not readable, or a sample is beyond the depth.
    """
    return at_depth(output.read_picture(file, limits, page), depth, name)


def at_depth(picture: "Picture", depth: int | None, name: str) -> "Picture":
    """Return a picture with ``depth`` bits per sample, if that is given.

    Raises
    ------
    PictureError
        If a sample is beyond the depth.
    """
    if depth is None:
        return picture
    try:
        return picture.at_depth(depth)
    except ParameterError as error:
        raise PictureError(f"{name}: {error}") from error


class InputBook(NamedTuple):
    """The opened book of an input of several pictures, and the bytes of its files."""

    book: "Book"
    input_bytes: int


class Setting(NamedTuple):
    """Settings for reading and encoding pictures.

    Parameters
    ----------
    params : EncodeParams
    backend : str
    threads : int or None
    denoise : int or None
        Radius of a median filter before encoding.
    depth : int or None
        Bits per sample, overriding the files.
    strip : sequence of str
        Kinds of metadata to leave out.
    tile_size : int or None
        Side of a tile in pixels; 0 for a single tile; None lets the encoder choose.
    limits : DecodeLimits
        Largest picture to read.
    device : str, tuple of int, or None
        Devices that share a call of the encoder: the option, then their numbers.
    roi : Roi or None
        Regions of interest.
    page : int or None
        Number of the frame or page to read, from 1.
    strict : bool
        Whether pictures are refused of which something would be left out.
    automatic : bool
        Whether "auto" chose the backend.
    target : Target or None
        Limit that each file, or each page of a book, keeps.
    books : BookOptions
        Which pages are encoded of a file of several pictures.
    levels : bool
        Whether files hold levels of their pictures.
    jpeg : JpegFiles
        Whether JPEG files are kept.
    """

    params: EncodeParams
    backend: str
    threads: int | None
    denoise: int | None = None
    depth: int | None = None
    strip: Sequence[str] = ()
    tile_size: int | None = None
    limits: DecodeLimits = DecodeLimits()
    device: str | tuple[int, ...] | None = None
    roi: Roi | None = None
    page: int | None = None
    strict: bool = False
    automatic: bool = False
    target: "Target | None" = None
    books: BookOptions = BookOptions()
    levels: bool = False
    jpeg: JpegFiles = JpegFiles()

    def metadata(self, metadata: "Metadata") -> "Metadata":
        """Return the metadata to encode, without a level of white beyond the depth."""
        from mmpcodec.pictures.side.facts import stripped

        kept = stripped(metadata, *self.strip)
        return kept if self.depth is None else kept.at_depth(self.depth)

    def params_of(self, *, measured: bool, depth: int) -> EncodeParams:
        """Return the parameters for pictures of a depth.

        ``measured`` says whether their format is one of measurements.
        """
        if not (measured or (depth == 1 and self.params.spared)):
            return self.params
        params = self.params.tuned(measured=True)
        return params.without_loss() if params.spared and self.roi is None else params

    def backend_for(self, params: EncodeParams, depth: int) -> str:
        """Return the backend that encodes samples of a depth.

        The device that "auto" took for all pictures may lack what a single one needs, such as
        lossless samples for measurements; then "auto" chooses again.
        """
        from mmpcodec import backends

        if not self.automatic:
            return self.backend
        named, ways = backends.get(self.backend), params.each_alone()
        lacking = all(named.lacks(one.tools, coded_depth(depth)) for one in ways)
        return backends.AUTO if lacking else self.backend

    def read(self, job: Job, data: bytes | None = None) -> "InputPicture":
        """Read the only picture of a job, or the one that ``page`` names.

        ``data`` are the bytes of its file, if they are known.
        """
        from mmpcodec import pictures
        from mmpcodec.pictures import registry

        if stores.is_zarr(job.source):
            size = output.size_of(job.source)
            picture = pictures.read(
                job.source, limits=self.limits, page=self.page, strict=self.strict
            )
            return self.prepared(job, picture, size, measured=picture.depth > BYTE)
        if data is None:
            data = output.read(job.source, self.limits.max_memory)
        picture = pictures.from_bytes(data, job.name, page=self.page, **self.books.reading)
        return self.prepared(job, picture, len(data), measured=registry.is_measured(data))

    def prepared(
        self, job: Job, picture: "Picture", size: int = 0, *, measured: bool
    ) -> "InputPicture":
        """Return what is encoded of a picture that was read from a file of ``size`` bytes."""
        from mmpcodec.cli.encoding.input_picture import InputPicture

        if self.depth is not None:
            picture = picture.at_depth(self.depth)
        samples, metadata = picture.samples, self.metadata(picture.metadata)
        if self.denoise is not None:
            from mmpcodec.analysis.denoise import denoise as without_specks

            samples = without_specks(samples, self.denoise, backend=self.backend)
        roi = self.roi_map(job, samples.shape)
        source = picture.source
        return InputPicture(samples, picture.depth, metadata, source, size, measured, roi)

    def input_of(self, job: Job) -> "InputPicture | InputBook | EncodedInput":
        """Read the picture of a job; open the book if it has several; keep a JPEG file."""
        from mmpcodec.pictures.left_out import gathered
        from mmpcodec.pictures.limits import say

        if (kept := self._kept(job)) is not None:
            return kept
        named = self.page is not None and not job.parts
        if named or (stores.is_zarr(job.source) and not job.parts):
            return self.read(job)
        alone = self.books.pages is None and not job.parts and job.page is None
        data = None
        if not job.parts and not os.path.isfile(job.source):
            data = output.read(job.source, self.limits.max_memory)  # a pipe is read only once
        book = self.books.opened(job, data)
        size = sum(map(output.size_of, job.sources)) if data is None else len(data)
        if job.page is None and book.count > 1:
            return InputBook(book, size)
        with book:
            if alone:
                return self.read(job, data)
            number = 0
            if job.page is not None:
                numbers = [book.number_of(each) for each in range(book.count)]
                number = numbers.index(job.page)
            with gathered() as said:
                picture, measured = book.read(number), book.measured_at(number)
        for text, keys in said:
            say(job.name, text, keys)
        return self.prepared(job, picture, size, measured=measured)

    def _kept(self, job: Job) -> EncodedInput | None:
        """Encode the JPEG file of a job, if it is one that is kept."""
        alone = not job.parts and job.page is None and self.page in (None, 1)
        if not (self.jpeg.kept and alone and self.books.pages is None):
            return None
        data = self.jpeg.read(job.source, self.limits)
        if data is None:
            return None
        from mmpcodec.pictures.kept_jpeg import jpeg_of

        try:
            own = jpeg_of(data, limits=self.limits)
        except FormatError:
            return None  # reading it as a picture names the fault
        if own is None:
            return None
        found = self.jpeg.encoded(own[0], self.params, self.threads, own[1])
        return found._replace(input_bytes=len(data))

    def is_book(self, job: Job) -> bool:
        """Return whether an input is a file, or files, of several pictures."""
        if self.page is not None or job.page is not None or not os.path.isfile(job.source):
            return False
        # A picture that is read in parts may be larger than the limits.
        books = self.books._replace(limits=replace(self.limits, max_samples=UNLIMITED.max_samples))
        with books.opened(job) as book:
            return book.count > 1

    def encode(
        self,
        pictures: "Sequence[InputPicture]",
        progress: Progress,
        on_pass: "Callable[[Pass], None] | None" = None,
    ) -> list[EncodedInput]:
        """Encode pictures of one kind together; keep those that are JPEG files."""
        kept = [self._kept_picture(picture) for picture in pictures]
        others = [one for one, own in zip(pictures, kept, strict=True) if own is None]
        coded = iter(self._encode_samples(others, progress, on_pass) if others else ())
        return [next(coded) if own is None else own for own in kept]

    def _kept_picture(self, picture: "InputPicture") -> EncodedInput | None:
        """Encode the JPEG file from which a picture was read, if it is kept."""
        if not self.jpeg.kept or picture.jpeg is None or picture.roi is not None:
            return None
        found = self.jpeg.encoded(picture.jpeg, self.params, self.threads, picture.metadata)
        return found._replace(input_bytes=picture.input_bytes)

    def _encode_samples(
        self,
        pictures: "Sequence[InputPicture]",
        progress: Progress,
        on_pass: "Callable[[Pass], None] | None" = None,
    ) -> list[EncodedInput]:
        import mmpcodec

        params = self.params_of(measured=pictures[0].measured, depth=pictures[0].depth)
        encodings = mmpcodec.encode_pictures(
            [picture.samples for picture in pictures],
            params,
            target=self.target,
            depth=pictures[0].depth,
            metadata=[picture.metadata for picture in pictures],
            tile_size=self.tile_size,
            backend=self.backend_for(params, pictures[0].depth),
            device=self.device,
            threads=self.threads,
            progress=progress,
            on_pass=on_pass,
            roi=[picture.roi for picture in pictures],
        )
        side_by_side(attrgetter("statistics"), encodings, self.threads)
        return [
            EncodedInput(encoding, picture.input_bytes, self._levels(encoding, params, picture))
            for encoding, picture in zip(encodings, pictures, strict=True)
        ]

    def _levels(
        self, encoding: "Encoding", params: EncodeParams, picture: "InputPicture"
    ) -> "LevelFiles | None":
        from mmpcodec.codec.tiles.renditions import encode_levels

        if not self.levels:
            return None
        return encode_levels(
            lambda *part: encoding.source[part],
            encoding.header,
            params,
            encoding.lam,
            measured=picture.measured,
            tile_size=self.tile_size,
            backend=self.backend_for(params, max(encoding.header.depth, BYTE)),
            device=self.device,
            threads=self.threads,
        )

    def alone(self, picture: "InputPicture", *arguments: Any) -> EncodedInput:
        """Encode one picture; the other arguments are those of ``encode``."""
        return self.encode([picture], *arguments)[0]

    def opened(self, job: Job) -> "Reader":
        """Open a picture to read parts of it."""
        from mmpcodec import pictures

        return pictures.opened(job.source, limits=self.limits, page=self.page, strict=self.strict)

    def roi_map(self, job: Job, shape: tuple[int, ...]) -> "np.ndarray | None":
        """Return the importance of the pixels of a picture; None if all count alike."""
        return self.roi and self.roi.roi_map(job.source, shape, self.limits)


def group_of(setting: Setting) -> int:
    """Return how many pictures the devices of a setting encode together."""
    # Named devices have two groups each: one is searched while the other is stored.
    return GROUP * max(2 * len(setting.device or ()), 1)


class InGroups:
    """Encodes pictures in groups: the first request of a group encodes all of it.

    Parameters
    ----------
    setting : Setting
    jobs : sequence of Job
        All jobs, in the order of the requests.
    """

    def __init__(self, setting: Setting, jobs: Sequence[Job]):
        self.setting, size = setting, group_of(setting)
        groups = [tuple(jobs[i : i + size]) for i in range(0, len(jobs), size)]
        self._group_of = {id(job): group for group in groups for job in group}
        self._found: dict[int, EncodedInput | InputBook | MmpError] = {}

    def of(self, job: Job, progress: JobProgress) -> EncodedInput | InputBook:
        """Return the encoding of a job, or the book of one that is a book, or raise its error."""
        if id(job) not in self._found:
            self._encode_group(self._group_of[id(job)], progress)
        found = self._found.pop(id(job))
        if isinstance(found, MmpError):
            raise found
        return found

    def _encode_group(self, group: Sequence[Job], progress: JobProgress) -> None:
        read: dict[int, InputPicture] = {}
        # A filter on a device runs in this thread, whose current device is the right one.
        threads = self.setting.threads if self.setting.denoise is None else 1
        read_one = partial(_or_error, self.setting.input_of)
        for job, found in zip(group, side_by_side(read_one, group, threads), strict=True):
            if isinstance(found, MmpError | InputBook | EncodedInput):
                self._found[id(job)] = found
            else:
                read[id(job)] = found
        self._found.update(encoded_by_kind(self.setting, read, progress))


def encoded_by_kind(
    setting: Setting, pictures: "dict[int, InputPicture]", progress: Progress
) -> dict[int, EncodedInput | MmpError]:
    """Encode pictures, those of one kind together; also return the error of each that fails."""
    results: dict[int, EncodedInput | MmpError] = {}
    for kind in sorted({(picture.depth, picture.measured) for picture in pictures.values()}):
        same = {
            key: picture
            for key, picture in pictures.items()
            if (picture.depth, picture.measured) == kind
        }
        encoded = _or_error(setting.encode, list(same.values()), progress)
        if isinstance(encoded, MmpError):
            # One picture fails. Alone, each picture gets its own error or encoding.
            encoded = [_or_error(setting.alone, picture, progress) for picture in same.values()]
        results.update(zip(same, encoded, strict=True))
    return results


def _or_error(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a function returns, or the error that it raises."""
    try:
        return function(*arguments)
    except Cancelled:
        raise
    except MmpError as error:
        return error


def work_of(jobs: Sequence[Job]) -> int:
    """Count the 16x16 fragments of all pictures whose size Pillow can read without decoding."""
    from PIL import Image

    from mmpcodec.reference.trees.fragments import fragments_in

    total = 0
    for job in jobs:
        if job.source == STANDARD or not os.path.isfile(job.source):
            continue  # a pipe can be read only once
        try:
            with Image.open(job.source) as picture:
                width, height = picture.size
        except (OSError, ValueError, Image.DecompressionBombError):
            continue  # reading the picture raises the error
        total += fragments_in((height, width))
    return total
