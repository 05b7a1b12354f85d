"""The trained tables are those that the format names, and the builds hold them."""

import hashlib
from pathlib import Path

import pytest

from mmpcodec import _cpu
from mmpcodec.runtime import kernels

ROOT = Path(__file__).parents[2]
SECTIONS = {
    "fixed_filters": "Filter bank",
    "initial_states": "Start states",
    "small_initial_states": "Start states",
    "trained_transforms": "Trained transforms",
}


def test_each_table_has_a_section():
    found = {path.stem for path in (ROOT / "kernels" / "shared" / "tables").iterdir()}
    assert found == SECTIONS.keys()


@pytest.mark.parametrize("name", SECTIONS)
def test_a_table_is_in_the_compiled_module_and_has_the_digest_of_the_format(name):
    data = kernels.table(name).tobytes()
    text = (ROOT / "docs" / "format" / "format.md").read_text()
    section = text.split(f"\n## {SECTIONS[name]}\n")[1].split("\n## ")[0]
    assert hashlib.sha256(data).hexdigest() in section
    assert data in Path(_cpu.__file__).read_bytes()
