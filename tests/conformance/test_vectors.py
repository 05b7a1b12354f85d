"""Every backend decodes each vector to its samples and encodes its picture to its stream."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import mmpcodec
from mmpcodec import EncodeParams, Tools, backends
from mmpcodec.codec.blocks import TEMPLATES, TREE

SCRIPT = Path(__file__).parents[2] / "scripts" / "vectors.py"
VECTORS = sorted((Path(__file__).parent / "v0").iterdir())
GOOD = [path for path in VECTORS if not (path / "error.json").exists()]


def each(vectors):
    return pytest.mark.parametrize("vector", vectors, ids=[path.name for path in vectors])


all_vectors = each(GOOD)


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def backend(request) -> str:
    reason = backends.status()[request.param]
    if reason is not None:
        pytest.skip(reason)
    return request.param


@all_vectors
@pytest.mark.parametrize("backend", backends.HOST)
def test_decodes_to_the_samples(vector, backend):
    samples = mmpcodec.decode((vector / "stream.mmp").read_bytes(), backend=backend)
    digest = hashlib.sha256(samples.tobytes()).hexdigest()
    assert digest == (vector / "decoded.sha256").read_text().strip()


def params_of(vector: Path) -> EncodeParams:
    given = json.loads((vector / "params.json").read_text())
    tools = Tools(**given["tools"])
    return EncodeParams(given["lam"], tools, given["rate_model"], given["effort"])


def check_encodes(vector: Path, backend: str) -> None:
    with Image.open(vector / "image.pgm") as file:
        picture = np.asarray(file)
    encoding = mmpcodec.encode_picture(picture, params_of(vector), backend=backend)
    assert encoding.data == (vector / "stream.mmp").read_bytes()


@all_vectors
def test_encodes_to_the_stream(vector, backend):
    if lacking := backends.get(backend).lacks(params_of(vector).tools):
        pytest.skip(f"{backend} has no {lacking}")
    check_encodes(vector, backend)


@each([path for path in GOOD if not params_of(path).tools.prediction])
def test_reference_encodes_to_the_stream(vector):
    check_encodes(vector, "reference")


@pytest.mark.slow
@each([path for path in GOOD if params_of(path).tools.prediction])
def test_reference_encodes_blocks_to_the_stream(vector):
    """Its search takes seconds each; smaller pictures than these are in the agreement tests."""
    check_encodes(vector, "reference")


@each([path for path in VECTORS if (path / "error.json").exists()])
@pytest.mark.parametrize("backend", backends.HOST)
def test_refuses_what_is_damaged(vector, backend):
    expected = json.loads((vector / "error.json").read_text())
    with pytest.raises(mmpcodec.FormatError) as caught:
        mmpcodec.decode((vector / "stream.mmp").read_bytes(), backend=backend)
    assert expected == {"error": type(caught.value).__name__, "message": str(caught.value)}


@pytest.mark.parametrize("name", ["photo-templates", "photo-one-template"])
def test_vectors_of_templates_use_them(name):
    data = (Path(__file__).parent / "v0" / name / "stream.mmp").read_bytes()
    modes = mmpcodec.inspect(data, decode=True).trace.units[..., 2]
    assert (modes == TEMPLATES).sum() > 20


@pytest.mark.parametrize(
    "name", ["preset", "odd-size", "fragments-16", "fragments-64", "all-tools", "plain"]
)
def test_vectors_of_trees_among_blocks_have_both(name):
    data = (Path(__file__).parent / "v0" / f"mixed-{name}" / "stream.mmp").read_bytes()
    kinds = mmpcodec.inspect(data, decode=True).trace.units[..., 3]
    assert min((kinds == TREE).sum(), (kinds != TREE).sum()) > 10


def test_script_keeps_existing_vectors(tmp_path):
    """No vector is missing, and one that is there is not written again."""
    for vector in VECTORS:
        (tmp_path / vector.name).mkdir()
        (tmp_path / vector.name / "stream.mmp").write_bytes((vector / "stream.mmp").read_bytes())
    subprocess.run([sys.executable, SCRIPT, tmp_path], check=True)
    assert {path.name for path in tmp_path.glob("*/*")} == {"stream.mmp"}
    assert sorted(path.name for path in tmp_path.iterdir()) == [path.name for path in VECTORS]
