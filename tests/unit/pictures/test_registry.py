"""The table of picture formats: a format works everywhere once it is a module and a row."""

import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from mmpcodec import pictures
from mmpcodec.errors import ParameterError, PictureError
from mmpcodec.pictures import Picture, registry
from mmpcodec.pictures.registry import Format

MAGIC = b"FAKE"


@pytest.fixture
def fake(monkeypatch):
    """A format of 8-bit gray: its magic, the width in one byte, the samples."""
    module = ModuleType("fake_format")

    def read(data, name, limits):
        samples = np.frombuffer(data[5:], np.uint8).reshape(-1, data[4])
        return Picture(samples, 8)

    def to_bytes(picture, format):
        assert format == "fake"
        return MAGIC + bytes([picture.samples.shape[1]]) + picture.samples.tobytes()

    module.read, module.to_bytes = read, to_bytes
    monkeypatch.setitem(sys.modules, module.__name__, module)
    row = Format("Fake", module.__name__, (".fake", ".fk"), (MAGIC,), planes=(1,), depths=(8,))
    monkeypatch.setattr(registry, "FORMATS", (*registry.FORMATS, row))
    return module


@pytest.fixture
def samples():
    return np.arange(12, dtype=np.uint8).reshape(3, 4)


def test_a_new_row_is_read_and_written(fake, samples, tmp_path):
    path = tmp_path / "a.FK"
    pictures.write(samples, path)
    assert path.read_bytes() == MAGIC + b"\4" + samples.tobytes()
    assert (pictures.read(path).samples == samples).all()
    with pictures.opened(path) as reader:
        assert (reader.read(slice(1, 3), slice(2)) == samples[1:3, :2]).all()


def test_a_new_row_has_the_suffix_checks(fake, samples):
    assert "fake" in pictures.FORMATS
    assert {".fake", ".fk"} < {*pictures.SUFFIXES}
    assert pictures.format_of("x.fake") == pictures.format_of("x.fk") == "fake"
    with pytest.raises(ParameterError, match=r"'\.txt' must be one of \.pbm, .*, \.fake$"):
        pictures.format_of("x.txt")
    with pytest.raises(ParameterError, match="'fake' for RGB: must be one of ppm, "):
        pictures.to_bytes(np.dstack([samples] * 3), "fake")
    assert pictures.lost(Picture(samples, 4), "fake") == ("depth",)
    with pytest.raises(PictureError, match=r"supported are PBM, .* and Fake$"):
        pictures.from_bytes(b"something else")


def test_what_a_new_module_raises_names_the_file(fake):
    with pytest.raises(PictureError, match=r"^x: is damaged or truncated: "):
        pictures.from_bytes(MAGIC + b"\3" + bytes(8), "x")


def test_nothing_of_a_format_is_left_without_its_row(samples):
    assert "fake" not in pictures.FORMATS
    with pytest.raises(ParameterError, match="format = 'fake'"):
        pictures.to_bytes(samples, "fake")


@pytest.mark.parametrize("row", registry.FORMATS, ids=lambda row: row.title)
def test_the_module_of_a_row_defines_what_the_row_promises(row):
    module = row.load()
    wanted = {"read": True, "to_bytes": row.planes, "holds": row.keeps, "open_parts": row.parts}
    for name, needed in wanted.items():
        assert callable(getattr(module, name, None)) or not needed
    assert all(suffix == suffix.lower() and Path(f"x{suffix}").suffix for suffix in row.suffixes)


@pytest.mark.parametrize("row", registry.written().values(), ids=lambda row: row.title)
def test_a_row_names_the_planes_and_depths_that_its_module_writes(row):
    for planes in row.planes:
        for depth in range(1, 17):
            shape = (3, 5) if planes == 1 else (3, 5, planes)
            samples = np.full(shape, (1 << depth) - 1, np.uint8 if depth <= 8 else np.uint16)
            samples[0] = 0  # WebP drops alpha that is opaque everywhere
            if depth > row.most_depth:
                with pytest.raises(ParameterError, match=f"more than {row.most_depth}"):
                    pictures.to_bytes(Picture(samples, depth), row.extension)
                continue
            data = pictures.to_bytes(Picture(samples, depth), row.extension)
            found = registry.format_at(data)
            assert found is row or (not row.magics and found.module == row.module)
            found = pictures.from_bytes(data)
            assert (found.depth == depth) is (depth in row.depths)
            assert found.samples.shape == shape
