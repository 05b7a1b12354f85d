"""What a decoder accepts: limits of the memory and the work that a file can ask of it."""

from dataclasses import dataclass, fields

from mmpcodec.checks import check_int, check_number

MOST_DPI = 4800
"""Most pixels per inch of pages that are rendered."""


@dataclass(frozen=True)
class DecodeLimits:
    """What a decoder accepts. It checks sizes before it allocates memory or decodes samples.

    Parameters
    ----------
    max_samples : int
        Most samples, pixels times planes, of a picture or of the part that is read. An mmp file
        counts whole 16x16 fragments of the tiles that are decoded.
    max_dimension : int
        Most pixels of a row or a column.
    max_memory : int or None
        Most bytes of memory that decoding an mmp file may take, by an upper estimate from its
        headers. None for no limit of its own.
    max_seconds : float or None
        Most seconds that decoding an mmp file may take on one thread, by an upper estimate from the
        codings, sizes and bytes of its tiles. None for the default: 1 s, and 10 ms for each byte of
        the file beyond 1000.
    max_pictures : int
        Most pictures of a file.

    Raises
    ------
    ParameterError
        If a limit is not an integer from 1 to 2**62, or ``max_seconds`` is not above 0.
    """

    max_samples: int = 1 << 26
    max_dimension: int = 1 << 24
    max_memory: int | None = None
    max_seconds: float | None = None
    max_pictures: int = 1 << 16

    def __post_init__(self):
        if self.max_seconds is not None:
            check_number("max_seconds", self.max_seconds, "above 0", lambda value: value > 0)
        for field in fields(self):
            if field.name == "max_seconds":
                continue
            limit = getattr(self, field.name)
            if limit is not None or field.default is not None:
                check_int(field.name, limit, 1, 1 << 62)

    def fault(self, name: str, value: int, unit: str) -> str | None:
        """Say that a value is above the limit of this name, and how to raise it; or return None."""
        limit = getattr(self, name)
        if limit is None or value <= limit:
            return None
        option = "--" + name.replace("_", "-")
        return f"{value} {unit}, the limit is {limit}; {name} ({option}) raises it"

    def seconds_for(self, file_size: int) -> float:
        """Return the seconds that decoding a file of ``file_size`` bytes may take."""
        if self.max_seconds is not None:
            return self.max_seconds
        return 1 + max(0, file_size - 1000) / 100

    def fault_of_size(
        self, width: int, height: int, samples: int, unit: str = "samples"
    ) -> str | None:
        """Say that a size in pixels, or its number of samples, is above a limit, or return None."""
        along = self.fault("max_dimension", max(width, height), "pixels in a row or column")
        return along or self.fault("max_samples", samples, unit)


DEFAULT_LIMITS = DecodeLimits()
"""Limits where none are given."""
UNLIMITED = DecodeLimits(1 << 62, 1 << 62, max_seconds=1 << 62, max_pictures=1 << 62)
"""For pictures whose parts have limits of their own, and files that this process has made."""
