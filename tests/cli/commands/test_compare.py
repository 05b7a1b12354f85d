"""``mmp compare``."""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from support.books import write_book

import mmpcodec
from mmpcodec import pictures
from mmpcodec.bench.metrics import METRICS, measure, metrics_of
from mmpcodec.metadata import Metadata


@pytest.fixture
def darker(folder, samples):
    """The name of a picture two levels below ``a.png``, but for one sample that is nine below."""
    changed = samples - 2
    changed[3, 4] -= 7
    pictures.write(changed, "b.png")
    return "b.png"


def test_tells_the_metrics(mmp, picture, darker):
    result = mmp("compare", picture, darker)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("PSNR 41.")
    assert "SSIM 0." in result.stdout
    assert "MS-SSIM" not in result.stdout  # 16x20 is too small
    assert "largest error 9 of 255" in result.stdout


def test_json(mmp, picture, darker):
    facts = json.loads(mmp("compare", picture, darker, "--json").stdout)
    squares = (319 * 4 + 81) / 320
    assert facts["psnr"] == pytest.approx(10 * np.log10(255**2 / squares))
    assert facts["max_error"] == 9
    assert facts["ms_ssim"] is None
    assert (facts["a"], facts["b"], facts["width"], facts["height"]) == ("a.png", "b.png", 20, 16)


def test_metrics(mmp, picture, darker):
    result = mmp("compare", picture, darker, "--metrics", "butteraugli,psnr-hvs-m")
    assert result.exit_code == 0, result.stderr
    assert re.fullmatch(
        r"Butteraugli \d\.\d{3}, PSNR-HVS-M \d\d\.\d\d dB, largest error 9 of 255\n", result.stdout
    )
    facts = json.loads(mmp("compare", picture, darker, "--metrics", "all", "--json").stdout)
    first, second = (pictures.read(name).samples for name in (picture, darker))
    found = measure(first, second, metrics=metrics_of("all"))
    assert {name: facts[name] for name in (*METRICS, "max_error")} == found.as_dict()
    same = mmp("compare", picture, picture, "--metrics", "ssimulacra2,xpsnr")
    assert same.stdout == "equal, SSIMULACRA2 100.00, largest error 0 of 255\n"


def test_metrics_that_are_none(mmp, picture, darker):
    result = mmp("compare", picture, darker, "--metrics", "psnr,vmaf")
    assert result.exit_code == 2
    assert (
        "--metrics psnr,vmaf: must be all, or some of psnr,ssim,ms-ssim,ssimulacra2,butteraugli,"
        "butteraugli-3,psnr-hvs-m,xpsnr" in result.stderr
    )


def test_without_scipy_the_extra_is_named(mmp, picture, darker, monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.ndimage", None)
    result = mmp("compare", picture, darker, "--metrics", "butteraugli")
    assert result.exit_code == 1
    assert result.stderr.startswith("mmp: metrics of pictures need SciPy; ")
    assert "'.[measure]'" in result.stderr


def test_mmp_files_are_pictures(mmp, picture, encoded):
    result = mmp("compare", picture, encoded)
    assert result.stdout.startswith("equal, SSIM 1.00000")
    facts = json.loads(mmp("compare", encoded, picture, "--json").stdout)
    assert (facts["psnr"], facts["max_error"]) == (None, 0)


def test_standard_input(mmp, picture, samples):
    result = mmp("compare", "-", picture, input=mmpcodec.encode(samples, 0))
    assert result.stdout.startswith("equal")


def test_difference_is_drawn(mmp, picture, darker):
    result = mmp("compare", picture, darker, "--diff", "d.png", "--json")
    assert json.loads(result.stdout)["diff"] == "d.png"
    drawn = pictures.read("d.png").samples
    assert drawn[3, 4] == 128 - 4 * 9
    assert (np.delete(drawn.ravel(), 3 * 20 + 4) == 128 - 4 * 2).all()
    again = mmp("compare", picture, darker, "--diff", "d.png")
    assert again.exit_code == 1
    assert "d.png: exists; -f overwrites it" in again.stderr
    assert mmp("compare", picture, darker, "--diff", "d.png", "-f").exit_code == 0


def test_difference_of_deep_pictures_is_in_parts_of_white(mmp, folder):
    samples = np.full((12, 12), 30000, np.uint16)
    Image.fromarray(samples).save("deep.png")
    Image.fromarray(samples + 257).save("other.png")
    assert "largest error 257 of 65535" in mmp("compare", "deep.png", "other.png").stdout
    mmp("compare", "deep.png", "other.png", "--diff", "d.png")
    assert (pictures.read("d.png").samples == 132).all()


def test_depth_of_what_does_not_say_it(mmp, folder):
    """An NPY file of 16 bits may hold 12; the file that it is coded to says so."""
    samples = np.random.default_rng(0).integers(0, 4096, (20, 30)).astype(np.uint16)
    np.save("a.npy", samples)
    mmp("encode", "a.npy", "-o", "a.mmp", "-l", 40, "--depth", 12, "--preset", "photo")
    assert "must be equal; --depth gives the bits" in mmp("compare", "a.npy", "a.mmp").stderr
    facts = json.loads(mmp("compare", "a.npy", "a.mmp", "--depth", 12, "--json").stdout)
    errors = samples - mmpcodec.decode(Path("a.mmp").read_bytes()).astype(float)
    assert facts["white"] == 4095
    assert facts["psnr"] == pytest.approx(10 * np.log10(4095**2 / (errors**2).mean()))
    refused = mmp("compare", "a.npy", "a.mmp", "--depth", 7)
    assert refused.exit_code == 1
    assert "a.npy: depth = 7: the picture has a sample of " in refused.stderr
    assert mmp("compare", "a.npy", "a.mmp", "--depth", 17).exit_code == 2


def test_depth_keeps_the_white_that_a_file_states(mmp, folder):
    levels = np.arange(12).reshape(3, 4) * 80
    for white in (1000, 4095):
        metadata = Metadata(white=white if white == 1000 else None)
        depth = white.bit_length()
        picture = pictures.Picture(levels.astype(np.uint16), depth, metadata)
        pictures.write(picture, f"{white}.pgm")
    facts = json.loads(mmp("compare", "1000.pgm", "1000.pgm", "--depth", 12, "--json").stdout)
    assert facts["white"] == 1000
    refused = mmp("compare", "1000.pgm", "4095.pgm", "--depth", 12)
    assert refused.exit_code == 1
    assert "level of white of 1000.pgm is 1000 and of 4095.pgm 4095" in refused.stderr


def test_colour(mmp, folder):
    samples = np.zeros((12, 12, 3), np.uint8)
    pictures.write(samples, "x.png")
    samples[..., 1] = 10
    pictures.write(samples, "y.png")
    facts = json.loads(mmp("compare", "x.png", "y.png", "--json").stdout)
    assert facts["psnr"] == pytest.approx(10 * np.log10(255**2 / (100 / 3)))


def test_deep_colour_and_alpha_left_out(mmp, folder):
    samples = np.full((12, 12, 4), 30000, np.uint16)
    pictures.write(samples, "x.png")
    pictures.write(samples[..., :3] + np.uint16(257), "y.ppm")
    assert "largest error 257 of 65535" in mmp("compare", "x.png", "y.ppm").stdout


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["a.png", "wide.png"], 1, "size of a.png is 20x16 gray and of wide.png 21x16 gray: must"),
        (["a.png", "rgb.png"], 1, "size of a.png is 20x16 gray and of rgb.png 20x16 colour"),
        (["a.png", "deep.png"], 1, "level of white of a.png is 255 and of deep.png 65535: must"),
        (["a.png", "missing.png"], 1, "missing.png: No such file"),
        (["a.png", "bad.png"], 1, "bad.png: is not a picture file"),
        (["-", "-"], 2, "-: only one of the two"),
        (["a.png", "a.png", "--diff", "d.jpg"], 2, "--diff: d.jpg must end in .png"),
        (["a.png", "a.png", "--diff", "-", "--json"], 2, "--json already writes to standard"),
        (["a.png", "wide.png", "--diff", "a.png", "-f"], 2, "a.png: is an input"),
        (["a.png"], 2, "Missing argument"),
    ],
)
def test_errors(mmp, picture, samples, folder, files, arguments, code, message):
    pictures.write(np.pad(samples, ((0, 0), (0, 1))), "wide.png")
    pictures.write(np.stack([samples] * 3, axis=2), "rgb.png")
    Image.fromarray(samples.astype(np.uint16)).save("deep.png")
    (folder / "bad.png").write_bytes(b"nothing")
    before = files()
    result = mmp("compare", *arguments)
    assert result.exit_code == code
    assert message in result.stderr
    assert files() == before


def test_the_difference_of_deep_pictures_is_visible(mmp):
    samples = np.linspace(1000, 1200, 900).astype(np.uint16).reshape(30, 30)
    changed = samples.copy()
    changed[10:20, 10:20] += 5
    for name, each in (("a.png", samples), ("b.png", changed)):
        pictures.write(pictures.Picture(each, 16), name)
    assert mmp("compare", "a.png", "b.png", "--diff", "d.png").exit_code == 0
    drawn = pictures.read("d.png").samples
    assert (drawn[0, 0], drawn[15, 15]) == (128, 128 + round(5 * 4 * 255 / 198))


@pytest.fixture
def folders(mmp, samples):
    """Two folders: two pairs of pictures below each, and one picture of each without a partner."""
    for name in ("a/deep", "b/deep"):
        Path(name).mkdir(parents=True)
    for name in ("a/0.png", "a/deep/1.png", "a/alone.png"):
        pictures.write(samples, name)
    pictures.write(samples, "b/0.pgm")
    pictures.write(samples[::-1], "b/lonely.png")
    Path("b/deep/1.mmp").write_bytes(mmpcodec.encode(samples, 400, preset="plain"))
    return "a", "b"


def test_folders(mmp, folders):
    result = mmp("compare", *folders)
    assert result.exit_code == 3
    lines = result.stdout.splitlines()
    alone = mmp("compare", "a/deep/1.png", "b/deep/1.mmp").stdout.strip()
    assert lines[:2] == [
        "a/0.png, b/0.pgm: equal, SSIM 1.00000, largest error 0 of 255",
        f"a/deep/1.png, b/deep/1.mmp: {alone}",
    ]
    facts = json.loads(mmp("compare", "a/deep/1.png", "b/deep/1.mmp", "--json").stdout)
    psnr, ssim, error = facts["psnr"], (1 + facts["ssim"]) / 2, facts["max_error"]
    assert lines[2:] == [
        f"mean of 2 pairs: PSNR {psnr:.2f} dB (1 of 2), SSIM {ssim:.5f}, largest error {error}"
    ]
    assert result.stderr.splitlines() == [
        "mmp: a/alone.png: b holds no picture of this name",
        "mmp: b/lonely.png: a holds no picture of this name",
        "mmp: 2 of 4 inputs failed",
    ]


def test_folders_as_json_and_several_pairs_at_a_time(mmp, folders):
    result = mmp("compare", *folders, "--json", "-j", 2)
    first, second, *left, mean = map(json.loads, result.stdout.splitlines())
    assert second == json.loads(mmp("compare", "a/deep/1.png", "b/deep/1.mmp", "--json").stdout)
    assert first["psnr"] is None
    assert mean == {
        "event": "mean",
        "pairs": 2,
        "psnr": second["psnr"],
        "ssim": (1 + second["ssim"]) / 2,
        "ms_ssim": None,
        "max_error": second["max_error"],
        "measured": {"psnr": 1, "ssim": 2, "ms_ssim": 0},
    }
    assert [row["input"] for row in left] == ["a/alone.png", "b/lonely.png"]


def test_folders_that_are_equal(mmp, folders):
    result = mmp("compare", "a", "a")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == (
        "mean of 3 pairs: all equal, SSIM 1.00000, largest error 0"
    )


def test_drawings_of_folders_keep_their_folders(mmp, folders):
    assert mmp("compare", *folders, "--diff", "d/new").exit_code == 3
    assert mmp("compare", "a/deep/1.png", "b/deep/1.mmp", "--diff", "one.png").exit_code == 0
    drawn = Path("d/new/deep/1.png").read_bytes()
    assert drawn == Path("one.png").read_bytes()
    assert (pictures.read("d/new/0.png").samples == 128).all()
    Path("d/new/0.png").unlink()
    again = mmp("compare", *folders, "--diff", "d/new")
    assert again.exit_code == 3
    assert "d/new/deep/1.png: exists; -f overwrites it" in again.stderr
    assert Path("d/new/0.png").exists()
    assert mmp("compare", *folders, "--diff", "d/new", "-f").stdout.count("\n") == 3


def test_one_spoilt_pair_does_not_stop_the_others(mmp, folders):
    Path("b/0.pgm").write_bytes(b"no picture")
    result = mmp("compare", *folders)
    assert result.exit_code == 3
    assert "b/0.pgm: is not a picture file" in result.stderr
    assert "3 of 4 inputs failed" in result.stderr
    assert "mean of 1 pair: PSNR " in result.stdout
    Path("b/deep/1.mmp").unlink()
    nothing = mmp("compare", *folders)
    assert (nothing.exit_code, nothing.stdout) == (1, "")


def test_folders_at_urls(mmp, folders, folder):
    pytest.importorskip("fsspec", reason="needs fsspec, of the extra cluster")
    from mmpcodec.runtime import stores

    url = f"memory://{folder.name}"
    for name in ("0.pgm", "deep/1.mmp"):
        with stores.written_whole(f"{url}/{name}") as stream:
            stream.write(Path("b", name).read_bytes())
    here, there = mmp("compare", *folders), mmp("compare", "a", url)
    assert there.exit_code == 3
    assert there.stdout == here.stdout.replace(" b/", f" {url}/")
    assert f"a/alone.png: {url} holds no picture of this name" in there.stderr


def test_pairs_of_names_that_differ_in_suffixes(mmp, samples):
    """--append-suffix writes IMG.png.mmp; the others of a folder with an unclear pair go on."""
    for name in ("a/IMG.png", "a/IMG.pgm", "a/0.png", "a/1.png", "a/1.pgm"):
        Path(name).parent.mkdir(exist_ok=True)
        pictures.write(samples, name)
    assert mmp("encode", "a", "-O", "b", "--append-suffix", "--preset", "plain").exit_code == 0
    for name in ("0.png.mmp", "1.png.mmp", "1.pgm.mmp"):
        Path("b", name).rename(Path("b", name.replace(".png", "").replace(".pgm", "")))
    result = mmp("compare", "a", "b", "--json")
    assert result.exit_code == 3
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    pairs = {row["a"]: row["b"] for row in rows if "a" in row}
    assert pairs == {
        "a/0.png": "b/0.mmp",
        "a/IMG.png": "b/IMG.png.mmp",
        "a/IMG.pgm": "b/IMG.pgm.mmp",
    }
    assert result.stderr.splitlines() == [
        "mmp: a/1.pgm: its partner is not clear among a/1.png, b/1.mmp",
        "mmp: a/1.png: its partner is not clear among a/1.pgm, b/1.mmp",
        "mmp: 2 of 5 inputs failed",
    ]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["a", "b/0.pgm"], 2, "a is a folder and b/0.pgm is not: compare files or folders"),
        (["-", "b"], 2, "b is a folder and - is not"),
        (["a", "b", "--diff", "d.png"], 2, "--diff d.png: must name a folder, as there are many"),
        (["a", "b", "--diff", "-"], 2, "--diff -: must name a folder"),
        (["a", "b", "--diff", "b/0.pgm"], 1, "b/0.pgm: is not a folder"),
        (["a", "b", "--diff", "b", "-f", "--depth", "17"], 2, "depth = 17"),
        (["a", "a", "--diff", "a", "-f"], 2, "a/0.png: is an input, and would be overwritten"),
        (["a", "none"], 2, "a is a folder and none is not"),
        (["a", "empty"], 1, "empty: holds no picture"),
    ],
)
def test_wrong_folders(mmp, folders, arguments, code, message):
    Path("empty").mkdir()
    result = mmp("compare", *arguments)
    assert result.exit_code == code
    assert f"mmp: {message}" in result.stderr


@pytest.fixture
def books(folder, samples):
    """Two books of three pages; page 2 differs by 4 and page 3 by 1."""
    write_book("a.mmp", [samples, samples // 2, samples // 3])
    write_book("b.mmp", [samples, samples // 2 + 4, samples // 3 + 1])
    return "a.mmp", "b.mmp"


def test_pages_of_books(mmp, books):
    facts = json.loads(mmp("compare", *books, "--json").stdout)
    assert [page["page"] for page in facts["pages"]] == [1, 2, 3]
    assert [page["max_error"] for page in facts["pages"]] == [0, 4, 1]
    values = [page["psnr"] for page in facts["pages"]]
    assert values == [None, *(pytest.approx(10 * np.log10(255**2 / e**2)) for e in (4, 1))]
    assert facts["mean"]["psnr"] == pytest.approx(np.mean(values[1:]))
    assert facts["mean"]["measured"]["psnr"] == 2
    assert (facts["worst"], facts["mean"]["max_error"]) == (2, 4)
    lines = mmp("compare", *books).stdout.splitlines()
    assert [line.split(":")[0] for line in lines] == [
        "page 1", "page 2", "page 3", "mean of 3 pairs", "worst",
    ]  # fmt: skip
    assert lines[-1] == "worst: page 2"


def test_one_page_of_books(mmp, books, samples):
    facts = json.loads(mmp("compare", *books, "--page", "3", "--json").stdout)
    assert facts["max_error"] == 1
    pictures.write(samples // 2 + 7, "c.png")
    facts = json.loads(mmp("compare", "a.mmp", "c.png", "--page", "2", "--json").stdout)
    assert facts["max_error"] == 7
    result = mmp("compare", *books, "--page", "4")
    assert (result.exit_code, "a.mmp: page = 4: must be 1 to 3" in result.stderr) == (1, True)


def test_books_of_different_numbers_of_pages(mmp, books, samples):
    write_book("c.mmp", [samples, samples])
    result = mmp("compare", "a.mmp", "c.mmp")
    assert result.exit_code == 1
    said = "a.mmp holds 3 pictures and c.mmp 2: must be as many; --page N compares one"
    assert said in result.stderr
    assert mmp("compare", "c.mmp", "a.png").exit_code == 1


def test_a_page_of_another_size_is_named(mmp, books, samples):
    write_book("c.mmp", [samples, samples[:-1], samples])
    result = mmp("compare", "a.mmp", "c.mmp")
    assert result.exit_code == 1
    assert "size of a.mmp: page 2 is 20x16 gray and of c.mmp: page 2 20x15 gray" in result.stderr


def test_drawings_of_pages(mmp, books):
    result = mmp("compare", *books, "--diff", "drawn.png")
    assert (result.exit_code, "must name a folder" in result.stderr) == (2, True)
    assert mmp("compare", *books, "--diff", "drawn").exit_code == 0
    assert sorted(path.name for path in Path("drawn").iterdir()) == [
        "001.png",
        "002.png",
        "003.png",
    ]
    assert np.ptp(np.asarray(Image.open("drawn/001.png"))) == 0
    result = mmp("compare", *books, "--diff", "drawn")
    assert (result.exit_code, "drawn/001.png: exists" in result.stderr) == (1, True)


def test_folders_of_books(mmp, books, samples):
    for name in ("one", "two"):
        Path(name).mkdir()
    Path("a.mmp").rename("one/x.mmp")
    Path("b.mmp").rename("two/x.mmp")
    pictures.write(samples, "one/y.png")
    pictures.write(samples + 2, "two/y.png")
    result = mmp("compare", "one", "two", "--json", "--diff", "drawn")
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert (rows[-1]["pairs"], rows[-1]["max_error"]) == (4, 4)
    assert sorted(str(path) for path in Path("drawn").rglob("*.png")) == [
        "drawn/x/001.png", "drawn/x/002.png", "drawn/x/003.png", "drawn/y.png",
    ]  # fmt: skip
