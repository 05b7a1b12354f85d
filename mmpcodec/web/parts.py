"""The parts of pages: scripts and styles, as the package has them."""

from importlib import resources

import mmpcodec
from mmpcodec.errors import MissingExtra

FOLDER = resources.files(mmpcodec).joinpath("web")
DECODER = "decoder.js"
"""The compiled decoder as one script, which ``make web`` builds. It defines ``decoder`` with
``open(source)``, of an address, a File or bytes. The result has ``header`` (width, height, form,
depth, white, whiteNamed, tileSize, exif, xmp, jpeg) and ``tile(number, {signal})``, which gives
``{samples}``, interleaved, and ``decode({signal})``, which gives ``{width, height, planes,
samples}``."""
NOT_BUILT = (
    f"the decoder for browsers, {DECODER}, which was not built; in a checkout of mmpcodec, make "
    "web builds it"
)


def shared(name: str) -> str:
    """Return a script or style that the pages of several commands have, such as "stage.js"."""
    return FOLDER.joinpath("shared", name).read_text(encoding="utf-8")


def viewer(name: str) -> str:
    """Return a part of the page of ``mmp view``, such as "tiles.js"."""
    return FOLDER.joinpath("viewer", name).read_text(encoding="utf-8")


def has_decoder() -> bool:
    """Return whether the decoder for browsers was built."""
    return FOLDER.joinpath(DECODER).is_file()


def check_decoder(command: str) -> None:
    """Check that the decoder for browsers was built.

    Raises
    ------
    MissingExtra
        If it was not. The message names the command, and what builds the decoder.
    """
    if not has_decoder():
        raise MissingExtra(f"{command}: needs {NOT_BUILT}")


def decoder_script() -> str:
    """Return the script that defines ``decoder``, with the compiled decoder in it.

    Raises
    ------
    MissingExtra
        If it was not built.
    """
    check_decoder("view")
    return FOLDER.joinpath(DECODER).read_text(encoding="utf-8")
