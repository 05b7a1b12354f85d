"""The example of a PyTorch data set in the guide: each page comes once, whatever the workers."""

import re
from pathlib import Path

import numpy as np
import pytest
from support.books import collection, noisy
from support.torch_stand_in import install_torch

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "plugins.md"
PAGES = [noisy((6 + number, 8), 8, number) for number in range(7)]


@pytest.fixture
def names(tmp_path, monkeypatch):
    """What the example defines."""
    install_torch(monkeypatch)
    monkeypatch.chdir(tmp_path)
    Path("book.mmp").write_bytes(collection(PAGES))
    Path("b.mmp").write_bytes(collection(PAGES[:2]))
    (text,) = re.findall(
        r"^```python\n(.*?IterableDataset.*?)^```$", GUIDE.read_text(), re.M | re.S
    )
    text = "from itertools import" + text.rpartition("from itertools import")[2]
    found: dict[str, object] = {}
    exec(text, found)
    return found


@pytest.mark.parametrize("workers", [0, 1, 2, 3, 9])
def test_workers_share_the_pages(names, workers):
    pages = names["Pages"]("book.mmp", "b.mmp")
    found = list(names["DataLoader"](pages, batch_size=None, num_workers=workers))
    wanted = [one.samples for one in (*PAGES, *PAGES[:2])]
    assert len(found) == len(wanted)
    keys = sorted((one.shape, np.asarray(one).tobytes()) for one in found)
    assert keys == sorted((one.shape, one.tobytes()) for one in wanted)
