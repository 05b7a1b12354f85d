"""Clusters of processes, and a folder of pictures for them."""

from pathlib import Path

import numpy as np
import pytest
from support.clusters import Cluster

from mmpcodec import pictures


@pytest.fixture
def cluster(tmp_path_factory):
    """A cluster with a scheduler and no workers yet."""
    pytest.importorskip("distributed", reason="needs distributed, of the extra cluster")
    started = Cluster(tmp_path_factory.mktemp("dask"))
    yield started
    started.stop()


@pytest.fixture
def folder_of_pictures(folder):
    """The name of a folder with pictures in subfolders, and one file that is none."""
    rows, columns = np.indices((96, 128))
    for number in range(6):
        noise = np.random.default_rng(number).integers(0, 9, (96, 128))
        samples = (100 + 60 * np.sin(rows / (5 + number)) + columns / 3 + noise).astype(np.uint8)
        name = Path("in", "deep" if number % 2 else "", f"{number}.png")
        name.parent.mkdir(parents=True, exist_ok=True)
        pictures.write(samples, name)
    Path("in/bad.png").write_bytes(b"no picture")
    return "in"
