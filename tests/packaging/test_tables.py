"""The trained tables are those that the format names, and the compiled module holds them."""

import hashlib
from pathlib import Path

import pytest

from mmpcodec import _cpu
from mmpcodec.runtime import kernels

FORMAT = Path(__file__).parents[2] / "docs" / "format" / "format.md"
NAMES = sorted(path.stem for path in (kernels.FOLDER / "shared" / "tables").iterdir())


def test_there_are_tables():
    assert len(NAMES) == 7


@pytest.mark.parametrize("name", NAMES)
def test_a_table_is_in_the_compiled_module_and_has_the_digest_of_the_format(name):
    data, text = kernels.table(name).tobytes(), FORMAT.read_text()
    assert f"{name}.bin`" in text
    assert hashlib.sha256(data).hexdigest() in text
    assert data in Path(_cpu.__file__).read_bytes()
