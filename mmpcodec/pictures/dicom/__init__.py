"""Read DICOM files, with pydicom.

``file`` reads a frame, ``frames`` decodes its stored samples, ``colours`` converts them to RGB,
``facts`` reads what samples measure. ``registry`` recognises files by ``bare_dicom`` where the
preamble is missing.
"""

from mmpcodec.pictures.dicom.file import read

__all__ = ["read"]
