"""Make the conformance vectors that are missing, with the reference backend.

    python scripts/vectors.py [FOLDER]

FOLDER is tests/conformance/v0 unless given. ``tests/conformance/README.md`` says what a vector is.
Vectors are append-only: a case that exists is left as it is. Those of files that no decoder may
accept are made of the others.
"""

import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image

import mmpcodec
from mmpcodec import EncodeParams, FormatError
from mmpcodec.codec.container import HEADER_SIZE, OFFSETS

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from mutate import repaired  # noqa: E402

FOLDER = ROOT / "tests" / "conformance" / "v0"


def shipped(name: str) -> np.ndarray:
    """A picture of images/ as an (H, W) uint8 array."""
    with Image.open(ROOT / "images" / name) as picture:
        return np.asarray(picture)


def cases() -> Iterator[tuple[str, np.ndarray, EncodeParams]]:
    """Name, picture and parameters of each case."""
    params = partial(EncodeParams.from_options, preset="plain")
    steps = 6 * np.arange(40, dtype=np.uint8)
    ramp = (5 * np.arange(33)[:, None] + 3 * np.arange(17)).astype(np.uint8)
    noise = np.random.default_rng(1).integers(0, 256, (32, 32), np.uint8)
    camera = shipped("camera.pgm")[96:144, 208:256]
    terminal = shipped("terminal.pgm")[8:32, 8:48]
    page = shipped("page.pgm")[40:88, 40:104]

    yield "one-pixel", np.array([[77]], np.uint8), params(32)
    yield "one-row", steps[None, :], params(8)
    yield "one-column-classic", steps[:, None], params(8, preset="classic")
    yield "ramp-dyadic", ramp, params(8, partition="dyadic")
    yield "ramp-coarse", ramp, params(512)
    yield "flat", np.full((32, 48), 200, np.uint8), params(32)
    yield "noise-lossless", noise, params(0)
    yield "noise-full-dictionary", noise, params(8, dictionary_limit=256)
    yield "text", terminal, params(32)
    yield "text-lossless-classic", terminal, params(0, preset="classic")
    yield "text-displaced", page, params(32, displaced_blocks=1)
    yield "text-every-place", terminal, params(64, displaced_blocks=4, dictionary_limit=1024)
    yield "text-preset", page, params(32, preset="text")
    yield "camera", camera, params(32)
    yield "camera-classic", camera, params(32, preset="classic")
    yield "camera-dyadic-classic", camera, params(8, preset="classic", partition="dyadic")
    yield "camera-log2", camera, params(32, rate_model="log2", copy_radius=1)
    yield "camera-coarse", camera, params(512)
    yield "camera-small-dictionary", camera, params(8, dictionary_limit=300)
    yield "camera-redundancy-radius", camera, params(8, redundancy_radius=100)
    yield "camera-replacement", camera, params(8, dictionary_limit=300, replacement=True)
    yield (
        "camera-all-dictionary-tools",
        camera,
        params(
            16,
            partition="dyadic",
            dictionary_limit=300,
            displaced_blocks=3,
            redundancy_radius=32,
            replacement=True,
        ),
    )
    slopes = (60 + np.abs(np.arange(600) % 160 - 80)).astype(np.uint8)
    coat = shipped("camera.pgm")[200:296, 60:172]
    yield "filter-all-classes", coat, params(16)
    yield "filter-off", coat, params(16, post_filter=False)
    yield "filter-one-column", slopes[:, None], params(8)
    photo = partial(params, preset="photo")
    yield "photo-one-pixel", np.array([[77]], np.uint8), photo(32)
    yield "photo-one-row", steps[None, :], photo(8)
    yield "photo-flat", np.full((32, 48), 200, np.uint8), photo(32)
    yield "photo-odd-size", coat[:67, :85], photo(12, effort=2)
    yield "photo-effort-9", camera, photo(48, effort=9, fragment_size=32)
    yield "photo-fragments-16", coat, photo(24, effort=1, fragment_size=16)
    yield "photo-large-blocks", np.tile(ramp // 2, (5, 10))[:130, :140], photo(900, effort=1)
    yield "photo-without-least-squares", coat, photo(64, effort=1, least_squares=False)
    yield "photo-least-step", camera, photo(0.001, effort=1, fragment_size=32, step=1)
    yield "photo-largest-step", camera, photo(2**20, effort=1, step=65535)
    yield "photo-noise", noise, photo(4, effort=1)
    yield "photo-unfiltered", camera, photo(32, post_filter=False)
    thread = np.random.default_rng(2).integers(40, 216, (6, 9))
    i, j = np.indices((70, 93))
    woven = thread[(i + j // 11) % 6, (j + i // 7) % 9].astype(np.uint8)
    yield "photo-templates", woven, photo(48, effort=2)
    yield "photo-one-template", woven[:45, :50], photo(90, effort=3, fragment_size=16, templates=1)
    yield "photo-without-templates", woven[:45, :50], photo(90, effort=1, templates=0)
    mixed = partial(params, preset="mixed")
    both = np.hstack([shipped("terminal.pgm")[8:56, 8:104], camera[:, :24]])
    yield "mixed-one-pixel", np.array([[77]], np.uint8), mixed(32)
    yield "mixed-one-row", steps[None, :], mixed(8)
    yield "mixed-preset", both, mixed(48, effort=1)
    yield "mixed-odd-size", both[:43, 7:114], mixed(30, effort=2)
    yield "mixed-fragments-16", both, mixed(60, effort=1, fragment_size=16)
    yield "mixed-fragments-64", np.vstack([both, both[::-1]]), mixed(60, effort=1, fragment_size=64)
    yield (
        "mixed-all-tools",
        both,
        mixed(
            20,
            effort=1,
            rate_model="log2",
            partition="dyadic",
            dictionary_limit=300,
            displaced_blocks=3,
            redundancy_radius=32,
            templates=2,
        ),
    )
    yield (
        "mixed-plain",
        both[:45],
        mixed(
            40,
            effort=1,
            index_classes=False,
            flag_contexts=False,
            copy_radius=8,
            displaced_blocks=0,
            redundancy_radius=0,
            replacement=False,
        ),
    )
    exact = params(0, preset="exact")
    yield "exact-one-pixel", np.array([[77]], np.uint8), exact
    yield "exact-one-row", steps[None, :], exact
    yield "exact-one-column", steps[:, None], exact
    yield "exact-flat", np.full((32, 48), 200, np.uint8), exact
    yield "exact-noise", noise, exact
    yield "exact-text", terminal, exact
    yield "exact-few-values", np.kron(noise[:9, :8] & 0xC0, np.ones((4, 5), np.uint8)), exact
    yield "exact-camera", camera[:37, :43], params(500, preset="exact")


def damaged(streams: Callable[[str], bytes]) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of each file with an error; ``streams`` gives those of a case."""

    def changed(name: str, place: int, value: int) -> bytes:
        data = bytearray(streams(name))
        data[place] = value
        return repaired(bytes(data))

    good = streams("filter-all-classes")
    yield "bad-filter-class", changed("filter-all-classes", OFFSETS["post filter"], 16)
    yield "bad-filter-coefficient", changed("filter-all-classes", HEADER_SIZE + 8, 128)
    yield "bad-filter-cut", repaired(good[: HEADER_SIZE + 23])
    yield "bad-filter-other-samples", changed("filter-all-classes", HEADER_SIZE + 8, 127)
    yield "bad-filter-missing", changed("filter-off", OFFSETS["post filter"], 1)
    yield "bad-fragment-size", changed("camera", OFFSETS["fragment size"], 32)
    yield "bad-fragment-size-24", changed("photo-noise", OFFSETS["fragment size"], 24)
    yield "bad-step-missing", changed("camera", OFFSETS["coding"], 1)
    yield "bad-step-without-prediction", changed("photo-largest-step", OFFSETS["coding"], 0)
    photo = streams("photo-unfiltered")
    yield "bad-photo-cut", repaired(photo[: HEADER_SIZE + 40])
    yield "bad-photo-longer", repaired(photo + bytes(8))
    yield "bad-templates", changed("photo-templates", OFFSETS["templates"], 5)
    yield "bad-templates-missing", changed("photo-templates", OFFSETS["templates"], 0)
    yield "bad-templates-without-prediction", changed("camera", OFFSETS["templates"], 4)
    yield "bad-dictionary", changed("mixed-preset", OFFSETS["dictionary"], 2)
    yield "bad-dictionary-missing", changed("mixed-preset", OFFSETS["dictionary"], 0)
    yield "bad-dictionary-without-prediction", changed("camera", OFFSETS["dictionary"], 1)
    yield "bad-dictionary-of-photo", changed("photo-unfiltered", OFFSETS["dictionary"], 1)
    mixed = streams("mixed-preset")
    yield "bad-mixed-cut", repaired(mixed[: HEADER_SIZE + 60])
    yield "bad-mixed-longer", repaired(mixed + bytes(8))
    place = OFFSETS["displaced blocks"]
    yield "bad-mixed-other-displaced-blocks", changed("mixed-preset", place, 1)
    exact = streams("exact-camera")
    yield "bad-exact-cut", repaired(exact[: HEADER_SIZE + 60])
    yield "bad-exact-longer", repaired(exact + bytes(8))
    yield "bad-exact-filtered", changed("exact-camera", OFFSETS["post filter"], 1)
    yield "bad-exact-other-payload", changed("exact-camera", HEADER_SIZE + 30, 0)
    yield "bad-photo-other-step", changed("photo-unfiltered", OFFSETS["step"] + 1, 1)


def write_vector(folder: Path, picture: np.ndarray, params: EncodeParams) -> None:
    """Encode a picture and write the files of its vector into a new folder."""
    encoding = mmpcodec.encode_picture(picture, params, backend="reference")
    description = {
        "lam": params.lam,
        "rate_model": params.rate_model,
        "effort": params.effort,
        "tools": asdict(params.tools) | {"partition": params.tools.partition.name.lower()},
    }
    folder.mkdir(parents=True)
    Image.fromarray(picture).save(folder / "image.pgm")
    (folder / "params.json").write_text(json.dumps(description, indent=2) + "\n")
    (folder / "stream.mmp").write_bytes(encoding.data)
    digest = hashlib.sha256(encoding.samples.tobytes()).hexdigest()
    (folder / "decoded.sha256").write_text(digest + "\n")


def write_damaged(folder: Path, data: bytes) -> None:
    """Write a file with an error, and which one, into a new folder."""
    try:
        mmpcodec.decode(data, backend="reference")
    except FormatError as error:
        found = {"error": type(error).__name__, "message": str(error)}
    folder.mkdir(parents=True)
    (folder / "stream.mmp").write_bytes(data)
    (folder / "error.json").write_text(json.dumps(found, indent=2) + "\n")


def main() -> None:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    for name, picture, params in cases():
        if folder := _missing(root, name):
            write_vector(folder, picture, params)
    for name, data in damaged(lambda name: (root / name / "stream.mmp").read_bytes()):
        if folder := _missing(root, name):
            write_damaged(folder, data)


def _missing(root: Path, name: str) -> Path | None:
    """The folder of a case that is to be made."""
    folder = root / name
    print(f"{'kept' if folder.exists() else 'made'} {name}")
    return None if folder.exists() else folder


if __name__ == "__main__":
    main()
