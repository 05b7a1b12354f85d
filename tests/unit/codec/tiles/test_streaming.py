"""Pictures that are read and encoded tile by tile, in the memory of a few tiles."""

import io
import subprocess
import sys
from dataclasses import dataclass, field

import numpy as np
import pytest
from support.strategies import natural

import mmpcodec
from mmpcodec import EncodeParams
from mmpcodec.codec.tiles import streaming
from mmpcodec.codec.tiles.streaming import encode_large
from mmpcodec.metadata import Metadata

PICTURE = np.stack([natural(np.random.default_rng(n), 150, 210) for n in range(3)], axis=2)


OPTIONS = {"preset": "photo", "effort": 1}


@dataclass
class Parts:
    """A picture that is read in parts; remembers the largest."""

    samples: np.ndarray
    depth: int = 8
    metadata: Metadata = field(default_factory=lambda: Metadata(text=(("Title", "parts"),)))
    largest: int = 0

    @property
    def shape(self):
        return self.samples.shape

    def read(self, rows, columns):
        part = self.samples[rows, columns]
        self.largest = max(self.largest, part.size)
        return part


def test_by_parts_gives_the_same_file(monkeypatch):
    monkeypatch.setattr(streaming, "GROUP_PIXELS", 9000)
    parts, file = Parts(PICTURE), io.BytesIO()
    params = EncodeParams.from_options(30, **OPTIONS)
    reported = []
    found = encode_large(
        parts, file, params, tile_size=64, progress=lambda *both: reported.append(both) or True
    )
    expected = mmpcodec.encode(PICTURE, 30, tile_size=64, metadata=parts.metadata, **OPTIONS)
    assert file.getvalue() == expected
    assert (found.size, parts.largest) == (len(expected), 64 * 64 * 3)
    assert reported[-1][0] == reported[-1][1]
    whole = mmpcodec.encode_picture(PICTURE, params, tile_size=64)
    for name, bits in found.totals.bits.items():
        assert bits == pytest.approx(sum(layer.trace.bits[name] for layer in whole.layers))


@pytest.mark.parametrize("tile_size", [209, 210, 512])
def test_by_parts_one_tile_is_no_tile(tile_size):
    file, params = io.BytesIO(), EncodeParams.from_options(30, **OPTIONS)
    encode_large(Parts(PICTURE, metadata=Metadata()), file, params, tile_size=tile_size)
    assert file.getvalue() == mmpcodec.encode(PICTURE, 30, tile_size=tile_size, **OPTIONS)


SCRIPT = """
import resource, sys
import numpy as np
from mmpcodec import EncodeParams
from mmpcodec.codec.tiles.streaming import encode_large
from mmpcodec.pictures import opened
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
with opened(sys.argv[1]) as reader, open(sys.argv[2], "wb") as file:
    params = EncodeParams.from_options(3000, preset="photo", effort=1)
    encode_large(reader, file, params, tile_size=512, threads=2)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_memory_is_that_of_a_few_tiles(tmp_path):
    """256 megapixels of a sparse file: they would be 256 MiB alone."""
    path = tmp_path / "large.npy"
    samples = np.lib.format.open_memmap(path, "w+", np.uint8, (2048, 131072))
    samples[100:110, 500:900] = 200
    del samples
    command = [sys.executable, "-P", "-c", SCRIPT, path, tmp_path / "out.mmp"]
    grown = int(subprocess.run(command, check=True, capture_output=True).stdout)
    assert grown < 200_000  # KiB
    data = (tmp_path / "out.mmp").read_bytes()
    near = mmpcodec.decode(data, region=(400, 0, 600, 200))
    assert near[103:107, 150:450].mean() > 120
    assert near[150:, :50].max() == 0
