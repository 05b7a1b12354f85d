"""Pillow plugin: importing this module lets Pillow read and write mmp files.

>>> import io
>>> from PIL import Image
>>> import mmpcodec.plugins.pillow
>>> file = io.BytesIO()
>>> Image.new("RGB", (64, 48), "navy").save(file, "mmp", lam=0, dpi=(300, 300))
>>> image = Image.open(file)
>>> image.format, image.mode, image.size, image.info["dpi"], image.getpixel((0, 0))
('MMP', 'RGB', (64, 48), (300.0, 300.0), (0, 0, 128))
"""

import contextlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from io import SEEK_END, BytesIO
from typing import IO, Any, ClassVar

import numpy as np
from PIL import Image, ImageFile, UnidentifiedImageError
from PIL._util import DeferredError

import mmpcodec
from mmpcodec.checks import check_int
from mmpcodec.codec.kept_jpeg import CODING_BYTE, place_of_coding, with_metadata
from mmpcodec.codec.regions import RegionDecoder, levels_of
from mmpcodec.codec.series.chaining import add_chained, chained_files, check_chain_pages
from mmpcodec.codec.series.pictures import facts_of_series
from mmpcodec.codec.tiles.reduction import reduced_metadata
from mmpcodec.depth import BYTE
from mmpcodec.errors import FormatError, LimitExceeded, ParameterError, TruncatedStream
from mmpcodec.format import container
from mmpcodec.format.collection import Contents, PictureEntry, Role
from mmpcodec.format.collection_writer import CollectionWriter
from mmpcodec.format.container import Header
from mmpcodec.format.numbers import MOST
from mmpcodec.format.tiles import Area
from mmpcodec.limits import DecodeLimits
from mmpcodec.metadata import Metadata, Resolution
from mmpcodec.opening.contents import PictureBytes, completed, is_collection, read_contents
from mmpcodec.opening.header import read_header
from mmpcodec.options import EncodeOptions
from mmpcodec.pictures.exif import PREFIX
from mmpcodec.runtime.files import Source, StreamBytes
from mmpcodec.runtime.images import supported_modes, with_colours
from mmpcodec.samples import Form

FORMAT = "MMP"
EXTENSION = ".mmp"
MIME = "image/x-mmp"

_FIRST_READ = 1 << 16
_DENOMINATOR = 10_000  # largest denominator of a resolution in dots per inch
_METADATA = {"icc_profile": bytes, "exif": bytes, "xmp": bytes, "dpi": tuple, "text": tuple}
_OPTIONS = EncodeOptions.__optional_keys__ - {"lossless"} | {"lam", "depth", "metadata"}
"""Options of ``save``. Its ``lossless`` is lambda 0, as in WebP; preset lossless is the coding."""
_DEEP = "I;16"
_MODES = {Form.GRAY: "L", Form.GRAY_ALPHA: "LA", Form.RGB: "RGB", Form.RGB_ALPHA: "RGBA"}


class MmpImageFile(ImageFile.ImageFile):
    """Image of an mmp file. Opening it reads the header; loading it decodes the samples.

    ``crop`` of an image that is not loaded decodes the tiles that the box touches.

    Samples of up to 8 bits are scaled so that white is 255. Gray samples of 9 to 16 bits keep
    their values, in mode "I;16". ``info`` holds ``depth``, ``white`` if it is in the file, and the
    metadata that the file has: ``icc_profile``, ``exif``, ``xmp``, ``dpi`` and ``text``, a tuple of
    (keyword, text). An orientation in EXIF is not applied.

    Of a file of several pictures, ``seek`` goes to one, from 0, and reads its header. ``info`` then
    also holds ``duration`` in milliseconds and ``loop``, how often all frames are shown, 0 for
    without end; or ``position`` of a slice in millimetres. Levels and thumbnails are not counted.
    """

    format = FORMAT
    format_description = "MMP image"
    limits: ClassVar[DecodeLimits] = DecodeLimits()
    """Limits of decoding; Pillow's own limit applies too."""

    def _open(self) -> None:
        assert self.fp is not None
        header = _read_header(self.fp)
        self._contents: Contents | None = None
        self._entries: list[PictureEntry] = []
        self._frame = 0
        self._base = dict(self.info)
        self._level: PictureBytes | None = None
        if header is None:
            source = StreamBytes(self.fp)
            try:
                self._contents = read_contents(source, self.limits.max_pictures)
            except FormatError as error:
                raise UnidentifiedImageError(str(error)) from error
            self._entries = self._contents.pictures
            if not self._entries:
                raise UnidentifiedImageError("the file holds no pictures")
            self._fp = self.fp  # stays open for the other pictures; Pillow closes it
            self._close_exclusive_fp_after_loading = False
            header = self._header_of(0)
        else:
            self.fp.seek(place_of_coding(header))
            if self.fp.read(1) == CODING_BYTE:
                header = with_metadata(header, StreamBytes(self.fp), self.limits)
        self._show(header)

    def _show(self, header: Header) -> None:
        """Take the picture whose header this is for the image, without its samples."""
        self._mode = _mode_of(header)
        self._size = header.width, header.height
        self._header = header
        self._regions: RegionDecoder | None = None
        self._may_load = True
        self.info = dict(self._base)
        self.info.update(_info_of(header))
        self.info.update(self._facts())
        self._raw = "1;8" if self._mode == "1" else self._mode
        self.tile = [("raw", (0, 0, *self._size), 0, self._raw)]  # type: ignore[list-item]

    def _facts(self) -> dict[str, Any]:
        """Return the duration of a frame, and how often all are shown, or the place of a slice."""
        if self._contents is None:
            return {}
        entry = self._entries[self._frame]
        if entry.role == Role.FRAME:
            duration = Fraction(*entry.facts) * 1000
            whole = duration.denominator == 1
            found = int(duration) if whole else float(duration)
            return {"duration": found, "loop": self._contents.loops}
        return {"position": entry.facts[0] / 10**6} if entry.role == Role.SLICE else {}

    def _header_of(self, frame: int) -> Header:
        """Read the header of a picture of several.

        Raises
        ------
        OSError
            If it is damaged.
        """
        source = self._source(frame)
        with _reported_as_pillow_does():
            return with_metadata(completed(source, read_header(source)), source, self.limits)

    def _source(self, frame: int) -> Source:
        """Return the bytes of a picture."""
        if self._level is not None:
            return self._level
        whole = StreamBytes(self._file())
        if self._contents is None:
            return whole
        return PictureBytes(whole, self._contents, self._entries[frame])

    def _file(self) -> IO[bytes]:
        """Return the stream of the file.

        Raises
        ------
        ValueError
            If it is closed.
        """
        stream = self.fp if self._contents is None else self._fp
        if stream is None or isinstance(stream, DeferredError):
            raise ValueError("the image is closed; open it again")
        return stream

    @property
    def n_frames(self) -> int:
        """Number of the pictures of the file."""
        return max(len(self._entries), 1)

    @property
    def is_animated(self) -> bool:
        """Whether the file has several pictures."""
        return self.n_frames > 1

    def tell(self) -> int:
        """Return the number of this picture, from 0."""
        return self._frame

    def seek(self, frame: int) -> None:
        """Go to a picture, counted from 0.

        Raises
        ------
        EOFError
            If there is none of this number.
        OSError
            If its header is damaged, or Pillow has no mode for it. The image is as before.
        """
        if not self._seek_check(frame):
            return
        level, self._level = self._level, None
        try:
            header, before = self._header_of(frame), self._frame
        except OSError:
            self._level = level
            raise
        self._frame = frame
        try:
            self._show(header)
        except UnidentifiedImageError:
            self._frame, self._level = before, level
            raise
        self.fp = self._file()
        self._im = None

    def draft(
        self, mode: str | None, size: tuple[int, int] | None
    ) -> tuple[str, tuple[int, int, float, float]] | None:
        """Make the image its smallest level that is not smaller than a size, if the file has one.

        ``Image.thumbnail`` calls it. The mode stays, except that a level of mode "1" has "L".

        Returns
        -------
        (str, box) or None
            The mode, and the part of the level that the picture takes; None if nothing changed.

        Raises
        ------
        OSError
            If the header of the level is damaged.
        """
        if size is None or not self.tile or self._contents is None or self._level is not None:
            return None
        width, height = self.size
        found = levels_of(self._source(self._frame), self._header)
        enough = [f for f in found if width // f >= size[0] and height // f >= size[1]]
        if not enough:
            return None
        factor = max(enough)
        own, whole = found[factor], self._header
        with _reported_as_pillow_does():
            header = read_header(own)
        self._level = own
        metadata = reduced_metadata(whole.metadata, whole.depth, factor)
        self._show(replace(header, metadata=metadata))
        return self.mode, (0, 0, width / factor, height / factor)

    def load(self) -> Any:
        """Decode the samples at the first call.

        Raises
        ------
        DecompressionBombError
            If the picture exceeds ``limits``.
        OSError
            If the file is damaged. With ``ImageFile.LOAD_TRUNCATED_IMAGES``, damaged tiles are
            black and no error is raised for them.
        """
        if self.tile:
            samples = self._decoded()
            self._regions = None
            if self._exclusive_fp and self.fp is not None and self._contents is None:
                self.fp.close()
            self.fp = BytesIO(_shown(samples, self._header))
        return super().load()

    def crop(self, box: tuple[float, float, float, float] | None = None) -> Image.Image:
        """Return a rectangle of the image; see ``PIL.Image.Image.crop``.

        The whole image is loaded at first with ``ImageFile.LOAD_TRUNCATED_IMAGES``, and, if it is
        within ``limits`` and undamaged, if the box touches all tiles or earlier boxes have decoded
        as many tiles as the file has.

        Raises
        ------
        DecompressionBombError
            If the tiles of the box exceed ``limits``.
        OSError
            If one of the tiles of the box is damaged.
        """
        if box is None or not self.tile or self.fp is None:
            return super().crop(box)
        if box[2] < box[0] or box[3] < box[1] or ImageFile.LOAD_TRUNCATED_IMAGES:
            return super().crop(box)
        left, top, right, bottom = map(int, map(round, box))
        whole = Area(0, 0, *self.size)
        area = whole.common(Area(left, top, right - left, bottom - top))
        if area is None:  # nothing of the box below lies on this pixel
            part, x, y = Image.new(self.mode, (1, 1)), right, bottom
        else:
            with _reported_as_pillow_does():
                regions = self._regions or RegionDecoder(self._source(self._frame), self.limits)
            self._regions = regions
            spent = max(regions.decoded, len(regions.tiles_of(area)))
            if spent >= len(self._header.tile_bytes) and self._may_load:
                self._may_load = regions.fault(whole) is None
                if self._may_load and self._loaded():
                    return super().crop(box)
            with _reported_as_pillow_does():
                samples = regions.decode(area)
            data = _shown(samples, self._header)
            size = area.width, area.height
            part, x, y = Image.frombytes(self.mode, size, data, "raw", self._raw), area.x, area.y
        return self._new(self._crop(part.im, (left - x, top - y, right - x, bottom - y)))

    def _loaded(self) -> bool:
        """Load the image; return False if a tile is damaged or a limit is met."""
        try:
            self.load()
        except (OSError, Image.DecompressionBombError):
            self._may_load = False
        return self._may_load

    def verify(self) -> None:
        """Compare header and tiles with their checksums, without decoding, and close the image.

        Raises
        ------
        OSError
            If the file is damaged or incomplete.
        RuntimeError
            If the image is closed or its samples are loaded; open it again.
        """
        if self.fp is None or not self.tile:
            raise RuntimeError("verify must be called directly after open")
        try:
            for frame in range(self.n_frames):
                page = None if self._contents is None else frame + 1
                mmpcodec.inspect(StreamBytes(self._file()), page=page, limits=self.limits)
        except FormatError as error:
            raise OSError(str(error)) from error
        finally:
            super().verify()

    def _decoded(self) -> np.ndarray:
        page = None if self._contents is None or self._level is not None else self._frame + 1
        partial = ImageFile.LOAD_TRUNCATED_IMAGES
        source = StreamBytes(self._file()) if self._level is None else self._level
        with _reported_as_pillow_does():
            found = mmpcodec.inspect(
                source, decode=True, page=page, limits=self.limits, allow_partial=partial
            )
        assert found.samples is not None
        return found.samples

    def load_seek(self, pos: int) -> None:
        """Do nothing, because the decoded samples are a stream of their own."""


def _accept(prefix: bytes) -> bool:
    return prefix.startswith(container.MAGIC)


def _read_header(file: IO[bytes]) -> Header | None:
    """Read the header, None of a file of several pictures.

    The bytes read double until they contain it.
    """
    start = file.tell()
    total = file.seek(0, SEEK_END) - start
    file.seek(start)
    data = file.read(_FIRST_READ)
    if not _accept(data):
        raise SyntaxError("not an mmp file")
    if is_collection(memoryview(data)):
        return None
    while True:
        try:
            return container.read_header(memoryview(data), total)
        except TruncatedStream as error:
            more = file.read(len(data))
            if not more:
                raise UnidentifiedImageError(str(error)) from error
            data += more
        except FormatError as error:
            raise UnidentifiedImageError(str(error)) from error


def _mode_of(header: Header) -> str:
    if header.depth > BYTE and header.form is not Form.GRAY:
        raise UnidentifiedImageError(
            f"picture of {header.form.title} with {header.depth} bits a sample: Pillow has no mode "
            "for more than 8; mmpcodec.decode returns the array"
        )
    if header.form is Form.GRAY and header.depth > BYTE:
        return _DEEP
    return "1" if header.form is Form.GRAY and header.depth == 1 else _MODES[header.form]


def _info_of(header: Header) -> dict[str, Any]:
    metadata = header.metadata
    found = {
        "depth": header.depth,
        "white": metadata.white,
        "icc_profile": metadata.icc,
        "exif": metadata.exif and PREFIX + metadata.exif,
        "xmp": metadata.xmp,
        "dpi": _dpi_of(metadata.resolution),
        "text": metadata.text,
    }
    return {name: value for name, value in found.items() if value}


def _dpi_of(resolution: Resolution | None) -> tuple[float, float] | None:
    metre = None if resolution is None else resolution.per_metre()
    if metre is None:
        return None
    x, y = (float(value * 254 / 10_000) for value in metre)
    return x, y


@contextlib.contextmanager
def _reported_as_pillow_does() -> Iterator[None]:
    """Turn errors of the codec into those that Pillow's formats raise."""
    try:
        yield
    except LimitExceeded as error:
        raise Image.DecompressionBombError(str(error)) from error
    except FormatError as error:
        raise OSError(str(error)) from error


def _shown(samples: np.ndarray, header: Header) -> bytes:
    """Convert samples to bytes for Pillow's raw decoder; up to 8 bits, white becomes 255."""
    if header.depth > BYTE:
        return samples.astype("<u2").tobytes()
    most = (1 << header.depth) - 1
    whites = np.full(header.planes, header.white, np.uint16)
    if header.form.has_alpha:
        whites[-1] = most
    if (header.depth == 1 and header.form is Form.GRAY) or (whites == 255).all():
        return samples.tobytes()
    wide = samples.reshape(*samples.shape[:2], header.planes).astype(np.uint16)
    return ((wide * 255 + whites // 2) // whites).clip(0, 255).astype(np.uint8).tobytes()


def _save(image: Image.Image, file: IO[bytes], filename: str | bytes) -> None:
    """Write an image; the options of ``Image.save`` are metadata and options of ``encode``."""
    file.write(_encoded(image, image.encoderinfo))


def _encoded(image: Image.Image, given: Mapping[str, Any]) -> bytes:
    """Encode an image, with the options of ``Image.save``."""
    said = {
        name: given[name] if name in given else _kept(image, name, kind)
        for name, kind in _METADATA.items()
    }
    options = {name: value for name, value in given.items() if name in _OPTIONS}
    foreign = {"quality": str, "tile_size": tuple}  # tables of JPEG, tiles of JPEG 2000
    for name, kind in foreign.items():
        if isinstance(options.get(name), kind):
            del options[name]
    if given.get("lossless"):  # then "quality" of WebP is an effort
        options.pop("quality", None)
        options["lam"] = 0
    shown = _with_samples(image)
    samples = np.asarray(shown)
    white = None
    if shown.mode == "1":
        samples, depth = samples.astype(np.uint8), 1
    elif shown.mode.startswith(_DEEP):
        samples, depth = samples.astype(np.uint16), 16
        kept = _kept(image, "depth", int)
        # A picture opened with 12 bits is saved with 12 bits if its samples still fit them.
        if kept is not None and BYTE < kept <= depth and not int(samples.max()) >> kept:
            depth, white = kept, _kept(image, "white", int)
    else:
        depth = BYTE
    metadata = _metadata(said, white)
    return mmpcodec.encode(samples, **{"depth": depth, "metadata": metadata, **options})


def _save_all(image: Image.Image, file: Any, filename: str | bytes) -> None:
    """Write the frames of an image, and those of ``append_images``, one after the other.

    They are frames if ``duration`` is given, in milliseconds, for all or for each, or if each has
    one in its ``info``; else they are pages. ``loop`` says how often they are shown, 0 for without
    end, and ``chain_pages`` how many may continue one another.
    """
    given = image.encoderinfo
    images = [image, *given.get("append_images", ())]
    count = sum(getattr(each, "n_frames", 1) for each in images)
    if count == 1:
        _save(image, file, filename)
        return
    asked = given.get("duration")
    each = list(asked) if isinstance(asked, list | tuple) else None
    if each is not None and len(each) != count:
        raise ParameterError(f"duration: has {len(each)} numbers for {count} images")
    own = [_own_durations(each) for each in images] if asked is None else []
    if each is None and asked is not None:
        each = [asked] * count
    elif asked is None and all(own):
        each = [duration for durations in own for duration in durations]
    loops = _loops(image, given) if each is not None else None
    seconds = None if each is None else [_seconds(duration) for duration in each]
    role, facts, _ = facts_of_series(count, seconds, None, loops)
    chain_pages = check_chain_pages(given.get("chain_pages"))
    writer = CollectionWriter(file, loops=loops or 0)
    files = (_encoded(frame, given) for part in images for frame in _frames_of(part))
    for chained, own_facts in zip(chained_files(files, chain_pages), facts, strict=True):
        add_chained(writer, chained, role, own_facts)
    writer.close()


def _frames_of(image: Image.Image) -> Iterator[Image.Image]:
    """Go to each frame of an image, and back to the one where it was."""
    place = image.tell()
    try:
        for frame in range(getattr(image, "n_frames", 1)):
            image.seek(frame)
            yield image
    finally:
        image.seek(place)


def _own_durations(image: Image.Image) -> list[Any]:
    """Return the durations that ``info`` has of each frame of an image; empty if one has none."""
    found = [frame.info.get("duration") for frame in _frames_of(image)]
    return [] if None in found else found


def _seconds(duration: Any) -> Fraction:
    """Return a duration in milliseconds as seconds.

    Raises
    ------
    ParameterError
        If it is no finite number.
    """
    try:
        return Fraction(duration).limit_denominator(_DENOMINATOR) / 1000
    except (TypeError, ValueError, OverflowError) as error:
        raise ParameterError(f"duration = {duration!r}: must be milliseconds, from 0") from error


def _loops(image: Image.Image, given: Mapping[str, Any]) -> int:
    """Return how often frames are shown. Pillow says of a GIF how often they are repeated."""
    if "loop" in given:
        return check_int("loop", given["loop"], 0, MOST)
    found = image.info.get("loop")
    if image.format == "GIF":
        return 1 if found is None else found + (found > 0)
    return found or 0


def _kept(image: Image.Image, name: str, kind: type) -> Any:
    """Return the value of ``image.info`` if its type is ``kind``, else None."""
    found = image.info.get(name)
    return found if isinstance(found, kind) else None


def _with_samples(image: Image.Image) -> Image.Image:
    """Convert palettes and transparent colours, so that the mode is one that the codec supports."""
    found = with_colours(image)
    if found is None or found.mode in ("I", "F"):
        raise OSError(f"cannot write mode {image.mode} as {FORMAT}: {supported_modes(image.mode)}")
    return found


def _metadata(said: Mapping[str, Any], white: int | None) -> Metadata:
    exif, xmp = said["exif"] or b"", said["xmp"] or b""
    if isinstance(exif, Image.Exif):
        exif = exif.tobytes()
    if isinstance(exif, bytes):
        exif = exif.removeprefix(PREFIX)
    if isinstance(xmp, str):
        xmp = xmp.encode()
    return Metadata(
        icc=said["icc_profile"] or b"",
        exif=exif,
        xmp=xmp,
        resolution=_resolution(said["dpi"]),
        text=tuple(said["text"] or ()),
        white=white,
    )


def _resolution(dpi: Any) -> Resolution | None:
    try:
        x, y = map(float, dpi or (0, 0))
    except (TypeError, ValueError):
        x = y = math.nan
    if x == y == 0:
        return None
    if not (0 < x < math.inf and 0 < y < math.inf):
        raise ParameterError(f"dpi = {dpi!r}: must be two finite numbers above 0")
    return Resolution(
        Fraction(x).limit_denominator(_DENOMINATOR), Fraction(y).limit_denominator(_DENOMINATOR)
    )


Image.register_open(FORMAT, MmpImageFile, _accept)
Image.register_save(FORMAT, _save)
Image.register_save_all(FORMAT, _save_all)
Image.register_extension(FORMAT, EXTENSION)
Image.register_mime(FORMAT, MIME)
