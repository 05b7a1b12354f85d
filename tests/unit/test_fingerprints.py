"""The fingerprint of the codec: it counts all sources that decide the bytes of mmp files."""

import re
from pathlib import Path

import pytest

import mmpcodec
from mmpcodec import fingerprints
from mmpcodec.fingerprints import ASIDE, codec_fingerprint, codec_sources

PACKAGE = Path(mmpcodec.__file__).parent
NAMES = {path.relative_to(PACKAGE).as_posix() for path in codec_sources()}
IMPORT = re.compile(r"^\s*(?:from|import) mmpcodec\.(\w+)", re.MULTILINE)


@pytest.mark.parametrize(
    "name",
    [
        *("samples.py", "params.py", "depth.py", "codec/encoder.py", "format/container.py"),
        *("backends/block_efforts.py", "backends/cuda/blocks.py", "metrics/ssimulacra2.py"),
        *("kernels/cpu/blocks/search/search.cpp", "kernels/cuda/blocks/encode.cu"),
        *("kernels/shared/tools.h", "reference/blocks/models.py", "runtime/tasks.py"),
    ],
)
def test_what_decides_bytes_counts(name):
    assert name in NAMES


def test_each_folder_of_kernels_counts():
    for folder in ("cpu", "cuda", "shared"):
        parts = {path.name for path in (PACKAGE / "kernels" / folder).iterdir() if path.is_dir()}
        own = {name.split("/")[2] for name in NAMES if name.startswith(f"kernels/{folder}/")}
        assert parts - {"solvers"} <= own


def test_counted_sources_import_no_other_ones():
    """All that the encoder imports counts, so no folder is left out by mistake."""
    for path in codec_sources():
        name = path.relative_to(PACKAGE).as_posix()
        if path.suffix == ".py" and name not in ("__init__.py", "__main__.py", "fingerprints.py"):
            assert not set(IMPORT.findall(path.read_text())).intersection(ASIDE), name


def test_a_changed_source_changes_it(monkeypatch, tmp_path):
    before = codec_fingerprint()
    more = tmp_path / "more.py"
    more.write_text("1")
    sources = codec_sources()
    monkeypatch.setattr(fingerprints, "codec_sources", lambda: [*sources, more])
    assert len(before) == 12
    assert before != codec_fingerprint.__wrapped__()
