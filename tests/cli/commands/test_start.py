"""``mmp start train``, and ``--start`` of the commands that encode and decode."""

import numpy as np
import pytest
from support.strategies import natural

import mmpcodec
from mmpcodec import Start, pictures


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MMP_STARTS", "")
    picture = natural(np.random.default_rng(3), 64, 64)
    (tmp_path / "a.png").write_bytes(pictures.to_bytes(pictures.Picture(picture, 8), "png"))
    return tmp_path


def test_train_encode_decode(mmp, folder, monkeypatch):
    picture, start, coded = (str(folder / name) for name in ("a.png", "a.mmpstart", "a.mmp"))
    assert mmp("start", "train", picture, "-o", start, "--tile", "64").exit_code == 0
    options = ("--format", "2", "--preset", "photo", "--start", start)
    assert mmp("encode", picture, "-o", coded, *options).exit_code == 0
    assert mmpcodec.inspect((folder / "a.mmp").read_bytes()).header.start == Start.load(start).name
    monkeypatch.setenv("MMP_STARTS", "")
    out = ("-o", str(folder / "b.png"))
    assert mmp("decode", coded, *out).exit_code == 1
    assert mmp("decode", coded, *out, "--start", start).exit_code == 0
    assert mmp("start", "train", picture, "-o", start).exit_code == 1  # it exists
    (folder / "bad.mmpstart").write_bytes(b"GIF89a")
    monkeypatch.setenv("MMP_STARTS", str(folder / "bad.mmpstart"))
    named = mmp("decode", coded, *out, "--force").stderr
    assert f"variable MMP_STARTS: Starts at byte 0: {folder / 'bad.mmpstart'}: magic is " in named
    assert "is not an mmp file" not in named
    monkeypatch.setenv("MMP_STARTS", "")
    bad = mmp("decode", coded, *out, "--force", "--start", str(folder / "bad.mmpstart"))
    assert bad.exit_code == 1
