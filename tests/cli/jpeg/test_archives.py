"""``mmp encode --for archive`` and ``mmp decode --original``: whole trees of files come back."""

import json
import os
import random
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from support.files.jpeg_files import files as jpeg_files
from support.files.jpeg_files import made, photograph

import mmpcodec
from mmpcodec import pictures
from mmpcodec.metadata import Metadata
from mmpcodec.pictures import Picture


def contents(folder):
    """The bytes of all files below a folder, by their paths."""
    found = (path for path in sorted(Path(folder).rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def check_equal(before, after):
    """Check that a tree came back: JPEG files and copies as they were, others as their samples."""
    assert after.keys() == before.keys()
    for name, data in before.items():
        if after[name] == data:
            continue
        assert not name.endswith((".jpg", ".JPG", ".txt", ".bin", ".webp")), name
        old, new = pictures.from_bytes(data), pictures.from_bytes(after[name])
        assert np.array_equal(old.samples, new.samples), name
        assert (old.depth, old.metadata) == (new.depth, new.metadata), name


@pytest.fixture
def tree(folder):
    """The name of a folder with files of many kinds."""
    top = Path("photos")
    (top / "below" / "deep").mkdir(parents=True)
    for number, file in enumerate(jpeg_files(48).values()):
        (top / f"{number}.jpg").write_bytes(file)
    (top / "UPPER.JPG").write_bytes(made(photograph(30)))
    (top / "0.png").write_bytes(pictures.to_bytes(photograph(30), "png"))
    deep = Picture(np.arange(900, dtype=np.uint16).reshape(30, 30), 12, Metadata(exif=EXIF))
    pictures.write(deep, top / "below" / "deep.png")
    pictures.write(photograph(20), top / "below" / "scan.tif")
    pictures.write(photograph(20)[:, :, 0], top / "below" / "deep" / "gray.pgm")
    Image.fromarray(photograph(20)).save(top / "small.webp", quality=30)
    (top / "notes.txt").write_text("words\n")
    (top / "empty.txt").write_bytes(b"")
    (top / "below" / "noise.bin").write_bytes(random.Random(1).randbytes(500))
    (top / "cut.png").write_bytes(pictures.to_bytes(photograph(30), "png")[:200])
    return "photos"


EXIF = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0"


def test_a_tree_comes_back(mmp, tree):
    before = contents(tree)
    result = mmp("encode", tree, "-O", "out", "--for", "archive")
    assert result.exit_code == 0, result.output
    assert "--for archive: --lossless --append-suffix --strict --keep dicom" in result.stderr
    last = result.stdout.splitlines()[-1]
    sizes = sum(map(len, before.values())), sum(map(len, contents("out").values()))
    assert last.startswith("archive: 14 JPEG files kept, 4 other files coded without loss, ")
    assert f"; {sizes[0]} -> {sizes[1]} bytes (" in last
    assert "small.webp -> out/small.webp: " in result.stdout
    assert "copied as it is: its mmp file would not be smaller" in result.stdout
    assert "cut.png: 200 bytes, copied as it is: is damaged or truncated" in result.stdout
    back = mmp("decode", "out", "-O", "back", "--original")
    assert back.exit_code == 0, back.output
    check_equal(before, contents("back"))


def test_json_of_an_archive(mmp, tree):
    rows = [json.loads(line) for line in mmp("encode", tree, "-O", "out", "--for", "archive",
                                             "--json").stdout.splitlines()]  # fmt: skip
    (totals,) = [row["archive"] for row in rows if "archive" in row]
    copies = [row for row in rows if "copied" in row]
    assert totals["jpegs"] == sum("jpeg_bytes" in row for row in rows)
    assert totals["copies"] == len(copies)
    assert totals["output_bytes"] == sum(map(len, contents("out").values()))
    assert {row["copied"] for row in copies if row["input"].endswith(".txt")} == {
        "of no known format", "empty",
    }  # fmt: skip


def test_an_archive_is_lossless_only(mmp, tree, files):
    for option, value in (("--quality", 80), ("--lambda", 3), ("--max-error", 2)):
        result = mmp("encode", tree, "-O", "out", "--for", "archive", option, value)
        assert f"--for archive and {option}: give only one" in result.stderr
    for option in (["--strip", "exif"], ["--samples"], ["--together", "-o", "x.mmp"]):
        result = mmp("encode", tree, "--for", "archive", *option)
        assert "--for archive and -" in result.stderr
    assert "out" not in files()


def test_without_a_folder_nothing_is_copied(mmp, tree):
    before = contents(tree)
    result = mmp("encode", tree, "--for", "archive")
    assert result.exit_code == 3, result.output
    assert "of no known format" in result.stderr
    after = contents(tree)
    assert {name: after[name] for name in before} == before
    assert "notes.txt.mmp" not in after


def test_an_archive_again(mmp, tree):
    mmp("encode", tree, "-O", "out", "--for", "archive")
    first = contents("out")
    result = mmp("encode", tree, "-O", "out", "--for", "archive", "--skip-existing")
    assert result.exit_code == 0, result.output
    assert contents("out") == first
    (Path(tree) / "0.jpg").write_bytes(made(photograph(33)))
    assert mmp("encode", tree, "-O", "out", "--for", "archive", "--update").exit_code == 0
    changed = {name for name, data in contents("out").items() if first.get(name) != data}
    assert changed == {"0.jpg.mmp"}


def thousand(top):
    """Make 1000 files: 600 of JPEG, 300 other pictures, 100 that are none."""
    kinds = list(jpeg_files(24).values())
    choices = random.Random(7)
    for number in range(1000):
        folder = top / f"folder {number % 13}"
        folder.mkdir(parents=True, exist_ok=True)
        if number % 10 < 6:
            data = kinds[number % len(kinds)]
            if number % 7 == 0:
                data = data[: choices.randrange(20, len(data))]
            (folder / f"{number}.jpg").write_bytes(data + choices.randbytes(number % 3))
        elif number % 10 < 9:
            samples = photograph(12)[:, : number % 9 + 1]
            suffix = ("png", "tif", "ppm")[number % 3]
            (folder / f"{number}.{suffix}").write_bytes(pictures.to_bytes(samples, suffix))
        else:
            (folder / f"{number}.txt").write_bytes(choices.randbytes(number % 50))


def run_until_done(process, arguments, seed):
    """Start the program again each time that it was killed; return how often it was."""
    choices, kills = random.Random(seed), 0
    while True:
        child = process(*arguments)
        if kills < 4:
            deadline = time.monotonic() + 1 + 3 * choices.random()
            while child.poll() is None and time.monotonic() < deadline:
                time.sleep(0.02)
            if child.poll() is None:
                child.send_signal(signal.SIGKILL)
                child.communicate()
                kills += 1
                continue
        _, errors = child.communicate(timeout=300)
        assert child.returncode == 0, errors.decode()
        return kills


def test_a_thousand_files_come_back_although_the_program_is_killed(process, folder):
    top = Path("photos")
    thousand(top)
    before = contents(top)
    assert len(before) == 1000
    encode = "encode", "photos", "-O", "out", "--for", "archive", "--skip-existing", "--quiet"
    decode = "decode", "out", "-O", "back", "--original", "--skip-existing", "--quiet"
    kills = run_until_done(process, encode, 1)
    kills += run_until_done(process, decode, 2)
    assert kills >= 2
    unfinished = {name for name in contents("out") if name.removesuffix(".mmp") not in before}
    assert len(unfinished) <= kills
    check_equal(before, contents("back"))


def archive(mmp, *options):
    result = mmp("encode", "photos", "-O", "out", "--for", "archive", *options)
    assert result.exit_code == 0, result.output
    return result


def back(mmp):
    result = mmp("decode", "out", "-O", "back", "--original", "-f")
    assert result.exit_code == 0, result.output
    return contents("back")


def test_an_output_in_another_way_takes_the_place_of_the_old_one(mmp, folder):
    top = Path("photos")
    top.mkdir()
    noise = np.random.default_rng(1).integers(0, 256, (60, 60, 3)).astype(np.uint8)
    pictures.write(noise, top / "a.png")
    Image.fromarray(photograph(20)).save(top / "b.webp", quality=10)
    archive(mmp)
    assert set(contents("out")) == {"a.png.mmp", "b.webp"}
    (top / "a.png").write_bytes(b"no picture any more")
    Image.fromarray(noise).save(top / "b.webp", lossless=True, quality=0, method=0)
    later = time.time() + 5
    for path in top.iterdir():
        os.utime(path, (later, later))
    archive(mmp, "--update")
    assert back(mmp)["a.png"] == b"no picture any more"
    assert len(contents("out")) == 2


def test_names_of_every_kind_come_back(mmp, folder):
    top = Path("photos")
    (top / ".hidden").mkdir(parents=True)
    file = made(photograph(30))
    names = ("x.jfif", "y.JPE", "z.jpeg", "two words.jpg", "grün.jpg", ".dot.jpg")
    for name in names:
        (top / name).write_bytes(file)
    (top / "kept.mmp").write_bytes(mmpcodec.encode_file(file, 0))
    (top / "broken.mmp").write_bytes(b"no mmp file")
    (top / ".settings").write_text("a = 1")
    (top / ".hidden" / "x.txt").write_text("a")
    result = mmp("encode", "photos", "-O", "out", "--for", "archive")
    assert result.exit_code == 3  # a folder is left out
    assert "photos/.hidden" in result.stderr
    before = {name: data for name, data in contents("photos").items() if ".hidden" not in name}
    assert back(mmp) == before


def test_equal_copies_are_not_made_again(mmp, tree):
    archive(mmp)
    again = archive(mmp, "--skip-existing")
    assert "small.webp: skipped, out/small.webp is a copy" in again.stderr


def test_outputs_below_the_inputs_are_no_inputs(mmp, tree):
    for _ in range(2):
        result = mmp("encode", tree, "-O", "photos/out", "--for", "archive", "--skip-existing")
        assert result.exit_code == 0, result.output
    assert not (Path(tree) / "out" / "out").exists()


def test_pdf_files_are_copied(mmp, folder):
    Path("photos").mkdir()
    Image.fromarray(photograph(60)).save("photos/scan.pdf", quality=80)
    assert "PDF" in archive(mmp).stdout
    assert back(mmp) == contents("photos")


def test_original_and_a_name_of_another_kind(mmp, folder):
    Path("a.jpg").write_bytes(made(photograph(30)))
    pictures.write(photograph(30), "b.png")
    mmp("encode", "a.jpg", "b.png", "--lossless")
    wrong = mmp("decode", "a.mmp", "--original", "-o", "c.png")
    assert "c.png: is a JPEG file; name it .jpg" in wrong.stderr
    wrong = mmp("decode", "b.mmp", "--original", "-o", "c.jpg")
    assert "c.jpg: would lose something; name it .png" in wrong.stderr
    wrong = mmp("decode", "-", "--original", "-o", "c.jpg", input=b"")
    assert "--original: needs a file" in wrong.stderr
    assert not Path("c.jpg").exists()
