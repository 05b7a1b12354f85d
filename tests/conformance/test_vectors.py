"""Every backend decodes each vector to its samples and encodes its picture to its stream."""

import hashlib
import json
import subprocess
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.vectors import (
    BAD,
    BAD_COLLECTIONS,
    BAD_JPEGS,
    COLLECTIONS,
    DECODERS,
    FOLDER,
    GOOD,
    KEPT_JPEGS,
    TAKE_LONG,
    VECTORS,
    each,
)

import mmpcodec
from mmpcodec import EncodeParams, Encoding, backends, pictures
from mmpcodec.codec.kept_jpeg import file_of, stream_of
from mmpcodec.depth import coded_depth
from mmpcodec.format.container import read_header
from mmpcodec.format.jpeg import most_level_bytes
from mmpcodec.opening.contents import PictureBytes, read_contents, scanned
from mmpcodec.pictures import kept_jpeg
from mmpcodec.reference.blocks.partition import (
    AVERAGE,
    FIRST_ANGLE,
    PLANAR,
    TEMPLATES,
    TREE,
)
from mmpcodec.reference.blocks.prediction import HORIZONTAL, VERTICAL
from mmpcodec.reference.jpeg import codec
from mmpcodec.tools import KINDS, BlockTools, Tools

SCRIPT = Path(__file__).parents[2] / "scripts" / "vectors" / "make.py"
ENCODED = [path for path in GOOD if (path / "params.json").exists()]


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def backend(request) -> str:
    reason = backends.status()[request.param]
    if reason is not None:
        pytest.skip(reason)
    return request.param


def decoded_by(backend, vector):
    """The arguments of a test; the reference takes seconds for some vectors."""
    slow = backend == "reference" and vector in TAKE_LONG
    marks = pytest.mark.slow if slow else ()
    return pytest.param(vector, backend, id=f"{backend}-{vector.name}", marks=marks)


WITH_DECODERS = [decoded_by(*pair) for pair in product(DECODERS, GOOD)]


@pytest.mark.parametrize(("vector", "backend"), WITH_DECODERS)
def test_decodes_to_the_samples(vector, backend):
    data = (vector / "stream.mmp").read_bytes()
    found = mmpcodec.inspect(data, decode=True, backend=backend)
    assert json.loads((vector / "decoded.json").read_text()) == facts_of(found)


def facts_of(found: mmpcodec.Inspection) -> dict[str, Any]:
    """What ``decoded.json`` says of a picture."""
    header, samples = found.header, found.samples
    resolution = header.metadata.resolution
    return {
        "width": samples.shape[1],
        "height": samples.shape[0],
        "form": header.form.title,
        "depth": header.depth,
        "tile_size": header.tile_size,
        "samples_sha256": hashlib.sha256(
            samples.astype(samples.dtype.newbyteorder(">")).tobytes()
        ).hexdigest(),
        "metadata": {
            "icc": header.metadata.icc.hex(),
            "exif": header.metadata.exif.hex(),
            "xmp": header.metadata.xmp.hex(),
            "resolution": resolution and [str(resolution.x), str(resolution.y), resolution.unit],
            "text": [list(pair) for pair in header.metadata.text],
            "white": header.metadata.white,
            **({"range": list(levels)} if (levels := header.metadata.range) else {}),
            **(
                {"dicom": [each.hex() for each in parts]}
                if (parts := header.metadata.dicom)
                else {}
            ),
        },
    }


def chain_of(entry) -> dict[str, int]:
    chained = entry.continues is not None
    return {"continues": entry.continues, "saved": entry.saved} if chained else {}


@each(COLLECTIONS)
@pytest.mark.parametrize("backend", ["cpu"])
def test_pictures_of_collections_decode_to_their_samples(vector, backend):
    data = memoryview((vector / "stream.mmp").read_bytes())
    stated = json.loads((vector / "decoded.json").read_text())
    contents = read_contents(data)
    assert contents.loops == stated["loops"]
    found = [
        {"role": entry.role.name.lower(), "facts": list(entry.facts)}
        | chain_of(entry)
        | facts_of(
            mmpcodec.inspect(PictureBytes(data, contents, entry), decode=True, backend=backend)
        )
        for entry in contents.entries
    ]
    assert found == stated["pictures"]
    if not contents.unfinished:
        assert replace(scanned(data, 9, []), loops=contents.loops) == contents


@each(BAD_COLLECTIONS)
def test_refuses_collections_that_are_damaged(vector):
    expected = json.loads((vector / "error.json").read_text())
    page = expected.pop("page", None)
    with pytest.raises(mmpcodec.FormatError) as caught:
        mmpcodec.decode((vector / "stream.mmp").read_bytes(), page=page)
    assert expected == {"error": type(caught.value).__name__, "message": str(caught.value)}


@each(KEPT_JPEGS)
@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_gives_back_jpeg_files(vector, backend):
    data = memoryview((vector / "stream.mmp").read_bytes())
    header = read_header(data)
    stream = stream_of(data, header)
    assert file_of(stream, header, backend=backend) == (vector / "file.jpg").read_bytes()
    assert json.loads((vector / "decoded.json").read_text()) == {
        "width": header.width,
        "height": header.height,
        "form": header.form.title,
        "depth": header.depth,
        "tile_size": header.tile_size,
    }


@each(KEPT_JPEGS)
def test_keeps_jpeg_files_as_the_stream(vector):
    file, stream = ((vector / name).read_bytes() for name in ("file.jpg", "stream.mmp"))
    form = int(vector.name.split("-")[1])
    header = kept_jpeg.header_of(file)
    payload = codec.encode_file(file, form, most_level_bytes(header.width, header.height))
    assert stream.endswith(payload)
    coded = kept_jpeg.encode(file, form).encoding
    chosen = coded.layers[0].tools.lossless_form  # a lower one may be smaller
    if chosen == form and "cut" not in vector.name:  # encoders may cut a scan at other places
        assert coded.data == stream


def tools_of(given: dict[str, Any]) -> Tools:
    """The tools of a description by ``scripts/vectors/make.py``."""
    own = {**given, "trees": tools_of(given["trees"])} if "trees" in given else dict(given)
    return KINDS[own.pop("coding")](**own)


def params_of(vector: Path) -> EncodeParams:
    given = json.loads((vector / "params.json").read_text())
    first, *others = map(tools_of, given["tools"])
    return EncodeParams(
        given["lam"],
        first,
        given["rate_model"],
        given["effort"],
        tuple(others),
        range=given.get("range"),
    )


def coded_depth_of(vector: Path) -> int:
    return coded_depth(json.loads((vector / "decoded.json").read_text())["depth"])


def skip_if_lacking(vector: Path, backend: str) -> None:
    tools = params_of(vector).tools
    if (vector / "roi.npy").exists():
        tools = replace(tools, delta_step=True)
    if lacking := backends.get(backend).lacks(tools, coded_depth_of(vector)):
        pytest.skip(f"{backend} has no {lacking}")


def encoded(vector: Path, backend: str) -> Encoding:
    given = json.loads((vector / "params.json").read_text())
    options = {name: given[name] for name in ("depth", "tile_size") if name in given}
    if (vector / "roi.npy").exists():
        options["roi"] = np.load(vector / "roi.npy")
    metadata = mmpcodec.inspect((vector / "stream.mmp").read_bytes()).header.metadata
    picture = pictures.read(vector / "image.pam").samples
    return mmpcodec.encode_picture(
        picture, params_of(vector), backend=backend, metadata=metadata, **options
    )


def check_encodes(vector: Path, backend: str) -> None:
    assert encoded(vector, backend).data == (vector / "stream.mmp").read_bytes()


@each(ENCODED)
@pytest.mark.usefixtures("plain_search")
def test_encodes_to_the_stream(vector, backend):
    skip_if_lacking(vector, backend)
    check_encodes(vector, backend)


SEARCHED_LONG = {
    path for path in ENCODED if isinstance(params_of(path).tools, BlockTools)
} | TAKE_LONG
"""Smaller pictures than these are in the agreement tests."""


@each(ENCODED, slow=SEARCHED_LONG)
def test_reference_encodes_to_the_stream(vector):
    check_encodes(vector, "reference")


@each([*BAD, *BAD_JPEGS])
@pytest.mark.parametrize("backend", DECODERS)
def test_refuses_what_is_damaged(vector, backend):
    expected = json.loads((vector / "error.json").read_text())
    with pytest.raises(mmpcodec.FormatError) as caught:
        mmpcodec.decode((vector / "stream.mmp").read_bytes(), backend=backend)
    assert expected == {"error": type(caught.value).__name__, "message": str(caught.value)}


@pytest.mark.parametrize("name", ["photo-templates", "photo-one-template"])
def test_vectors_of_templates_use_them(name):
    data = (FOLDER / name / "stream.mmp").read_bytes()
    modes = mmpcodec.inspect(data, decode=True).trace.units[..., 2]
    assert (modes == TEMPLATES).sum() > 20


@pytest.mark.parametrize(
    "name", ["preset", "odd-size", "fragments-16", "fragments-64", "all-tools", "plain"]
)
def test_vectors_of_trees_among_blocks_have_both(name):
    data = (FOLDER / f"mixed-{name}" / "stream.mmp").read_bytes()
    kinds = mmpcodec.inspect(data, decode=True).trace.units[..., 3]
    assert min((kinds == TREE).sum(), (kinds != TREE).sum()) > 10


def test_vectors_of_pdpc_have_every_mode_that_is_blended():
    found = set()
    for vector in FOLDER.glob("pdpc*"):
        for layer in mmpcodec.inspect((vector / "stream.mmp").read_bytes(), decode=True).layers:
            found.update(layer.trace.units[..., 2].ravel().tolist())
    angles = {mode - FIRST_ANGLE for mode in found if FIRST_ANGLE <= mode < TEMPLATES}
    assert found >= {AVERAGE, PLANAR}
    assert angles >= {HORIZONTAL, VERTICAL}
    assert min(angles) < HORIZONTAL < VERTICAL < max(angles)


def test_script_keeps_existing_vectors(tmp_path):
    """No vector is missing, and one that is there is not written again."""
    for vector in VECTORS:
        (tmp_path / vector.name).mkdir()
        (tmp_path / vector.name / "stream.mmp").write_bytes((vector / "stream.mmp").read_bytes())
    subprocess.run([sys.executable, SCRIPT, tmp_path], check=True)
    assert {path.name for path in tmp_path.glob("*/*")} == {"stream.mmp"}
    assert sorted(path.name for path in tmp_path.iterdir()) == [path.name for path in VECTORS]
