"""Make the conformance vectors that are missing, with the reference backend.

    python scripts/vectors/make.py [FOLDER]

FOLDER is tests/conformance by default. ``tests/conformance/README.md`` says what a vector is. An
existing vector is not made again. ``cases.py`` and ``tool_cases.py`` define the pictures to encode;
``palettes.py`` draws palettes over pictures; ``damaged.py`` changes bytes of their files;
``books.py`` has the files of several pictures, ``jpegs.py`` those that keep a JPEG file.
"""

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from books import collections, damaged_collections
from cases import ROOT, cases
from chains import chains, damaged_chains
from damaged import damaged, unsearched
from jpegs import damaged_jpegs, encoded, kept_files
from palettes import palettes
from tool_cases import of_tools

import mmpcodec
from mmpcodec import EncodeParams, FormatError, Tools
from mmpcodec.format.container import Header
from mmpcodec.metadata import Metadata
from mmpcodec.opening.contents import PictureBytes, read_contents
from mmpcodec.pictures import Picture, to_bytes
from mmpcodec.tools import KINDS, BlockTools, TreeTools

FOLDER = ROOT / "tests" / "conformance"


def write_vector(
    folder: Path, picture: np.ndarray, params: EncodeParams, options: dict[str, Any]
) -> None:
    """Encode a picture and write the files of its vector to a new folder."""
    encoding = mmpcodec.encode_picture(picture, params, backend="reference", **options)
    description: dict[str, Any] = {
        "lam": params.lam,
        "rate_model": params.rate_model,
        "effort": params.effort,
        "tools": [described(tools) for tools in params.sets],
    }
    if params.range is not None:
        description["range"] = list(params.range)
    description |= {name: options[name] for name in ("depth", "tile_size") if name in options}
    write_good(folder, encoding.data, encoding.header, encoding.samples)
    depth = encoding.header.depth
    (folder / "image.pam").write_bytes(to_bytes(Picture(picture, depth), "pam"))
    (folder / "params.json").write_text(json.dumps(description, indent=2) + "\n")
    if "roi" in options:
        np.save(folder / "roi.npy", options["roi"].astype(np.int8))


def described(tools: Tools) -> dict[str, Any]:
    """Return the coding, and the tools that differ from their defaults, as JSON values."""
    defaults = vars(KINDS[tools.coding]())
    found = {name: value for name, value in vars(tools).items() if value != defaults[name]}
    if isinstance(tools, TreeTools) and "partition" in found:
        found["partition"] = tools.partition.name.lower()
    if isinstance(tools, BlockTools) and tools.trees:
        found["trees"] = described(tools.trees)
    return {"coding": tools.coding, **found}


def write_unsearched(folder: Path, data: bytes) -> None:
    """Write a file that was not encoded from a picture, and a description of its samples."""
    found = mmpcodec.inspect(data, decode=True, backend="reference")
    assert found.samples is not None
    write_good(folder, data, found.header, found.samples)


def write_good(folder: Path, data: bytes, header: Header, samples: np.ndarray) -> None:
    """Write a valid file, and a description of its header and samples, to a new folder."""
    _write(folder, data, facts_of(header, samples))


def _write(folder: Path, data: bytes, facts: dict[str, Any], name: str = "decoded.json") -> None:
    folder.mkdir(parents=True)
    (folder / "stream.mmp").write_bytes(data)
    (folder / name).write_text(json.dumps(facts, indent=2) + "\n")


def facts_of(header: Header, samples: np.ndarray) -> dict[str, Any]:
    """Return the description of a picture."""
    return {
        "width": header.width,
        "height": header.height,
        "form": header.form.title,
        "depth": header.depth,
        "tile_size": header.tile_size,
        "samples_sha256": sha256_of(samples),
        "metadata": metadata_as_json(header.metadata),
    }


def write_kept(folder: Path, file: bytes, data: bytes) -> None:
    """Write a file that keeps a JPEG file, the JPEG file, and a description of its header."""
    header = mmpcodec.inspect(data).header
    facts = {
        "width": header.width,
        "height": header.height,
        "form": header.form.title,
        "depth": header.depth,
        "tile_size": header.tile_size,
    }
    _write(folder, data, facts)
    (folder / "file.jpg").write_bytes(file)


def write_collection(folder: Path, data: bytes) -> None:
    """Write a file of several pictures, and the role and description of each."""
    view = memoryview(data)
    contents = read_contents(view)
    pictures = []
    for entry in contents.entries:
        source = PictureBytes(view, contents, entry)
        found = mmpcodec.inspect(source, decode=True, backend="reference")
        assert found.samples is not None
        kind: dict[str, Any] = {"role": entry.role.name.lower(), "facts": entry.facts}
        if entry.continues is not None:
            kind |= {"continues": entry.continues, "saved": entry.saved}
        pictures.append(kind | facts_of(found.header, found.samples))
    _write(folder, data, {"loops": contents.loops, "pictures": pictures})


def sha256_of(samples: np.ndarray) -> str:
    """Return the SHA-256 of samples: row by row, planes interleaved, uint16 as big-endian bytes."""
    return hashlib.sha256(samples.astype(samples.dtype.newbyteorder(">")).tobytes()).hexdigest()


def metadata_as_json(metadata: Metadata) -> dict[str, Any]:
    """Return metadata as JSON values: binary profiles in hexadecimal, fractions as text."""
    found = metadata.resolution
    return {
        "icc": metadata.icc.hex(),
        "exif": metadata.exif.hex(),
        "xmp": metadata.xmp.hex(),
        "resolution": found and [str(found.x), str(found.y), found.unit],
        "text": metadata.text,
        "white": metadata.white,
        **({} if metadata.range is None else {"range": list(metadata.range)}),
        **({"dicom": [part.hex() for part in metadata.dicom]} if metadata.dicom else {}),
    }


def write_damaged(folder: Path, data: bytes, page: int | None = None) -> None:
    """Write a file with an error, and type and message of the error, to a new folder."""
    try:
        mmpcodec.decode(data, page=page, backend="reference")
    except FormatError as error:
        found: dict[str, Any] = {"error": type(error).__name__, "message": str(error)}
    if page is not None:
        found["page"] = page
    _write(folder, data, found, "error.json")


def main() -> None:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    for name, picture, params, options in (*cases(), *of_tools()):
        if folder := _missing(root, name):
            write_vector(folder, picture, params, options)

    def streams(name: str) -> bytes:
        return (root / name / "stream.mmp").read_bytes()

    for name, made in (*unsearched(streams), *palettes()):
        if folder := _missing(root, name):
            write_unsearched(folder, made())
    for name, make, form in kept_files():
        if folder := _missing(root, name):
            write_kept(folder, file := make(), encoded(file, form))
    for name, data in (*damaged(streams), *damaged_jpegs(streams)):
        if folder := _missing(root, name):
            write_damaged(folder, data)
    for name, data in (*collections(), *chains()):
        if folder := _missing(root, name):
            write_collection(folder, data)
    for name, data, page in (*damaged_collections(), *damaged_chains()):
        if folder := _missing(root, name):
            write_damaged(folder, data, page)


def _missing(root: Path, name: str) -> Path | None:
    """Return the folder of a case that is to be made; None if the folder exists."""
    folder = root / name
    print(f"{'kept' if folder.exists() else 'made'} {name}")
    return None if folder.exists() else folder


if __name__ == "__main__":
    main()
