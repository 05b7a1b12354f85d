"""scripts/bench/codec/summary.py and frontier.py: codecs without a library, families of codecs."""

import importlib.util
import sys
from pathlib import Path

import pytest

from mmpcodec.errors import MissingExtra

FOLDER = Path(__file__).parents[3] / "scripts" / "bench"

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the scripts are not here")


def script(name):
    path = FOLDER / f"{name}.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_codec_without_its_library_is_left_out(monkeypatch, capsys):
    summary = script("codec/summary")
    monkeypatch.setitem(sys.modules, "av", None)
    labels = ("mmpcodec, plain", "x265, preset medium", "mmpcodec, text")
    assert summary.available(labels) == ["mmpcodec, plain", "mmpcodec, text"]
    assert capsys.readouterr().err.startswith("x265, preset medium is left out: hevc: needs PyAV; ")
    with pytest.raises(MissingExtra, match="hevc: needs PyAV"):
        summary.available(labels[1:])


def test_families_join_the_settings_of_a_codec(monkeypatch):
    pytest.importorskip("matplotlib")
    pytest.importorskip("bjontegaard")
    monkeypatch.syspath_prepend(str(FOLDER))
    frontier, summary = script("frontier"), script("codec/summary")
    families = dict.fromkeys(frontier.family_of(label) for label in summary.CODECS)
    assert list(families) == [
        *("AVIF", "JPEG XL", "WebP", "x265", "JPEG 2000"),
        *("mmpcodec, default", "mmpcodec, photo", "mmpcodec, mixed"),
        *("mmpcodec, text", "mmpcodec, plain"),
    ]
    assert len(families) <= len(frontier.COLOURS)
