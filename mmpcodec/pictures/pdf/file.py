"""Read pages of PDF files, with pdfium: a page that is one image as that image, others rendered.

Source: ISO 32000-1. pdfium draws the page too where it gives an image, and only an image that looks
like the page counts; so masks, inverted levels and the like need no rules of their own.
"""

import contextlib
import ctypes
import itertools
import math
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from mmpcodec.errors import MissingExtra, PictureError
from mmpcodec.limits import DecodeLimits
from mmpcodec.metadata import Metadata, Resolution
from mmpcodec.picture import Picture
from mmpcodec.pictures.books.book import Book
from mmpcodec.pictures.compressed import jpeg, jpeg2000
from mmpcodec.pictures.left_out import leave_out
from mmpcodec.pictures.limits import check_size, chosen, damaged, library
from mmpcodec.pictures.pdf.masks import Alpha, Masks, unpacked
from mmpcodec.pictures.png.file import stretched
from mmpcodec.pictures.side.facts import consistent, orientation_of
from mmpcodec.samples import Samples

DPI = 300
"""Pixels per inch of pages that are rendered."""
_POINTS = 72  # of an inch
_NEAR = 1.0  # points that an image may be larger or smaller than its page
_GRAY, _RGB, _CMYK, _CAL_GRAY, _CAL_RGB, _ICC = 1, 2, 3, 4, 5, 7
_PLANES = {_GRAY: (1,), _CAL_GRAY: (1,), _RGB: (3,), _CAL_RGB: (3,), _ICC: (1, 3)}
_PASSWORD = 4
_INSET = 0.01  # pixels
_LINK, _POPUP, _INVISIBLE = 2, 16, 3
_FAR, _MOST_FAR = 16, 1e-4  # levels of 8 bits, and share of the samples that differ by more
_ALIKE_BY_PROFILE = 24.0  # mean difference of levels of 8 bits

_lock = threading.Lock()
"""pdfium has no threads, not even with several files."""


def read(
    data: bytes, name: str, limits: DecodeLimits, page: int | None = None, dpi: int = DPI
) -> Picture:
    """Read a page. Pages that are no image are rendered at ``dpi``.

    Raises
    ------
    PictureError
        If the file is damaged, protected by a password, or the page is beyond the limits.
    MissingExtra
        If pypdfium2 is not installed.
    """
    with book(data, name, limits, dpi) as found:
        return found.read(chosen(found.count, page, name, thing="pages"))


def book(source: str | bytes, name: str, limits: DecodeLimits, dpi: int = DPI) -> Book:
    """Open a file as a book of its pages.

    Parameters
    ----------
    source, name, limits
        See ``registry``.
    dpi : int
        Pixels per inch of pages that are rendered.

    Raises
    ------
    PictureError, MissingExtra
        See ``read``.
    """
    pdfium = library("pypdfium2", "PDF", name, extra="pdf")
    with _lock:
        try:
            file = pdfium.PdfDocument(source)
        except pdfium.PdfiumError as error:
            if getattr(error, "err_code", None) == _PASSWORD or "assword" in str(error):
                raise PictureError(
                    f"{name}: is protected by a password; save a copy without, as "
                    "qpdf --password=... --decrypt does"
                ) from error
            raise damaged(name, str(error)) from error
        count = len(file)
        with contextlib.suppress(pdfium.PdfiumError):  # forms that are damaged are not drawn
            file.init_forms()
        masks = Masks(source, name, limits)
        texts = tuple((key, said) for key, said in file.get_metadata_dict().items() if said.strip())

    def read_page(number: int) -> Picture:
        with _lock, contextlib.closing(file[number]) as page:
            picture = _Page(pdfium, page, name, limits, partial(masks.of, number)).picture(dpi)
        metadata = picture.metadata
        return replace(picture, metadata=replace(metadata, text=(*texts, *metadata.text)))

    def close() -> None:
        with _lock:
            file.close()
            masks.close()

    return Book(name, count, read_page, close=close)


@dataclass(frozen=True)
class _Page:
    """An opened page.

    Parameters
    ----------
    pdfium : module
    page : pypdfium2.PdfPage
    name : str
    limits : DecodeLimits
    alphas : callable
        Yields the masks of images of a width and height.
    """

    pdfium: Any
    page: Any
    name: str
    limits: DecodeLimits
    alphas: Callable[[int, int], Iterator[Alpha]]

    def picture(self, dpi: int) -> Picture:
        """Return the image of the page, or the page rendered."""
        turned = self.page.get_rotation()
        self.page.set_rotation(0)
        image, has_text = self._only_image()
        found = None if image is None else self._of_image(image)
        if found is None:
            self.page.set_rotation(turned)
            return self._rendered(dpi)
        if has_text:
            leave_out(self.name, "text layer")
        samples = np.ascontiguousarray(np.rot90(found.samples, -turned // 90))
        metadata, resolution = found.metadata, found.metadata.resolution
        if resolution is not None and turned % 180:
            metadata = replace(
                metadata, resolution=replace(resolution, x=resolution.y, y=resolution.x)
            )
        return Picture(samples, found.depth, metadata, found.source)

    def _only_image(self) -> tuple[Any, bool]:
        """Return the image that covers the page, and whether there is invisible text beside it."""
        raw = self.pdfium.raw
        for number in range(raw.FPDFPage_GetAnnotCount(self.page)):
            note = raw.FPDFPage_GetAnnot(self.page, number)
            kind = raw.FPDFAnnot_GetSubtype(note)
            raw.FPDFPage_CloseAnnot(note)
            if kind not in (_LINK, _POPUP):
                return None, False
        image, has_text = None, False
        for each in self.page.get_objects():
            if each.type == raw.FPDF_PAGEOBJ_FORM:
                continue  # what is inside follows
            if each.type == raw.FPDF_PAGEOBJ_TEXT:
                if raw.FPDFTextObj_GetTextRenderMode(each) != _INVISIBLE:
                    return None, False
                has_text = True
            elif each.type == raw.FPDF_PAGEOBJ_IMAGE and image is None:
                image = each
            else:
                return None, False
        if image is None:
            return None, False
        sides = zip(self._bounds(image), self.page.get_bbox(), strict=True)
        covers = all(abs(one - other) <= _NEAR for one, other in sides)
        return (image if covers else None), has_text

    def _bounds(self, image: Any) -> tuple[float, float, float, float]:
        """Return left, bottom, right and top of an image in points."""
        a, b, c, d, e, f = self._matrix(image)
        across, up = sorted((e, e + a + c)), sorted((f, f + b + d))
        return across[0], up[0], across[1], up[1]

    def _matrix(self, image: Any) -> tuple[float, ...]:
        """Return the matrix from the unit square of an image to the page."""
        matrix, outer = image.get_matrix(), getattr(image, "container", None)
        while outer is not None:
            matrix = matrix.multiply(outer.get_matrix())
            outer = getattr(outer, "container", None)
        return tuple(matrix.get())

    def _of_image(self, image: Any) -> Picture | None:
        """Return an image as it is on the page; None if it does not look like the page."""
        width, height = image.get_px_size()
        a, b, c, d, _, _ = self._matrix(image)
        lies = abs(a) + abs(d) < abs(b) + abs(c)
        slant = max(map(abs, (a, d) if lies else (b, c)))
        if slant > _NEAR or min(width, height) < 1:
            return None
        about = image.get_metadata()
        one_plane = about.colorspace in (_GRAY, _CAL_GRAY) or about.bits_per_pixel == 1
        check_size(width, height, 1 if one_plane else 3, self.name, self.limits)
        seen = self._seen(image, *((height, width) if lies else (width, height)))
        profile = self._profile(image)
        masked = self._masked(image, about, width, height)
        for picture in itertools.chain(masked, self._candidates(image, about, width, height)):
            samples = _placed(picture.samples, a, b, c, d, lies=lies)
            icc = picture.metadata.icc or profile
            if _is_alike(samples, picture.depth, seen, by_profile=bool(icc)):
                across, down = samples.shape[1], samples.shape[0]
                left, bottom, right, top = self._bounds(image)
                resolution = Resolution(
                    _per_inch(across, right - left), _per_inch(down, top - bottom)
                )
                if about.colorspace == _CMYK:
                    leave_out(self.name, "cmyk")
                metadata = replace(picture.metadata, icc=icc, resolution=resolution)
                if orientation_of(metadata) != 1:  # which a page of PDF does not follow
                    metadata = consistent(metadata, self.name, orientation=1)
                own = np.ascontiguousarray(samples)
                return Picture(own, picture.depth, metadata, picture.source)
        return None

    def _masked(self, image: Any, about: Any, width: int, height: int) -> Iterator[Picture]:
        """Yield what the samples of an image with alpha may be."""
        for alpha in self.alphas(width, height):
            planes = (about.colorspace not in (_GRAY, _CAL_GRAY)) * 2 + 2
            check_size(width, height, planes, self.name, self.limits)
            for picture in self._candidates(image, about, width, height):
                yield _with_alpha(picture, alpha)

    def _candidates(self, image: Any, about: Any, width: int, height: int) -> Iterator[Picture]:
        """Yield what the samples of an image may be, the most exact ones first."""
        filters = image.get_filters()
        last = filters[-1] if filters else ""
        if about.colorspace != _CMYK and last in ("DCTDecode", "DCT", "JPXDecode"):
            data = bytes(image.get_data(decode_simple=True))
            module = jpeg2000 if last == "JPXDecode" else jpeg
            with contextlib.suppress(PictureError, MissingExtra, ValueError, OSError):
                picture = module.read(data, self.name, self.limits)
                if picture.planes in (1, 3):
                    yield picture
        elif (
            about.colorspace in _PLANES
            and all(each in self.pdfium.PdfImage.SIMPLE_FILTERS for each in filters)
            and self._bytes_of(image) <= 2 * width * height * max(_PLANES[about.colorspace]) + 2
        ):
            data = bytes(image.get_data(decode_simple=True))
            for planes in _PLANES[about.colorspace]:
                stored = unpacked(data, width, height, planes)
                if stored is not None:
                    samples, depth = stored
                    yield Picture(samples, depth)
                    yield Picture(((1 << depth) - 1) - samples, depth)
        samples = _of_bitmap(image.get_bitmap())
        two_levels = about.bits_per_pixel == 1 and samples.ndim == 2
        if two_levels and np.isin(samples, (0, 255)).all():
            levels = (samples > 0).astype(np.uint8)
            yield Picture(levels, 1)
            yield Picture(1 - levels, 1)  # a stencil
        yield Picture(samples, 8)

    def _bytes_of(self, image: Any) -> int:
        """Return the bytes of the stored samples of an image; they may be more than it needs."""
        return int(self.pdfium.raw.FPDFImageObj_GetImageDataDecoded(image, None, 0))

    def _profile(self, image: Any) -> bytes:
        """Return the ICC profile of an image; empty if it has none."""
        raw = self.pdfium.raw
        size = ctypes.c_size_t()
        get = raw.FPDFImageObj_GetIccProfileDataDecoded
        if not get(image, self.page, None, 0, size) or not 0 < size.value < 1 << 24:
            return b""
        profile = (ctypes.c_uint8 * size.value)()
        return bytes(profile) if get(image, self.page, profile, size.value, size) else b""

    def _seen(self, image: Any, width: int, height: int) -> Samples:
        """Return the part of the page that an image covers, drawn with a pixel for each of it."""
        raw = self.pdfium.raw
        left, bottom, right, top = self._bounds(image)
        box_left, _, _, box_top = self.page.get_bbox()
        # pdfium draws on whole pixels, from the outer edges of an image on.
        across = (width - 2 * _INSET) / (right - left)
        down = (height - 2 * _INSET) / (top - bottom)
        shift = (box_left - left) * across + _INSET, (top - box_top) * down + _INSET
        matrix = raw.FS_MATRIX(across, 0, 0, down, *shift)
        bitmap = self._paper(width, height)
        whole = raw.FS_RECTF(0, 0, width, height)
        flags = raw.FPDF_ANNOT | raw.FPDF_RENDER_NO_SMOOTHIMAGE
        raw.FPDF_RenderPageBitmapWithMatrix(bitmap, self.page, matrix, whole, flags)
        return _of_bitmap(bitmap)

    def _paper(self, width: int, height: int) -> Any:
        """Return a white bitmap."""
        bitmap = self.pdfium.PdfBitmap.new_native(width, height, self.pdfium.raw.FPDFBitmap_BGR)
        bitmap.fill_rect((255, 255, 255, 255), 0, 0, width, height)
        return bitmap

    def _rendered(self, dpi: int) -> Picture:
        """Return the page as it is shown on white paper."""
        # A page of A4 is 2480 pixels wide at 300 dpi, though its points are rounded to 32 bits.
        width, height = (
            math.ceil(side * dpi / _POINTS - 2 * _INSET) for side in self.page.get_size()
        )
        check_size(width, height, 3, self.name, self.limits)
        leave_out(self.name, "rendered", f"at {dpi} dpi")
        raw = self.pdfium.raw
        bitmap = self._paper(width, height)
        place = self.page, 0, 0, width, height, 0, raw.FPDF_ANNOT
        raw.FPDF_RenderPageBitmap(bitmap, *place)
        if self.page.formenv:
            raw.FPDF_FFLDraw(self.page.formenv, bitmap, *place)
        samples = _of_bitmap(bitmap)
        resolution = Resolution(Fraction(dpi), Fraction(dpi))
        return Picture(samples, 8, Metadata(resolution=resolution))


def _per_inch(pixels: int, points: float) -> Fraction:
    return (pixels * _POINTS / Fraction(points)).limit_denominator(1000)


def _of_bitmap(bitmap: Any) -> Samples:
    """Copy a bitmap of pdfium to gray if all its colours are, else to RGB."""
    found = bitmap.to_numpy()
    if found.ndim == 3 and found.shape[2] == 1:
        found = found[..., 0]
    if found.ndim == 2:
        return found.copy()
    blue, green, red = (found[..., plane] for plane in range(3))
    if (red == green).all() and (red == blue).all():
        return red.copy()
    return np.ascontiguousarray(found[..., 2::-1])


def _with_alpha(picture: Picture, alpha: Alpha) -> Picture:
    """Return a picture with alpha, of the least depth that holds both."""
    depth = next(bits for bits in (1, 2, 4, 8, 16) if bits >= max(picture.depth, alpha.depth))
    samples, own = (
        stretched(each, bits, depth)
        for each, bits in ((picture.samples, picture.depth), (alpha.samples, alpha.depth))
    )
    return Picture(np.dstack([samples, own]), depth, picture.metadata)


def _on_paper(samples: Samples) -> Samples:
    """Return samples of 8 bits with alpha on white."""
    alpha = samples[..., -1:].astype(np.uint16)
    colours = samples[..., :-1] * alpha + 255 * (255 - alpha)
    shown = ((colours + 127) // 255).astype(np.uint8)
    return shown[..., 0] if shown.shape[2] == 1 else shown


def _placed(samples: Samples, a: float, b: float, c: float, d: float, *, lies: bool) -> Samples:
    """Turn and mirror samples as the matrix of an image does; the first row is the upper one."""
    if not lies:
        return samples[:: 1 if d > 0 else -1, :: 1 if a > 0 else -1]
    turned = samples.swapaxes(0, 1)
    return turned[:: -1 if b > 0 else 1, :: -1 if c > 0 else 1]


def _is_alike(samples: Samples, depth: int, seen: Samples, *, by_profile: bool) -> bool:
    """Return whether samples are those of a part of a page that was drawn.

    ``by_profile`` says that pdfium has changed the colours by a profile that the samples keep.
    """
    if samples.shape[:2] != seen.shape[:2]:
        return False
    if depth > 8:
        samples = (samples >> (depth - 8)).astype(np.uint8)
    elif depth < 8:
        samples = stretched(samples, depth, 8)
    if samples.ndim == 3 and samples.shape[2] in (2, 4):
        samples = _on_paper(samples)
    if samples.ndim != seen.ndim:
        samples, seen = (
            np.repeat(each[..., None], 3, axis=2) if each.ndim == 2 else each
            for each in (samples, seen)
        )
    apart = np.maximum(samples, seen) - np.minimum(samples, seen)
    if by_profile:
        return float(apart.mean()) <= _ALIKE_BY_PROFILE
    return float((apart > _FAR).mean()) <= _MOST_FAR
