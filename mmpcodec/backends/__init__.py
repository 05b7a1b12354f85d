"""The backends: the same coding on different hardware.

``base`` states the contract, ``registry`` lists the backends and chooses one, ``devices`` reads the
argument ``device``. Arithmetic that the processor and a GPU share lies in ``kernels/shared``; files
and headers belong to ``codec``.
"""

from mmpcodec.backends.devices import DeviceLike, for_device, numbers_of
from mmpcodec.backends.registry import (
    AUTO,
    ROWS,
    Row,
    candidates,
    check_name,
    decoders,
    depends_on_work,
    for_device_arrays,
    get,
    names,
    on_devices,
    reads_device_arrays,
    status,
    unavailable,
)

__all__ = [
    "AUTO",
    "ROWS",
    "DeviceLike",
    "Row",
    "candidates",
    "check_name",
    "decoders",
    "depends_on_work",
    "for_device",
    "for_device_arrays",
    "get",
    "names",
    "numbers_of",
    "on_devices",
    "reads_device_arrays",
    "status",
    "unavailable",
]
