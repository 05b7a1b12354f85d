"""The decoder in Node gives the samples of each conformance vector, or its error."""

import json
from math import gcd

import pytest
from support.vectors import BAD, FOLDER, GOOD, each

import mmpcodec


def resolution(found):
    """Return the resolution as the vectors state it, with reduced fractions."""
    if found is None:
        return None
    reduced = [(x // gcd(x, y), y // gcd(x, y)) for x, y in (found["x"], found["y"])]
    return [*(f"{x}/{y}" if y > 1 else f"{x}" for x, y in reduced), found["unit"]]


@each(GOOD)
def test_decodes_to_the_samples(node, vector):
    stated = json.loads((vector / "decoded.json").read_text())
    found = node.ask(path=vector / "stream.mmp")
    assert "error" not in found, found
    metadata = {**found["metadata"], "resolution": resolution(found["metadata"]["resolution"])}
    stated["metadata"].pop("dicom", None)  # a browser shows none of it
    assert metadata == stated["metadata"]
    assert found["sha"] == stated["samples_sha256"]
    names = "width", "height", "form", "depth"
    assert [found[name] for name in names] == [stated[name] for name in names]
    assert found["type"] == ("Uint8Array" if stated["depth"] <= 8 else "Uint16Array")


@each(BAD)
def test_refuses_what_is_damaged_with_the_text_of_python(node, vector):
    with pytest.raises(mmpcodec.FormatError) as caught:
        mmpcodec.decode((vector / "stream.mmp").read_bytes())
    found = node.ask(path=vector / "stream.mmp")
    assert found.get("error") == type(caught.value).__name__
    assert found["message"].removesuffix("not UTF-8") == str(caught.value).removesuffix(
        "not UTF-8: invalid start byte"
    )
    assert found["error"] == json.loads((vector / "error.json").read_text())["error"]


@pytest.mark.parametrize("name", ["rgb-16-photo", "palette-tiles", "cross-component-tiles"])
def test_workers_decode_as_the_thread_of_the_caller(node, name):
    path = FOLDER / name / "stream.mmp"
    alone, with_workers = (node.ask(path=path, workers=count) for count in (0, 2))
    assert alone["sha"] == with_workers["sha"]
