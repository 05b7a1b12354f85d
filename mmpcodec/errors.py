"""The errors that mmpcodec raises, as one small tree.

Every message names the field, its value, the allowed range and, for a file, the place.
``FormatError`` is all that a decoder raises for bytes that are not a good file.
"""


class MmpError(Exception):
    """Base of all errors raised by mmpcodec."""


class ParameterError(MmpError, ValueError):
    """An argument is outside its allowed range or of a kind that is not supported."""


class FormatError(MmpError, ValueError):
    """The bytes are not a file that this decoder can turn into a picture.

    Parameters
    ----------
    section : str
        Title of the section of ``docs/format/format.md`` whose rule is broken.
    problem : str
        Field, value and allowed range.
    offset : int or None
        Byte offset in the file, where one is known.
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
    """The bytes do not begin as an mmp file does."""


class UnsupportedVersion(FormatError):
    """The file was written for a version or profile of the format that is not known here."""


class TruncatedStream(FormatError):
    """The bytes end before the picture does."""


class CorruptStream(FormatError):
    """A field is out of range or a checksum does not match."""


class LimitExceeded(FormatError):
    """A picture, or what a solver needs, is larger than the caller's limits or memory allow."""


class PictureError(MmpError):
    """A picture file cannot be read or written, or holds what the codec does not support."""


class FileError(MmpError):
    """A file cannot be read or written; the message begins with the file's name."""

    @classmethod
    def from_os(cls, name: str, error: OSError) -> "FileError":
        """The error of the system, in one line."""
        return cls(f"{name}: {error.strerror or error}")


class BackendUnavailable(MmpError):
    """A backend that was asked for by name cannot run here; the message says why."""


class Infeasible(MmpError):
    """Nothing keeps the limits that were asked for; the message says what would."""


class MissingExtra(MmpError):
    """What was asked for needs a package that is not installed; the message names the extra."""


def install(*extras: str) -> str:
    """The advice that messages give for packages of one of some extras."""
    commands = " or ".join(f"pip install '.[{extra}]'" for extra in extras)
    return f"in a checkout of mmpcodec, {commands} installs it"


class Cancelled(MmpError):
    """The progress callback asked to stop."""


class KernelError(MmpError):
    """A kernel does not compile or does not fit the device."""
