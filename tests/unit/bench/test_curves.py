"""Curves from rows, Bjontegaard deltas against known ones, tables and drawings."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from mmpcodec.bench import plot, tables
from mmpcodec.bench.curves import (
    Curve,
    anchors_in,
    by_kind,
    codecs_in,
    delta,
    grouped,
    mean_delta,
)
from mmpcodec.errors import MissingExtra, ParameterError

GRAY = "gray of 8 bits"
RATES = (0.1, 0.2, 0.4, 0.8, 1.6)


def row(codec, bpp, psnr, *, picture="a" * 64, **more):
    return {
        "picture": picture,
        "name": f"{picture[0]}.pgm",
        "width": 100,
        "height": 80,
        "codec": codec,
        "knob": "quality",
        "point": bpp,
        "settings": "best",
        "versions": {"x": "1"},
        "backend": "cpu",
        "machine": "m",
        "bytes": round(bpp * 1000),
        "bpp": bpp,
        "psnr": psnr,
        "ssim": None if psnr is None else psnr / 50,
        "ms_ssim": None,
        "max_error": 9,
        "encode_seconds": 0.5,
        "decode_seconds": 0.25,
        **more,
    }


def failed(codec, point, error):
    kept = ("picture", "name", "width", "height", "codec", "knob", "settings", "versions")
    full = row(codec, point, 1)
    return {k: full[k] for k in (*kept, "backend", "machine")} | {"point": point, "error": error}


def line(codec="jpeg", *, saving=1.0, gain=0.0, rates=RATES):
    """A curve of 3 dB an octave, at ``saving`` times the rate and ``gain`` dB better."""
    return Curve(
        codec,
        tuple(row(codec, bpp * saving, 40 + 3 * np.log2(bpp) + gain) for bpp in rates),
    )


def test_a_fifth_less_rate():
    found = delta(line(), line("mmp", saving=0.8))
    assert found.rate == pytest.approx(-20)
    assert found.rate_pchip == pytest.approx(-20)
    assert found.quality == pytest.approx(-3 * np.log2(0.8))
    assert (found.overlap, found.problem) == (1, "")


def test_a_decibel_more():
    found = delta(line(), line("mmp", gain=1))
    assert found.quality == pytest.approx(1)
    assert found.quality_pchip == pytest.approx(1)
    assert found.rate == pytest.approx(100 * (2 ** (-1 / 3) - 1))


def test_deltas_are_those_of_bjontegaard():
    bjontegaard = pytest.importorskip("bjontegaard")
    anchor = ([9487.76, 4593.60, 2486.44, 1358.24], [40.037, 38.615, 36.845, 34.851])
    test = ([9787.80, 4469.00, 2451.52, 1356.24], [40.121, 38.651, 36.970, 34.987])
    curves = [
        Curve("x", tuple(row("x", r, q) for r, q in sorted(zip(*pair, strict=True))))
        for pair in (anchor, test)
    ]
    found = delta(*curves)
    for value, function, method in (
        (found.rate, bjontegaard.bd_rate, "akima"),
        (found.rate_pchip, bjontegaard.bd_rate, "pchip"),
        (found.quality, bjontegaard.bd_psnr, "akima"),
        (found.quality_pchip, bjontegaard.bd_psnr, "pchip"),
    ):
        assert value == pytest.approx(function(*anchor, *test, method=method))


def test_dominated_and_missing_points_are_left_out():
    rows = (
        row("x", 0.1, 30),
        row("x", 0.2, 29),
        row("x", 0.3, 33),
        row("x", 0.3, 34),
        row("x", 0.4, None),
        failed("x", 9, "E"),
    )
    rates, qualities = Curve("x", rows).frontier()
    assert rates.tolist() == [0.1, 0.3]
    assert qualities.tolist() == [30, 33]
    assert [len(values) for values in Curve("x", rows[5:]).frontier()] == [0, 0]


def test_reasons_for_no_number():
    assert delta(None, line()).problem == "no anchor"
    assert delta(line(), line(rates=RATES[:3])).problem == "fewer than 4 points"
    assert delta(line(rates=RATES[:3]), line()).problem == "anchor has fewer than 4 points"
    far = delta(line(), line(gain=100))
    assert (far.rate, far.quality, far.problem) == (None, None, "no overlap")
    dear = delta(line(), line(saving=100))
    assert dear.rate == pytest.approx(9900)
    assert (dear.quality, dear.problem) == (None, "no overlap of rates")
    assert 0 < delta(line(), line(gain=8)).overlap < 0.5


def scores(codec, slope, lowest=45, metric="ssimulacra2", sign=1):
    """A curve of scores from ``lowest`` to 95: an octave of rate for ``slope``, 1 bpp at 70."""
    values = np.linspace(lowest, 95, 6)
    rates = 2 ** ((values - 70) / slope)
    rows = (row(codec, r, None, **{metric: sign * v}) for r, v in zip(rates, values, strict=True))
    return Curve(codec, tuple(rows))


def test_a_range_of_the_metric_is_all_that_counts():
    """The logarithm of the ratio of rates is linear in the score, so its mean is in the middle."""

    def rate(middle):
        return pytest.approx(100 * (2 ** ((middle - 70) / 40 - (middle - 70) / 10) - 1))

    pair = scores("jpeg", 10), scores("mmp", 40)
    whole = delta(*pair, "ssimulacra2")
    assert (whole.rate, whole.rate_pchip, whole.overlap) == (rate(70), rate(70), 1)
    upper = delta(*pair, "ssimulacra2", (80, 90))
    assert (upper.rate, upper.rate_pchip, upper.overlap) == (rate(85), rate(85), 1)
    lower = delta(*pair, "ssimulacra2", (35, 55))
    assert (lower.rate, lower.overlap) == (rate(50), 0.5)
    assert delta(*pair, "ssimulacra2", (10, 40)).problem == "no overlap"
    assert upper.quality == pytest.approx(whole.quality)


def test_less_butteraugli_is_better():
    anchor, test = (scores(each, 10, metric="butteraugli", sign=-1) for each in ("jpeg", "mmp"))
    cheap = Curve("mmp", tuple({**each, "bpp": each["bpp"] / 2} for each in test.rows))
    found = delta(anchor, cheap, "butteraugli")
    assert (found.rate, found.quality) == (pytest.approx(-50), pytest.approx(-10))
    assert delta(anchor, cheap, "butteraugli", (-90, -50)).overlap == 1
    assert cheap.at(0.5, "butteraugli") == pytest.approx(-70)
    rates, qualities = cheap.frontier("butteraugli")
    assert (np.diff(rates) > 0).all()
    assert (np.diff(qualities) > 0).all()
    pictures = grouped([*anchor.rows, *cheap.rows])
    text = tables.markdown(pictures, "jpeg", "butteraugli", (-90, -50))
    assert "anchor jpeg, Butteraugli from -90 to -50, Akima; negative BD-rate and negative " in text
    assert "| mean | -50.0 |" in text
    assert "| BD-Butteraugli | mmp |" in text
    assert "| mean | -10.000 |" in text
    axes = plot.draw_curves("a", pictures[0].curves, {"mmp": 0, "jpeg": 1}, "butteraugli").axes[0]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]


def test_results_may_lack_a_metric():
    """Those of earlier versions have PSNR, SSIM and MS-SSIM only."""
    pictures = grouped([*line().rows, *scores("mmp", 10).rows])
    assert [each.key for each in tables.metrics_in(pictures)] == [
        *("psnr", "ssim", "ms_ssim", "ssimulacra2"),
    ]
    text = tables.markdown(pictures, "jpeg", "ssimulacra2")
    assert "| a.pgm | anchor has fewer than 4 points |" in text
    assert "| jpeg | 0.1 | 1 | 100 | 0.1000 | 30.03 | 0.60068 |  |  |" in text


def test_means_say_what_is_missing():
    good, none = delta(line(), line(saving=0.8)), delta(None, line())
    mean = mean_delta([good, none, delta(line(), line(saving=0.6))])
    assert mean.rate == pytest.approx(-30)
    assert mean.problem == "without 1 of 3"
    assert tables.rate_text(mean) == "-30.0 (without 1 of 3)"
    assert mean_delta([none]).rate is None


def test_interpolation_between_points():
    assert line().at(0.3) == pytest.approx(40 + 3 * np.log2(0.3))
    assert line().at(0.05) is None
    assert line().at(2) is None


@pytest.fixture
def pictures():
    other = "b" * 64
    rows = [
        *line("jpeg").rows,
        *line("mmp:preset=plain", saving=0.8).rows,
        failed("jpeg", 3, "OSError: a|b"),
        *(r | {"picture": other, "name": "b.pgm"} for r in line("jpeg").rows),
        *(r | {"picture": other, "name": "b.pgm"} for r in line("avif:tune=psnr", gain=50).rows),
    ]
    return grouped(rows)


def test_grouping(pictures):
    assert [picture.name for picture in pictures] == ["a.pgm", "b.pgm"]
    assert [curve.codec for curve in pictures[0].curves] == ["mmp:preset=plain", "jpeg"]
    assert "error" in pictures[0].curves[1].rows[-1]
    assert codecs_in(pictures) == ["mmp:preset=plain", "jpeg", "avif:tune=psnr"]
    assert anchors_in(pictures, None) == {GRAY: "jpeg"}
    assert anchors_in(pictures, "avif:tune=psnr") == {GRAY: "avif:tune=psnr"}
    with pytest.raises(ParameterError, match="anchor 'webp': must be one of mmp:preset=plain, "):
        anchors_in(pictures, "webp")


@pytest.fixture
def kinds():
    """A gray picture, two in RGB and one of 12 bits, which JPEG cannot code."""
    rgb = {"form": "RGB", "depth": 8}
    rows = [
        *line("mmp:preset=photo", saving=0.5).rows,
        *line("jpeg").rows,
        *(
            {**r, **rgb, "picture": name * 64, "name": f"{name}.ppm"}
            for name, saving in (("b", 0.8), ("c", 0.7))
            for codec, ratio in (
                ("mmp:preset=photo", saving),
                ("jpeg:chroma=444", 1),
                ("jpeg:chroma=420", 0.9),
            )
            for r in line(codec, saving=ratio).rows
        ),
        *(
            {**r, "form": "gray", "depth": 12, "picture": "d" * 64, "name": "d.png"}
            for r in (
                *line("mmp:preset=photo", saving=0.6).rows,
                failed("jpeg", 5, "ParameterError: jpeg: codes at most 8 bits a sample, not 12"),
                *line("jxl").rows,
            )
        ),
    ]
    return grouped(rows)


def test_kinds_are_apart(kinds):
    assert [(each.title, each.kind) for each in kinds] == [
        ("a.pgm, 100x80", GRAY),
        ("b.ppm, 100x80, RGB of 8 bits", "RGB of 8 bits"),
        ("c.ppm, 100x80, RGB of 8 bits", "RGB of 8 bits"),
        ("d.png, 100x80, gray of 12 bits", "gray of 9 to 16 bits"),
    ]
    one_bit = replace(kinds[0], form="RGB with alpha", depth=1)
    assert (one_bit.title, one_bit.kind) == (
        "a.pgm, 100x80, RGB with alpha of 1 bit",
        "RGB with alpha of 1 to 7 bits",
    )
    assert [len(own) for own in by_kind(kinds).values()] == [1, 2, 1]


def test_each_kind_has_its_anchor(kinds):
    gray, rgb, deep = by_kind(kinds)
    assert anchors_in(kinds, None) == {gray: "jpeg", rgb: "jpeg:chroma=444", deep: "jxl"}
    assert anchors_in(kinds, "jpeg")[rgb] == "jpeg:chroma=444"
    assert anchors_in(kinds, "jpeg:chroma=420") == {
        gray: "jpeg",
        rgb: "jpeg:chroma=420",
        deep: "jpeg",
    }
    assert anchors_in(kinds, "jxl") == {gray: "jpeg", rgb: "jpeg:chroma=444", deep: "jxl"}
    with pytest.raises(ParameterError, match="anchor 'webp': must be one of mmp:preset=photo, "):
        anchors_in(kinds, "webp")


def test_tables_never_mix_kinds(kinds):
    text = tables.markdown(kinds)
    gray, rest = text.split("RGB of 8 bits, 2 pictures: anchor jpeg:chroma=444, PSNR, ")
    rgb, deep = rest.split("gray of 9 to 16 bits, 1 picture: anchor jxl, PSNR, ")
    assert gray.startswith("gray of 8 bits, 1 picture: anchor jpeg, PSNR, Akima; ")
    assert "| mean | -50.0 |" in gray
    assert "| mean | -25.0 | -10.0 |" in rgb
    assert "| mean | -40.0 | " in deep
    assert "b.ppm" not in gray + deep
    assert "a.pgm" not in rgb
    assert "| jpeg:chroma=444 | 0.1 | 2 | 100 | 0.1000 | 30.03 | 0.60068 |  |" in rgb
    assert "| jpeg | 0.1 | 1 | 100 | 0.1000 | 30.03 | 0.60068 |  |" in gray
    assert "| d.png | jpeg | 5 | ParameterError: jpeg: codes at most 8 bits" in deep


def test_markdown(pictures):
    text = tables.markdown(pictures, "jpeg")
    assert "|---|---|---|\n" in text
    assert "| BD-rate % | mmp:preset=plain | avif:tune=psnr |" in text
    assert "| a.pgm | -20.0 | not measured |" in text
    assert "| b.pgm | not measured | no overlap |" in text
    assert "| mean of 1 that all have | -20.0 | without 1 of 1 |" in text
    assert "| quality | bytes | bpp | mmp:preset=plain | jpeg |" in text
    assert "| 0.16 | 160 | 0.1600 | 33.03 | 32.07 |" in text
    assert "| a.pgm | jpeg | 3 | OSError: a\\|b |" in text
    assert "| jpeg | best | x 1 | cpu | m |" in text
    assert "fewer than 4 points" in tables.markdown(pictures, "jpeg", "ms_ssim")


def test_a_mean_that_leaves_pictures_out_says_so(pictures):
    (picture, *_) = pictures
    psnr = [row["psnr"] for row in picture.curve("jpeg").good]
    rows = tuple({**row, "psnr": None} for row in picture.curve("jpeg").rows)
    lossless = replace(picture, curves=(replace(picture.curve("jpeg"), rows=rows),))
    text = tables.means([picture, lossless])
    first = next(line for line in text.splitlines() if line.startswith("| jpeg |"))
    assert f"| {psnr[0]:.2f} (1 of 2) |" in first
    assert "of 2" not in tables.means([picture, picture])


def test_means_are_over_the_same_pictures():
    good, bad = delta(line(), line(saving=0.8)), delta(None, line())
    assert tables.common({"x": [good, good, bad], "y": [bad, good, good]}) == [1]
    assert tables.common({"x": [good, bad], "never": [bad, bad]}) == [0]
    assert tables.common({"x": [good, bad], "y": [bad, good]}) == [0, 1]
    assert tables.common({}) == []


def test_drawings(pictures, tmp_path):
    numbers = plot.numbers_of([codecs_in(pictures)])
    for name in ("first", "second"):
        figure = plot.draw_curves("a.pgm", pictures[0].curves, numbers)
        plot.save(figure, tmp_path / f"{name}.x")
    svg = (tmp_path / "first.x.svg").read_text()
    assert "mmp:preset=plain" in svg
    assert "PSNR, dB" in svg
    assert svg == (tmp_path / "second.x.svg").read_text()
    with Image.open(tmp_path / "first.x.png") as image:
        assert image.size == (880, 605)
        colours = {colour for _, colour in image.convert("RGB").getcolors(1 << 20)}
    assert {(0xD4, 0x3D, 0), (0x22, 0x66, 0xDD)} <= colours


def test_drawing_without_values(pictures, tmp_path):
    numbers = plot.numbers_of([codecs_in(pictures)])
    figure = plot.draw_curves("a.pgm", pictures[0].curves, numbers, "ms_ssim")
    plot.save(figure, tmp_path / "empty")
    assert (tmp_path / "empty.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("module", "call"),
    [
        ("bjontegaard", lambda: delta(line(), line())),
        ("matplotlib.figure", lambda: plot.draw_curves("x", [line()], {"jpeg": 0})),
    ],
)
def test_missing_package_names_the_extra(module, call, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=r"pip install '.\[bench\]'"):
        call()
