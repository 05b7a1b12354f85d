"""A decoder that was written from docs/format/format.md alone reads every conformance vector."""

import ast
import hashlib
import json
from fractions import Fraction
from pathlib import Path

import pytest
from independent.collection import decode_collection
from independent.container import decode
from support.vectors import BAD, BAD_COLLECTIONS, COLLECTIONS, GOOD, TAKE_LONG, each

HERE = Path(__file__).parent
FORMS = ("gray", "gray with alpha", "RGB", "RGB with alpha")


@each(GOOD, slow=TAKE_LONG)
def test_decodes_to_the_samples(vector):
    samples, facts = decode((vector / "stream.mmp").read_bytes())
    assert json.loads((vector / "decoded.json").read_text()) == stated(samples, facts)
    assert samples.shape[:2] == (facts["height"], facts["width"])


def stated(samples, facts):
    """What ``decoded.json`` says of a picture."""
    metadata = facts["metadata"]
    resolution = metadata["resolution"]
    return {
        "width": facts["width"],
        "height": facts["height"],
        "form": FORMS[facts["form"]],
        "depth": facts["depth"],
        "tile_size": facts["tile_size"],
        "samples_sha256": hashlib.sha256(
            samples.astype(samples.dtype.newbyteorder(">")).tobytes()
        ).hexdigest(),
        "metadata": {
            "icc": metadata["icc"].hex(),
            "exif": metadata["exif"].hex(),
            "xmp": metadata["xmp"].hex(),
            "resolution": resolution
            and [*(str(Fraction(*axis)) for axis in resolution[:2]), resolution[2]],
            "text": [list(pair) for pair in metadata["text"]],
            "white": metadata["white"],
            **({"range": metadata["range"]} if "range" in metadata else {}),
            **({"dicom": [each.hex() for each in parts]} if (parts := metadata["dicom"]) else {}),
        },
    }


@each(COLLECTIONS)
def test_decodes_collections(vector):
    loops, pictures = decode_collection((vector / "stream.mmp").read_bytes())
    found = [{"role": role, "facts": facts} | stated(*read()) for role, facts, read in pictures]
    expected = json.loads((vector / "decoded.json").read_text())
    assert expected == {"loops": loops, "pictures": found}


@each(BAD_COLLECTIONS)
def test_refuses_collections_that_are_damaged(vector):
    """The page that is damaged, or the whole file; the other pages decode."""
    data = (vector / "stream.mmp").read_bytes()
    page = json.loads((vector / "error.json").read_text()).get("page")
    if page is None:
        with pytest.raises(ValueError, match=r"."):
            decode_collection(data)
        return
    _, pictures = decode_collection(data)
    for number, (_, _, read) in enumerate(pictures, 1):
        if number == page or "metadata" in vector.name:
            with pytest.raises(ValueError, match=r"."):
                read()
        else:
            read()


@each(BAD)
def test_refuses_what_is_damaged(vector):
    with pytest.raises(ValueError, match=r"."):
        decode((vector / "stream.mmp").read_bytes())


PARTS = sorted({*HERE.rglob("*.py")} - {*HERE.rglob("test_*.py")})


@pytest.mark.parametrize("path", PARTS, ids=[str(path.relative_to(HERE)) for path in PARTS])
def test_imports_nothing_of_the_codec(path):
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        if isinstance(node, ast.ImportFrom):
            found.add(node.module)
    allowed = {
        "collections",
        "dataclasses",
        "independent",
        "itertools",
        "math",
        "numpy",
        "pathlib",
        "zlib",
    }
    assert {name.split(".")[0] for name in found} <= allowed
