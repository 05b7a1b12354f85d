"""What the examples use of PyTorch, where it is not installed: data sets, and workers in turn."""

import importlib.util
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

import pytest


class WorkerInfo(NamedTuple):
    """Number of a worker, and of all."""

    id: int
    num_workers: int


_now: list[WorkerInfo] = []


class _Loader:
    def __init__(self, dataset: Any, batch_size: None = None, num_workers: int = 0):
        self._dataset, self._workers = dataset, num_workers

    def __iter__(self) -> Iterator[Any]:
        if not self._workers:
            yield from self._dataset
        for number in range(self._workers):
            _now.append(WorkerInfo(number, self._workers))
            try:
                yield from self._dataset
            finally:
                _now.pop()


def install_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ``import torch`` find the stand-in, if PyTorch is not installed."""
    if importlib.util.find_spec("torch") is not None:
        return
    torch, utils, data = (ModuleType(name) for name in ("torch", "torch.utils", "torch.utils.data"))
    torch.from_numpy = lambda array: array  # type: ignore[attr-defined]
    torch.Tensor = type("Tensor", (), {})  # type: ignore[attr-defined]  # SciPy looks for it
    data.IterableDataset = object  # type: ignore[attr-defined]
    data.DataLoader = _Loader  # type: ignore[attr-defined]
    data.get_worker_info = lambda: _now[-1] if _now else None  # type: ignore[attr-defined]
    for module in (torch, utils, data):
        monkeypatch.setitem(sys.modules, module.__name__, module)
