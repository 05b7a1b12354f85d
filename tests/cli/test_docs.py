"""Every command line and every Python example of the pages runs as it stands there.

A page runs from top to bottom in a folder of its own, with small pictures under the names that it
uses. Blocks without a language, and ``console`` blocks, hold command lines; only the format has
formulas in blocks without a language. The output that a ``console`` block shows is compared without
times. A page with such a block gets the pictures of
``images/`` themselves. A block after a line such as "`items.csv`:" is that file. ``exit code 3`` in
a line's comment is the exit code that is expected.
"""

import glob
import importlib.util
import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest
from support.books import collection, write_book
from support.picture_files import slice_of
from support.torch_stand_in import install_torch

import mmpcodec
from mmpcodec import backends, pictures
from mmpcodec.format.collection import Role
from mmpcodec.pictures import Picture
from mmpcodec.web import parts

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"(?:^`([\w.]+)`:\n\n)?^```([\w{}]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TIME = re.compile(r"\d+\.\d+ s\b|(?<=\"seconds\": )[\d.e-]+|(?<=mmp: backend ).*")
NOT_RUN = {
    "make": r"[\w-]+( \w+=\S+)*$",
    "pip": r"install '?\.",
    "pipx": r"run cibuildwheel ",
    "pre-commit": r"install$",
    "python": r"scripts/",
    ".venv/bin/python": r"scripts/",
    ".venv/bin/pytest": r"",
    "scripts/": r"",
}
"""Programs that install, build or measure, and the arguments with which a page may show them."""


def blocks(page):
    """File name, language and text of the fenced blocks of a page."""
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def prepare(folder, *, whole):
    """Put the files that pages name into a folder; ``whole`` takes the pictures of ``images/``."""
    camera = pictures.read(ROOT / "images" / "camera.pgm").samples
    small = camera[80:144, 170:234]
    for name in ("images", "photos", "scans", "docs", "kernels"):
        (folder / name).mkdir()
    pictures.write(small, folder / "photo.jpg")
    for path in (ROOT / "images").glob("*.pgm"):
        if whole:
            shutil.copy(path, folder / "images")
        else:
            pictures.write(
                pictures.read(path).samples[80:144, 170:234], folder / "images" / path.name
            )
    shutil.copy(ROOT / "images" / "camera.pgm", folder)
    for name in ("scan.png", "scans/chest.png"):
        pictures.write(small, folder / name)
    pictures.write(small[16:48, 16:48], folder / "photos" / "boat.png")
    slide = np.full((512, 1024), 200, np.uint8)
    slide[300:364, 600:664] = small
    pictures.write(slide, folder / "slide.tif")
    if importlib.util.find_spec("pydicom"):
        write_dicom(small, folder / "scan.dcm")
        write_dicom(16 * small.astype(np.uint16), folder / "ct.dcm")
        (folder / "ct").mkdir()
        for number in range(3):
            write_dicom(small, folder / "ct" / f"{number}", 5 * number)
        write_series(16 * small.astype(np.uint16), folder / "series")
    data = mmpcodec.encode(small, preset="plain")
    (folder / "scan.mmp").write_bytes(data)
    tiled = mmpcodec.encode(camera[:64, :128], preset="plain", tile_size=64)
    last = mmpcodec.inspect(tiled).header.tile_offsets[-1] - 1
    (folder / "damaged.mmp").write_bytes(
        tiled[:last] + bytes([tiled[last] ^ 1]) + tiled[last + 1 :]
    )
    pages = [Picture(small[:24, : 20 + number], 8) for number in range(12)]
    (folder / "book.mmp").write_bytes(collection(pages))
    shown = [Picture(np.roll(small, 8 * number, 1), 8) for number in range(3)]
    (folder / "anim.mmp").write_bytes(collection(shown, Role.FRAME, [(1, 10)] * 3))
    places = [(number * 2_500_000,) for number in range(3)]
    (folder / "head.mmp").write_bytes(collection(shown, Role.SLICE, places))
    slices, places = [16 * small.astype(np.uint16)] * 3, [(k * 10**6,) for k in range(3)]
    write_book(folder / "chest.mmp", slices, Role.SLICE, places, depth=12)
    (folder / "items.csv").write_text("name,profit,weight\nphoto,7,6\nscan,5,5\nmap,5,5\n")
    names = ("boat", "brick", "camera", "page", "terminal")
    (folder / "ratings.csv").write_text("".join(f"{name}.mmp,1\n" for name in names))
    for name in ("docs/a.md", "kernels/a.cpp"):
        (folder / name).write_text("text\n")


def write_dicom(samples, path, place=None):
    """Write a gray picture of 8 bits as DICOM, or a CT of 12 bits; a slice, if it has a place."""
    from pydicom.dataset import Dataset, FileMetaDataset
    from pydicom.uid import ExplicitVRLittleEndian, SecondaryCaptureImageStorage

    file = Dataset()
    file.file_meta = FileMetaDataset()
    file.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
    file.file_meta.MediaStorageSOPClassUID = file.SOPClassUID = SecondaryCaptureImageStorage
    file.file_meta.MediaStorageSOPInstanceUID = file.SOPInstanceUID = "1.2.3"
    file.Rows, file.Columns = samples.shape
    file.SamplesPerPixel, file.PhotometricInterpretation = 1, "MONOCHROME2"
    bits = 8 if samples.dtype == np.uint8 else 12
    file.BitsAllocated, file.BitsStored = 8 * samples.itemsize, bits
    file.HighBit, file.PixelRepresentation = bits - 1, 0
    if bits > 8:
        file.RescaleSlope, file.RescaleIntercept, file.RescaleType = "1", "-1024", "HU"
    if place is not None:
        file.SeriesInstanceUID, file.SeriesNumber, file.SeriesDescription = "1.2", 3, "Thorax"
        file.ImagePositionPatient = [0, 0, place]
        file.ImageOrientationPatient = [1, 0, 0, 0, 1, 0]
    file.PixelData = samples.tobytes()
    file.save_as(path, enforce_file_format=True)


def write_series(samples, folder):
    """Write three slices of a series."""
    folder.mkdir()
    for number in range(3):
        data = slice_of(samples, 2.5 * number, InstanceNumber=str(number + 1))
        (folder / f"{number}.dcm").write_bytes(data)


DEVICE = re.compile(r"--backend cuda|--device|\bdevice=|import cupy")
"""What a command line or a Python example has that needs a CUDA device."""


def lacking(line):
    """Why a command line, or a Python example, cannot run here, or None."""
    if DEVICE.search(line):
        if reason := backends.status()["cuda"]:
            return reason
        if "--device 0,1" in line and backends.get("cuda").device_count() < 2:
            return "needs two CUDA devices"
    if line.startswith("mmp view "):
        return "runs until Ctrl-C"
    if line.startswith("mmp page ") and not parts.FOLDER.joinpath(parts.DECODER).is_file():
        return "the decoder for browsers was not built"
    packages = {
        "hevc": "av",
        ".dcm": "pydicom",
        ".pdf": "pikepdf",
        ".nii": "nibabel",
        ".zarr": "zarr",
        "mmp report": "jinja2",
        "--cluster cuda": "dask_cuda",
    }
    missing = [package for part, package in packages.items() if part in line]
    missing = [package for package in missing if importlib.util.find_spec(package) is None]
    return f"{missing[0]} is not installed" if missing else None


def expanded(words):
    """The words of a command line, patterns replaced by the files that they match."""
    return [name for word in words for name in (sorted(glob.glob(word)) if "*" in word else [word])]


def check_not_run(line):
    """Check that a line that does not run here names an allowed program, and files that exist."""
    program, _, arguments = re.sub(r"^(\w+=\S+ )+", "", line).partition(" ")
    allowed = NOT_RUN.get("scripts/" if program.startswith("scripts/") else program)
    assert allowed is not None, f"{line}: not a program that runs in a test or is listed in NOT_RUN"
    assert re.match(allowed, arguments), f"{line}: not as NOT_RUN has it"
    if program == "make":
        task = arguments.split()[0]
        assert re.search(rf"^{task}:", (ROOT / "Makefile").read_text(), re.MULTILINE), line
    for path in re.findall(r"\b(?:scripts|tests)/[\w./-]+", line):
        assert (ROOT / path).exists(), f"{line}: there is no {path}"


def run(mmp, line):
    """Run a command line and give what it prints; None where it is not run."""
    code = re.search(r"#.*\bexit code (\d+)", line)
    words = shlex.split(line, comments=True)
    if words[0] == "mkdir":
        for name in words[1:]:
            Path(name).mkdir()
        return ""
    if words[0] != "mmp":
        check_not_run(shlex.join(words))
        return None
    result = mmp(*expanded(words[1:]))
    assert result.exit_code == (int(code[1]) if code else 0), f"{line}\n{result.output}"
    return result.output


def commands(language, text):
    """Command lines of a block, each with the output that it shows, or None."""
    if language == "console":
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            line, _, output = part.partition("\n")
            yield line, output
        return
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            yield line, None


def is_formula(page, text):
    """Whether a block of the format holds no command line."""
    programs = ("$", "mmp", "mkdir", *NOT_RUN)
    return "format" in page.parts and not any(
        line.startswith(programs) for line in text.splitlines()
    )


def names_of(page):
    """The page's path from the root, which is the name of its test."""
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize(
    "page", [page for page in PAGES if "decisions" not in page.parts and blocks(page)], ids=names_of
)
def test_page(page, mmp, folder, monkeypatch):
    (folder / "home").mkdir()
    for variable in ("HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(variable, str(folder / "home"))
    found = blocks(page)
    if "import torch" in page.read_text(encoding="utf-8"):
        install_torch(monkeypatch)
    prepare(folder, whole=any(language == "console" for _, language, _ in found))
    names: dict[str, object] = {}
    left_out = []
    for name, language, text in found:
        if language == "python" and DEVICE.search(text) and (reason := lacking(text)):
            left_out.append(f"Python: {reason}")
        elif language == "python":
            exec(text, names)
            assert not name or Path(name).exists()
        elif name:
            Path(name).write_text(text)
        elif language in ("", "console") and not is_formula(page, text):
            for line, shown in commands(language, text):
                if reason := lacking(line):
                    left_out.append(f"{line}: {reason}")
                    continue
                printed = run(mmp, line)
                if shown is not None:
                    assert printed is not None
                    assert TIME.sub("", printed) == TIME.sub("", shown), line
    if left_out:
        pytest.skip("all other lines ran: " + "; ".join(left_out))
