"""Read WebP files, with Pillow."""

import io

from mmpcodec.params import DecodeLimits
from mmpcodec.picture import Picture
from mmpcodec.pictures.compressed import shown
from mmpcodec.pictures.compressed.frame_size import webp_size
from mmpcodec.pictures.limits import check_size, say_animation


def read(data: bytes, name: str, limits: DecodeLimits) -> Picture:
    """Read a whole file, of an animation the first frame.

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
        metadata = shown.metadata_of(image.info, name)
        samples = shown.samples_of(image)
        if image.is_animated:
            say_animation(name)
        return Picture(samples, 8, metadata)
