"""Read DICOM files, with pydicom.

``file`` reads a frame, ``frames`` decodes its stored samples, ``colours`` converts them to RGB,
``facts`` reads what samples measure, ``places`` where and when frames lie; ``series`` sorts files into
series.
"""
