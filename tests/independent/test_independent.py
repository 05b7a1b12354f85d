"""A decoder that was written from docs/format/format.md alone reads every conformance vector."""

import ast
import hashlib
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from independent.collection import decode_collection
from independent.container import decode
from independent.file import MAGIC, Reader, header
from support.vectors import (
    BAD,
    BAD_COLLECTIONS,
    BAD_JPEGS,
    COLLECTIONS,
    GOOD,
    KEPT_JPEGS,
    TAKE_LONG,
    each,
)

import mmpcodec

HERE = Path(__file__).parent
FORMS = ("gray", "gray with alpha", "RGB", "RGB with alpha")


@each(GOOD, slow=TAKE_LONG)
def test_decodes_to_the_samples(vector):
    samples, facts = decode((vector / "stream.mmp").read_bytes())
    assert json.loads((vector / "decoded.json").read_text()) == stated(samples, facts)
    assert samples.shape[:2] == (facts["height"], facts["width"])


@each(KEPT_JPEGS)
def test_gives_back_jpeg_files(vector):
    file, facts = decode((vector / "stream.mmp").read_bytes())
    assert file == (vector / "file.jpg").read_bytes()
    found = {name: facts[name] for name in ("width", "height", "depth", "tile_size")}
    found["form"] = FORMS[facts["form"]]
    assert json.loads((vector / "decoded.json").read_text()) == found


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


def described(number, role, facts):
    """Role and facts of a picture; a chained one ends with pictures back and bytes saved."""
    if not role.startswith("chained "):
        return {"role": role, "facts": facts}
    *own, back, saved = facts
    role = role.removeprefix("chained ")
    return {"role": role, "facts": own, "continues": number - back, "saved": saved}


@each(COLLECTIONS)
def test_decodes_collections(vector):
    loops, pictures = decode_collection((vector / "stream.mmp").read_bytes())
    found = [
        described(number, role, facts) | stated(*read())
        for number, (role, facts, read) in enumerate(pictures)
    ]
    expected = json.loads((vector / "decoded.json").read_text())
    assert expected == {"loops": loops, "pictures": found}


@each(BAD_COLLECTIONS)
def test_refuses_collections_that_are_damaged(vector):
    """The page that is damaged and those that continue it, or the whole file; others decode."""
    data = (vector / "stream.mmp").read_bytes()
    page = json.loads((vector / "error.json").read_text()).get("page")
    if page is None:
        with pytest.raises(ValueError, match=r"."):
            decode_collection(data)
        return
    _, pictures = decode_collection(data)
    harmed = {page}
    for number, (role, facts, read) in enumerate(pictures, 1):
        if role.startswith("chained") and number - facts[-2] in harmed:
            harmed.add(number)
        if number in harmed or "metadata" in vector.name:
            with pytest.raises(ValueError, match=r"."):
                read()
        else:
            read()


def text_pages():
    """Pages of a few glyphs, of different widths and cut by their borders; a blank and a colour
    page lie between them."""
    rng = np.random.default_rng(31)
    glyphs = rng.random((4, 9, 6)) < 0.5
    pages = []
    for height, width in ((24, 64), (24, 35), (20, 64), (24, 41)):
        page = np.zeros((33, 72), bool)
        for row in (0, 11, 22):
            for column in range(2, 64, 8):
                page[row : row + 9, column : column + 6] = glyphs[rng.integers(4)]
        pages.append(page[:height, :width])
    pages[1] = ~pages[1]
    return [*pages[:2], np.zeros((5, 7), bool), np.full((4, 3, 3), 9, np.uint8), *pages[2:]]


@pytest.mark.parametrize(
    ("effort", "options", "role", "own"),
    [
        (1, {}, "page", []),
        (2, {"durations": 0.25}, "frame", [1, 4]),
        (6, {"positions": [-2.5] * 6}, "slice", [-2500000]),
    ],
)
def test_decodes_chained_pictures(effort, options, role, own):
    """The encoder of the library chains pictures; takes 1 to 6 seconds."""
    data = mmpcodec.encode(text_pages(), lam=0, effort=effort, chain_pages=8, **options)
    _, pictures = decode_collection(data)
    likely = 0, 1, 0, 0, 3, 1  # pictures back; a chain that does not pay begins anew
    count = 0
    for number, (found, facts, read) in enumerate(pictures):
        chained = found == f"chained {role}"
        count += chained
        assert chained or found == role
        assert facts[: len(own) + 1] == own + [likely[number]] * chained
        expected = mmpcodec.decode(data, page=number + 1)
        np.testing.assert_array_equal(read()[0], expected)
    assert count >= 2


def test_damage_harms_pictures_that_continue():
    data = bytearray(mmpcodec.encode(text_pages(), lam=0, effort=1, chain_pages=2))
    start = data.index(MAGIC, 1)
    data[data.index(MAGIC, start + 1) - 20] ^= 1  # in the body of the first picture
    _, pictures = decode_collection(bytes(data))
    for number in (0, 1):
        with pytest.raises(ValueError, match="sizes, checksums"):
            pictures[number][2]()
    for _, _, read in pictures[2:]:
        read()


def test_refuses_a_chained_picture_alone():
    data = mmpcodec.encode(text_pages()[:2], lam=0, effort=1, chain_pages=2)
    _, (_, (role, _, _)) = decode_collection(data)
    assert role == "chained page"
    start = data.rindex(MAGIC)
    reader = Reader(data[start:])
    _, (size,) = header(reader)
    end = start + reader.position + 4 + size
    with pytest.raises(ValueError, match="disagree"):
        decode(data[start:end])


@each([*BAD, *BAD_JPEGS])
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
        "contextlib",
        "copy",
        "dataclasses",
        "functools",
        "hashlib",
        "independent",
        "itertools",
        "math",
        "numpy",
        "pathlib",
        "zlib",
    }
    assert {name.split(".")[0] for name in found} <= allowed
