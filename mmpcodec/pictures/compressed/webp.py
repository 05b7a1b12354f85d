"""Read and write WebP files, with Pillow."""

import io

import numpy as np
from PIL import Image

from mmpcodec.limits import DecodeLimits
from mmpcodec.picture import Picture
from mmpcodec.pictures.compressed import shown
from mmpcodec.pictures.compressed.frame_size import webp_size
from mmpcodec.pictures.exif import PREFIX
from mmpcodec.pictures.limits import check_size, chosen
from mmpcodec.pictures.png.file import stretched
from mmpcodec.pictures.side.facts import consistent

_LOSSLESS = 100  # quality from which on no sample changes


def read(data: bytes, name: str, limits: DecodeLimits, page: int | None = None) -> Picture:
    """Read a frame of a file.

    Raises
    ------
    PictureError
        If the file is damaged or beyond the limits.
    """
    size = webp_size(data)
    # Pillow allocates the frame when it opens the file.
    check_size(*size, 3, name, limits)
    opened = shown.plugin("WebPImagePlugin", "webp", "WebP", name)
    with opened(io.BytesIO(data)) as image:
        if image.size != size:
            raise ValueError(f"two sizes, {size} and {image.size}")
        check_size(*size, len(image.getbands()), name, limits)
        image.seek(chosen(image.n_frames, page, name))
        metadata = consistent(shown.metadata_of(image.info, name), name)
        samples = shown.samples_of(image)
        return Picture(samples, 8, metadata)


def holds(picture: Picture, kind: str) -> bool:
    """Return whether a file keeps this kind of the picture's metadata unchanged."""
    return kind != "exif" or not picture.metadata.exif.startswith(PREFIX)


def to_bytes(picture: Picture, format: str, quality: int) -> bytes:
    """Encode a WebP file with ICC profile, EXIF and XMP, of up to 8 bits per sample.

    Parameters
    ----------
    picture : Picture
        Gray is written as RGB.
    format : str
    quality : int
        1 to 99, as libwebp counts; 100 is without loss.

    Raises
    ------
    MissingExtra
        If the installed Pillow was built without WebP.
    """
    shown.plugin("WebPImagePlugin", "webp", "WebP", "picture")
    metadata = picture.metadata
    stream = io.BytesIO()
    Image.fromarray(shown_samples(picture)).save(
        stream,
        "WEBP",
        quality=quality,
        lossless=quality >= _LOSSLESS,
        exact=quality >= _LOSSLESS,
        icc_profile=metadata.icc,
        exif=metadata.exif,
        xmp=metadata.xmp,
    )
    return stream.getvalue()


def shown_samples(picture: Picture) -> np.ndarray:
    """Return the samples as a file holds them: of 8 bits, and gray as RGB."""
    samples = (
        picture.samples if picture.depth == 8 else stretched(picture.samples, picture.depth, 8)
    )
    if picture.planes < 3:
        gray = samples if picture.planes == 1 else samples[..., 0]
        samples = np.dstack([gray] * 3 + [samples[..., 1]] * (picture.planes - 1))
    return np.ascontiguousarray(samples)
