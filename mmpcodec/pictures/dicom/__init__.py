"""Read and write DICOM files, with pydicom.

``file`` reads a frame or a book of frames, ``frames`` decodes stored samples, ``colours`` converts
them to RGB, ``facts`` reads what samples measure, ``places`` where and when frames lie; ``series``
sorts files into series, ``keeping`` keeps attributes beside pictures, ``writing`` writes files.
"""

from mmpcodec.pictures.dicom.file import book, read
from mmpcodec.pictures.dicom.writing import holds, to_bytes

__all__ = ["book", "holds", "read", "to_bytes"]
