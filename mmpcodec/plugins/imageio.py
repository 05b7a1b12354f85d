"""imageio plugin: importing this module lets imageio read and write mmp files, through Pillow.

imageio chooses the plugin "mmp" by the extension of a file name, which for ``"<bytes>"`` and
streams is its argument ``extension``. Of a file of several pictures, ``index`` is the number of
one, from 0, and ``index=...`` stacks all, as ``volread`` of imageio's version 2 does.

>>> import imageio.v3 as imageio
>>> import numpy as np
>>> import mmpcodec.plugins.imageio
>>> data = imageio.imwrite("<bytes>", np.eye(4, dtype=np.uint8), extension=".mmp", lam=0)
>>> int(imageio.imread(data).sum())
4
>>> stack = np.zeros((5, 8, 9), np.uint8)
>>> data = imageio.imwrite("<bytes>", stack, extension=".mmp", lam=0, duration=40)
>>> imageio.imread(data, index=...).shape, imageio.improps(data, index=...).n_images
((5, 8, 9), 5)
"""

from typing import Any

import numpy as np
from imageio.config import FileExtension, PluginConfig, known_extensions, known_plugins
from imageio.core.request import ImageMode
from imageio.plugins.pillow import PillowPlugin

from mmpcodec.plugins.pillow import EXTENSION, MmpImageFile

NAME = "mmp"


class MmpPlugin(PillowPlugin):
    """Reads and writes mmp files with Pillow; a volume has all pictures of a file."""

    def read(self, *, index: Any = None, **options: Any) -> np.ndarray:
        """Read a picture, all with ``index=...``, or a volume; see ``PillowPlugin.read``."""
        chosen: Any = ... if self._of_volume else index
        found: np.ndarray = super().read(index=chosen, **options)
        return found

    def write(self, ndimage: Any, *, is_batch: bool | None = None, **options: Any) -> bytes | None:
        """Write a picture, several, or a volume; see ``PillowPlugin.write``."""
        several: Any = True if self._of_volume else is_batch
        found: bytes | None = super().write(ndimage, is_batch=several, **options)
        return found

    @property
    def _of_volume(self) -> bool:
        return bool(self.request.mode.image_mode == ImageMode.single_volume)


known_plugins[NAME] = PluginConfig(NAME, MmpPlugin.__name__, __name__)
known_extensions[EXTENSION] = [
    FileExtension(
        name=MmpImageFile.format_description, extension=EXTENSION, priority=[NAME, "pillow"]
    )
]
