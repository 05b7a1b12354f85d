"""What ``mmp decode`` says of a file that it has written."""

from typing import Any, NamedTuple

from mmpcodec.cli import output
from mmpcodec.cli.decoding.scaled import scale_text
from mmpcodec.cli.printing import counted


class Decoded(NamedTuple):
    """The result of decoding one file, or one picture of it.

    Parameters
    ----------
    width, height, form, depth
        Of the picture, or of the first of several.
    page : int or None
        Number of the only picture that was decoded of a file of several.
    factor, level : int or None
        By which the picture became smaller, and the level that was decoded is smaller; None
        without --scale.
    pages : list of dict or None
        Of each picture, where one file holds several: ``page``, ``role``, size, ``form``,
        ``depth``, ``bad_tiles``, ``header_faults``, ``duration`` or ``position``, and ``error`` of
        one that does not decode.
    kept : bool
        Whether the output is the JPEG file that was encoded, bit for bit.
    """

    input: str
    output: str
    width: int
    height: int
    form: str
    depth: int
    bad_tiles: int
    header_faults: int
    input_bytes: int
    output_bytes: int
    format: str
    seconds: float
    backend: str
    page: int | None = None
    factor: int | None = None
    level: int | None = None
    pages: list[dict[str, Any]] | None = None
    kept: bool = False

    @property
    def of_mmp(self) -> bool:
        """Whether the input is an mmp file, of which nothing is left out."""
        return True

    @property
    def lost_pages(self) -> int:
        """Number of the pictures that do not decode."""
        return sum("error" in page for page in self.pages or ())

    @property
    def is_partial(self) -> bool:
        """Whether something is damaged."""
        return bool(self.bad_tiles or self.header_faults or self.lost_pages)

    def as_dict(self) -> dict[str, Any]:
        found = self._asdict()
        if not self.kept:
            del found["kept"]
        return {
            name: value
            for name, value in found.items()
            if value is not None or name not in ("page", "pages", "factor", "level")
        }

    def text(self, verbose: bool) -> str:
        bad = f", {counted(self.bad_tiles, 'bad tile')}" if self.bad_tiles else ""
        bad += f", {counted(self.lost_pages, 'bad page')}" if self.lost_pages else ""
        what = f"{self.width}x{self.height}"
        if self.pages is not None:
            roles = {page["role"] for page in self.pages}
            role = roles.pop() if len(roles) == 1 else "page"
            what = f"{counted(len(self.pages), role)}, {what}"
        elif self.page is not None:
            what = f"page {self.page}, {what}"
        what += scale_text(self.factor, self.level)
        what += ", the JPEG file itself" if self.kept else ""
        return (
            f"{output.shown_pair(self.input, self.output)}: {what}, "
            f"{self.input_bytes} -> {self.output_bytes} bytes, {self.seconds:.2f} s, "
            f"backend {self.backend}{bad}"
        )
