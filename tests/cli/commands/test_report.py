"""``mmp report``."""

from pathlib import Path

import numpy as np
import pytest

from mmpcodec import pictures
from mmpcodec.web import parts

CODECS = (
    *("--codec", "mmp:preset=plain,lambda=8/32/128/512"),
    *("--peers", "jpeg:quality=10/30/60/90"),
)


@pytest.fixture
def swept(mmp, folder):
    """The name of a folder with results of one picture."""
    rows, columns = np.indices((40, 56))
    samples = (128 + 70 * np.sin(rows / 5) + 50 * np.cos(columns / 4)).astype(np.uint8)
    pictures.write(samples, "waves.pgm")
    assert mmp("sweep", "waves.pgm", "--out", "out", *CODECS, "--quiet").exit_code == 0
    return "out"


def test_writes_page_and_curves(mmp, swept, files):
    result = mmp("report", swept)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("out/report.html: 1 picture, anchor jpeg, ")
    names = {path.name for path in Path("out").iterdir()}
    assert {"report.html", "curves-waves-pgm.png", "curves-waves-pgm.svg"} <= names
    assert not any(name.endswith(".part") for name in names)
    again = mmp("report", swept)
    assert again.exit_code == 1
    assert "out/report.html: exists; -f overwrites it" in again.stderr
    assert mmp("report", swept, "-f", "--metric", "ssim", "--views", 0).exit_code == 0
    assert "SSIM" in Path("out/curves-waves-pgm.svg").read_text()


def test_says_that_the_decoder_is_missing(mmp, swept, monkeypatch):
    note = (
        "out/report.html: shows mmp files as PNGs; else it needs the decoder for browsers, "
        "decoder.js, which was not built; in a checkout of mmpcodec, make web builds it"
    )
    monkeypatch.setattr(parts, "has_decoder", lambda: False)
    result = mmp("report", swept)
    assert (result.exit_code, result.stderr.count(note)) == (0, 1)
    assert "shows mmp files as PNGs" not in mmp("report", swept, "-f", "--views", 0).stderr
    assert mmp("report", swept, "-f", "--quiet").stderr == ""
    monkeypatch.setattr(parts, "has_decoder", lambda: True)
    monkeypatch.setattr(parts, "decoder_script", lambda: "const decoder = {};")
    assert "shows mmp files as PNGs" not in mmp("report", swept, "-f").stderr
    assert "const decoder = {};" in Path("out/report.html").read_text()


def test_metric_and_range(mmp, swept):
    result = mmp("report", swept, "--metric", "ssimulacra2")
    assert result.exit_code == 2
    assert "--metric ssimulacra2: no result has it; mmp sweep --metrics " in result.stderr
    added = mmp("sweep", "waves.pgm", "--out", "out", *CODECS, "--metrics", "ssimulacra2")
    assert added.exit_code == 0, added.stderr
    assert "out: 8 results measured, 0 failed; 0 were there" in added.stderr
    text = mmp("report", swept, "--markdown", "--metric", "ssimulacra2", "--range", "40:80").stdout
    assert "anchor jpeg, SSIMULACRA2 from 40 to 80, Akima; " in text
    assert "| BD-SSIMULACRA2 | mmp:preset=plain |" in text
    whole = mmp("report", swept, "--markdown", "--metric", "ssimulacra2").stdout
    assert "anchor jpeg, SSIMULACRA2, Akima; " in whole
    assert whole.splitlines()[4] != text.splitlines()[4]
    assert mmp("report", swept, "--metric", "ssimulacra2", "--views", 0).exit_code == 0
    assert "SSIMULACRA2" in Path("out/curves-waves-pgm.svg").read_text()


@pytest.mark.parametrize("span", ["40", "90:40", "40:40", "a:b", "1:2:3", "0:inf", "nan:9"])
def test_ranges_that_are_none(mmp, swept, span):
    result = mmp("report", swept, "--range", span)
    assert result.exit_code == 2
    assert f"--range {span}: must be LOW:HIGH with LOW < HIGH, such as 40:90" in result.stderr


def test_another_folder(mmp, swept):
    assert mmp("report", swept, "-O", "page", "--quiet").stdout == ""
    assert Path("page/report.html").stat().st_size > 20000
    assert not Path("out/report.html").exists()


def test_markdown_writes_nothing(mmp, swept, files):
    before = sorted(Path("out").iterdir())
    result = mmp("report", swept, "--markdown", "--anchor", "mmp:preset=plain")
    assert result.exit_code == 0
    assert "| BD-rate % | jpeg |" in result.stdout
    assert "| lambda | bytes | bpp | mmp:preset=plain | jpeg |" in result.stdout
    assert sorted(Path("out").iterdir()) == before
    result = mmp("report", swept, "--markdown", "-O", "page", "--views", 3)
    assert result.stderr == (
        "mmp: -O: has no effect with --markdown, which writes nothing\n"
        "mmp: --views: has no effect with --markdown, which shows no pictures\n"
    )
    assert not Path("page").exists()


def test_maps(mmp, swept):
    assert mmp("report", swept, "--maps", "butteraugli,ssim").exit_code == 0
    page = Path("out/report.html").read_text()
    assert page.count("data-top=") == 8  # two metrics, two rates, two codecs
    assert "-butteraugli" in page
    assert "-ssimulacra2" not in page
    assert mmp("report", swept, "-f").exit_code == 0
    assert "data-top=" not in Path("out/report.html").read_text()
    none = mmp("report", swept, "-f", "--maps", "all", "--views", 0)
    assert "mmp: --maps: has no effect with --views 0, which shows no pictures\n" in none.stderr
    none = mmp("report", swept, "--markdown", "--maps", "all")
    assert none.stderr == "mmp: --maps: has no effect with --markdown, which shows no pictures\n"


def test_sizes_without_container(mmp, swept):
    """Fifty bytes less of each of JPEG's files is a lower rate of JPEG."""

    def rows(*arguments):
        lines = mmp("report", swept, "--markdown", "--anchor", "mmp:preset=plain", *arguments)
        assert lines.exit_code == 0, lines.stderr
        return lines.stdout.splitlines()

    whole, less = (table[4].split("|") for table in (rows(), rows("--container", "jpeg=50")))
    assert whole[1] == less[1] == " waves.pgm "
    assert float(less[2]) < float(whole[2])
    assert mmp("report", swept, "--container", "jpeg=50", "--views", 0).exit_code == 0
    assert "less 50 bytes of container" in Path("out/report.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["out", "--anchor", "webp"], 2, "anchor 'webp': must be one of mmp:preset=plain, jpeg"),
        (
            ["out", "--metric", "vmaf"],
            2,
            "metric = 'vmaf': must be one of psnr, ssim, ms-ssim",
        ),
        (["out", "--views", "-1"], 2, "Invalid value"),
        (
            ["out", "--maps", "psnr"],
            2,
            "--maps psnr: must be all, or some of ssim,ssimulacra2,butteraugli",
        ),
        (["out", "--container", "webp=9"], 2, "container of 'webp': must be one of jpeg, mmp:"),
        (["out", "--container", "jpeg"], 2, "--container jpeg: must be CODEC=BYTES"),
        (["out", "--container", "jpeg=0"], 2, "--container jpeg=0: must be CODEC=BYTES"),
        (["out", "--container", "jpeg=99999"], 2, "container of 'jpeg' = 99999: must be from 1"),
        (["missing"], 1, "missing: holds no results of a sweep (no results.jsonl)"),
        (["."], 1, ".: holds no results of a sweep (no results.jsonl)"),
        (["out", "-O", "out/results.jsonl/no"], 1, "out/results.jsonl: is not a folder"),
    ],
)
def test_errors(mmp, swept, arguments, code, message):
    before = sorted(Path().rglob("*"))
    result = mmp("report", *arguments)
    assert result.exit_code == code
    assert message in result.stderr
    assert sorted(Path().rglob("*")) == before
