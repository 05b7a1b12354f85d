"""Which files of a folder are inputs of a command: by their first bytes, or by their suffix."""

import os
from typing import NamedTuple

from mmpcodec.pictures import registry
from mmpcodec.runtime.files import ZARR_SUFFIX, is_zarr

OTHER_SUFFIXES = (".jfif", ".jpe", ".jif", ".jpf", ".jpm", ".hif", ".dib", ".dic", ".ima")
"""Suffixes of pictures that the table of formats lacks, for folders whose files are not opened."""
SYSTEM_NAMES = {
    "autorun.inf", "desktop.ini", "dicomdir", "ehthumbs.db", "thumbs.db", "icon\r", "__macosx",
    "@eadir", "#recycle", "$recycle.bin", "lost+found", "system volume information",
}  # fmt: skip
"""Names of files and folders that systems put beside pictures, in small letters."""


class Reason(NamedTuple):
    """Why a file or folder in a folder is no input.

    Parameters
    ----------
    what : str
        What it is: "system or hidden", "TIFF".
    counts : bool
        Whether the user may miss it, so that it is named, and the exit code tells of it.
    """

    what: str
    counts: bool = True


OWN = Reason("output of this command", counts=False)
SYSTEM = Reason("system or hidden", counts=False)
UNKNOWN = Reason("of no known format")
NO_FILE = Reason("no regular file")
EMPTY = Reason("empty")
ELSEWHERE = Reason("link to a folder elsewhere, which is an input only if it is named")


class InputKind(NamedTuple):
    """The files of folders that are inputs of a command.

    Parameters
    ----------
    title : str
        Name of such a file in messages.
    suffixes : tuple of str
        Suffixes of their names, in small letters; a row of the table of formats that has one of
        them is a format of inputs. None for all files.
    own : tuple of str
        Suffixes of files that are no inputs: the outputs of the command.
    zarr : bool
        Whether zarr stores, which are folders, are inputs too.
    only : bool
        Whether nobody expects pictures of other formats to be inputs.
    """

    title: str
    suffixes: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    zarr: bool = False
    only: bool = False

    def holds(self, name: str) -> bool:
        """Return whether the suffix of a name is that of an input."""
        name = name.lower()
        found = not self.suffixes or name.endswith(self.suffixes)
        return found and not (self.own and name.endswith(self.own))

    def without(self, *suffixes: str) -> "InputKind":
        """Return this kind without the files that have one of these suffixes."""
        return self._replace(own=(*self.own, *suffixes))

    def of_file(self, path: str) -> Reason | None:
        """Return why a file is no input, or None if it is one.

        A file that cannot be opened is an input, so that reading it tells why.
        """
        early = self._by_name(os.path.basename(path))
        # The suffix of a link says nothing about the file to which it leads.
        if early is not None or not self.suffixes or not os.path.exists(path):
            return early
        if self.holds(path) and not os.path.islink(path):
            return None
        if not os.path.isfile(path):
            return None if self.holds(path) else NO_FILE
        try:
            with open(path, "rb") as stream:
                head = stream.read(registry.HEAD)
        except OSError:
            return None
        row = registry.format_at(head)
        if row is None:
            return UNKNOWN if head else EMPTY
        return self._of_format(row)

    def of_folder(self, path: str) -> Reason | None:
        """Return why a folder is neither searched nor an input, or None if it is one of these."""
        if not self.suffixes:
            return None
        if _is_system(os.path.basename(path)):
            return SYSTEM
        return Reason("zarr store", not self.only) if is_zarr(path) and not self.zarr else None

    def at_url(self, below: str) -> Reason | None:
        """Return why a file in a folder at a URL is no input; its suffix decides.

        ``below`` is its path below the folder, whose parts are separated by "/".
        """
        *above, name = below.split("/")
        if self.suffixes and any(map(_is_system, above)):
            return SYSTEM
        early = self._by_name(name)
        if early is not None or self.holds(name):
            return early
        if any(part.endswith(ZARR_SUFFIX) for part in above):
            return Reason("in a zarr store", not self.only)
        lower = name.lower()
        row = next((row for row in registry.FORMATS if lower.endswith(row.suffixes)), None)
        if row is not None:
            return self._of_format(row)
        taken = lower.endswith(OTHER_SUFFIXES) and set(registry.suffixes()) <= set(self.suffixes)
        return None if taken else Reason("of no known suffix")

    def _by_name(self, name: str) -> Reason | None:
        """Return what a file is by its name alone."""
        if self.own and name.lower().endswith(self.own):
            return OWN
        return SYSTEM if self.suffixes and _is_system(name) else None

    def _of_format(self, row: registry.Format) -> Reason | None:
        if any(suffix in self.suffixes and suffix not in self.own for suffix in row.suffixes):
            return None
        return Reason(row.title, not (self.only or row.is_mmp))


ANY_FILE = InputKind("file")
MMP_FILE = InputKind("mmp file", (".mmp",), only=True)
PICTURE = InputKind("picture", registry.suffixes())
PICTURES_AND_STORES = PICTURE.without(".mmp")._replace(zarr=True)
"""What is encoded."""


def _is_system(name: str) -> bool:
    """Return whether a file or folder is hidden, or none of the user's."""
    return name.startswith(".") or name.lower() in SYSTEM_NAMES
