"""Read GIF files, with Pillow."""

import io

from PIL import GifImagePlugin

from mmpcodec.limits import DecodeLimits
from mmpcodec.picture import Picture
from mmpcodec.pictures.compressed import shown
from mmpcodec.pictures.compressed.frame_size import gif_size
from mmpcodec.pictures.limits import check_size, chosen

_COLOURS_AND_ALPHA = 4


def read(data: bytes, name: str, limits: DecodeLimits, page: int | None = None) -> Picture:
    """Read a frame of a file. A transparent colour gives a plane of alpha.

    Raises
    ------
    PictureError
        If the file is damaged or beyond the limits.
    """
    size = gif_size(data)
    # Pillow allocates the frame when it opens the file.
    check_size(*size, _COLOURS_AND_ALPHA, name, limits)
    with GifImagePlugin.GifImageFile(io.BytesIO(data)) as image:
        if image.size != size:
            raise ValueError(f"two sizes, {size} and {image.size}")
        image.seek(chosen(image.n_frames, page, name))
        metadata = shown.metadata_of(image.info, name)
        samples = shown.samples_of(image, palette=True)
        return Picture(samples, 8, metadata)
