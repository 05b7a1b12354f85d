"""The contract of a backend.

A backend codes a plane of samples into a payload, and a payload back into samples. A backend
writes equal bytes for equal planes and parameters, on every machine, with every number of threads
and on every device, and all backends decode to equal samples. All write the same bytes, except that
a backend with an ``own_search`` has limits and shortcuts of its own there. Every quantity that
decides a bit is an integer, and ties break in a stated order: lowest index; leaf before columns
before rows.

A backend

- states in ``unavailable`` why it cannot run here;
- states in ``lacks`` which tools and depths it cannot code, and codes all others: 8-bit samples by
  trees, samples of 8 to 16 bits by predicted blocks, lossless samples of 1 to 16 bits;
- states in ``missing`` which tools of presets an encoder leaves out for it;
- states in class attributes what the caller may use: ``decodes``, ``decodes_tiles``,
  ``reads_device_arrays``, ``batches``, ``releases_gil``;
- changes no argument and keeps no state between calls, so that any number of threads may call it;
- prints nothing; calls ``progress(done, total)`` at least once per row of fragments, or every 30 ms
  in ``decode_tiles``, raises ``Cancelled`` when it returns False, and lets its exceptions pass;
- knows no files, and tiles only in ``decode_tiles``. The caller has checked the parameters. Lambda
  and the quantisation step are in units of 8-bit samples for every depth;
- raises only ``TruncatedStream`` or ``CorruptStream`` for a payload that does not decode, within
  time and memory bounded by the size of the picture.

A named backend is never replaced by another. Exception: under preset "auto", candidates that the
named backend cannot encode run on another backend.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mmpcodec.backends.tiles import TileFault, TilesTask, TileTraces
from mmpcodec.depth import BYTE
from mmpcodec.errors import BackendUnavailable, ParameterError
from mmpcodec.params import EncodeParams
from mmpcodec.presets import presets_where
from mmpcodec.reference.blocks.search.seen_errors import seen_errors
from mmpcodec.reference.blocks.steps import FragmentMap
from mmpcodec.reference.filters.border import BorderFilter
from mmpcodec.reference.filters.cross_component import CrossComponentFilter
from mmpcodec.reference.filters.fixed import FixedFilters
from mmpcodec.reference.filters.post import PostFilter
from mmpcodec.reference.lossless.number_rates import number_rates
from mmpcodec.reference.trees.fragments import fragments_in
from mmpcodec.runtime.progress import Progress, in_turn
from mmpcodec.tools import (
    TABLES,
    Tools,
    trees_of,
)
from mmpcodec.trace import Coded


@dataclass(frozen=True, eq=False)
class PlaneTask:
    """A plane to encode.

    Parameters
    ----------
    plane : (H, W) array of uint8 or uint16, C order
        Samples below 2**depth, uint8 at a depth of 8. In device memory only if the backend reads
        device arrays. Lossless samples can be (H, W, C): all planes together.
    params : EncodeParams
    depth : int
        Bits per sample: 8 to 16, or 1 to 16 for lossless samples.
    earlier : sequence of arrays
        The decoded planes that predict this one, as many as the tool *cross component* says, of its
        shape and type.
    fragments : FragmentMap or None
        How much each fragment counts; None if all count alike.
    chain : object or None
        What ``Backend.new_chain`` returned: the plane, of two values, continues those that were
        coded with it. None if it stands alone.
    source : SourcePlanes or None
        What red, green and blue of lossless samples were made from; None if that is not known.
    """

    plane: Any
    params: EncodeParams
    depth: int = BYTE
    earlier: Sequence[np.ndarray] = ()
    fragments: FragmentMap | None = None
    chain: Any = None
    source: Any = None


class Backend(ABC):
    """A backend; the docstring of this module states the contract."""

    name: str
    decodes = True
    """Whether ``decode`` works."""
    decodes_tiles = False
    """Whether ``decode_tiles`` works."""
    reads_device_arrays = False
    """Whether a ``PlaneTask`` may hold CuPy arrays."""
    batches = False
    """Whether ``encode_batch`` takes less time than encoding the planes one after the other."""
    releases_gil = False
    """Whether calls may come from any thread and release Python's lock: they run in parallel."""
    own_search: str | None = None
    """Coding that the backend searches in its own way, in words. Its files differ from those of
    other backends, and every backend decodes them to equal samples."""
    missing: frozenset[str] = frozenset()
    """Tools that the backend lacks: an encoder leaves them out of presets."""
    fixed_filters = FixedFilters()
    post_filter = PostFilter()
    cross_component_filter = CrossComponentFilter()
    border_filter = BorderFilter()
    """The filters, on the host. ``encode`` and ``decode`` do not apply them."""

    @abstractmethod
    def unavailable(self) -> str | None:
        """Return the reason why this backend cannot run here; None if it can."""

    def lacks(self, tools: Tools, depth: int = BYTE) -> str | None:
        """Return the tools or depth that this backend cannot code, in words, or None."""
        has_trees = trees_of(tools) is not None
        if tools.lossless or depth == BYTE or (depth > BYTE and not has_trees):
            return None
        return f"{'trees' if has_trees else 'predicted blocks'} of samples of {depth} bits"

    def able(self, tools: Tools, given: Collection[str] = ()) -> Tools:
        """Return the tools of a preset without ``missing`` ones that are not ``given``."""
        rows = TABLES[tools.coding]
        names = self.missing.difference(given).intersection(rows)
        left_out: dict[str, Any] = {name: rows[name].default for name in names}
        return replace(tools, **left_out) if left_out else tools

    def fault(self, tools: Tools, depth: int = BYTE) -> str | None:
        """Say what the backend ``lacks``, and which presets it can code; or return None."""
        lacking = self.lacks(tools, depth)
        if lacking is None:
            return None
        able = presets_where(lambda each: self.lacks(self.able(each), depth) is None)
        if tools.max_error:
            able = "backend cpu"  # no other coding bounds the error
        return f"it has no {lacking}" + (f"; take {able}" if able else "")

    def check_has(self, tools: Tools, depth: int = BYTE) -> None:
        """Raise ``BackendUnavailable`` if the backend ``lacks`` these tools at this depth."""
        if fault := self.fault(tools, depth):
            raise BackendUnavailable(f"backend {self.name} cannot run here: {fault}")

    def check(self, task: PlaneTask) -> None:
        """Check that the backend can code a plane.

        Raises
        ------
        BackendUnavailable
            When it ``lacks`` something.
        ParameterError
            When the earlier planes are not those that the tools name.
        """
        self.check_has(task.params.tools, task.depth)
        self.check_earlier(task.params.tools, task.plane.shape, task.earlier)

    @staticmethod
    def check_earlier(tools: Tools, shape: tuple[int, ...], earlier: Sequence[np.ndarray]) -> None:
        """Raise ``ParameterError`` if ``earlier`` is not what the tools and the shape ask for."""
        found = [plane.shape for plane in earlier]
        if found != [shape] * tools.cross_component:
            raise ParameterError(
                f"earlier has planes of shapes {found}: must be {tools.cross_component} of {shape}"
            )

    @abstractmethod
    def describe(self) -> str:
        """Return the processor or device of the backend, in a few words."""

    def device(self, number: int | None = None) -> dict[str, Any] | None:
        """Return facts of a device by name, by default the current one; None for the processor."""
        return None

    def device_count(self) -> int:
        """Return the number of devices; 0 for the processor."""
        return 0

    def current_device(self) -> int:
        """Return the number of the device that this thread's calls run on."""
        return 0

    def on(self, number: int) -> AbstractContextManager[Any]:
        """Make a device the current one of this thread while the context lasts."""
        return nullcontext()

    def warm(self) -> None:  # noqa: B027 (most backends have nothing to do)
        """Do the work in advance for which the first call would wait, such as compiling kernels."""

    def seen_errors(
        self, source: np.ndarray, samples: np.ndarray, strength: int, *, threads: int | None = 1
    ) -> np.ndarray:
        """Return the errors of blocks that are seen; see ``reference.blocks.search``."""
        return seen_errors(source, samples, strength)

    def number_rates(self, numbers: np.ndarray, count: int) -> np.ndarray:
        """Return the estimated rates of cells of the numbers of a palette; see ``reference``."""
        return number_rates(numbers, count)

    @abstractmethod
    def encode(
        self, task: PlaneTask, *, threads: int | None = None, progress: Progress | None = None
    ) -> Coded:
        """Encode a plane.

        Parameters
        ----------
        task : PlaneTask
        threads : int or None
            Number of threads, at least 1; None lets the backend choose.
        progress : callable or None
            ``progress(done, total) -> bool`` gets numbers of 16x16 fragments.

        Raises
        ------
        BackendUnavailable, ParameterError
            See ``check``.
        Cancelled
            When ``progress`` returned False.
        """

    def encode_batch(
        self,
        tasks: Sequence[PlaneTask],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Coded]:
        """Encode planes of one depth with equal parameters, each as ``encode`` does.

        Progress counts the fragments of all.
        """
        shares = [fragments_in(task.plane.shape) for task in tasks]
        return [
            self.encode(task, threads=threads, progress=part)
            for task, part in zip(tasks, in_turn(progress, shares), strict=True)
        ]

    def new_chain(self, most_width: int, most_rows: int) -> Any:
        """Return a new chain of planes of two values, which continue one another.

        It belongs to one thread at a time, and is of no use after an error.

        Parameters
        ----------
        most_width : int
            That of the widest plane.
        most_rows : int
            Rows of all planes; with more of them coding takes longer.
        """
        raise BackendUnavailable(f"backend {self.name} cannot run here: it only encodes")

    def decode(
        self,
        payload: bytes,
        shape: tuple[int, ...],
        tools: Tools,
        *,
        depth: int = BYTE,
        earlier: Sequence[np.ndarray] = (),
        threads: int | None = None,
        progress: Progress | None = None,
        chain: Any = None,
    ) -> Coded:
        """Decode a payload of ``encode`` into a plane of ``shape``.

        ``chain`` is as in ``PlaneTask``.

        Raises
        ------
        FormatError
            When the payload does not decode. Backends refuse the same payloads at any number of
            threads. With one plane type and message of the error are the same too; with several
            they depend on the order in which a backend decodes planes.
        """
        raise BackendUnavailable(f"backend {self.name} cannot run here: it only encodes")

    def decode_tiles(
        self, task: TilesTask, *, threads: int | None = None, progress: Progress | None = None
    ) -> list[TileFault | TileTraces]:
        """Decode whole tiles into their places: layers, filters, colours, palettes, checksums.

        Only a backend whose ``decodes_tiles`` is true has it. Of others, the caller decodes layer
        by layer, with the same samples, errors and traces.

        Returns
        -------
        list
            For each tile its traces, or its error; then its place holds zeros.

        Raises
        ------
        Cancelled
            When ``progress`` returned False.
        """
        raise BackendUnavailable(f"backend {self.name} cannot run here: it decodes layers only")

    def start_pictures(
        self, tasks: Sequence[TilesTask], *, threads: int | None = None
    ) -> Callable[[], list[list[TileFault | TileTraces]]]:
        """Start to decode the tiles of several pictures, each as ``decode_tiles`` does.

        Returns
        -------
        callable
            Waits until all are decoded, and returns the results.
        """
        found = [self.decode_tiles(task, threads=threads) for task in tasks]
        return lambda: found
