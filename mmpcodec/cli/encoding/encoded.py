"""What ``mmp encode`` found of a picture or a book."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from mmpcodec.cli import output
from mmpcodec.cli.encoding.levels import levels_facts, levels_text, pages_text
from mmpcodec.cli.encoding.sources import Setting
from mmpcodec.cli.jobs import Job
from mmpcodec.cli.printing import counted, error_text, finite, kind_text, quality_text

if TYPE_CHECKING:
    from mmpcodec import Encoding, Pass
    from mmpcodec.codec.series.chaining import ChainedFile
    from mmpcodec.codec.tiles.renditions import LevelFiles
    from mmpcodec.pictures.books.book import Book
    from mmpcodec.pictures.books.encoding import Written


class Encoded(NamedTuple):
    """The result of encoding one picture.

    ``lam`` is None with a maximal error, which takes the place of lambda; ``psnr`` is in dB,
    infinite for lossless; ``range`` are the levels of black and white to which it refers;
    ``max_error`` is the largest error of a sample, and ``error_text`` has it also in the unit of
    the picture; ``ssimulacra2`` is None without a target of it; ``spared`` tells whether the file
    is lossless because its samples are measurements or have 1 bit; ``named`` is the backend that
    was asked for, ``backend`` that of the first layer; ``tools_left_out`` are the tools of the
    preset that the named backend lacks; ``levels`` are factors, bytes and lambda of the levels,
    None if there are none, and ``levels_text`` says it if levels were asked for;
    ``chain_saved_bytes`` is not 0 if the picture continues another one; ``jpeg_bytes`` is the size
    of the JPEG file that is kept, else 0; ``bits``, ``leaves``,
    ``blocks`` and ``modes`` are summed over all layers.
    """

    input: str
    page: int | None
    output: str
    width: int
    height: int
    form: str
    depth: int
    tiles: int
    input_bytes: int
    output_bytes: int
    bits_per_pixel: float
    psnr: float
    range: tuple[int, int]
    max_error: int
    error_text: str
    ssimulacra2: float | None
    spared: bool
    lam: float | None
    seconds: float
    backend: str
    named: str
    tools_left_out: list[str]
    verified: bool
    bits: dict[str, float]
    leaves: int
    blocks: dict[str, int]
    modes: dict[str, int]
    passes: "tuple[Pass, ...]"
    levels: dict[str, Any] | None = None
    levels_text: str = ""
    chain_saved_bytes: int = 0
    jpeg_bytes: int = 0

    @classmethod
    def of(
        cls, job: Job, found: "Encoding", input_bytes: int, verified: bool, setting: Setting
    ) -> "Encoded":
        """Return the result of a job with this setting, without levels."""
        from mmpcodec.codec.candidates import left_out
        from mmpcodec.codec.distortion import psnr_of
        from mmpcodec.codec.levels import Levels

        assert job.target is not None
        header = found.header
        pixels = header.width * header.height
        kept = found.jpeg_bytes > 0
        spared = bool(setting.params.spared) and found.lam == 0 and not kept
        params = setting.params.without_loss() if spared else setting.params
        named = setting.backend_for(params, header.depth)
        return cls(
            input=job.source,
            page=job.page,
            output=job.target,
            width=header.width,
            height=header.height,
            form=header.form.title,
            depth=header.depth,
            tiles=len(header.tile_bytes),
            input_bytes=input_bytes,
            output_bytes=found.size,
            bits_per_pixel=8 * found.size / pixels,
            psnr=psnr_of(found.distortion, pixels, header.depth),
            range=Levels.of(header).range,
            max_error=found.max_error,
            error_text=error_text(found.max_error, header.metadata.calibration),
            ssimulacra2=found.ssimulacra2,
            spared=spared,
            lam=None if params.max_error else found.lam,
            seconds=found.seconds,
            backend=found.backend,
            named=named,
            tools_left_out=[] if kept else left_out(params, named, header.depth),
            verified=setting.jpeg.verified if kept else verified,
            bits=dict(found.totals.bits),
            leaves=found.totals.leaves,
            blocks=dict(found.totals.blocks),
            modes=dict(found.totals.modes),
            passes=found.passes,
            jpeg_bytes=found.jpeg_bytes,
        )

    def with_levels(self, levels: "LevelFiles | None", size: int) -> "Encoded":
        """Return the result of a picture whose levels were asked for; ``size`` is that of all."""
        return self._replace(
            output_bytes=size,
            bits_per_pixel=8 * size / (self.width * self.height),
            levels=levels_facts(levels),
            levels_text=levels_text(levels, self.output_bytes),
        )

    def in_chain(self, file: "ChainedFile") -> "Encoded":
        """Return the result of a picture that continues another one."""
        assert file.bits is not None
        size = len(file.data)
        return self._replace(
            output_bytes=size,
            bits_per_pixel=8 * size / (self.width * self.height),
            bits=self.bits | file.bits,
            chain_saved_bytes=file.saved,
        )

    def as_dict(self) -> dict[str, Any]:
        passes = [
            {
                "lam": one.lam,
                "effort": one.effort,
                "bytes": one.bytes,
                "psnr": finite(one.psnr),
                "ssimulacra2": one.ssimulacra2,
            }
            for one in self.passes
        ]
        facts = self._asdict()
        del facts["error_text"], facts["named"], facts["levels_text"]
        if not self.levels_text:
            del facts["levels"]
        if self.page is None:
            del facts["page"]
        if not self.jpeg_bytes:
            del facts["jpeg_bytes"]
        return {**facts, "psnr": finite(self.psnr), "passes": passes}

    def loss_text(self) -> str:
        """Return the loss in words."""
        if self.jpeg_bytes:
            return "a JPEG file, kept"
        if self.spared:
            what = "pictures of 1 bit" if self.depth == 1 else "measurements"
            return f"lossless, as {what} are without --quality, --max-error or a target"
        text = quality_text(self.psnr, self.ssimulacra2)
        if not self.max_error:
            return text
        if self.range != (0, (1 << self.depth) - 1):
            text += f" of levels {self.range[0]} to {self.range[1]}"
        return f"{text}, largest error {self.error_text}"

    def text(self, verbose: bool) -> str:
        name = output.shown(self.input, "stdin")
        name += "" if self.page is None else f": page {self.page}"
        name += f" -> {output.shown(self.output, 'stdout')}"
        return self.named_text(name, f"{self.input_bytes} -> {self.output_bytes}", verbose)

    def page_text(self, role: str) -> str:
        """Return what is said of a page of a book."""
        return self.named_text(f"  {role} {self.page}", str(self.output_bytes), verbose=True)

    def named_text(self, name: str, size: str, verbose: bool) -> str:
        """Return what is said of a picture of this name, whose file has this size."""
        tiles = f"{self.tiles} tiles, " if self.tiles > 1 else ""
        line = (
            f"{name}: {self.width}x{self.height}, "
            f"{kind_text(self.form, self.depth)}{tiles}"
            f"{size} bytes, {self.bits_per_pixel:.3f} bpp, "
            f"{self.loss_text()}, {self.seconds:.2f} s, "
            f"backend {self.backend}"
        )
        if self.tools_left_out:
            which = "which" if self.named == self.backend else self.named
            line += f", {which} lacks {counted(len(self.tools_left_out), 'tool')} of the preset"
        tells = self.lam is not None and (math.isfinite(self.psnr) or self.passes)
        line += f", lambda {self.lam:.4g}" if tells else ""
        line += f", {len(self.passes)} passes" if self.passes else ""
        line += f", {self.levels_text}" if self.levels_text else ""
        line += ", verified" if self.verified else ""
        if not verbose or not self.bits:
            return line
        pieces = [f"{self.leaves} leaves"] if self.leaves else []
        if count := sum(self.blocks.values()):
            counts = f"{_counts_text(self.blocks)}; {_counts_text(self.modes)}"
            pieces.append(f"{count} blocks ({counts})")
        parts = [", ".join(pieces)] if pieces else []
        return f"{line}\n  {'; '.join([*parts, f'bits: {_counts_text(self.bits)}'])}"


def _counts_text(counts: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {count:.0f}" for name, count in counts.items())


class EncodedBook(NamedTuple):
    """The result of encoding a book.

    ``pages`` has a row for each page that this run has encoded, ``resumed`` is the number of
    those before, which an earlier run had written; ``pixels`` are those of all. Chains have at most
    ``chain_pages`` pages; ``chained`` is the number of pages that continue others.
    """

    input: str
    output: str
    sources: tuple[str, ...]
    role: str
    pictures: int
    resumed: int
    pixels: int
    sizes: tuple[tuple[int, int], ...]
    kinds: tuple[tuple[str, int], ...]
    input_bytes: int
    output_bytes: int
    seconds: float
    backend: str
    verified: bool
    pages: tuple[Encoded, ...]
    chain_pages: int
    chained: int
    chain_saved_bytes: int

    @classmethod
    def of(
        cls,
        job: Job,
        book: "Book",
        written: "Written",
        rows: Sequence[Encoded],
        input_bytes: int,
        seconds: float,
        setting: Setting,
        verified: bool,
    ) -> "EncodedBook":
        """Return the result of a job whose pages these are; ``rows`` are those of this run."""
        assert job.target is not None
        pages = written.contents.pictures
        saved = [page.saved for page in pages if page.continues is not None]
        sizes = sorted({(page.width, page.height) for page in pages}, key=math.prod)
        return cls(
            input=job.source,
            output=job.target,
            sources=job.sources,
            role=book.role.name.lower(),
            pictures=len(pages),
            resumed=len(pages) - len(rows),
            pixels=sum(page.width * page.height for page in pages),
            sizes=tuple(sizes),
            kinds=tuple(sorted({(page.form.title, page.depth) for page in pages})),
            input_bytes=input_bytes,
            output_bytes=written.size,
            seconds=seconds,
            backend=", ".join(sorted({row.backend for row in rows})),
            verified=verified,
            pages=tuple(rows),
            chain_pages=setting.books.chain_pages,
            chained=len(saved),
            chain_saved_bytes=sum(saved),
        )

    @property
    def said_of(self) -> str:
        """Name of the book in remarks."""
        return self.output if len(self.sources) > 1 else self.input

    def as_dict(self) -> dict[str, Any]:
        rows = []
        for row in self.pages:
            facts = row.as_dict()
            del facts["input"], facts["output"], facts["input_bytes"]
            rows.append(facts)
        facts = self._asdict() | {
            "sources": list(self.sources),
            "sizes": [list(size) for size in self.sizes],
            "bits_per_pixel": 8 * self.output_bytes / self.pixels,
            "pages": rows,
        }
        del facts["kinds"]
        return facts

    def _loss_text(self) -> str:
        """Return the loss of the pages in words."""
        found = sorted(row.psnr for row in self.pages if math.isfinite(row.psnr))
        spared = [row for row in self.pages if row.spared]
        if not found:
            return self.pages[0].loss_text() if spared else "lossless"
        text = f"PSNR {found[0]:.2f} to {found[-1]:.2f} dB"
        lossless = len(self.pages) - len(found)
        return f"{text}, {lossless} lossless" if lossless else text

    def text(self, verbose: bool) -> str:
        small, large = self.sizes[0], self.sizes[-1]
        sizes = f"{small[0]}x{small[1]}" + (f" to {large[0]}x{large[1]}" if small != large else "")
        several = " and ".join(f"{form} of {counted(depth, 'bit')}" for form, depth in self.kinds)
        kind = kind_text(*self.kinds[0]) if len(self.kinds) == 1 else f"{several}, "
        name = output.shown(self.input, "stdin")
        name += f" and {len(self.sources) - 1} more" if len(self.sources) > 1 else ""
        line = (
            f"{name} -> {output.shown(self.output, 'stdout')}: "
            f"{counted(self.pictures, self.role)}, {sizes}, {kind}"
            f"{self.input_bytes} -> {self.output_bytes} bytes, "
            f"{8 * self.output_bytes / self.pixels:.3f} bpp, {self._loss_text()}, "
            f"{self.seconds:.2f} s"
        )
        line += f", backend {self.backend}" if self.backend else ""
        levels = [(row.page or 0, row.output_bytes, row.levels) for row in self.pages]
        line += pages_text(levels, self.role)
        if self.chain_pages > 1:
            several = counted(self.chained, self.role) if self.chained else f"no {self.role}"
            verb = "continues" if self.chained < 2 else "continue"
            line += f", {several} {verb} others"
            line += f", which saves {self.chain_saved_bytes} bytes" if self.chained else ""
        line += f", {self.resumed} by an earlier run" if self.resumed else ""
        if kept := sum(row.jpeg_bytes > 0 for row in self.pages):
            line += f", {counted(kept, 'JPEG file')} kept"
        of_all = bool(self.pages) and all(row.verified for row in self.pages)
        line += ", verified" if self.verified or of_all else ""
        pages = [row.page_text(self.role) for row in self.pages] if verbose else []
        return "\n".join([line, *pages])
