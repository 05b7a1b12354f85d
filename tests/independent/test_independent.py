"""A decoder that was written from docs/format/format.md alone reads every conformance vector."""

import ast
import hashlib
import json
from fractions import Fraction
from pathlib import Path

import pytest
from independent.container import decode
from support.vectors import BAD, GOOD, TAKE_LONG, each

HERE = Path(__file__).parent
FORMS = ("gray", "gray with alpha", "RGB", "RGB with alpha")


@each(GOOD, slow=TAKE_LONG)
def test_decodes_to_the_samples(vector):
    samples, facts = decode((vector / "stream.mmp").read_bytes())
    metadata = facts["metadata"]
    resolution = metadata["resolution"]
    assert json.loads((vector / "decoded.json").read_text()) == {
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
    assert samples.shape[:2] == (facts["height"], facts["width"])


@each(BAD)
def test_refuses_what_is_damaged(vector):
    with pytest.raises(ValueError, match=r"."):
        decode((vector / "stream.mmp").read_bytes())


PARTS = sorted({*HERE.glob("*.py")} - {*HERE.glob("test_*.py")})


@pytest.mark.parametrize("path", PARTS, ids=[path.name for path in PARTS])
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
