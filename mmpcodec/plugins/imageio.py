"""imageio plugin: importing this module lets imageio read and write mmp files, through Pillow.

imageio asks Pillow for the format of a file name. For ``"<bytes>"`` and streams it asks its own
table of extensions, which this module fills.

>>> import imageio.v3 as imageio
>>> import numpy as np
>>> import mmpcodec.plugins.imageio
>>> data = imageio.imwrite("<bytes>", np.eye(4, dtype=np.uint8), extension=".mmp", lam=0)
>>> int(imageio.imread(data).sum())
4
"""

from imageio.config import FileExtension, known_extensions

from mmpcodec.plugins.pillow import EXTENSION, MmpImageFile

known_extensions[EXTENSION] = [
    FileExtension(name=MmpImageFile.format_description, extension=EXTENSION, priority=["pillow"])
]
