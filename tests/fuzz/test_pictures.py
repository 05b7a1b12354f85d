"""Broken picture files are refused, within the limits of memory and time of scripts/fuzz/trial.py.

Each file under ``findings/pictures`` is named after the fault of a reader that it once revealed.
"""

import importlib.util
import subprocess
import sys
from collections import Counter
from pathlib import Path

import makers
import pytest
from parts.choices import Choices
from PIL import features

from mmpcodec import PictureError, pictures

ROOT = Path(__file__).parents[2]
SAYS = {
    "compression_of_many_values.tif": r"is compressed by \(26540, .*\.\.\.; supported are none",
    "kind_with_line_breaks.dcm": r"is DICOM of RGB.* I8 with 8 bits in 8, 3 planes; supported are",
    "long_header_that_is_no_python.npy": "has a header of 9001 bytes, allowed are 512",
    "photometric_of_many_values.tif": r"holds \(.*\.\.\. samples of 8 bits; supported are gray",
    "sequences_nested_too_deep.dcm": "(its sequences are nested too deep|is damaged or truncated)",
    "strip_of_more_bytes_than_memory.tif": "strip or tile 0 is cut off",
    "tiles_of_one_pixel.j2k": "has 4800 tiles, at most 82 are supported for its size",
    "width_is_a_float.tif": "imagelength = .*: must be an integer from 0 up",
    "width_is_negative.tif": "imagewidth = .*: must be an integer from 0 up",
}
READ = {"circle_of_150_directories.tif": (4, 4), "spacing_of_many_digits.dcm": (21, 7)}
"""Findings that are pictures, and their shapes."""
FINDINGS = sorted((Path(__file__).parent / "findings" / "pictures").iterdir())
PACKAGES = {"dicom": "pydicom", "jpegxl": "imagecodecs"}
OF_PILLOW = {"avif": "avif", "heic": "avif", "webp": "webp", "jpeg2000": "jpg_2000"}


def run(script, *arguments):
    command = [sys.executable, str(ROOT / "scripts" / "fuzz" / script), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def read_by_parts(path):
    with pictures.opened(path) as reader:
        return reader.read(slice(0, 1), slice(0, 1))


def needs_package(format):
    package = PACKAGES.get(format)
    if package and not importlib.util.find_spec(package):
        pytest.skip(f"needs {package}")
    if format in OF_PILLOW and not features.check(OF_PILLOW[format]):
        pytest.skip(f"needs a Pillow that has {OF_PILLOW[format]}")


def test_every_finding_has_its_message():
    assert [path.name for path in FINDINGS] == sorted([*SAYS, *READ])


@pytest.mark.filterwarnings("ignore::mmpcodec.PictureWarning")
@pytest.mark.parametrize("path", FINDINGS, ids=lambda path: path.stem)
@pytest.mark.parametrize("read", [pictures.read, read_by_parts])
def test_findings_are_refused_or_read(path, read):
    if path.suffix == ".dcm":
        needs_package("dicom")
    if path.name in READ:
        assert pictures.read(path).samples.shape == READ[path.name]
        return
    with pytest.raises(PictureError, match=rf"^{path}: .*{SAYS[path.name]}") as raised:
        read(path)
    assert "\n" not in str(raised.value)


def test_findings_take_little_memory_and_time():
    result = run("trial.py", *FINDINGS)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.count("\n") == 2 * len(FINDINGS)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("format", makers.FORMATS)
def test_most_files_without_broken_fields_are_read(format):
    """Makers begin with files that readers accept; otherwise no reader is seen from inside."""
    needs_package(format)
    read = Counter()
    for number in range(1000):
        choices = Choices(f"{format} 0 {number}")
        if choices.rate:
            continue
        try:
            pictures.from_bytes(makers.maker(format)(choices))
            read[True] += 1
        except PictureError:
            read[False] += 1
    assert read.total() > 100
    assert read[True] > 0.5 * read.total()


@pytest.mark.filterwarnings("ignore")  # Pillow, of the EXIF that it writes
def test_a_recipe_makes_the_same_file_again():
    for format in makers.FORMATS:
        recipes = [f"{format} 1 {number}" for number in range(20)]
        files = [makers.made(recipe) for recipe in recipes]
        assert files == [makers.made(recipe) for recipe in recipes]
        assert len(set(files)) > 15


def test_fuzzing_finds_nothing(tmp_path):
    result = run("pictures.py", "--inputs", 25, "--jobs", 1, "--out", tmp_path / "out")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.count(" 25 inputs ") == len(makers.FORMATS)
    assert not (tmp_path / "out").exists()


def test_fuzzing_keeps_findings(tmp_path):
    """A reader that allocates what a file states is found, and the file is kept."""
    script = ROOT / "scripts" / "fuzz" / "pictures.py"
    broken = (
        "import runpy, sys; import mmpcodec.pictures.bmp as bmp;"
        "bmp.check_size = lambda *arguments: bytearray(40 << 20);"
        f"sys.argv[1:] = ['--inputs', '10', '--formats', 'bmp', '--out', '{tmp_path}'];"
        f"sys.path.insert(0, '{script.parent}'); runpy.run_path('{script}', run_name='__main__')"
    )
    result = subprocess.run(
        [sys.executable, "-c", broken], capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stderr) == (1, "")
    assert "x memory after read" in result.stdout
    (kept, *_) = tmp_path.iterdir()
    assert kept.read_bytes() == makers.made(kept.name.replace("-", " "))
