"""Errors that mmpcodec raises; all derive from ``MmpError``.

A message names the field, its value and the allowed range; for a file it also names the byte
offset. For bytes that are not a valid file, decoders raise only ``FormatError``.
"""

from typing import Any, Self, TypeVar

Named = TypeVar("Named", bound="_NamesFile")


class MmpError(Exception):
    """Base class of all errors that mmpcodec raises."""


class ParameterError(MmpError, ValueError):
    """An argument is outside its allowed range, or its type is not supported."""


class NoSuchPage(ParameterError):
    """A file has no picture of this number, or several and no number is given."""


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

    def within(self, part: str, start: int = 0) -> Self:
        """Return the error with the name of a part of the file, which begins at byte ``start``."""
        offset = None if self.offset is None else self.offset + start
        return type(self)(self.section, f"{part}: {self.problem}", offset)

    def with_hint(self, option: str) -> Self:
        """Return the error of a cut or damaged file with the option that decodes the rest."""
        if not isinstance(self, TruncatedStream | CorruptStream):
            return self
        problem = f"{self.problem}; {option} decodes what is left"
        return type(self)(self.section, problem, self.offset)

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
    """A picture or a problem needs more memory or time than limits or the machine allow."""


class UnreadableJpeg(FormatError):
    """A file keeps a JPEG file, which decodes, but whose samples cannot be read."""


class _NamesFile(MmpError):
    """An error of a file, whose message begins with the file's name."""

    @classmethod
    def from_os(cls, name: str, error: OSError) -> Self:
        """Return the error of the system, in one line, as an error of both classes.

        Parameters
        ----------
        name : str
            Name of the file, the attribute ``filename`` of the result.
        error : OSError
            Its class in Python, such as FileNotFoundError, is the second class of the result, which
            has its ``errno`` and ``strerror``.
        """
        system = next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")
        return _both(cls, system)(error.errno, error.strerror or str(error), name)

    @classmethod
    def because(cls, number: int, name: str, reason: str) -> Self:
        """Return the error of the system with this ``errno``, with a reason of our own."""
        return cls.from_os(name, OSError(number, reason))


_BOTH: dict[tuple[type, type], Any] = {}


def _both(own: type[Named], system: type[OSError]) -> type[Named]:
    """Return the subclass of one of our errors and of one of Python's, with the name of ours."""

    def text(error: Any) -> str:
        return f"{error.filename}: {error.strerror}"

    def parts(error: Any) -> tuple[Any, ...]:
        return _again, (own, system, error.errno, error.strerror, error.filename)

    if (own, system) not in _BOTH:
        members = {"__module__": own.__module__, "__str__": text, "__reduce__": parts}
        _BOTH[own, system] = type(own.__name__, (own, system), members)
    return _BOTH[own, system]


def _again(own: type[Named], system: type[OSError], *arguments: Any) -> Named:
    """Return a pickled error."""
    return _both(own, system)(*arguments)


class PictureError(_NamesFile):
    """A picture file cannot be read or written, or its content is not supported.

    If the system refuses to open, read or write the file, the error is an ``OSError`` too, such as
    FileNotFoundError.
    """


class PictureWarning(UserWarning):
    """A picture file was read, but not all of it or not as it is; the message says what.

    Parameters
    ----------
    message : str
    name : str
        Name of the file.
    left_out : tuple of str
        Keys of what was left out or converted, as ``docs/guide/pictures.md`` lists them.
    """

    def __init__(self, message: str, name: str = "", left_out: tuple[str, ...] = ()):
        super().__init__(message)
        self.name = name
        self.left_out = left_out


class FileError(_NamesFile, OSError):
    """A file cannot be read or written; the message begins with the file's name.

    If the system refuses it, the error is of the system's class too, such as FileNotFoundError.
    """


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
