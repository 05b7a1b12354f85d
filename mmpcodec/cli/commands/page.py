"""``mmp page``: write pictures and their viewer into one HTML file."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from mmpcodec.cli import options, output
from mmpcodec.cli.commands.highlight import Offset
from mmpcodec.cli.commands.view import RegionCount, Viewed, viewed
from mmpcodec.cli.completion import files as files_ending
from mmpcodec.cli.exits import ExitCode
from mmpcodec.cli.help import OUTPUT
from mmpcodec.cli.jobs import Job, check
from mmpcodec.cli.printing import Printer, counted
from mmpcodec.cli.work import named_fault, tell_left_out
from mmpcodec.errors import FormatError, ParameterError, PictureError
from mmpcodec.runtime.files import STANDARD, printable

if TYPE_CHECKING:
    from mmpcodec.web.books import ShownBook

SUFFIXES = (".html", ".htm")


class WrittenPage(NamedTuple):
    """A page that was written."""

    output: str
    files: int
    bytes: int

    def as_dict(self) -> dict[str, Any]:
        return self._asdict()

    def text(self, verbose: bool) -> str:
        shown = output.shown(self.output, "stdout")
        return f"{shown}: {counted(self.files, 'file')}, {self.bytes / 1e6:.2f} MB"


class OpenedFile(NamedTuple):
    """What a file is: an mmp file, a book, one that holds attributes of DICOM."""

    is_mmp: bool = False
    book: "ShownBook | None" = None
    names_patient: bool = False


def _opened(job: Job) -> OpenedFile:
    """Open a file.

    Raises
    ------
    PictureError
        If it has no valid header: a page would show the error only.
    """
    from mmpcodec.opening.contents import is_collection
    from mmpcodec.opening.header import read_header
    from mmpcodec.pictures import registry
    from mmpcodec.web.books import book_of
    from mmpcodec.web.server import ServedFile

    served = ServedFile(job.source, job.below)
    with served.opened() as data:
        if not registry.is_mmp(bytes(data[: registry.MAGIC_END]), job.below):
            return OpenedFile()
        if is_collection(data):
            return OpenedFile(True, book_of(memoryview(served.read()), job.name))
        try:
            return OpenedFile(True, names_patient=bool(read_header(data).metadata.dicom))
        except FormatError as error:
            raise PictureError(named_fault(job.name, error)) from error


def page(
    inputs: Viewed,
    out: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="HTML",
            help="Page to write; - is standard output.",
            rich_help_panel=OUTPUT,
            autocompletion=files_ending(SUFFIXES),
        ),
    ],
    title: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Title; by default the names of the files.")
    ] = None,
    no_layers: Annotated[
        bool,
        typer.Option(
            "--no-layers", help="Leave out layers and bright regions, for a smaller page."
        ),
    ] = False,
    regions: RegionCount = 3,
    offset: Offset = "0.5",
    force: options.Force = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> ExitCode:
    """Write pictures and their viewer into one HTML file.

    The page holds the files and a decoder. It needs neither a server nor a network, so it can be
    sent to anybody who has a browser. It shows what `mmp view` shows, also of a file of several
    pictures. Attributes of DICOM files are left out.
    """
    from mmpcodec.web import parts

    parts.check_decoder("page")

    from mmpcodec.web import pages
    from mmpcodec.web.books import without_dicom
    from mmpcodec.web.facts import KINDS, RegionSearch, facts_of
    from mmpcodec.web.server import ServedFile

    if out != STANDARD and not out.lower().endswith(SUFFIXES):
        raise ParameterError(f"-o: {out} must end in .html or .htm, or be {STANDARD}")
    jobs, others = viewed(inputs, offset)
    check([*jobs, Job("-o", out)], force=force)
    search = RegionSearch(regions, offset)

    def entry(job: Job) -> pages.PageEntry:
        name = printable(job.below)
        size = output.size_of(job.source)
        if size > pages.MOST_BYTES:
            raise ParameterError(
                f"{name}: has {size} bytes, a page holds files of at most "
                f"{pages.MOST_BYTES}; mmp view shows larger ones"
            )
        served = ServedFile(job.source, name)
        is_mmp, book, names_patient = _opened(job)
        if book is not None:
            for fault in book.faults:
                printer.note(f"{name}: {fault}; its pictures were found by their records")
            of_book = None if no_layers else facts_of_book(book, name)
            return pages.PageEntry(name, size, is_mmp, book=book, book_facts=of_book)
        facts = None if no_layers else lambda: facts_of(served.read(), name, search)
        if not names_patient:
            return pages.PageEntry(name, size, is_mmp, data=served.read, facts=facts)
        printer.note(f"{name}: its attributes of DICOM are left out")

        def data() -> bytes:
            return without_dicom(served.read())

        return pages.PageEntry(name, len(data()), is_mmp, data=data, facts=facts)

    def facts_of_book(book: "ShownBook", name: str) -> Callable[[int], dict[str, Any]]:
        one = len(book.contents.numbers_of(None)) == 1

        def facts(number: int) -> dict[str, Any]:
            named = (
                name if one else f"{name}: {book.contents.name_of(book.contents.entries[number])}"
            )
            try:
                return facts_of(book.file(number), named, search)
            except FormatError as error:
                return {"problems": dict.fromkeys(KINDS, f"{named}: {error}")}

        return facts

    printer = Printer(as_json, quiet, False, out == STANDARD)
    entries = [entry(job) for job in jobs]
    shown = title or pages.title_of([entry.name for entry in entries])
    size = 0
    with output.opened(out, force=force) as stream:
        for piece in pages.page(entries, parts.decoder_script(), shown, asks=False):
            size += stream.write(piece.encode())
    printer.show(WrittenPage(out, len(entries), size))
    return ExitCode.PARTLY_FAILED if tell_left_out(others, printer) else ExitCode.DONE
