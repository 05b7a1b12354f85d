"""JPEG files that ``mmp encode`` keeps bit for bit, and the options that decide it."""

import os
from collections.abc import Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from mmpcodec.cli import output
from mmpcodec.cli.help import PICTURES, RUNNING
from mmpcodec.errors import FileError, FormatError, NoSuchPage, ParameterError
from mmpcodec.limits import UNLIMITED, DecodeLimits
from mmpcodec.params import EncodeParams
from mmpcodec.pictures.registry import JPEG_START
from mmpcodec.runtime import stores
from mmpcodec.runtime.files import STANDARD

if TYPE_CHECKING:
    from mmpcodec import Encoding
    from mmpcodec.codec.tiles.renditions import LevelFiles
    from mmpcodec.metadata import Metadata

Samples = Annotated[
    bool,
    typer.Option(
        "--samples",
        help="With --lossless, code the samples of JPEG files, in more bytes, instead of the files "
        "themselves.",
        rich_help_panel=PICTURES,
    ),
]
Verify = Annotated[
    bool | None,
    typer.Option(
        "--verify/--no-verify",
        help="Decode and compare before the file is written; by default only JPEG files that are "
        "kept.",
        rich_help_panel=RUNNING,
        show_default=False,
    ),
]
CHANGING = ("samples", "denoise", "depth", "range", "roi", "strip", "tile", "levels")
"""Options by which samples are coded in place of the JPEG files that hold them."""


class EncodedInput(NamedTuple):
    """An encoding, the bytes of its input, levels of the picture if it has them, and remarks."""

    encoding: "Encoding"
    input_bytes: int
    levels: "LevelFiles | None" = None
    remarks: tuple[str, ...] = ()


def keeps_jpeg(source: str, page: int | None, data: bytes | None = None) -> bool:
    """Return whether a file, of these bytes if they are given, is an mmp file with a JPEG file.

    Only one picture counts, and it may be damaged: that of a page, or the only one.
    """
    from mmpcodec.codec import kept_jpeg

    try:
        with ExitStack() as stack:
            found = data or stack.enter_context(output.read_by_parts(source))
            view = memoryview(found) if isinstance(found, bytes) else found
            return kept_jpeg.keeps_jpeg(view, page, UNLIMITED)
    except (FormatError, NoSuchPage):
        return False


class JpegFiles(NamedTuple):
    """Whether JPEG files are kept.

    Parameters
    ----------
    kept : bool
    verified : bool
        Whether each file is decoded and compared.
    against : str
        The option that changes samples or metadata, so that no JPEG file is kept although nothing
        is lost; empty if there is none.
    """

    kept: bool = False
    verified: bool = True
    against: str = ""

    @classmethod
    def of(cls, params: EncodeParams, values: Mapping[str, Any]) -> "JpegFiles":
        """Return what the values of all parameters of the command stand for.

        Raises
        ------
        ParameterError
            If samples are asked for of files with loss.
        """
        form, samples = params.jpeg_form, values["samples"]
        if samples and form is None:
            raise ParameterError("--samples: has no effect without --lossless")
        given = [f"--{name}" for name in CHANGING if values[name] not in (None, False, [])]
        kept = form is not None and not given
        against = given[0] if given and form is not None else ""
        return cls(kept, values["verify"] is not False, against)

    def read(self, source: str, limits: DecodeLimits) -> bytes | None:
        """Read a file if it is a JPEG file, or keeps one; None if it can be read only once."""
        if source == STANDARD or stores.is_zarr(source):
            return None
        if stores.is_url(source):
            data = output.read(source, limits.max_memory)
            return data if data.startswith(JPEG_START) or keeps_jpeg(source, None, data) else None
        if not os.path.isfile(source):
            return None
        try:
            with open(source, "rb") as stream:
                head = stream.read(len(JPEG_START))
                if head == JPEG_START or keeps_jpeg(source, None):
                    return head + stream.read()
        except OSError as error:
            raise FileError.from_os(source, error) from error
        return None

    def encoded(
        self,
        data: bytes,
        params: EncodeParams,
        threads: int | None,
        metadata: "Metadata | None" = None,
    ) -> EncodedInput:
        """Encode a JPEG file; see ``pictures.kept_jpeg.encode``."""
        from mmpcodec.pictures.kept_jpeg import encode

        form = params.jpeg_form
        assert form is not None
        how: Any = {"metadata": metadata, "threads": threads, "verify": self.verified}
        encoding, remarks = encode(data, form, **how)
        return EncodedInput(encoding, len(data), remarks=remarks)
