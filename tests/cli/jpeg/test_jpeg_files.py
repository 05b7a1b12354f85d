"""JPEG files that the program keeps bit for bit."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from support.files.jpeg_files import files, made, photograph

import mmpcodec
from mmpcodec import pictures
from mmpcodec.pictures.side.facts import orientation_of

FILES = files()


@pytest.fixture
def photo(folder):
    Path("photo.jpg").write_bytes(FILES["4:2:0"])
    return "photo.jpg"


def test_the_same_bytes_come_back(mmp, photo):
    result = mmp("encode", photo, "--lossless")
    assert result.exit_code == 0, result.output
    assert ", a JPEG file, kept, " in result.stdout
    assert result.stdout.rstrip().endswith(", verified")
    assert Path("photo.mmp").stat().st_size < 0.9 * Path(photo).stat().st_size
    for name in ("back.jpg", "back.jpeg"):
        result = mmp("decode", "photo.mmp", "-o", name)
        assert "the JPEG file itself" in result.stdout
        assert Path(name).read_bytes() == FILES["4:2:0"]
    mmp("decode", "photo.mmp", "-o", "back.png")
    assert np.array_equal(pictures.read("back.png").samples, pictures.read(photo).samples)
    assert mmp("compare", "photo.mmp", photo).stdout.startswith("equal")


def test_json_names_the_size_of_the_file(mmp, photo):
    row = json.loads(mmp("encode", photo, "-l", 0, "--json").stdout)
    assert row["jpeg_bytes"] == len(FILES["4:2:0"])
    assert (row["psnr"], row["max_error"], row["verified"]) == (None, 0, True)
    row = json.loads(mmp("decode", "photo.mmp", "--original", "-f", "--json").stdout)
    assert row["kept"] is True
    assert (row["output"], row["output_bytes"]) == ("photo.jpg", len(FILES["4:2:0"]))


def test_info_says_kept_and_the_old_size(mmp, photo):
    mmp("encode", photo, "--lossless")
    size = len(FILES["4:2:0"])
    for options in ((), ("--header-only",)):
        shown = mmp("info", "photo.mmp", *options).stdout
        assert f"kept     a JPEG file, kept, of {size} bytes in " in shown
        assert ": form " in shown
    (layer,) = json.loads(mmp("info", "photo.mmp", "--json").stdout)["layers"]
    assert (layer["name"], layer["jpeg_bytes"]) == ("JPEG file", size)


@pytest.mark.parametrize("option", [["--samples"], ["--strip", "exif"], ["--tile", 64]])
def test_options_that_code_samples(mmp, photo, option):
    result = mmp("encode", photo, "--lossless", *option)
    assert result.exit_code == 0, result.output
    assert f"as {option[0]} codes its samples; without, the file itself is kept" in result.stderr
    data = Path("photo.mmp").read_bytes()
    assert np.array_equal(mmpcodec.decode(data), pictures.read(photo).samples)
    with pytest.raises(mmpcodec.ParameterError):
        mmpcodec.kept_file(data)


def test_samples_need_a_lossless_file(mmp, photo, files):
    result = mmp("encode", photo, "--samples")
    assert result.exit_code == 2 or result.exit_code == 1
    assert "--samples: has no effect without --lossless" in result.stderr
    assert files() == [photo]


def test_no_verify(mmp, photo, monkeypatch):
    from mmpcodec.backends import jpeg

    def fail(*rest, **how):
        raise AssertionError("decoded")

    monkeypatch.setattr(jpeg, "decode", fail)
    result = mmp("encode", photo, "--lossless", "--no-verify")
    assert result.exit_code == 0, result.output
    assert "verified" not in result.stdout


def test_a_wrong_copy_is_not_written(mmp, photo, files, monkeypatch):
    from mmpcodec.backends import jpeg

    monkeypatch.setattr(jpeg, "decode", lambda *rest, **how: FILES["4:2:0"] + b"\0")
    result = mmp("encode", photo, "--lossless")
    assert result.exit_code == 1
    assert f"differs from byte {len(FILES['4:2:0'])} on" in result.stderr
    assert files() == [photo]


def test_a_file_that_is_no_picture_is_kept(mmp, folder):
    Path("odd.jpg").write_bytes(b"\xff\xd8\xff\xe0 and no more")
    result = mmp("encode", "odd.jpg", "--lossless")
    assert result.exit_code == 0, result.output
    assert "are kept as bytes of any kind" in result.stderr
    result = mmp("decode", "odd.mmp")
    assert result.exit_code == 1
    assert "cannot be read" in result.stderr
    mmp("decode", "odd.mmp", "-o", "back.jpg")
    assert Path("back.jpg").read_bytes() == Path("odd.jpg").read_bytes()


def test_standard_input_and_output(mmp, photo):
    coded = mmp("encode", "-", "-o", "-", "--lossless", input=FILES["gray"]).stdout_bytes
    assert mmpcodec.kept_file(coded) == FILES["gray"]
    back = mmp("decode", "-", "-o", "-", "--format", "jpg", input=coded).stdout_bytes
    assert back == FILES["gray"]


def test_files_together_are_pages_that_keep_their_files(mmp, folder):
    names = ["a.jpg", "b.jpg", "c.png"]
    Path("a.jpg").write_bytes(FILES["4:4:4"])
    Path("b.jpg").write_bytes(FILES["progressive"])
    pictures.write(photograph(20), "c.png")
    result = mmp("encode", *names, "--together", "--lossless", "-o", "all.mmp", "-v")
    assert result.exit_code == 0, result.output
    assert result.stdout.count("a JPEG file, kept") == 2
    result = mmp("decode", "all.mmp", "-O", "back", "--original")
    assert result.exit_code == 0, result.output
    assert Path("back/all-001.jpg").read_bytes() == FILES["4:4:4"]
    assert Path("back/all-002.jpg").read_bytes() == FILES["progressive"]
    assert np.array_equal(pictures.read("back/all-003.png").samples, photograph(20))
    assert np.array_equal(pictures.read("all.mmp", page=2).samples, pictures.read("b.jpg").samples)


def test_an_mmp_file_that_is_encoded_again_keeps_its_jpeg_files(mmp, folder):
    exif = Image.Exif()
    exif[0x010F] = "one camera for both"
    given = {f"{kind}.jpg": made(photograph(), quality=kind, exif=exif) for kind in (70, 90)}
    for name, file in given.items():
        Path(name).write_bytes(file)
    mmp("encode", *given, "--together", "--lossless", "--effort", 1, "-o", "all.mmp")
    mmp("encode", "90.jpg", "--lossless", "-o", "one.mmp")
    for source in ("all.mmp", "one.mmp"):
        result = mmp("encode", source, "--lossless", "-f", "-o", "again.mmp", "-v")
        assert result.exit_code == 0, result.output
        pages = len(given) if source == "all.mmp" else 1
        assert result.stdout.count("a JPEG file, kept") == pages
        for page, file in enumerate(list(given.values())[-pages:], 1):
            data = Path("again.mmp").read_bytes()
            assert mmpcodec.kept_file(data, page=page) == file
            assert mmpcodec.kept_file(mmpcodec.encode_file(source, 0, page=page)) == file
    result = mmp("encode", "one.mmp", "--lossless", "--samples", "-f", "-o", "again.mmp")
    assert "a JPEG file" not in result.stdout
    assert np.array_equal(pictures.read("again.mmp").samples, pictures.read("90.jpg").samples)


@pytest.mark.filterwarnings("default::mmpcodec.PictureWarning")
def test_what_another_format_leaves_out_is_said_with_the_name(mmp, folder):
    Path("inks.jpg").write_bytes(FILES["four components"])
    mmp("encode", "inks.jpg", "--lossless")
    result = mmp("decode", "inks.mmp", "-o", "inks.png")
    assert "inks.mmp: holds CMYK colours, which are converted to RGB" in result.stderr
    assert mmp("decode", "inks.mmp", "-o", "back.jpg").stderr == ""


def test_a_quality_or_a_part_makes_another_jpeg(mmp, photo):
    mmp("encode", photo, "--lossless")
    for options in (("--quality", 50), ("--region", "0,0,40,30"), ("--scale", "1/2")):
        result = mmp("decode", "photo.mmp", "-o", "new.jpg", "-f", *options)
        assert result.exit_code == 0, result.output
        assert Path("new.jpg").read_bytes() != FILES["4:2:0"]


def test_original_writes_what_names_say(mmp, folder):
    samples = photograph(20)
    for name in ("a.png", "b.tif", "c.ppm", "d.webp"):
        pictures.write(samples, name)
    mmp("encode", "a.png", "b.tif", "c.ppm", "d.webp", "--lossless", "--append-suffix")
    result = mmp("decode", *(f"{name}.mmp" for name in ("a.png", "b.tif", "c.ppm", "d.webp")),
                 "-O", "back", "--original")  # fmt: skip
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in Path("back").iterdir()) == [
        "a.png", "b.tif", "c.ppm", "d.webp.png",
    ]  # fmt: skip
    assert np.array_equal(pictures.read("back/b.tif").samples, samples)
    wrong = mmp("decode", "a.png.mmp", "--original", "--format", "tif")
    assert "--original and --format: give only one of them" in wrong.stderr


def test_a_thumbnail_of_a_kept_file(mmp, folder):
    Path("large.jpg").write_bytes(made(photograph(200)))
    mmp("encode", "large.jpg", "--lossless")
    assert mmp("thumbnail", "large.mmp", "small.png", 64).exit_code == 0
    assert max(pictures.read("small.png").samples.shape[:2]) == 64


def test_pages_of_a_pdf_keep_their_jpeg_files(mmp, folder):
    pytest.importorskip("pypdfium2")
    whole = Image.fromarray(photograph(80))
    whole.save("scan.pdf", save_all=True, append_images=[whole.convert("L")], quality=85)
    result = mmp("encode", "scan.pdf", "--lossless", "-v")
    assert result.stdout.count("a JPEG file, kept") == 2, result.output
    assert Path("scan.mmp").stat().st_size < Path("scan.pdf").stat().st_size
    for page in (1, 2):
        one, other = (pictures.read(name, page=page) for name in ("scan.pdf", "scan.mmp"))
        assert np.array_equal(one.samples, other.samples)
        assert one.metadata == other.metadata
    assert mmp("decode", "scan.mmp", "-O", "back", "--original").exit_code == 0
    for number, data in ((1, whole), (2, whole.convert("L"))):
        found = Path(f"back/scan-00{number}.jpg").read_bytes()
        assert found in Path("scan.pdf").read_bytes()
        assert Image.open(io.BytesIO(found)).size == data.size


@pytest.mark.filterwarnings("default::mmpcodec.PictureWarning")
def test_a_pdf_holds_the_jpeg_files_of_its_pages(mmp, folder):
    pytest.importorskip("pypdfium2")
    pikepdf = pytest.importorskip("pikepdf")
    exif, turned = Image.Exif(), Image.Exif()
    exif[0x010F], turned[0x0112] = "maker", 6
    whole = photograph(80)
    given = {
        "a.jpg": made(whole, exif=exif, dpi=(200, 200)),
        "b.jpg": made(whole[:, :, 0], progressive=True),
        "c.jpg": made(whole, "CMYK"),
        "d.jpg": made(whole, exif=turned),
    }
    for name, file in given.items():
        Path(name).write_bytes(file)
    mmp("encode", *given, "--together", "--lossless", "-o", "book.mmp")
    result = mmp("decode", "book.mmp", "-o", "book.pdf")
    assert result.exit_code == 0, result.output
    assert "page 3: holds CMYK colours" in result.stderr
    assert "pdf cannot hold all of: exif (page 4)" in result.stderr
    with pikepdf.open("book.pdf") as file:
        images = [page.Resources.XObject.Im0 for page in file.pages]
        held = [image.read_raw_bytes() for image in images]
        filters = [str(image.Filter) for image in images]
    assert filters == ["/DCTDecode", "/DCTDecode", "/FlateDecode", "/FlateDecode"]
    assert held[:2] == list(given.values())[:2]
    for page, name in enumerate(("a.jpg", "b.jpg", "c.jpg"), 1):
        read = pictures.read("book.pdf", page=page)
        assert np.array_equal(read.samples, pictures.read(name).samples)
    assert pictures.read("book.pdf", page=1).metadata.exif == pictures.read("a.jpg").metadata.exif
    mmp("encode", "book.pdf", "--lossless", "-o", "again.mmp")
    again = Path("again.mmp").read_bytes()
    assert [mmpcodec.kept_file(again, page=page) for page in (1, 2)] == held[:2]


def pages_of(file):
    """Filters and data of the images of a PDF file."""
    pikepdf = pytest.importorskip("pikepdf")
    with pikepdf.open(file) as opened:
        images = [page.Resources.XObject.Im0 for page in opened.pages]
        return [(str(image.Filter), image.read_raw_bytes()) for image in images]


@pytest.mark.filterwarnings("default::mmpcodec.PictureWarning")
def test_a_pdf_has_the_samples_of_jpeg_files_that_its_readers_decode_otherwise(mmp, folder):
    """Damaged ones have made-up samples; some readers take components R, G, B for YCbCr."""
    pytest.importorskip("pypdfium2")
    whole = made(photograph(80), restart_marker_blocks=5)
    scan = whole.index(b"\xff\xda")
    restart = whole.index(b"\xff\xd1", scan)
    bare = made(photograph(80), subsampling=0)[20:]  # without JFIF
    frame = bare.index(b"\xff\xc0")
    named = bytearray(b"\xff\xd8" + bare)
    for number, letter in enumerate(b"RGB"):
        named[2 + frame + 10 + 3 * number] = letter
        header = named.index(b"\xff\xda")
        named[header + 5 + 2 * number] = letter
    given = {
        "whole": whole,
        "cut": whole[: len(whole) // 2],
        "no end": whole[:-2],
        "without a restart": whole[:restart] + whole[restart + 2 :],
        "renumbered": whole[:restart] + b"\xff\xd3" + whole[restart + 2 :],
        "named RGB": bytes(named),
        "bare": b"\xff\xd8" + bare,
    }
    for name, file in given.items():
        Path(f"{name}.jpg").write_bytes(file)
        mmp("encode", f"{name}.jpg", "--lossless")
        result = mmp("decode", f"{name}.mmp", "-o", f"{name}.pdf")
        assert result.exit_code == 0, result.output
        ((filter_name, data),) = pages_of(f"{name}.pdf")
        is_same = name in ("whole", "bare")
        assert filter_name == ("/DCTDecode" if is_same else "/FlateDecode"), name
        assert (data == file) == is_same
        samples = pictures.read(f"{name}.pdf").samples
        assert np.array_equal(samples, pictures.read(f"{name}.jpg").samples), name


def test_pages_of_a_pdf_are_not_turned_by_exif(mmp, folder):
    pytest.importorskip("pypdfium2")
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(photograph(80)).save("turned.jpg", exif=exif, quality=85)
    Image.open("turned.jpg").save("page.pdf", quality="keep")
    mmp("encode", "page.pdf", "--lossless")
    for name in ("page.pdf", "page.mmp"):
        found = pictures.read(name)
        assert found.samples.shape == (80, 101, 3)
        assert orientation_of(found.metadata) == 1


@pytest.mark.filterwarnings("default::mmpcodec.PictureWarning")
def test_an_mmp_file_is_encoded_again_although_its_samples_cannot_be_read(mmp, folder):
    file = FILES["gray"].replace(b"\xff\xc0", b"\xff\xc9")  # arithmetic coding, which it is not
    for data in (file, made(np.zeros((3000, 4000), np.uint8), quality=5)):
        Path("a.jpg").write_bytes(data)
        assert mmp("encode", "a.jpg", "--lossless", "-f").exit_code == 0
        given = ("--max-samples", 1 << 20) if data is not file else ()
        result = mmp("encode", "a.mmp", "--lossless", "-o", "again.mmp", "-f", *given)
        assert result.exit_code == 0, result.output
        assert mmpcodec.kept_file(Path("again.mmp").read_bytes()) == data
        assert mmpcodec.kept_file(mmpcodec.encode_file("a.mmp", 0)) == data


def test_an_output_that_is_larger_than_an_mmp_file_with_a_jpeg_is_said(mmp, photo):
    mmp("encode", photo, "--lossless")
    result = mmp("encode", "photo.mmp", "--lossless", "--strip", "all", "-o", "larger.mmp")
    assert "times the bytes of this JPEG file, as --strip codes its samples" in result.stderr


def test_a_book_says_how_many_jpeg_files_it_keeps(mmp, folder):
    for name in ("4:4:4", "gray"):
        Path(f"{name[0]}.jpg").write_bytes(FILES[name])
    result = mmp("encode", "4.jpg", "g.jpg", "--together", "--lossless", "-o", "all.mmp")
    assert result.stdout.rstrip().endswith(", 2 JPEG files kept, verified")
    result = mmp("encode", "4.jpg", "g.jpg", "--together", "--lossless", "--no-verify",
                 "-o", "all.mmp", "-f")  # fmt: skip
    assert result.stdout.rstrip().endswith(", 2 JPEG files kept")


def test_a_file_that_claims_a_huge_picture_is_kept_at_once(mmp, folder):
    file = bytearray(FILES["4:4:4"])
    frame = file.index(b"\xff\xc0")
    file[frame + 5 : frame + 9] = b"\xff\xff\xff\xff"
    Path("huge.jpg").write_bytes(file)
    result = mmp("encode", "huge.jpg", "--lossless")
    assert result.exit_code == 0, result.output
    result = mmp("decode", "huge.mmp", "-o", "huge.png")
    assert "does not hold the picture of 65535x65535 of its frame" in result.stderr
    assert mmpcodec.kept_file(Path("huge.mmp").read_bytes()) == file
