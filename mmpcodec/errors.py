"""Errors that mmpcodec raises; all derive from ``MmpError``.

A message names the field, its value and the allowed range; for a file it also names the byte
offset. For bytes that are not a valid file, decoders raise only ``FormatError``.
"""


class MmpError(Exception):
    """Base class of all errors that mmpcodec raises."""


class ParameterError(MmpError, ValueError):
    """An argument is outside its allowed range, or its type is not supported."""


class FormatError(MmpError, ValueError):
    """Bytes cannot be decoded to a picture.

    Parameters
    ----------
    section : str
        Title of the section of ``docs/format/format.md`` whose rule is broken.
    problem : str
        Field, value and allowed range.
    offset : int or None
        Byte offset in the file; None if it is unknown.
    """

    def __init__(self, section: str, problem: str, offset: int | None = None):
        place = "" if offset is None else f" at byte {offset}"
        super().__init__(f"{section}{place}: {problem}")
        self.section = section
        self.problem = problem
        self.offset = offset

    def __reduce__(self):
        return type(self), (self.section, self.problem, self.offset)


class BadMagic(FormatError):
    """The bytes do not begin with the magic of an mmp file."""


class UnsupportedVersion(FormatError):
    """The file has a format version that this decoder does not know."""


class TruncatedStream(FormatError):
    """The bytes end before the picture is complete."""


class CorruptStream(FormatError):
    """A field is out of range, or a checksum does not match."""


class LimitExceeded(FormatError):
    """A picture or a problem needs more memory than the caller's limits or the machine allow."""


class PictureError(MmpError):
    """A picture file cannot be read or written, or its content is not supported."""


class PictureWarning(UserWarning):
    """A picture file was read, but not all of it or not as it is; the message says what."""


class FileError(MmpError):
    """A file cannot be read or written; the message begins with the file's name."""

    @classmethod
    def from_os(cls, name: str, error: OSError) -> "FileError":
        """Return the error of the system, in one line."""
        return cls(f"{name}: {error.strerror or error}")


class BackendUnavailable(MmpError):
    """The named backend cannot run on this machine; the message says why."""


class Infeasible(MmpError):
    """No result meets the requested limits; the message names limits that can be met."""


class MissingExtra(MmpError):
    """A feature needs a package that is not installed; the message names the extra to install."""


def install(*extras: str) -> str:
    """Return advice, for messages, on installing one of some optional dependency groups."""
    commands = " or ".join(f"pip install '.[{extra}]'" for extra in extras)
    return f"in a checkout of mmpcodec, {commands} installs it"


class Cancelled(MmpError):
    """The progress callback stopped the work."""


class KernelError(MmpError):
    """A CUDA kernel does not compile, or does not fit the device."""
