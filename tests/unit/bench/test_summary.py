"""scripts/bench/codec/summary.py and frontier.py: codecs, families, rows of tables."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from mmpcodec import pictures
from mmpcodec.bench.codecs.base import RGB
from mmpcodec.bench.codecs.peers import peers
from mmpcodec.bench.results import Results
from mmpcodec.bench.sweep import Original, sweep
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
    families = dict.fromkeys(frontier.family_of(label) for label in summary.FRONTIER)
    assert list(families) == [
        *("AVIF", "JPEG XL", "WebP", "x265", "JPEG 2000"),
        *("mmpcodec", "mmpcodec, photo", "mmpcodec, mixed"),
        *("mmpcodec, text", "mmpcodec, plain"),
    ]
    assert len(families) <= len(frontier.COLOURS)


def test_rows_are_those_of_the_sweep(tmp_path, monkeypatch):
    summary = script("codec/summary")
    rows, columns = np.indices((40, 48))
    waves = (128 + 60 * np.sin(rows / 9) + 40 * np.cos(columns / 5)).astype(np.uint8)
    picture = pictures.Picture(np.dstack([waves, waves[::-1], waves[:, ::-1]]), 8)
    pictures.write(picture, tmp_path / "rgb.png")
    monkeypatch.setitem(summary.CODECS, "JPEG", "jpeg:quality=20/80")
    found = summary.rows_of("summary", "photographs", tmp_path / "rgb.png", "JPEG", set())
    results = Results(tmp_path / "out", create=True)
    (codec, _) = peers("jpeg:quality=20/80", RGB)
    swept = list(sweep(Original.of("rgb.png", picture), [codec], results))
    assert [(row["form"], row["depth"]) for row in found] == [("RGB", 8)] * 2
    assert [row["bytes"] for row in found] == [row["bytes"] for row in swept]
    assert [row["psnr_db"] for row in found] == [round(row["psnr"], 4) for row in swept]
