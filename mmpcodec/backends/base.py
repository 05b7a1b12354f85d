"""The contract of a backend.

A backend turns a plane of samples into a payload and a payload back into samples. All backends
write the same bytes for the same plane and parameters, whatever the machine, the thread count or
the device; the ``reference`` backend is the judge. To that end every quantity that decides a bit
is an integer, and ties are broken in a stated order (lowest index; leaf, columns, rows).

A backend

- says whether it can run here: ``unavailable()`` gives the reason, or None;
- never changes its arguments and keeps no state between calls: any number of threads may use it;
- never prints, and calls ``progress(done, total)`` at least once a row of fragments; when that
  returns False it raises ``Cancelled``; what the callback raises passes through;
- has no view of files or containers: parameters were checked before it is called;
- codes samples of 8 bits, and with prediction also of 9 to 16, or ``lacks`` them; of trees only
  those of 8 bits. Lambda and the step are in units of 8-bit samples whatever the depth;
- codes exact samples by ``encode_exact`` and ``decode_exact``, or ``lacks`` them;
- raises ``TruncatedStream`` or ``CorruptStream`` for a payload that does not decode, and nothing
  else, in time and memory bounded by the size of the picture.

A backend asked for by name never falls back to another one; only of several candidates, as preset
"auto" has them, one that it lacks a tool of is coded by another.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from mmpcodec.depth import BYTE
from mmpcodec.errors import BackendUnavailable
from mmpcodec.params import EncodeParams
from mmpcodec.reference.postfilter import PostFilter
from mmpcodec.reference.trees.fragments import fragments_in
from mmpcodec.runtime.progress import Progress, in_turn
from mmpcodec.tools import Tools
from mmpcodec.trace import Coded, Trace


class Backend(ABC):
    """See the contract at the top of this module."""

    name: str
    post_filter = PostFilter()
    """Filters what was coded, on the host; no part of ``encode`` and ``decode``."""

    @abstractmethod
    def unavailable(self) -> str | None:
        """Why this backend cannot run here, or None when it can."""

    def lacks(self, tools: Tools, depth: int = BYTE) -> str | None:
        """What this backend does not have of these tools for samples of this depth, or None."""
        has_trees = tools.dictionary or not tools.prediction
        if tools.exact or depth == BYTE or (depth > BYTE and not has_trees):
            return None
        return f"{'trees' if has_trees else 'predicted blocks'} of samples of {depth} bits"

    def check_has(self, tools: Tools, depth: int = BYTE) -> None:
        """Check that nothing is lacking.

        Raises
        ------
        BackendUnavailable
        """
        if lacking := self.lacks(tools, depth):
            raise BackendUnavailable(f"backend {self.name} cannot run here: it has no {lacking}")

    @abstractmethod
    def describe(self) -> str:
        """What it runs on, in a few words, for people."""

    @abstractmethod
    def encode(
        self,
        plane: np.ndarray,
        params: EncodeParams,
        *,
        depth: int = BYTE,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Coded:
        """Encode a plane.

        Parameters
        ----------
        plane : (H, W) uint8 or uint16 array, C order
            uint8 for a depth of 8, else uint16 and below 2**depth.
        params : EncodeParams
        depth : int
            Bits of a sample, 8 to 16.
        threads : int or None
            Threads to use, at least 1; None lets the backend choose.
        progress : callable or None
            Called with the fragments done and their number.

        Raises
        ------
        BackendUnavailable
            When it ``lacks`` something.
        """

    def encode_exact(
        self, planes: np.ndarray, depth: int, *, progress: Progress | None = None
    ) -> tuple[bytes, Trace]:
        """Encode planes without loss.

        Parameters
        ----------
        planes : (C, H, W) uint16 array, C order
            Below 2**depth.
        depth : int
            1 to 16.
        progress : callable or None

        Returns
        -------
        payload : bytes
        trace : Trace
        """
        raise BackendUnavailable(f"backend {self.name} cannot run here: it has no exact samples")

    def decode_exact(
        self,
        payload: bytes,
        shape: tuple[int, int, int],
        depth: int,
        *,
        progress: Progress | None = None,
    ) -> tuple[np.ndarray, Trace]:
        """Decode a payload into a (C, H, W) uint16 array and a trace."""
        raise BackendUnavailable(f"backend {self.name} cannot run here: it has no exact samples")

    def encode_batch(
        self,
        planes: Sequence,
        params: EncodeParams,
        *,
        depth: int = BYTE,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Coded]:
        """Encode several planes, each as if alone; progress counts the fragments of all."""
        shares = [fragments_in(plane.shape) for plane in planes]
        return [
            self.encode(plane, params, depth=depth, threads=threads, progress=part)
            for plane, part in zip(planes, in_turn(progress, shares), strict=True)
        ]

    @abstractmethod
    def decode(
        self,
        payload: bytes,
        shape: tuple[int, int],
        tools: Tools,
        *,
        depth: int = BYTE,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Coded:
        """Decode a payload into a plane of ``shape`` (H, W) and a depth."""
