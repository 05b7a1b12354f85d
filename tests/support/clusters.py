"""Dask clusters of real processes on this machine, and what tests do with them."""

import contextlib
import hashlib
import os
import signal
import socket
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np

import mmpcodec
from mmpcodec import pictures

SLOW = ("--preset", "photo", "--effort", "6")
"""Options with which a picture takes long enough to be disturbed."""


@contextlib.contextmanager
def local_client(workers=2):
    """A client of a cluster whose workers are processes with one thread each."""
    import distributed

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="distributed")
        with (
            distributed.LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address=None
            ) as cluster,
            distributed.Client(cluster, set_as_default=False) as client,
        ):
            yield client


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def dask(*arguments, **options):
    """Start one of Dask's programs, with the package that is being tested."""
    path = [str(Path(mmpcodec.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "dask", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        **options,
    )


def stop(program):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(program.pid, signal.SIGKILL)
    program.wait()


class Cluster:
    """A scheduler and workers, each a process with children of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.port = free_port()
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.workers = []
        self.start_scheduler()

    def start_scheduler(self):
        options = ("--host", "127.0.0.1", "--port", self.port, "--no-dashboard", "--no-show")
        self.scheduler = dask("scheduler", *options)

    def add_worker(self, **options):
        arguments = (self.address, "--nthreads", 1, "--no-dashboard", "--death-timeout", 60)
        place = ("--local-directory", self.folder)
        self.workers.append(dask("worker", *arguments, *place, **options))
        return self.workers[-1]

    def stop(self):
        for program in (*self.workers, self.scheduler):
            stop(program)


def hashes(folder):
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in Path(folder).rglob("*")
        if path.is_file()
    }


def errors_of(program, seconds):
    """Wait for the end of a program and return what it wrote to standard error."""
    return program.communicate(timeout=seconds)[1].decode()


def wait_for(what, seconds=60):
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.02)


def large_pictures(count):
    """Write pictures that take about half a second each with SLOW; return their folder."""
    rows, columns = np.indices((144, 144))
    Path("large").mkdir()
    for number in range(count):
        noise = np.random.default_rng(number).normal(0, 12, (144, 144))
        samples = 128 + 70 * np.sin(rows / (9 + number)) * np.cos(columns / 14) + noise
        pictures.write(np.clip(samples, 0, 255).astype(np.uint8), f"large/{number}.png")
    return "large"
