"""Write frames as an animated WebP file, with Pillow."""

from typing import Any, BinaryIO

import numpy as np
from PIL import Image

from mmpcodec.pictures import registry
from mmpcodec.pictures.book_files.pages import Pages
from mmpcodec.pictures.compressed import shown, webp
from mmpcodec.pictures.writing import lost

LOSSLESS = 100
_MOST_LOOPS = 65535


class _Frames(Image.Image):
    """An image of Pillow whose frames are read when it goes to them, each once and in order."""

    def __init__(self, pages: Pages):
        super().__init__()
        self._pages = pages
        self.n_frames = len(pages)
        self._place = -1
        self._before: np.ndarray | None = None
        self.durations: list[int] = []
        self.seek(0)

    def tell(self) -> int:
        return max(self._place, 0)

    def seek(self, frame: int) -> None:
        """Read the next frame; Pillow goes back to the first one at the end, which is gone."""
        if frame != self._place + 1:
            return
        self._place = frame
        picture = next(self._pages)
        samples = webp.shown_samples(picture)
        image = Image.fromarray(samples)
        self.im, self._mode, self._size = image.im, image.mode, image.size
        self._pages.lose(*self._losses(picture, samples))

    def _losses(self, picture: Any, samples: np.ndarray) -> list[str]:
        pages, gone = self._pages, []
        exact = pages.duration * 1000
        self.durations.append(round(exact))
        if exact != self.durations[-1]:
            gone.append("durations")
        if self._before is not None and np.array_equal(samples, self._before):
            gone.append("frames that equal the one before")
        self._before = samples
        if samples.shape[2] == 4 and samples[samples[..., 3] == 0].any():
            gone.append("colours of transparent pixels")
        if pages.number == 0:
            gone += lost(picture, "webp")
        else:
            gone += ["depth"] if picture.depth != 8 else []
            same = picture.metadata == pages.first.metadata
            gone += [] if same else ["metadata of its own"]
        return gone


def write(stream: BinaryIO, pages: Pages, options: Any) -> None:
    """Write each frame as it comes; durations are rounded to milliseconds.

    libwebp joins a frame that equals the one before with that.

    Raises
    ------
    MissingExtra
        If the installed Pillow was built without WebP.
    """
    shown.plugin("WebPImagePlugin", "webp", "WebP", pages.book.name)
    if len(pages) == 1:
        stream.write(webp.to_bytes(pages.first, "webp", _quality(options)))
        pages.lose(*lost(next(pages), "webp"))
        return
    pages.lose_loops(_MOST_LOOPS)
    frames, quality = _Frames(pages), _quality(options)
    metadata = pages.first.metadata
    frames.save(
        stream,
        "WEBP",
        save_all=True,
        duration=frames.durations,
        loop=min(pages.book.loops, _MOST_LOOPS),
        quality=quality,
        lossless=quality >= LOSSLESS,
        icc_profile=metadata.icc,
        exif=metadata.exif,
        xmp=metadata.xmp,
    )


def _quality(options: Any) -> int:
    usual = registry.written()["webp"].quality
    assert usual is not None
    return usual if options.quality is None else int(options.quality)
