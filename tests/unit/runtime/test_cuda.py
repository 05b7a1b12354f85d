"""What is kept for each device, here with a stand-in for CuPy."""

import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from mmpcodec.runtime.cuda import kept


@pytest.fixture
def cupy(monkeypatch):
    """Notes the current device, and each wait for the stream."""
    state = SimpleNamespace(local=threading.local(), waits=0)

    class Device:
        def __init__(self, number):
            self.number = number

        def __enter__(self):
            state.local.current = self.number

        def __exit__(self, *error):
            state.local.current = None

    def synchronize():
        state.waits += 1

    stream = SimpleNamespace(synchronize=synchronize)
    module = SimpleNamespace(cuda=SimpleNamespace(Device=Device, get_current_stream=lambda: stream))
    monkeypatch.setitem(sys.modules, "cupy", module)
    return state


def test_each_device_has_one_and_no_thread_another(cupy):
    made = []

    @kept
    def table(device):
        assert cupy.local.current == device
        time.sleep(0.02)
        made.append(device)
        return object()

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(table, [0, 1] * 8))
    assert sorted(made) == [0, 1]
    assert len(set(map(id, found))) == 2
    assert all(one is found[number % 2] for number, one in enumerate(found))
    assert cupy.waits == 2
