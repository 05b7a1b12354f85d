"""The processors and the memory of this machine."""

import os
from concurrent.futures import ThreadPoolExecutor

from mmpcodec.runtime import machine


def test_processors():
    assert 1 <= machine.processors() <= (os.cpu_count() or 1)


def test_free_bytes():
    assert 1 << 20 < machine.free_bytes() < 1 << 50


def test_systems_that_do_not_tell(monkeypatch):
    """macOS has no affinity of processes, and does not tell its free memory."""

    def sysconf(name):
        raise ValueError("unrecognized configuration name")

    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "sysconf", sysconf)
    assert machine.processors() == os.cpu_count()
    assert machine.free_bytes() == machine.UNTOLD_MEMORY


def test_a_limit_of_processors_is_that_of_one_thread():
    free = machine.processors()
    with machine.limited_processors(1):
        assert machine.processors() == 1
        with ThreadPoolExecutor() as others:
            assert others.submit(machine.processors).result() == free
        with machine.limited_processors(free + 1):
            assert machine.processors() == free
        assert machine.processors() == 1
    assert machine.processors() == free
